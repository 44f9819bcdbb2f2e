"""The facts about one case from which the attribution rules determine its cause: golden set, trace and index."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from assay.attribution.one_case.answer_quality import assess_answer, detect_answer_behaviour, get_scored_value
from assay.attribution.one_case.contained_facts import contains_fact, is_expected, quote_beginning
from assay.attribution.one_case.known_texts import KnownTexts
from assay.attribution.one_case.other_values import (
    find_other_names,
    find_values_of_same_kind,
    is_in_place_of,
    split_lines,
)
from assay.attribution.one_case.unsupported_numbers import quote_numbers
from assay.metrics.answers.answer_behaviour import ANSWER_BEHAVIOUR
from assay.metrics.answers.expected_text import AnswerQuality
from assay.metrics.cases.case_index import is_cited_among, list_reported_documents, resolve_citation
from assay.metrics.grounding.citations import list_missing_sources
from assay.metrics.leaks.find_leaks import Leaks, find_leaks
from assay.records.observations import Chunk, is_text_id
from assay.text.citation_markers import remove_citation_markers
from assay.text.normalisation import fold_text, normalise_nfc
from assay.text.numbers import find_quantities
from assay.text.quantities.measures import find_measures
from assay.text.quantities.quantity import remove_bound, split_range
from assay.text.quantities.quantity_agreement import is_same_quantity
from assay.text.quantities.unit_names import split_glued_units
from assay.text.tokens import tokenise_text

CITATION_METRIC = "citation_correctness(by=rules)"
LEAK_METRIC = "visibility_leaks"
_MIN_COPIED_WORDS = 5


class CaseFacts(KnownTexts, frozen=True, dict=True):
    """A case with its observation and scores: its evidence, its texts, and what the answer says and cites."""

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
    def facts(self) -> tuple[str, ...]:
        """What a right answer contains: must-have facts and keywords, else the numbers of the reference."""
        case = self.case.case
        stated = [*case.must_have, *(case.rubric.correct_keywords if case.rubric is not None else ())]
        if not stated and case.reference:
            stated = quote_numbers(case.reference, find_quantities(case.reference))
        return tuple(dict.fromkeys(fact for fact in stated if fold_text(fact)))

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
        names = find_other_names(self.answer, fact, case.question, self.context_texts, case.language)
        values += [name for name in names if not any(name in value for value in values)]  # no EUR beside "75 EUR"
        # A value that is an expected fact, or a part of one, is no other value, whether it is stated or denied.
        values = [value for value in values if not is_expected(value, self.facts)]
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

    @property
    def states_other_values(self) -> bool:
        """Whether a wrong answer states another value for each fact that it lacks, and cites what it was shown."""
        missing = self.content_quality.missing
        is_cited = any(map(self.is_citing, self.arrived_ids))
        if self.good is not False or self.behaviour != ANSWER_BEHAVIOUR or not missing or not is_cited:
            return False
        return all(find_values_of_same_kind(self.answer, fact, self.case.case.question) for fact in missing)

    @cached_property
    def unexpected_values(self) -> tuple[str, ...]:
        """The quantities of the answer that question, expected answer and evidence do not have, as written.

        Empty if no text of the evidence is known: any of them may be there.
        """
        masks = self.case.evidence.unit_masks(self.arrived_chunks)
        shown = [chunk for chunk, mask in zip(self.arrived_chunks, masks, strict=True) if mask]
        evidence = [text for _, text in self.list_known_texts(shown)]
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

    @cached_property
    def copied_from(self) -> str | None:
        """The chunk of the context that has the whole answer word for word, None if none has.

        An answer of a few words is in many texts by chance, and nobody copied it from one.
        """
        tokens = tokenise_text(remove_citation_markers(self.answer))
        if self.behaviour != ANSWER_BEHAVIOUR or len(tokens) < _MIN_COPIED_WORDS:
            return None
        words = " ".join(tokens)
        for chunk_id, text in self.list_known_texts(self.arrived_chunks):
            if f" {words} " in f" {' '.join(tokenise_text(text))} ":
                return chunk_id
        return None

    @cached_property
    def _documents(self) -> Mapping[str, str]:
        """The documents that the shown chunks report of themselves."""
        return list_reported_documents(self.observation, self.case.golden_index)

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
        return is_cited_among(name, shown_ids | self.corpus_chunks.keys(), self.case.corpus, self._documents)

    @property
    def is_miscited(self) -> bool:
        """Whether citations are missing or not from the context."""
        value = get_scored_value(self.scores, CITATION_METRIC)
        return value is not None and value < 1

    def name_chunk(self, chunk_id: str) -> str:
        """Return the id of a chunk; of one without an id, that of the corpus, else the beginning of its text, unless it
        leaked."""
        text = self.trace_texts.get(chunk_id, "")
        if not is_text_id(chunk_id) or not text:
            return chunk_id
        twins = self.list_corpus_chunks(Chunk(chunk_id, text=text))
        if twins:
            return twins[0].chunk_id
        is_leaked = any(chunk_id in ids for ids in self.leaks.ids.values())
        return "a chunk without an id" if is_leaked else quote_beginning(text)
