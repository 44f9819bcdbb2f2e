"""Results of other evaluation tools as second opinions: their names are mapped, their scores kept, none is imported.

A result names a case by an id column, else by its question, which must then be that of one golden case.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from assay.errors import InputError, Problem, shown
from assay.io.labels import answer_hash
from assay.io.lines import MAX_LINE_BYTES, Source, opened, read_lines, text_of
from assay.metrics.folding import nfc
from assay.model import GoldenSet
from assay.verdict import Label


class Score(NamedTuple):
    """One number that a tool gave: the tool's own name of the metric, the score, its reason and the model behind it."""

    metric: str
    value: Any
    reason: str = ""
    model: str = ""


class Result(NamedTuple):
    """One answer as a tool saw it: the id where it has one, question, answer and the tool's scores."""

    place: int
    case_id: str | None
    question: str
    answer: str | None
    scores: tuple[Score, ...]


class Tool(NamedTuple):
    """How one tool's result files are read: its names of our metrics, in lower case with `_`, and its rows."""

    name: str
    metrics: Mapping[str, str]
    results: Callable[[Any], Iterator[Result]]


class Opinions(NamedTuple):
    """The second opinions of a file, and what was left out, as sentences."""

    labels: tuple[Label, ...]
    notes: tuple[str, ...]


_IDS = ("case_id", "question_id", "query_id", "sample_id", "id")
_QUESTIONS = ("user_input", "question", "input", "query")
_ANSWERS = ("response", "answer", "output", "actual_output", "actualOutput")


def load_opinions(path: str, tool_name: str, golden: GoldenSet | None, config: str | None = None) -> Opinions:
    """Read the results of `ragas`, `deepeval` or `trulens` as labels whose source is the tool.

    Scores that are missing, or outside [0, 1], and metrics without a counterpart are left out and counted. Raises
    InputError for a file that cannot be read as such results, and for results whose case cannot be told.
    """
    if tool_name not in TOOLS:
        raise InputError(f"--format: unknown (got {shown(tool_name)}; expected one of {', '.join(sorted(TOOLS))})")
    tool = TOOLS[tool_name]
    with opened(path) as source:
        document = _document(source)
    results = list(tool.results(document))
    if not results:
        raise InputError([Problem(path, None, "", f"holds no results of {tool_name}", "E_EMPTY")])
    named = _questions(golden)
    problems: list[Problem] = []
    labels: dict[tuple[str, str, str], Label] = {}
    left: dict[str, int] = {}
    for result in results:
        case_id = result.case_id if result.case_id is not None else named.get(_same(result.question))
        if case_id is None or (golden is not None and not any(case.id == case_id for case in golden.cases)):
            got = shown(result.case_id or result.question)
            message = f"cannot tell the case (got {got}; expected a case id of the golden set, or its question)"
            problems.append(Problem(path, None, f"result {result.place}", message, "E_CASE"))
            continue
        for score in result.scores:
            label = _label(tool, case_id, config, result, score, left)
            if label is not None and labels.setdefault((label.rater, case_id, label.metric), label) is not label:
                problems.append(Problem(path, None, f"result {result.place}", f"{case_id} is there twice", "E_TWICE"))
    if problems:
        raise InputError(problems)
    return Opinions(tuple(labels.values()), tuple(f"{count} × {why}" for why, count in sorted(left.items())))


def _label(
    tool: Tool, case_id: str, config: str | None, result: Result, score: Score, left: dict[str, int]
) -> Label | None:
    metric = tool.metrics.get(_plain(score.metric))
    value = score.value if type(score.value) in (int, float) else None
    why = ""
    if metric is None:
        why = f"{score.metric}: no metric of the same meaning"
    elif value is None or not math.isfinite(value):
        why = f"{metric}: no score"
    elif not 0 <= value <= 1:
        why = f"{metric}: a score outside 0 to 1"
    if why or metric is None or value is None:
        left[why] = left.get(why, 0) + 1
        return None
    return Label(
        case_id,
        metric,
        score.model or tool.name,
        value=float(value),
        config_id=config,
        answer_hash=answer_hash(result.answer) if result.answer is not None else None,
        source=tool.name,
        note=score.reason,
    )


def _questions(golden: GoldenSet | None) -> dict[str, str]:
    """Return the case of each question that one case alone asks."""
    found: dict[str, list[str]] = {}
    for case in golden.cases if golden is not None else ():
        found.setdefault(_same(case.question), []).append(case.id)
    return {question: ids[0] for question, ids in found.items() if len(ids) == 1}


def _same(question: str) -> str:
    return " ".join(nfc(question).split())


def _plain(name: str) -> str:
    return "_".join(name.lower().replace("-", " ").replace("_", " ").split()).removesuffix("_metric")


def _document(source: Source) -> Any:
    """Return the rows of CSV or JSON Lines, or the whole JSON document; NaN is no score."""
    text = "\n".join(text_of(line, source.name) for line in read_lines(source))
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


def _rows(document: Any) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table: a list of objects, one object, or columns as `{column: {row: value}}` or
    `{column: [value]}`."""
    if isinstance(document, list):
        yield from (row for row in document if isinstance(row, dict))
    elif isinstance(document, dict) and all(isinstance(cells, (dict, list)) for cells in document.values()):
        columns = {
            name: dict(enumerate(cells)) if isinstance(cells, list) else cells for name, cells in document.items()
        }
        for place in next(iter(columns.values()), ()):
            yield {name: cells.get(place) for name, cells in columns.items()}
    elif isinstance(document, dict):
        yield document


def _first(row: Mapping[str, Any], names: Sequence[str]) -> str | None:
    return next((str(row[name]) for name in names if row.get(name) not in (None, "")), None)


def _table(tool: Mapping[str, str]) -> Callable[[Any], Iterator[Result]]:
    """Return the reader of a table with one column for each metric."""

    def results(document: Any) -> Iterator[Result]:
        for place, row in enumerate(_rows(document), 1):
            scores = tuple(Score(name, _number(cell)) for name, cell in row.items() if _plain(str(name)) in tool)
            yield Result(place, _first(row, _IDS), _first(row, _QUESTIONS) or "", _first(row, _ANSWERS), scores)

    return results


def _number(cell: Any) -> Any:
    if isinstance(cell, str):
        try:
            return float(cell)
        except ValueError:
            return None
    return cell


def _deepeval(document: Any) -> Iterator[Result]:
    """Yield the test cases of a saved run, in either spelling of its names."""
    found = document
    if isinstance(document, dict):
        found = next((document[name] for name in ("testCases", "test_cases", "test_results") if name in document), None)
    for place, row in enumerate(_rows(found) if isinstance(found, list) else (), 1):
        data = row.get("metricsData") or row.get("metrics_data") or []
        scores = tuple(
            Score(
                str(each.get("name", "")),
                each.get("score"),
                str(each.get("reason") or ""),
                str(each.get("evaluationModel") or each.get("evaluation_model") or ""),
            )
            for each in data
            if isinstance(each, dict)
        )
        yield Result(place, _first(row, _IDS), _first(row, _QUESTIONS) or "", _first(row, _ANSWERS), scores)


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
TOOLS = {
    tool.name: tool
    for tool in (
        Tool("ragas", _RAGAS, _table(_RAGAS)),
        Tool("trulens", _TRULENS, _table(_TRULENS)),
        Tool("deepeval", _DEEPEVAL, _deepeval),
    )
}
"""The tools whose results can be read, by name."""
