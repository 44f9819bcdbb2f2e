"""Is it the label that is wrong? Where golden set, corpus and answer contradict each other, the system may be right."""

from __future__ import annotations

from assay.graders.goldlabels import outdated
from assay.graders.judging import TIED_VOTES
from assay.metrics.quantities import quantities
from assay.metrics.text import fold
from assay.model import ERROR
from assay.scoring.blame import Blame
from assay.scoring.goodness import JUDGE, by_its_text, value_of
from assay.scoring.inquiry import Inquiry, holds, strange_numbers, support

SUPPORTED = 0.6
"""The share of an answer's words that its evidence must hold for the answer to count as taken from there."""


CLEARLY = 0.25
"""By how much another chunk must hold more of the reference than the labelled one."""


def stale_label(case: Inquiry) -> Blame | None:
    """The required evidence is not in the corpus, or has another text there than the one that was labelled."""
    found = outdated(case.case)
    return Blame("golden_label_issue", None, found, "high") if found else None


def moved_label(case: Inquiry) -> Blame | None:
    """A good answer that rests on a chunk without label, while the labelled one holds nothing that the case looks for.

    The labelled one did not arrive, or is not cited where it should be; a twin with the same text shows it as well.
    """
    units = case.lost or (case.required if case.miscited else [])
    for unit in case.lost:
        texts = {fold(text) for text in case.truth(unit)}
        twin = next((chunk_id for chunk_id, text in case.unlabelled.items() if fold(text) in texts), None)
        if twin is not None:
            return Blame("golden_label_issue", None, (f"{twin} has the same text as {case.name(unit)}",), "medium")
    truth = [text for unit in units for text in case.truth(unit)]
    if not case.good or not truth:
        return None
    names = ", ".join(case.name(unit) for unit in units)
    found = [fact for fact in case.facts if holds(case.unlabelled.values(), fact)]
    if found and not any(holds(truth, fact) for fact in case.facts):
        seen = f"{_quoted(found)} stands in a chunk without label that the generator was shown"
        return Blame("golden_label_issue", None, (f"{names} holds nothing that the case looks for", seen), "high")
    return _better_source(case, names, truth)


def _better_source(case: Inquiry, names: str, truth: list[str]) -> Blame | None:
    """A chunk without label holds the reference, and the labelled one clearly less of it."""
    reference = case.case.case.reference
    if not reference or not case.unlabelled:
        return None
    best, share = max(
        ((name, support(reference, [text])) for name, text in case.unlabelled.items()), key=lambda x: x[1]
    )
    labelled = support(reference, truth)
    if share < SUPPORTED or share < labelled + CLEARLY:
        return None
    evidence = (f"{best} holds {share:.0%} of the reference's words, {names} {labelled:.0%}",)
    return Blame("golden_label_issue", None, evidence, "medium")


def wrong_reference(case: Inquiry) -> Blame | None:
    """The answer is taken from the evidence that arrived, and the case demands what that evidence does not say.

    Either nothing that is missing stands in the evidence, or a number that is demanded does not: the words of a label
    may be freer than its evidence, its numbers may not.
    """
    if case.good is not False or not case.reached or case.did != "answer":
        return None
    truth = [text for unit in case.required for text in case.truth(unit)]
    unsaid = [fact for fact in case.content.missing if not holds(truth, fact)]
    if not truth or not unsaid or (len(unsaid) < len(case.content.missing) and not any(map(quantities, unsaid))):
        return None
    if strange_numbers(case.answer, [*truth, *case.context, case.case.case.question]):
        return None
    share = support(case.answer, truth)
    if share < SUPPORTED:
        return None
    names = ", ".join(case.name(unit) for unit in case.required)
    evidence = (
        f"{names} does not hold {_quoted(unsaid)}, which the case demands",
        f"{share:.0%} of the answer's words stand in that evidence, and every number of it in the context",
    )
    return Blame("golden_label_issue", None, evidence, "high" if len(unsaid) == len(case.content.missing) else "medium")


def judge_noise(case: Inquiry) -> Blame | None:
    """A judge decided and the answer's own text says the opposite, or its votes were tied and nothing else decides."""
    status, _, why = case.scores.get(JUDGE, (None, 0.0, ""))
    if status == ERROR and why == TIED_VOTES and case.good is None:
        return Blame("judge_noise", None, (f"{JUDGE}: the votes were tied",), "medium")
    if not case.content.signal.startswith(JUDGE) or case.good is None or case.did != "answer":
        return None
    text = by_its_text(case.case.case, case.seen)
    value = value_of(case.scores, JUDGE)
    if case.good is False and case.content.good is False and text.good:
        seen = f"{text.signal}: everything that the case looks for stands in the answer"
    elif case.good and text.good is False and text.wrong:
        seen = f"{text.signal}: {_quoted(text.wrong)} is wrong and stands in the answer"
    else:
        return None
    return Blame("judge_noise", None, (f"{JUDGE} is {value:.2f}", seen), "medium")


def _quoted(facts: tuple[str, ...] | list[str]) -> str:
    return ", ".join(f"“{fact}”" for fact in facts)
