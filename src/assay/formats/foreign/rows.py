"""Rows of other tools as a golden set and recorded outputs: Ragas, DeepEval, and spreadsheets with the usual columns.

A row has a question and what is expected; it may also have what a system answered. Everything is imported or nothing:
a row that cannot be read is a problem with its number, its member and a remedy. What has no counterpart is counted.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import msgspec
from msgspec import UNSET, Struct, field

from assay.formats.foreign.chunk_shapes import ShapeError
from assay.formats.foreign.extra_columns import ExtraColumns, open_metadata, refuse_unread_columns
from assay.formats.foreign.frame_shapes import describe_no_text
from assay.formats.foreign.member_names import (
    BEHAVIOUR_KEYS,
    CONFIG_KEYS,
    EVIDENCE_ID_KEYS,
    EVIDENCE_TEXT_KEYS,
    ID_KEYS,
    LIST_KEYS,
    MUST_REFUSE,
    QUESTION_KEYS,
    REFERENCE_KEYS,
    SLICE_KEYS,
    TAG_KEYS,
    RowError,
    describe_row_names,
    is_observed,
    normalise_member_name,
    open_row,
    refuse_lost_expectations,
)
from assay.formats.foreign.reference_behaviour import Reading, ReferenceBehaviour, read_reference_behaviour
from assay.formats.foreign.reply_shapes import (
    ANSWER_KEYS,
    RANKING_KEYS,
    STAGE_KEYS,
    STAGE_LIST_KEYS,
    TEXT_LIST_KEYS,
    recognise_reply,
)
from assay.formats.foreign.row_places import RowPlaces
from assay.formats.problems import find_name_fault, join_repeated_problems
from assay.formats.strict_json import MisfitError, convert_strictly
from assay.records.counts import format_count, join_first
from assay.records.errors import InputError, Problem, shorten_repr
from assay.records.golden_set import BEHAVIOURS, DIFFICULTIES, Case, Difficulty, Evidence, GoldenSet
from assay.records.observations import RETRIEVED_STAGE, Observation, Stage, add_context_stage
from assay.text.normalisation import collapse_spaces, fold_text
from assay.text.pattern_cache import compile_pattern

RETRIEVED_ALONE_KEY = 'documents: [{"text": …}]'
"""How a row states a ranking that is not what the model was shown; short strings alone could be ids."""
_OUTPUT_KEYS = frozenset((
    *ANSWER_KEYS, *RANKING_KEYS, "retrieved_chunks", "context_chunks", "retrieved_context_ids",
    "citations", "usage", "versions", "error",
))  # fmt: skip
_EXPECTED_KEYS = frozenset((*REFERENCE_KEYS, *EVIDENCE_ID_KEYS, *LIST_KEYS, "reference_contexts", "expected_contexts"))
_GOLDEN_KEYS = _EXPECTED_KEYS | {*EVIDENCE_TEXT_KEYS, *BEHAVIOUR_KEYS, *TAG_KEYS}
_NAMING_KEYS = frozenset((*ID_KEYS, *QUESTION_KEYS, *CONFIG_KEYS))
_OWN_KEYS = frozenset((*LIST_KEYS, "expected_chunk_ids", "expected_behavior", "behaviour"))
"""Members that no other tool has: a row with one of them is written in Assay's words."""
_NOTE_PREFIX = "x_"
_MOST_LISTED = 24
_FIRST_LISTED = 10
_CONVERSATION_KEYS = ("turns", "messages", "scenario")


class ForeignRows(Struct):
    """What was read: cases with the number of their row, observations, what was left out, and everything wrong."""

    cases: list[tuple[Case, int]] = field(default_factory=list)
    observations: list[Observation] = field(default_factory=list)
    ignored: Counter[str] = field(default_factory=Counter)
    counterparts: Counter[str] = field(default_factory=Counter)
    """What was not imported although Assay measures it too, with what it is here."""
    notes: dict[str, None] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    places: RowPlaces = field(default_factory=RowPlaces)
    targets: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Settings of targets by their name, from a file that describes systems too."""
    rules: list[dict[str, Any]] = field(default_factory=list)
    """Rules of a gate, from a file that limits more than answers."""

    def add_problem(self, path: str, row: int, member: str, message: str) -> None:
        """Note what is wrong with a member of a row."""
        self.problems.append(Problem(path, row, member, message, "E_IMPORT"))

    def refuse_problems(self, path: str) -> None:
        """Raise InputError with everything wrong, each with its place in the file `path`, or if there is no row."""
        if self.problems:
            raise InputError(self.places.point_problems(join_repeated_problems(self.problems)))
        if not self.cases:
            message = "no row (got an empty file or list; expected rows with a question)"
            raise InputError([Problem(path, None, "", message, "E_EMPTY")])

    @property
    def golden(self) -> GoldenSet:
        """The golden set; with cases that have nothing to score but their answers, its judgments are partial."""
        cases = tuple(case for case, _ in self.cases)
        is_scorable = all(
            case.behaviour != "answer" or case.reference or case.evidence or case.must_have or case.rubric
            for case in cases
        )
        return GoldenSet(cases, judgments="complete" if is_scorable else "partial")


def make_question_id(question: str) -> str:
    """Return the id of a case whose row has none; the same question gives the same id in every file.

    It begins with the first words of the question, as far as they have letters or digits of ASCII without accents, so
    that people know which question it is; the digest of the whole question tells it from all others.

    >>> make_question_id("How much  leave?") == make_question_id("How much leave?")
    True
    >>> make_question_id("Wie viele Tage Urlaub hat man im ersten Jahr?"), make_question_id("何日ですか")
    ('wie-viele-tage-urlaub-hat-9c2054da57', 'q-3eb7362a1c')
    """
    digest = hashlib.sha256(collapse_spaces(question).encode()).hexdigest()[:10]
    slug = ""
    for word in _SLUG_WORD.findall(fold_text(question)):
        if slug and len(slug) + len(word) >= _LONGEST_SLUG:
            break
        slug = f"{slug}-{word}" if slug else word[:_LONGEST_SLUG]
    return f"{slug or 'q'}-{digest}"


_SLUG_WORD = compile_pattern(r"[a-z0-9]+")
_LONGEST_SLUG = 28


def read_foreign_rows(rows: Iterable[tuple[int, Any]], path: str, *, is_golden: bool = False) -> ForeignRows:
    """Return the cases and observations of numbered rows; `path` is the name for messages.

    `is_golden` says that the rows are used as a golden set as they are, and not converted into one: then a row that is
    written in Assay's words is read strictly.

    A row may be the InputError that says why it could not be read. Rows of one case with the answers of several
    systems, named by `config_id`, are one case.
    """
    reader = _RowReader(path, is_golden=is_golden)
    numbered = list(rows)
    named = _name_cases([row for _, row in numbered])
    if named:
        reader.foreign.notes.setdefault("name is the id of each case")
        numbered = [(number, row) for (number, _), row in zip(numbered, named, strict=True)]
    for number, row in numbered:
        reader.add_row(number, row)
    return reader.finish()


def _name_cases(rows: Sequence[Any]) -> list[dict[str, Any]]:
    """Return test cases of DeepEval with their names as ids; an empty list where one has none, or the name of another.

    >>> _name_cases([{"input": "Who?", "expected_output": "Ida", "name": "who"}])
    [{'input': 'Who?', 'expected_output': 'Ida', 'id': 'who'}]
    """
    named: dict[str, dict[str, Any]] = {}
    for row in rows:
        members = {normalise_member_name(str(key)): key for key in row} if isinstance(row, Mapping) else {}
        is_test_case = "input" in members and not members.keys().isdisjoint(("actual_output", "expected_output"))
        name = row.get(members.get("name")) if is_test_case and members.keys().isdisjoint(ID_KEYS) else None
        if not isinstance(name, str) or find_name_fault(name) or name in named:
            return []
        named[name] = {**{key: value for key, value in row.items() if key != members["name"]}, "id": name}
    return list(named.values())


class _RowReader:
    """Collects the cases and observations of rows, and what is wrong with them."""

    def __init__(self, path: str, *, is_golden: bool) -> None:
        self.path, self.is_golden = path, is_golden
        self.foreign = ForeignRows()
        self._read_from_reference: dict[Reading, list[str]] = defaultdict(list)
        self._columns = ExtraColumns()
        self._first_by_id: dict[str, tuple[Case, int]] = {}
        self._answered: set[tuple[str, str]] = set()

    def add_row(self, number: int, row: Any) -> None:
        """Add what a row holds, or note what is wrong with it."""
        foreign = self.foreign
        if isinstance(row, InputError):
            foreign.problems += row.problems
            return
        if not isinstance(row, Mapping):
            foreign.add_problem(self.path, number, "", f"not an object (got {shorten_repr(row)}; expected one row)")
            return
        try:
            opened = open_row(row, lambda note: foreign.notes.setdefault(note))
            members = {key: value for key, value in opened.items() if value not in (None, "", [], ())}
            unread = _list_unread(members)
            is_answered = not _OUTPUT_KEYS.isdisjoint(members)
            is_own = self.is_golden and not is_answered and not _OWN_KEYS.isdisjoint(members)
            refuse_lost_expectations(members, unread, is_own=is_own, is_answered=is_answered)
            if is_own:
                refuse_unread_columns(members, unread)
            case, reading = _read_case(members, foreign.notes)
            observation = _read_observation(members, case.id, foreign, _OUTPUT_KEYS)
            is_new = self._is_new_case(case, number, observation)
        except RowError as error:
            foreign.add_problem(self.path, number, error.member, error.message)
            return
        if is_new:
            self._read_from_reference[reading].append(case.id)
            foreign.cases.append((case, number))
        if observation is not None:
            foreign.observations.append(observation)
        cells = open_metadata({key: members[key] for key in unread})
        self._columns.add_row(case.id, cells, is_answered=is_answered)

    def finish(self) -> ForeignRows:
        """Return what was read, with the columns that describe the cases as their attributes."""
        foreign = self.foreign
        for reading, note in _NOTES_OF_READINGS.items():
            if self._read_from_reference[reading]:
                foreign.notes.setdefault(note.format(ids=_list_ids(self._read_from_reference[reading])))
        foreign.cases = self._columns.add_attributes(foreign.cases)
        foreign.ignored.update(self._columns.count_left())
        taken = self._columns.describe_taken()
        if taken:
            foreign.notes.setdefault(taken)
        return foreign

    def _is_new_case(self, case: Case, number: int, observation: Observation | None) -> bool:
        """Return whether a row has a case of its own. Raises RowError for a case that is there already."""
        first, first_number = self._first_by_id.setdefault(case.id, (case, number))
        config = "" if observation is None else observation.config_id
        is_repeated = (case.id, config) in self._answered
        self._answered.add((case.id, config))
        if first_number == number:
            return True
        if first == case and observation is not None and not is_repeated:
            return False
        if first != case:
            remedy = "expected an id of its own for each case, or the same question with the same expectations"
        elif observation is None:
            remedy = "expected each case once: leave one of the rows out"
        else:
            remedy = "expected each case once, or a config_id in each row that names the system which answered"
        message = f"the same case again (got {shorten_repr(case.id)}; it is in row {first_number} too; {remedy})"
        raise RowError("id", message)


_TO_FIND_LEAKS = "to look for leaks there, add who asks, user, and what must not be shown, forbidden"
_TO_CORRECT = "if that is not meant, state expected_behavior: answer in the row"
_NOTES_OF_READINGS: Mapping[Reading, str] = {
    "abstains": "expected to abstain, because the reference does: {ids}",
    "asks": "expected to ask back, because the reference does: {ids}",
    "describes asking": (
        f"expected to ask back, because the reference says that the system should: {{ids}} ({_TO_CORRECT})"
    ),
    "denies": f"expected to abstain or to deny access, because the reference denies it: {{ids}} ({_TO_FIND_LEAKS})",
    "describes refusing": (
        "expected to abstain or to deny access, because the reference says who alone may know or that nothing is to be "
        f"told: {{ids}} ({_TO_CORRECT}; {_TO_FIND_LEAKS})"
    ),
    "may describe": (
        "the reference is taken for the answer, although it may say what the system should do: {ids} (if it does, "
        "state expected_behavior: clarify or abstain in the row)"
    ),
}
"""What is said at the import of references that are no plain answers."""


def _list_ids(ids: Sequence[str]) -> str:
    """Return all ids, or their number and the first of them where there are many."""
    if len(ids) <= _MOST_LISTED:
        return ", ".join(ids)
    return f"{format_count(len(ids), 'case')}, {join_first(ids, _FIRST_LISTED)}"


def _read_case(members: Mapping[str, Any], notes: dict[str, None]) -> tuple[Case, Reading]:
    """Return the case of a row, and how its reference was read where the row states no behaviour."""
    question = _read_question(members)
    reference_key = _find_only(members, REFERENCE_KEYS)
    reference = None if reference_key is None else _read_reference(members[reference_key], reference_key)
    if reference is None and "answer" in members and not is_observed(members):
        raise RowError(
            "answer",
            "could be what is expected or what the system answered (expected it under the name reference, or response)",
        )
    id_key = _find_only(members, ID_KEYS)
    case_id = None if id_key is None else members[id_key]
    if isinstance(case_id, (dict, list, float)):
        raise RowError("id", describe_no_text(case_id, "an id"))
    expected = _read_behaviour(members) or read_reference_behaviour(reference or "", question)
    if expected.behaviour == "abstain":
        members = _leave_out_texts(members, notes)
    case = Case(
        id=make_question_id(question) if case_id is None else str(case_id),
        question=question,
        reference=reference,
        evidence=_read_evidence(members),
        tags=_read_tags(members),
        difficulty=_read_difficulty(members),
        language=_read_text(members, "language"),
        cluster=_read_text(members, "cluster"),
        notes=_read_text(members, "notes") or "",
        attributes=_read_attributes(members),
        behaviour=expected.behaviour,
        also_accept=expected.also_accept,
        must_have=tuple(_read_texts(members, "must_have")),
        must_cite=tuple(_read_texts(members, "must_cite")),
        forbidden_text=tuple(_read_texts(members, "forbidden_text")),
        metadata={key: value for key, value in members.items() if key.startswith(_NOTE_PREFIX)},
    )
    return case, expected.reading


def _leave_out_texts(members: Mapping[str, Any], notes: dict[str, None]) -> Mapping[str, Any]:
    """Return the members of a row that expects to abstain without its contexts, which do not hold what was asked."""
    texts = [key for key in EVIDENCE_TEXT_KEYS if key in members]
    if not texts:
        return members
    notes.setdefault(f"{texts[0]} of questions that are expected to abstain is not evidence")
    return {key: value for key, value in members.items() if key not in texts}


def _find_only(members: Mapping[str, Any], keys: Sequence[str]) -> str | None:
    """Return which of several names of one thing a row has. Raises RowError for two with different values."""
    named = [key for key in keys if key in members]
    for other in named[1:]:
        if members[other] != members[named[0]]:
            got = " and ".join(f"{key}: {shorten_repr(members[key])}" for key in (named[0], other))
            raise RowError(named[0], f"two values of one thing (got {got}; expected one of them)")
    return named[0] if named else None


def _read_behaviour(members: Mapping[str, Any]) -> ReferenceBehaviour | None:
    """Return the behaviour that a row states, None if it states none. Raises RowError for one that is unknown."""
    key = next((key for key in BEHAVIOUR_KEYS if key in members), None)
    if key is None:
        return None
    for behaviour in BEHAVIOURS:
        if members[key] == behaviour:
            may_deny = behaviour == "abstain" and members.get(MUST_REFUSE)
            return ReferenceBehaviour(behaviour, ("permission_denied",) if may_deny else (), "answers")
    raise RowError(key, f"unknown (got {shorten_repr(members[key])}; expected one of {', '.join(BEHAVIOURS)})")


def _read_question(members: Mapping[str, Any]) -> str:
    for key in _CONVERSATION_KEYS:
        if key in members and not any(name in members for name in QUESTION_KEYS):
            raise RowError(key, "conversations of several turns are not imported (expected rows with one question)")
    questions = {key: members[key] for key in QUESTION_KEYS if key in members}
    if not questions:
        keys = ", ".join(sorted(members)) or "none"
        remedy = describe_row_names(members)
        expected = f"one of {', '.join(QUESTION_KEYS)}{f'; {remedy}' if remedy else ''}"
        raise RowError("question", f"missing (got {keys}; expected {expected})")
    key, question = next(iter(questions.items()))
    if isinstance(question, (list, tuple)):
        raise RowError(key, "a conversation of several turns is not imported (expected a text)")
    if not isinstance(question, str):
        raise RowError(key, describe_no_text(question, "a question"))
    if any(other != question for other in questions.values()):
        raise RowError(key, f"two questions, {' and '.join(questions)} (expected one of them)")
    return question


def _read_reference(value: Any, key: str) -> str:
    if isinstance(value, (list, tuple)) and len(value) == 1:
        value = value[0]
    if not isinstance(value, str):
        raise RowError(key, f"not one text (got {shorten_repr(value)}; expected the expected answer in words)")
    return value


def _read_evidence(members: Mapping[str, Any]) -> tuple[Evidence, ...]:
    text_key = _find_only(members, EVIDENCE_TEXT_KEYS) or ""
    id_key = _find_only(members, EVIDENCE_ID_KEYS) or ""
    texts = _read_texts(members, text_key)
    ids = _read_texts(members, id_key)
    if texts and ids and len(texts) != len(ids):
        raise RowError(id_key, f"not one for each of {text_key} (got {len(ids)}; expected {len(texts)})")
    if texts and ids:
        pairs = zip(ids, texts, strict=True)
        return tuple(Evidence(({"chunk_id": name}, {"quote": text}), quote=text) for name, text in pairs)
    if texts:
        return tuple(Evidence(({"quote": text},), quote=text) for text in texts)
    return tuple(Evidence(({"chunk_id": name},)) for name in ids)


def _read_texts(members: Mapping[str, Any], key: str) -> list[str]:
    value = members.get(key, ()) if key else ()
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, (str, int)) for item in value):
        raise RowError(key, f"not a list of texts (got {shorten_repr(value)})")
    return list(dict.fromkeys(str(item) for item in value if str(item).strip()))


def _read_tags(members: Mapping[str, Any]) -> tuple[str, ...]:
    tags: list[str] = []
    for key in TAG_KEYS:
        value = members.get(key, ())
        values = [part.strip() for part in value.split(",")] if isinstance(value, str) else value
        if isinstance(values, (list, tuple)):
            tags += [str(item) for item in values if str(item)]
    return tuple(dict.fromkeys(tags))


def _read_attributes(members: Mapping[str, Any]) -> dict[str, str]:
    """Return the stated attributes; the category is one too, as in every other format, unless it lists several."""
    stated = members.get("attributes", {})
    if not isinstance(stated, Mapping) or not all(isinstance(value, str) for value in stated.values()):
        raise RowError("attributes", f"not texts by name (got {shorten_repr(stated)}; expected {{name: text}})")
    category = members.get("category")
    is_one = isinstance(category, str) and "," not in category
    return {**({"category": str(category)} if is_one else {}), **stated}


def _read_difficulty(members: Mapping[str, Any]) -> Difficulty:
    stated = members.get("difficulty", "unknown")
    for difficulty in DIFFICULTIES:
        if str(stated).strip().lower() == difficulty:
            return difficulty
    expected = f"one of {', '.join(DIFFICULTIES)}; a scale of your own under another name, such as level"
    raise RowError("difficulty", f"unknown (got {shorten_repr(stated)}; expected {expected})")


def _read_text(members: Mapping[str, Any], key: str) -> str | None:
    value = members.get(key)
    if value is not None and not isinstance(value, str):
        raise RowError(key, f"not a text (got {shorten_repr(value)}; expected a text, or x_{key} for a note)")
    return value


def read_foreign_observation(members: Mapping[str, Any], case_id: str, notes: dict[str, None]) -> Observation | None:
    """Return what a row says of the system's output, None if it holds none; what is read how is put into `notes`.

    Members of the golden set are left out; of a row that has some, `context` and `behaviour` are among them.
    Raises RowError with what is wrong.
    """
    foreign = ForeignRows(notes=notes)
    expected = sorted(_EXPECTED_KEYS & members.keys())
    left_out = _NAMING_KEYS | (_GOLDEN_KEYS if expected else _EXPECTED_KEYS)
    if expected and "context" in members:
        notes.setdefault(
            f"context is taken for what the golden set expects, because {expected[0]} is beside it, and is not read "
            "(if it is what was retrieved, name it contexts)"
        )
    return _read_observation(members, case_id, foreign, members.keys() - left_out)


def _read_observation(
    members: Mapping[str, Any], case_id: str, foreign: ForeignRows, keys: AbstractSet[str]
) -> Observation | None:
    observed = {key: value for key, value in members.items() if key in keys}
    if not observed:
        return None
    try:
        shape = recognise_reply(observed, lambda note: foreign.notes.setdefault(note), is_recorded=True)
        row = shape.row | {"case_id": case_id}
        observation = convert_strictly(row, Observation)
    except (ShapeError, MisfitError) as error:
        raise RowError("", str(error)) from None
    if observation.answer is UNSET and observation.error is None and not shape.rankings:
        return None
    stages: Sequence[Stage] | None = shape.rankings or None
    observation = msgspec.structs.replace(
        observation, stages=None if stages is None else tuple(stages), config_id=_read_config(members)
    )
    return add_shown_context(observation, observed, foreign.notes)


def add_shown_context(observation: Observation, members: Container[str], notes: dict[str, None]) -> Observation:
    """Return the observation of a row with its ranking as the context too, if Ragas and DeepEval name it so.

    They measure faithfulness against this member, so it stands for what the model was shown (ADR 52). Beside stages
    that are reported by their names it was not read.
    """
    judged_by = next((key for key in TEXT_LIST_KEYS if key in members), None)
    has_named_stages = any(key in members for key in ("stages", *STAGE_KEYS, *STAGE_LIST_KEYS))
    is_shown = judged_by is not None and not has_named_stages
    with_context = add_context_stage(observation, RETRIEVED_STAGE) if is_shown else observation
    if with_context is not observation:
        notes.setdefault(
            f"{judged_by} is taken for what the model was shown too, as Ragas and DeepEval do (if it was not, name it "
            f"{RETRIEVED_ALONE_KEY})"
        )
    return with_context


def _read_config(members: Mapping[str, Any]) -> str:
    return next((str(members[key]) for key in CONFIG_KEYS if isinstance(members.get(key), (str, int))), "imported")


READ_MEMBERS = frozenset((
    *QUESTION_KEYS, *REFERENCE_KEYS, *EVIDENCE_TEXT_KEYS, *EVIDENCE_ID_KEYS, *ID_KEYS, *TAG_KEYS, *BEHAVIOUR_KEYS,
    *LIST_KEYS, *CONFIG_KEYS, *SLICE_KEYS, *_OUTPUT_KEYS, "retrieved_chunks", MUST_REFUSE,
))  # fmt: skip
"""The members of rows that are of the golden set or of the outputs."""


def _list_unread(members: Mapping[str, Any]) -> list[str]:
    return [key for key in members if key not in READ_MEMBERS and not key.startswith(_NOTE_PREFIX)]
