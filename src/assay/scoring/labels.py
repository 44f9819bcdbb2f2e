"""Rules that detect wrong labels: if golden set, corpus and answer contradict each other, the system may be right."""

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
"""The share of an answer's words that the evidence must contain for the answer to count as taken from it."""


_MIN_ADVANTAGE = 0.25
"""How much more of the reference's words another chunk must contain than the labelled one."""


def stale_label(case: Inquiry) -> Blame | None:
    """The required evidence is not in the corpus, or its text differs from the text that was labelled."""
    facts = outdated(case.case)
    return Blame("golden_label_issue", None, facts, "high") if facts else None


def moved_label(case: Inquiry) -> Blame | None:
    """A good answer is based on an unlabelled chunk, while the labelled one contains nothing that the case looks for.

    The labelled chunk did not reach the generator, or is not cited. The rule also applies if an unlabelled chunk with
    the same text was shown instead.
    """
    units = case.lost or (case.required if case.miscited else [])
    for unit in case.lost:
        texts = {fold(text) for text in case.truth(unit)}
        twin = next((chunk_id for chunk_id, text in case.unlabelled.items() if fold(text) in texts), None)
        if twin is not None:
            return Blame("golden_label_issue", None, (f"{twin} has the same text as {case.name(unit)}",), "medium")
    labelled_texts = [text for unit in units for text in case.truth(unit)]
    if not case.good or not labelled_texts:
        return None
    names = ", ".join(case.name(unit) for unit in units)
    unlabelled_facts = [fact for fact in case.facts if holds(case.unlabelled.values(), fact)]
    if unlabelled_facts and not any(holds(labelled_texts, fact) for fact in case.facts):
        evidence = (
            f"{names} contains nothing that the case looks for",
            f"{_quote(unlabelled_facts)} is in an unlabelled chunk that the generator was shown",
        )
        return Blame("golden_label_issue", None, evidence, "high")
    return _find_better_source(case, names, labelled_texts)


def _find_better_source(case: Inquiry, names: str, labelled_texts: list[str]) -> Blame | None:
    """An unlabelled chunk contains the reference, and the labelled one clearly less of it."""
    reference = case.case.case.reference
    if not reference or not case.unlabelled:
        return None
    share_by_chunk = {name: support(reference, [text]) for name, text in case.unlabelled.items()}
    best = max(share_by_chunk, key=share_by_chunk.__getitem__)
    share, labelled_share = share_by_chunk[best], support(reference, labelled_texts)
    if share < SUPPORTED or share < labelled_share + _MIN_ADVANTAGE:
        return None
    evidence = (f"{best} contains {share:.0%} of the reference's words, {names} {labelled_share:.0%}",)
    return Blame("golden_label_issue", None, evidence, "medium")


def wrong_reference(case: Inquiry) -> Blame | None:
    """The answer is taken from the evidence, and the case requires what that evidence does not say.

    The evidence must contain none of the missing facts, or lack a required number: the words of a label may differ from
    its evidence, its numbers may not.
    """
    if case.good is not False or not case.reached or case.did != "answer":
        return None
    evidence_texts = [text for unit in case.required for text in case.truth(unit)]
    unsupported = [fact for fact in case.content.missing if not holds(evidence_texts, fact)]
    if not evidence_texts or not unsupported:
        return None
    is_all_unsupported = len(unsupported) == len(case.content.missing)
    if not is_all_unsupported and not any(map(quantities, unsupported)):
        return None
    if strange_numbers(case.answer, [*evidence_texts, *case.context, case.case.case.question]):
        return None
    share = support(case.answer, evidence_texts)
    if share < SUPPORTED:
        return None
    names = ", ".join(case.name(unit) for unit in case.required)
    evidence = (
        f"{names} does not contain {_quote(unsupported)}, which the case requires",
        f"{share:.0%} of the answer's words are in that evidence, and all of its numbers are in the context",
    )
    return Blame("golden_label_issue", None, evidence, "high" if is_all_unsupported else "medium")


def judge_noise(case: Inquiry) -> Blame | None:
    """The judge decided and the answer's text shows the opposite, or its votes were tied and nothing else decides."""
    status, _, reason = case.scores.get(JUDGE, (None, 0.0, ""))
    if status == ERROR and reason == TIED_VOTES and case.good is None:
        return Blame("judge_noise", None, (f"{JUDGE}: the votes were tied",), "medium")
    if not case.content.signal.startswith(JUDGE) or case.good is None or case.did != "answer":
        return None
    text = by_its_text(case.case.case, case.seen)
    value = value_of(case.scores, JUDGE)
    if case.good is False and case.content.good is False and text.good:
        fact = f"{text.signal}: everything that the case looks for is in the answer"
    elif case.good and text.good is False and text.wrong:
        fact = f"{text.signal}: {_quote(text.wrong)} is wrong and is in the answer"
    else:
        return None
    return Blame("judge_noise", None, (f"{JUDGE} is {value:.2f}", fact), "medium")


def _quote(facts: tuple[str, ...] | list[str]) -> str:
    return ", ".join(f"“{fact}”" for fact in facts)
