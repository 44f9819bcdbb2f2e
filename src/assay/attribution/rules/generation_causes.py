"""The answer is not what the chunks that the generator was shown say: what it did with them."""

from __future__ import annotations

from assay.attribution.cause_finding import RECORD_CORPUS, RECORD_TEXTS, CauseFinding
from assay.attribution.cause_notes import ALL_ARRIVED
from assay.attribution.cause_terms import GENERATE_STAGE, INDEX_STAGE
from assay.attribution.one_case.answer_quality import is_answer_failure
from assay.attribution.one_case.case_facts import CaseFacts
from assay.attribution.one_case.contained_facts import contains_fact, quote_facts
from assay.attribution.one_case.misread_numbers import find_misread_number
from assay.attribution.one_case.other_values import find_other_units, split_lines
from assay.attribution.one_case.unsupported_numbers import find_unsupported_numbers, leave_out_derived
from assay.records.findings import RootCause
from assay.text.citation_markers import remove_citation_markers
from assay.text.normalisation import fold_text
from assay.text.segmentation import segment_sentences
from assay.text.tokens import is_stop_word, tokenise_text

DENIED_FACT = "denied_fact"
"""The subcause of an answer that says the contrary of a fact, without another value in its place."""
WRONG_VALUE = "wrong_entity_or_number"
"""The subcause of an answer that states another name, code or number than the evidence."""
PARTIAL = "partial"
"""The subcause of an answer that states a part of what is required, or cuts a sentence of the evidence short."""
OTHER_PART = "other_part"
"""The subcause of an answer that copies another part of the right passage than the one that answers."""
IGNORED = "ignored_evidence"
"""The subcause of an answer that does not use what it was given, or of none although it was given."""
EMPTY_ANSWER, ERROR_TEXT = "empty_answer", "error_text"
"""The subcauses of an answer that is none: nothing was written, or an error message in its place."""
_RECORD_PROMPT = "the prompt as it was sent to the model"
_SHORTEST_FACT = 3


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


def find_generation_error(case: CaseFacts) -> CauseFinding | None:
    """The generator had all required evidence and the answer is still not good.

    Where the trace does not show the texts of the context, an index that lacks them would look the same; where it shows
    that they lack what the case looks for, the generator could not know it.
    """
    if case.good is not False or not case.reached:
        return None
    evidence = [ALL_ARRIVED, *_describe_answer(case)]
    invented_numbers = list_invented_numbers(case)
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
    rival = _find_rival_line(case) if not is_refused else None
    if rival is not None:
        also: tuple[RootCause, ...] = ("golden_label_issue",)
        return CauseFinding("generator", GENERATE_STAGE, (*facts, rival), "medium", also, subcause, (_RECORD_PROMPT,))
    return CauseFinding("generator", GENERATE_STAGE, facts, "high", (), subcause, (_RECORD_PROMPT,))


def find_ignored_context(case: CaseFacts) -> CauseFinding | None:
    """The case lists no evidence, and the texts that the generator was shown have every fact that the answer lacks.

    A fact of one or two signs, such as a digit, is in too many texts to tell.
    """
    if case.good is not False or case.required_units or not case.has_shown_texts:
        return None
    is_refused = case.behaviour != "answer"
    facts = case.facts if is_refused else case.content_quality.missing
    are_long_enough = bool(facts) and all(len(fold_text(fact)) >= _SHORTEST_FACT for fact in facts)
    if not are_long_enough or not all(contains_fact(case.context_texts, fact) for fact in facts):
        return None
    shown = f"the context has {quote_facts(facts)}"
    evidence = (shown, *_describe_answer(case))
    subcause = _find_generator_subcause(case, list_invented_numbers(case))
    return CauseFinding("generator", GENERATE_STAGE, evidence, "medium", (), subcause, (_RECORD_PROMPT,))


def _keeps_to_asked_lines(case: CaseFacts) -> bool:
    """Whether the evidence has the numbers of the answer in a line that is nearer to the question than the lines that
    have what is missing: what is said of the question there is what was answered."""
    question = case.case.case.question
    numbers = list(dict.fromkeys(find_unsupported_numbers(case.answer, [question])))
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


def _find_rival_line(case: CaseFacts) -> str | None:
    """Return a line of a passage that no label names and that says what the answer says instead, about what is asked as
    nearly as the evidence: the passages contradict each other, and nothing tells which of them holds; None without one.
    """
    values = case.content_quality.wrong or case.other_values
    asked_words = {word for word in tokenise_text(case.case.case.question) if not is_stop_word(word)}
    nearness = [
        len(asked_words & set(tokenise_text(line)))
        for _, text in case.list_evidence_texts()
        for line in split_lines(text)
        if any(contains_fact([line], fact) for fact in case.content_quality.missing)
    ]
    for chunk_id, text in case.unlabelled_texts.items() if values and nearness else ():
        for line in split_lines(text):
            is_as_near = len(asked_words & set(tokenise_text(line))) >= max(1, *nearness)
            if is_as_near and all(contains_fact([line], value) for value in values):
                return f"{chunk_id}, which no label names, says “{line.strip()}”"
    return None


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


def list_invented_numbers(case: CaseFacts) -> list[str]:
    """Return the numbers of the answer that neither question nor context has, and that do not follow from those which
    they have; none if no text is known."""
    if not case.context_texts:
        return []
    question = case.case.case.question
    invented = find_unsupported_numbers(case.answer, [*case.context_texts, question])
    return leave_out_derived(invented, case.answer, question, case.context_texts) if invented else []


def _find_generator_subcause(case: CaseFacts, invented_numbers: list[str]) -> str:
    """Return what the generator did: refused, stated another value in the place of a fact, invented, said the contrary,
    answered in part, or took another passage.

    Each needs its evidence; an answer of which nothing of that is shown did not use what it was given. A value in the
    place of a fact is a wrong one, whether the context has it for something else or nowhere.
    """
    if case.behaviour != "answer":
        return IGNORED
    quality = case.content_quality
    if quality.wrong or case.other_values:
        return WRONG_VALUE
    if invented_numbers:
        return "invented"
    if quality.denied and not find_other_units(case.answer, case.context_texts):
        return DENIED_FACT
    if 0 < len(quality.missing) < len(case.facts) and not quality.denied:
        return PARTIAL
    if find_other_units(case.answer, case.context_texts):
        return WRONG_VALUE
    if case.copied_from is None:
        return IGNORED
    if _cuts_sentence_short(case):
        return PARTIAL
    return OTHER_PART if case.copied_from in dict(case.list_evidence_texts()) else "other_passage"


def _cuts_sentence_short(case: CaseFacts) -> bool:
    """Whether an answer is a part of a sentence of the evidence whose rest says all that is missing: it leaves out a
    condition or an exception, and copies the right part."""
    copied = " ".join(tokenise_text(remove_citation_markers(case.answer)))
    if not case.content_quality.missing:
        return False
    for _, text in case.list_evidence_texts():
        for start, end in segment_sentences(text):
            sentence = text[start:end]
            holds_answer = f" {copied} " in f" {' '.join(tokenise_text(sentence))} "
            if holds_answer and all(contains_fact([sentence], fact) for fact in case.content_quality.missing):
                return True
    return False
