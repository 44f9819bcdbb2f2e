"""What a golden set covers: cases of each kind compared with targets, documents nobody asks about, real traffic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import fsum
from typing import Annotated

from msgspec import Meta, Struct

from assay.gates.tag_rules import fold_tag
from assay.golden.lint_finding import LintedSet
from assay.records.golden_set import Behaviour, Case
from assay.text.tokens import DocumentFrequencies, collect_word_keys, is_stop_word, tokenise_text

SIMILAR_SHARE = 0.5
"""The weighted share of common words from which a golden question stands for a question of production."""
HEAD_SHARE = 0.5
"""The share of the traffic that the most frequent questions, the head, make up together."""


class CoverageTarget(Struct, frozen=True, forbid_unknown_fields=True):
    """How many cases of a kind a set should have, and by which tags or behaviours a case is of that kind.

    `means` says in a clause what such a case is.
    """

    cases: Annotated[int, Meta(ge=0)]
    tags: tuple[str, ...] = ()
    behaviours: tuple[Behaviour, ...] = ()
    means: str = ""

    def describe(self) -> str:
        """Return what a case of the kind is, and by what it is counted as one.

        >>> CoverageTarget(4, ("no-answer",), ("abstain",), "no document answers it").describe()
        'no document answers it (tag no-answer, or behaviour abstain)'
        """
        return f"{self.means} ({self.describe_marks()})" if self.means else self.describe_marks()

    def describe_marks(self) -> str:
        """Return by what a case is counted as one of the kind; what it is otherwise does not count.

        >>> CoverageTarget(4, ("table", "numeric")).describe_marks()
        'tag table or numeric'
        """
        marks = [f"tag {' or '.join(self.tags)}"] if self.tags else []
        marks += [f"behaviour {' or '.join(self.behaviours)}"] if self.behaviours else []
        return ", or ".join(marks) or "neither tags nor behaviours: counts no case"


class CoverageCell(Struct, frozen=True):
    """One kind: the cases that are of it, how many there should be, and what makes a case one."""

    kind: str
    target: int
    cases: tuple[str, ...]
    means: str = ""

    @property
    def missing(self) -> int:
        """How many cases are still to be written."""
        return max(0, self.target - len(self.cases))


class TrafficShare(Struct, frozen=True):
    """How much of the head or the tail of real traffic the golden set stands for."""

    questions: int
    requests: int
    covered_requests: int
    examples: tuple[str, ...]
    """The most frequent questions that no golden case resembles."""


class Coverage(Struct, frozen=True):
    """The coverage of a golden set. `unasked_documents` and `documents` need a corpus, `head` and `tail` traffic.

    `variants` are the variants of cases by kind, which no other number counts.
    """

    cells: tuple[CoverageCell, ...]
    counts: dict[str, dict[str, int]]
    unasked_documents: tuple[str, ...] | None = None
    head: TrafficShare | None = None
    tail: TrafficShare | None = None
    variants: dict[str, int] = {}

    @property
    def gaps(self) -> list[CoverageCell]:
        """The kinds of which cases are missing, in the order of the targets."""
        return [cell for cell in self.cells if cell.missing]


def measure_coverage(
    linted: LintedSet, targets: Mapping[str, CoverageTarget], traffic: Mapping[str, int] | None = None
) -> Coverage:
    """Return the coverage of a golden set; `traffic` counts how often each question was asked in production."""
    cases = linted.counted_cases
    beyond = {case.id for case in linted.golden.cases} - {case.id for case in cases}
    variants = _count(str(case.variant) for case in linted.golden.cases if case.id in beyond)
    counts = {
        "tag": _count(tag for case in cases for tag in case.tags),
        "difficulty": _count(case.difficulty for case in cases),
        "language": _count(case.language or "unknown" for case in cases),
        "behaviour": _count(case.behaviour for case in cases),
        "tenant": _count(case.user.tenant or "none" if case.user else "none" for case in cases),
    }
    unasked = None
    if linted.corpus is not None:
        asked: Counter[str] = Counter()
        for case in cases:
            asked.update({chunk.document for chunk in linted.evidence_chunks(case) if chunk.document})
        documents = {chunk.document for chunk in linted.corpus.chunks.values() if chunk.document}
        counts["document"] = {name: asked[name] for name in sorted(documents)}
        unasked = tuple(name for name in sorted(documents) if not asked[name])
    head, tail = compare_traffic(cases, traffic) if traffic else (None, None)
    return Coverage(count_kinds(cases, targets), counts, unasked, head, tail, variants)


def count_kinds(cases: Sequence[Case], targets: Mapping[str, CoverageTarget]) -> tuple[CoverageCell, ...]:
    """Return for each kind the cases that are of it.

    >>> cells = count_kinds([Case("a", "?", tags=("Multi_Hop",))], {"multi-hop": CoverageTarget(2, ("multi-hop",))})
    >>> cells[0].cases, cells[0].missing
    (('a',), 1)
    """
    cells = []
    for kind, target in targets.items():
        wanted = {fold_tag(tag) for tag in target.tags}
        members = [
            case.id
            for case in cases
            if case.behaviour in target.behaviours or not wanted.isdisjoint(map(fold_tag, case.tags))
        ]
        cells.append(CoverageCell(kind, target.cases, tuple(members), target.describe()))
    return tuple(cells)


def _count(names: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(names).items()))


def compare_traffic(cases: Sequence[Case], traffic: Mapping[str, int]) -> tuple[TrafficShare, TrafficShare]:
    """Return how much of the head and of the tail of real traffic resembles a golden question.

    Questions that differ in case, accents and punctuation are one. The head is the most frequent questions that make
    up half of the requests together; equally frequent ones are in the order of their words.
    """
    asked: Counter[tuple[str, ...]] = Counter()
    wording: dict[tuple[str, ...], str] = {}
    for question, count in traffic.items():
        words = tuple(tokenise_text(question))
        asked[words] += count
        wording.setdefault(words, question)
    frequencies = DocumentFrequencies.from_texts(wording.values())
    golden_words = [_content_words(case.question) for case in cases]
    ranked = sorted(asked.items(), key=lambda item: (-item[1], item[0]))
    total, before = sum(asked.values()), 0
    parts: tuple[list[tuple[str, int, bool]], list[tuple[str, int, bool]]] = ([], [])
    for words, count in ranked:
        question = wording[words]
        row = (question, count, _resembles_any(_content_words(question), golden_words, frequencies))
        parts[0 if before < HEAD_SHARE * total else 1].append(row)
        before += count
    head, tail = (_summarise_traffic(part) for part in parts)
    return head, tail


_MOST_EXAMPLES = 5


def _summarise_traffic(rows: Sequence[tuple[str, int, bool]]) -> TrafficShare:
    return TrafficShare(
        len(rows),
        sum(count for _, count, _ in rows),
        sum(count for _, count, is_covered in rows if is_covered),
        tuple([question for question, _, is_covered in rows if not is_covered][:_MOST_EXAMPLES]),
    )


def _content_words(text: str) -> frozenset[str]:
    return frozenset(word for word in collect_word_keys(text) if not is_stop_word(word))


def _resembles_any(words: frozenset[str], others: Sequence[frozenset[str]], idf: DocumentFrequencies) -> bool:
    for other in others:
        either = words | other
        if either:
            share = fsum(map(idf.idf_weight, words & other)) / fsum(map(idf.idf_weight, either))
            if share >= SIMILAR_SHARE:
                return True
    return False
