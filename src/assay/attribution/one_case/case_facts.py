"""The facts about one case from which the attribution rules determine its cause: golden set, trace and index."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from functools import cached_property, lru_cache

from msgspec import Struct, structs

from assay.attribution.evidence_trace import (
    DEFAULT_PRODUCTION_K,
    TraceStep,
    build_steps,
    format_selector,
    get_searched_units,
)
from assay.attribution.index.index_view import IndexView
from assay.attribution.index.shown_access import is_kept_for_some
from assay.attribution.one_case.answer_quality import (
    CaseScores,
    assess_answer,
    detect_answer_behaviour,
    get_scored_value,
)
from assay.attribution.one_case.other_values import (
    find_other_names,
    find_values_of_same_kind,
    is_in_place_of,
    split_lines,
)
from assay.metrics.answers.answer_behaviour import ANSWER_BEHAVIOUR
from assay.metrics.answers.expected_text import AnswerQuality
from assay.metrics.cases.access_rules import read_corpus_access
from assay.metrics.cases.case_index import QUOTE, CaseIndex, is_cited_among, list_reported_documents, resolve_citation
from assay.metrics.grounding.citations import list_missing_sources
from assay.metrics.leaks.find_leaks import Leaks, find_leaks
from assay.metrics.retrieval.evidence_fields import find_unreported_field
from assay.records.golden_set import CorpusChunk, Evidence, Selector
from assay.records.observations import TEXT_ID_PREFIX, Chunk, Observation, is_text_id
from assay.scoring.attribution_settings import AttributionSettings
from assay.text.citation_markers import remove_citation_markers
from assay.text.facts.answer_matching import find_occurrences, parse_elements
from assay.text.facts.mentioned_values import is_value_among, mentions_fact
from assay.text.normalisation import fold_text, normalise_nfc
from assay.text.numbers import Date, Number, find_quantities, is_split_number
from assay.text.quantities.measures import find_measures
from assay.text.quantities.quantity import Quantity, is_telephone_number, remove_bound, split_range
from assay.text.quantities.quantity_agreement import is_same_quantity
from assay.text.quantities.spoken_numbers import is_ordinal_among
from assay.text.quantities.unit_names import split_glued_units
from assay.text.tokens import tokenise_text

CITATION_METRIC = "citation_correctness(by=rules)"
LEAK_METRIC = "visibility_leaks"
_MIN_COPIED_WORDS = 5


class CaseFacts(Struct, frozen=True, dict=True):
    """A case with its observation and scores, without the name and versions of the configuration (ADR 0034)."""

    case: CaseIndex
    observation: Observation
    scores: CaseScores
    settings: AttributionSettings
    index_view: IndexView | None = None

    @classmethod
    def from_observation(
        cls,
        case: CaseIndex,
        observation: Observation,
        scores: CaseScores,
        settings: AttributionSettings,
        view: IndexView | None,
    ) -> CaseFacts:
        """Return the facts of a case, with the name and versions of the configuration removed."""
        return cls(case, structs.replace(observation, config_id="", versions={}), scores, settings, view)

    # ── the answer ───────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def answer(self) -> str:
        """The answer's text, empty where there is none."""
        return self.observation.answer if isinstance(self.observation.answer, str) else ""

    @cached_property
    def behaviour(self) -> str | None:
        """The behaviour of the answer, None if there is none."""
        return detect_answer_behaviour(self.case, self.observation)

    @cached_property
    def leaks(self) -> Leaks:
        """What was shown that the user must not see; not searched for again if the scores report no leak."""
        return Leaks() if get_scored_value(self.scores, LEAK_METRIC) == 0 else find_leaks(self.case, self.observation)

    @cached_property
    def content_quality(self) -> AnswerQuality:
        """Whether the content of the answer is good, leaks aside."""
        return assess_answer(self.case, self.observation, self.scores, self.settings, self.behaviour)

    @cached_property
    def good(self) -> bool | None:
        """Whether the behaviour is as expected and the content is good; None if unknown. Leaks are told apart."""
        return self.content_quality.good

    @cached_property
    def other_values(self) -> tuple[str, ...]:
        """The names, codes and quantities that the answer states in the place of a fact that it lacks: of its kind, and
        not in the question; none if no text of the context is known. Where the answer has other facts, the sentence
        that has the value must be nearer to what the context says of the fact than to what it says of the value."""
        return self.values_in_place if self.context_texts else ()

    @cached_property
    def values_in_place(self) -> tuple[str, ...]:
        """`other_values`, also where no text of the context is known."""
        if self.behaviour != ANSWER_BEHAVIOUR:
            return ()
        values: dict[str, None] = {}
        for fact in self.content_quality.missing:
            values |= dict.fromkeys(self._list_values_in_place_of(fact))
        return tuple(values)

    def _list_values_in_place_of(self, fact: str) -> list[str]:
        case, answer = self.case.case, remove_citation_markers(self.answer)
        values = find_values_of_same_kind(self.answer, fact, case.question)
        values += find_other_names(self.answer, fact, case.question, self.context_texts, case.language)
        # A value that is an expected fact, or a part of one, is no other value, whether it is stated or denied.
        values = [value for value in values if not _is_expected(value, self.facts)]
        if len(self.content_quality.missing) == len(self.facts):
            return values
        lines = [line for text in self.context_texts for line in split_lines(text)]
        fact_lines = [line for line in lines if contains_fact([line], fact)]
        in_place = []
        for value in values:
            value_lines = [line for line in lines if line not in fact_lines and contains_fact([line], value)]
            if is_in_place_of(value, answer, fact_lines, value_lines):
                in_place.append(value)
        return in_place

    @cached_property
    def copied_from(self) -> str | None:
        """The chunk of the context that has the whole answer word for word, None if none has.

        An answer of a few words is in many texts by chance, and nobody copied it from one.
        """
        tokens = tokenise_text(remove_citation_markers(self.answer))
        if self.behaviour != ANSWER_BEHAVIOUR or len(tokens) < _MIN_COPIED_WORDS:
            return None
        words = " ".join(tokens)
        for chunk_id, text in self._texts_by_id(self.arrived_chunks):
            if f" {words} " in f" {' '.join(tokenise_text(text))} ":
                return chunk_id
        return None

    @cached_property
    def _documents(self) -> Mapping[str, str]:
        """The documents that the shown chunks report of themselves."""
        return list_reported_documents(self.observation, self.case.corpus)

    def list_outside_citations(self) -> list[str]:
        """Return the citations that mean no chunk of the context."""
        shown_ids = [chunk.chunk_id for chunk in self.arrived_chunks]
        names = dict.fromkeys(self.observation.citations or ())
        return [name for name in names if not is_cited_among(name, shown_ids, self.case.corpus, self._documents)]

    def list_missing_sources(self) -> list[str]:
        """Return the required sources that no citation means."""
        return list_missing_sources(self.case, set(self.observation.citations or ()), self._documents)

    def is_citing(self, chunk_id: str) -> bool:
        """Whether a citation means this chunk."""
        names = self.observation.citations or ()
        return any(resolve_citation(name, chunk_id, self.case.corpus, self._documents) for name in names)

    def is_known_source(self, name: str) -> bool:
        """Whether a name means any chunk of the corpus or of the trace."""
        shown_ids = {chunk.chunk_id for step in self.steps for chunk in step.stage.chunks}
        return is_cited_among(name, shown_ids | self._corpus_chunks.keys(), self.case.corpus, self._documents)

    @property
    def is_miscited(self) -> bool:
        """Whether citations are missing or not from the context."""
        value = get_scored_value(self.scores, CITATION_METRIC)
        return value is not None and value < 1

    # ── the evidence ─────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def steps(self) -> tuple[TraceStep, ...]:
        """The stages that led to the answer."""
        return build_steps(self.case, self.observation)

    @cached_property
    def units(self) -> tuple[Evidence, ...]:
        """The units of evidence, in the order of their bits."""
        return get_searched_units(self.case)

    @cached_property
    def required_units(self) -> list[int]:
        """The units that the generator needed."""
        return [number for number in range(len(self.units)) if self.case.required >> number & 1]

    @cached_property
    def last_step(self) -> TraceStep | None:
        """The step whose chunks reached the generator: the context, else the last ranking."""
        for step in reversed(self.steps):
            if step.kind == "context":
                return step
        return self.steps[-1] if self.steps else None

    @cached_property
    def arrived_chunks(self) -> list[Chunk]:
        """The chunks that reached the generator: the context, else the last ranking cut at production k."""
        if self.last_step is None:
            return []
        chunks = self.last_step.stage.chunks
        return list(
            chunks if self.last_step.kind == "context" else chunks[: self.settings.production_k or DEFAULT_PRODUCTION_K]
        )

    @cached_property
    def lost_units(self) -> list[int]:
        """The required units that did not reach the generator; none if its chunks lack the field that tells them."""
        covered = 0
        for _, mask in zip(
            self.arrived_chunks, self.last_step.unit_masks if self.last_step is not None else (), strict=False
        ):
            covered |= mask
        if self.unreported_field is not None:
            return []
        return [unit for unit in self.required_units if not covered >> unit & 1]

    @cached_property
    def unreported_field(self) -> str | None:
        """The field that the chunks of the context lack, so that nothing tells whether they are the evidence."""
        covered = 0
        for mask in self.case.evidence.unit_masks(self.arrived_chunks):
            covered |= mask or 0
        return find_unreported_field(self.case, self.arrived_chunks, covered)

    @cached_property
    def reached(self) -> bool | None:
        """Whether the evidence reached the generator; None if the case requires none, or no stage was reported, or its
        chunks have no ids or fields by which the evidence could be told."""
        if not self.required_units or not self.steps or self.unreported_field is not None:
            return None
        if self.case.evidence.needs_ids and any(is_text_id(chunk.chunk_id) for chunk in self.arrived_chunks):
            return None
        return (
            len(self.lost_units) < len(self.required_units) if self.settings.reached == "any" else not self.lost_units
        )

    @property
    def has_foreign_context(self) -> bool:
        """Whether the context has chunks, and none of them is in the ranking before it."""
        context, *earlier = reversed(self.steps) if self.steps else (None,)
        if context is None or context.kind != "context" or not earlier or not context.chunk_ids:
            return False
        return set(context.chunk_ids).isdisjoint(earlier[0].chunk_ids)

    def is_shown_in_run(self, unit: int) -> bool:
        """Whether any trace of the run shows a chunk of a unit."""
        names = self.get_covering_chunk_ids(unit) or self.list_labelled_ids(unit)
        return self.index_view is not None and any(map(self.index_view.is_shown, names))

    def get_unit_name(self, unit: int) -> str:
        """Return the name of a unit: its selectors as text, of a passage its beginning."""
        return " or ".join(dict.fromkeys(map(_name_selector, self.units[unit].any_of)))

    def get_covering_chunk_ids(self, unit: int) -> list[str]:
        """Return the chunks of the corpus that cover a unit."""
        return self._covering[unit]

    @cached_property
    def _covering(self) -> list[list[str]]:
        """The ids of the chunks of the corpus that cover each unit."""
        covering_ids: list[list[str]] = [[] for _ in self.units]
        if self.case.corpus is None:
            return covering_ids
        index, corpus_chunks = self.case.evidence, self.case.corpus.chunks
        # Where selectors name chunk ids only, the chunks that they name suffice.
        ids = [name for name in index.by_id if name in corpus_chunks] if index.by_id_alone else list(corpus_chunks)
        for chunk_id, mask in zip(ids, index.unit_masks([Chunk(chunk_id) for chunk_id in ids]), strict=True):
            for unit in range(len(covering_ids)):
                if mask and mask >> unit & 1:
                    covering_ids[unit].append(chunk_id)
        return covering_ids

    def list_labelled_ids(self, unit: int) -> list[str]:
        """Return the ids that the selectors of a unit name."""
        return [str(selector["chunk_id"]) for selector in self.units[unit].any_of if "chunk_id" in selector]

    @property
    def _corpus_chunks(self) -> Mapping[str, CorpusChunk]:
        return self.case.corpus.chunks if self.case.corpus is not None else {}

    def get_expected_texts(self, unit: int) -> tuple[str, ...]:
        """Return the texts that a unit should have: those of the corpus, else its quote."""
        texts = [self._corpus_chunks[chunk_id].text for chunk_id in self.get_covering_chunk_ids(unit)]
        known_texts = tuple(text for text in texts if text)
        quote = self.units[unit].quote
        return known_texts or ((quote,) if quote else ())

    def get_chunk_text(self, chunk_id: str) -> str | None:
        """Return the text of a chunk from the trace, else from the corpus; None if neither has it."""
        if chunk_id in self._trace_texts:
            return self._trace_texts[chunk_id]
        corpus_chunk = self._corpus_chunks.get(chunk_id)
        return corpus_chunk.text if corpus_chunk is not None else None

    @cached_property
    def _trace_texts(self) -> dict[str, str]:
        return {
            chunk.chunk_id: chunk.text for step in self.steps for chunk in step.stage.chunks if chunk.text is not None
        }

    @cached_property
    def has_shown_texts(self) -> bool:
        """Whether the trace itself has the text of a chunk that reached the generator."""
        return any(chunk.text for chunk in self.arrived_chunks)

    def get_answer_sources(self) -> list[tuple[str, str]]:
        """Return id and text of the chunks of the context that are evidence or are cited."""
        masks = self.case.evidence.unit_masks(self.arrived_chunks)
        cited = set(self.observation.citations or ())
        pairs = zip(self.arrived_chunks, masks, strict=True)
        return self._texts_by_id(chunk for chunk, mask in pairs if mask or chunk.chunk_id in cited)

    @cached_property
    def unexpected_values(self) -> tuple[str, ...]:
        """The quantities of the answer that question, expected answer and evidence do not have, as written.

        Empty if no text of the evidence is known: any of them may be there.
        """
        masks = self.case.evidence.unit_masks(self.arrived_chunks)
        shown = [chunk for chunk, mask in zip(self.arrived_chunks, masks, strict=True) if mask]
        evidence = [text for _, text in self._texts_by_id(shown)]
        for unit in self.required_units:
            evidence += self.get_expected_texts(unit)
        if not evidence:
            return ()
        case = self.case.case
        keywords = case.rubric.correct_keywords if case.rubric is not None else ()
        expected = [text for text in (case.question, case.reference, *case.must_have, *keywords, *evidence) if text]
        wanted = [quantity for text in expected for quantity in find_measures(text)]
        wanted += [end for quantity in wanted for end in split_range(quantity)]
        answer = remove_citation_markers(self.answer)
        spelled = split_glued_units(normalise_nfc(answer))
        values: dict[str, None] = {}
        for quantity in find_measures(answer):
            value = remove_bound(quantity)
            if quantity.is_spelled_one or any(is_same_quantity(remove_bound(own), value) for own in wanted):
                continue
            values[spelled[quantity.start : quantity.end].strip()] = None
        return tuple(values)

    @property
    def is_index_unknown(self) -> bool:
        """Whether no corpus says what the evidence should contain."""
        return not any(self.get_expected_texts(unit) for unit in self.required_units)

    def get_whole_text(self, chunk_id: str) -> str | None:
        """Return the longest text of a chunk in the stages before the context, or that of the corpus if the run shows
        it to be indexed; None if neither is known."""
        texts = [
            chunk.text
            for step in self.steps
            if step is not self.last_step
            for chunk in step.stage.chunks
            if chunk.chunk_id == chunk_id and chunk.text is not None
        ]
        if texts:
            return max(texts, key=len)
        if self.index_view is not None and chunk_id in self.index_view.indexed.intact:
            return self._corpus_chunks[chunk_id].text
        return None

    def _texts_by_id(self, chunks: Iterable[Chunk]) -> list[tuple[str, str]]:
        """Return id and text of the chunks whose text is known and not empty."""
        texts = [(chunk.chunk_id, self.get_chunk_text(chunk.chunk_id)) for chunk in chunks]
        return [(chunk_id, text) for chunk_id, text in texts if text]

    @cached_property
    def context_texts(self) -> list[str]:
        """The known texts of the chunks that the generator was shown."""
        return [text for _, text in self._texts_by_id(self.arrived_chunks)]

    @property
    def arrived_ids(self) -> list[str]:
        """The ids of the chunks that reached the generator."""
        return [chunk.chunk_id for chunk in self.arrived_chunks]

    @cached_property
    def unlabelled_chunks(self) -> list[Chunk]:
        """The chunks that reached the generator and that no unit of evidence names."""
        masks = self.case.evidence.unit_masks(self.arrived_chunks)
        return [chunk for chunk, mask in zip(self.arrived_chunks, masks, strict=True) if not mask]

    @property
    def foreign_chunks(self) -> list[Chunk]:
        """The chunks that reached the generator and that the corpus does not have; none without a corpus."""
        if self.case.corpus is None:
            return []
        return [chunk for chunk in self.arrived_chunks if not self.list_corpus_chunks(chunk)]

    def list_corpus_chunks(self, chunk: Chunk) -> Sequence[CorpusChunk]:
        """Return the chunks of the corpus that a reported chunk is: by its id, or without one by its text."""
        texts = self.case.golden_index.corpus_texts
        return texts.find_chunks(chunk) if texts is not None else ()

    def list_chunks_with_text(self, text: str) -> Sequence[CorpusChunk]:
        """Return the chunks of the corpus that have a text."""
        return self.list_corpus_chunks(Chunk(TEXT_ID_PREFIX, text=text))

    def name_chunk(self, chunk_id: str) -> str:
        """Return the id of a chunk; of one without an id, that of the corpus, else the beginning of its text, unless it
        leaked."""
        text = self._trace_texts.get(chunk_id, "")
        if not is_text_id(chunk_id) or not text:
            return chunk_id
        twins = self.list_corpus_chunks(Chunk(chunk_id, text=text))
        if twins:
            return twins[0].chunk_id
        is_leaked = any(chunk_id in ids for ids in self.leaks.ids.values())
        return "a chunk without an id" if is_leaked else quote_beginning(text)

    @property
    def is_access_unknown(self) -> bool:
        """Whether no corpus tells of some chunk of the context who may see it."""
        return any(not self.list_corpus_chunks(chunk) for chunk in self.arrived_chunks)

    def is_kept(self, chunk_id: str) -> bool:
        """Whether the corpus keeps a chunk for users of a tenant or with a role."""
        chunk = self._corpus_chunks.get(chunk_id)
        return chunk is not None and is_kept_for_some(read_corpus_access(chunk))

    def list_ranked_texts(self, unit: int) -> list[str]:
        """Return the texts that the chunks of a unit have in the stages before the context."""
        return [
            chunk.text
            for step in self.steps
            for chunk, mask in zip(step.stage.chunks, step.unit_masks, strict=True)
            if mask >> unit & 1 and chunk.text
        ]

    @property
    def states_other_values(self) -> bool:
        """Whether a wrong answer states another value for each fact that it lacks, and cites what it was shown."""
        missing = self.content_quality.missing
        is_cited = any(map(self.is_citing, self.arrived_ids))
        if self.good is not False or self.behaviour != ANSWER_BEHAVIOUR or not missing or not is_cited:
            return False
        return all(find_values_of_same_kind(self.answer, fact, self.case.case.question) for fact in missing)

    @cached_property
    def unlabelled_texts(self) -> dict[str, str]:
        """The texts of the shown chunks that are in the corpus and that no unit of evidence names."""
        chunks = [chunk for chunk in self.unlabelled_chunks if chunk.chunk_id in self._corpus_chunks]
        return dict(self._texts_by_id(chunks))

    def get_shown_texts(self, unit: int) -> list[str]:
        """Return the texts of a unit as the generator was shown them."""
        masks = self.case.evidence.unit_masks(self.arrived_chunks)
        chunks = [chunk for chunk, mask in zip(self.arrived_chunks, masks, strict=True) if (mask or 0) >> unit & 1]
        return [text for _, text in self._texts_by_id(chunks)]

    def list_evidence_texts(self) -> list[tuple[str, str]]:
        """Return id and text of the required evidence as the generator was shown it."""
        masks = self.case.evidence.unit_masks(self.arrived_chunks)
        pairs = zip(self.arrived_chunks, masks, strict=True)
        return self._texts_by_id(chunk for chunk, mask in pairs if (mask or 0) & self.case.required)

    @property
    def query(self) -> str:
        """The query of the searches: the rewritten one, else the question."""
        return self.observation.query_rewrite or self.observation.question or self.case.case.question

    # ── the facts that the case looks for ────────────────────────────────────────────────────────────────────────

    @cached_property
    def facts(self) -> tuple[str, ...]:
        """What a right answer contains: must-have facts and keywords, else the numbers of the reference."""
        case = self.case.case
        stated = [*case.must_have, *(case.rubric.correct_keywords if case.rubric is not None else ())]
        if not stated and case.reference:
            stated = _quote_numbers(case.reference, find_quantities(case.reference))
        return tuple(dict.fromkeys(fact for fact in stated if fold_text(fact)))


_QUOTED_WORDS = 8


def _name_selector(selector: Selector) -> str:
    """Return a selector for a sentence: a passage is quoted by its first words, everything else is as in tables."""
    others = {key: value for key, value in selector.items() if key != QUOTE}
    parts = [quote_beginning(str(selector[QUOTE]))] if QUOTE in selector else []
    return " in ".join([*parts, *([format_selector(others)] if others else [])])


def quote_beginning(text: str) -> str:
    """Return the first words of a text in quotation marks.

    >>> quote_beginning("A deposit of 40 euros is due when a place is booked.")
    '“A deposit of 40 euros is due when …”'
    """
    words = text.split()
    return f"“{' '.join(words[:_QUOTED_WORDS])}{' …' if len(words) > _QUOTED_WORDS else ''}”"


def contains_fact(texts: Iterable[str], fact: str) -> bool:
    """Return whether any of the texts contains a fact: its words as they are, its quantities in any form.

    >>> contains_fact(["Nghỉ mười hai ngày."], "12 ngày"), contains_fact(["Friday | 11:00 am | 4:00 pm"], "4 pm")
    (True, True)
    """
    fact_elements = _elements(fact)
    if any(map(is_telephone_number, find_measures(fact))):  # a part of its digits is another number
        return any(fold_text(fact) in fold_text(text) or mentions_fact(text, fact) for text in texts)
    if not fact_elements.items:
        return any(fold_text(fact) in fold_text(text) for text in texts)
    return any(find_occurrences(fact_elements, _elements(text)) or mentions_fact(text, fact) for text in texts)


def _is_expected(value: str, facts: Sequence[str]) -> bool:
    """Whether a value is a fact or a part of one; of a range both ends must be: a wrong end is another value."""
    ends = [end for measure in find_measures(value) for end in split_range(measure)]
    if not ends:
        return any(_is_part(value, fact) for fact in facts)
    wanted = [measure for fact in facts for measure in find_measures(fact)]
    wanted += [end for measure in wanted for end in split_range(measure)]
    return all(any(is_same_quantity(measure, end) for measure in wanted) for end in ends)


def _is_part(value: str, fact: str) -> bool:
    """Whether a value is a fact, or a name or a quantity of it."""
    if contains_fact([value], fact):
        return True
    if not any(map(str.isdigit, value)):
        return contains_fact([fact], value)
    own, stated = find_measures(fact), find_measures(value)
    return bool(stated) and all(any(is_same_quantity(measure, item) for measure in own) for item in stated)


_elements = lru_cache(maxsize=1024)(parse_elements)


def compute_word_overlap(answer: str, texts: Iterable[str]) -> float:
    """Return the share (0 to 1) of the answer's distinct words that the texts contain; 0 without words.

    >>> compute_word_overlap("Twelve days of leave", ["leave: twelve working days"])
    0.75
    """
    answer_words = set(tokenise_text(answer))
    text_words = {word for text in texts for word in tokenise_text(text)}
    return len(answer_words & text_words) / len(answer_words) if answer_words else 0.0


def find_unsupported_numbers(answer: str, texts: Iterable[str]) -> list[str]:
    """Return the numbers and dates of the answer that no text contains, as they are written; not those of markers.

    >>> find_unsupported_numbers("14 days, 5 of them in May [3]", ["5 days"])
    ['14 days']
    """
    written = normalise_nfc(remove_citation_markers(answer))
    answer = split_glued_units(written)
    texts = list(texts)
    shown_numbers = _ShownNumbers(texts)
    measures = find_measures(answer)
    phones = [measure for measure in measures if is_telephone_number(measure)]
    unsupported = [
        item for item in find_quantities(answer) if item not in shown_numbers and not _is_inside(item, phones)
    ]
    if not unsupported and not phones:
        return []
    # A value may be there in another form: "4 pm" as "4:00 pm", the 11 of "11-4 pm" as "11:00", two weeks as 14 days.
    shown = [measure for text in texts for measure in find_measures(text)]
    supported = [measure for measure in measures if _is_shown(measure, shown)]
    unknown = [item for item in unsupported if not _is_inside(item, supported)]
    # "The first month" is respelled to be read, and a source may have the 1st in words.
    unknown = [item for item in unknown if not is_ordinal_among(answer[item.start : item.end], written, texts)]
    quoted = [(item.start, answer[item.start : item.end]) for item in unknown if not _is_spelled_out(item)]
    quoted += [(phone.start, answer[phone.start : phone.end]) for phone in phones if phone not in supported]
    return [text for _, text in sorted(quoted)]


class _ShownNumbers:
    """The numbers and dates of texts, by their readings."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.values: set[Decimal | tuple[int, int, int]] = set()
        self.whole_values: set[Decimal | tuple[int, int, int]] = set()
        for item in [item for text in texts for item in find_quantities(text)]:
            self.values.update(item.readings)
            self.whole_values.update(item.readings[:1] if _may_be_two(item) else item.readings)

    def __contains__(self, item: Number | Date) -> bool:
        """Whether a text has the number; where both may be two numbers, both must be the same one."""
        return not (self.whole_values if _may_be_two(item) else self.values).isdisjoint(item.readings)


def _may_be_two(item: Number | Date) -> bool:
    return isinstance(item, Number) and is_split_number(item.readings)


def _is_shown(measure: Quantity, shown: Sequence[Quantity]) -> bool:
    ends = split_range(measure)
    return is_value_among(measure, shown) or (bool(ends) and all(is_value_among(end, shown) for end in ends))


def _is_inside(item: Number | Date, measures: Sequence[Quantity]) -> bool:
    return any(measure.start <= item.start and item.end <= measure.end for measure in measures)


def _quote_numbers(text: str, numbers: Iterable[Number | Date]) -> list[str]:
    """Return numbers and dates as the text writes them; spelled-out words ("one of them") are left out."""
    normalised = normalise_nfc(text)
    return [normalised[item.start : item.end] for item in numbers if not _is_spelled_out(item)]


def _is_spelled_out(item: Number | Date) -> bool:
    return isinstance(item, Number) and item.is_spelled_out


def quote_facts(facts: Iterable[str]) -> str:
    """Return facts in quotation marks, with commas between them."""
    return ", ".join(f"“{fact}”" for fact in facts)
