"""Reads the scores of other evaluation tools as labels: their metric names are mapped and no tool is imported.

A result names its case in an id column, or else by its question, which must then be that of exactly one golden case.
"""

from __future__ import annotations

import csv
import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from assay.formats.file_io import MAX_LINE_BYTES, Source, decode_line, open_source, read_lines
from assay.records.digest import compute_answer_hash
from assay.records.errors import InputError, Problem, shorten_repr
from assay.records.golden_set import GoldenSet
from assay.records.verdicts import Label
from assay.text.normalisation import collapse_spaces


class ToolScore(NamedTuple):
    """One score of a tool: its own name of the metric, the value, the reason and the model that judged."""

    metric: str
    value: Any
    reason: str = ""
    model: str = ""


class ExternalResult(NamedTuple):
    """One evaluated answer: its number in the file, its case id if it has one, question, answer and scores."""

    number: int
    case_id: str | None
    question: str
    answer: str | None
    scores: tuple[ToolScore, ...]


class ExternalTool(NamedTuple):
    """How the result files of one tool are read: its metric names, in lower case with `_`, and a reader of results."""

    name: str
    metrics: Mapping[str, str]
    results: Callable[[Any], Iterator[ExternalResult]]


class ExternalScores(NamedTuple):
    """The labels of a file, and a sentence for each kind of score that was left out."""

    labels: tuple[Label, ...]
    notes: tuple[str, ...]


_IDS = ("case_id", "question_id", "query_id", "sample_id", "id")
_QUESTIONS = ("user_input", "question", "input", "query")
_ANSWERS = ("response", "answer", "output", "actual_output", "actualOutput")


def load_external_scores(
    path: str, tool_name: str, golden: GoldenSet | None, config: str | None = None
) -> ExternalScores:
    """Read the results of `ragas`, `deepeval` or `trulens` as labels whose source is the tool.

    Scores that are missing or outside [0, 1], and metrics without a counterpart here, are left out and counted. Raises
    InputError for a file that does not hold such results, and for results whose case cannot be identified.
    """
    if tool_name not in EXTERNAL_TOOLS:
        raise InputError(
            f"--format: unknown (got {shorten_repr(tool_name)}; expected one of {', '.join(sorted(EXTERNAL_TOOLS))})"
        )
    tool = EXTERNAL_TOOLS[tool_name]
    with open_source(path) as source:
        document = _read_document(source)
    results = list(tool.results(document))
    if not results:
        raise InputError([Problem(path, None, "", f"holds no results of {tool_name}", "E_EMPTY")])
    case_ids = _index_questions(golden)
    problems: list[Problem] = []
    labels: dict[tuple[str, str, str], Label] = {}
    left_out: Counter[str] = Counter()
    for result in results:
        case_id = result.case_id if result.case_id is not None else case_ids.get(collapse_spaces(result.question))
        if case_id is None or (golden is not None and not any(case.id == case_id for case in golden.cases)):
            got = shorten_repr(result.case_id or result.question)
            message = f"cannot tell the case (got {got}; expected a case id of the golden set, or its question)"
            problems.append(Problem(path, None, f"result {result.number}", message, "E_CASE"))
            continue
        for score in result.scores:
            label = _read_label(tool, case_id, config, result, score, left_out)
            if label is None:
                continue
            if labels.setdefault((label.rater, case_id, label.metric), label) is not label:
                problems.append(Problem(path, None, f"result {result.number}", f"{case_id} is there twice", "E_TWICE"))
    if problems:
        raise InputError(problems)
    notes = tuple(f"{count} × {reason}" for reason, count in sorted(left_out.items()))
    return ExternalScores(tuple(labels.values()), notes)


def _read_label(
    tool: ExternalTool,
    case_id: str,
    config: str | None,
    result: ExternalResult,
    score: ToolScore,
    left_out: Counter[str],
) -> Label | None:
    """Return the label that a score stands for; None, with the reason counted, if it is left out."""
    metric = tool.metrics.get(_normalise_metric(score.metric))
    value = score.value if type(score.value) in (int, float) else None
    reason = ""
    if metric is None:
        reason = f"{score.metric}: no metric of the same meaning"
    elif value is None or not math.isfinite(value):
        reason = f"{metric}: no score"
    elif not 0 <= value <= 1:
        reason = f"{metric}: a score outside 0 to 1"
    if reason or metric is None or value is None:
        left_out[reason] += 1
        return None
    return Label(
        case_id,
        metric,
        score.model or tool.name,
        value=float(value),
        config_id=config,
        answer_hash=compute_answer_hash(result.answer) if result.answer is not None else None,
        source=tool.name,
        note=score.reason,
    )


def _index_questions(golden: GoldenSet | None) -> dict[str, str]:
    """Return the case id of each question that exactly one case asks."""
    ids_by_question: dict[str, list[str]] = {}
    for case in golden.cases if golden is not None else ():
        ids_by_question.setdefault(collapse_spaces(case.question), []).append(case.id)
    return {question: ids[0] for question, ids in ids_by_question.items() if len(ids) == 1}


def _normalise_metric(name: str) -> str:
    return "_".join(name.lower().replace("-", " ").replace("_", " ").split()).removesuffix("_metric")


def _read_document(source: Source) -> Any:
    """Return the rows of CSV or JSON Lines, or a whole JSON document, with NaN and infinities as None."""
    text = "\n".join(decode_line(line, source.name) for line in read_lines(source))
    head = text.lstrip()[:1]
    try:
        if head not in ("{", "["):
            csv.field_size_limit(MAX_LINE_BYTES)
            return [dict(row) for row in csv.DictReader(text.splitlines(keepends=True), strict=True)]
        try:
            return json.loads(text, parse_constant=lambda _: None)
        except json.JSONDecodeError as error:
            if error.msg != "Extra data":
                raise
            return [json.loads(line, parse_constant=lambda _: None) for line in text.splitlines() if line.strip()]
    except (ValueError, csv.Error, RecursionError) as error:
        raise InputError([Problem(source.name, None, "", f"cannot be read: {error}", "E_JSON")]) from None


def _iterate_rows(document: Any) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table.

    The table is a list of objects, one object, or columns as `{column: {row: value}}` or `{column: [value]}`.
    """
    if isinstance(document, list):
        yield from (row for row in document if isinstance(row, dict))
    elif isinstance(document, dict) and all(isinstance(cells, (dict, list)) for cells in document.values()):
        columns = {
            name: dict(enumerate(cells)) if isinstance(cells, list) else cells for name, cells in document.items()
        }
        for row_key in next(iter(columns.values()), ()):
            yield {name: cells.get(row_key) for name, cells in columns.items()}
    elif isinstance(document, dict):
        yield document


def _first_member(row: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """Return the first of the named members that is not empty, as text."""
    return next((str(row[name]) for name in names if row.get(name) not in (None, "")), None)


def _build_result(number: int, row: Mapping[str, Any], scores: tuple[ToolScore, ...]) -> ExternalResult:
    question = _first_member(row, _QUESTIONS) or ""
    return ExternalResult(number, _first_member(row, _IDS), question, _first_member(row, _ANSWERS), scores)


def _table_reader(metrics: Mapping[str, str]) -> Callable[[Any], Iterator[ExternalResult]]:
    """Return the reader of a table with one column for each of the metrics."""

    def read_results(document: Any) -> Iterator[ExternalResult]:
        for number, row in enumerate(_iterate_rows(document), 1):
            scores = tuple(
                ToolScore(name, _parse_number(cell))
                for name, cell in row.items()
                if _normalise_metric(str(name)) in metrics
            )
            yield _build_result(number, row, scores)

    return read_results


def _parse_number(cell: Any) -> Any:
    if isinstance(cell, str):
        try:
            return float(cell)
        except ValueError:
            return None
    return cell


def _read_deepeval(document: Any) -> Iterator[ExternalResult]:
    """Yield the test cases of a saved DeepEval run, with member names in camel case or in snake case."""
    test_cases = document
    if isinstance(document, dict):
        names = [name for name in ("testCases", "test_cases", "test_results") if name in document]
        test_cases = document[names[0]] if names else None
    if not isinstance(test_cases, list):
        return
    for number, row in enumerate(_iterate_rows(test_cases), 1):
        metrics_data = row.get("metricsData") or row.get("metrics_data") or []
        scores = tuple(
            ToolScore(
                str(metric.get("name", "")),
                metric.get("score"),
                str(metric.get("reason") or ""),
                str(metric.get("evaluationModel") or metric.get("evaluation_model") or ""),
            )
            for metric in metrics_data
            if isinstance(metric, dict)
        )
        yield _build_result(number, row, scores)


_RAGAS = {
    "faithfulness": "faithfulness",
    "answer_relevancy": "answer_relevance",
    "response_relevancy": "answer_relevance",
    "answer_correctness": "correctness",
    "factual_correctness": "correctness",
    "factual_correctness(mode=f1)": "correctness",
}
_DEEPEVAL = {
    "faithfulness": "faithfulness",
    "answer_relevancy": "answer_relevance",
    "correctness": "correctness",
    "correctness_[geval]": "correctness",
    "correctness_(geval)": "correctness",
}
_TRULENS = {
    "groundedness": "faithfulness",
    "answer_relevance": "answer_relevance",
    "relevance": "answer_relevance",
    "correctness": "correctness",
    "answer_correctness": "correctness",
}
EXTERNAL_TOOLS = {
    tool.name: tool
    for tool in (
        ExternalTool("ragas", _RAGAS, _table_reader(_RAGAS)),
        ExternalTool("trulens", _TRULENS, _table_reader(_TRULENS)),
        ExternalTool("deepeval", _DEEPEVAL, _read_deepeval),
    )
}
"""The tools whose results can be read, by name."""
