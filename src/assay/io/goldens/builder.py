"""Gathers the cases of a golden set: names into NFC, cases and set checked, faults noted with their place."""

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

Asked = tuple[Case, Spot]


class Builder:
    """What a format's reader hands its cases to."""

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
        self._asked: dict[str, Asked] = {}
        self._asked_by: dict[tuple[str, User | None], Asked] = {}
        self._version: tuple[int | None, str] | None = None

    @property
    def judgments(self) -> Judgments:
        """Whether chunks that are not listed count as judged: what the header says, else the format's custom."""
        return self.header.judgments or self.form.judgments

    def error(self, spot: Spot, name: str, message: str, code: str) -> None:
        """Note an error at a field of a `Case`, under the format's own name for it."""
        self.findings.error(spot.line, self.place(spot, name), message, code)

    def warn(self, spot: Spot, name: str, message: str, code: str) -> None:
        """Note a warning at a field of a `Case`, under the format's own name for it."""
        self.findings.warn(spot.line, self.place(spot, name), message, code)

    def place(self, spot: Spot, name: str) -> str:
        """Return how messages name a field of a `Case` (or a place inside it, such as `rubric.match`)."""
        fields = self.form.fields
        own = fields.get(name)
        if own is None and name in Case.__struct_fields__:
            own = name
        elif own is None:
            member, bracket, rest = name.partition("[")
            top, dot, inner = member.partition(".")
            own = fields.get(member, fields.get(top, top) + dot + inner) + bracket + rest
        return f"{spot.at}.{own}" if spot.at else own

    def begin(self, header: Header, spot: Spot) -> None:
        """Take over what the set says of itself."""
        self.header, self.begun = header, True
        if header.as_of is not None and (fault := moment_fault(header.as_of)):
            self.findings.error(spot.line, pointer(spot.at, "as_of"), fault, "E_DATE")
        if header.schema_version is not None:
            self.same_version(header.schema_version, spot)

    def same_version(self, version: int | None, spot: Spot) -> None:
        """Note an error for a schema version that is newer than this Assay's or differs from the first row's."""
        message = ""
        if self._version is None:
            self._version = version, str(spot)
            if version is not None and version > SCHEMA_VERSION:
                message = f"newer than known (got {version}; expected {SCHEMA_VERSION} at most: upgrade rag-assay)"
        elif version != self._version[0] and not (version is None and self.header.schema_version is not None):
            first, place = self._version
            message = f"rows of different versions (got {version or 'none'}; expected {first or 'none'}, as at {place})"
        if message:
            self.findings.error(spot.line, pointer(spot.at, "schema_version"), message, "E_SCHEMA_VERSION")

    def clean(self, raws: tuple[str, ...], spot: Spot, name: str) -> tuple[str, ...]:
        """Return names in NFC without repeats; a repeat is a warning."""
        done = self._lists.get(raws)
        if done is not None:
            return done
        known = self.names.known
        cleaned = tuple([known.get(raw) or self._clean(raw, spot, name, i) for i, raw in enumerate(raws)])
        if len(set(cleaned)) == len(cleaned):
            if all(raw in known for raw in raws):
                self._lists[raws] = cleaned
            return cleaned
        repeated = [each for each, count in Counter(cleaned).items() if count > 1]
        self.warn(spot, name, f"listed more than once (got {shown(repeated)}; expected each once)", "E_REPEATED")
        return tuple(dict.fromkeys(cleaned))

    def clean_one(self, raw: str, spot: Spot, name: str) -> str:
        """Return one name in NFC."""
        known = self.names.known.get(raw)
        return known or self.names.clean(raw, spot.line, self.place(spot, name))

    def add(self, case: Case, spot: Spot) -> None:
        """Bring a case's names into NFC, check it, and keep it unless its id came before."""
        raw_id = case.id
        case = named(case, self, spot)
        folded = unicodedata.normalize("NFC", case.question).casefold()
        check_case(case, folded, self, spot)
        if folded and not case.history:
            self._compare_questions(case, folded.replace(" ", "").rstrip("?!."), spot)
        if self._unique.add(raw_id, case.id, spot.line, self.place(spot, "id")):
            self.cases.append(case)

    def golden(self) -> GoldenSet:
        """Return the golden set of the cases gathered so far."""
        header = msgspec.structs.asdict(self.header)
        header.update(judgments=self.judgments, schema_version=SCHEMA_VERSION)
        return GoldenSet(cases=tuple(self.cases), **header)

    def _clean(self, raw: str, spot: Spot, name: str, index: int) -> str:
        return self.names.clean(raw, spot.line, pointer(self.place(spot, name), index))

    def _compare_questions(self, case: Case, folded: str, spot: Spot) -> None:
        """Two users may ask the same (that is how access is tested); one user asking twice is one cluster."""
        asked = case, spot
        earlier = self._asked.setdefault(folded, asked)
        if earlier is asked:
            return
        self._asked_by.setdefault((folded, earlier[0].user), earlier)
        first, place = self._asked_by.setdefault((folded, case.user), asked)
        if first is not case and (case.cluster is None or case.cluster != first.cluster):
            wanted = f"expected one case, or the same cluster as {shown(first.id)} at {place}"
            message = f"question asked before (got {shown(case.question)}; {wanted})"
            self.warn(spot, "question", message, "E_NEAR_DUPLICATE")
