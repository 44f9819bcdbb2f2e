"""The pass rate of everything a scorer judged, corrected by human labels of a part of it."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from assay.metrics.correction import Sorting, ppi_problem, prediction_powered, rogan_gladen, rogan_gladen_problem
from assay.metrics.intervals import mean_interval
from assay.metrics.rates import Estimate
from assay.scoring.agreement import Estimated, Key, passes
from assay.scoring.truth import Truth


class Corrected(Struct, frozen=True):
    """The pass rate of one configuration by the scorer (`n` items of `cases` cases), and corrected estimates of it.

    `rogan_gladen` and `ppi` (prediction-powered inference) estimate the pass rate by human labels; `problems` say why a
    correction was refused.
    """

    n: int
    cases: int
    judged: Estimated
    rogan_gladen: Estimated | None
    ppi: Estimated | None
    recommended: str
    problems: tuple[str, ...]


def corrected(truth: Mapping[Key, Truth], values: Mapping[Key, float], rates: Sorting) -> dict[str, Corrected]:
    """Return the corrected pass rate of each configuration.

    `rates` are the error rates of the scorer, measured over all configurations. If a case has several items, cases
    count and not items, because errors within one answer are not independent.
    """
    configs = sorted({key[1] for key in values})
    sizes = tuple(
        len({key[0] for key in truth.keys() & values.keys() if truth[key].passed is word}) for word in (True, False)
    )
    return {
        config: _of({key: values[key] for key in sorted(values) if key[1] == config}, truth, rates, sizes)
        for config in configs
    }


def _of(values: Mapping[Key, float], truth: Mapping[Key, Truth], rates: Sorting, sizes: tuple[int, ...]) -> Corrected:
    said = [float(passes(value)) for value in values.values()]
    cases = [key[0] for key in values]
    bounds, rate, count = mean_interval(said, clusters=cases, low=0.0, high=1.0), sum(said) / len(said), len(set(cases))
    first, refused = _rogan_gladen(rate, count, rates, sizes)
    second, doubted = _powered(values, truth, count)
    return Corrected(
        len(values),
        count,
        Estimated.of(rate, bounds) or Estimated(rate),
        Estimated.made(first),
        Estimated.made(second),
        "PPI++" if second is not None else "Rogan-Gladen" if first is not None else "none",
        tuple(f"{name}: {why}" for name, why in (("Rogan-Gladen", refused), ("PPI++", doubted)) if why),
    )


def _rogan_gladen(rate: float, n: int, rates: Sorting, sizes: tuple[int, ...]) -> tuple[Estimate | None, str]:
    passed, failed = sizes
    sensitivity = rates.sensitivity.value if rates.sensitivity is not None else 0.0
    specificity = rates.specificity.value if rates.specificity is not None else 0.0
    refused = rogan_gladen_problem(specificity, failed, sensitivity, passed)
    return rogan_gladen(rate, n, specificity, failed, sensitivity, passed), refused


def _powered(values: Mapping[Key, float], truth: Mapping[Key, Truth], cases: int) -> tuple[Estimate | None, str]:
    known = [key for key in values if key in truth]
    people = [float(truth[key].passed) for key in known]
    if cases < len(values):
        return None, "several items of a case are not independent"
    if problem := ppi_problem(people):
        return None, problem
    others = [float(passes(value)) for key, value in values.items() if key not in truth]
    found = prediction_powered(people, [float(passes(values[key])) for key in known], others)
    return found, "" if found is not None else "hardly anything was judged that is not labelled"
