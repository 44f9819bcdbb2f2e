"""Does each citation bear out what it stands beside? Every citation against the very claim it is attached to.

Citations given for the answer as a whole are held against all of its claims and need to bear out one of them.
"""

from __future__ import annotations

import math

from assay.graders.grounding import NOT_FOUND, UNSUPPORTED, claims_by_judge
from assay.graders.held import CITATION_SUPPORT, FAITHFULNESS, Held, held
from assay.graders.judging import (
    MOST_ITEMS,
    Asking,
    Labelled,
    Labels,
    Outcome,
    Rubrics,
    item_requests,
    labels_of,
    not_applicable,
    rubric_of,
    scored,
    together,
)
from assay.graders.reading import NO_CLAIMS, NO_TEXT, REFUSED, Citation, Reading, listed
from assay.graders.stages import CONTEXT
from assay.metrics.claims import Claim
from assay.metrics.support import Support
from assay.verdict import JudgeRequest

RUBRIC = "citation_support"
NECESSARY = 0.1
"""How much less support a claim must have without a citation for the citation to share in what they support jointly."""
MOST_JOINT = 20
"""Citations of one claim that can support it jointly; of more, each has to support it alone."""
MISSING = Labelled("missing", 0.0)
"""The label of a citation that names nothing known."""


def why_not(reading: Reading) -> Outcome | None:
    """Return why citations cannot be held against claims; None where they can."""
    if not reading.has_texts:
        return not_applicable(NO_TEXT)
    if reading.refused:
        return not_applicable(REFUSED)
    if not reading.claims:
        return not_applicable(NO_CLAIMS)
    texts = reading.cited
    if isinstance(texts, str):
        return not_applicable(texts)
    return None


# ── by rules ─────────────────────────────────────────────────────────────────────────────────────────────────────


def support_by_rules(reading: Reading) -> Outcome:
    """The mean, over citations, of the score of the claim by the cited source alone; 0 for one that names nothing.

    A citation without which the claim has less support shares in what all citations of the claim support together.
    """
    reason = why_not(reading)
    if reason is not None:
        return reason
    as_held = held(reading, CITATION_SUPPORT)
    scores = [_score(citation, reading, as_held) for citation in reading.citations]
    weak = [each.name for each, score in zip(reading.citations, scores, strict=True) if score < WEAK]
    return scored(math.fsum(scores) / len(scores), listed("weak", weak))


WEAK = 0.3
"""A score by rules below which a citation is named to the reader of a case."""


def _score(citation: Citation, reading: Reading, as_held: Held) -> float:
    if not citation.texts:
        return 0.0
    score = as_held.score(support_of(citation, reading))
    beside = reading.beside[citation.claim.id] if citation.claim is not None else []
    if citation.claim is not None and 1 < len(beside) <= MOST_JOINT:
        jointly = as_held.score(joint_support(citation.claim, reading))
        others = {name for each in beside if each is not citation for name in each.texts}
        if jointly - as_held.score(reading.support_by(citation.claim, others)) >= NECESSARY:
            return max(score, jointly)
    return score


def support_of(citation: Citation, reading: Reading) -> Support:
    """Return what the cited source alone says of the claim; of one for the whole answer, of the claim it fits best."""
    claims = reading.claims if citation.claim is None else (citation.claim,)
    return max((reading.support_by(claim, citation.texts) for claim in claims), key=lambda found: found.z)


def joint_support(claim: Claim, reading: Reading) -> Support:
    """Return what all sources that are cited beside a claim say of it together."""
    return reading.support_by(claim, {name for each in reading.beside[claim.id] for name in each.texts})


def misattributed_by_rules(reading: Reading) -> Outcome:
    """The share of citations whose source does not bear out the claim beside it while another of the context does."""
    found = _beside_claims(reading)
    if isinstance(found, Outcome):
        return found
    best = dict(zip((claim.id for claim in reading.claims), reading.supports(CONTEXT), strict=True))
    of_claims, of_citations = held(reading, FAITHFULNESS[CONTEXT]), held(reading, CITATION_SUPPORT)
    wrong = []
    for citation in found:
        assert citation.claim is not None
        other = best[citation.claim.id]
        elsewhere = of_claims.verdict(other) == "supported" and other.source not in citation.texts
        own = of_citations.verdict(support_of(citation, reading)) if citation.texts else NOT_FOUND.label
        if elsewhere and own in UNSUPPORTED:
            wrong.append(f"{citation.name}, but {other.source}")
    return scored(len(wrong) / len(found), listed("misattributed", wrong))


def _beside_claims(reading: Reading) -> list[Citation] | Outcome:
    """Return the citations that stand beside a claim; why there is nothing to compare where that is so."""
    if isinstance(reading.context, str):
        return not_applicable(reading.context)
    reason = why_not(reading)
    found = [citation for citation in reading.citations if citation.claim is not None] if reason is None else []
    return found if found else reason or not_applicable("no citation stands beside a claim")


# ── by a judge ───────────────────────────────────────────────────────────────────────────────────────────────────


def _requests(reading: Reading, rubrics: Rubrics) -> list[JudgeRequest]:
    """Return the requests about all citations that name something, and about several that stand beside one claim."""
    rubric = rubric_of(rubrics, RUBRIC, reading.language)
    entries, sources = [], dict[str, str]()
    for citation in reading.citations:
        if citation.texts:
            sources[citation.name] = "\n\n".join(citation.texts.values())
            text = reading.answer if citation.claim is None else citation.claim.text
            entries.append({"id": citation.id, "text": text, "source": citation.name})
    for claim in reading.claims:
        names = joint(reading, claim.id)
        if names:
            sources[" + ".join(names)] = "\n\n".join(sources[name] for name in names)
            entries.append({"id": f"{claim.id}.all", "text": claim.text, "source": " + ".join(names)})
    requests = []
    for start in range(0, len(entries), MOST_ITEMS):  # each with its own sources: of too much text a judge reads a part
        group = entries[start : start + MOST_ITEMS]
        named = {entry["source"] for entry in group}
        context = [{"id": name, "text": text} for name, text in sources.items() if name in named]
        requests += item_requests(rubric, "citations", group, {"question": reading.question, "context": context})
    return requests


def joint(reading: Reading, claim_id: str) -> list[str]:
    """Return what is cited beside a claim where it is more than one known source."""
    beside = [each.name for each in reading.beside.get(claim_id, ()) if each.texts]
    return beside if len(beside) > 1 else []


def _labelled(reading: Reading, rubrics: Rubrics) -> Labels:
    """Ask about the citations; return the label of each, and of each claim with several, by id."""
    reason = why_not(reading)
    if reason is not None:
        return reason
    requests = reading.requests(RUBRIC, "", lambda: _requests(reading, rubrics))
    labels = labels_of((yield requests), requests) if requests else {}
    if isinstance(labels, Outcome):
        return labels
    return labels | {each.id: MISSING for each in reading.citations if not each.texts}


def _value(citation: Citation, labels: dict[str, Labelled]) -> float:
    """Return what a citation is worth: one for the answer as a whole need only bear out a part of it, and a part of a
    claim is enough where the citations beside the claim bear it out together."""
    own = labels[citation.id].value or 0.0
    if citation.claim is None:
        return float(own > 0)
    joint = labels.get(f"{citation.claim.id}.all")
    return max(own, joint.value or 0.0) if own > 0 and joint is not None else own


def support_by_judge(reading: Reading, rubrics: Rubrics) -> Asking:
    """The mean of what the citations are worth; 0 for one that names nothing."""
    labels = yield from _labelled(reading, rubrics)
    if isinstance(labels, Outcome):
        return labels
    values = [_value(citation, labels) for citation in reading.citations]
    bad = [f"{each.name} ({labels[each.id].label})" for each, v in zip(reading.citations, values, strict=True) if v < 1]
    return scored(math.fsum(values) / len(values), listed("not borne out", bad))


def misattributed_by_judge(reading: Reading, rubrics: Rubrics) -> Asking:
    """The share of citations whose source does not bear out the claim beside it while the context does."""
    found = _beside_claims(reading)
    if isinstance(found, Outcome):
        return found
    claims, citations = yield from together(claims_by_judge(reading, rubrics, CONTEXT), _labelled(reading, rubrics))
    if isinstance(claims, Outcome):
        return claims
    if isinstance(citations, Outcome):
        return citations
    wrong = [
        each.name
        for each in found
        if each.claim is not None and not citations[each.id].value and claims[each.claim.id].value == 1
    ]
    return scored(len(wrong) / len(found), listed("misattributed", wrong))
