"""Index a golden set: each case with its look-ups, built once and shared by all observations of the case."""

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

    `judging` holds the recorded verdicts; `whole` is the golden set from which the cases of `golden` are selected.
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
        self.position = {case.id: position for position, case in enumerate(golden.cases)}
        self._indexed: dict[int, CaseIndex] = {}
        self._superseded: dict[str | None, Superseded] = {}

    def case(self, place: int) -> CaseIndex:
        """Return the case at a place of the golden set with its look-ups."""
        case_index = self._indexed.get(place)
        if case_index is None:
            case_index = self._indexed[place] = CaseIndex(self.golden.cases[place], self)
        return case_index

    @cached_property
    def idf(self) -> Idf:
        """How rare words are in the references and quotes of the full golden set and in the corpus.

        A selection of cases does not change it, so that a score does not depend on which other cases are scored.
        """
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
    """One golden case with its look-ups, built once and shared by all observations of the case."""

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
        self.expected_code, self.accepted_bits = _encode_behaviours(case.behaviour, case.also_accept)
        self.states_text = case.rubric is not None or bool(case.must_have)
        evidence_units = () if self.denied else case.evidence
        self.evidence = EvidenceIndex([(unit.any_of, unit.grade) for unit in evidence_units], self.corpus)
        self.ideal: list[int] = sorted(self.evidence.grades, reverse=True)
        self.required = _bit_mask([unit.required for unit in evidence_units if unit.grade > 0])

    @cached_property
    def may_see(self) -> dict[str, bool]:
        """A cache: whether the user may see a chunk of the corpus, by chunk id."""
        return {}

    @cached_property
    def forbidden(self) -> EvidenceIndex:
        """Chunks that must not be seen: the case's forbidden ones, and its evidence where permission is denied."""
        denied_evidence = [(unit.any_of, 1) for unit in self.case.evidence] if self.denied else []
        return EvidenceIndex([*denied_evidence, *(((selector,), 1) for selector in self.case.forbidden)], self.corpus)

    @cached_property
    def forbidden_texts(self) -> tuple[str, ...]:
        """The texts of the forbidden chunks, as far as the corpus or a quote gives them."""
        texts = [unit.quote for unit in self.case.evidence if self.denied and unit.quote]
        if self.corpus is not None:
            corpus_chunks = self.corpus.chunks
            ids = self.forbidden.by_id if self.forbidden.by_id_alone else corpus_chunks
            chunks = [corpus_chunks[chunk_id] for chunk_id in ids if chunk_id in corpus_chunks]
            masks = self.forbidden.masks([Chunk(chunk.chunk_id) for chunk in chunks])
            texts += [chunk.text for chunk, mask in zip(chunks, masks, strict=True) if mask and chunk.text]
        return tuple(texts)

    def level(self, rel: int) -> int:
        """Return the mask of the units of at least grade `rel`."""
        return _bit_mask([grade >= rel for grade in self.evidence.grades])


def _bit_mask(chosen: Iterable[bool]) -> int:
    """Return the mask of the units that are chosen, in their order."""
    return sum([1 << bit for bit, is_chosen in enumerate(chosen) if is_chosen])


@lru_cache(maxsize=256)
def _encode_behaviours(expected: Behaviour, also_accepted: tuple[Behaviour, ...]) -> tuple[int, int]:
    """Return the expected behaviour as a number, and all accepted ones as a set of bits."""
    accepted = {expected, *also_accepted}
    return BEHAVIOURS.index(expected), sum(
        1 << code for code, behaviour in enumerate(BEHAVIOURS) if behaviour in accepted
    )
