"""What is said of answers that a run folder had before the run began: nobody was asked for them (ADR 0250, 0258)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from assay.formats.run_files.manifest import EarlierAnswers
from assay.records.counts import format_count, join_first
from assay.records.requests import ScoreRequest

MAX_FILES_NAMED = 5
_UNITS = (("day", 24 * 60 * 60), ("hour", 60 * 60), ("minute", 60), ("second", 1))

Versions = frozenset[tuple[str, str]]
"""The versions that a target reported with one answer: of its index, its prompt, and so on."""


class Sameness(Struct, frozen=True):
    """What tells whether a target is the one that gave its earlier answers, and whether that shows that it is."""

    sentence: str
    is_shown: bool


def find_sameness(
    *,
    has_address: bool,
    is_recorded: bool,
    knows_code: bool,
    before: Collection[Versions] = (),
    now: Collection[Versions] = (),
) -> Sameness:
    """Return what tells whether a target has changed since its earlier answers.

    `is_recorded` says that it is a file of recorded outputs, `knows_code` that its source files were recorded with its
    answers. `before` and `now` are the versions that a service behind an address reported with its earlier answers and
    with those of this call.

    >>> find_sameness(has_address=True, is_recorded=False, knows_code=False)
    Sameness(sentence='nothing tells whether what its address serves has changed since', is_shown=False)
    >>> old = frozenset({("index", "7")})
    >>> find_sameness(has_address=True, is_recorded=False, knows_code=False, before=[old], now=[old])
    Sameness(sentence='it reports the same versions as then', is_shown=True)
    """
    if has_address:
        if not before or not now or not all((*before, *now)):  # no answers on a side, or some without a version
            return Sameness("nothing tells whether what its address serves has changed since", is_shown=False)
        if set(before) == set(now):
            return Sameness("it reports the same versions as then", is_shown=True)
        return Sameness("it reports other versions now than then", is_shown=False)
    if is_recorded:  # another file is refused
        return Sameness("its file is the same", is_shown=True)
    if knows_code:
        return Sameness("its source files are the same", is_shown=True)
    return Sameness("nothing tells whether it has changed since", is_shown=False)


def describe_earlier_answers(target: str, answers: EarlierAnswers) -> str:
    """Return how many of a target's answers were recorded by an earlier run, how many of these failed, when that run
    began, and what tells whether the target is still the same.

    >>> unknown = "nothing tells whether it has changed since"
    >>> describe_earlier_answers("desk", EarlierAnswers(8, 8, unknown, started_at="2026-03-02T09:30:00+00:00"))
    'target desk was not asked: all 8 answers are from an earlier run, begun 2026-03-02 09:30 (nothing tells whether \
it has changed since; assay run --fresh asks again)'
    >>> describe_earlier_answers("desk", EarlierAnswers(3, 8, "its source files are the same", is_shown=True))
    'target desk: 3 of 8 answers are from an earlier run (its source files are the same; assay run --fresh asks again)'
    """
    count, total = answers.count, answers.total
    day = "" if answers.started_at is None else f", begun {_format_time(answers.started_at)}"
    if count == total:
        whole = "the only answer is" if total == 1 else f"all {format_count(total, 'answer is', 'answers are')}"
        counted = f"target {target} was not asked: {whole}"
    else:
        counted = f"target {target}: {count} of {format_count(total, 'answer')} {'is' if count == 1 else 'are'}"
    errors = f", {answers.failed} with an error" if answers.failed else ""
    return f"{counted} from an earlier run{day}{errors} ({answers.sameness}; assay run --fresh asks again)"


def recall_earlier_answers(request: ScoreRequest, manifest: Mapping[str, Any]) -> ScoreRequest:
    """Return a request for a run folder with what its last `assay run` said of answers that it did not ask for: a
    notice, and a risk of a gate where nothing shows that the target is still the same."""
    recorded = msgspec.convert(manifest.get("earlier_answers", {}), dict[str, EarlierAnswers])
    asked_for = request.inputs.configs or recorded
    sentences = {
        target: describe_earlier_answers(target, answers) for target, answers in recorded.items() if target in asked_for
    }
    unverified = {target: sentence for target, sentence in sentences.items() if not recorded[target].is_shown}
    notices = (*request.scoring.notices, *sentences.values())
    return replace(request, scoring=replace(request.scoring, notices=notices, unverified=unverified))


def _format_time(started_at: str) -> str:
    return started_at[:16].replace("T", " ")


def describe_age(earlier: str | None, now: str | None) -> str:
    """Return how long before `now` an earlier run began, in its largest unit; "" if either time is not known.

    >>> describe_age("2026-03-02T09:30:00+00:00", "2026-03-04T10:00:00+00:00")
    '2 days'
    """
    try:
        seconds = int((datetime.fromisoformat(now or "") - datetime.fromisoformat(earlier or "")).total_seconds())
    except (TypeError, ValueError):  # one of them is not there, or only one has a time zone
        return ""
    for unit, size in _UNITS:
        if seconds >= size:
            return format_count(seconds // size, unit)
    return ""


def describe_changed_code(before: Mapping[str, Mapping[str, str]], now: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Return a sentence for each target whose code is not what its recorded answers came from, with the changed files.

    Of a target whose code was not recorded, as earlier versions did not, nothing is known.

    >>> describe_changed_code({"desk": {"desk": "a", "rank": "b"}}, {"desk": {"desk": "a", "rank": "c", "read": "d"}})
    ['the code of target desk has changed: rank, read']
    """
    sentences = []
    for name, files in now.items():
        recorded = before.get(name, {})
        changed = [file for file, digest in files.items() if recorded.get(file) != digest]
        changed = changed or sorted(recorded.keys() - files.keys())
        if recorded and changed:
            sentences.append(f"the code of target {name} has changed: {join_first(changed, MAX_FILES_NAMED)}")
    return sentences
