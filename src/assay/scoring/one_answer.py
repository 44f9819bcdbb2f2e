"""Whether a configuration gives one text to every question: an error page, or a system that is not asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field

from assay.records.counts import format_count
from assay.records.golden_set import Case
from assay.records.observations import Observation

ONE_ANSWER = ", all the same text whatever was asked"
"""How the notice begins after its number of answers."""
FEWEST_QUESTIONS = 3
"""How many different questions that expect an answer must have got the same text."""


class SharedText(Struct):
    """The text that all answers of a configuration have so far, if they have one; and of the questions that expect an
    answer, the first few."""

    text: str
    answers: int = 0
    is_shared: bool = True
    questions: set[str] = field(default_factory=set)


def note_answers(texts: dict[str, SharedText], cases: Sequence[Case], observations: Sequence[Observation]) -> None:
    """Add the answers of some rows to what is known of each configuration."""
    for case, observation in zip(cases, observations, strict=True):
        answer = observation.answer
        if not isinstance(answer, str) or not answer.strip():
            continue
        shared = texts.get(observation.config_id)
        if shared is None:
            shared = texts[observation.config_id] = SharedText(answer.strip())
        if not shared.is_shared:
            continue
        if answer.strip() != shared.text:
            shared.is_shared = False
            continue
        shared.answers += 1
        if case.behaviour == "answer" and len(shared.questions) < FEWEST_QUESTIONS:
            shared.questions.add(case.question)


def merge_shared_texts(parts: Iterable[Mapping[str, SharedText]]) -> dict[str, SharedText]:
    """Return what is known of each configuration from all parts of its outputs."""
    merged: dict[str, SharedText] = {}
    for part in parts:
        for config, shared in part.items():
            whole = merged.setdefault(config, SharedText(shared.text))
            whole.is_shared = whole.is_shared and shared.is_shared and whole.text == shared.text
            whole.answers += shared.answers
            whole.questions |= shared.questions
    return merged


def describe_one_answer(texts: Mapping[str, SharedText]) -> Iterator[str]:
    """Yield a notice on each configuration all of whose answers are one text; never that text: it may be restricted."""
    for config, shared in sorted(texts.items()):
        if shared.is_shared and len(shared.questions) >= FEWEST_QUESTIONS:
            yield (
                f"{config}: {format_count(shared.answers, 'answer')}{ONE_ANSWER}: an error page, a fixed reply, or "
                "questions that do not reach the system (read one with `assay explain`)"
            )
