"""Whether the text of an answer states what its case requires: facts, keywords, an exact value or a number (ADR 0030).

`read_facts` is the one reading of an answer's facts (ADR 0099). The metrics `completeness`, `keywords`, `exact_match`,
`number_match` and `correct_answer`, the checks, explanations, vetoes of a judge and attribution follow from it, so that
they cannot disagree about what an answer states.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Literal

from msgspec import Struct, structs
from msgspec.structs import replace

from assay.metrics.cases.settled_answers import RIGHT, AnswerDecision, find_decision
from assay.records.golden_set import Case, Rubric
from assay.records.scores import NEEDS_REVIEW
from assay.text.facts.additions.listed_values import name_competing_value
from assay.text.facts.answer_matching import (
    KeywordScore,
    is_exact_match,
    is_part_of_reference,
    lacks_quantities,
    partition_facts,
    score_judged_keywords,
)
from assay.text.facts.expected.reversed_statements import find_reversed_statement
from assay.text.facts.expected.yes_or_no import is_mere_decision
from assay.text.facts.fact_judgments import FactJudgment, combine_states
from assay.text.facts.references.reference_facts import is_told_by_rules
from assay.text.facts.references.reference_judgments import judge_reference_facts
from assay.text.facts.stated_facts import judge_facts
from assay.text.facts.stated_quantities import is_lone_value, judge_quantities
from assay.text.normalisation import fold_text
from assay.text.refusals.error_texts import is_error_text

UNKNOWN: Literal["unknown"] = "unknown"
TextScore = float | Literal["unknown"] | None
"""The score of an answer by a rule of text: unknown where the rules cannot tell, None where the case states nothing."""


OPEN_REMEDY = (
    "a judge can tell (assay judge), or a person who reads the answer (assay labels export --only ambiguous), "
    "or must_have or keywords in the case"
)
"""What to do where the rules cannot tell, and the case states no facts."""
_OPEN_FACT_REMEDY = (
    "a judge can tell (assay judge), or a person who reads the answer (assay labels export --only ambiguous)"
)


def advise_open_answer(case: Case) -> str:
    """Return what to do about an answer that the rules leave open: facts that a case states need not be added to it.

    >>> advise_open_answer(Case("q1", "How long?", must_have=("12 days",)))
    'a judge can tell (assay judge), or a person who reads the answer (assay labels export --only ambiguous)'
    """
    states_facts = bool(case.must_have) or (case.rubric is not None and bool(case.rubric.correct_keywords))
    return _OPEN_FACT_REMEDY if states_facts else OPEN_REMEDY


REFERENCE_VALUE, REFERENCE_TEXT = "reference value", "reference"
"""The signals of a case that states nothing but a reference: one value, or words and sentences."""


ERROR_MESSAGE = "the answer being an error message"
"""The signal of an answer that is wrong because the system failed with a message, whatever the case looks for."""


class AnswerQuality(Struct, frozen=True):
    """Whether an answer is good (None: unknown), the signal that decided, missing, wrong and undecided facts.

    `unknown`: facts of which the rules cannot tell whether the answer states them, each with the reason. `denied`: the
    missing must-have facts that the answer contradicts, with the reason of each in `denials`; an answer that denies a
    fact is not incomplete.
    """

    good: bool | None
    signal: str
    missing: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    denials: tuple[str, ...] = ()

    @property
    def absent(self) -> tuple[str, ...]:
        """What is missing and not denied."""
        return tuple(fact for fact in self.missing if fact not in self.denied)


class FactReading(Struct, frozen=True):
    """What an answer does with everything that its case looks for in the text.

    `must_have`, `keywords` and `numbers` (those of a numeric reference) hold one judgment each. `keyword_score` is None
    without keywords and incorrect patterns, `is_exact` without an exact reference. `quality` tells whether the answer
    is right; None if the case states nothing that a rule can look for. `reference_facts` are the judgments of what the
    reference asks of an answer, where the case states no other expectation. `decision` is what people decided about the
    answer, which `quality` then is, and `by_rules` what it is without them.
    """

    must_have: tuple[FactJudgment, ...]
    keywords: tuple[FactJudgment, ...]
    keyword_score: KeywordScore | None
    numbers: tuple[FactJudgment, ...]
    is_exact: bool | None
    quality: AnswerQuality | None
    reference_facts: tuple[FactJudgment, ...] = ()
    decision: AnswerDecision | None = None
    by_rules: AnswerQuality | None = None

    @property
    def is_disputed(self) -> bool:
        """Whether people who read the answer disagree about it."""
        return self.decision is not None and self.decision.is_disputed

    @property
    def is_against_rules(self) -> bool:
        """Whether people decided otherwise than the rules."""
        rules = self.by_rules.good if self.by_rules is not None else None
        if self.decision is None or self.decision.is_disputed or rules is None:
            return False
        return rules != (self.decision.label == RIGHT)

    @property
    def completeness(self) -> TextScore:
        """The share of the must-have facts that the answer states; unknown if that of any is, or people disagree."""
        if not self.must_have:
            return None
        if self.is_disputed:
            return UNKNOWN
        if any(judgment.state == UNKNOWN for judgment in self.must_have):
            return UNKNOWN
        return sum(judgment.state == "stated" for judgment in self.must_have) / len(self.must_have)

    @property
    def denied_facts(self) -> TextScore:
        """The number of must-have facts that the answer contradicts; unknown if people disagree about it."""
        if not self.must_have:
            return None
        if self.is_disputed:
            return UNKNOWN
        return float(sum(judgment.state == "denied" for judgment in self.must_have))

    @property
    def number_match(self) -> TextScore:
        """Whether the answer states every number of a numeric reference."""
        if not self.numbers:
            return None
        is_stated = combine_states(judgment.state for judgment in self.numbers)
        return UNKNOWN if is_stated is None else float(is_stated)

    @property
    def correct_answer(self) -> TextScore:
        """Whether the answer states everything that the case requires."""
        if self.quality is None:
            return None
        return UNKNOWN if self.quality.good is None else float(self.quality.good)


def read_facts(case: Case, answer: str, sentences: tuple[str, ...] = (), *, is_passage: bool = False) -> FactReading:
    """Return what an answer does with the facts, keywords and the exact or numeric reference of its case.

    Must-have facts and keywords are judged together, so that one of them is no rival of another. `sentences`: what the
    corpus says where the evidence stands (`CaseIndex.source_sentences`). `is_passage`: the answer is a passage of the
    context as it stands, so that it is not known to be right if it has a competing value.
    """
    return _read_facts_once(_OneCase(case), answer, sentences, is_passage)


class _OneCase:
    """A case that is the same as itself only: comparing all that it holds would take longer than reading its facts."""

    def __init__(self, case: Case) -> None:
        self.case = case

    def __hash__(self) -> int:
        return id(self.case)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _OneCase) and self.case is other.case


@lru_cache(maxsize=4096)
def _read_facts_once(one_case: _OneCase, answer: str, sentences: tuple[str, ...], is_passage: bool) -> FactReading:
    """Read the facts of an answer once for all metrics, which ask a dozen times."""
    case = one_case.case
    facts = _select_texts(case.must_have)
    rubric = case.rubric
    wanted_keywords = _select_texts(rubric.correct_keywords) if rubric is not None else []
    judgment_by_text = _judge_texts(case, answer, [*facts, *wanted_keywords], sentences)
    must_have = tuple(judgment_by_text[fact] for fact in facts)
    keywords = tuple(judgment_by_text[keyword] for keyword in wanted_keywords)
    keyword_score = None
    if rubric is not None and (rubric.correct_keywords or rubric.incorrect_patterns):
        keyword_score = score_judged_keywords(answer, keywords, rubric.incorrect_patterns, rubric.match)
    numbers, is_exact = _read_reference(case, answer)
    reference_facts: tuple[FactJudgment, ...] = ()
    if must_have or keywords:
        quality: AnswerQuality | None = _assess_facts(case, answer, must_have, keywords, keyword_score)
    else:
        reference_facts = _judge_reference(case, answer, sentences)
        quality = _assess_reference(case, answer, reference_facts or numbers, is_exact)
    if quality is not None and quality.good is None and is_error_text(answer, case.question):
        quality = AnswerQuality(False, ERROR_MESSAGE)  # whatever its words leave open, it is no answer
    if is_passage and quality is not None and quality.good:
        quality = _doubt_passage(case, answer, quality)
    decision = find_decision(case, "correct_answer", answer)
    settled = quality if decision is None else _settle_quality(quality, decision)
    return FactReading(
        must_have, keywords, keyword_score, numbers, is_exact, settled, reference_facts, decision, quality
    )


def _doubt_passage(case: Case, answer: str, quality: AnswerQuality) -> AnswerQuality:
    """Leave open whether a passage answers that has another value of the kind that is asked for."""
    keywords = case.rubric.correct_keywords if case.rubric is not None else ()
    expected = _select_texts([*case.must_have, *keywords, *((case.reference,) if case.reference else ())])
    value = name_competing_value(answer, case.question, expected)
    if not value:
        return quality
    return replace(quality, good=None, unknown=(f"the answer is a passage as it stands, which also has {value}",))


def assess_answer_text(
    case: Case, answer: str, sentences: tuple[str, ...] = (), *, is_passage: bool = False
) -> AnswerQuality | None:
    """Assess an answer by keywords and must-have facts, else by the exact or numeric reference, or one of one value.

    None if the case states none of these: then no rule can tell whether the answer is right.
    """
    return read_facts(case, answer, sentences, is_passage=is_passage).quality


def judge_reference(case: Case) -> tuple[list[FactJudgment], list[FactJudgment]]:
    """Return what the rules make of the must-have facts and of the keywords of a case in its own reference.

    Here it passes nothing by being the reference: other right answers are judged like this. Empty without a reference.

    >>> case = Case("stay", "How long may I stay?", reference="5 days or 6 days.", must_have=("5 days",))
    >>> [judgment.state for judgment in judge_reference(case)[0]]
    ['unknown']
    """
    facts = _select_texts(case.must_have)
    keywords = _select_texts(case.rubric.correct_keywords) if case.rubric is not None else []
    if not case.reference or not (facts or keywords):
        return [], []
    texts = tuple(dict.fromkeys((*facts, *keywords)))
    judged = judge_facts(case.reference, texts, case.question, case.reference)
    by_text = {own.fact: _accept_reference_denial(own, case.reference, case.reference) for own in judged}
    return [by_text[fact] for fact in facts], [by_text[keyword] for keyword in keywords]


def find_text_signal(case: Case) -> str | None:
    """Return what decides whether the text of an answer is good, None if the case states nothing to look for."""
    rubric = case.rubric
    has_facts = bool(_select_texts(case.must_have))
    has_keywords = rubric is not None and bool(_select_texts(rubric.correct_keywords))
    if has_facts and has_keywords:
        return "must-have facts and keywords"
    if has_facts:
        return "must-have facts"
    if has_keywords:
        return "keywords"
    if not case.reference:
        return None
    if rubric is None or rubric.kind == "text":
        if is_lone_value(case.reference):
            return REFERENCE_VALUE
        return REFERENCE_TEXT if case.behaviour == "answer" else None
    return {"exact": "exact_match", "number": "number_match"}.get(rubric.kind)


def find_unjudgeable_cases(cases: Iterable[Case]) -> list[Case]:
    """Return the cases that state nothing but a reference of so many words that rules can seldom tell who is right.

    A variant states what its case does.

    >>> long = "It is £5 for members who book online, £7 at the door, and nothing for children in a group."
    >>> cases = (Case("fee", "What is the fee?", reference="£5."), Case("fees", "Tell me the fee.", reference=long))
    >>> [case.id for case in find_unjudgeable_cases(cases)]
    ['fees']
    """
    unjudgeable = []
    for case in cases:
        is_of_words = case.variant_of is None and find_text_signal(case) == REFERENCE_TEXT
        if is_of_words and not is_told_by_rules(case.reference or "", case.question):
            unjudgeable.append(case)
    return unjudgeable


class Veto(Struct, frozen=True):
    """A rule that shows an answer to be wrong, whatever a judge says, and the highest score that is left."""

    rule: str
    max_score: float


def find_veto(case: Case, answer: str, sentences: tuple[str, ...] = ()) -> Veto | None:
    """Return the rule that caps the score of an answer, or None if no rule does, or a person found the answer right.

    The cap is 0 for a missing exact value or number that decides, also of a reference that is nothing but one value,
    for an incorrect pattern without any correct keyword, and if no must-have fact has its figures. It is 0.5 if some
    must-have facts lack their figures.

    >>> find_veto(Case("late", "For how long?", reference="10 days"), "For a week.")
    Veto(rule='reference value 10 days', max_score=0.0)
    """
    decision = find_decision(case, "correct_answer", answer)
    if decision is not None and decision.label == RIGHT:
        return None
    reading = read_facts(case, answer, sentences)
    quality = reading.quality
    if quality is not None and quality.good is False and quality.signal in _SIGNALS_OF_VALUES:
        named = f"{quality.signal} {case.reference}" if quality.signal == REFERENCE_VALUE else quality.signal
        return Veto(named, 0.0)
    graded = reading.keyword_score
    if graded is not None and graded.incorrect_matched and not graded.score:
        is_decided = quality is None or quality.good is False
        if is_decided:
            return Veto(f"incorrect pattern {', '.join(graded.incorrect_matched)}", 0.0)
    without_figures = list_facts_without_figures(reading, answer)
    if not without_figures:
        return None
    most = 0.5 if len(without_figures) < len(reading.must_have) else 0.0
    return Veto(f"must_have {', '.join(without_figures)}", most)


_SIGNALS_OF_VALUES = ("exact_match", "number_match", REFERENCE_VALUE)


class LabelDoubt(Struct, frozen=True):
    """What speaks against the label of a judge that calls an answer right, and what in the answer does."""

    reason: str
    detail: str


FOUND_WRONG = f"{NEEDS_REVIEW}: labelled as right, but the rules find the answer wrong"
OTHER_VALUE = f"{NEEDS_REVIEW}: labelled as right, but the answer states another value than the reference"
LABEL_DOUBTS = (FOUND_WRONG, OTHER_VALUE)


def find_label_doubt(case: Case, answer: str, sentences: tuple[str, ...] = ()) -> LabelDoubt | None:
    """Return what speaks against an answer that a judge calls right; None if nothing does.

    That is what the rules find wrong, and of a reference in sentences that the answer states none of its values and
    another one in the place of one of them.

    >>> fare = Case("fare", "What does a ticket cost?", reference="A ticket costs £4, with a dog £5.")
    >>> find_label_doubt(fare, "Tickets are £6.").detail, find_label_doubt(fare, "It is not much.")
    ('the answer does not say £4; it says "£6"', None)
    """
    reading = read_facts(case, answer, sentences)
    quality = reading.quality
    if quality is not None and quality.good is False:
        faults = [f"{fact} is missing" for fact in quality.missing] + [f"it says {text}" for text in quality.wrong]
        return LabelDoubt(FOUND_WRONG, ", ".join(faults))
    is_text = case.rubric is None or case.rubric.kind == "text"
    if (quality is not None and quality.good) or not is_text or not case.reference:
        return None
    values = judge_quantities(answer, case.reference, question=case.question)
    others = [judgment for judgment in values if judgment.mistake == "other value"]
    if not others or any(judgment.state in ("stated", UNKNOWN) for judgment in values):
        return None
    return LabelDoubt(OTHER_VALUE, others[0].reason)


def list_facts_without_figures(reading: FactReading, answer: str) -> list[str]:
    """Return the must-have facts with a number or date that the answer does not state or negates.

    The answer cannot contain these facts in any wording. Facts without a number or date are never returned.
    """
    absent = [judgment.fact for judgment in reading.must_have if judgment.state in ("denied", "missing")]
    return [fact for fact in absent if lacks_quantities(answer, fact)]


def explain_judgments(judgments: Iterable[FactJudgment]) -> list[str]:
    """Return each fact with the reason of its state."""
    return [f"{judgment.fact} ({judgment.reason})" if judgment.reason else judgment.fact for judgment in judgments]


# ── the reading ──────────────────────────────────────────────────────────────────────────────────────────────────


def _select_texts(texts: Sequence[str]) -> list[str]:
    """Return the distinct texts that are not empty, in order."""
    return [text for text in dict.fromkeys(texts) if fold_text(text)]


def list_quotes(case: Case) -> list[str]:
    """Return what the graded evidence of a case says as far as it is quoted, by a unit or by one of its selectors.

    >>> from assay.records.golden_set import Evidence
    >>> evidence = (Evidence(any_of=({"document": "fees", "quote": "A lost key costs £20."},)),)
    >>> list_quotes(Case("key", "What does a lost key cost?", evidence=evidence))
    ['A lost key costs £20.']
    """
    quotes = []
    for unit in case.evidence:
        if unit.grade:
            quotes += [unit.quote or "", *(str(selector.get("quote", "")) for selector in unit.any_of)]
    return [quote for quote in dict.fromkeys(quotes) if quote]


def _judge_texts(case: Case, answer: str, texts: Sequence[str], sentences: Sequence[str]) -> dict[str, FactJudgment]:
    if not texts:
        return {}
    reference = case.reference or ""
    passages = [*list_quotes(case), *sentences]
    wanted = tuple(dict.fromkeys(texts))
    judgments = judge_facts(answer, wanted, case.question, reference, passages, language=_find_language(case))
    judgments = [_accept_reference_denial(judgment, reference, answer) for judgment in judgments]
    if any(judgment.state in ("denied", UNKNOWN) for judgment in judgments) and is_part_of_reference(answer, reference):
        is_whole = is_exact_match(answer, reference)
        judgments = [_accept_reference_words(judgment, answer, is_whole=is_whole) for judgment in judgments]
    return {judgment.fact: judgment for judgment in judgments}


def _accept_reference_words(judgment: FactJudgment, answer: str, *, is_whole: bool) -> FactJudgment:
    """Return a fact that the reference word for word leaves open or denies as stated: its author calls it right.

    So does a part of it that holds the fact as it is written.
    """
    if judgment.state not in ("denied", UNKNOWN):
        return judgment
    is_held = is_whole or _is_whole_part(fold_text(judgment.fact), fold_text(answer))
    return structs.replace(judgment, state="stated", reason="") if is_held else judgment


def _accept_reference_denial(judgment: FactJudgment, reference: str, answer: str) -> FactJudgment:
    """Return a fact that answer and reference both hold and both deny as stated: there the denial belongs to it."""
    if judgment.state not in ("denied", "missing") or judgment.mistake in ("other side", "swapped"):
        return judgment
    folded_fact = fold_text(judgment.fact)
    is_held = _is_whole_part(folded_fact, fold_text(reference)) and _is_whole_part(folded_fact, fold_text(answer))
    if not is_held or is_mere_decision(judgment.fact):
        return judgment
    is_denied = not partition_facts(reference, [judgment.fact])[0]
    return structs.replace(judgment, state="stated", reason="") if is_denied else judgment


def _settle_quality(quality: AnswerQuality | None, decision: AnswerDecision) -> AnswerQuality:
    """Return the quality that a person decided on; of a wrong answer, with what the rules find missing or wrong."""
    if decision.is_disputed:
        return AnswerQuality(None, "people who read it", unknown=(decision.reason,))
    signal = "a person's decision"
    if decision.label == RIGHT or quality is None:
        return AnswerQuality(decision.label == RIGHT, signal)
    return replace(quality, good=False, signal=signal, unknown=())


def _is_whole_part(part: str, text: str) -> bool:
    """Return whether a text holds a part that is no piece of a longer word: "no" is not in "not"."""
    start = text.find(part)
    while start >= 0:
        before, after = text[start - 1 : start] + part[:1], part[-1:] + text[start + len(part) :][:1]
        if not any(pair.isascii() and pair.isalnum() and len(pair) > 1 for pair in (before, after)):
            return True
        start = text.find(part, start + 1)
    return False


def _read_reference(case: Case, answer: str) -> tuple[tuple[FactJudgment, ...], bool | None]:
    """Return the judgments of the numbers of a numeric reference, and whether the answer is an exact one."""
    rubric, reference = case.rubric, case.reference
    if rubric is None or not reference or rubric.kind not in ("exact", "number"):
        return (), None
    if rubric.kind == "exact":
        return (), is_exact_match(answer, reference)
    tolerance = Decimal(repr(float(rubric.tolerance)))
    numbers = judge_quantities(answer, reference, tolerance, case.question, language=_find_language(case))
    if is_exact_match(answer, reference):
        numbers = [_accept_reference_words(number, answer, is_whole=True) for number in numbers]
    return tuple(numbers), None


def _assess_facts(
    case: Case,
    answer: str,
    must_have: Sequence[FactJudgment],
    keywords: Sequence[FactJudgment],
    keyword_score: KeywordScore | None,
) -> AnswerQuality:
    """Require every must-have fact, the keywords (any or all of them) and no incorrect pattern.

    An incorrect pattern next to all correct keywords may be history ("it rose from 10 to 12") or an error ("10 days for
    you, 12 for others"). The keyword rubric looks at correct keywords first (ADR 0038); whether the answer is right
    stays open, unless the reference says both.
    """
    unknown = explain_judgments(judgment for judgment in must_have if judgment.state == UNKNOWN)
    missing = [judgment.fact for judgment in must_have if judgment.state in ("denied", "missing")]
    rubric = case.rubric
    wrong: tuple[str, ...] = ()
    if rubric is not None and keyword_score is not None and keywords:
        by_keywords = _assess_keywords(
            rubric, keywords, keyword_score, case.reference or "", has_missing_facts=bool(missing)
        )
        missing += [keyword for keyword in by_keywords.missing if keyword not in missing]
        unknown += [text for text in by_keywords.unknown if text not in unknown]
        wrong = by_keywords.wrong
    elif rubric is not None:
        wrong = tuple(partition_facts(answer, rubric.incorrect_patterns)[0])
    good = False if missing or wrong else None if unknown else True
    if good:
        contrary = find_reversed_statement(answer, case.reference or "")
        if contrary:
            good, unknown = None, [contrary]
    denied = [judgment for judgment in must_have if judgment.state == "denied"]
    return AnswerQuality(
        good,
        find_text_signal(case) or "",
        tuple(missing),
        wrong,
        tuple(unknown),
        tuple(judgment.fact for judgment in denied),
        tuple(explain_judgments(denied)),
    )


def _assess_keywords(
    rubric: Rubric, keywords: Sequence[FactJudgment], grade: KeywordScore, reference: str, *, has_missing_facts: bool
) -> AnswerQuality:
    """Return which keywords are missing or unknown, and the incorrect patterns that count; `good` is not set."""
    unknown = [judgment for judgment in keywords if judgment.state == UNKNOWN]
    is_any_stated = any(judgment.state == "stated" for judgment in keywords)
    needs_more = rubric.match == "all" or not is_any_stated
    missing: tuple[str, ...] = ()
    if grade.missing and needs_more and (rubric.match == "all" or not (unknown or grade.matched)):
        missing = grade.missing
    wrong = grade.incorrect_matched if missing or has_missing_facts or grade.hedged else ()
    undecided = tuple(explain_judgments(unknown)) if needs_more else ()
    if grade.incorrect_matched and not wrong:
        said_by_reference = partition_facts(reference, grade.incorrect_matched)[0]
        undecided += tuple(
            f"{pattern}: listed as incorrect, and stated next to the keywords"
            for pattern in grade.incorrect_matched
            if pattern not in said_by_reference
        )
    return AnswerQuality(None, "keywords", missing, wrong, undecided)


def _judge_reference(case: Case, answer: str, sentences: Sequence[str]) -> tuple[FactJudgment, ...]:
    """Return what an answer does with what the reference asks of it; nothing for an exact or numeric one."""
    signal = find_text_signal(case)
    reference = case.reference or ""
    if signal == REFERENCE_VALUE:
        return (_judge_texts(case, answer, [reference], sentences)[reference],)
    if signal != REFERENCE_TEXT:
        return ()
    passages = [*list_quotes(case), *sentences]
    return tuple(judge_reference_facts(answer, reference, case.question, passages, language=_find_language(case)))


def _find_language(case: Case) -> str:
    """Return the language that a case or its user states, "" if neither does."""
    return case.language or (case.user.locale if case.user is not None else None) or ""


def _assess_reference(
    case: Case, answer: str, values: Sequence[FactJudgment], is_exact: bool | None
) -> AnswerQuality | None:
    """Compare with an exact reference, or with the values or facts of another; the reference word for word is right."""
    reference = case.reference
    if not reference:
        return None
    if is_exact is not None:
        return AnswerQuality(is_exact, "exact_match", () if is_exact else (reference,))
    is_text = case.rubric is None or case.rubric.kind == "text"
    if is_text and is_exact_match(answer, reference):
        return AnswerQuality(True, "the reference, verbatim")
    if not values:
        return None
    unknown = tuple(explain_judgments(judgment for judgment in values if judgment.state == UNKNOWN))
    missing = tuple(judgment.fact for judgment in values if judgment.state in ("denied", "missing"))
    wrong = _find_incorrect(case.rubric, answer, reference) if is_text else ()
    good = False if wrong else combine_states(judgment.state for judgment in values)
    return AnswerQuality(good, find_text_signal(case) or "", missing, wrong, unknown)


def _find_incorrect(rubric: Rubric | None, answer: str, reference: str) -> tuple[str, ...]:
    """Return the patterns listed as incorrect that an answer states and the reference does not."""
    listed = rubric.incorrect_patterns if rubric is not None else ()
    stated = partition_facts(answer, listed)[0]
    said_by_reference = partition_facts(reference, stated)[0]
    return tuple(pattern for pattern in stated if pattern not in said_by_reference)
