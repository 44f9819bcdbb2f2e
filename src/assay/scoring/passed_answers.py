"""How often an answer that rules passed is wrong, as far as people read a random sample of these answers.

The order in which passes are drawn follows from a digest of the case, the answer and what its case expects, and of
nothing else. It therefore says nothing of whether an answer is right, is the same on every machine, and an answer that
stays the same keeps its place in it. The first so many answers in this order are a random sample (ADR 188).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import cast

import numpy as np
import numpy.typing as npt
from msgspec import Struct, structs

from assay.metrics.answers.answer_behaviour import ANSWER_BEHAVIOUR, BEHAVIOUR_BITS, BEHAVIOUR_CODES, AnswerFacts
from assay.metrics.answers.correctness import CORRECT_ANSWER
from assay.metrics.cases.case_index import CaseIndex
from assay.metrics.cases.settled_answers import RIGHT, SETTLED_METRICS, SettledMetric, find_decision, find_labels
from assay.metrics.catalog import compute_column, parse_metric
from assay.metrics.metric import Batch, JoinedRows
from assay.records.answer_numbers import NO_NUMBER, AnswerNumbers, number_parts
from assay.records.counts import format_count
from assay.records.digest import compute_answer_hash
from assay.records.golden_set import Behaviour
from assay.records.observations import Observation
from assay.records.scores import SCORED, Interval, PassSample, ScoreColumn
from assay.stats.arrays import BoolArray, RowIndices
from assay.stats.intervals import finite_rate_interval

NOT_PASSED = -1
UNREAD, FOUND_RIGHT, FOUND_WRONG, LEFT_OPEN = range(4)
"""What people said of an answer: nothing, right, wrong, or that it is unclear; also where they disagree."""
BEHAVIOUR: SettledMetric = "behaviour"


class PassRows(Struct, frozen=True):
    """Which rows have an answer that rules passed, and what people said of it.

    `metrics` are positions in `SETTLED_METRICS`: by which of them an answer passed, `NOT_PASSED` for one that did not.
    `draws` are the places of the answers in the order in which they are drawn, lowest first.
    """

    metrics: npt.NDArray[np.int8]
    draws: AnswerNumbers
    readings: npt.NDArray[np.uint8]

    def take(self, rows: RowIndices) -> PassRows:
        """Return some of the rows."""
        return PassRows(self.metrics[rows], self.draws[rows], self.readings[rows])


def join_passes(parts: Sequence[PassRows | None]) -> PassRows | None:
    """Return the rows of several parts as one; None where nobody looked for passes."""
    present = [part for part in parts if part is not None]
    if not present:
        return None
    return PassRows(
        np.concatenate([part.metrics for part in present]),
        np.concatenate([part.draws for part in present]),
        np.concatenate([part.readings for part in present]),
    )


def find_passes(batch: Batch, columns: Mapping[str, ScoreColumn]) -> PassRows:
    """Return which answers of a batch rules passed, whatever people decided about them.

    `columns` are the scores of the batch; those of rows about which people decided something are computed again without
    that. An answer passes by `correct_answer`, or where something else than an answer is accepted, by `behaviour`.
    """
    facts = batch.get_facts(AnswerFacts)
    metrics = _find_passed_metrics(batch, columns)
    labelled = [row for row, case in enumerate(batch.cases) if case.case.answer_labels and not batch.errors[row]]
    if labelled:
        bare = _leave_out_labels(batch, labelled)
        bare_columns: dict[str, ScoreColumn] = {
            name: compute_column(bare, parse_metric(name)) for name in SETTLED_METRICS
        }
        metrics[labelled] = _find_passed_metrics(bare, bare_columns)
    draws = np.full(len(metrics), NO_NUMBER)
    readings = np.full(len(metrics), UNREAD, dtype=np.uint8)
    for row in np.flatnonzero(metrics != NOT_PASSED).tolist():
        case, metric = batch.cases[row], SETTLED_METRICS[metrics[row]]
        draws[row] = number_draw(case, metric, facts.texts[row])
        readings[row] = _find_reading(case, metric, facts.texts[row])
    return PassRows(metrics, draws, readings)


def _find_passed_metrics(batch: Batch, columns: Mapping[str, ScoreColumn]) -> npt.NDArray[np.int8]:
    """Return by which metric the answer of each row passed."""
    facts = batch.get_facts(AnswerFacts)
    did_expected, did_other = (_find_scored_as(columns[BEHAVIOUR], value) for value in (1.0, 0.0))
    is_answer = facts.observed_behaviours[0] == BEHAVIOUR_CODES[ANSWER_BEHAVIOUR]
    has_text = np.array([bool(text.strip()) for text in facts.texts], dtype=np.bool_)
    metrics = np.full(len(facts.texts), NOT_PASSED, dtype=np.int8)
    metrics[has_text & did_expected & ~is_answer] = SETTLED_METRICS.index(BEHAVIOUR)
    is_right = _find_scored_as(columns[CORRECT_ANSWER], 1.0)
    metrics[has_text & is_right & ~did_other] = SETTLED_METRICS.index(CORRECT_ANSWER)
    return metrics


def _find_scored_as(column: ScoreColumn, value: float) -> BoolArray:
    return np.asarray((column.status == SCORED) & (column.values == value), dtype=np.bool_)


def _leave_out_labels(batch: Batch, rows: Sequence[int]) -> Batch:
    """Return some rows of a batch, of which only the answers are kept, as if nobody had decided about them."""
    facts = batch.get_facts(AnswerFacts)
    bare = Batch([(AnswerFacts, ())])
    cases, observations = [], []
    for row in rows:
        case = batch.cases[row]
        cases.append(CaseIndex(structs.replace(case.case, answer_labels=()), case.golden_index))
        declared = cast("Behaviour | None", facts.declared[row])
        observations.append(Observation(case.case.id, answer=facts.answers[row], behaviour=declared))
    bare.add_rows(JoinedRows(cases, observations))
    return bare


def number_draw(case: CaseIndex, metric: SettledMetric, answer: str) -> int:
    """Return the place of an answer in the order in which passes are drawn."""
    parts = (case.case.id, metric, compute_answer_hash(answer), case.expectations)
    return number_parts([part.encode("utf-8", "surrogatepass") for part in parts])


def _find_reading(case: CaseIndex, metric: SettledMetric, answer: str) -> int:
    """Return what people said of an answer that passed."""
    if not find_labels(case.case, metric, answer):
        return UNREAD
    decision = find_decision(case.case, metric, answer)
    if decision is None or decision.is_disputed:
        return LEFT_OPEN
    if metric == CORRECT_ANSWER:
        return FOUND_RIGHT if decision.label == RIGHT else FOUND_WRONG
    return FOUND_RIGHT if case.accepted_bits & BEHAVIOUR_BITS[decision.label] else FOUND_WRONG


def find_read_sample(passes: PassRows, sizes: Collection[int]) -> RowIndices | None:
    """Return the rows of the sample of passes that people read, of one of the sizes, in the order of the draw.

    The sizes are those for which people read. Of them, that counts of whose sample the smallest part is unread, and of
    equal ones the largest; if every pass was read, all of them count. None if there is no such sample, or nobody read
    anything of it. Labels beyond the sample count for nothing: why people made them may depend on the answers.
    """
    order: RowIndices = np.argsort(passes.draws, kind="stable")
    order = order[passes.metrics[order] != NOT_PASSED]
    unread_before = np.concatenate(([0], np.cumsum(passes.readings[order] == UNREAD)))
    sampled = {min(size, len(order)) for size in sizes} | ({len(order)} if not unread_before[-1] else set())
    sampled.discard(0)
    drawn = min(sampled, key=lambda size: (unread_before[size] / size, -size), default=0)
    return order[:drawn] if drawn and unread_before[drawn] < drawn else None


def measure_pass_sample(passes: PassRows, sizes: Collection[int]) -> PassSample | None:
    """Return how many passes of one configuration people read, and found wrong, in the sample of `find_read_sample`."""
    rows = find_read_sample(passes, sizes)
    if rows is None:
        return None
    passed, drawn = int(np.count_nonzero(passes.metrics != NOT_PASSED)), len(rows)
    right, wrong, unclear, unread = (
        int(np.count_nonzero(passes.readings[rows] == state)) for state in (FOUND_RIGHT, FOUND_WRONG, LEFT_OPEN, UNREAD)
    )
    sample = PassSample(passed, drawn, right, wrong, unclear, unread)
    if right + wrong == passed:
        return sample
    low = finite_rate_interval(wrong, drawn, passed).low
    most = finite_rate_interval(drawn - right, drawn, passed)
    return structs.replace(sample, interval=Interval(low, most.high, most.method))


def list_outcomes(passes: PassRows, rows: RowIndices) -> list[bool | None]:
    """Return of each row whether people found its answer wrong; None where that is open."""
    return [_OUTCOMES.get(reading) for reading in passes.readings[rows].tolist()]


_OUTCOMES = {FOUND_RIGHT: False, FOUND_WRONG: True}

PASSES_READ = "people read "
"""How every sentence on read passes begins."""


def describe_pass_sample(sample: PassSample) -> str:
    """Return a sentence on how many passes people read, how many of these are wrong, and what that says of all passes.

    >>> print(describe_pass_sample(PassSample(50, 10, 9, 1, 0, 0, Interval(1 / 50, 21 / 50, "hypergeometric"))))
    people read 10 of the 50 answers that rules passed, drawn at random: 1 is wrong (10%; of all 50 between 2% and 42%)
    >>> describe_pass_sample(PassSample(12, 12, 12, 0, 0, 0))
    'people read all 12 answers that rules passed: none is wrong'
    """
    share = "" if sample.share_wrong is None or not sample.wrong else _format_share(sample.share_wrong)
    everything = ""
    if sample.interval is not None:
        low, high = _format_share(sample.interval.low), _format_share(sample.interval.high)
        limits = f"between {low} and {high}" if sample.interval.low > 0 else f"at most {high}"
        everything = f"of all {sample.passed} {limits}"
    figures = "; ".join(filter(None, (share, everything)))
    findings = [format_count(sample.wrong, "is wrong", "are wrong") if sample.wrong else "none is wrong"]
    findings += [format_count(sample.unclear, "is unclear", "are unclear")] if sample.unclear else []
    return f"{_describe_reading(sample)}: {', '.join(findings)}{f' ({figures})' if figures else ''}"


def _describe_reading(sample: PassSample) -> str:
    answers = format_count(sample.passed, "answer that rules passed", "answers that rules passed")
    if sample.unread:
        remedy = f"(`assay labels export --only passed --sample {sample.drawn}` exports the rest)"
        return f"{PASSES_READ}{sample.read} of {sample.drawn} drawn at random from the {answers} {remedy}"
    if sample.drawn == sample.passed:
        return f"{PASSES_READ}{'all' if sample.passed > 1 else 'the'} {answers}"
    return f"{PASSES_READ}{sample.drawn} of the {answers}, drawn at random"


def _format_share(share: float) -> str:
    """Return a share as a percentage with two digits.

    >>> [_format_share(share) for share in (1.0, 0.1604, 0.00472)]
    ['100%', '16%', '0.47%']
    """
    return f"{100 * share:.0f}%" if share >= 0.0995 else f"{100 * share:.2g}%"
