"""The labels that scorers gave to the items of a run: the folded verdicts of a judge, the rules, other tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from assay.graders import attached
from assay.graders.grounding import why_not
from assay.graders.instruments import outcome_of
from assay.graders.joins import Joins
from assay.graders.judging import RULES_VERSION, Judging, Rubrics, rubric_of
from assay.graders.names import read_name
from assay.graders.reading import Reading
from assay.graders.stages import CONTEXT
from assay.graders.votes import Ruled, Ruling, fold_votes
from assay.metrics.support import Support
from assay.model import SCORED
from assay.scoring.agreement import Key
from assay.scoring.truth import Opinion, key_of
from assay.verdict import Label, Rate, rubrics_hash
from assay.workflow.labelling import RUBRIC_OF, Asked, asked, instrument_name
from assay.workflow.score import ScoreRun

JUDGE, RULES = "judge", "rules"
_CLAIMS, _CITATIONS = "faithfulness", "citation_support"
_WHOLE_ANSWER = ("correctness", "answer_relevance")


class Instrument(NamedTuple):
    """One scorer with its labels by metric: `by` is judge, rules or a tool, `digest` identifies its version.

    `rubrics` is empty for a scorer without rubrics; `anchors` is the share of anchors labelled as expected by a judge.
    """

    name: str
    by: str
    digest: str
    rubrics: Rubrics
    opinions: Mapping[str, Mapping[Key, Opinion]]
    anchors: Rate | None = None

    def rubric_hash(self, metric: str) -> str:
        """Return the hash of the rubrics to which a calibration for a metric is bound, in addition to the digest."""
        return rubrics_hash(self.rubrics.values(), RUBRIC_OF[read_name(metric).base]) if self.rubrics else ""


def of_judge(run: ScoreRun, name: str, judging: Judging, metrics: Sequence[str]) -> Instrument:
    """Return the labels of a judge: its recorded votes, folded as scoring folds them."""
    opinions = {metric: _opinions_of_judge(run, judging, metric) for metric in metrics}
    return Instrument(name, JUDGE, judging.judge, judging.rubrics, opinions, judging.anchors)


def of_rules(run: ScoreRun, metrics: Sequence[str]) -> Instrument:
    """Return the labels of the rules for each claim or citation, or for each answer if a metric is about the whole."""
    bases = (_CLAIMS, _CITATIONS, *_WHOLE_ANSWER)
    opinions = {metric: _opinions_of_rules(run, metric) for metric in metrics if read_name(metric).base in bases}
    return Instrument(RULES, RULES, RULES_VERSION, {}, opinions)


def of_tools(labels: Sequence[Label]) -> list[Instrument]:
    """Return the external scores among labels, one scorer per tool and model; none is the run's own judge or rules."""
    by_tool: dict[tuple[str, str], dict[str, dict[Key, Opinion]]] = {}
    for label in labels:
        opinions_by_item = by_tool.setdefault((label.source, label.rater), {}).setdefault(label.metric, {})
        opinions_by_item[key_of(label)] = Opinion(label.label, label.value, label.note)
    return [
        Instrument(
            rater if rater == source else f"{source}: {rater}",
            f"another {source}" if source in (JUDGE, RULES) else source,
            rater,
            {},
            opinions,
        )
        for (source, rater), opinions in sorted(by_tool.items())
    ]


def _opinions_of_judge(run: ScoreRun, judging: Judging, metric: str) -> dict[Key, Opinion]:
    opinions: dict[Key, Opinion] = {}
    rulings: dict[str, Ruling] = {}
    for item in asked(run, metric, judging.rubrics):
        digest = item.request.digest
        samples = judging.book.get(digest)
        if not samples:
            continue
        if digest not in rulings:
            rubric = rubric_of(judging.rubrics, item.request.rubric, item.request.language)
            rulings[digest] = fold_votes(samples, rubric)
        votes = tuple(verdict.label for sample in samples for verdict in sample.items if verdict.id == item.item)
        opinions[item.key] = _fold_opinion(item, rulings[digest], votes)
    return opinions


def _fold_opinion(item: Asked, ruling: Ruling, votes: tuple[str, ...]) -> Opinion:
    no_ruling = Ruled(item.item, unscored=ruling.unscored)
    ruled_item = next((ruled for ruled in ruling.items if ruled.id == item.item), no_ruling)
    reasoning = ruled_item.said.reasoning if ruled_item.said is not None else ""
    return Opinion(ruled_item.label, ruled_item.value, reasoning, votes, ruled_item.unscored)


def _opinions_of_rules(run: ScoreRun, metric: str) -> dict[Key, Opinion]:
    joins = Joins(run.golden, run.corpus)
    opinions: dict[Key, Opinion] = {}
    for config in sorted(run.scoring.configs):
        for position, case in enumerate(run.golden.cases):
            observation = run.observation(config, case.id)
            if observation is None or observation.error is not None or not isinstance(observation.answer, str):
                continue
            reading = Reading(joins.case(position), observation)
            opinions_by_item = _RULE_READERS.get(read_name(metric).base, _rule_answer)(reading, metric)
            opinions |= {(case.id, config, item): opinion for item, opinion in opinions_by_item.items()}
    return opinions


def _rule_claims(reading: Reading, metric: str) -> dict[str, Opinion]:
    against = read_name(metric).key("against", CONTEXT)
    if why_not(reading, against) is not None:
        return {}
    pairs = zip(reading.claims, reading.supports(against), strict=True)
    return {claim.id: _opinion_of_support(support) for claim, support in pairs}


def _rule_citations(reading: Reading, _: str) -> dict[str, Opinion]:
    """Return the labels of the rules for each citation, and for each claim with several, under the judge's ids."""
    if attached.why_not(reading) is not None:
        return {}
    opinions = {
        citation.id: _opinion_of_support(attached.support_of(citation, reading))
        for citation in reading.citations
        if citation.texts
    }
    for claim in reading.claims:
        if attached.joint(reading, claim.id):
            opinions[f"{claim.id}.all"] = _opinion_of_support(attached.joint_support(claim, reading))
    return opinions


def _opinion_of_support(support: Support) -> Opinion:
    reasons = [*support.contradictions, *([f"missing: {', '.join(support.missing)}"] if support.missing else ())]
    return Opinion(None, support.score, "; ".join(reasons), signal=support.z)


def _rule_answer(reading: Reading, metric: str) -> dict[str, Opinion]:
    outcome = outcome_of(read_name(instrument_name(metric, RULES)), reading)
    return {"": Opinion(None, outcome.value, outcome.detail)} if outcome.status == SCORED else {}


_RULE_READERS = {_CLAIMS: _rule_claims, _CITATIONS: _rule_citations}
