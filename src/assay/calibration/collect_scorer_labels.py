"""The items of a run that people can label, and the labels that scorers gave them.

People are asked the questions that a judge is asked. A scorer is a judge, whose votes are folded, the rules, or another
tool.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from assay.calibration.human_labels import ScorerLabel, get_item_key
from assay.calibration.label_costs import share_cost
from assay.calibration.rater_agreement import ItemKey
from assay.formats.labels.label_files import LabelScales, check_label_metric
from assay.judging.rubric_files import use_rubrics
from assay.metrics.answers.correctness import CORRECTNESS, read_answer_prior
from assay.metrics.answers.entailed_reference import compare_with_reference, list_expected_parts
from assay.metrics.answers.rubric_metrics import LABEL_KEY, name_rubric_metric
from assay.metrics.cases.case_index import GoldenIndex
from assay.metrics.catalog import CATALOG, find_main_rubric, parse_metrics
from assay.metrics.grounding import citation_support
from assay.metrics.grounding.entailment_support import compare_claims, convert_to_signal
from assay.metrics.grounding.faithfulness import find_grounding_exclusion
from assay.metrics.judged.entailment_model import EntailmentError, EntailmentModel
from assay.metrics.judged.judge_requests import (
    ENGLISH,
    RULES_VERSION,
    WHOLE_ANSWER_ITEM,
    RecordedVerdicts,
    Rubrics,
    find_rubric,
    name_combined_scorer,
)
from assay.metrics.judged.vote_folding import ItemRuling, Ruling, fold_votes
from assay.metrics.metric import MetricName, parse_metric_name
from assay.metrics.parsed_answer import ParsedAnswer
from assay.metrics.scorers import collect_requests, compute_outcome
from assay.records.errors import InputError, Problem
from assay.records.observations import CONTEXT_STAGE, Observation
from assay.records.scores import SCORED
from assay.records.verdicts import JudgeRequest, Label, LabelledRate, compute_rubrics_hash
from assay.scoring.scored_run import ScoredRun
from assay.text.claims.source_support import SourceSupport

_LISTS = ("claims", "citations", "facts")


class LabelItem(NamedTuple):
    """One item that a request asks about: `text` is the claim, citation or fact ("" for the whole answer)."""

    key: ItemKey
    text: str
    request: JudgeRequest
    item: str
    observation: Observation


def load_label_rubrics(run: ScoredRun | None, folders: Sequence[str] = ()) -> Rubrics:
    """Return the built-in rubrics with those of the folders; without folders, those that a run was judged with.

    Raises SettingsError for rubrics that cannot be read.
    """
    judged = run.judging.rubrics if run is not None and run.judging is not None and not folders else {}
    return judged or use_rubrics(folders)[0]


def label_scales(rubrics: Rubrics) -> LabelScales:
    """Return the labels of every metric that humans label, each with its value; a failure label has none.

    These are the metrics that are made of the labels of one rubric, shipped or not.
    """
    scales = {}
    for rubric_name in sorted({name for name, _ in rubrics}):
        rubric = find_rubric(rubrics, rubric_name, ENGLISH)
        scales[name_rubric_metric(rubric_name)] = {label.name: label.value for label in rubric.labels}
    return scales


def hash_rubric(rubrics: Rubrics, metric: str) -> str:
    """Return the hash of a metric's rubric in all its languages; "" where there are no rubrics."""
    return compute_rubrics_hash(rubrics.values(), find_main_rubric(parse_metric_name(metric).base))


def name_with_scorer(metric: str, scorer: str) -> str:
    """Return a metric's name with its scorer.

    >>> name_with_scorer("faithfulness(against=cited)", "judge")
    'faithfulness(against=cited,by=judge)'
    """
    name = parse_metric_name(metric)
    return str(MetricName(name.base, tuple(sorted({**dict(name.keys), "by": scorer}.items())), name.k))


def metric_for_labels(metric: str) -> str:
    """Return the name under which humans label a metric: without the scorer, and without keys of default value.

    Raises MetricNameError for a key that the metric does not have.

    >>> metric_for_labels("faithfulness(by=judge)"), metric_for_labels("faithfulness(against=context)")
    ('faithfulness', 'faithfulness')
    """
    name = parse_metric_name(metric)
    if name.base in CATALOG:
        (name, *_) = parse_metrics([name_with_scorer(metric, "judge")])
    return str(MetricName(name.base, tuple(pair for pair in name.keys if pair[0] not in ("by", LABEL_KEY)), name.k))


def check_label_metrics(metrics: Sequence[str], scales: LabelScales) -> list[str]:
    """Return the metrics under the names that labels use. Raises InputError for metrics that cannot be labelled."""
    names = [metric_for_labels(metric) for metric in metrics]
    messages = [check_label_metric(name, scales) for name in names]
    problems = [Problem("", None, "metric", message) for message in messages if message]
    if problems:
        raise InputError(problems)
    return list(dict.fromkeys(names))


def iterate_label_items(run: ScoredRun, metric: str, rubrics: Rubrics) -> Iterator[LabelItem]:
    """Yield every item that a judge is asked about for a metric, over all configurations and cases of a run."""
    joins = GoldenIndex(run.golden, run.corpus)
    for config, position, observation in run.iterate_observations():
        for judge_request in _requests_for_case(joins, position, observation, metric, rubrics):
            yield from list_request_items(judge_request, run.golden.cases[position].id, config, observation)


def list_request_items(request: JudgeRequest, case_id: str, config: str, observation: Observation) -> list[LabelItem]:
    """Return the items of a request about an answer."""
    entries = {entry["id"]: entry for name in _LISTS for entry in request.inputs.get(name, ())}
    items = []
    for item in request.items:
        key = case_id, config, "" if item == WHOLE_ANSWER_ITEM else item
        items.append(LabelItem(key, _item_text(entries.get(item), request), request, item, observation))
    return items


def source_texts(judge_request: JudgeRequest) -> tuple[str, ...]:
    """Return the texts that a request offers as sources, in order, without the names of their chunks."""
    return tuple(str(entry["text"]) for entry in judge_request.inputs.get("context") or ())


def _requests_for_case(
    joins: GoldenIndex, position: int, observation: Observation, metric: str, rubrics: Rubrics
) -> list[JudgeRequest]:
    name = parse_metric_name(name_with_scorer(metric, "judge"))
    return collect_requests(joins.case_index(position), observation, [name], rubrics)


def _item_text(entry: dict[str, Any] | None, request: JudgeRequest) -> str:
    """Return the text of an item; a citation gets the number of its source, which hides the name of the chunk."""
    if entry is None:
        return ""
    source_ids = [source["id"] for source in request.inputs.get("context") or ()]
    source = entry.get("source")
    mark = f" [{source_ids.index(source) + 1}]" if source in source_ids else ""
    return f"{entry['text']}{mark}"


JUDGE, RULES, COMBINED, ENTAILMENT = "judge", "rules", "combined", "entailment"
_CLAIMS, _CITATIONS = "faithfulness", "citation_support"
CONTRADICTION_METRIC, _CONTRADICTED = "contradicted_claims", "contradicted"
_WHOLE_ANSWER = ("correctness", "answer_relevance")


class ScorerLabels(NamedTuple):
    """One scorer with its labels by metric: `kind` is judge, rules or a tool, `digest` identifies its version.

    `rubrics` is empty for a scorer without rubrics; `anchors` is the share of anchors labelled as expected by a judge,
    and `models` are those that answered under its name.
    """

    name: str
    kind: str
    digest: str
    rubrics: Rubrics
    labels: Mapping[str, Mapping[ItemKey, ScorerLabel]]
    anchors: LabelledRate | None = None
    models: tuple[str, ...] = ()

    def rubric_hash(self, metric: str) -> str:
        """Return the hash of the rubrics to which a calibration for a metric is bound, in addition to the digest."""
        return hash_rubric(self.rubrics, metric)


def collect_judge_labels(run: ScoredRun, name: str, judging: RecordedVerdicts, metrics: Sequence[str]) -> ScorerLabels:
    """Return the labels of a judge: its recorded votes, folded as scoring folds them."""
    opinions = {metric: _opinions_of_judge(run, judging, metric) for metric in metrics}
    checks = judging.control_agreement, judging.answering_models
    return ScorerLabels(name, JUDGE, judging.judge, judging.rubrics, opinions, *checks)


def collect_rule_labels(run: ScoredRun, metrics: Sequence[str]) -> ScorerLabels:
    """Return the labels of the rules for each claim or citation, or for each answer if a metric is about the whole."""
    bases = (_CLAIMS, _CITATIONS, *_WHOLE_ANSWER)
    opinions = {
        metric: _opinions_of_rules(run, metric) for metric in metrics if parse_metric_name(metric).base in bases
    }
    return ScorerLabels(RULES, RULES, RULES_VERSION, {}, opinions)


def collect_answer_priors(run: ScoredRun) -> dict[ItemKey, ScorerLabel]:
    """Return for each answer that a judge grades what the rules say before it: a signal, and as value the highest grade
    that they leave it."""
    priors: dict[ItemKey, ScorerLabel] = {}
    for (case_id, config), reading in _iterate_readings(run):
        prior = read_answer_prior(reading)
        if prior is not None:
            priors[case_id, config, ""] = ScorerLabel(None, prior.cap, signal=prior.signal)
    return priors


def collect_entailment_labels(run: ScoredRun, metrics: Sequence[str], model: EntailmentModel) -> ScorerLabels:
    """Return what an entailment model says of each claim, of contradictions as a metric of their own, and of answers
    as a whole compared with their references.

    Answers that it cannot read have no label.
    """
    opinions: dict[str, dict[ItemKey, ScorerLabel]] = {}
    for metric in metrics:
        if parse_metric_name(metric).base == CORRECTNESS:
            opinions[metric] = _collect_entailed_references(run, model)
        if parse_metric_name(metric).base != _CLAIMS:
            continue
        against = parse_metric_name(metric).key_value("against", CONTEXT_STAGE)
        for (case_id, config), reading in _iterate_readings(run):
            try:
                if find_grounding_exclusion(reading, against) is not None:
                    continue
                compared = compare_claims(reading, model, against)
            except EntailmentError:
                continue
            for claim, scores in zip(reading.claims, compared, strict=True):
                key = case_id, config, claim.id
                opinions.setdefault(metric, {})[key] = _opinion_of_probability(scores.entailment)
                if against == CONTEXT_STAGE:
                    opinion = _opinion_of_probability(scores.contradiction)
                    opinions.setdefault(CONTRADICTION_METRIC, {})[key] = opinion
    return ScorerLabels(ENTAILMENT, ENTAILMENT, name_combined_scorer(model.digest), {}, opinions)


def _collect_entailed_references(run: ScoredRun, model: EntailmentModel) -> dict[ItemKey, ScorerLabel]:
    """Return for each answer that is compared with a reference the least probability that it entails a part of it."""
    opinions: dict[ItemKey, ScorerLabel] = {}
    for (case_id, config), reading in _iterate_readings(run):
        if read_answer_prior(reading) is None or not reading.answer.strip() or not list_expected_parts(reading):
            continue
        try:
            entailed = compare_with_reference(reading, model)
        except EntailmentError:
            continue
        opinions[case_id, config, ""] = _opinion_of_probability(min(entailed))
    return opinions


def _opinion_of_probability(probability: float) -> ScorerLabel:
    return ScorerLabel(None, probability, signal=convert_to_signal(probability))


def make_contradiction_scale(scale: Mapping[str, float | None]) -> dict[str, float | None]:
    """Return the scale on which a label of support says whether a claim is contradicted; {} if none can say so.

    >>> make_contradiction_scale({"supported": 1.0, "contradicted": 0.0, "unclear": None})
    {'supported': 0.0, 'contradicted': 1.0, 'unclear': None}
    """
    if _CONTRADICTED not in scale:
        return {}
    return {label: None if value is None else float(label == _CONTRADICTED) for label, value in scale.items()}


def collect_tool_labels(labels: Sequence[Label]) -> list[ScorerLabels]:
    """Return the external scores among labels, one scorer per tool and model; none is the run's own judge or rules."""
    by_tool: dict[tuple[str, str], dict[str, dict[ItemKey, ScorerLabel]]] = {}
    for label in labels:
        opinions_by_item = by_tool.setdefault((label.source, label.rater), {}).setdefault(label.metric, {})
        opinions_by_item[get_item_key(label)] = ScorerLabel(label.label, label.value, label.note)
    return [
        ScorerLabels(
            rater if rater == source else f"{source}: {rater}",
            f"another {source}" if source in (JUDGE, RULES) else source,
            rater,
            {},
            opinions,
        )
        for (source, rater), opinions in sorted(by_tool.items())
    ]


def _opinions_of_judge(run: ScoredRun, judging: RecordedVerdicts, metric: str) -> dict[ItemKey, ScorerLabel]:
    opinions: dict[ItemKey, ScorerLabel] = {}
    rulings: dict[str, Ruling] = {}
    for item in iterate_label_items(run, metric, judging.rubrics):
        digest = item.request.digest
        samples = judging.verdicts.get(digest)
        if not samples:
            continue
        if digest not in rulings:
            rubric = find_rubric(judging.rubrics, item.request.rubric, item.request.language)
            rulings[digest] = fold_votes(samples, rubric)
        votes = tuple(verdict.label for sample in samples for verdict in sample.items if verdict.id == item.item)
        cost = share_cost(samples, len(item.request.items))
        opinions[item.key] = _fold_opinion(item, rulings[digest], votes)._replace(cost=cost)
    return opinions


def _fold_opinion(item: LabelItem, ruling: Ruling, votes: tuple[str, ...]) -> ScorerLabel:
    no_ruling = ItemRuling(item.item, unscored=ruling.unscored)
    ruled_item = next((ruled for ruled in ruling.items if ruled.id == item.item), no_ruling)
    reasoning = ruled_item.first_vote.reasoning if ruled_item.first_vote is not None else ""
    return ScorerLabel(ruled_item.label, ruled_item.value, reasoning, votes, ruled_item.unscored)


def _opinions_of_rules(run: ScoredRun, metric: str) -> dict[ItemKey, ScorerLabel]:
    opinions: dict[ItemKey, ScorerLabel] = {}
    for answer_key, reading in _iterate_readings(run):
        opinions_by_item = _RULE_READERS.get(parse_metric_name(metric).base, _rule_answer)(reading, metric)
        opinions |= {(*answer_key, item): opinion for item, opinion in opinions_by_item.items()}
    return opinions


def _iterate_readings(run: ScoredRun) -> Iterator[tuple[tuple[str, str], ParsedAnswer]]:
    """Yield every answer of a run under its case and configuration."""
    joins = GoldenIndex(run.golden, run.corpus)
    for config, position, observation in run.iterate_observations(answered=True):
        yield (run.golden.cases[position].id, config), ParsedAnswer(joins.case_index(position), observation)


def _rule_claims(reading: ParsedAnswer, metric: str) -> dict[str, ScorerLabel]:
    against = parse_metric_name(metric).key_value("against", CONTEXT_STAGE)
    if find_grounding_exclusion(reading, against) is not None:
        return {}
    pairs = zip(reading.claims, reading.claim_supports(against), strict=True)
    return {claim.id: _opinion_of_support(support) for claim, support in pairs}


def _rule_citations(reading: ParsedAnswer, _: str) -> dict[str, ScorerLabel]:
    """Return the labels of the rules for each citation, and for each claim with several, under the judge's ids."""
    if citation_support.find_support_exclusion(reading) is not None:
        return {}
    opinions = {
        citation.id: _opinion_of_support(citation_support.best_citation_support(citation, reading))
        for citation in reading.citations
        if citation.texts
    }
    for claim in reading.claims:
        if citation_support.joint_citation_names(reading, claim.id):
            opinions[f"{claim.id}.all"] = _opinion_of_support(citation_support.joint_citation_support(claim, reading))
    return opinions


def _opinion_of_support(support: SourceSupport) -> ScorerLabel:
    missing = support.describe_missing()
    reasons = [*support.contradictions, *([f"missing: {', '.join(missing)}"] if missing else ())]
    return ScorerLabel(None, support.score, "; ".join(reasons), signal=support.z)


def _rule_answer(reading: ParsedAnswer, metric: str) -> dict[str, ScorerLabel]:
    outcome = compute_outcome(parse_metric_name(name_with_scorer(metric, RULES)), reading)
    return {"": ScorerLabel(None, outcome.value, outcome.detail)} if outcome.status == SCORED else {}


_RULE_READERS = {_CLAIMS: _rule_claims, _CITATIONS: _rule_citations}
