"""Comparisons of several systems, and how many cases a comparison needs before it is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from assay.runs.check_arguments import MetricsLike, list_values, read_metrics
from assay.runs.python_values import PathLike, says_arguments
from assay.runs.score_result import ScoreResult

if TYPE_CHECKING:
    from assay.comparison.all_pairs import PairwiseComparison
    from assay.comparison.case_plan import CasePlan

SideLike = ScoreResult | PathLike


@says_arguments
def compare_all(
    systems: SideLike | Sequence[SideLike] | Mapping[str, SideLike], *, metrics: MetricsLike = ()
) -> PairwiseComparison:
    """Compare every system with every other one, over all cases; the tests of all pairs are one family (Holm).

    `systems` are results, run folders or saved baselines by their name, or a list of them; one of several
    configurations stands for all of these. Without `metrics` they are compared by the first headline that all measured,
    mostly `correct_answer`. Equal systems get any difference called shown in at most 5% of such comparisons, and the
    intervals hold all at once. Raises InputError for systems that are not comparable, and for fewer than two.

    >>> import assay
    >>> golden = [{"id": f"q{n}", "question": f"What is in box {n}?", "must_have": [f"{n} pears"]} for n in range(40)]
    >>> right = assay.run(lambda question: f"{question.split()[-1][:-1]} pears.", golden, name="right")
    >>> wrong = assay.run(lambda question: "77 pears.", golden, name="wrong")
    >>> assay.compare_all([right, wrong])
    2 systems by correct_answer: 1 test of one family (Holm, 5%)
     - right is better than wrong by correct_answer: +1.000 (+0.825 to +1.000), p 1.8e-12 after Holm, 40 cases
    """
    from assay.runs.plan_comparison import compare_systems

    names = list(map(str, systems)) if isinstance(systems, Mapping) else []
    sides = list(systems.values()) if isinstance(systems, Mapping) else _list_sides(systems)
    return compare_systems(sides, read_metrics(metrics) if metrics else (), names)


@says_arguments
def plan(
    difference: float,
    *,
    metric: str = "correct_answer",
    pilot: SideLike | Sequence[SideLike] = (),
    rate: float | None = None,
    changed: float | None = None,
    sd: float | None = None,
    correlation: float | None = None,
    power: float = 0.8,
    level: float = 0.05,
    tests: int = 1,
) -> CasePlan:
    """Return how many cases a comparison needs to show a true difference of a metric; it prints as a few lines.

    How far two systems differ case by case comes from a `pilot` of both of them, which is best, or of one; or from an
    assumption: the `rate` at which both succeed, the share of cases on which exactly one does (`changed`), or the
    standard deviation of the differences (`sd`). With one system or a rate, `correlation` says how closely the scores
    of two systems go together (.5 unless stated); what holds without correlation is printed too. `power` is how often
    the difference is to be shown, and `level` that of a two-sided test, which `tests` share. Raises InputError for
    numbers out of their range and for a pilot of too few cases.

    >>> import assay
    >>> assay.plan(0.1, changed=0.3).cases, assay.plan(0.1, sd=0.4, metric="answer_similarity").cases
    (249, 128)
    """
    from assay.comparison.case_plan import PlanAims
    from assay.runs.plan_comparison import PlanRequest, plan_comparison

    aims = PlanAims(metric, difference, power, level, tests)
    return plan_comparison(PlanRequest(aims, rate, changed, sd, correlation), _list_sides(pilot))


def _list_sides(sides: SideLike | Sequence[SideLike]) -> list[SideLike]:
    return [sides] if isinstance(sides, ScoreResult) else list_values(sides)
