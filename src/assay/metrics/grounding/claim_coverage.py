"""Claim-level citation coverage: the share of the claims of an answer that have a citation next to them.

A citation stands next to a claim as a marker in the text (`[1]`, `[id]`, a footnote `[^1]`, a superscript, a link), or
in the sentences that the target reports.
"""

from __future__ import annotations

from msgspec import structs

from assay.metrics.answer_metric import Scorers, define_answer_metric
from assay.metrics.judged.judge_requests import Outcome, not_applicable_outcome, scored_outcome
from assay.metrics.metric import Metric
from assay.metrics.parsed_answer import NO_CLAIMS, REFUSED, ParsedAnswer, format_list
from assay.text.claims.claim_segments import Claim
from assay.text.pattern_cache import compile_pattern

NOT_REPORTED = "no marker in the answer, and citations not reported"
_LINK = compile_pattern(
    r"\]\((?:https?://|[\w./#-]+\.[a-z]{2,5}\b)[^()\s]*\)|<https?://[^<>\s]+>|(?<!\w)https?://[^\s<>]+"
)
_SUPERSCRIPT = compile_pattern(r"(?:(?<=[^\W\d_]{4})|(?<=[.!?,;:)\"”]))[¹²³⁰⁴-⁹]{1,3}(?!\w)")  # m² is no citation


def score_claim_coverage(reading: ParsedAnswer) -> Outcome:
    """The share of the claims with a citation next to them."""
    if reading.is_refusal:
        return not_applicable_outcome(REFUSED)
    if not reading.claims:
        return not_applicable_outcome(NO_CLAIMS)
    uncited = [claim.text for claim in reading.claims if not is_cited(reading, claim)]
    observation = reading.observation
    is_reported = observation.citations is not None or observation.sentences is not None
    if len(uncited) == len(reading.claims) and not is_reported and not reading.case.case.must_cite:
        return not_applicable_outcome(NOT_REPORTED)
    return scored_outcome(1 - len(uncited) / len(reading.claims), format_list("without a citation", uncited))


def is_cited(reading: ParsedAnswer, claim: Claim) -> bool:
    """Return whether a citation stands next to a claim; one of the whole answer counts if it has a single claim."""
    if reading.citations_by_claim.get(claim.id):
        return True
    written = reading.answer[claim.start : claim.end + 1]
    return _LINK.search(written) is not None or _SUPERSCRIPT.search(written) is not None


CLAIM_COVERAGE_METRICS: tuple[Metric, ...] = (
    structs.replace(
        define_answer_metric(
            "claim_citation_coverage",
            "Share of the claims that have a citation next to them.",
            "citations by sentence, as long-form question answering asks for them",
            "refused, nothing claimed, or neither a marker in the answer nor citations reported or required",
            Scorers(score_claim_coverage),
        ),
        family="citation",
        uncalibrated=(),
    ),
)
