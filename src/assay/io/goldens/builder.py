"""Builds a golden set from the cases of a reader: normalises names to NFC, checks cases, and notes problems."""

from __future__ import annotations

import unicodedata
from collections import Counter

import msgspec

from assay.errors import shown
from assay.io.findings import Findings
from assay.io.goldens.base import Form, Header, Spot
from assay.io.goldens.checks import check_case
from assay.io.goldens.naming import named
from assay.io.names import Names, Unique, moment_fault
from assay.io.strictjson import pointer
from assay.model import SCHEMA_VERSION, Case, GoldenSet, Judgments, User

LocatedCase = tuple[Case, Spot]


class Builder:
    """Collects the cases that the reader of a format passes to `add`; `golden` returns the finished set."""

    def __init__(self, form: Form, findings: Findings) -> None:
        self.form = form
        self.findings = findings
        self.names = Names(findings)
        self.header = Header()
        self.begun = False
        self.cases: list[Case] = []
        self._unique = Unique(findings)
        self.users: dict[User, User] = {}
        self._lists: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._first_by_question: dict[str, LocatedCase] = {}
        self._first_by_question_and_user: dict[tuple[str, User | None], LocatedCase] = {}
        self._version: tuple[int | None, str] | None = None

    @property
    def judgments(self) -> Judgments:
        """Whether chunks that are not listed count as judged: as the header says, else the default of the format."""
        return self.header.judgments or self.form.judgments

    def error(self, spot: Spot, name: str, message: str, code: str) -> None:
        """Note an error in a field of a `Case`, under the format's own name for it."""
        self.findings.error(spot.line, self.place(spot, name), message, code)

    def warn(self, spot: Spot, name: str, message: str, code: str) -> None:
        """Note a warning in a field of a `Case`, under the format's own name for it."""
        self.findings.warn(spot.line, self.place(spot, name), message, code)

    def place(self, spot: Spot, name: str) -> str:
        """Return the name of a field of a `Case` in messages; `name` may lie inside a field, as `rubric.match` does."""
        format_names = self.form.fields
        format_name = format_names.get(name)
        if format_name is None and name in Case.__struct_fields__:
            format_name = name
        elif format_name is None:
            # A path such as `user.tenant` or `evidence[0].any_of`: only its beginning has a name in the format.
            member, bracket, index = name.partition("[")
            field, dot, inner = member.partition(".")
            format_name = format_names.get(member, format_names.get(field, field) + dot + inner) + bracket + index
        return f"{spot.at}.{format_name}" if spot.at else format_name

    def begin(self, header: Header, spot: Spot) -> None:
        """Take over the metadata of the set and check it."""
        self.header, self.begun = header, True
        if header.as_of is not None:
            fault = moment_fault(header.as_of)
            if fault:
                self.findings.error(spot.line, pointer(spot.at, "as_of"), fault, "E_DATE")
        if header.schema_version is not None:
            self.same_version(header.schema_version, spot)

    def same_version(self, version: int | None, spot: Spot) -> None:
        """Note an error for a schema version newer than the supported one, or different from that of the first row."""
        message = ""
        if self._version is None:
            self._version = version, str(spot)
            if version is not None and version > SCHEMA_VERSION:
                message = f"newer than supported (got {version}; expected {SCHEMA_VERSION} at most: upgrade rag-assay)"
        elif version != self._version[0] and not (version is None and self.header.schema_version is not None):
            first_version, location = self._version
            expected = f"expected {first_version or 'none'}, as at {location}"
            message = f"rows of different versions (got {version or 'none'}; {expected})"
        if message:
            self.findings.error(spot.line, pointer(spot.at, "schema_version"), message, "E_SCHEMA_VERSION")

    def clean(self, raws: tuple[str, ...], spot: Spot, name: str) -> tuple[str, ...]:
        """Return names in NFC without repetitions; a repetition is a warning."""
        cached = self._lists.get(raws)  # many cases have the same list of tags or roles
        if cached is not None:
            return cached
        known = self.names.known
        cleaned = tuple([known.get(raw) or self._clean(raw, spot, name, i) for i, raw in enumerate(raws)])
        if len(set(cleaned)) == len(cleaned):
            if all(raw in known for raw in raws):
                self._lists[raws] = cleaned
            return cleaned
        repeated = [cleaned_name for cleaned_name, count in Counter(cleaned).items() if count > 1]
        self.warn(spot, name, f"listed more than once (got {shown(repeated)}; expected each once)", "E_REPEATED")
        return tuple(dict.fromkeys(cleaned))

    def clean_one(self, raw: str, spot: Spot, name: str) -> str:
        """Return one name in NFC."""
        cached = self.names.known.get(raw)
        return cached or self.names.clean(raw, spot.line, self.place(spot, name))

    def add(self, case: Case, spot: Spot) -> None:
        """Normalise the names of a case to NFC, check it, and add it unless its id is a duplicate."""
        raw_id = case.id
        case = named(case, self, spot)
        folded = unicodedata.normalize("NFC", case.question).casefold()
        check_case(case, folded, self, spot)
        if folded and not case.history:
            self._compare_questions(case, folded.replace(" ", "").rstrip("?!."), spot)
        if self._unique.add(raw_id, case.id, spot.line, self.place(spot, "id")):
            self.cases.append(case)

    def golden(self) -> GoldenSet:
        """Return the golden set with the cases added so far."""
        header = msgspec.structs.asdict(self.header)
        header.update(judgments=self.judgments, schema_version=SCHEMA_VERSION)
        return GoldenSet(cases=tuple(self.cases), **header)

    def _clean(self, raw: str, spot: Spot, name: str, index: int) -> str:
        return self.names.clean(raw, spot.line, pointer(self.place(spot, name), index))

    def _compare_questions(self, case: Case, folded: str, spot: Spot) -> None:
        """Warn if one user asks a question twice outside a cluster.

        Two users may ask the same question: that is how access rights are tested.
        """
        located = case, spot
        earlier = self._first_by_question.setdefault(folded, located)
        if earlier is located:
            return
        self._first_by_question_and_user.setdefault((folded, earlier[0].user), earlier)
        first_case, location = self._first_by_question_and_user.setdefault((folded, case.user), located)
        if first_case is not case and (case.cluster is None or case.cluster != first_case.cluster):
            expected = f"expected one case, or the same cluster as {shown(first_case.id)} at {location}"
            message = f"question asked before (got {shown(case.question)}; {expected})"
            self.warn(spot, "question", message, "E_NEAR_DUPLICATE")
