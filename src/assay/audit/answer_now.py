"""What a system answers to the question of a record now, compared word by word with the answer of then."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

import msgspec
from msgspec import structs

from assay.audit.incident import AnswerNow, Incident, IncidentSources
from assay.metrics.cases.case_index import GoldenIndex
from assay.metrics.leaks.find_leaks import find_leaks
from assay.metrics.leaks.withheld_text import WithheldTexts
from assay.metrics.parsed_answer import ParsedAnswer
from assay.records.audit_records import AuditRecord
from assay.records.counts import join_first
from assay.records.errors import shorten_repr
from assay.records.golden_set import Case, GoldenSet
from assay.records.observations import Observation

MAX_COMPARED_WORDS = 3000
"""Longer answers are not compared word by word, whose time grows with the square of their length."""
MAX_SHOWN_CHANGES = 5
MAX_SHOWN_LENGTH = 60
UNNAMED = "unknown"
"""The configuration of an observation whose target gave it no name."""
_PIECE = re.compile(r"\w+|\s+|[^\w\s]+")
_KINDS = {"equal": "same", "delete": "removed", "insert": "added"}


def make_question_case(record: AuditRecord, day: str | None) -> Case:
    """Return the question of a record as its user asks it on a day."""
    user = None if record.user is None else structs.replace(record.user, as_of=day)
    return Case(id=record.id, question=record.question or "", user=user)


def describe_answer_now(
    then: str | None, case: Case, observation: Observation, sources: IncidentSources, at: str, *, show_restricted: bool
) -> AnswerNow:
    """Return the answer of now with its differences from that of then, without text that its user may not see.

    `then` is the answer of then as it is shown, None where there is none.
    """
    index = GoldenIndex(GoldenSet((case,), as_of=sources.day), sources.corpus_now)
    reading = ParsedAnswer(index.case_index(0), observation)
    answer = observation.answer if isinstance(observation.answer, str) else None
    if answer is not None and not show_restricted:
        texts = WithheldTexts(reading.case, observation, find_leaks(reading.case, observation))
        answer = msgspec.convert(texts.withhold([answer])[0], str)
    error = None if observation.error is None else f"{observation.error.code}: {observation.error.message}"
    behaviour = "no answer" if answer is None else reading.behaviour
    changes = () if answer is None else tuple(list_word_changes(then or "", answer))
    return AnswerNow(observation.config_id, at, answer, behaviour, error, changes)


def describe_target(incident: Incident, now: AnswerNow) -> str:
    """Return which configuration answered now, and which then, as far as anybody named them.

    A target that is named by an address or in code has no configuration with a name.
    """
    then = incident.record.config_id
    if now.target == UNNAMED:
        today = "the target, whose configuration has no name"
    elif now.target == then:
        return f"{now.target}, as then"
    else:
        today = now.target
    return f"{today}; that of then {'was not recorded' if then in (None, UNNAMED) else f'was {then}'}"


def summarise_changes(now: AnswerNow) -> str:
    """Return in a line how the answer of now differs from that of then."""
    if now.answer is None:
        return "Compared: there is no answer now"
    removed = [text.strip() for kind, text in now.changes if kind == "removed" and text.strip()]
    added = [text.strip() for kind, text in now.changes if kind == "added" and text.strip()]
    if not removed and not added:
        return "Compared: the same words as then"
    parts = [_list_texts(name, texts) for name, texts in (("gone", removed), ("new", added)) if texts]
    return f"Compared: {'; '.join(parts)}"


def _list_texts(name: str, texts: list[str]) -> str:
    return f"{name}: {join_first([shorten_repr(text, MAX_SHOWN_LENGTH) for text in texts], MAX_SHOWN_CHANGES)}"


def list_word_changes(before: str, after: str) -> list[tuple[str, str]]:
    """Return the pieces of two texts in order, each `same`, `removed` (only before) or `added` (only after).

    >>> list_word_changes("Twelve days.", "Ten days.")
    [('removed', 'Twelve'), ('added', 'Ten'), ('same', ' days.')]
    """
    if before == after:
        return [("same", before)] if before else []
    words, new_words = _PIECE.findall(before), _PIECE.findall(after)
    if max(len(words), len(new_words)) > MAX_COMPARED_WORDS:
        return [("removed", before), ("added", after)]
    changes: list[tuple[str, str]] = []
    for operation, start, end, new_start, new_end in SequenceMatcher(None, words, new_words, False).get_opcodes():
        if operation == "replace":
            changes.append(("removed", "".join(words[start:end])))
            changes.append(("added", "".join(new_words[new_start:new_end])))
        else:
            text = "".join(new_words[new_start:new_end] if operation == "insert" else words[start:end])
            changes.append((_KINDS[operation], text))
    return changes
