"""Indexes a golden set: each case with its look-ups, built once and shared by all observations of the case.

A selector of evidence becomes a look-up. A unit of evidence is a bit of an integer mask, so that overlap, repeats and
several units per chunk are one rule; `None` means that nobody judged the chunk, 0 that it was judged and found
irrelevant. A cited or required name means a chunk or, less precisely, the document that the chunk belongs to: `doc`
stands for the chunk `doc:v1:003` (prefix up to one of `: # /`), and for the chunks of the document `doc` by the corpus
or, where it does not say, by what the chunk reports of itself, as a selector `{document: doc}` of evidence does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from functools import cached_property, lru_cache
from itertools import zip_longest
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from assay.metrics.cases.access_rules import SupersededVersions
from assay.metrics.cases.corpus_texts import CorpusTexts
from assay.metrics.cases.evidence_sentences import EvidenceSentences
from assay.metrics.cases.restricted_text import AllowedText, RestrictedCorpus
from assay.metrics.cases.settled_answers import digest_expectations
from assay.records.golden_set import BEHAVIOURS, Behaviour, Case, Corpus, CorpusChunk, Evidence, GoldenSet, Selector
from assay.records.observations import Chunk, Observation, complete_texts, is_text_id
from assay.text.facts.answer_matching import is_exact_match
from assay.text.normalisation import fold_text
from assay.text.pattern_cache import compile_pattern
from assay.text.tokens import DocumentFrequencies

if TYPE_CHECKING:
    from assay.metrics.judged.judge_requests import RecordedVerdicts


CHUNK_ID = "chunk_id"
QUOTE = "quote"

CORPUS_FIELDS = ("document", "version", "section", "path", "kind", "tenant", "index_version", "chunking_strategy")


def chunk_fields(chunk: Chunk, corpus_chunk: CorpusChunk | None) -> dict[str, Any]:
    """Return a chunk's stable key fields: what it reports of itself, overruled by what the corpus knows."""
    fields: dict[str, Any] = dict(chunk.metadata or {})
    if corpus_chunk is not None:
        fields.update(corpus_chunk.metadata)
        for name in CORPUS_FIELDS:
            value = getattr(corpus_chunk, name)
            if value is not None:
                fields[name] = value
        if corpus_chunk.pages:
            fields["page"] = corpus_chunk.pages
    fields[CHUNK_ID] = chunk.chunk_id
    return fields


def has_field_value(fields: Mapping[str, Any], name: str, wanted: str | int) -> bool:
    """Return whether a chunk's field has the wanted value; a field that lists several (pages) has each of them."""
    value = fields.get(name)
    if isinstance(value, (list, tuple)):
        return wanted in value
    return bool(value == wanted) and not isinstance(value, bool)


def list_needed_fields(selector: Selector) -> list[str]:
    """Return the fields that a chunk must have for a selector to match it, besides its id and its text.

    >>> list_needed_fields({"document": "tides", "page": 4, "quote": "at half past six"})
    ['document', 'page']
    """
    return [name for name in selector if name not in (CHUNK_ID, QUOTE)]


class EvidenceIndex:
    """Look-ups from chunks to the units of evidence that they cover; `by_id_alone`: every selector is a chunk id.

    A chunk whose id was made from its text, or is known neither to the corpus nor to the units, covers units by their
    quotes and by the corpus' texts of the ids that they name. `needs_ids`: a unit can be told only by an id, so that
    nothing is known of chunks without one.
    """

    __slots__ = (
        "_corpus_texts",
        "_known",
        "_passages",
        "_quotes",
        "_selectors",
        "by_id",
        "by_id_alone",
        "grades",
        "needs_ids",
    )

    def __init__(
        self,
        units: Sequence[tuple[tuple[Selector, ...], int]],
        corpus: Corpus | None,
        quotes: Sequence[str | None] = (),
        corpus_texts: CorpusTexts | None = None,
    ) -> None:
        """`units` are (selectors, grade); a unit of grade 0 was judged and is not evidence. `quotes` are the texts that
        the units quote besides their selectors, one for each unit. With `corpus_texts` a chunk whose id the corpus does
        not have has the fields of the chunks of the corpus that have its text."""
        self._corpus_texts = corpus_texts
        self.grades: list[int] = []
        self.by_id: dict[str, int] = {}
        self._selectors: list[tuple[Selector, int]] = []
        self._quotes: list[tuple[str, Selector, int]] = []
        self._known = corpus.chunks if corpus is not None else {}
        self._passages: list[tuple[str, int]] = []
        self.needs_ids = False
        for (selectors, grade), unit_quote in zip_longest(units, quotes):
            mask = 0
            if grade > 0:
                mask = 1 << len(self.grades)
                self.grades.append(grade)
            for selector in selectors:
                self._add_selector(selector, mask)
            self._add_passages(selectors, unit_quote, mask)
        self.by_id_alone = not self._selectors and not self._quotes

    def _add_selector(self, selector: Selector, mask: int) -> None:
        if len(selector) == 1 and CHUNK_ID in selector:
            chunk_id = str(selector[CHUNK_ID])
            self.by_id[chunk_id] = self.by_id.get(chunk_id, 0) | mask
        elif QUOTE in selector:
            other_fields = {key: value for key, value in selector.items() if key != QUOTE}
            self._quotes.append((fold_text(str(selector[QUOTE])), other_fields, mask))
        else:
            self._selectors.append((selector, mask))

    def _add_passages(self, selectors: Sequence[Selector], unit_quote: str | None, mask: int) -> None:
        """Keep the texts by which a chunk without an id is told to be of a unit."""
        corpus_chunks = [self._known.get(str(selector.get(CHUNK_ID, ""))) for selector in selectors]
        texts = [unit_quote, *(corpus_chunk.text for corpus_chunk in corpus_chunks if corpus_chunk is not None)]
        passages = [(folded, mask) for folded in map(fold_text, filter(None, texts)) if folded]
        self._passages += passages
        is_told_by_fields = any(len(selector) > 1 or CHUNK_ID not in selector for selector in selectors)
        self.needs_ids = self.needs_ids or bool(mask and not passages and not is_told_by_fields)

    def unit_masks(self, chunks: Iterable[Chunk]) -> list[int | None]:
        """Return for each chunk the units that it covers, None where nobody judged it."""
        if self.by_id_alone:
            get = self.by_id.get
            return [self._mask(chunk) if self.is_told_by_text(chunk) else get(chunk.chunk_id) for chunk in chunks]
        return [self._mask(chunk) for chunk in chunks]

    def is_told_by_text(self, chunk: Chunk) -> bool:
        """Return whether only the text of a chunk can tell which units it covers: no unit names its id, and the corpus
        has another, or it has none."""
        if self._corpus_texts is None or is_text_id(chunk.chunk_id):
            return is_text_id(chunk.chunk_id)
        return chunk.chunk_id not in self.by_id and self._corpus_texts.is_told_by_text(chunk)

    def has_foreign(self, chunk_ids: Set[str]) -> bool:
        """Return whether one of these ids is not of the corpus, so that a text may tell what its chunk is."""
        return bool(self._known) and not chunk_ids <= self._known.keys()

    def _mask(self, chunk: Chunk) -> int | None:
        is_told_by_text = self.is_told_by_text(chunk)
        twins = self._corpus_texts.find_chunks(chunk) if self._corpus_texts is not None and is_told_by_text else ()
        covered_units = self._mask_fields(chunk, self._known.get(chunk.chunk_id))
        for twin in twins:
            masks = (self.by_id.get(twin.chunk_id), None if self.by_id_alone else self._mask_fields(chunk, twin))
            for mask in masks:
                covered_units = covered_units if mask is None else (covered_units or 0) | mask
        if self._passages and chunk.text is not None and is_told_by_text:
            folded = fold_text(chunk.text)
            for passage, mask in self._passages:
                if passage in folded:
                    covered_units = (covered_units or 0) | mask
        return covered_units

    def _mask_fields(self, chunk: Chunk, corpus_chunk: CorpusChunk | None) -> int | None:
        """Return the units that a chunk covers by its id and its fields, with those of one chunk of the corpus."""
        covered_units = self.by_id.get(chunk.chunk_id)
        fields = chunk_fields(chunk, corpus_chunk)
        for selector, mask in self._selectors:
            if all(has_field_value(fields, name, wanted) for name, wanted in selector.items()):
                covered_units = (covered_units or 0) | mask
        if self._quotes:
            text = chunk.text if chunk.text is not None else (corpus_chunk.text if corpus_chunk is not None else None)
            folded = fold_text(text) if text is not None else None
            for quote, other_fields, mask in self._quotes:
                if (
                    folded is not None
                    and quote in folded
                    and all(has_field_value(fields, n, w) for n, w in other_fields.items())
                ):
                    covered_units = (covered_units or 0) | mask
        return covered_units

    def list_known_fields(self, chunk: Chunk) -> list[dict[str, Any]]:
        """Return the fields of a chunk as they are compared: with those of the corpus, for a chunk that its text tells
        those of each chunk of the corpus that has it."""
        is_told_by_text = self.is_told_by_text(chunk)
        twins = self._corpus_texts.find_chunks(chunk) if self._corpus_texts is not None and is_told_by_text else ()
        return [chunk_fields(chunk, twin) for twin in twins] or [chunk_fields(chunk, self._known.get(chunk.chunk_id))]

    def complete_texts(
        self, chunks: Sequence[Chunk], observation: Observation, *, is_foreign: bool = False
    ) -> Sequence[Chunk]:
        """Return chunks of an observation with the texts that its other stages report, where quotes ask for them or ids
        are not those of the corpus (`is_foreign`)."""
        return complete_texts(chunks, observation, self._known) if self._quotes or is_foreign else chunks

    def can_compare_id(self, chunk: Chunk) -> bool:
        """Return whether the id of a chunk may be one of those that the golden set names: without a corpus any may."""
        return not self._known or chunk.chunk_id in self._known

    def list_unknown_chunks(self, observation: Observation) -> list[Chunk]:
        """Return the listed chunks whose ids neither the corpus nor a unit has, whose text no stage reports, and whose
        fields are those of no unit."""
        listed = [chunk for stage in observation.stages or () for chunk in stage.chunks]
        if not self.has_foreign({chunk.chunk_id for chunk in listed}):
            return []
        told_ids = {chunk.chunk_id for chunk in listed if chunk.text}
        known_ids = self._known.keys() | self.by_id.keys() | told_ids
        unknown_chunks = [chunk for chunk in listed if chunk.chunk_id not in known_ids]
        return [chunk for chunk in unknown_chunks if self._mask_fields(chunk, None) is None]

    @property
    def knows_texts(self) -> bool:
        """Whether a corpus says which text is of which chunk."""
        return self._corpus_texts is not None

    def get_known_text(self, chunk: Chunk) -> str | None:
        """Return the text of a chunk, its own or that of the corpus; None if neither is known."""
        corpus_chunk = self._known.get(chunk.chunk_id)
        return chunk.text if chunk.text is not None or corpus_chunk is None else corpus_chunk.text

    def best_grade(self, mask: int) -> int:
        """Return the highest grade among the units of a mask; 0 for none."""
        if not mask & (mask - 1):
            return self.grades[mask.bit_length() - 1] if mask else 0
        highest = 0
        while mask:
            lowest_bit = mask & -mask
            highest = max(highest, self.grades[lowest_bit.bit_length() - 1])
            mask ^= lowest_bit
        return highest


class GoldenIndex:
    """A golden set with its corpus, and the look-ups that cases share; each case is indexed when first observed.

    `judging` holds the recorded verdicts; `whole` is the golden set from which the cases of `golden` are selected.
    `internal_stages` are stages whose chunks are shown to nobody unless a later stage passes them on.
    """

    def __init__(
        self,
        golden: GoldenSet,
        corpus: Corpus | None = None,
        judging: RecordedVerdicts | None = None,
        whole: GoldenSet | None = None,
        internal_stages: Collection[str] = (),
    ) -> None:
        self.golden, self.corpus, self.judging = golden, corpus, judging
        self.internal_stages = frozenset(internal_stages)
        self._whole = whole or golden
        self.position = {case.id: position for position, case in enumerate(golden.cases)}
        self._indexed: dict[int, CaseIndex] = {}
        self._superseded: dict[str | None, SupersededVersions] = {}

    def case_index(self, position: int) -> CaseIndex:
        """Return the case at a place of the golden set with its look-ups."""
        case_index = self._indexed.get(position)
        if case_index is None:
            case_index = self._indexed[position] = CaseIndex(self.golden.cases[position], self)
        return case_index

    @cached_property
    def idf(self) -> DocumentFrequencies:
        """How rare words are in the references and quotes of the full golden set and in the corpus.

        A selection of cases does not change it, so that a score does not depend on which other cases are scored.
        """
        cases = self._whole.cases
        texts = [case.reference for case in cases if case.reference]
        texts += [unit.quote for case in cases for unit in case.evidence if unit.quote]
        if self.corpus is not None:
            texts += [chunk.text for chunk in self.corpus.chunks.values() if chunk.text]
        return DocumentFrequencies.from_texts(texts)

    @cached_property
    def wanted_names(self) -> dict[str, frozenset[str]]:
        """The documents, pages and other values that evidence names, by field; no ids of chunks and no quotes."""
        wanted: dict[str, set[str]] = {}
        for selector in [selector for case in self.golden.cases for unit in case.evidence for selector in unit.any_of]:
            for name in list_needed_fields(selector):
                wanted.setdefault(name, set()).add(str(selector[name]))
        return {name: frozenset(values) for name, values in wanted.items()}

    @cached_property
    def restricts_access(self) -> bool:
        """Whether the corpus says of any chunk that not everybody may see it."""
        chunks = self.corpus.chunks.values() if self.corpus is not None else ()
        return any(chunk.tenant is not None or chunk.roles or chunk.position is not None for chunk in chunks)

    @cached_property
    def corpus_text(self) -> RestrictedCorpus | None:
        """The text of the corpus, with who may see it; None without a corpus."""
        return RestrictedCorpus(self.corpus) if self.corpus is not None else None

    @cached_property
    def evidence_sentences(self) -> EvidenceSentences | None:
        """The sentences of the corpus in which evidence stands; None without a corpus."""
        return EvidenceSentences(self.corpus) if self.corpus is not None else None

    @cached_property
    def corpus_texts(self) -> CorpusTexts | None:
        """The texts of the corpus by which chunks without ids are told; None without a corpus."""
        return CorpusTexts(self.corpus, lambda: self.corpus_text) if self.corpus is not None else None

    def replace_cases(self, golden: GoldenSet) -> GoldenIndex:
        """Return an index of other cases, which shares everything that follows from the corpus alone."""
        other = GoldenIndex(golden, self.corpus, self.judging, self._whole, self.internal_stages)
        other.idf, other.corpus_text, other._superseded = self.idf, self.corpus_text, self._superseded
        other.corpus_texts, other.evidence_sentences = self.corpus_texts, self.evidence_sentences
        return other

    def superseded_versions(self, as_of: str | None) -> SupersededVersions | None:
        """Return which chunks are of a replaced version at a date; None without a corpus."""
        if self.corpus is None or self.corpus_texts is None:
            return None
        if as_of not in self._superseded:
            self._superseded[as_of] = SupersededVersions(self.corpus, as_of, self.corpus_texts.find_chunks)
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
        "golden_index",
        "guarded",
        "ideal",
        "language",
        "partial",
        "required",
        "restricted",
        "states_text",
    )

    def __init__(self, case: Case, joins: GoldenIndex) -> None:
        self.case = case
        self.golden_index = joins
        self.corpus = joins.corpus
        self.partial = joins.golden.judgments == "partial"
        self.as_of = (case.user.as_of if case.user else None) or joins.golden.as_of
        self.denied = case.behaviour == "permission_denied"
        self.language = case.language or (case.user.locale if case.user is not None else None) or ""
        self.restricted = self.denied or bool(case.forbidden)
        self.guarded = has_own_secrets(case)
        self.expected_code, self.accepted_bits = _encode_behaviours(case.behaviour, case.also_accept)
        self.states_text = case.rubric is not None or bool(case.must_have or case.reference or case.answer_labels)
        evidence_units = () if self.denied else case.evidence
        self.evidence = EvidenceIndex(
            [(unit.any_of, unit.grade) for unit in evidence_units],
            self.corpus,
            [unit.quote for unit in evidence_units],
            joins.corpus_texts,
        )
        self.ideal: list[int] = sorted(self.evidence.grades, reverse=True)
        self.required = _bit_mask([unit.required for unit in evidence_units if unit.grade > 0])

    def is_own_reference(self, answer: str) -> bool:
        """Return whether an answer is expected, and this one is the reference word for word: then it is no refusal."""
        return self.case.behaviour == "answer" and is_exact_match(answer, self.case.reference or "")

    def accepts(self, behaviour: Behaviour) -> bool:
        """Return whether a behaviour is the expected one or accepted as well."""
        return bool(self.accepted_bits >> BEHAVIOURS.index(behaviour) & 1)

    @cached_property
    def field_units(self) -> tuple[tuple[int, Evidence], ...]:
        """The required units, with their bits, of which every selector names a field such as the document: chunks that
        lack it cannot be compared with them."""
        if self.evidence.by_id_alone or self.denied:
            return ()
        graded = enumerate(unit for unit in self.case.evidence if unit.grade > 0)
        return tuple((bit, unit) for bit, unit in graded if unit.required and all(map(list_needed_fields, unit.any_of)))

    @cached_property
    def quoted_units(self) -> tuple[tuple[int, bool], ...]:
        """The bits of the required units of which a selector is a quote, and whether another is a chunk id."""
        if self.evidence.by_id_alone or self.denied:
            return ()
        graded = enumerate(unit for unit in self.case.evidence if unit.grade > 0)
        return tuple(
            (bit, any(CHUNK_ID in selector for selector in unit.any_of))
            for bit, unit in graded
            if unit.required and any(QUOTE in selector for selector in unit.any_of)
        )

    @cached_property
    def source_sentences(self) -> tuple[str, ...]:
        """What the corpus says in the sentences of the graded evidence; nothing where permission is denied."""
        sentences = self.golden_index.evidence_sentences
        return sentences.list_sentences(self.case) if sentences is not None and not self.denied else ()

    @cached_property
    def visibility_cache(self) -> dict[str, bool]:
        """A cache: whether the user may see a chunk of the corpus, by chunk id."""
        return {}

    @cached_property
    def expectations(self) -> str:
        """The digest of what the case asks and expects of an answer."""
        return digest_expectations(self.case)

    @cached_property
    def forbidden(self) -> EvidenceIndex:
        """Chunks that must not be seen: the case's forbidden ones, and its evidence where permission is denied."""
        denied_units = self.case.evidence if self.denied else ()
        denied_evidence = [(unit.any_of, 1) for unit in denied_units]
        forbidden_chunks = [((selector,), 1) for selector in self.case.forbidden]
        quotes = [unit.quote for unit in denied_units]
        return EvidenceIndex([*denied_evidence, *forbidden_chunks], self.corpus, quotes, self.golden_index.corpus_texts)

    @cached_property
    def forbidden_texts(self) -> tuple[str, ...]:
        """The texts of the forbidden chunks, as far as the corpus or a quote gives them."""
        texts = [unit.quote for unit in self.case.evidence if self.denied and unit.quote]
        if self.corpus is not None:
            corpus_chunks = self.corpus.chunks
            ids = self.forbidden.by_id if self.forbidden.by_id_alone else corpus_chunks
            chunks = [corpus_chunks[chunk_id] for chunk_id in ids if chunk_id in corpus_chunks]
            masks = self.forbidden.unit_masks([Chunk(chunk.chunk_id) for chunk in chunks])
            texts += [chunk.text for chunk, mask in zip(chunks, masks, strict=True) if mask and chunk.text]
        return tuple(texts)

    @cached_property
    def allowed_text(self) -> AllowedText:
        """What is open in this case whatever the corpus says: question, history, and what is expected of the answer."""
        case = self.case
        texts = [case.question, *(turn.text for turn in case.history)]
        if self.denied:
            return AllowedText(texts)
        texts += [*case.must_have, *(unit.quote for unit in case.evidence if unit.quote)]
        texts += [case.reference] if case.reference else []
        texts += case.rubric.correct_keywords if case.rubric else ()
        corpus_chunks = self.corpus.chunks if self.corpus is not None else {}
        open_ids = [chunk_id for chunk_id, mask in self.evidence.by_id.items() if mask]
        texts += [corpus_chunks[chunk_id].text or "" for chunk_id in open_ids if chunk_id in corpus_chunks]
        return AllowedText(texts, open_ids)

    def mask_of_grade(self, rel: int) -> int:
        """Return the mask of the units of at least grade `rel`."""
        return _bit_mask([grade >= rel for grade in self.evidence.grades])


def has_own_secrets(case: Case) -> bool:
    """Return whether a case says itself what its answer must not show, so that no corpus is needed to look."""
    return case.behaviour == "permission_denied" or bool(case.forbidden or case.forbidden_text)


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


SEPARATORS = ":#/"
MAX_DOCUMENT_CHUNKS = 20
"""The most chunks that the name of a document stands for if the document was not shown."""
_SEPARATOR = compile_pattern(f"[{SEPARATORS}]")


def list_reported_documents(observation: Observation, golden_index: GoldenIndex) -> dict[str, str]:
    """Return the document of each shown chunk, by chunk id, where the corpus does not say it by the id: that of the
    chunks of the corpus with its text, else the one that it reports of itself, else that of the chunks with parts of
    it."""
    corpus, texts = golden_index.corpus, golden_index.corpus_texts
    corpus_chunks = corpus.chunks if corpus is not None else {}
    documents: dict[str, str] = {}
    for stage in observation.stages or ():
        for chunk in stage.chunks:
            corpus_chunk = corpus_chunks.get(chunk.chunk_id)
            if corpus_chunk is not None and corpus_chunk.document is not None:
                continue
            reported = chunk.metadata.get("document") if chunk.metadata else None
            owners: Sequence[CorpusChunk] = ()
            if texts is not None and corpus_chunk is None:
                owners = texts.find_chunks(chunk) or (() if isinstance(reported, str) else texts.find_wholes(chunk))
            names = {owner.document for owner in owners}
            document = names.pop() if len(names) == 1 else reported
            if isinstance(document, str):
                documents[chunk.chunk_id] = document
    return documents


NO_DOCUMENTS: Mapping[str, str] = MappingProxyType({})


def resolve_citation(
    name: str, chunk_id: str, corpus: Corpus | None = None, documents: Mapping[str, str] = NO_DOCUMENTS
) -> bool:
    """Return whether a cited or required name means this chunk: itself, or the document that it belongs to.

    `documents` are those that chunks report of themselves, by chunk id.

    >>> resolve_citation("hr_leave", "hr_leave:v1:003"), resolve_citation("hr", "hr_leave:v1:003")
    (True, False)
    """
    if name == chunk_id or documents.get(chunk_id) == name:
        return True
    if chunk_id.startswith(name) and chunk_id[len(name)] in SEPARATORS:
        return True
    corpus_chunk = corpus.chunks.get(chunk_id) if corpus is not None else None
    return corpus_chunk is not None and corpus_chunk.document == name


def find_cited_positions(
    names: Set[str],
    chunk_ids: Iterable[str],
    corpus: Corpus | None = None,
    documents: Mapping[str, str] = NO_DOCUMENTS,
) -> dict[str, list[int]]:
    """Return for each name the positions of the chunk ids that it means; names that mean none are left out.

    As `resolve_citation`, for many names in one pass.

    >>> find_cited_positions({"hr", "it:v1", "x"}, ["hr:v1:1", "it:v1", "hr:v2:1"])
    {'hr': [0, 2], 'it:v1': [1]}
    """
    positions: dict[str, list[int]] = {}
    for position, chunk_id in enumerate(chunk_ids):
        corpus_chunk = corpus.chunks.get(chunk_id) if corpus is not None else None
        names_of_chunk = {chunk_id, *(chunk_id[: cut.start()] for cut in _SEPARATOR.finditer(chunk_id))}
        if corpus_chunk is not None and corpus_chunk.document is not None:
            names_of_chunk.add(corpus_chunk.document)
        if chunk_id in documents:
            names_of_chunk.add(documents[chunk_id])
        for name in names_of_chunk & names:
            positions.setdefault(name, []).append(position)
    return positions


def find_cited_texts(names: Set[str], corpus: Corpus | None) -> dict[str, dict[str, str]]:
    """Return for each name the first chunks of the corpus that it means, by id, with their texts ("" without one)."""
    corpus_chunks = corpus.chunks if corpus is not None else {}
    document_names = names - corpus_chunks.keys()
    ids = list(corpus_chunks) if document_names else []
    positions = find_cited_positions(document_names, ids, corpus)
    texts: dict[str, dict[str, str]] = {}
    for name in names:
        if name in corpus_chunks:
            chunk_ids = [name]
        else:
            chunk_ids = [ids[position] for position in positions.get(name, ())[:MAX_DOCUMENT_CHUNKS]]
        texts[name] = {chunk_id: corpus_chunks[chunk_id].text or "" for chunk_id in chunk_ids}
    return texts


def is_cited_among(
    name: str, chunk_ids: Collection[str], corpus: Corpus | None, documents: Mapping[str, str] = NO_DOCUMENTS
) -> bool:
    """Return whether a name means any of these chunks; `documents` are those that chunks report of themselves."""
    return name in chunk_ids or any(resolve_citation(name, chunk_id, corpus, documents) for chunk_id in chunk_ids)
