"""The items of a run that can be labelled: the questions that a judge is asked, so that humans answer the same ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from assay.errors import InputError, Problem
from assay.graders.catalog import CATALOG, parse
from assay.graders.instruments import requests_of
from assay.graders.joins import Joins
from assay.graders.judging import ANSWER, Rubrics, request, rubric_of
from assay.graders.names import MetricName, read_name
from assay.graders.reading import Reading
from assay.io.labels import Scales, metric_problem
from assay.io.rubrics import load_rubrics
from assay.model import Observation
from assay.scoring.agreement import Key
from assay.verdict import JudgeRequest
from assay.workflow.score import ScoreRun

RUBRIC_OF = {
    "faithfulness": "support",
    "citation_support": "citation_support",
    "correctness": "correctness",
    "completeness": "completeness",
    "answer_relevance": "relevance",
    "grade": "grade",
    "failure_label": "failure",
}
"""The metrics that humans label, each with the rubric that holds its labels."""
_GRADED = ("grade", "failure_label")
_LISTS = ("claims", "citations", "facts")


class Asked(NamedTuple):
    """One item that a request asks about: `text` is the claim, citation or fact ("" for the whole answer)."""

    key: Key
    text: str
    request: JudgeRequest
    item: str
    observation: Observation


def rubrics_of(run: ScoreRun | None, folders: Sequence[str] = ()) -> Rubrics:
    """Return the built-in rubrics with those of the folders; without folders, those that a run was judged with.

    Raises SettingsError for rubrics that cannot be read.
    """
    judged = run.judging.rubrics if run is not None and run.judging is not None and not folders else {}
    return judged or load_rubrics(folders)


def scales_of(rubrics: Rubrics) -> Scales:
    """Return the labels of every metric that humans label, each with its value; a failure label has none."""
    scales = {}
    for metric, rubric_name in RUBRIC_OF.items():
        rubric = rubric_of(rubrics, rubric_name, "en")
        scales[metric] = {label.name: label.value for label in rubric.labels}
    return scales


def instrument_name(metric: str, by: str) -> str:
    """Return a metric's name with its scorer.

    >>> instrument_name("faithfulness(against=cited)", "judge")
    'faithfulness(against=cited,by=judge)'
    """
    name = read_name(metric)
    return str(MetricName(name.base, tuple(sorted({**dict(name.keys), "by": by}.items())), name.k))


def label_metric(metric: str) -> str:
    """Return the name under which humans label a metric: without the scorer, and without keys of default value.

    Raises MetricNameError for a key that the metric does not have.

    >>> label_metric("faithfulness(by=judge)"), label_metric("faithfulness(against=context)")
    ('faithfulness', 'faithfulness')
    """
    name = read_name(metric)
    if name.base in CATALOG:
        name = parse(instrument_name(metric, "judge"))
    return str(MetricName(name.base, tuple(pair for pair in name.keys if pair[0] != "by"), name.k))


def known_metrics(metrics: Sequence[str], scales: Scales) -> list[str]:
    """Return the metrics under the names that labels use. Raises InputError for metrics that cannot be labelled."""
    names = [label_metric(metric) for metric in metrics]
    messages = [metric_problem(name, scales) for name in names]
    problems = [Problem("", None, "metric", message) for message in messages if message]
    if problems:
        raise InputError(problems)
    return list(dict.fromkeys(names))


def asked(run: ScoreRun, metric: str, rubrics: Rubrics) -> Iterator[Asked]:
    """Yield every item that a judge is asked about for a metric, over all configurations and cases of a run."""
    joins = Joins(run.golden, run.corpus)
    for config in sorted(run.scoring.configs):
        for position, case in enumerate(run.golden.cases):
            observation = run.observation(config, case.id)
            if observation is None:
                continue
            for judge_request in _requests_for_case(joins, position, observation, metric, rubrics):
                texts = {entry["id"]: entry for name in _LISTS for entry in judge_request.inputs.get(name, ())}
                for item in judge_request.items:
                    key = case.id, config, "" if item == ANSWER else item
                    yield Asked(key, _item_text(texts.get(item), judge_request), judge_request, item, observation)


def sources_of(judge_request: JudgeRequest) -> tuple[str, ...]:
    """Return the texts that a request offers as sources, in order, without the names of their chunks."""
    return tuple(str(entry["text"]) for entry in judge_request.inputs.get("context") or ())


def _requests_for_case(
    joins: Joins, position: int, observation: Observation, metric: str, rubrics: Rubrics
) -> list[JudgeRequest]:
    case, base = joins.case(position), read_name(metric).base
    if base not in _GRADED:
        return requests_of(case, observation, [read_name(instrument_name(metric, "judge"))], rubrics)
    reading = Reading(case, observation)
    reference = case.case.reference or "; ".join(case.case.must_have)
    if observation.error is not None or not reading.answer.strip() or not reference:
        return []
    context = reading.context if isinstance(reading.context, dict) else {}
    inputs = {
        "question": reading.question,
        "answer": reading.answer,
        "reference": reference,
        "context": [{"id": chunk_id, "text": text} for chunk_id, text in context.items()],
    }
    return [request(rubric_of(rubrics, RUBRIC_OF[base], reading.language), inputs)]


def _item_text(entry: dict[str, Any] | None, request: JudgeRequest) -> str:
    """Return the text of an item; a citation gets the number of its source, which hides the name of the chunk."""
    if entry is None:
        return ""
    source_ids = [source["id"] for source in request.inputs.get("context") or ()]
    source = entry.get("source")
    mark = f" [{source_ids.index(source) + 1}]" if source in source_ids else ""
    return f"{entry['text']}{mark}"
