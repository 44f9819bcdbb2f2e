"""What runs of several systems tell about a golden set: which cases tell systems apart, which labels are suspect.

With few systems most of it cannot be told, and then it says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import ceil
from statistics import median

import numpy as np

from assay.golden.coverage_matrix import CoverageTarget, count_kinds
from assay.golden.health_results import (
    CaseDiscrimination,
    DetectionPower,
    Discrimination,
    LabelSuspicion,
    Saturation,
    SliceInformation,
    TextLeak,
)
from assay.records.counts import format_count
from assay.records.golden_set import Case, Corpus
from assay.scoring.saved_results import SavedCase
from assay.scoring.slices import find_slices
from assay.stats.arrays import FloatArray
from assay.stats.mcnemar_power import find_cases_needed, find_detectable_difference
from assay.text.tokens import tokenise_text

MIN_SYSTEMS_TO_COMPARE, MIN_SYSTEMS_TO_CORRELATE = 2, 4
CONTRARY_CORRELATION = -0.5
CHANCE_ORDERS = 200
NEXT_CASES, WANTED_DIFFERENCE, WANTED_POWER = 20, 0.05, 0.8
MIN_SLICE_CASES = 3
MIN_LEAKED_WORDS = 6
"""Shorter questions and references occur in texts by chance."""
GOOD_SIGNALS = {
    "correctness(by=judge)": 0.75,
    "faithfulness(by=judge)": 0.8,
    "answer_similarity": 0.5,
    "faithfulness(by=rules)": 0.8,
}
"""The scores that call an answer good by themselves, and from which value on."""
_LABEL_SIGNALS = ("correctness(by=judge)", "answer_similarity")

CasesOfSystem = Mapping[str, SavedCase]


def measure_saturation(cases: Sequence[Case], systems: Sequence[CasesOfSystem]) -> Saturation:
    """Return the cases that all systems pass, and those that none passes, in golden order."""
    if len(systems) < MIN_SYSTEMS_TO_COMPARE:
        return Saturation(0, reason=_too_few(len(systems), MIN_SYSTEMS_TO_COMPARE))
    compared = [case.id for case in cases if all(_passes(system, case.id) is not None for system in systems)]
    all_pass = tuple(name for name in compared if all(_passes(system, name) for system in systems))
    none_pass = tuple(name for name in compared if not any(_passes(system, name) for system in systems))
    return Saturation(len(compared), all_pass, none_pass)


def measure_discrimination(cases: Sequence[Case], systems: Sequence[CasesOfSystem], *, seed: int = 0) -> Discrimination:
    """Return the item-rest correlation of each case that some systems pass and others do not."""
    if len(systems) < MIN_SYSTEMS_TO_CORRELATE:
        return Discrimination(reason=_too_few(len(systems), MIN_SYSTEMS_TO_CORRELATE))
    names, passed = _make_matrix(cases, systems)
    correlations = _correlate_with_rest(passed, passed)
    rows = [
        CaseDiscrimination(name, float(value))
        for name, value in zip(names, correlations.tolist(), strict=True)
        if value == value  # not a number where one side does not vary
    ]
    if not rows:
        return Discrimination(reason="no case is passed by some of the systems and failed by others")
    generator = np.random.default_rng(seed)
    by_chance = 0
    for _ in range(CHANCE_ORDERS):
        shuffled = generator.permuted(passed, axis=0)
        by_chance += int(np.count_nonzero(_correlate_with_rest(shuffled, passed) <= CONTRARY_CORRELATION))
    ordered = tuple(sorted(rows, key=lambda row: (row.correlation, row.case_id)))
    contrary = tuple(row.case_id for row in ordered if row.correlation <= CONTRARY_CORRELATION)
    return Discrimination(ordered, contrary, round(by_chance / CHANCE_ORDERS, 2))


def _make_matrix(cases: Sequence[Case], systems: Sequence[CasesOfSystem]) -> tuple[list[str], FloatArray]:
    """Return the cases that every system passed or failed, and 1 or 0 for each system and case."""
    names = [case.id for case in cases if all(_passes(system, case.id) is not None for system in systems)]
    passed = np.array([[float(bool(_passes(system, name))) for name in names] for system in systems], dtype=np.float64)
    return names, passed.reshape(len(systems), len(names))


def _correlate_with_rest(items: FloatArray, passed: FloatArray) -> FloatArray:
    """Return the correlation of each column of `items` with the sum of the other columns of `passed`.

    Both have shape (systems, cases), the result (cases,); it is not a number where one of the two does not vary.
    """
    rest = passed.sum(axis=1, keepdims=True) - passed
    first, second = items - items.mean(axis=0), rest - rest.mean(axis=0)
    spread = np.sqrt((first * first).sum(axis=0) * (second * second).sum(axis=0))
    correlation = np.full(items.shape[1], np.nan)
    varies = spread > 1e-12
    correlation[varies] = (first * second).sum(axis=0)[varies] / spread[varies]
    return correlation


def find_label_suspicions(
    cases: Sequence[Case], systems: Mapping[str, CasesOfSystem]
) -> tuple[list[LabelSuspicion], str]:
    """Return the cases whose labels may be wrong, and why none can be told.

    An answer's label is suspect if the better half of the systems fails the case, and all that judge or rules say of
    these answers is good. Evidence is, if at least two systems answer rightly without any of it in their context.
    """
    if len(systems) < MIN_SYSTEMS_TO_COMPARE:
        return [], _too_few(len(systems), MIN_SYSTEMS_TO_COMPARE)
    shares = {name: sum(bool(_passes(rows, case.id)) for case in cases) for name, rows in systems.items()}
    better = sorted(systems, key=lambda name: (-shares[name], name))[: max(2, ceil(len(systems) / 2))]
    suspicions: list[LabelSuspicion] = []
    for case in cases:
        rows = {name: systems[name][case.id] for name in better if case.id in systems[name]}
        reasons = [_explain_good(row) for row in rows.values()]
        if len(rows) == len(better) and all(row.outcome == "failed" for row in rows.values()) and all(reasons):
            suspicions.append(LabelSuspicion(case.id, "answer", tuple(better), "; ".join(sorted(set(reasons)))))
        without = [
            name
            for name, cases_of_system in systems.items()
            if case.id in cases_of_system and _is_right_without_evidence(cases_of_system[case.id])
        ]
        if len(without) >= MIN_SYSTEMS_TO_COMPARE:
            because = "right answers without any labelled evidence in the context"
            suspicions.append(LabelSuspicion(case.id, "evidence", tuple(without), because))
    measured = any(
        row.scores.get(signal) is not None
        for rows in systems.values()
        for row in rows.values()
        for signal in _LABEL_SIGNALS
    )
    return suspicions, "" if measured else f"no run has a score that calls answers good ({' or '.join(_LABEL_SIGNALS)})"


def _explain_good(row: SavedCase) -> str:
    """Return which scores call the answer good; empty unless all that there are do, and one is of the whole answer."""
    values = {name: row.scores.get(name) for name in GOOD_SIGNALS}
    measured = {name: value for name, value in values.items() if value is not None}
    if not any(name in measured for name in _LABEL_SIGNALS):
        return ""
    if any(value < GOOD_SIGNALS[name] for name, value in measured.items()):
        return ""
    return f"good by {', '.join(sorted(measured))}"


def _is_right_without_evidence(row: SavedCase) -> bool:
    return row.scores.get("correct_answer") == 1.0 and row.scores.get("context_recall") == 0.0


def measure_power(
    cases: Sequence[Case], systems: Sequence[CasesOfSystem], targets: Mapping[str, CoverageTarget]
) -> DetectionPower:
    """Return what differences the set can see, and which cases would make it see a difference of .05."""
    missing = {cell.kind: cell.missing for cell in count_kinds(cases, targets) if cell.missing}
    if len(systems) < MIN_SYSTEMS_TO_COMPARE:
        reason = _too_few(len(systems), MIN_SYSTEMS_TO_COMPARE)
        return DetectionPower(len(cases), 0, kinds_missing=missing, reason=reason)
    names, passed = _make_matrix(cases, systems)
    pairs = list(combinations(range(len(systems)), 2))
    shares = [float(np.mean(passed[one] != passed[other])) for one, other in pairs] if len(names) > 1 else []
    discordant = median(shares) if shares else 0.0
    telling = {name for name, column in zip(names, passed.T.tolist(), strict=True) if len(set(column)) > 1}
    slices = _plan_slices(cases, set(names), telling)
    if not discordant:
        reason = "most pairs of systems pass and fail the same cases: how much differences vary cannot be told"
        return DetectionPower(len(names), len(pairs), slices=slices, kinds_missing=missing, reason=reason)
    return DetectionPower(
        len(names),
        len(pairs),
        find_detectable_difference(len(names), discordant, WANTED_POWER),
        find_detectable_difference(len(names) + NEXT_CASES, discordant, WANTED_POWER),
        find_cases_needed(discordant, WANTED_DIFFERENCE, WANTED_POWER),
        slices,
        missing,
    )


def _plan_slices(cases: Sequence[Case], compared: set[str], telling: set[str]) -> tuple[SliceInformation, ...]:
    """Return the slices by tag with their telling cases, and the next cases by largest remainder of these."""
    rows = []
    for name, indices in find_slices(cases, ["tag"]).items() if any(case.tags for case in cases) else ():
        members = [cases[row].id for row in indices.tolist() if cases[row].id in compared]
        if len(members) >= MIN_SLICE_CASES:
            rows.append((name, len(members), sum(member in telling for member in members)))
    total = sum(count / size for _, size, count in rows)
    quotas = [NEXT_CASES * (count / size) / total if total else 0.0 for _, size, count in rows]
    quotas_of_slices = [int(quota) for quota in quotas]
    by_remainder = sorted(range(len(rows)), key=lambda row: (quotas_of_slices[row] - quotas[row], rows[row][0]))
    for row in by_remainder[: NEXT_CASES - sum(quotas_of_slices) if total else 0]:
        quotas_of_slices[row] += 1
    planned = [SliceInformation(*row, next_cases) for row, next_cases in zip(rows, quotas_of_slices, strict=True)]
    return tuple(sorted(planned, key=lambda item: (-item.next_cases, item.slice)))


# ── leakage ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def find_text_leaks(cases: Sequence[Case], prompts: Mapping[str, str], corpus: Corpus | None) -> list[TextLeak]:
    """Return the questions and references that stand word for word in a prompt, and the questions in the corpus.

    References belong into the corpus. Case, accents of typing and punctuation do not count; texts of fewer than six
    words are not looked for.
    """
    leaks: list[TextLeak] = []
    prompt_words = {name: _join_words(text) for name, text in prompts.items()}
    chunk_words = {}
    if corpus is not None:
        chunk_words = {name: _join_words(chunk.text) for name, chunk in corpus.chunks.items() if chunk.text}
    for case in cases:
        question, reference = _join_words(case.question), _join_words(case.reference or "")
        for name, words in prompt_words.items():
            if _is_long(question) and question in words:
                leaks.append(TextLeak(case.id, "question", "prompt", name))
            if _is_long(reference) and reference in words:
                leaks.append(TextLeak(case.id, "reference", "prompt", name))
        if _is_long(question):
            leaks += [
                TextLeak(case.id, "question", "corpus", name)
                for name, words in chunk_words.items()
                if question in words
            ]
    return leaks


def _join_words(text: str) -> str:
    """Return the words of a text with a blank on either side of each, so that only whole words match."""
    return f" {' '.join(tokenise_text(text))} "


def _is_long(words: str) -> bool:
    return words.count(" ") > MIN_LEAKED_WORDS


def _passes(system: CasesOfSystem, case_id: str) -> bool | None:
    """Return whether a system passed a case; None where it was not asked, or nothing tells."""
    row = system.get(case_id)
    return None if row is None or row.outcome == "unknown" else row.outcome == "passed"


def _too_few(systems: int, needed: int) -> str:
    return f"cannot be told with {format_count(systems, 'configuration')} (expected {needed} or more)"
