"""Members of rows of other tools under the names that are read: titles of spreadsheets, camelCase, rows inside rows.

What a row calls in words of its own is left as it is, and counted as not imported by those who read the row.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from assay.formats.foreign.provider_replies import extract_text
from assay.formats.foreign.reply_shapes import (
    ANSWER_KEYS,
    OTHER_ANSWER_KEYS,
    RANKING_KEYS,
    SURE_ANSWER_KEYS,
    list_other_answers,
)
from assay.formats.meant_names import describe_field, find_meant_name, join_words, split_name
from assay.records.errors import shorten_repr
from assay.records.golden_set import Case
from assay.text.near_names import find_near_id
from assay.text.pattern_cache import compile_pattern

QUESTION_KEYS = ("question", "user_input", "input", "query", "prompt")
REFERENCE_KEYS = (
    "reference", "expected_output", "ground_truth", "ground_truths", "expected_answer", "expected", "ideal",
    "gold_answer", "reference_answer", "expected_response", "correct_answer", "golden_answer", "ideal_answer",
    "ground_truth_answer", "reference_output",
)  # fmt: skip
EVIDENCE_TEXT_KEYS = ("reference_contexts", "context", "expected_contexts")
EVIDENCE_ID_KEYS = ("reference_context_ids", "expected_chunk_ids", "relevant_ids")
ID_KEYS = ("id", "case_id", "question_id", "query_id", "qid")
BEHAVIOUR_KEYS = ("behaviour", "expected_behavior", "expected_behaviour", "behavior")
LIST_KEYS = ("must_have", "must_cite", "forbidden_text")
"""Members of Assay's own cases that a row of another tool may have as well."""
TAG_KEYS = ("tags", "tag", "category", "synthesizer_name")
SLICE_KEYS = ("difficulty", "language", "cluster", "notes", "attributes")
"""Fields of a case that expect nothing, and that a row may name as Assay does."""
CONFIG_KEYS = ("config_id", "config")
_INPUT_WRAPPERS, _OUTPUT_WRAPPERS = ("inputs", "input"), ("outputs", "output")
_REFERENCE_WRAPPERS = ("reference_outputs", "expectations", "expected_output", "expected", "reference")
_WRAPPERS = ("inputs", "outputs", "reference_outputs", "expectations")
_SPAN_PREFIX = "attributes."
_HINTED = (
    *QUESTION_KEYS, *REFERENCE_KEYS, *EVIDENCE_TEXT_KEYS, *EVIDENCE_ID_KEYS, *ID_KEYS, *BEHAVIOUR_KEYS, *LIST_KEYS,
    *CONFIG_KEYS, *ANSWER_KEYS, *RANKING_KEYS, "retrieved_chunks", "retrieved_context_ids", "citations",
)  # fmt: skip
_KNOWN_NAMES = frozenset((
    *_HINTED, *TAG_KEYS, *SLICE_KEYS, *_WRAPPERS, "turns", "messages", "scenario", "answers", "is_impossible",
    "unanswerable", "is_answerable", "answerable", "output",
))  # fmt: skip
_NEAREST = 0.75


class RowError(ValueError):
    """What is wrong with a member of a row."""

    def __init__(self, member: str, message: str) -> None:
        super().__init__(message)
        self.member, self.message = member, message


@lru_cache(maxsize=1024)  # every row of a table has the same
def normalise_member_name(name: str) -> str:
    """Return a title or a name in camelCase as the names of members are written; others as they are.

    >>> [normalise_member_name(name) for name in ("Expected Answer", "actualOutput", "Ground-Truth", "LLM score")]
    ['expected_answer', 'actual_output', 'ground_truth', 'LLM score']
    """
    plain = name.strip().lstrip("\ufeff")
    words = join_words(plain)
    for candidate in (plain, plain.lower(), words):
        if candidate in _KNOWN_NAMES:
            return candidate
    return plain


def find_near_member(name: str) -> str:
    """Return the name that is read and that is nearest to one that is not; "" if none is near.

    >>> find_near_member("Expected Anwser"), find_near_member("latency")
    ('expected_answer', '')
    """
    words = join_words(name.strip())
    return next(iter(get_close_matches(words, _HINTED, n=1, cutoff=_NEAREST)), "")


_EXPECTATIONS = (*REFERENCE_KEYS, *EVIDENCE_TEXT_KEYS, *EVIDENCE_ID_KEYS, *BEHAVIOUR_KEYS, *LIST_KEYS)
_EXPECTATION_WORDS = frozenset((
    "gold", "golden", "expected", "correct", "ideal", "truth", "reference", "label", "labels", "target", "solution",
))  # fmt: skip
_FEWEST_LETTERS = 6
"""Shorter names are too often another word."""


def find_misspelt_member(name: str) -> str:
    """Return the name that is read and from which a name differs by one letter, or by its separators; "" if none does.

    >>> find_misspelt_member("Retrived Contexts"), find_misspelt_member("question_type")
    ('retrieved_contexts', '')
    """
    return find_near_id(name.strip(), (*Case.__struct_fields__, *_HINTED))


def find_meant_expectation(name: str) -> str:
    """Return what a name says is expected if a letter of one of its words is corrected; "" where there is none.

    >>> find_meant_expectation("Expected Anwser"), find_meant_expectation("mustHaev"), find_meant_expectation("mood")
    ('expected_answer', 'must_have', '')
    """
    words = join_words(name.strip())
    return find_near_id(words, _EXPECTATIONS) if len(words) >= _FEWEST_LETTERS else ""


def refuse_lost_expectations(
    members: Mapping[str, Any], unread: Iterable[str], *, is_own: bool = False, is_answered: bool = False
) -> None:
    """Raise RowError for a member of a golden row that is not read although it says what is expected: a misspelt name,
    one that means a field by its words, such as `must_not_have`, and where the row expects nothing else, one such as
    `gold`. A name that begins with x_ is a note.

    `is_own` says that the row is written in Assay's words, so that a name that means another field is refused too. A
    row that is answered may name what the system retrieved as another one names what it should have.
    """
    has_expectation = any(key in members for key in _EXPECTATIONS)
    for name in unread:
        if name.startswith("x_"):
            continue
        got = shorten_repr(members[name])
        meant = find_meant_expectation(name)
        if not meant:
            other = find_meant_name(name).field if is_own else _find_other_expectation(name, is_answered=is_answered)
            meant = describe_field(other)
        if meant:
            raise RowError(name, f"not read (got {got}; expected it under the name {meant}, or x_{name} for a note)")
        if not has_expectation and not _EXPECTATION_WORDS.isdisjoint(split_name(name)):
            names = "reference, must_have, reference_contexts, expected_chunk_ids or expected_behavior"
            message = f"not read, and nothing else says what is expected (got {got}; expected it under {names}"
            raise RowError(name, f"{message}, or x_{name} for a note)")


def _find_other_expectation(name: str, *, is_answered: bool) -> str:
    """Return the field of which a name can only be another name; "" for any other name."""
    meant = find_meant_name(name)
    is_of_retrieval = meant.field in (*EVIDENCE_TEXT_KEYS, *EVIDENCE_ID_KEYS)
    return meant.field if meant.is_expectation and not (is_answered and is_of_retrieval) else ""


def describe_unread(name: str) -> str:
    """Return a name that was not read, with the one that was probably meant.

    >>> describe_unread("tenant"), describe_unread("split")
    ('tenant (did you mean user?)', 'split')
    """
    meant = find_meant_name(name).field or find_near_member(name)
    return f"{name} (did you mean {meant}?)" if meant else name


def describe_row_names(names: Collection[str]) -> str:
    """Return what to do with rows of some known kinds that have no question of their own; "" for others."""
    if any(name.startswith(_SPAN_PREFIX) for name in names):
        return "of the root spans name attributes.input.value question, and attributes.output.value response"
    if "text" in names and not {"id", "_id"}.isdisjoint(names):
        return "a BEIR data set is read with its judgments: --golden FOLDER/qrels/test.tsv"
    return ""


def open_row(row: Mapping[Any, Any], note: Callable[[str], None], *, is_output: bool = False) -> dict[str, Any]:
    """Return the members of a row under the names that are read, without what other tools wrap around them.

    `is_output` says that the row was recorded, so that an output is what the system answered. Raises RowError for a
    member that is there twice, and for an output that could be what is expected.
    """
    if isinstance(row.get("row"), Mapping) and "row_idx" in row:  # as the viewer of Hugging Face returns rows
        row = row["row"]
    members = _rename_members(row)
    _fold_columns(members)
    _open_wrapper(members, _INPUT_WRAPPERS, "question", QUESTION_KEYS)
    _open_wrapper(members, _REFERENCE_WRAPPERS, "reference", (*REFERENCE_KEYS, *ANSWER_KEYS, *OTHER_ANSWER_KEYS))
    _split_joined_contexts(members, note)
    _open_documents(members, note, is_output=is_output)
    if not is_output:
        _open_must_refuse(members)
    _open_answers(members, note, is_output=is_output)
    _open_outputs(members, note, is_output=is_output)
    _open_other_answers(members, note, is_output=is_output)
    return members


def _rename_members(row: Mapping[Any, Any]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    written: dict[str, str] = {}
    for key, value in row.items():
        name = normalise_member_name(str(key))
        if name in members and _is_given(members[name]) and _is_given(value) and members[name] != value:
            got = f"{written[name]}: {shorten_repr(members[name])} and {key}: {shorten_repr(value)}"
            raise RowError(name, f"given twice (got {got}; expected one of them)")
        if name not in members or not _is_given(members[name]):
            members[name], written[name] = value, str(key)
    return members


def _is_given(value: Any) -> bool:
    return value is not None and value != "" and value != [] and value != {}


def _fold_columns(members: dict[str, Any]) -> None:
    """Put columns such as `inputs.question` into one member `inputs`."""
    for key in list(members):
        wrapper, dot, inner = key.partition(".")
        if dot and wrapper in _WRAPPERS and isinstance(members.get(wrapper, {}), Mapping):
            members[wrapper] = {**members.get(wrapper, {}), inner: members.pop(key)}


def _open_wrapper(members: dict[str, Any], wrappers: Collection[str], name: str, keys: Collection[str]) -> None:
    """Put the text of an object, under one of `keys` or its only one, into the member `name`."""
    for wrapper in wrappers:
        inner = members.get(wrapper)
        if not isinstance(inner, Mapping):
            continue
        key = _find_text(inner, keys)
        if key is None:
            continue
        del members[wrapper]
        if _is_given(members.get(name)) and members[name] != inner[key]:
            raise RowError(name, f"given twice (got {name} and {wrapper}.{key}; expected one of them)")
        members[name] = inner[key]
        members.update((f"{wrapper}.{other}", value) for other, value in inner.items() if other != key)


_JOINED_KEYS = ("retrieval_context", "context")
"""Members of DeepEval that hold lists, and that it joins to one text with | in the CSV and JSON Lines that it saves."""
_UNCLEAR_BAR = compile_pattern(r"[ \t]\|[ \t]|\|[ \t]*\||\A\s*\||\|[ \t]*$", re.MULTILINE)
"""A | that is rather one of a table: between spaces, next to another one, at the beginning or at the end of a line."""


def _split_joined_contexts(members: dict[str, Any], note: Callable[[str], None]) -> None:
    """Take apart the texts that DeepEval joined. Raises RowError where a | could be part of a text."""
    if _JOINED_KEYS[0] not in members:
        return
    for key in _JOINED_KEYS:
        joined = members.get(key)
        if not isinstance(joined, str) or not joined.strip():
            continue
        if _UNCLEAR_BAR.search(joined):
            raise RowError(
                key,
                "a | that could end a text or be part of one, as in a table (got "
                f'{shorten_repr(joined)}; expected a list: save the data set with save_as("json"))',
            )
        members[key] = joined.split("|")
        if "|" in joined:
            note(f"{key} is read as texts joined with |, as DeepEval saves them in CSV and JSON Lines")


def _open_documents(members: dict[str, Any], note: Callable[[str], None], *, is_output: bool) -> None:
    """Read a `context` of documents beside an answer as what the model was shown: a chain of LangChain returns it.

    Texts under this name may be what is expected; a row that has no answer holds nothing of a system.
    """
    documents = members.get("context")
    if not isinstance(documents, (list, tuple)) or not documents:
        return
    if not all(isinstance(document, Mapping) for document in documents):
        return
    is_answered = any(_is_given(members.get(key)) for key in (*ANSWER_KEYS, *OTHER_ANSWER_KEYS))
    if (is_output or is_answered) and not _is_given(members.get("context_chunks")):
        members["context_chunks"] = members.pop("context")
        note("context, a list of documents, is read as the stage context")


def _find_text(inner: Mapping[str, Any], keys: Collection[str]) -> str | None:
    named = [key for key in keys if isinstance(inner.get(key), str)]
    texts = [key for key, value in inner.items() if isinstance(value, str)]
    return named[0] if named else texts[0] if len(texts) == 1 else None


_ANSWERABLE = {"is_impossible": False, "unanswerable": False, "is_answerable": True, "answerable": True}
"""Members that say whether the sources hold an answer, with the value that says so."""
_TRUTHS: dict[Any, bool] = {"true": True, "false": False, "1": True, "0": False, "yes": True, "no": False}


MUST_REFUSE = "must_refuse"
"""The column of `answer-csv` that says of a question that it is to be declined."""


def _open_must_refuse(members: dict[str, Any]) -> None:
    """Read whether a question is to be declined. Raises RowError for a value that is neither true nor false."""
    stated = members.get(MUST_REFUSE)
    if not _is_given(stated):
        return
    truth = _TRUTHS.get(str(stated).strip().lower())
    if truth is None:
        raise RowError(MUST_REFUSE, f"unknown (got {shorten_repr(stated)}; expected true or false)")
    members[MUST_REFUSE] = truth
    members.setdefault("behaviour", "abstain" if truth else "answer")


def _open_answers(members: dict[str, Any], note: Callable[[str], None], *, is_output: bool) -> None:
    """Read the accepted answers of SQuAD and its like; a question without one is to be declined.

    Of a recorded row that is no behaviour: it says what is expected.
    """
    is_answerable = _take_answerable(members)
    texts = _find_answer_texts(members)
    if texts is not None:
        del members["answers"]
    if is_answerable is False or (not texts and texts is not None):
        for key in ("context", *REFERENCE_KEYS):
            members.pop(key, None)
        if not is_output:
            members.setdefault("behaviour", "abstain")
            note("questions without an accepted answer are expected to abstain; their context is not evidence")
    elif texts:
        members["reference"] = texts[0]
        if len(texts) > 1:
            note("the first of several accepted answers is the reference")


def _take_answerable(members: dict[str, Any]) -> bool | None:
    """Remove what a row says of whether its question can be answered, and return it; None where it says nothing."""
    for name, meaning in _ANSWERABLE.items():
        truth = _TRUTHS.get(str(members.get(name)).lower())
        if truth is not None:
            del members[name]
            return truth is meaning
    return None


def _find_answer_texts(members: Mapping[str, Any]) -> list[str] | None:
    """Return the distinct accepted answers; None where there is no list of them, or another reference."""
    answers = members.get("answers")
    if isinstance(answers, Mapping):
        answers = answers.get("text")
    if not isinstance(answers, (list, tuple)) or any(_is_given(members.get(key)) for key in REFERENCE_KEYS):
        return None
    texts: dict[str, None] = {}
    for item in answers:
        text = extract_text(item)
        if text is None:
            return None
        texts[text] = None
    return list(texts)


_OBSERVED_KEYS = frozenset((
    *RANKING_KEYS, "citations", "retrieved_context_ids", "retrieved_chunks", "context_chunks", "record_id", "trace_id",
    "span_id", "context.span_id",
))  # fmt: skip


def is_observed(members: Mapping[str, Any]) -> bool:
    """Return whether a row holds what a system did, apart from the text of an answer."""
    return any(_is_given(members.get(key)) for key in _OBSERVED_KEYS)


_AMBIGUOUS_ANSWER = (
    "could be what is expected or what the system answered (expected it under the name reference, or response"
)


def _open_outputs(members: dict[str, Any], note: Callable[[str], None], *, is_output: bool) -> None:
    """Read an output as the answer of the system. Raises RowError where it could be what is expected."""
    key = next((key for key in _OUTPUT_WRAPPERS if _is_given(members.get(key))), None)
    if key is None or any(_is_given(members.get(name)) for name in ANSWER_KEYS):
        return
    output = members[key]
    inner_key = _find_text(output, (*ANSWER_KEYS, *OTHER_ANSWER_KEYS)) if isinstance(output, Mapping) else None
    text = output[inner_key] if inner_key is not None else extract_text(output)
    if text is None:
        return
    has_reference = any(_is_given(members.get(name)) for name in REFERENCE_KEYS)
    if not (is_output or has_reference or is_observed(members)):
        raise RowError(key, f"{_AMBIGUOUS_ANSWER})")
    del members[key]
    members["answer"] = text
    if isinstance(output, Mapping):
        members.update((name, value) for name, value in output.items() if name in RANKING_KEYS and name not in members)
    note(f"the answer is read from {key if inner_key is None else f'{key}.{inner_key}'}")


_POSSIBLE_ANSWER_KEYS = SURE_ANSWER_KEYS | {"result"}


def _open_other_answers(members: dict[str, Any], note: Callable[[str], None], *, is_output: bool) -> None:
    """Read the text under another name of an answer as the answer, where the row tells what a system did, and under a
    sure one next to a reference. Raises RowError where nothing in the row says whose text it is, and for two of them.
    """
    if is_output or any(_is_given(members.get(name)) for name in ANSWER_KEYS):
        return
    texts = {key: text for key, text in list_other_answers(members).items() if text.strip()}
    if not is_observed(members):
        texts = {key: text for key, text in texts.items() if key in _POSSIBLE_ANSWER_KEYS}
        if any(_is_given(members.get(key)) for key in REFERENCE_KEYS):
            texts = {key: text for key, text in texts.items() if key in SURE_ANSWER_KEYS}
        elif texts and not any(_is_given(members.get(key)) for key in _EXPECTATIONS):
            key = next(iter(texts))
            raise RowError(key, f"{_AMBIGUOUS_ANSWER}, or x_{key} for a note)")
        else:
            return
    if not texts:
        return
    if len(set(texts.values())) > 1:
        raise RowError("", f"two answers, {' and '.join(texts)} (expected one of them in a row)")
    for key in texts:
        del members[key]
    key, members["answer"] = next(iter(texts.items()))
    note(f"the answer is read from {key}")
