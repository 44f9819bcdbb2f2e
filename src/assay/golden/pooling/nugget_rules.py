"""Finds facts that a good answer states in what several configurations retrieved, by rules: a weak start.

A nugget is a statement of a pooled chunk, in its words. It is vital if it has half of the question's words, and half of
the configurations find its chunk and say it in their answers; it is okay if it has a third of the question's words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from msgspec import Struct

from assay.golden.lint_evidence import list_content_words, share_words
from assay.golden.lint_finding import LintedSet
from assay.golden.model_effort import ModelEffort
from assay.golden.orders import is_ordering
from assay.metrics.cases.access_rules import is_in_force, may_see_chunk
from assay.records.golden_set import Case, Corpus, CorpusChunk, GoldenSet, Importance, Nugget
from assay.records.observations import CONTEXT_STAGE, Observation
from assay.text.normalisation import fold_text
from assay.text.refusals.behaviour import detect_behaviour
from assay.text.statements import Statement, list_statements
from assay.text.tokens import collect_word_keys

POOL_DEPTH = 10
MOST_NUGGETS = 8
MIN_OKAY_SHARE, MIN_VITAL_SHARE = 0.35, 0.5
"""The shares of the question's words, by rarity, that a statement of either importance has with its headings."""
MIN_SAID_SHARE = 0.6
"""The share of a statement's own words, those of the question left out, from which an answer is taken to say it."""
FEWEST_WORDS, MOST_WORDS = 3, 60
GRADED_BY_RULES = "nugget-rules-1"
NuggetReason = Literal["no-pool", "no-evidence", "no-answer-expected", "no-reply", "has-nuggets", "variant"]
NUGGET_REASONS: dict[NuggetReason, str] = {
    "no-pool": "no configuration reported a chunk with text for it",
    "no-evidence": "no pooled chunk states anything about it",
    "no-answer-expected": "the case expects no answer",
    "no-reply": "the model gave no reply of the right form",
    "has-nuggets": "it has nuggets already",
    "variant": "it is a variant of a case",
}


class QuestionWithoutNuggets(Struct, frozen=True):
    """A question that got no nuggets, and why: a reason of `NUGGET_REASONS`."""

    case: str
    reason: NuggetReason


class OwnInfluence(Struct, frozen=True):
    """How far a configuration had a say in the nuggets by which it is scored.

    `score` is its mean over all nuggets by rules, strictly; `score_by_others` the mean over those that the other
    configurations alone would have given, on the same cases. None if no case can tell. `own_nuggets` come from chunks
    that no other configuration has.
    """

    config: str
    cases: int
    score: float | None
    score_by_others: float | None
    own_nuggets: int


class Circularity(Struct, frozen=True):
    """How much a comparison by nuggets depends on who gave them.

    `turned` are the pairs of configurations whose order the nuggets of the others turn round, each left out in turn.
    """

    configs: tuple[OwnInfluence, ...] = ()
    turned: tuple[tuple[str, str], ...] = ()


class NuggetDraft(Struct, frozen=True):
    """The cases that have nuggets, and the questions without; `configs` are those whose chunks were pooled."""

    cases: tuple[Case, ...]
    left_out: tuple[QuestionWithoutNuggets, ...]
    configs: tuple[str, ...]
    graded_by: str
    effort: ModelEffort | None = None
    circularity: Circularity = Circularity()

    @property
    def counts(self) -> dict[Importance, int]:
        """How many nuggets of each importance there are."""
        counts: dict[Importance, int] = {"vital": 0, "okay": 0}
        for case in self.cases:
            for nugget in case.nuggets:
                counts[nugget.importance] += 1
        return counts


class NuggetSource(NamedTuple):
    """A chunk that configurations ranked, with its text and the rank that each gave it."""

    chunk_id: str
    text: str
    ranks: Mapping[str, int]


class QuestionPool(NamedTuple):
    """What all configurations found and answered for one question."""

    chunks: tuple[NuggetSource, ...]
    answers: Mapping[str, str]
    configs: int


def pool_question(
    case: Case,
    observations: Sequence[Observation],
    corpus: Corpus | None = None,
    as_of: str | None = None,
    depth: int = POOL_DEPTH,
) -> QuestionPool:
    """Return the pool of one question: the first chunks that each configuration showed its model or else ranked last.

    Chunks that several configurations rank high come first; a text comes from the observation, else from the corpus.
    Chunks that the corpus hides from the user of the case, or that are not in force on the day `as_of`, are left out.
    """
    ranks: dict[str, dict[str, int]] = {}
    texts: dict[str, str] = {}
    first_with: dict[str, str] = {}  # configurations may call the same text by other ids
    answers: dict[str, str] = {}
    for observation in observations:
        stages = observation.stages or ()
        shown = next((stage for stage in stages if stage.name == CONTEXT_STAGE), stages[-1] if stages else None)
        for rank, chunk in enumerate(shown.chunks[:depth] if shown is not None else (), 1):
            listed = corpus.chunks.get(chunk.chunk_id) if corpus is not None else None
            text = chunk.text or (listed.text if listed is not None else None)
            is_readable = bool(text) and (listed is None or _is_in_force(listed, case, as_of))
            name = first_with.setdefault(fold_text(text), chunk.chunk_id) if text and is_readable else chunk.chunk_id
            ranks.setdefault(name, {}).setdefault(observation.config_id, rank)
            if text and is_readable:
                texts.setdefault(name, text)
        answer = observation.answer
        if isinstance(answer, str) and detect_behaviour(answer, question=case.question).behaviour == "answer":
            answers.setdefault(observation.config_id, answer)
    chunks = [
        NuggetSource(chunk_id, texts[chunk_id], by_config) for chunk_id, by_config in ranks.items() if chunk_id in texts
    ]
    chunks.sort(key=lambda chunk: (-sum(1 / rank for rank in chunk.ranks.values()), chunk.chunk_id))
    return QuestionPool(tuple(chunks), answers, len({observation.config_id for observation in observations}))


def _is_in_force(chunk: CorpusChunk, case: Case, as_of: str | None) -> bool:
    day = (case.user.as_of if case.user is not None else None) or as_of
    if not is_in_force(chunk, day):
        return False
    return may_see_chunk(case.user, chunk)


class _GradedStatement(NamedTuple):
    statement: Statement
    chunk: NuggetSource
    share: float
    said: float
    importance: Importance


def find_nuggets(case: Case, pool: QuestionPool) -> tuple[Nugget, ...]:
    """Return the nuggets of a question by rules, the vital ones first, at most `MOST_NUGGETS`."""
    corpus = Corpus({chunk.chunk_id: CorpusChunk(chunk.chunk_id, chunk.text) for chunk in pool.chunks})
    linted = LintedSet(GoldenSet(()), corpus)
    graded = []
    for chunk in pool.chunks:
        for statement in list_statements(chunk.text):
            entry = _grade_statement(case, statement, chunk, pool, linted)
            if entry is not None:
                graded.append(entry)
    graded.sort(key=lambda entry: (entry.importance != "vital", -(entry.share + entry.said)))
    nuggets: list[Nugget] = []
    stated: set[str] = set()
    for entry in graded:
        folded = fold_text(entry.statement.text)
        if folded in stated or len(nuggets) == MOST_NUGGETS:
            continue
        stated.add(folded)
        quote = entry.chunk.text[entry.statement.start : entry.statement.end]
        nuggets.append(
            Nugget(entry.statement.text, entry.importance, quote, entry.chunk.chunk_id, graded_by=GRADED_BY_RULES)
        )
    return tuple(nuggets)


def _grade_statement(
    case: Case, statement: Statement, chunk: NuggetSource, pool: QuestionPool, linted: LintedSet
) -> _GradedStatement | None:
    """Return a statement with its importance; None if it is not about the question, says nothing more, or orders."""
    asked = list_content_words(case.question)
    own = list_content_words(statement.text) - asked
    if not own or not FEWEST_WORDS <= len(statement.text.split()) <= MOST_WORDS or is_ordering(statement.text):
        return None
    share = share_words(asked, f"{statement.context}\n{statement.text}", linted)
    if share < MIN_OKAY_SHARE:
        return None
    saying = [answer for answer in pool.answers.values() if _is_said(own, answer)]
    saying_share = len(saying) / pool.configs
    is_backed = 2 * len(chunk.ranks) >= pool.configs
    importance: Importance = "vital" if share >= MIN_VITAL_SHARE and is_backed and saying_share >= 0.5 else "okay"
    return _GradedStatement(statement, chunk, share, saying_share, importance)


def _is_said(own: frozenset[str], answer: str) -> bool:
    return len(own & collect_word_keys(answer)) >= MIN_SAID_SHARE * len(own)
