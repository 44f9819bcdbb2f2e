"""Format `rows`: outputs as rows of Ragas, DeepEval test cases or a table, rewritten as native lines for the scorer.

A row answers the case that its id names or, without one, the case whose question it holds. A row that fits no case or
several is a problem with its row and member.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from assay.formats.foreign.frame_shapes import describe_no_text
from assay.formats.foreign.member_names import CONFIG_KEYS, ID_KEYS, QUESTION_KEYS, RowError, open_row
from assay.formats.foreign.reply_shapes import ANSWER_KEYS, OTHER_ANSWER_KEYS
from assay.formats.foreign.row_files import read_row_file
from assay.formats.foreign.row_places import RowPlaces
from assay.formats.foreign.rows import make_question_id, read_foreign_observation
from assay.formats.problems import join_repeated_problems
from assay.records.counts import format_count
from assay.records.errors import InputError, Problem, shorten_repr
from assay.records.golden_set import Case
from assay.records.observations import Observation
from assay.text.normalisation import collapse_spaces

_MOST_NAMED = 5
_MOST_HINTS = 10


class RewrittenRows(NamedTuple):
    """The line of the row from which each native line was made, and what was read under which name."""

    lines: list[int]
    notices: tuple[str, ...]


class RowReader:
    """Reads rows of other tools as observations, from files and from Python alike.

    `config` is the configuration of rows that name none. `keep_unknown`: a row of no case is read under an id of its
    question instead of being refused. What was read under which name is put into `notes`.
    """

    def __init__(self, cases: Iterable[Case], config: str, notes: dict[str, None], *, keep_unknown: bool) -> None:
        self.matcher = CaseMatcher(cases, keep_unknown=keep_unknown)
        self.config = config
        self.notes = notes

    def read_row(self, row: Any) -> Observation:
        """Return what a row says of the system's output. Raises RowError for one that cannot be read."""
        if not isinstance(row, Mapping):
            raise RowError("", f"not an object (got {shorten_repr(row)}; expected one row)")
        opened = open_row(row, lambda note: self.notes.setdefault(note), is_output=True)
        members = _leave_out_missing(opened)
        case_id = self.matcher.find_case(members)
        observation = read_foreign_observation(members, case_id, self.notes)
        if observation is None:
            raise RowError(
                "", "no output (expected response, actual_output or answer, retrieved contexts, or an error)"
            )
        config = next((members[key] for key in CONFIG_KEYS if isinstance(members.get(key), (str, int))), self.config)
        question = next((members[key] for key in QUESTION_KEYS if isinstance(members.get(key), str)), None)
        return msgspec.structs.replace(observation, config_id=str(config), question=question)


def _leave_out_missing(members: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members that have a value; an answer that is empty or null, where it is the only one, is one too:
    the system gave none."""
    present = {key: value for key, value in members.items() if value is not None and value != ""}
    if present.keys().isdisjoint((*ANSWER_KEYS, *OTHER_ANSWER_KEYS)):
        present |= {key: members[key] for key in [key for key in ANSWER_KEYS if key in members][:1]}
    return present


def convert_rows(
    path: Path,
    name: str,
    target: Path,
    cases: Sequence[Case],
    config: str | None = None,
    *,
    keep_unknown: bool = False,
) -> RewrittenRows:
    """Write the rows of a file as native lines to `target`.

    `name`: the file's name in messages; `config` or, without it, the stem of the name is the configuration of rows that
    name none. `keep_unknown`: a row of no case is written under an id of its question instead of being a problem.
    Raises InputError with every problem.
    """
    notes: dict[str, None] = {}
    reader = RowReader(cases, config or _stem(name), notes, keep_unknown=keep_unknown)
    problems: list[Problem] = []
    lines: list[bytes] = []
    numbers: list[int] = []  # of lines in the file of the user
    places = RowPlaces()
    for number, row in read_row_file(path, name, places):
        if isinstance(row, InputError):
            problems += row.problems
            continue
        try:
            observation = reader.read_row(row)
        except RowError as error:
            problems.append(Problem(name, number, error.member, error.message, "E_ROW"))
            continue
        lines.append(msgspec.json.encode(observation) + b"\n")
        numbers.append(places.lines[number] or number)
    if problems:
        raise InputError(places.point_problems(join_repeated_problems(problems)))
    if not lines:
        raise InputError([Problem(name, None, "", "no row (expected one for each case)", "E_EMPTY")])
    target.write_bytes(b"".join(lines))
    return RewrittenRows(numbers, tuple(f"{name}: {note}" for note in notes))


def _stem(name: str) -> str:
    return Path(name).name.split(".")[0] or "unknown"


class CaseMatcher:
    """Finds the case that a row answers."""

    def __init__(self, cases: Iterable[Case], *, keep_unknown: bool) -> None:
        self._keep_unknown = keep_unknown
        self._ids: set[str] = set()
        self._hints_left = _MOST_HINTS
        self._ids_by_question: dict[str, list[str]] = {}
        for case in cases:
            self._ids.add(case.id)
            if case.question:
                self._ids_by_question.setdefault(collapse_spaces(case.question), []).append(case.id)

    def find_case(self, members: Mapping[str, Any]) -> str:
        """Return the id of the row's case. Raises RowError if it has none, or several."""
        id_key = next((key for key in ID_KEYS if key in members), None)
        if id_key is not None:
            return self._find_named_case(id_key, members)
        key, question = _get_question(members)
        matches = self._ids_by_question.get(collapse_spaces(question), [])
        if members.get("name") in matches:  # a test case of DeepEval whose name is its id
            return str(members["name"])
        if len(matches) > 1:
            named = ", ".join(matches[:_MOST_NAMED])
            message = (
                f"the question of {format_count(len(matches), 'case')} ({named}; expected a member id that "
                "names one of them)"
            )
            raise RowError(key, message)
        if matches:
            return matches[0]
        if self._keep_unknown:
            return make_question_id(question)
        self._hints_left -= 1  # comparing with every question takes long, and a reader needs few of them
        nearest = (
            get_close_matches(collapse_spaces(question), self._ids_by_question, 1) if self._hints_left >= 0 else []
        )
        hint = f"; the nearest is that of {self._ids_by_question[nearest[0]][0]}: {nearest[0]!r}" if nearest else ""
        expected = "the words of a case, a member id that names it, or --ignore-unknown to leave such rows out"
        raise RowError(key, f"the question of no case (got {shorten_repr(question)}{hint}; expected {expected})")

    def _find_named_case(self, id_key: str, members: Mapping[str, Any]) -> str:
        value = members[id_key]
        case_id = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
        if not isinstance(case_id, str):
            raise RowError(id_key, describe_no_text(value, "an id of the golden set"))
        if case_id in self._ids or self._keep_unknown:
            return case_id
        questions = [members[key] for key in QUESTION_KEYS if isinstance(members.get(key), str)]
        matches = self._ids_by_question.get(collapse_spaces(questions[0]), []) if questions else []
        message = f"no such case (got {shorten_repr(case_id)}; expected an id of the golden set"
        if len(matches) == 1:
            message += f"; the question is that of {matches[0]}: give that id, or leave the member out"
        raise RowError(id_key, f"{message})")


def _get_question(members: Mapping[str, Any]) -> tuple[str, str]:
    questions = {key: members[key] for key in QUESTION_KEYS if key in members}
    if not questions:
        expected = f"a member id, or the question under {', '.join(QUESTION_KEYS)}"
        names = ", ".join(sorted(members)) or "none"
        raise RowError("", f"nothing names the case (got {names}; expected {expected})")
    key, question = next(iter(questions.items()))
    if not isinstance(question, str):
        raise RowError(key, describe_no_text(question, "one question"))
    if any(other != question for other in questions.values()):
        raise RowError(key, f"two questions, {' and '.join(questions)} (expected one of them)")
    return key, question
