"""Whether a system tells a case apart from a variant of which another answer is right (ADR 115).

Both have to get what belongs to them: an expected behaviour and, where both are to be answered, the facts that tell
them apart. Equal answers, equal refusals, and the answer of the other one are no distinction. What only makes an answer
worse, such as a missing citation, does not count.
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from assay.metrics.answers.answer_behaviour import ANSWER_BEHAVIOUR
from assay.metrics.answers.expected_text import read_facts
from assay.metrics.case_checks import DENIED_FACT, INCOMPLETE_ANSWER, LEAK, UNKNOWN_ANSWER, WRONG_ANSWER
from assay.metrics.variants import LEAKED_VARIANT
from assay.records.golden_set import Case
from assay.records.scores import CaseChecks, VariantState
from assay.scoring.case_outcomes import UNANSWERED_CHECKS, CaseOutcome
from assay.text.facts.fact_judgments import combine_states
from assay.text.normalisation import fold_text
from assay.text.refusals.detected_behaviour import UNKNOWN

_PairState = tuple[VariantState, str]
_APART: _PairState = ("as expected", "")


class TwinAnswer(NamedTuple):
    """What a system did with one case: its answer, None if there is none, and its behaviour, "" if nothing tells.

    `ranking` are the chunks of its last stage, None if it reports none, and `has_evidence` whether all required
    evidence is among them, None where that cannot be told.
    """

    text: str | None
    behaviour: str
    ranking: tuple[str, ...] | None = None
    has_evidence: bool | None = None


class TwinSide(NamedTuple):
    """One of two twins: its case, what the system did, and how that was scored.

    `outcome` is None if the case was not observed. `is_told`: something that was measured tells whether the answer is
    right. `is_access_told`: it was measured whether something leaked.
    """

    case: Case
    answer: TwinAnswer
    outcome: CaseOutcome | None
    checks: CaseChecks | None = None
    is_told: bool = False
    is_access_told: bool = False

    @property
    def failed(self) -> tuple[str, ...]:
        """The checks that failed."""
        return self.checks.failed if self.checks is not None else ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """The checks that only warn."""
        return self.checks.warnings if self.checks is not None else ()


def check_distinction(base: TwinSide, variant: TwinSide) -> _PairState:
    """Return whether a system told a case and its variant apart, and if not, or if nobody can tell, what happened."""
    if base.outcome is None or variant.outcome is None:
        return "unknown", "no observation"
    if any(UNANSWERED_CHECKS.intersection(side.failed) for side in (base, variant)):
        return "unknown", "the target failed"
    if not _expect_different_answers(base.case, variant.case):
        return "unknown", "the golden set expects the same of both"
    for side, leaked in ((variant, LEAKED_VARIANT), (base, "leak (case)")):
        if LEAK in side.failed:
            return "not as expected", leaked
    if base.answer.text is None and variant.answer.text is None:
        return _compare_evidence(base, variant)
    if base.answer.text is None or variant.answer.text is None:
        return "unknown", "only one of the two has an answer"
    if fold_text(base.answer.text) == fold_text(variant.answer.text):
        return "not as expected", "the same answer"
    return _compare_behaviours(base, variant) or _compare_facts(base, variant)


def _expect_different_answers(base: Case, variant: Case) -> bool:
    def describe(case: Case) -> tuple[object, ...]:
        evidence = [unit.any_of for unit in case.evidence if unit.required]
        return case.behaviour, case.must_have, case.reference, case.rubric, case.answer_format, evidence

    return describe(base) != describe(variant)


def _compare_behaviours(base: TwinSide, variant: TwinSide) -> _PairState | None:
    """Return what the behaviours tell; None if both twins were answered, and are to be."""
    observed, of_variant = base.answer.behaviour, variant.answer.behaviour
    if observed == of_variant not in ("", UNKNOWN, ANSWER_BEHAVIOUR):
        return "not as expected", f"{observed} both times"
    for side, name in ((variant, ""), (base, " (case)")):
        behaviour = side.answer.behaviour
        if behaviour not in ("", UNKNOWN, side.case.behaviour, *side.case.also_accept):
            return "not as expected", f"{behaviour} where {side.case.behaviour} is right{name}"
    if "" in (observed, of_variant) or UNKNOWN in (observed, of_variant):
        return "unknown", "nothing tells what an answer did"
    return _APART if observed != of_variant else None


# ── both are answered ────────────────────────────────────────────────────────────────────────────────────────────────


def _compare_facts(base: TwinSide, variant: TwinSide) -> _PairState:
    """Return whether two answers state the facts of their own cases, and not both those of both."""
    own, of_case = _states_own_facts(variant, base), _states_own_facts(base, variant)
    if own is not True and _states_facts_of(variant, base):
        if own is False:
            return "not as expected", "the answer of its case"
    elif own and of_case and _states_facts_of(variant, base) and _states_facts_of(base, variant):
        return "not as expected", "both answers state the facts of both"
    if of_case is False and _states_facts_of(base, variant):
        return "not as expected", "its case got the answer of the variant"
    for is_right, name in ((own, ""), (of_case, " (case)")):
        if is_right is False:
            return "not as expected", f"{WRONG_ANSWER}{name}"
    if own is None or of_case is None:
        return "unknown", "nothing tells whether the answers are right"
    return _APART


def _states_own_facts(side: TwinSide, other: TwinSide) -> bool | None:
    """Return whether an answer is right, as far as that tells the twins apart; None if nothing tells.

    What decides whether an answer is right decides here too. An answer of which only a part is there, or is open, is
    read again for the facts that the other twin does not have.
    """
    if WRONG_ANSWER in side.failed:
        return False
    is_whole = not {INCOMPLETE_ANSWER, DENIED_FACT}.intersection(side.failed) and UNKNOWN_ANSWER not in side.warnings
    if is_whole and side.is_told:
        return True
    return _read_distinct_facts(side.case, other.case, side.answer.text or "")


def _states_facts_of(side: TwinSide, other: TwinSide) -> bool:
    """Return whether an answer states all facts that only the other twin has; no if there are none."""
    asked = replace(other.case, question=side.case.question)
    return _read_distinct_facts(asked, side.case, side.answer.text or "") is True


def _read_distinct_facts(case: Case, other: Case, answer: str) -> bool | None:
    """Return whether an answer states the must-have facts that only the first of two cases has; None if none has."""
    shared = {fold_text(fact) for fact in other.must_have}
    judgments = [found for found in read_facts(case, answer).must_have if fold_text(found.fact) not in shared]
    return combine_states(judgment.state for judgment in judgments) if judgments else None


# ── neither is answered ──────────────────────────────────────────────────────────────────────────────────────────────


def _compare_evidence(base: TwinSide, variant: TwinSide) -> _PairState:
    """Return what the last rankings of two searches without an answer tell."""
    if base.answer.ranking is None or variant.answer.ranking is None:
        return "unknown", "no answer and no chunks"
    if variant.case.behaviour == "permission_denied":
        return _compare_denied_search(base, variant)
    if not base.case.behaviour == variant.case.behaviour == ANSWER_BEHAVIOUR:
        return "unknown", "a search alone refuses nothing"
    if _list_required(base.case) == _list_required(variant.case):
        return "unknown", "the same evidence answers both"
    if base.answer.ranking == variant.answer.ranking:
        return "not as expected", "the same chunks"
    for side, name in ((variant, ""), (base, " (case)")):
        if side.answer.has_evidence is False:
            return "not as expected", f"its evidence is not among the chunks{name}"
        if side.answer.has_evidence is None:
            return "unknown", f"nothing tells whether its evidence is among the chunks{name}"
    return _APART


def _compare_denied_search(base: TwinSide, variant: TwinSide) -> _PairState:
    """Return whether a search shows evidence to the one user and not to the other, who may not see it."""
    if base.answer.has_evidence is False:
        return "not as expected", "the evidence is shown to neither user"
    if base.answer.has_evidence is None or not variant.is_access_told:
        return "unknown", "nothing tells who was shown the evidence"
    return _APART


def _list_required(case: Case) -> list[object]:
    return [unit.any_of for unit in case.evidence if unit.required]
