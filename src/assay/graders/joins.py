"""The golden side of a batch: each case with its look-ups, made once and shared by every observation of it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from assay.graders.access import Superseded
from assay.graders.copied import CorpusText
from assay.graders.evidence import EvidenceIndex
from assay.metrics.idf import Idf
from assay.model import BEHAVIOURS, Behaviour, Case, Chunk, Corpus, GoldenSet

if TYPE_CHECKING:
    from assay.graders.judging import Judging


class Joins:
    """A golden set with its corpus, and the look-ups that cases share; each case is indexed when first observed.

    `judging` holds what judges said; `whole` is the golden set of which `golden` has the chosen cases.
    """

    def __init__(
        self,
        golden: GoldenSet,
        corpus: Corpus | None = None,
        judging: Judging | None = None,
        whole: GoldenSet | None = None,
    ) -> None:
        self.golden, self.corpus, self.judging = golden, corpus, judging
        self._whole = whole or golden
        self.position = {case.id: place for place, case in enumerate(golden.cases)}
        self._indexed: dict[int, CaseIndex] = {}
        self._superseded: dict[str | None, Superseded] = {}

    def case(self, place: int) -> CaseIndex:
        """Return the case at a place of the golden set with its look-ups."""
        found = self._indexed.get(place)
        if found is None:
            found = self._indexed[place] = CaseIndex(self.golden.cases[place], self)
        return found

    @cached_property
    def idf(self) -> Idf:
        """How rare words are in the golden set's references and quotes and in the corpus: the same for any choice of
        cases, so that a score does not depend on what was scored beside it (DECISIONS 19)."""
        cases = self._whole.cases
        texts = [case.reference for case in cases if case.reference]
        texts += [unit.quote for case in cases for unit in case.evidence if unit.quote]
        if self.corpus is not None:
            texts += [chunk.text for chunk in self.corpus.chunks.values() if chunk.text]
        return Idf.of(texts)

    @cached_property
    def corpus_text(self) -> CorpusText | None:
        """The runs of words of the corpus, with who may see them; None without a corpus."""
        return CorpusText(self.corpus) if self.corpus is not None else None

    def superseded(self, as_of: str | None) -> Superseded | None:
        """Return which chunks are of a replaced version at a date; None without a corpus."""
        if self.corpus is None:
            return None
        if as_of not in self._superseded:
            self._superseded[as_of] = Superseded(self.corpus, as_of)
        return self._superseded[as_of]


class CaseIndex:
    """One golden case with its look-ups, made once and shared by every observation of it."""

    __slots__ = (
        "__dict__",  # for what only few cases need
        "accepted_bits",
        "as_of",
        "case",
        "corpus",
        "denied",
        "evidence",
        "expected_code",
        "guarded",
        "ideal",
        "joins",
        "partial",
        "required",
        "restricted",
        "states_text",
    )

    def __init__(self, case: Case, joins: Joins) -> None:
        self.case = case
        self.joins = joins
        self.corpus = joins.corpus
        self.partial = joins.golden.judgments == "partial"
        self.as_of = (case.user.as_of if case.user else None) or joins.golden.as_of
        self.denied = case.behaviour == "permission_denied"
        self.restricted = self.denied or bool(case.forbidden)
        self.guarded = self.restricted or bool(case.forbidden_text)
        self.expected_code, self.accepted_bits = _codes(case.behaviour, case.also_accept)
        self.states_text = case.rubric is not None or bool(case.must_have)
        searched = () if self.denied else case.evidence
        self.evidence = EvidenceIndex([(unit.any_of, unit.grade) for unit in searched], self.corpus)
        self.ideal: list[int] = sorted(self.evidence.grades, reverse=True)
        self.required = _mask([unit.required for unit in searched if unit.grade > 0])

    @cached_property
    def may_see(self) -> dict[str, bool]:
        """What was found out about chunks of the corpus and this asker."""
        return {}

    @cached_property
    def forbidden(self) -> EvidenceIndex:
        """Chunks that must not be seen: the case's forbidden ones, and its evidence where permission is denied."""
        listed = [(unit.any_of, 1) for unit in self.case.evidence] if self.denied else []
        return EvidenceIndex([*listed, *(((selector,), 1) for selector in self.case.forbidden)], self.corpus)

    @cached_property
    def forbidden_texts(self) -> tuple[str, ...]:
        """The texts of the forbidden chunks, as far as the corpus or a quote gives them."""
        texts = [unit.quote for unit in self.case.evidence if self.denied and unit.quote]
        if self.corpus is not None:
            known = self.corpus.chunks
            ids = self.forbidden.by_id if self.forbidden.by_id_alone else known
            chunks = [known[each] for each in ids if each in known]
            masks = self.forbidden.masks([Chunk(chunk.chunk_id) for chunk in chunks])
            texts += [chunk.text for chunk, mask in zip(chunks, masks, strict=True) if mask and chunk.text]
        return tuple(texts)

    def level(self, rel: int) -> int:
        """Return the mask of the units of at least grade `rel`."""
        return _mask([grade >= rel for grade in self.evidence.grades])


def _mask(chosen: Iterable[bool]) -> int:
    """Return the mask of the units that are chosen, in their order."""
    return sum([1 << bit for bit, each in enumerate(chosen) if each])


@lru_cache(maxsize=256)
def _codes(expected: Behaviour, also: tuple[Behaviour, ...]) -> tuple[int, int]:
    """Return the expected behaviour as a number, and all accepted ones as a set of bits."""
    accepted = {expected, *also}
    return BEHAVIOURS.index(expected), sum(1 << code for code, each in enumerate(BEHAVIOURS) if each in accepted)
