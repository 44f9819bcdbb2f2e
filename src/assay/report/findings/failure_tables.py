"""Tables and sentences about failures: failed cases, root causes, symptoms, tags, and the evidence trace of one case.

Chunks that a case expects or forbids are named by their keys, never by the text of a forbidden chunk.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from assay.attribution.cause_notes import LEAK_IN_CONTEXT, LEAK_RETRIEVED
from assay.attribution.cause_sentences import describe_cause, is_decided, list_signs, name_causes
from assay.attribution.evidence_trace import format_selector
from assay.attribution.one_case.answer_quality import BEHAVIOUR_SIGNAL
from assay.metrics.case_checks import JUDGED_CORRECTNESS
from assay.metrics.retrieval.file_retrieval import NameComparison
from assay.metrics.template_columns import (
    CITATION,
    CONTEXT_RECALL,
    FAITHFULNESS,
    MRR_10,
    RECALL_10,
    MetricNames,
)
from assay.records.counts import format_count
from assay.records.findings import FAULT_PARTIES, Attribution, RootCause
from assay.records.golden_set import Case, Selector
from assay.records.observations import CONTEXT_STAGE, RETRIEVED_STAGE, Observation, find_stage
from assay.records.scores import CaseChecks, ConfigResult, ScoringResult, Summary
from assay.report.findings.measured_headlines import find_measured_summary
from assay.report.findings.slice_tables import FEW_CASES, count_slice_cases
from assay.report.findings.table import Table
from assay.report.wording.answer_metrics import order_answer_metrics
from assay.report.wording.number_format import (
    NOT_AVAILABLE,
    format_number,
    format_with_count,
    format_with_interval,
    get_row_score,
)
from assay.scoring.case_outcomes import list_failed_cases
from assay.scoring.judged_answers import describe_standing
from assay.text.escaping import WITHHELD, shorten_to_line, withhold_secrets

EVIDENCE_LABEL, FORBIDDEN_LABEL = "Evidence", "Forbidden"


def describe_expected_sources(case: Case, show_forbidden: bool = False) -> dict[str, list[str]]:
    """Return the case's evidence and forbidden chunks as text; with `permission_denied` its evidence is forbidden.

    >>> from assay.records.golden_set import Evidence
    >>> describe_expected_sources(Case("a", "Why?", evidence=(Evidence(({"chunk_id": "doc:1"},), grade=2),)))
    {'Evidence': ['doc:1 (grade 2)'], 'Forbidden': []}
    """
    denied = case.behaviour == "permission_denied"
    hide = not show_forbidden
    units = [_format_alternatives(unit.any_of, hide and denied) for unit in case.evidence]
    graded = [f"{text} (grade {unit.grade})" for text, unit in zip(units, case.evidence, strict=True)]
    listed = [_format_shown(selector, hide) for selector in case.forbidden]
    return {EVIDENCE_LABEL: [] if denied else graded, FORBIDDEN_LABEL: [*(units if denied else ()), *listed]}


def _format_shown(selector: Selector, hide_quote: bool) -> str:
    return format_selector({**selector, "quote": WITHHELD} if hide_quote and "quote" in selector else selector)


def _format_alternatives(selectors: tuple[Selector, ...], hide_quote: bool) -> str:
    return " or ".join(_format_shown(selector, hide_quote) for selector in selectors)


AttributionsByConfig = Mapping[str, Mapping[str, Attribution]]
"""Attributions by configuration and case id."""
TagsByCase = Mapping[str, tuple[str, ...]]

_MAX_TAGS = 5


def build_attribution_table(attributions: AttributionsByConfig) -> Table:
    """Return how many cases got each attribution verdict, for each configuration."""
    rows = []
    for config, cases in sorted(attributions.items()):
        counts = Counter(attribution.verdict for attribution in cases.values())
        rows.append((config, *(str(counts[fault]) for fault in FAULT_PARTIES)))
    signals = sorted(
        {
            attribution.signal
            for cases in attributions.values()
            for attribution in cases.values()
            if attribution.good is not None
        }
    )
    notes = (
        "Pass: no check failed and the answer is known to be right. Unknown: no check failed, and nothing tells if "
        "the answer is right. Each other column is a fault of failed cases. Generation fault: the evidence reached the "
        "generator. Retrieval fault: it did not, or not whole. Masked gap: a good answer without its evidence, so "
        "check the label; the answer may be right by chance. Label fault: the golden set or the judge is wrong. "
        "Unlocated fault: the trace does not show what failed.",
        f"An answer counts as good by: {'; '.join(signals) or 'nothing that was measured'}.",
    )
    return Table("Attribution", ("Config", *(fault.replace("_", " ") for fault in FAULT_PARTIES)), tuple(rows), notes)


def count_outcomes(attributions: Mapping[str, Attribution]) -> dict[str, int]:
    """Return the counts of the table reached × good, by `<reached>_<good>`, and of the cases that are not counted."""
    counts = dict.fromkeys(OUTCOME_CELLS, 0)
    for attribution in attributions.values():
        if attribution.reached is None or attribution.good is None:
            counts["no_cell"] += 1
        else:
            reached = "reached" if attribution.reached else "not_reached"
            is_good = attribution.good and not attribution.is_leak
            counts[f"{reached}_{'good' if is_good else 'bad'}"] += 1
    return counts


OUTCOME_CELLS = ("reached_good", "reached_bad", "not_reached_good", "not_reached_bad", "no_cell")
"""The cells of the table reached × good; `no_cell` counts cases that need no evidence, and those of which one of the
two is not known."""


def build_outcomes_table(attributions: AttributionsByConfig) -> Table:
    """Return, for each configuration, how often the evidence reached the generator and the answer was good."""
    rows = [
        (config, *(str(count) for count in count_outcomes(cases).values())) for config, cases in attributions.items()
    ]
    columns = (
        "Config",
        "Reached, good",
        "Reached, not good",
        "Not reached, good",
        "Not reached, not good",
        "Not counted",
    )
    note = "Not counted: the case requires no evidence, or the trace or the answer does not tell."
    return Table("Evidence and answers", columns, tuple(sorted(rows)), (note,))


def build_root_causes_table(attributions: AttributionsByConfig, tags: TagsByCase) -> Table:
    """Return the root causes of each configuration with their commonest tags and a fix: leaks first, then by count."""
    rows = []
    for config, cases in sorted(attributions.items()):
        cause_counts = Counter(attribution.cause for attribution in cases.values() if attribution.cause is not None)
        leaking = {attribution.cause for attribution in cases.values() if is_leak(attribution)}
        for cause, count in sorted(cause_counts.items(), key=lambda item: (item[0] not in leaking, -item[1], item[0])):
            tag_counts: Counter[str] = Counter()
            confidence_counts: Counter[str] = Counter()
            for case_id, attribution in cases.items():
                if attribution.cause == cause:
                    tag_counts.update(set(tags[case_id]))
                    confidence_counts[attribution.confidence] += 1
            top_tags = sorted(tag_counts.items(), key=lambda item: (-item[1], item[0]))[:_MAX_TAGS]
            happened = Counter(_tell_alone(item) for item in cases.values() if item.cause == cause)
            names = Counter(name_causes(item)[0] for item in cases.values() if item.cause == cause)
            fixes = Counter(attribution.fix for attribution in cases.values() if attribution.cause == cause)
            levels = [level for level in ("high", "medium", "low") if confidence_counts[level]]
            rows.append(
                (
                    config,
                    "; ".join(f"{sentence} × {times}" for sentence, times in happened.most_common(_MAX_TAGS)),
                    str(count),
                    " or ".join(names),
                    ", ".join(f"{level} × {confidence_counts[level]}" for level in levels),
                    ", ".join(f"{tag} × {times}" for tag, times in top_tags),
                    _join_fixes(fixes),
                )
            )
    columns = ("Config", "What happened", "Cases", "Cause", "Confidence", "Tags", "What to try first")
    return Table("Root causes", columns, tuple(rows))


def _tell_alone(attribution: Attribution) -> str:
    """Return what happened by the first cause of a case, as a possibility where others fit as well."""
    first = list_signs(attribution)[0]
    return first if is_decided(attribution) or attribution.cause == "insufficient_trace" else f"perhaps {first}"


def is_leak(attribution: Attribution) -> bool:
    """Return whether a case failed because its user was shown what they must not see."""
    return attribution.verdict == "access_fault" and attribution.subtype == "leak"


def _join_fixes(fixes: Counter[str]) -> str:
    """Return what to try first for the cases of a cause: what helps one that refuses too much harms one that refuses
    too little."""
    if len(fixes) < 2:
        return "".join(fixes)
    return ". ".join(f"{fix} (× {count})" for fix, count in fixes.most_common(_MAX_FIXES))


_MAX_FIXES = 3


def build_causes_by_tag_table(attributions: AttributionsByConfig, tags: TagsByCase) -> Table:
    """Return the number of cases by root cause and tag."""
    counts: Counter[tuple[str, str, RootCause]] = Counter()
    for config, cases in attributions.items():
        for name, attribution in cases.items():
            if attribution.cause is not None:
                counts.update((config, tag, attribution.cause) for tag in set(tags[name]))
    cause_columns = sorted({cause for _, _, cause in counts})
    row_keys = sorted({(config, tag) for config, tag, _ in counts})
    rows = [
        (config, tag, *(str(counts[config, tag, cause] or "") for cause in cause_columns)) for config, tag in row_keys
    ]
    return Table("Causes by tag", ("Config", "Tag", *cause_columns), tuple(rows))


# ── symptoms ─────────────────────────────────────────────────────────────────────────────────────────────────────

HIGH_SHARE, LOW_SHARE, FREQUENT_SHARE = 0.8, 0.6, 0.1
"""Thresholds: a share of at least HIGH is high, of at most LOW low; a failure rate of at least OFTEN is frequent."""

_FAITHFULNESS = ("faithfulness(by=judge)", "faithfulness(by=rules)")


_MAX_DOUBTS = 20


def build_doubts_table(attributions: AttributionsByConfig) -> Table:
    """Return the cases that failed no check although something may be wrong with them, with what was seen."""
    rows = []
    for config, cases in sorted(attributions.items()):
        for case_id, attribution in cases.items():
            if attribution.cause is None and attribution.also:
                facts = shorten_to_line("; ".join(attribution.evidence))
                rows.append((config, case_id, attribution.verdict, _name_doubts(attribution), facts))
    notes = ["No check failed on these cases, so they are not counted as failed and have no root cause."]
    if len(rows) > _MAX_DOUBTS:
        notes.append(f"{len(rows) - _MAX_DOUBTS} more are in the JSON report.")
    columns = ("Config", "Query ID", "Verdict", "Look at", "Because")
    return Table("Doubts", columns, tuple(rows[:_MAX_DOUBTS]), tuple(notes) if rows else ())


def _name_doubts(attribution: Attribution) -> str:
    """Return what may be wrong with a case that failed no check, with the ids of the causes."""
    return f"{' or '.join(list_signs(attribution))} ({', '.join(name_causes(attribution))})"


def find_symptoms(scoring: ScoringResult) -> list[str]:
    """Return symptoms that the summaries show together, each with a remedy: hints where to look, not findings.

    The patterns are those that audits of recorded answers look for (ADR 0038).
    """
    return [
        f"{config}: {hint}"
        for config, result in sorted(scoring.configs.items())
        for hint in _iter_symptoms(result.summary)
    ]


def _iter_symptoms(summary: Mapping[str, Summary]) -> Iterator[str]:
    coverage = _find_value(summary, "citation_coverage")
    scorer = next((name for name in _FAITHFULNESS if _find_value(summary, name) is not None), "")
    faithful = _find_value(summary, scorer)
    if coverage is not None and faithful is not None:
        pair = f"citation_coverage {format_number(coverage)}, {scorer} {format_number(faithful)}"
        if coverage >= HIGH_SHARE and faithful <= LOW_SHARE:
            yield f"{pair}: sources are cited but not followed; tighten the prompt"
        if coverage <= LOW_SHARE and faithful >= HIGH_SHARE:
            yield f"{pair}: much of the context is not used; check for a context that is too long or truncated sources"
    for name, symptom, remedy in _RATE_SYMPTOMS:
        rate = _find_value(summary, name)
        if rate is not None and rate >= FREQUENT_SHARE:
            yield f"{symptom} in {format_number(rate)} of the cases: {remedy}"
    for name, remedy in _CITATION_SYMPTOMS:
        share = _find_value(summary, name)
        if share is not None and 1 - share >= FREQUENT_SHARE:
            yield f"{format_number(1 - share)} of the citations fail {name}: {remedy}"


def _find_value(summary: Mapping[str, Summary], *names: str) -> float | None:
    """Return the value of the first of `names` that was measured, None if none was."""
    for name in names:
        if name in summary and summary[name].value is not None:
            return summary[name].value
    return None


_RATE_SYMPTOMS = (
    ("over_refusal", "refused an answerable question", "loosen the refusal rule or its threshold"),
    ("under_refusal", "answered what must be refused", "let the prompt allow refusing and expressing uncertainty"),
)
_CITATION_SYMPTOMS = (("citation_exists", "reject unknown ids and retry"),)


# ── one case ─────────────────────────────────────────────────────────────────────────────────────────────────────


def summarise_attribution(attribution: Attribution) -> str:
    """Return verdict, cause and confidence in one line; of a pass what was checked, because it claims no more.

    >>> summarise_attribution(Attribution("a", "pass", confidence="high", good=True, signal="number_match"))
    'pass: no check failed; what the answer says was checked by number_match, and nothing else of it'
    """
    verdict = attribution.verdict.replace("_", " ")
    if attribution.subtype:
        verdict += f" ({attribution.subtype.replace('_', ' ')})"
    if attribution.cause is None:
        return _describe_pass(attribution) if attribution.verdict == "pass" else verdict
    stage = f" at {attribution.stage}" if attribution.stage else ""
    return f"{verdict}: {format_cause(attribution)}{stage}, {attribution.confidence} confidence"


def _describe_pass(attribution: Attribution) -> str:
    doubt = "; doubtful" if attribution.confidence == "low" else ""
    if attribution.good is None or not attribution.signal:
        return f"pass: no check failed; what the answer says was not checked{doubt}"
    checked = f"what the answer says was checked by {attribution.signal}, and nothing else of it"
    return f"pass: no check failed; {checked}{doubt}"


def format_cause(attribution: Attribution) -> str:
    """Return the id of the cause with what refines it, empty if nothing went wrong."""
    if attribution.cause is None:
        return ""
    refinement = f" ({attribution.subcause.replace('_', ' ')})" if attribution.subcause else ""
    return f"{name_causes(attribution)[0]}{refinement}"


def _describe_good(attribution: Attribution) -> str:
    """Return whether the answer is good, and by what; what leaks is not, however right it is.

    That an answer which leaks by its words was one, or was none, says nothing of what is right about it.
    """
    signal = f" ({attribution.signal})" if attribution.signal else ""
    if attribution.good and attribution.is_leak:
        if attribution.subcause in (LEAK_IN_CONTEXT, LEAK_RETRIEVED):
            return f"no, because of the leak before it; right apart from that{signal}"
        is_told = bool(attribution.signal) and attribution.signal != BEHAVIOUR_SIGNAL
        return f"no, because it leaks; right apart from that{signal}" if is_told else "no, because it leaks"
    words = {None: "unknown", True: "yes", False: "no"}
    return words[attribution.good] + signal


def list_attribution_facts(attribution: Attribution) -> list[tuple[str, str]]:
    """Return (label, text) pairs that explain an attribution."""
    lines = [] if attribution.cause is None else [("What happened", describe_cause(attribution))]
    lines += [
        ("Attribution", summarise_attribution(attribution)),
        ("Reached", _describe_reached(attribution)),
        ("Good", _describe_good(attribution)),
    ]
    lines += [("Because", fact) for fact in attribution.evidence]
    if attribution.cause is not None:
        lines.append(("Try first", attribution.fix))
    if attribution.also:
        label = "Also possible" if attribution.cause is not None else "No check failed, but look at"
        names = name_causes(attribution)
        lines.append((label, ", ".join(names if attribution.cause is None else names[1:])))
    if attribution.record:
        lines.append(("Record next", "; ".join(attribution.record)))
    return lines


def _describe_reached(attribution: Attribution) -> str:
    """Return whether the evidence reached the generator, or why that is not known."""
    if attribution.reached is not None:
        return "yes" if attribution.reached else "no"
    if not any(unit.required for unit in attribution.traces):
        return "the case requires none"
    return "unknown, the trace does not tell"


def build_evidence_trace_table(attribution: Attribution) -> Table:
    """Return the rank of every unit of evidence at every stage, and the stage that lost it."""
    stages = list(dict.fromkeys(stage for unit in attribution.traces for stage in unit.ranks))
    rows = [
        (
            unit.name,
            f"{unit.grade}{'' if unit.required else ' (optional)'}",
            *("-" if unit.ranks.get(stage) is None else str(unit.ranks[stage]) for stage in stages),
            unit.lost_at or "",
        )
        for unit in attribution.traces
    ]
    return Table("Evidence trace", ("Evidence", "Grade", *stages, "Lost at"), tuple(rows))


def describe_missing_files(files: NameComparison, symbols: NameComparison) -> list[str]:
    """Return the missing files and symbols and the extra files as text; what was not reported is left out.

    >>> files, symbols = NameComparison(frozenset(("a.py",)), frozenset(("b.py",))), NameComparison(frozenset(), None)
    >>> describe_missing_files(files, symbols)
    ['missing files: a.py', 'extra files: b.py']
    """
    name_lists: list[tuple[str, Sequence[str]]] = []
    if files.returned is not None:
        name_lists += [("missing files", files.missing), ("extra files", files.extra)]
    if symbols.returned is not None:
        name_lists += [("missing symbols", symbols.missing)]
    return [f"{label}: {_join_names(names)}" for label, names in name_lists if names]


def _join_names(names: Sequence[str]) -> str:
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    return ", ".join(names[:10]) + more


def format_cause_and_fix(attribution: Attribution | None) -> tuple[str, str]:
    """Return the cells of root cause and fix, `n/a` if there is no attribution: what happened, with the ids of the
    causes by which it is searched."""
    if attribution is None:
        return NOT_AVAILABLE, NOT_AVAILABLE
    if attribution.cause is None:
        return "none found", ""
    return f"{describe_cause(attribution)} ({format_cause_ids(attribution)})", attribution.fix


def format_cause_ids(attribution: Attribution) -> str:
    """Return the ids of the causes that a sentence names, with the confidence of the first where it is not high."""
    ids = name_causes(attribution)
    names = ", ".join(ids[:1] if is_decided(attribution) else ids)
    return names if attribution.confidence == "high" else f"{names}; {attribution.confidence}"


MAX_LISTED_CASES, MAX_WORST_CASES = 30, 10
_MAX_IDS = 10
_TAG_PREFIX = "tag="
_LEAK_CHECK = "leak"

ObservationsByCase = Mapping[tuple[str, str], Observation]
"""Observations of the cases in the table, by (configuration, case id)."""
CasesById = Mapping[str, Case]
FileSentencesByCase = Mapping[tuple[str, str], Sequence[str]]
"""Sentences about missing and extra files and symbols, by (configuration, case id)."""


def build_tag_breakdown_table(scoring: ScoringResult, cases: CasesById) -> Table:
    """Return the legacy runner's table: one row per configuration and tag.

    A tag of one case that did not fail says nothing of its own; such rows are counted if there are many tags.
    """
    columns = ("Config", "Tag", "Cases", "Recall@10", "MRR@10", "Citation correctness", "Failures")
    tag_rows = list(_iter_tag_rows(scoring, cases))
    shown = tag_rows
    if len(tag_rows) > _MAX_SINGLE_TAGS:
        shown = [row for row in tag_rows if int(row[3]) > 1 or int(row[4])]
    rows = []
    for config, result, tag, size, failures in shown:
        values = (_format_tag_count(result, tag, names) for names in (RECALL_10, MRR_10, CITATION))
        rows.append((config, tag, size, *values, failures))
    hidden = len(tag_rows) - len(shown)
    note = f"{format_count(hidden, 'more row')} of tags with one case, which did not fail: see the JSON report."
    return Table("Breakdown By Tag", columns, tuple(rows), (note,) if hidden else ())


_MAX_SINGLE_TAGS = 20
"""With more rows of tags, those that have one case and no failure are counted and not listed."""


def build_tag_table(scoring: ScoringResult, cases: CasesById) -> Table:
    """Return the report template's tag table, with faithfulness, the checks that failed most, and a mark on small tags.

    A small tag on which nothing failed is only in the full table (`build_tag_breakdown_table`).
    """
    columns = ("Config", "Tag", "Cases", "Recall@10", "MRR@10", "Faithfulness", "Citation correctness", "Notes")
    metrics = (RECALL_10, MRR_10, FAITHFULNESS, CITATION)
    rows = [
        (
            config,
            tag,
            size,
            *(_format_tag_interval(result, tag, names) for names in metrics),
            _summarise_tag_failures(result, cases, tag),
        )
        for config, result, tag, size, failures in _iter_tag_rows(scoring, cases)
        if int(failures) or int(size) >= FEW_CASES
    ]
    hidden_rows = sum(1 for _ in _iter_tag_rows(scoring, cases)) - len(rows)
    hidden_note = (
        f"{format_count(hidden_rows, 'row')} of tags with fewer than {FEW_CASES} cases and no "
        f"failure: see Breakdown By Tag"
    )
    return Table("Tags", columns, tuple(rows), (hidden_note,) if hidden_rows else ())


def _iter_tag_rows(scoring: ScoringResult, cases: CasesById) -> Iterator[tuple[str, ConfigResult, str, str, str]]:
    """Yield (configuration, its result, tag, cases, failures), configurations and tags sorted."""
    for config, result in sorted(scoring.configs.items()):
        failures = Counter(tag for case_id in list_failed_cases(result) for tag in set(cases[case_id].tags))
        for key in sorted(result.slices):
            if key.startswith(_TAG_PREFIX):
                tag = key.removeprefix(_TAG_PREFIX)
                yield config, result, tag, str(count_slice_cases(result.slices[key])), str(failures[tag])


def _format_tag_count(result: ConfigResult, tag: str, names: MetricNames) -> str:
    return format_with_count(find_measured_summary(names, result.slices[_TAG_PREFIX + tag]))


def _format_tag_interval(result: ConfigResult, tag: str, names: MetricNames) -> str:
    return format_with_interval(find_measured_summary(names, result.slices[_TAG_PREFIX + tag]))


def _summarise_tag_failures(result: ConfigResult, cases: CasesById, tag: str) -> str:
    failed = (case_checks for case_checks in result.table.checks if tag in cases[case_checks.case_id].tags)
    checks = Counter(name for case_checks in failed for name in case_checks.failed)
    notes = [f"{name} × {count}" for name, count in sorted(checks.items(), key=lambda item: (-item[1], item[0]))[:3]]
    if count_slice_cases(result.slices[_TAG_PREFIX + tag]) < FEW_CASES:
        notes.append(f"fewer than {FEW_CASES} cases: descriptive only")
    return "; ".join(notes)


def build_failed_queries_table(
    scoring: ScoringResult, details: ObservationsByCase, cases: CasesById, lists: FileSentencesByCase | None = None
) -> Table:
    """Return the legacy runner's table: the first 30 failed cases of each configuration, in golden order.

    `lists` holds the missing and extra files and symbols of each case; they become notes below the table.
    """
    rows, notes = [], []
    for config, result in sorted(scoring.configs.items()):
        failed = list_failed_cases(result)
        checks = {case_checks.case_id: case_checks.failed for case_checks in result.table.checks}
        for case_id in failed[:MAX_LISTED_CASES]:
            observation = details.get((config, case_id))
            notes += [f"{config}, {case_id}: {sentence}" for sentence in (lists or {}).get((config, case_id), ())]
            rows.append(
                (
                    config,
                    case_id,
                    cases[case_id].behaviour,
                    ", ".join(checks[case_id]),
                    _format_ids(_list_stage_ids(observation, RETRIEVED_STAGE), 3),
                    _format_ids(_list_stage_ids(observation, CONTEXT_STAGE), _MAX_IDS),
                    _format_ids(observation.citations if observation is not None else None, _MAX_IDS),
                )
            )
        if len(failed) > MAX_LISTED_CASES:
            notes.append(f"{config}: {len(failed) - MAX_LISTED_CASES} more failed cases are in the JSON report.")
    columns = (
        "Config",
        "Query ID",
        "Expected behavior",
        "Failed checks",
        "Retrieved top 3",
        "Context IDs",
        "Citations",
    )
    return Table("Failed Queries", columns, tuple(rows), tuple(notes))


def _list_stage_ids(observation: Observation | None, stage: str) -> tuple[str, ...] | None:
    ranked_stage = find_stage(observation, stage) if observation is not None else None
    return tuple(chunk.chunk_id for chunk in ranked_stage.chunks) if ranked_stage is not None else None


def _format_ids(ids: tuple[str, ...] | None, limit: int) -> str:
    """Return ids on one line: `n/a` if they were not reported, `none` if there are none."""
    if ids is None:
        return NOT_AVAILABLE
    if not ids:
        return "none"
    more = f" … {len(ids) - limit} more" if len(ids) > limit and limit > 3 else ""
    return ", ".join(ids[:limit]) + more


def build_worst_cases_table(
    scoring: ScoringResult, cases: CasesById, show_forbidden: bool, attributions: AttributionsByConfig | None = None
) -> Table:
    """Return the report template's table of the worst cases: leaks first, then those that failed most checks.

    Root cause and fix are included if there are `attributions`. What the template asks of evidence and answers is a
    table of its own, `build_worst_answers_table`: a pull request shows six columns well, and not eleven.
    """
    rows = []
    for config, case_checks in _list_worst_cases(scoring):
        case = cases[case_checks.case_id]
        question = shorten_to_line(withhold_secrets(case.question, () if show_forbidden else case.forbidden_text))
        attribution = (attributions or {}).get(config, {}).get(case.id)
        cause = format_cause_and_fix(attribution) if attributions else ()
        rows.append((config, case.id, question, ", ".join(case_checks.failed), *cause))
    columns = ("Config", "Query ID", "Question", "Failed checks", *(("Root cause", "Fix") if attributions else ()))
    not_attributed = "Root cause and fix are not listed, because the cases were not attributed."
    most = max((len(list_failed_cases(result)) for result in scoring.configs.values()), default=0)
    limited = (
        f"At most {MAX_WORST_CASES} cases for each configuration: leaks first, then by the number of failed checks."
    )
    notes = (*((limited,) if most > MAX_WORST_CASES else ()), *(() if attributions else (not_attributed,)))
    return Table("Top Failed Queries", columns, tuple(rows), (" ".join(notes),) if rows and notes else ())


def build_worst_answers_table(scoring: ScoringResult, cases: CasesById, show_forbidden: bool) -> Table:
    """Return of the same cases what was expected, whether it was found and shown, and whether the answer is right."""
    rows = []
    for config, case_checks in _list_worst_cases(scoring):
        result = scoring.configs[config]
        row = result.table.case_ids.index(case_checks.case_id)
        sources = describe_expected_sources(cases[case_checks.case_id], show_forbidden)[EVIDENCE_LABEL]
        answers = (
            _format_unleaked(result, names, row)
            for names in (RECALL_10, CONTEXT_RECALL, order_answer_metrics([result.table]), CITATION)
        )
        rows.append((config, case_checks.case_id, "; ".join(sources) or "none", *answers))
    questions = ("Retrieved?", "Context?", "Answer correct?", "Citation correct?")
    columns = ("Config", "Query ID", "Expected source", *questions)
    return Table("Evidence and answers of the top failed queries", columns, tuple(rows), (_CITED,) if rows else ())


def _list_worst_cases(scoring: ScoringResult) -> Iterator[tuple[str, CaseChecks]]:
    """Yield the worst failed cases of each configuration."""
    for config, result in sorted(scoring.configs.items()):
        row_by_case = {case_id: row for row, case_id in enumerate(result.table.case_ids)}
        for case_checks in _sort_worst_first(result, row_by_case)[:MAX_WORST_CASES]:
            yield config, case_checks


_CITED = (
    "Citation correct: what is cited was in the context, what must be cited is, and no other chunk fits a claim much "
    "better. Whether the sources support the answer, or are out of date, it does not say."
)


def _sort_worst_first(result: ConfigResult, row_by_case: Mapping[str, int]) -> list[CaseChecks]:
    """Return the failed cases: leaks first, then by the number of failed checks, then in golden order."""

    def get_sort_key(case_checks: CaseChecks) -> tuple[bool, int, int]:
        return _LEAK_CHECK not in case_checks.failed, -len(case_checks.failed), row_by_case[case_checks.case_id]

    return sorted((case_checks for case_checks in result.table.checks if case_checks.failed), key=get_sort_key)


def _format_unleaked(result: ConfigResult, names: MetricNames, row: int) -> str:
    """Return how far one of `names` succeeded; where a leak set its score aside, that, and what it was without."""
    own = result.table.before_leaks
    for name in names:
        value = get_row_score(result.table.columns.get(name), row)
        before = get_row_score(own.get(name), row)
        if value is not None and before is not None and before != value:
            word = "yes" if before >= 1 else "no" if before <= 0 else f"partly ({before:.2f})"
            return f"set aside: leaked ({word} without that)"
        if value is not None:
            break
    return _format_success(result, names, row)


def _format_success(result: ConfigResult, names: MetricNames, row: int) -> str:
    """Return `yes`, `no` or `partly` by the first of `names` that has a score in this row."""
    for name in names:
        value = get_row_score(result.table.columns.get(name), row)
        if value is not None:
            standing = describe_standing(result.table) if name == JUDGED_CORRECTNESS else ""
            word = "yes" if value >= 1 else "no" if value <= 0 else f"partly ({value:.2f})"
            return f"{word}, says the judge ({standing})" if standing else word
    return NOT_AVAILABLE
