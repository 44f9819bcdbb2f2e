"""A parsed answer: its claims, the texts that may support them, its citations, and the support that rules find.

Each part is computed on first use, and once for all metrics of the row. Scores by rules are used as they are, or as
probabilities where they are calibrated against human labels (ADR 0031).
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING

from msgspec import Struct

from assay.metrics.cases.case_index import find_cited_positions, find_cited_texts, list_reported_documents
from assay.metrics.cases.settled_answers import find_decision
from assay.metrics.judged.judge_requests import ENGLISH, RULES_VERSION, VIETNAMESE
from assay.metrics.judged.vote_folding import Ruling
from assay.metrics.leaks.find_leaks import Leaks, find_leaks_once, split_reachable
from assay.metrics.metric import JoinedRows
from assay.records.digest import compute_text_digest
from assay.records.observations import (
    CONTEXT_STAGE,
    Chunk,
    Observation,
    describe_unreported_stage,
    find_stage,
    list_tool_results,
)
from assay.records.verdicts import Calibration, JudgeRequest, VerdictCuts
from assay.text.answer_similarity import compute_answer_similarity
from assay.text.citation_markers import list_source_entries
from assay.text.claims.claim_segments import Claim, segment_claims
from assay.text.claims.passages import IndexedSources
from assay.text.claims.short_answers import score_short_answer
from assay.text.claims.source_support import SourceSupport, SupportLabel
from assay.text.late_pattern import LatePattern
from assay.text.normalisation import normalise_nfc
from assay.text.refusals.behaviour import detect_behaviour
from assay.text.refusals.behaviour_candidates import mark_texts_to_examine

if TYPE_CHECKING:
    from assay.metrics.cases.case_index import CaseIndex
    from assay.metrics.judged.second_judgement import CaseTexts


AGAINST_CITED = "cited"
ChunkTexts = dict[str, str]
"""Texts of chunks by their id, in the order in which they were shown."""
NO_TEXT, REFUSED, NO_CLAIMS = "no text: that of a chunk was not reported", "refused", "no claims"
_VIETNAMESE = LatePattern("[đĐơƠưƯăĂ\\u1ea0-\\u1ef9]")
_NUMBERED = LatePattern(r"[0-9]{1,3}")


class Citation(Struct, frozen=True):
    """One citation of an answer: the cited name, the claim it is attached to (None: the answer as a whole), and the
    chunks that it means, with their texts (empty if the name is unknown).

    `place`: the number in the text that names the chunk shown at that place; 0 where the citation names its source.
    """

    id: str
    name: str
    claim: Claim | None
    texts: ChunkTexts
    place: int = 0


class CitationAccess(Struct, frozen=True):
    """Names of citations that the user of a case may not see, and of those of which nobody can say whether he may."""

    forbidden: Set[str]
    unknown: Set[str]


class ParsedAnswer:
    """What answer metrics use of one observation with an answer."""

    def __init__(
        self,
        case: CaseIndex,
        observation: Observation,
        answer_group: _AnswerGroup | None = None,
        leaks_by_observation: dict[int, Leaks] | None = None,
    ) -> None:
        """`answer_group`: the group of answers that are searched for refusals together; `leaks_by_observation`: what
        other metrics found of leaks, or are to find here."""
        self._leaks_by_observation = {} if leaks_by_observation is None else leaks_by_observation
        self.case, self.observation, self._answer_group = case, observation, answer_group
        self.answer = observation.answer if isinstance(observation.answer, str) else ""
        self._weighed: dict[str, IndexedSources] = {}
        self._some: dict[frozenset[str], IndexedSources] = {}
        self._context_parts: dict[frozenset[str], IndexedSources] = {}
        self._supports: dict[tuple[str, tuple[tuple[str, str], ...]], SourceSupport] = {}
        self._requests: dict[tuple[str, str], list[JudgeRequest]] = {}
        self._rulings: dict[int, tuple[JudgeRequest, Ruling | None]] = {}

    # ── the answer ───────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def behaviour(self) -> str:
        """What the answer did; `unknown` if nothing tells, "" if there is nothing to read.

        What a person decided about the answer counts first; then the text decides, else the target's declaration (ADR
        0028, ADR 0041, ADR 187).
        """
        decision = find_decision(self.case.case, "behaviour", self.answer)
        if decision is not None:
            return "unknown" if decision.is_disputed else decision.label
        language = self.case.language
        may_hold_phrase = self._answer_group is None or self._answer_group.may_hold_phrase[id(self.observation)]
        text_behaviour = detect_behaviour(
            self.answer, language, self.case.case.question, may_hold_phrase=may_hold_phrase
        )
        declared = self.observation.behaviour
        if text_behaviour.behaviour and self.case.is_own_reference(self.answer):
            return "answer"
        return (
            declared
            if not text_behaviour.is_decided_by_text and declared and self.answer.strip()
            else text_behaviour.behaviour
        )

    @property
    def is_refusal(self) -> bool:
        """Whether it refused, denied or escalated, and claims nothing."""
        return self.behaviour in ("abstain", "permission_denied", "escalate")

    @cached_property
    def language(self) -> str:
        """The language that a judge is asked in: that of the case, else of its user, else of question and answer."""
        case, stated = self.case.case, self.case.language
        if stated:
            return VIETNAMESE if stated.lower().startswith(VIETNAMESE) else ENGLISH
        return VIETNAMESE if _VIETNAMESE.search(normalise_nfc(case.question + self.answer)) else ENGLISH

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """The claims of the answer, segmented the same for every scorer."""
        return segment_claims(self.answer, self._names)

    @cached_property
    def _names(self) -> set[str]:
        """Everything that a marker in the text may name."""
        cited = {name for sentence in self.observation.sentences or () for name in sentence.citations}
        shown = {chunk.chunk_id for stage in self.observation.stages or () for chunk in stage.chunks}
        return cited | shown | set(self.observation.citations or ())

    @cached_property
    def similarity(self) -> float | None:
        """How alike answer and reference are; None where there is no reference, or it says nothing."""
        case = self.case.case
        return compute_answer_similarity(self.answer, case.reference or "", case.question, self.case.golden_index.idf)

    # ── the sources ──────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def context_texts(self) -> ChunkTexts | str:
        """The texts of the context and the results of tools, or why there are none: not reported, or a chunk without
        text.

        A target that reports no stages and results of tools was shown those alone.
        """
        stage = find_stage(self.observation, CONTEXT_STAGE)
        results = list_tool_results(self.observation)
        if stage is None:
            is_all = bool(results) and not self.observation.stages
            return results if is_all else describe_unreported_stage(CONTEXT_STAGE)
        if not stage.chunks:
            return results
        texts = self.collect_texts(stage.chunks)
        return NO_TEXT if texts is None else texts | results

    @cached_property
    def has_texts(self) -> bool:
        """Whether anything could hold the text of a chunk; cheap to tell, unlike what is cited."""
        stages = self.observation.stages or ()
        return self.case.corpus is not None or any(chunk.text for stage in stages for chunk in stage.chunks)

    @cached_property
    def cited_texts(self) -> ChunkTexts | str:
        """The texts of the cited chunks, or why there are none: nothing cited, or a chunk without text."""
        if not self.citations:
            reported = self.observation.citations is not None or self.observation.sentences is not None
            return "no citations" if reported else "citations not reported"
        texts: ChunkTexts = {}
        for citation in self.citations:
            if "" in citation.texts.values():
                return NO_TEXT
            texts |= citation.texts
        return texts

    def source_texts(self, against: str) -> ChunkTexts | str:
        """Return the texts that claims are compared with: `context` or `cited`."""
        return self.cited_texts if against == AGAINST_CITED else self.context_texts

    def collect_texts(self, chunks: Iterable[Chunk]) -> ChunkTexts | None:
        """Return the texts of chunks by their ids; None if that of any is unknown."""
        texts = {chunk.chunk_id: self._text(chunk) for chunk in chunks}
        return texts if all(texts.values()) else None

    def _text(self, chunk: Chunk) -> str:
        """Return a chunk's text: the target's own if its hash agrees, else the corpus' (ADR 0026), else nothing."""
        corpus_chunk = self.case.corpus.chunks.get(chunk.chunk_id) if self.case.corpus is not None else None
        expected = chunk.text_hash or (corpus_chunk.text_hash if corpus_chunk is not None else None)
        if chunk.text is not None and (expected is None or expected == compute_text_digest(chunk.text)):
            return chunk.text
        return corpus_chunk.text or "" if corpus_chunk is not None else ""

    # ── the citations ────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def citations(self) -> tuple[Citation, ...]:
        """The citations: those attached to a claim, claim by claim, then the others.

        A citation of an answer with a single claim is attached to that claim.
        """
        names_by_claim = {claim: dict.fromkeys(self._cited_names(claim)) for claim in self.claims}
        answer_names = dict.fromkeys(self.observation.citations or ())
        chunks_by_name = self._resolve_names(set(answer_names).union(*names_by_claim.values()))
        attached: list[Citation] = []
        place_by_name = {name: place for place, name in self._shown_at.items() if name not in answer_names}
        for claim, names in names_by_claim.items():
            for name in names:
                place = place_by_name.get(name, 0)
                attached.append(Citation(f"{claim.id}.{len(attached) + 1}", name, claim, chunks_by_name[name], place))
        attached_names = {citation.name for citation in attached}
        only_claim = self.claims[0] if len(self.claims) == 1 else None
        prefix = only_claim.id if only_claim is not None else "answer"
        for name in answer_names:
            if name not in attached_names:
                attached.append(Citation(f"{prefix}.{len(attached) + 1}", name, only_claim, chunks_by_name[name]))
        return tuple(attached)

    @cached_property
    def access(self) -> CitationAccess:
        """The names of citations that the case's user may not see, and of those of which nobody can tell."""
        names = {citation.name for citation in self.citations}
        leaks = find_leaks_once(self._leaks_by_observation, self.case, self.observation)
        return CitationAccess(*split_reachable(self.case, self.observation, names, leaks))

    @cached_property
    def citations_by_claim(self) -> dict[str, list[Citation]]:
        """The citations that are attached to claims, by the claim's id."""
        citations_by_claim: dict[str, list[Citation]] = {}
        for citation in self.citations:
            if citation.claim is not None:
                citations_by_claim.setdefault(citation.claim.id, []).append(citation)
        return citations_by_claim

    def _cited_names(self, claim: Claim) -> list[str]:
        """Return the names cited for a claim: markers in the text, and the sentences that the target reports."""
        names: list[str] = []
        names += [self.names_by_marker[marker] for marker in claim.cites]
        # Reported sentences do not overlap, so those that overlap the claim are a run in their order.
        first = bisect_right(self._sentences, claim.start, key=itemgetter(1))
        last = bisect_left(self._sentences, claim.end, key=itemgetter(0))
        for _, _, sentence_citations in self._sentences[first:last]:
            names += sentence_citations
        return names

    @cached_property
    def names_by_marker(self) -> dict[str, str]:
        """What each marker in the text names: a chunk that was shown, a reported citation, or else itself."""
        reported = self.observation.citations or ()
        names: dict[str, str] = {}
        for marker in (marker for claim in self.claims for marker in claim.cites):
            number = self._read_number(marker)
            is_listed = 1 <= number <= len(reported)
            names[marker] = self._shown_at.get(number) or (reported[number - 1] if is_listed else marker)
        return names

    @cached_property
    def listed_numbers(self) -> frozenset[str]:
        """The numbers that the answer itself explains in a list of sources or footnotes."""
        return frozenset(number for number, _ in list_source_entries(self.answer))

    @cached_property
    def shown_ids(self) -> list[str]:
        """The ids of the chunks of the context, in order."""
        return [chunk.chunk_id for chunk in self._stage_chunks(CONTEXT_STAGE)]

    @property
    def known_ids(self) -> set[str]:
        """The ids of the chunks of all stages, and the reported citations."""
        return self._names

    @cached_property
    def shown_texts(self) -> list[str]:
        """The texts of the chunks of the context, as the target reports them."""
        return [chunk.text or "" for chunk in self._stage_chunks(CONTEXT_STAGE)]

    @property
    def most_places(self) -> int:
        """The largest number that may be a place in the context or in the reported citations."""
        return max(len(self.shown_ids), len(self.observation.citations or ()))

    def _read_number(self, marker: str) -> int:
        """Return the number that a marker is, 0 if it names something, as where a chunk is called "2"."""
        return int(marker) if marker not in self._names and _NUMBERED.fullmatch(marker) else 0

    @cached_property
    def _shown_at(self) -> dict[int, str]:
        """What the numbers of the answer's markers name, where they are places in the context.

        Most prompts number the chunks that they show, and `[2]` is the second. It is the second of the reported
        citations instead where these hold all the numbers, unless they are just the chunks at these places, in the
        order in which the answer mentions them. Numbers of the answer's own list of sources are no places.
        """
        markers = dict.fromkeys(marker for claim in self.claims for marker in claim.cites)
        # Numbers beyond every list name nothing, and say nothing about what the others name.
        places = [place for place in map(self._read_number, markers) if 1 <= place <= self.most_places]
        shown_ids = self.shown_ids if places else []
        has_other = any(marker == "0" for marker in markers) or not shown_ids or max(places) > len(shown_ids)
        if has_other or self._lists_own_sources(places):
            return {}
        reported = list(dict.fromkeys(self.observation.citations or ()))
        if not reported:
            return {place: shown_ids[place - 1] for place in places}
        documents = list_reported_documents(self.observation, self.case.golden_index)
        positions_by_name = find_cited_positions(set(reported), shown_ids, self.case.corpus, documents)
        name_by_place: dict[int, str] = {}
        for name in reversed(reported):
            name_by_place |= {position + 1: name for position in positions_by_name.get(name, ())}
        if not name_by_place.keys() >= set(places):
            # Numbers beyond the list are no places in it, so they are places in the context that the list leaves out.
            is_beyond = max(places) > len(reported)
            return {place: name_by_place.get(place, shown_ids[place - 1]) for place in places} if is_beyond else {}
        names = {place: name_by_place[place] for place in places}
        is_listed = max(places) <= len(reported)
        return {} if is_listed and list(dict.fromkeys(names.values())) != reported else names

    def _lists_own_sources(self, numbers: Sequence[int]) -> bool:
        """Whether the answer ends with what its numbers mean: a line of a number and a file, an address or a name."""
        listed = {int(number) for number, entry in list_source_entries(self.answer) if self._is_source(entry)}
        return not listed.isdisjoint(numbers)

    def _is_source(self, entry: str) -> bool:
        return " " not in entry.strip() or "://" in entry or entry.strip("`*_ ") in self._names

    @cached_property
    def _sentences(self) -> list[tuple[int, int, tuple[str, ...]]]:
        """Where the sentences that the target reports lie in the answer."""
        positions, end = [], 0
        for sentence in self.observation.sentences or ():
            start = self.answer.find(sentence.text, end)
            if start >= 0 and sentence.text:
                end = start + len(sentence.text)
                positions.append((start, end, sentence.citations))
        return positions

    def _resolve_names(self, names: Set[str]) -> dict[str, ChunkTexts]:
        """Return for each name the texts of the chunks that it means, by chunk id ("" for an unknown text).

        Chunks are looked up in the context, else in any stage, else in the corpus.
        """
        texts_by_name: dict[str, ChunkTexts] = {}
        documents = list_reported_documents(self.observation, self.case.golden_index)
        for chunks in (self._stage_chunks(CONTEXT_STAGE), self._stage_chunks(None)):
            chunk_ids = [chunk.chunk_id for chunk in chunks]
            unresolved = names - texts_by_name.keys()
            if not unresolved:
                return texts_by_name
            positions_by_name = find_cited_positions(unresolved, chunk_ids, self.case.corpus, documents)
            for name, positions in positions_by_name.items():
                cited_chunks = [chunks[position] for position in positions]
                texts_by_name[name] = {chunk.chunk_id: self._text(chunk) for chunk in cited_chunks}
        return texts_by_name | find_cited_texts(names - texts_by_name.keys(), self.case.corpus)

    def _stage_chunks(self, name: str | None) -> Sequence[Chunk]:
        stages = self.observation.stages or ()
        return [chunk for stage in stages if name in (None, stage.name) for chunk in stage.chunks]

    # ── by rules ─────────────────────────────────────────────────────────────────────────────────────────────────

    def index_sources(self, against: str) -> IndexedSources:
        """Return the indexed sources for scoring by rules; only valid where `sources` gives texts."""
        if against not in self._weighed:
            texts = self.source_texts(against)
            assert isinstance(texts, dict)
            context = self._weighed.get(CONTEXT_STAGE)
            if context is not None and texts.items() <= set(context.chunks):
                self._weighed[against] = context.select_sources(texts)
            else:
                self._weighed[against] = IndexedSources(tuple(texts.items()), self.case.golden_index.idf)
        return self._weighed[against]

    def claim_supports(self, against: str) -> tuple[SourceSupport, ...]:
        """Return the support of each claim by rules."""
        sources = self.index_sources(against)
        return tuple([self._support(claim, sources) for claim in self.claims])

    def support_by_chunks(self, claim: Claim, ids: Collection[str]) -> SourceSupport:
        """Return the support of a claim by rules from some of the cited chunks alone.

        Where the text of another cited chunk is unknown, from those of them that are in the context.
        """
        chunk_ids = frozenset(ids)
        if chunk_ids not in self._some:
            against = AGAINST_CITED if isinstance(self.cited_texts, dict) else CONTEXT_STAGE
            self._some[chunk_ids] = self.index_sources(against).select_sources(chunk_ids)
        return self._support(claim, self._some[chunk_ids])

    def select_context(self, ids: frozenset[str]) -> IndexedSources:
        """Return some chunks of the context, indexed."""
        if ids not in self._context_parts:
            self._context_parts[ids] = self.index_sources(CONTEXT_STAGE).select_sources(ids)
        return self._context_parts[ids]

    def support_by_context(self, claim: Claim, ids: frozenset[str] | None = None) -> SourceSupport:
        """Return the support of a claim by rules from the context, or from some of its chunks alone."""
        return self._support(claim, self.index_sources(CONTEXT_STAGE) if ids is None else self.select_context(ids))

    def _support(self, claim: Claim, sources: IndexedSources) -> SourceSupport:
        key = claim.text, tuple(sources.chunks)
        if key not in self._supports:
            self._supports[key] = score_short_answer(claim.text, self.case.case.question, sources)
        return self._supports[key]

    # ── by a judge ───────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def question(self) -> str:
        """The question as it was put, after the turns before it.

        Their roles are in brackets, because `user:` at the start of a line is how people plant turns of their own.
        """
        case = self.case.case
        turns = [f"[{turn.role}] {turn.text}" for turn in case.history]
        return "\n".join([*turns, f"[user] {case.question}"]) if turns else case.question

    def cached_requests(self, rubric: str, subject: str, make: Callable[[], list[JudgeRequest]]) -> list[JudgeRequest]:
        """Return the requests of one rubric about one thing, made once however many metrics ask."""
        if (rubric, subject) not in self._requests:
            self._requests[rubric, subject] = make()
        return self._requests[rubric, subject]

    @cached_property
    def _case_texts(self) -> CaseTexts:
        """What may confirm a sentence that reads like an order: the golden set, the answer, the sources."""
        from assay.metrics.judged.second_judgement import CaseTexts  # only for a judged run

        case, sources = self.case.case, dict[str, str]()
        for texts in (self.context_texts, self.cited_texts):
            sources |= texts if isinstance(texts, dict) else {}
        trusted_text = "\n".join([case.reference or "", *case.must_have]).strip()
        return CaseTexts(trusted_text, self.answer, "\n".join(sources.values()))

    def find_ruling(self, request: JudgeRequest) -> Ruling | None:
        """Return what the recorded votes on a request come to, None where there are none."""
        if id(request) not in self._rulings:
            judging = self.case.golden_index.judging
            ruling = judging.find_confirmed_ruling(request, self._case_texts) if judging is not None else None
            self._rulings[id(request)] = request, ruling
        return self._rulings[id(request)][1]


class _AnswerGroup:
    """Answers that are searched together: one filter over all of them finds those that may refuse."""

    def __init__(self, observations: Sequence[Observation]) -> None:
        self._observations = observations

    @cached_property
    def may_hold_phrase(self) -> dict[int, bool]:
        """By the observation's identity: whether its text may hold a phrase of a lexicon."""
        texts = [
            observation.answer if isinstance(observation.answer, str) else "" for observation in self._observations
        ]
        marked = mark_texts_to_examine(texts)
        return dict(zip(map(id, self._observations), marked.tolist(), strict=True))


def parse_answers(rows: JoinedRows) -> list[ParsedAnswer]:
    """Return the parsed answers of the rows, the same ones for every metric."""
    if rows.parsed_answers is None:
        answer_group = _AnswerGroup(rows.observations)
        pairs = zip(rows.cases, rows.observations, strict=True)
        rows.parsed_answers = [ParsedAnswer(case, observation, answer_group, rows.leaks) for case, observation in pairs]
    parsed_answers: list[ParsedAnswer] = rows.parsed_answers
    return parsed_answers


_MOST_LISTED = 5


def format_list(title: str, entries: Sequence[str]) -> str:
    """Return a short list of items for readers of one case; "" if there are none.

    >>> format_list("missing", ["5 days", "HR"])
    'missing: 5 days; HR'
    """
    more = f" … and {len(entries) - _MOST_LISTED} more" if len(entries) > _MOST_LISTED else ""
    return f"{title}: {'; '.join(entries[:_MOST_LISTED])}{more}" if entries else ""


FAITHFULNESS_BY_RULES = {CONTEXT_STAGE: "faithfulness(by=rules)", AGAINST_CITED: "faithfulness(against=cited,by=rules)"}
"""The metrics of claims, by the sources that they are compared with."""
CITATION_SUPPORT_BY_RULES = "citation_support(by=rules)"
_MAX_LOGIT = 50.0
"""Logits are clipped here: beyond it a probability is 0 or 1, and the exponential overflows."""
_SUPPORT_THRESHOLD = 0.5


class CalibratedSupport(Struct, frozen=True):
    """One metric by rules, with its calibration curve and cuts; None if it is not calibrated or has too few labels."""

    curve: Mapping[str, float] | None
    cuts: VerdictCuts | None = None

    def score_support(self, support: SourceSupport) -> float:
        """Return the claim's score in [0, 1]; with a curve, the probability that a person would call it supported."""
        if self.curve is None:
            return support.score
        logit = self.curve["slope"] * support.z + self.curve["intercept"]
        return 1 / (1 + math.exp(-min(max(logit, -_MAX_LOGIT), _MAX_LOGIT)))

    def label_support(self, support: SourceSupport) -> SupportLabel:
        """Return the claim's verdict; with a curve, by the cuts that were chosen from human labels.

        Without a curve, "not_found" is no verdict but a hint: people called 56 to 90% of such claims unsupported.
        """
        if self.curve is None or support.contradictions:
            return support.verdict
        probability = self.score_support(support)
        if self.cuts is None:  # a calibration of before there were cuts
            return "supported" if probability > _SUPPORT_THRESHOLD else "not_found"
        decision = self.cuts.decide(probability)
        return "unknown" if decision is None else "supported" if decision else "not_found"

    def is_unsupported(self, support: SourceSupport) -> bool:
        """Return whether a claim counts as unsupported: contradicted, or not found by a calibrated scorer."""
        verdict = self.label_support(support)
        return verdict == "contradicted" or (verdict == "not_found" and self.curve is not None)


def find_calibration(reading: ParsedAnswer, metric: str) -> Calibration | None:
    """Return the calibration of a metric that was loaded with the verdicts; None if there is none that applies."""
    judging = reading.case.golden_index.judging
    return judging.calibrations.get(metric) if judging is not None else None


def calibrate_support(reading: ParsedAnswer, metric: str) -> CalibratedSupport:
    """Return the calibration of a metric by rules, which is the identity if there is none that applies."""
    calibration = find_calibration(reading, metric)
    is_usable = calibration is not None and calibration.applies_to(RULES_VERSION, "")
    if calibration is None or not is_usable:
        return CalibratedSupport(None)
    return CalibratedSupport(calibration.platt, calibration.cuts)
