"""Rules for what happens after the evidence was chosen: a text cut on its way, the generator, and its citations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from assay.attribution.cause_finding import RECORD_CORPUS, RECORD_TEXTS, CauseFinding
from assay.attribution.cause_notes import ALL_ARRIVED
from assay.attribution.cause_terms import GENERATE_STAGE, INDEX_STAGE
from assay.attribution.index.chunk_words import is_piece_name
from assay.attribution.one_case.answer_quality import is_answer_failure
from assay.attribution.one_case.case_facts import (
    CaseFacts,
    contains_fact,
    find_unsupported_numbers,
    quote_facts,
)
from assay.attribution.one_case.misread_numbers import find_misread_number
from assay.attribution.one_case.other_values import find_other_units, split_lines
from assay.attribution.rules.index_causes import find_index_defect
from assay.metrics.answers.answer_behaviour import ANSWER_BEHAVIOUR
from assay.metrics.answers.answer_format import find_format_faults
from assay.metrics.grounding.citation_precision import list_misplaced_citations
from assay.metrics.parsed_answer import ParsedAnswer
from assay.records.findings import CauseConfidence, RootCause
from assay.records.observations import CONTEXT_STAGE
from assay.text.citation_markers import remove_citation_markers
from assay.text.claims.claim_segments import segment_claims
from assay.text.claims.claim_support import score_support
from assay.text.claims.passages import IndexedSources, quote_difference
from assay.text.normalisation import fold_text
from assay.text.refusals.detected_behaviour import UNKNOWN
from assay.text.tokens import DocumentFrequencies, tokenise_text

CITE_STAGE = "cite"
DENIED_FACT = "denied_fact"
"""The subcause of an answer that says the contrary of a fact, without another value in its place."""
WRONG_VALUE = "wrong_entity_or_number"
"""The subcause of an answer that states another name, code or number than the evidence."""
EMPTY_ANSWER, ERROR_TEXT = "empty_answer", "error_text"
"""The subcauses of an answer that is none: nothing was written, or an error message in its place."""
_MAX_CLAIMS = 20
"""How many claims of an answer are compared with their sources."""
_EQUAL_WEIGHTS = DocumentFrequencies.from_texts([])
"""Every word counts alike, so that a cause does not depend on the rest of the golden set."""
_RECORD_PROMPT = "the prompt as it was sent to the model"


def find_failed_answer(case: CaseFacts) -> CauseFinding | None:
    """The system gave an empty text or an error message in the place of an answer, whatever was found for it."""
    if case.good or not isinstance(case.observation.answer, str):
        return None
    if not case.answer.strip():
        return CauseFinding("generator", GENERATE_STAGE, ("the answer is empty",), "high", subcause=EMPTY_ANSWER)
    if is_answer_failure(case.case, case.observation):
        fact = "the answer looks like an error message of the system"
        return CauseFinding("generator", GENERATE_STAGE, (fact,), "high", subcause=ERROR_TEXT)
    return None


def find_truncated_text(case: CaseFacts) -> CauseFinding | None:
    """The generator was shown less of the evidence's text than an earlier stage had, under the same id."""
    if case.good is not False or not case.reached or case.last_step is None:
        return None
    for chunk in case.arrived_chunks:
        whole_text = case.get_whole_text(chunk.chunk_id)
        if chunk.text is None or whole_text is None or not _is_evidence(case, chunk.chunk_id):
            continue
        if chunk.text_hash is not None:  # the hash of the whole text says that the trace shows an excerpt
            continue
        lost = Counter(tokenise_text(whole_text)) - Counter(tokenise_text(chunk.text))
        added = Counter(tokenise_text(chunk.text)) - Counter(tokenise_text(whole_text))
        # A text that was cut inside a word has one word that the whole text does not have.
        if not lost or added.total() > 1 or lost.total() <= added.total():
            continue
        missing = [fact for fact in case.content_quality.missing if contains_fact([whole_text], fact)]
        if case.content_quality.missing and not [fact for fact in missing if not contains_fact([chunk.text], fact)]:
            continue
        passage = quote_difference(whole_text, chunk.text)
        fact = f"{chunk.chunk_id} is shown without “{passage}”, which an earlier stage has"
        return CauseFinding("context_builder", CONTEXT_STAGE, (fact,), "high", subcause="text_truncated")
    return None


def find_exchanged_text(case: CaseFacts) -> CauseFinding | None:
    """Evidence, or what the answer cites, is shown with the text that an earlier stage has under another id.

    A text that contains the chunk's own, such as that of its parent, is none of another chunk.
    """
    if case.last_step is None:
        return None
    texts: dict[str, str] = {}
    for chunk in [chunk for step in case.steps if step is not case.last_step for chunk in step.stage.chunks]:
        if chunk.text:
            texts.setdefault(chunk.chunk_id, fold_text(chunk.text))
    for chunk in case.arrived_chunks:
        own, shown = texts.get(chunk.chunk_id), fold_text(chunk.text or "")
        if own is None or own in shown or not (_is_evidence(case, chunk.chunk_id) or case.is_citing(chunk.chunk_id)):
            continue
        owner = next((name for name, text in texts.items() if text == shown), None)
        if owner is not None:
            fact = f"{chunk.chunk_id} is shown with the text that an earlier stage has for {owner}"
            return CauseFinding("context_builder", CONTEXT_STAGE, (fact,), "high", subcause="text_exchanged")
    return None


def _is_evidence(case: CaseFacts, chunk_id: str) -> bool:
    masks = case.case.evidence.unit_masks(case.arrived_chunks)
    return any(mask and chunk.chunk_id == chunk_id for chunk, mask in zip(case.arrived_chunks, masks, strict=True))


def find_generation_error(case: CaseFacts) -> CauseFinding | None:
    """The generator had all required evidence and the answer is still not good.

    Where the trace does not show the texts of the context, an index that lacks them would look the same; where it shows
    that they lack what the case looks for, the generator could not know it.
    """
    if case.good is not False or not case.reached:
        return None
    evidence = [ALL_ARRIVED, *_describe_answer(case)]
    invented_numbers = _find_invented_numbers(case)
    if invented_numbers:
        evidence.append("not in the context: " + ", ".join(invented_numbers))
    subcause = _find_generator_subcause(case, invented_numbers)
    facts, missing = tuple(evidence), case.content_quality.missing
    is_refused = case.behaviour != "answer"
    misread = find_misread_number(case.answer, missing) if not is_refused else None
    if misread is not None and (not case.has_shown_texts or case.is_index_unknown):
        return CauseFinding("parser", INDEX_STAGE, (*facts, misread), "medium", ("generator",), record=(RECORD_TEXTS,))
    if not case.has_shown_texts:
        if is_refused or not invented_numbers:
            index_causes = _list_index_causes(case, subcause)
            return CauseFinding("generator", GENERATE_STAGE, facts, "low", index_causes, subcause, (RECORD_TEXTS,))
        return CauseFinding("generator", GENERATE_STAGE, facts, "medium", (), subcause, (RECORD_TEXTS,))
    looked_for = case.facts if is_refused else missing
    is_absent = bool(looked_for) and not any(contains_fact(case.context_texts, fact) for fact in looked_for)
    if is_absent and case.is_index_unknown:
        fact = f"no text of the context has {quote_facts(looked_for)}"
        if is_refused:
            others: tuple[RootCause, ...] = ("chunking", "golden_label_issue")
            return CauseFinding("parser", INDEX_STAGE, (*facts, fact), "low", others, record=(RECORD_CORPUS,))
        return CauseFinding("generator", GENERATE_STAGE, (*facts, fact), "low", ("parser",), subcause, (RECORD_CORPUS,))
    if not is_refused and _keeps_to_asked_lines(case):
        return _report_kept_lines(case, facts, subcause)
    return CauseFinding("generator", GENERATE_STAGE, facts, "high", (), subcause, (_RECORD_PROMPT,))


_FEWEST_TELLING_SIGNS = 3


def find_ignored_context(case: CaseFacts) -> CauseFinding | None:
    """The case lists no evidence, and the texts that the generator was shown have every fact that the answer lacks.

    A fact of one or two signs, such as a digit, is in too many texts to tell.
    """
    if case.good is not False or case.required_units or not case.has_shown_texts:
        return None
    is_refused = case.behaviour != "answer"
    facts = case.facts if is_refused else case.content_quality.missing
    are_telling = bool(facts) and all(len(fold_text(fact)) >= _FEWEST_TELLING_SIGNS for fact in facts)
    if not are_telling or not all(contains_fact(case.context_texts, fact) for fact in facts):
        return None
    shown = f"the context has {quote_facts(facts)}"
    evidence = (shown, *_describe_answer(case))
    subcause = _find_generator_subcause(case, _find_invented_numbers(case))
    return CauseFinding("generator", GENERATE_STAGE, evidence, "medium", (), subcause, (_RECORD_PROMPT,))


def _keeps_to_asked_lines(case: CaseFacts) -> bool:
    """Whether the evidence has the numbers of the answer in a line that is nearer to the question than the lines that
    have what is missing: what is said of the question there is what was answered."""
    question = case.case.case.question
    numbers = find_unsupported_numbers(case.answer, [question])
    missing = case.content_quality.missing
    asked_words = set(tokenise_text(question))
    answered_lines, missed_lines = [0], [0]
    for line in [line for _, text in case.list_evidence_texts() for line in split_lines(text)]:
        nearness = len(asked_words & set(tokenise_text(line)))
        if any(not find_unsupported_numbers(number, [line]) for number in numbers):
            answered_lines.append(nearness)
        if any(contains_fact([line], fact) for fact in missing):
            missed_lines.append(nearness)
    return max(answered_lines) > max(missed_lines) and len(missed_lines) > 1


def _report_kept_lines(case: CaseFacts, facts: tuple[str, ...], subcause: str) -> CauseFinding:
    """The answer says what the evidence says of the question: its text or the label may be wrong."""
    fact = "the evidence has the numbers of the answer in the line that is nearest to the question"
    if case.is_index_unknown:
        others: tuple[RootCause, ...] = ("golden_label_issue", "generator")
        return CauseFinding("parser", INDEX_STAGE, (*facts, fact), "low", others, record=(RECORD_CORPUS,))
    others = ("golden_label_issue",)
    return CauseFinding("generator", GENERATE_STAGE, (*facts, fact), "medium", others, subcause, (_RECORD_PROMPT,))


def _list_index_causes(case: CaseFacts, subcause: str) -> tuple[RootCause, ...]:
    """Return the causes by which an index whose texts no trace shows may have lost what is missing.

    A cut chunk shows in the ids of the run, and leaves no other value in its place.
    """
    view = case.index_view
    has_pieces = view is None or bool(view.indexed.unknown_chunks) or view.has_pieces
    return ("parser", "chunking") if has_pieces and subcause != WRONG_VALUE else ("parser",)


def _describe_answer(case: CaseFacts) -> list[str]:
    evidence = []
    if case.behaviour != "answer":
        evidence.append(f"the answer is {case.behaviour.replace('_', ' ') if case.behaviour else 'empty'}")
    quality = case.content_quality
    if quality.absent:
        instead = ""
        if case.other_values and not quality.wrong:
            instead = f" (stated instead: {', '.join(case.other_values)})"
        elif case.copied_from and len(quality.missing) == len(case.facts):
            instead = f" (the answer is copied word for word from {case.copied_from})"
        evidence.append(f"missing: {', '.join(quality.absent)}{instead}")
    if quality.denied:
        evidence.append("contradicted: " + ", ".join(quality.denials))
    if quality.wrong:
        evidence.append("wrong: " + ", ".join(quality.wrong))
    return evidence


def _find_invented_numbers(case: CaseFacts) -> list[str]:
    if not case.context_texts:
        return []
    return find_unsupported_numbers(case.answer, [*case.context_texts, case.case.case.question])


def _find_generator_subcause(case: CaseFacts, invented_numbers: list[str]) -> str:
    """Return what the generator did: refused, stated another value in the place of a fact, invented, said the contrary,
    answered in part, or took another passage.

    Each needs its evidence; an answer of which nothing of that is shown did not use what it was given. A value in the
    place of a fact is a wrong one, whether the context has it for something else or nowhere.
    """
    if case.behaviour != "answer":
        return "ignored_evidence"
    quality = case.content_quality
    if quality.wrong or case.other_values:
        return WRONG_VALUE
    if invented_numbers:
        return "invented"
    if quality.denied and not find_other_units(case.answer, case.context_texts):
        return DENIED_FACT
    if 0 < len(quality.missing) < len(case.facts) and not quality.denied:
        return "partial"
    if find_other_units(case.answer, case.context_texts):
        return WRONG_VALUE
    return "other_passage" if case.copied_from else "ignored_evidence"


def find_contradicted_claim(case: CaseFacts) -> CauseFinding | None:
    """A claim of an answer that says what the case looks for contradicts its sources, or has numbers that none has.

    The sources are the evidence and what the answer cites, in the texts of the context.
    """
    if case.good is False or case.behaviour != "answer" or not case.context_texts:
        return None
    invented_numbers = _find_invented_numbers(case)
    if invented_numbers:
        fact = f"the answer says {', '.join(invented_numbers)}, which no text of the context has"
        return CauseFinding("generator", GENERATE_STAGE, (fact,), "medium", ("golden_label_issue",), "invented")
    other_units = find_other_units(case.answer, [*case.context_texts, case.case.case.question])
    if other_units:
        fact = f"the context has {', '.join(other_units)} with another unit"
        return CauseFinding("generator", GENERATE_STAGE, (fact,), "medium", ("golden_label_issue",), WRONG_VALUE)
    chunks = case.get_answer_sources()
    if not chunks:
        return None
    sources = IndexedSources(chunks, _EQUAL_WEIGHTS)
    for claim in segment_claims(case.answer)[:_MAX_CLAIMS]:
        support = score_support(claim.text, sources)
        if support.verdict == "contradicted":
            fact = f"the sources contradict “{claim.text}”: {'; '.join(support.contradictions)}"
            return CauseFinding("generator", GENERATE_STAGE, (fact,), "medium", ("golden_label_issue",), WRONG_VALUE)
    return None


def find_wrong_value(case: CaseFacts) -> CauseFinding | None:
    """The answer states another value than its case requires, which asks for no evidence, and no stage is reported.

    Nothing tells then what reached the generator, so that a wrong passage may be behind the value. With stages, labels
    of the evidence would tell more.
    """
    if case.good is not False or case.required_units or case.steps:
        return None
    wrong = case.content_quality.wrong or case.values_in_place
    missing = case.content_quality.absent
    if not wrong or case.behaviour != "answer":
        return None
    facts = [f"states {', '.join(wrong)}", *([f"the case requires {', '.join(missing)}"] if missing else [])]
    evidence = ("; ".join(facts),)
    return CauseFinding(
        "generator", GENERATE_STAGE, evidence, "low", ("golden_label_issue",), WRONG_VALUE, (RECORD_TEXTS,)
    )


def find_other_value(case: CaseFacts) -> CauseFinding | None:
    """Nothing tells whether the answer is right, and its numbers are others than those of the reference."""
    stated = case.case.case
    if case.good is not None or case.behaviour != "answer" or stated.must_have or stated.rubric is not None:
        return None
    absent = find_unsupported_numbers(stated.reference or "", [case.answer])
    if not case.facts or len(absent) < len(case.facts):
        return None
    others = find_unsupported_numbers(case.answer, [case.case.case.question])
    if not others:
        return None
    evidence = (f"states {', '.join(others)}; the reference has {', '.join(case.facts)}",)
    misread = find_misread_number(case.answer, case.facts)
    if misread is not None:
        return CauseFinding("parser", INDEX_STAGE, (*evidence, misread), "medium", ("generator", "golden_label_issue"))
    return CauseFinding("generator", GENERATE_STAGE, evidence, "medium", ("golden_label_issue",), WRONG_VALUE)


WRONG_FORMAT = "wrong_format"


def find_wrong_format(case: CaseFacts) -> CauseFinding | None:
    """An answer that is not known to be bad has another form than its case demands."""
    wanted = case.case.case.answer_format
    if wanted is None or case.good is False or case.behaviour not in (ANSWER_BEHAVIOUR, UNKNOWN):
        return None
    faults = find_format_faults(case.answer, wanted)
    if not faults:
        return None
    fact = f"the answer has not the form that the case demands: {'; '.join(faults)}"
    also: tuple[RootCause, ...] = ("citation",) if case.is_miscited else ()
    return CauseFinding("generator", GENERATE_STAGE, (fact,), "high", also, WRONG_FORMAT)


def find_uncited_answer(case: CaseFacts) -> CauseFinding | None:
    """The target reports its citations, and this answer has none although its evidence was shown.

    Without a `must_cite` that fails no check (ADR 0006), so that it is a doubt.
    """
    is_reported = case.observation.citations is not None and not case.observation.citations
    has_evidence = bool(case.required_units) and case.reached is True
    if not is_reported or not has_evidence or case.behaviour != "answer" or case.good is False:
        return None
    if remove_citation_markers(case.answer) != case.answer:
        return None
    fact = "the target reports citations, and the answer has none, in its text or beside it"
    return CauseFinding("citation", CITE_STAGE, (fact,), "medium", subcause="uncited")


def find_wrong_citation(case: CaseFacts) -> CauseFinding | None:
    """The citations are missing, not from the context or beside the evidence, and the answer is not known to be bad."""
    if case.good is False:
        return None
    cited = case.observation.citations or ()
    if not case.is_miscited:
        return _find_misplaced_citation(case, cited)
    for unit in case.required_units:
        defect = find_index_defect(case, unit)
        if defect is not None and defect.cause == "chunking" and case.index_view is not None:
            pieces = [name for name in cited if case.index_view.indexed.is_unknown_chunk(name)]
            if pieces:
                return defect._replace(evidence=(*defect.evidence, f"cited: {', '.join(pieces)}"))
    quality = "good" if case.good else "not known to be wrong"
    confidence: CauseConfidence = "high" if case.good else "medium"
    outside = case.list_outside_citations()
    if cited and not outside:
        return (
            _report_missing_source(case, cited, confidence)
            or _find_misplaced_citation(case, cited)
            or _report_citation_beside_source(case, confidence)
        )
    evidence = (f"the answer is {quality} and cites {', '.join(outside) or 'nothing'}",)
    subcause = "outside_context" if outside else "uncited"
    return CauseFinding("citation", CITE_STAGE, evidence, confidence, subcause=subcause)


def _report_missing_source(case: CaseFacts, cited: tuple[str, ...], confidence: CauseConfidence) -> CauseFinding | None:
    """All citations are from the context, and a source that the case requires is not among them."""
    missing = case.list_missing_sources()
    if not missing:
        return None
    unknown = [name for name in missing if not case.is_known_source(name)]
    if unknown:
        fact = f"{', '.join(unknown)}, which the case requires, is no chunk or document of the corpus or of the trace"
        return CauseFinding("golden_label_issue", None, (fact,), "medium", ("citation",), "unknown_source")
    fact = f"the answer cites {', '.join(cited)} and not {', '.join(missing)}, which the case requires"
    return CauseFinding("citation", CITE_STAGE, (fact,), confidence, subcause="other_source")


def _report_citation_beside_source(case: CaseFacts, confidence: CauseConfidence) -> CauseFinding | None:
    """A claim cites a chunk of the context, and another one supports it far better (ADR 0100)."""
    misplaced = list_misplaced_citations(ParsedAnswer(case.case, case.observation))
    if not misplaced:
        return None
    evidence = tuple(f"cites {name} for what stands in {better}" for name, better in misplaced)
    return CauseFinding("citation", CITE_STAGE, evidence, confidence, subcause="wrong_in_context")


def _find_misplaced_citation(case: CaseFacts, cited: tuple[str, ...]) -> CauseFinding | None:
    """The answer cites only chunks of the context that are no evidence, while the evidence is in the context."""
    if not cited or not case.required_units or not case.reached or case.behaviour != "answer":
        return None
    masks = case.case.evidence.unit_masks(case.arrived_chunks)
    labelled = {chunk.chunk_id for chunk, mask in zip(case.arrived_chunks, masks, strict=True) if mask}
    if any(case.is_citing(name) for name in labelled):
        return _find_lesser_citation(case, cited)
    pieces = [name for name in cited if case.index_view is not None and case.index_view.indexed.is_unknown_chunk(name)]
    if pieces:
        fact = f"cites {', '.join(pieces)}, which the corpus does not have and which is part of its documents"
        return CauseFinding("chunking", INDEX_STAGE, (fact,), "medium", ("golden_label_issue",), "other_ids")
    pieces = [name for name in cited if any(is_piece_name(name, whole) for whole in labelled)]
    if pieces and case.case.corpus is None:
        fact = f"cites {', '.join(pieces)}, which is named as a piece of the evidence"
        return CauseFinding(
            "chunking", INDEX_STAGE, (fact,), "low", ("golden_label_issue",), "other_ids", (RECORD_CORPUS,)
        )
    texts = [text for text in map(case.get_chunk_text, cited) if text]
    evidence = (f"cites {', '.join(cited)}; the evidence in the context is {', '.join(sorted(labelled))}",)
    answered_facts = [fact for fact in case.facts if contains_fact([case.answer], fact)]
    if answered_facts and texts and all(contains_fact(texts, fact) for fact in answered_facts):
        fact = "what is cited has all that the case looks for"
        return CauseFinding(
            "golden_label_issue", None, (*evidence, fact), "medium", ("citation",), "unlabelled_duplicate"
        )
    if not case.has_shown_texts:  # the context may show the text of the evidence under the id that is cited
        others: tuple[RootCause, ...] = ("context_builder",)
        return CauseFinding("citation", CITE_STAGE, evidence, "medium", others, "wrong_in_context", (RECORD_TEXTS,))
    confidence: CauseConfidence = "high" if texts else "medium"
    return CauseFinding("citation", CITE_STAGE, evidence, confidence, subcause="wrong_in_context")


def _find_lesser_citation(case: CaseFacts, cited: tuple[str, ...]) -> CauseFinding | None:
    """The answer cites a lesser source that has none of its facts, and not the required chunk that has them."""
    required_texts = dict(case.list_evidence_texts())
    if not case.context_texts:
        return _report_wholesale_citation(case, cited)
    answered_facts = [fact for fact in case.facts if contains_fact([case.answer], fact)]
    if not contains_every_fact(required_texts.values(), answered_facts):
        return None
    idle = [name for name in cited if _is_idle(case.get_chunk_text(name), answered_facts)]
    if any(map(case.is_citing, required_texts)):
        return _report_idle_citations(idle, cited)
    if len(idle) < len(cited):
        return None
    evidence = (
        f"cites {', '.join(cited)}, which has nothing of what the answer states; {', '.join(required_texts)} has",
    )
    return CauseFinding("citation", CITE_STAGE, evidence, "medium", subcause="wrong_in_context")


def _report_wholesale_citation(case: CaseFacts, cited: tuple[str, ...]) -> CauseFinding | None:
    """No text tells what the cited chunks have, and the run cites whatever it shows."""
    masks = case.case.evidence.unit_masks(case.arrived_chunks)
    idle = [chunk.chunk_id for chunk, mask in zip(case.arrived_chunks, masks, strict=True) if not mask]
    idle = [name for name in idle if name in cited]
    if case.index_view is None or not case.index_view.is_cited_wholesale or len(idle) < 2:
        return None
    fact = f"cites {', '.join(idle)}, which are no evidence, as the answers of the run cite all that they are shown"
    return CauseFinding("citation", CITE_STAGE, (fact,), "low", subcause="over_cited", record=(RECORD_TEXTS,))


def _is_idle(text: str | None, facts: Sequence[str]) -> bool:
    """Whether a cited text is known and has none of the facts of the answer."""
    return bool(text) and not any(contains_fact([text or ""], fact) for fact in facts)


def _report_idle_citations(idle: list[str], cited: tuple[str, ...]) -> CauseFinding | None:
    """The source is cited, and beside it at least as many chunks that have nothing of what the answer states."""
    if 2 * len(idle) < len(cited) or len(idle) < 2:
        return None
    fact = f"cites {', '.join(idle)}, which have nothing of what the answer states"
    return CauseFinding("citation", CITE_STAGE, (fact,), "medium", subcause="over_cited")


def contains_every_fact(texts: Iterable[str], facts: Sequence[str]) -> bool:
    """Return whether there are facts and texts have every one of them."""
    known_texts = list(texts)
    return bool(facts) and all(contains_fact(known_texts, fact) for fact in facts)
