"""Builds a golden set from the cases of a reader: normalises names to NFC, checks every case, and notes problems.

The checks are the same for all formats. The entry of the format table, `GoldenFormat`, and the small records shared by
readers and builder are here too.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct, field
from msgspec.structs import replace

from assay.formats.file_io import Source
from assay.formats.problems import NameChecker, ProblemList, UniqueIds, find_time_fault
from assay.formats.strict_json import join_field
from assay.records.counts import format_count
from assay.records.errors import shorten_repr
from assay.records.golden_set import (
    BUILT_IN_SLICE_KEYS,
    SCHEMA_VERSION,
    AnswerFormat,
    Case,
    Evidence,
    GoldenSet,
    Judgments,
    LineageEntry,
    Rubric,
    Selector,
    SilencedRule,
    User,
    Verification,
)
from assay.text.json_shape import find_schema_faults
from assay.text.linear_patterns import PatternError, compile_linear
from assay.text.normalisation import fold_question

SchemaVersion = Annotated[int, Meta(ge=1)]

CANDIDATES_SPLIT = "candidates"
"""The split of a file whose cases nobody has accepted yet, so that they may lack labels."""
REPEATED_QUESTION = "E_NEAR_DUPLICATE"
"""The code of the warning that one user asks the same question twice."""


class CaseLocation(Struct, frozen=True):
    """Location of a case: its line, or its path inside a JSON document."""

    line: int | None
    path: str = ""

    def __str__(self) -> str:
        return f"line {self.line}" if self.line is not None else self.path


class GoldenHeader(Struct, frozen=True, forbid_unknown_fields=True):
    """Metadata of a golden set: the first line of a JSONL file, or the members next to `cases` in a document."""

    name: str = ""
    version: str = ""
    split: str = ""
    owner: str = ""
    changelog: tuple[str, ...] = ()
    corpus_version: str = ""
    judgments: Judgments | None = None
    as_of: str | None = None
    schema_version: SchemaVersion | None = None
    lineage: tuple[LineageEntry, ...] = ()
    silenced: tuple[SilencedRule, ...] = ()
    verification: Verification | None = None
    frozen_digest: str = ""


class GoldenFormat(Struct, frozen=True):
    """One golden-set format: how to recognise it, how to read it, and its own names for the fields of a `Case`.

    `distinctive_members` are members that only rows of this format have. `member_names` maps fields of a `Case` to
    the format's names for them, for messages. `needs_question` is False if rows may judge a query whose text is
    stored elsewhere.
    """

    name: str
    description: str
    read: Callable[[Source, GoldenBuilder], None]
    distinctive_members: tuple[str, ...] = ()
    member_names: Mapping[str, str] = field(default_factory=dict)
    judgments: Judgments = "complete"
    needs_question: bool = True


MAX_TAGS = 100
SEPARATORS = (":", "#", "/")
"""Separators after the document name in a chunk id; a citation of the document then matches the chunk."""
MIN_LEAKED_WORDS = 3
"""A reference of at least so many words that is contained in its question is reported as leaked."""
_INVISIBLE_CATEGORIES = frozenset({"Cc", "Cf", "Zl", "Zp", "Zs"})
_BLANK_LETTERS = "\u115f\u1160\u2800\u3164\uffa0"  # Hangul fillers and the blank Braille pattern


def check_case(case: Case, folded_question: str, builder: GoldenBuilder, spot: CaseLocation) -> None:
    """Note every contradiction in the case and everything that cannot be scored."""
    if _is_blank(case.question):
        _check_no_question(case, builder, spot)
    elif case.reference is not None:
        _check_reference(case.reference, folded_question, builder, spot)
    if len(case.tags) > MAX_TAGS:
        builder.note_error(spot, "tags", f"too many (got {len(case.tags)}; expected {MAX_TAGS} at most)", "E_TAGS")
    for name in case.attributes:
        _check_attribute(name, builder, spot)
    nugget_texts = tuple(nugget.text for nugget in case.nuggets)
    for name, texts in (
        ("must_have", case.must_have),
        ("nuggets", nugget_texts),
        ("forbidden_text", case.forbidden_text),
    ):
        if texts:
            _check_texts(name, texts, builder, spot)
    if case.rubric is not None:
        _check_rubric(case.rubric, builder, spot)
    if case.answer_format is not None:
        _check_format(case.answer_format, builder, spot)
    if case.user is not None and case.user.as_of is not None:
        fault = find_time_fault(case.user.as_of)
        if fault:
            builder.note_error(spot, "user.as_of", fault, "E_DATE")
    _check_variant(case, builder, spot)
    _check_behaviour(case, builder, spot)


def _check_variant(case: Case, builder: GoldenBuilder, spot: CaseLocation) -> None:
    if (case.variant_of is None) != (case.variant is None):
        stated = "variant" if case.variant_of is None else "variant_of"
        message = f"stated without its counterpart (got {stated} alone; expected variant_of and variant, or neither)"
        builder.note_error(spot, stated, message, "E_VARIANT")


def _is_blank(text: str) -> bool:
    """Return whether a text has no visible character, only spaces, control, zero-width and filler characters."""
    return all(letter in _BLANK_LETTERS or unicodedata.category(letter) in _INVISIBLE_CATEGORIES for letter in text)


def _check_attribute(name: str, builder: GoldenBuilder, spot: CaseLocation) -> None:
    """Note an error for an attribute that would be ambiguous as a slice `name=value` in reports, --by and gates."""
    if name in BUILT_IN_SLICE_KEYS:
        message = (
            f"name of a built-in slice (got {shorten_repr(name)}; expected another, because {name}= "
            f"reads the case itself)"
        )
    elif "=" in name:
        message = (
            f"no name of a slice (got {shorten_repr(name)}; expected one without =, which ends the name of a slice)"
        )
    else:
        return
    builder.note_error(spot, join_field("attributes", name), message, "E_ATTRIBUTE")


def _check_no_question(case: Case, builder: GoldenBuilder, spot: CaseLocation) -> None:
    """Note an error for an empty question; only pure relevance judgments may do without, as in qrels files."""
    judged_only = case.behaviour == "answer" and not _has_answer_gold(case)
    if case.question or builder.format.needs_question or not judged_only:
        message = f"empty question (got {shorten_repr(case.question)}; expected the words that the system is asked)"
        builder.note_error(spot, "question", message, "E_QUESTION")


def _check_reference(reference: str, question: str, builder: GoldenBuilder, spot: CaseLocation) -> None:
    if _is_blank(reference):
        message = f"empty reference (got {shorten_repr(reference)}; expected an answer, or no such field)"
        builder.note_error(spot, "reference", message, "E_REFERENCE")
    elif _gives_away(unicodedata.normalize("NFC", reference), question):
        message = f"the question contains its own answer (got {shorten_repr(reference)}; expected one that does not)"
        builder.note_warning(spot, "question", message, "E_LEAK")


def _gives_away(reference: str, question: str) -> bool:
    """Return whether the question contains the reference answer.

    Short words such as "no" occur in many questions by chance, so three words or a number are required.
    """
    answer = reference.casefold().strip(" .,;:!?…\"'()")
    if answer not in question:
        return False
    is_specific = len(answer.split()) >= MIN_LEAKED_WORDS or any(letter.isdigit() for letter in answer)
    return is_specific and re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", question) is not None


def _check_texts(name: str, texts: tuple[str, ...], builder: GoldenBuilder, spot: CaseLocation) -> None:
    for index, text in enumerate(texts):
        if _is_blank(text):
            message = (
                f"empty text (got {shorten_repr(text)}; expected words, because an empty text is found in everything)"
            )
            builder.note_error(spot, f"{name}[{index}]", message, "E_TEXT")


def _check_rubric(rubric: Rubric, builder: GoldenBuilder, spot: CaseLocation) -> None:
    _check_texts("rubric.correct_keywords", rubric.correct_keywords, builder, spot)
    _check_texts("rubric.incorrect_patterns", rubric.incorrect_patterns, builder, spot)
    incorrect = {pattern.casefold() for pattern in rubric.incorrect_patterns}
    for keyword in rubric.correct_keywords:
        if keyword.casefold() in incorrect:
            message = f"both correct and incorrect (got {shorten_repr(keyword)}; expected it in one of the two lists)"
            builder.note_error(spot, "rubric.correct_keywords", message, "E_RUBRIC")


def _check_format(wanted: AnswerFormat, builder: GoldenBuilder, spot: CaseLocation) -> None:
    """Note what cannot be checked of the form that an answer must have."""
    if wanted.pattern is not None:
        try:
            compile_linear(wanted.pattern)
        except PatternError as error:
            message = f"not a pattern (got {shorten_repr(wanted.pattern)}: {error})"
            builder.note_error(spot, "answer_format.pattern", message, "E_FORMAT")
    limits = (("chars", wanted.min_chars, wanted.max_chars), ("words", wanted.min_words, wanted.max_words))
    for unit, low, high in limits:
        if low is not None and high is not None and high < low:
            message = f"below its minimum (got {high}; expected {low} or more)"
            builder.note_error(spot, f"answer_format.max_{unit}", message, "E_FORMAT")
    if wanted.json_schema is not None:
        for path, message in find_schema_faults(wanted.json_schema, "answer_format.json_schema"):
            builder.note_error(spot, path, message, "E_FORMAT")
    if wanted == AnswerFormat():
        message = "demands nothing (expected pattern, json_schema, or a length in characters or words)"
        builder.note_error(spot, "answer_format", message, "E_FORMAT")


def _check_behaviour(case: Case, builder: GoldenBuilder, spot: CaseLocation) -> None:
    relevant = [unit for unit in case.evidence if unit.grade]
    if case.behaviour == "abstain" and (relevant or case.must_cite):
        name = "evidence" if relevant else "must_cite"
        got = shorten_repr(_selector_texts(relevant) if relevant else list(case.must_cite))
        message = f"abstain case with sources (got {got}; expected none, or behaviour answer or permission_denied)"
        builder.note_error(spot, name, message, "E_BEHAVIOUR")
    elif case.behaviour == "permission_denied":
        _check_denied(case, relevant, builder, spot)
    else:
        _check_sources(case, relevant, builder, spot)
    if case.behaviour == "answer":
        _check_answerable(case, relevant, builder, spot)


def _check_denied(case: Case, relevant: list[Evidence], builder: GoldenBuilder, spot: CaseLocation) -> None:
    user = case.user
    if user is None or not (user.tenant or user.roles or user.position is not None or user.as_of or user.id):
        message = (
            f"permission_denied without a user (got {shorten_repr(user)}; expected who asks: tenant, roles or position)"
        )
        builder.note_error(spot, "user", message, "E_BEHAVIOUR")
    if not relevant and not case.forbidden:
        message = "permission_denied without forbidden chunks (got none; expected the ids that this user may not see)"
        builder.note_error(spot, "evidence", message, "E_BEHAVIOUR")


def _check_answerable(case: Case, relevant: list[Evidence], builder: GoldenBuilder, spot: CaseLocation) -> None:
    if relevant or builder.judgments == "partial":
        return
    if case.evidence:
        message = (
            "answer case whose evidence is all graded 0 (got no grade above 0; expected one, or behaviour abstain)"
        )
        builder.note_error(spot, "evidence", message, "E_UNANSWERABLE")
    elif is_unlabelled(case) and builder.header.split != CANDIDATES_SPLIT:
        message = "answer case with nothing to score (got no evidence and no reference; expected either, or must_have)"
        builder.note_error(spot, "evidence", message, "E_NO_GOLD")


def is_unlabelled(case: Case) -> bool:
    """Return whether an answer case says nothing that an answer could be scored by.

    Candidates may: a person who reviews them gives them a reference or evidence. A frozen set may not.
    """
    is_labelled = case.evidence or _has_answer_gold(case) or case.must_cite or case.forbidden or case.forbidden_text
    return case.behaviour == "answer" and not is_labelled


def _check_sources(case: Case, relevant: list[Evidence], builder: GoldenBuilder, spot: CaseLocation) -> None:
    """Note required citations that are not evidence, and evidence that is forbidden."""
    if case.must_cite and relevant and builder.judgments == "complete":
        for index, citation in enumerate(case.must_cite):
            if not _can_cite_any(citation, relevant):
                _note_bad_citation(citation, index, relevant, builder, spot)
    if not case.forbidden:
        return
    evidence = {frozenset(selector.items()) for unit in relevant for selector in unit.any_of}
    for index, selector in enumerate(case.forbidden):
        if frozenset(selector.items()) in evidence:
            message = f"both evidence and forbidden (got {shorten_repr(selector)}; expected one of the two)"
            builder.note_error(spot, f"forbidden[{index}]", message, "E_FORBIDDEN")


def _note_bad_citation(
    citation: str, index: int, relevant: list[Evidence], builder: GoldenBuilder, spot: CaseLocation
) -> None:
    """Note a required citation that matches no evidence: an error if ids name their documents, else a warning.

    Ids without parts (`c-17`) do not name a document, but the corpus may: then the citation may still match.
    """
    expected = f"an id of the evidence, or its part before : # or /: {shorten_repr(_selector_texts(relevant))}"
    if any(mark in text for text in (citation, *_selector_texts(relevant)) for mark in SEPARATORS):
        message = f"can never match the evidence (got {shorten_repr(citation)}; expected {expected})"
        builder.note_error(spot, f"must_cite[{index}]", message, "E_MUST_CITE")
    else:
        message = f"matches only if the corpus has it as a document (got {shorten_repr(citation)}; expected {expected})"
        builder.note_warning(spot, f"must_cite[{index}]", message, "E_MUST_CITE")


def _can_cite_any(citation: str, relevant: list[Evidence]) -> bool:
    return any(_can_cite(citation, selector) for unit in relevant for selector in unit.any_of)


def _can_cite(citation: str, selector: Selector) -> bool:
    """Return whether a chunk that the selector matches could be cited as `citation`: by its id or its document.

    A selector without a chunk id names its chunks by document, path or title, so a more specific citation may match
    too. A selector with none of these (a quote, a page) rules nothing out.
    """
    chunk_id = selector.get("chunk_id")
    if chunk_id is not None:
        return citation in (chunk_id, selector.get("document")) or _starts_with_part(str(chunk_id), citation)
    names = [str(selector[key]) for key in ("document", "path", "title") if key in selector]
    return not names or any(citation == name or _starts_with_part(citation, name) for name in names)


def _starts_with_part(name: str, part: str) -> bool:
    return name.startswith(part) and name[len(part) : len(part) + 1] in SEPARATORS


def _has_answer_gold(case: Case) -> bool:
    rubric = case.rubric
    keywords = rubric is not None and bool(rubric.correct_keywords or rubric.incorrect_patterns)
    stated = (case.reference, case.must_have, keywords, case.answer_format, case.symbols, case.nuggets)
    return any(stated)


def _selector_texts(units: list[Evidence]) -> list[str]:
    return [", ".join(str(value) for value in selector.values()) for unit in units for selector in unit.any_of]


PROSE_KEYS = ("quote", "title")
"""Selector fields that hold prose: the rules for ids (length, characters) do not apply to them."""


def normalise_case(case: Case, builder: GoldenBuilder, spot: CaseLocation) -> Case:
    """Return the case with its ids and names in NFC; lists of names lose repetitions."""
    changes: dict[str, Any] = {}
    case_id = builder.clean_name(case.id, spot, "id")
    if case_id != case.id:
        changes["id"] = case_id
    for field_name, names in (("tags", case.tags), ("must_cite", case.must_cite), ("symbols", case.symbols)):
        if names:
            cleaned = builder.clean_names(names, spot, field_name)
            if cleaned != names:
                changes[field_name] = cleaned
    if case.attributes:
        attributes = _normalise_attributes(case.attributes, builder, spot)
        if attributes != case.attributes:
            changes["attributes"] = attributes
    for field_name, raw in (("cluster", case.cluster), ("variant_of", case.variant_of)):
        if raw is not None:
            changes[field_name] = builder.clean_name(raw, spot, field_name)
    if case.user is not None:
        changes["user"] = _normalise_user(case.user, builder, spot)
    return replace(case, **changes) if changes else case


def _normalise_attributes(attributes: dict[str, str], builder: GoldenBuilder, spot: CaseLocation) -> dict[str, str]:
    """Return attributes in NFC, the form in which slices are looked up; notes names that become equal."""
    normalised: dict[str, str] = {}
    for key, value in attributes.items():
        name = unicodedata.normalize("NFC", key)
        if name in normalised:
            message = (
                f"name equal to another one after NFC normalisation (got {shorten_repr(name)} again; expected it once)"
            )
            builder.note_error(spot, join_field("attributes", name), message, "E_ATTRIBUTE")
        normalised[name] = unicodedata.normalize("NFC", value)
    return normalised


def normalise_evidence(
    evidence: tuple[Evidence, ...], builder: GoldenBuilder, spot: CaseLocation
) -> tuple[Evidence, ...]:
    """Return units of evidence with the strings of their selectors in NFC; notes empty selectors."""
    return tuple([_normalise_unit(unit, builder, spot, index) for index, unit in enumerate(evidence)])


def normalise_selectors(
    selectors: tuple[Selector, ...], builder: GoldenBuilder, spot: CaseLocation, name: str
) -> tuple[Selector, ...]:
    """Return selectors with their strings in NFC; notes empty ones."""
    return tuple(
        [_normalise_selector(selector, builder, spot, join_field(name, i)) for i, selector in enumerate(selectors)]
    )


def _normalise_user(user: User, builder: GoldenBuilder, spot: CaseLocation) -> User:
    normalised = builder.users.get(user)
    if normalised is None:
        changes: dict[str, Any] = {"roles": builder.clean_names(user.roles, spot, "user.roles")}
        for name in ("tenant", "position_scope", "id"):
            value = getattr(user, name)
            if value is not None:
                changes[name] = builder.clean_name(value, spot, f"user.{name}")
        normalised = builder.users[user] = replace(user, **changes)
    return normalised


def _normalise_unit(unit: Evidence, builder: GoldenBuilder, spot: CaseLocation, index: int) -> Evidence:
    name = f"evidence[{index}].any_of"
    if not unit.any_of:
        builder.note_error(spot, name, "no selector (got []; expected at least one)", "E_SELECTOR")
    return replace(unit, any_of=normalise_selectors(unit.any_of, builder, spot, name))


def _normalise_selector(selector: Selector, builder: GoldenBuilder, spot: CaseLocation, name: str) -> Selector:
    if not selector:
        builder.note_error(spot, name, "empty selector (got {}; expected a field)", "E_SELECTOR")
    normalised: Selector = {}
    for key, value in selector.items():
        if isinstance(value, str):
            if key in PROSE_KEYS and value and not value.isspace():
                value = unicodedata.normalize("NFC", value)
            else:
                value = builder.clean_name(value, spot, join_field(name, key))
        normalised[unicodedata.normalize("NFC", key)] = value
    return normalised


LocatedCase = tuple[Case, CaseLocation]


class GoldenBuilder:
    """Collects the cases that the reader of a format passes to `add_case`; `build_golden_set` "
    "returns the finished set."""

    def __init__(self, form: GoldenFormat, findings: ProblemList) -> None:
        self.format = form
        self.findings = findings
        self.names = NameChecker(findings)
        self.header = GoldenHeader()
        self.has_header = False
        self.cases: list[Case] = []
        self.spots: dict[str, CaseLocation] = {}
        self._unique = UniqueIds(findings)
        self.users: dict[User, User] = {}
        self._lists: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._first_by_question: dict[str, LocatedCase] = {}
        self._first_by_question_and_user: dict[tuple[str, User | None], LocatedCase] = {}
        self._version: tuple[int | None, str] | None = None

    @property
    def judgments(self) -> Judgments:
        """Whether chunks that are not listed count as judged: as the header says, else the default of the format."""
        return self.header.judgments or self.format.judgments

    def note_error(self, spot: CaseLocation, name: str, message: str, code: str) -> None:
        """Note an error in a field of a `Case`, under the format's own name for it."""
        self.findings.add_error(spot.line, self.member_path(spot, name), message, code)

    def note_warning(self, spot: CaseLocation, name: str, message: str, code: str) -> None:
        """Note a warning in a field of a `Case`, under the format's own name for it."""
        self.findings.add_warning(spot.line, self.member_path(spot, name), message, code)

    def member_path(self, spot: CaseLocation, name: str) -> str:
        """Return the name of a field of a `Case` in messages; `name` may lie inside a field, as `rubric.match` does."""
        format_names = self.format.member_names
        format_name = format_names.get(name)
        if format_name is None and name in Case.__struct_fields__:
            format_name = name
        elif format_name is None:
            # A path such as `user.tenant` or `evidence[0].any_of`: only its beginning has a name in the format.
            member, bracket, index = name.partition("[")
            field, dot, inner = member.partition(".")
            format_name = format_names.get(member, format_names.get(field, field) + dot + inner) + bracket + index
        return f"{spot.path}.{format_name}" if spot.path else format_name

    def set_header(self, header: GoldenHeader, spot: CaseLocation) -> None:
        """Take over the metadata of the set and check it."""
        self.header, self.has_header = header, True
        if header.as_of is not None:
            fault = find_time_fault(header.as_of)
            if fault:
                self.findings.add_error(spot.line, join_field(spot.path, "as_of"), fault, "E_DATE")
        if header.schema_version is not None:
            self.check_version(header.schema_version, spot)

    def check_version(self, version: int | None, spot: CaseLocation) -> None:
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
            self.findings.add_error(spot.line, join_field(spot.path, "schema_version"), message, "E_SCHEMA_VERSION")

    def clean_names(self, raws: tuple[str, ...], spot: CaseLocation, name: str) -> tuple[str, ...]:
        """Return names in NFC without repetitions; a repetition is a warning."""
        cached = self._lists.get(raws)  # many cases have the same list of tags or roles
        if cached is not None:
            return cached
        normalised = self.names.normalised
        cleaned = tuple([normalised.get(raw) or self._clean(raw, spot, name, i) for i, raw in enumerate(raws)])
        if len(set(cleaned)) == len(cleaned):
            if all(raw in normalised for raw in raws):
                self._lists[raws] = cleaned
            return cleaned
        repeated = [cleaned_name for cleaned_name, count in Counter(cleaned).items() if count > 1]
        self.note_warning(
            spot, name, f"listed more than once (got {shorten_repr(repeated)}; expected each once)", "E_REPEATED"
        )
        return tuple(dict.fromkeys(cleaned))

    def clean_name(self, raw: str, spot: CaseLocation, name: str) -> str:
        """Return one name in NFC."""
        cached = self.names.normalised.get(raw)
        return cached or self.names.normalise(raw, spot.line, self.member_path(spot, name))

    def add_case(self, case: Case, spot: CaseLocation) -> None:
        """Normalise the names of a case to NFC, check it, and add it unless its id is a duplicate."""
        raw_id = case.id
        case = normalise_case(case, self, spot)
        folded = unicodedata.normalize("NFC", case.question).casefold()
        check_case(case, folded, self, spot)
        asked = fold_question(case.question)
        if asked and not case.history:
            self._compare_questions(case, asked, spot)
        if self._unique.add_id(raw_id, case.id, spot.line, self.member_path(spot, "id")):
            self.cases.append(case)
            self.spots[case.id] = spot

    def build_golden_set(self) -> GoldenSet:
        """Return the golden set with the cases added so far."""
        header = msgspec.structs.asdict(self.header)
        header.update(judgments=self.judgments, schema_version=SCHEMA_VERSION)
        return GoldenSet(cases=tuple(self.cases), **header)

    def check_variants(self) -> None:
        """Note an error for a variant of a variant, and a warning for one of a case that is not in the set."""
        variants = {case.id for case in self.cases if case.variant_of is not None}
        ids = {case.id for case in self.cases}
        alone = []
        for case in self.cases:
            if case.variant_of in variants:
                message = f"a variant itself (got {shorten_repr(case.variant_of)}; expected the case that it varies)"
                self.note_error(self.spots[case.id], "variant_of", message, "E_VARIANT")
            elif case.variant_of is not None and case.variant_of not in ids:
                alone.append(case)
        if alone:
            message = (
                f"{format_count(len(alone), 'variant')} of cases that are not in this set are compared with "
                "nothing (got "
                f"{shorten_repr(alone[0].variant_of)}; expected the id of a case)"
            )
            self.note_warning(self.spots[alone[0].id], "variant_of", message, "E_VARIANT")

    def _clean(self, raw: str, spot: CaseLocation, name: str, index: int) -> str:
        return self.names.normalise(raw, spot.line, join_field(self.member_path(spot, name), index))

    def _compare_questions(self, case: Case, folded: str, spot: CaseLocation) -> None:
        """Warn if one user asks a question twice outside a cluster.

        Two users may ask the same question: that is how access rights are tested.
        """
        located = case, spot
        earlier = self._first_by_question.setdefault(folded, located)
        if earlier is located:
            return
        self._first_by_question_and_user.setdefault((folded, earlier[0].user), earlier)
        first_case, location = self._first_by_question_and_user.setdefault((folded, case.user), located)
        if first_case is not case and (case.cluster or case.id) != (first_case.cluster or first_case.id):
            expected = f"expected one case, or the same cluster as {shorten_repr(first_case.id)} at {location}"
            message = f"question asked before (got {shorten_repr(case.question)}; {expected})"
            self.note_warning(spot, "question", message, REPEATED_QUESTION)
