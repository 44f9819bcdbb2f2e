"""A metric of one's own as a decorated function, over one case and its observation or over lists of them.

What goes wrong in the function is an error of the case on which it went wrong, and the other cases are scored.
"""

from __future__ import annotations

import inspect
import math
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, overload

import numpy as np
from msgspec import Struct

from assay.metrics.metric import (
    Batch,
    Direction,
    JoinedRows,
    Metric,
    MetricName,
    SummaryStatistic,
    find_row_fault,
    make_score_column,
    rows_not_applicable,
    rows_with_error,
)
from assay.records.errors import InputError, Problem, shorten_repr
from assay.records.golden_set import Case
from assay.records.observations import Observation
from assay.records.scores import ERROR, ScoreColumn
from assay.stats.arrays import BoolArray

ScoreFunction = Callable[..., Any]
"""`(case, observation)` → a number, or a text that says why the metric is not applicable; or `(cases, observations)` →
one of these for each case, in order."""
_ARRAY_PARAMETERS = ["cases", "observations"]
MAX_REASON_CHARS = 200
_PLACE_CHARS = 80
"""What the words around the text of an exception and the line on which it arose may take of a reason."""


class OwnMetric(Metric, frozen=True, eq=False):
    """The catalogue row of a decorated function, which can still be called."""

    function: ScoreFunction | None = None

    def __call__(self, *arguments: Any) -> Any:
        """Call the function."""
        assert self.function is not None
        return self.function(*arguments)


@overload
def metric(function: ScoreFunction) -> OwnMetric: ...


@overload
def metric(
    *,
    name: str | None = ...,
    unit: str = ...,
    higher_is_better: bool | None = ...,
    low: float = ...,
    high: float = ...,
    statistic: SummaryStatistic = ...,
) -> Callable[[ScoreFunction], OwnMetric]: ...


def metric(
    function: ScoreFunction | None = None,
    *,
    name: str | None = None,
    unit: str = "share",
    higher_is_better: bool | None = True,
    low: float = 0.0,
    high: float = 1.0,
    statistic: SummaryStatistic = "mean",
) -> OwnMetric | Callable[[ScoreFunction], OwnMetric]:
    """Make a metric of a function: `@metric`, or `@metric(unit="words", higher_is_better=False, high=math.inf)`.

    The function takes a case and its observation, or lists of both if its parameters are called `cases` and
    `observations`. A text instead of a number says why the metric is not applicable. If the function raises, or
    returns NaN or a number outside `low` to `high`, that is an error of the case. `higher_is_better=None` is for
    numbers without a better side. The name is that of the function, its summary the first line of the docstring.

    Raises InputError for a name or range that no metric can have.
    """
    if function is None:
        return partial(
            _make_metric,
            name=name,
            unit=unit,
            higher_is_better=higher_is_better,
            low=low,
            high=high,
            statistic=statistic,
        )
    return _make_metric(function, name, unit, higher_is_better, low, high, statistic)


def _make_metric(
    function: ScoreFunction,
    name: str | None,
    unit: str,
    higher_is_better: bool | None,
    low: float,
    high: float,
    statistic: SummaryStatistic,
) -> OwnMetric:
    fault = _find_function_fault(function, name)
    if fault:
        raise InputError([Problem("", None, "metric", fault, "E_METRIC")])
    directions: dict[bool | None, Direction] = {True: "higher", False: "lower", None: "neutral"}
    own_name = name or function.__name__
    row = OwnMetric(
        name=own_name,
        family="own",
        summary=(inspect.getdoc(function) or own_name).splitlines()[0],
        source="",
        unit=unit,
        direction=directions[higher_is_better],
        low=low,
        high=high,
        statistic=statistic,
        needs=lambda _: ((OwnScores, (function,)),),
        compute=lambda batch, metric_name: _compute_column(batch, metric_name, function, low, high),
        function=function,
    )
    fault = find_row_fault(row)
    if inspect.iscoroutinefunction(function):
        fault = "an async function (expected one that returns the score itself)"
    if fault:
        raise InputError([Problem("", None, f"metric {own_name}", fault, "E_METRIC")])
    return row


def _find_function_fault(function: Any, name: str | None) -> str:
    """Return why a value cannot be called as a metric; "" for a function of two arguments with a name."""
    got = shorten_repr(function)
    if not callable(function):
        return f"no function (got {got}; expected one of a case and its observation)"
    if name is None and getattr(function, "__name__", "<lambda>") == "<lambda>":
        return f"a function without a name (got {got}; expected assay.metric(name='…')(lambda case, observation: …))"
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # one written in C, which does not say
        return ""
    try:
        signature.bind(None, None)
    except TypeError:
        places = _describe_places(list(signature.parameters))
        expected = f"expected case, observation{f': {places}' if places else ''}"
        return f"{getattr(function, '__name__', name)}{signature} takes other arguments ({expected})"
    parameters = list(signature.parameters)[:2]
    if parameters[0] in _PLACES:  # who calls the case so means its question, its reference or the answer
        called = f"{getattr(function, '__name__', name)}{signature}"
        expected = f"expected the parameters case, observation: {_describe_places(parameters)}"
        return f"{called} would be given the case and its observation ({expected})"
    return ""


def _describe_places(parameters: Iterable[str]) -> str:
    """Return where the values are of which parameters have the names that other tools give them."""
    return ", ".join(f"{parameter} is {_PLACES[parameter]}" for parameter in parameters if parameter in _PLACES)


_PLACES = {
    **dict.fromkeys(("question", "query", "user_input", "prompt"), "case.question"),
    **dict.fromkeys(("reference", "expected", "expected_output", "ground_truth", "gold", "target"), "case.reference"),
    **dict.fromkeys(("answer", "response", "prediction", "predicted", "actual_output", "output"), "observation.answer"),
    **dict.fromkeys(("context", "contexts", "retrieved_contexts", "retrieved", "chunks"), "observation.stages"),
    **dict.fromkeys(("references", "expectations"), "[case.reference for case in cases]"),
    **dict.fromkeys(
        ("answers", "responses", "predictions", "outputs"), "[observation.answer for observation in observations]"
    ),
}
"""Parameters that metrics of other tools have, and where their values are here."""


class OwnScores:
    """The cases and observations of the rows on which the target did not fail, with their positions."""

    def __init__(self, function: ScoreFunction) -> None:
        self.takes_arrays = list(inspect.signature(function).parameters)[:2] == _ARRAY_PARAMETERS
        self.function = function
        self.row_count = 0
        self.pending: list[tuple[int, Case, Observation]] = []
        self.results: dict[int, Any] = {}

    def add(self, rows: JoinedRows) -> None:
        """Take some rows, in order; a function of one case is called at once."""
        for case_index, observation in zip(rows.cases, rows.observations, strict=True):
            position = self.row_count
            self.row_count += 1
            if observation.error is not None or observation.answer is None:
                continue
            if self.takes_arrays:
                self.pending.append((position, case_index.case, observation))
            else:
                self.results[position] = _call_safely(self.function, case_index.case, observation)

    def list_results(self) -> dict[int, Any]:
        """Return what the function gave for each position, an exception where it raised one."""
        if not self.pending:
            return self.results
        cases = [case for _, case, _ in self.pending]
        observations = [observation for _, _, observation in self.pending]
        values = _spread(_call_safely(self.function, cases, observations), len(cases))
        return {position: value for (position, _, _), value in zip(self.pending, values, strict=True)}


class _Fault(Struct, frozen=True):
    """Why a function gave no score, as the reason of the case says it."""

    text: str


def _call_safely(function: ScoreFunction, *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except Exception as error:  # noqa: BLE001  # the function is the user's: what it raises is an error of the case
        place = _find_raising_line(function, error)
        text = f"{type(error).__name__}: {error}"[: MAX_REASON_CHARS - _PLACE_CHARS]
        return _Fault(f"the metric raised {text}{place}")


def _find_raising_line(function: ScoreFunction, error: Exception) -> str:
    """Return ", at file:line" of the last line of the function's own file; "" where it has none, as in a notebook."""
    own_file = getattr(getattr(function, "__code__", None), "co_filename", "<")
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == own_file]
    name = own_file.replace("\\", "/").rpartition("/")[2]
    return f", at {name}:{lines[-1]}" if lines and not name.startswith("<") and "ipykernel" not in own_file else ""


def _spread(values: Any, count: int) -> Sequence[Any]:
    """Return one value for each case; an exception and a result of the wrong length are those of all cases."""
    if isinstance(values, _Fault):
        return [values] * count
    got, expected = "", "a list in the order of the cases, such as [scores[case.id] for case in cases]"
    listed: list[Any] = []
    if isinstance(values, Mapping):
        got = f"a dictionary with the keys {', '.join(map(repr, list(values)[:2]))}, …"
    elif isinstance(values, str) or not isinstance(values, Iterable):
        got = shorten_repr(values)
    else:
        listed = np.asarray(values).tolist() if hasattr(values, "dtype") else list(values)
        if len(listed) != count:
            got, expected = str(len(listed)), str(count)
    if got:
        return [_Fault(f"the metric returned not one value for each case (got {got}; expected {expected})")] * count
    return listed


def _compute_column(batch: Batch, name: MetricName, function: ScoreFunction, low: float, high: float) -> ScoreColumn:
    results = batch.get_facts(OwnScores, function).list_results()
    values = np.zeros(len(batch), dtype=np.float64)
    reasons = np.full(len(batch), "", dtype=object)
    errors = np.full(len(batch), "", dtype=object)
    for position, result in results.items():
        if isinstance(result, str) and result and not _is_number_as_text(result):
            reasons[position] = result[:MAX_REASON_CHARS]
            continue
        fault = _find_fault(result, low, high)
        errors[position] = fault[:MAX_REASON_CHARS]
        values[position] = 0.0 if fault else float(result)
    unless = [rows_not_applicable(reasons == reason, reason) for reason in sorted(set(reasons)) if reason]
    unless += [rows_with_error(errors == error, error) for error in sorted(set(errors)) if error]
    return make_score_column(name, values, *batch.target_errors, *unless)


def _is_number_as_text(text: str) -> bool:
    """Return whether a text is a number, which says no reason: that a metric is not applicable takes words."""
    try:
        float(text.strip().removesuffix("%"))
    except ValueError:
        return False
    return True


_FAULTS = ("the metric raised ", "the metric returned ", "the metric left its range ")
"""How the reasons begin for which a metric of one's own has no score; the observation has no error."""


def find_own_failures(column: ScoreColumn) -> BoolArray:
    """Return the rows that a metric of one's own could not measure: it raised, or returned what is no score of it."""
    codes = [code for code, reason in enumerate(column.reasons) if reason.startswith(_FAULTS)]
    if not codes:
        return np.zeros(len(column.status), dtype=np.bool_)
    return np.asarray((column.status == ERROR) & np.isin(column.reason, codes), dtype=np.bool_)


def _find_fault(result: Any, low: float, high: float) -> str:
    """Return what is wrong with the result for one case, "" for a number in the range."""
    if isinstance(result, _Fault):
        return " ".join(result.text.split())
    if isinstance(result, str) and result:
        return f"the metric returned a text (got {shorten_repr(result)}; expected the number, without quotation marks)"
    if not isinstance(result, (bool, int, float, np.number, np.bool_)):
        return f"the metric returned no number (got {shorten_repr(result)}; expected a number, or a text that says why)"
    if not math.isfinite(result):
        return f"the metric returned {float(result)} (expected a finite number)"
    if not low <= result <= high:
        return f"the metric left its range (got {float(result):g}; expected {low:g} to {high:g})"
    return ""
