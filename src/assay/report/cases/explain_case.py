"""The explanation of one case: its join, leaks and scores are computed again, with their reasons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches

from assay.attribution.attribute_run import attribute_run_case
from assay.metrics.answers.answer_behaviour import is_refusal_doubted
from assay.metrics.cases.case_index import CaseIndex, GoldenIndex, is_cited_among, list_reported_documents
from assay.metrics.catalog import find_metric, parse_metric
from assay.metrics.leaks.find_leaks import TOOL_RESULTS, Leaks, find_leaks
from assay.metrics.leaks.withheld_text import WithheldTexts, may_repeat_forbidden
from assay.metrics.metric import JoinedRows
from assay.metrics.retrieval.file_retrieval import compare_files, compare_symbols
from assay.records.counts import format_count
from assay.records.errors import InputError, Problem, shorten_repr
from assay.records.golden_set import GOLDEN_KEYS_UNREAD
from assay.records.observations import CONTEXT_STAGE, Chunk, Observation, Stage
from assay.records.scores import SCORED, STATUS_NAMES, CaseChecks, ScoreTable
from assay.report.cases.full_case import (
    FORBIDDEN_MARK,
    SET_ASIDE,
    CitationMark,
    Explanation,
    RankedChunk,
    RankedStage,
    ScoreLine,
    make_page,
    render_case_text,
)
from assay.report.cases.short_case import MOST_LINES, compare_with_case, describe_variants_of_case, render_case_summary
from assay.report.findings.attribution_facts import describe_missing_files
from assay.report.findings.collect_findings import compare_run
from assay.report.screen.case_change import render_case_change, render_short_case_change
from assay.report.screen.terminal import Screen
from assay.scoring.score_tables import list_case_columns
from assay.scoring.scored_run import ScoredRun


def explain_case(
    run: ScoredRun,
    case_id: str,
    config_id: str | None = None,
    *,
    show_forbidden: bool = False,
    verbose: bool = False,
    width: int = 100,
    verbose_name: str = "verbose=True",
    reserved_lines: int = 0,
) -> str:
    """Return one case as text of at most 30 lines, less `reserved_lines`; `verbose` for everything known of it.

    `verbose_name` is what the user calls that; the last line of a short text names it.

    The id may be that of a variant of a case: then up to five lines more compare it with its case. A case that has
    variants says how they were treated. Raises InputError for an unknown case or configuration, and if there are
    several configurations and none is named.
    """
    config = require_config(run, config_id)
    of_variant = case_id not in run.cases and run.variants is not None and case_id in run.variants.cases
    scored = run.variants if of_variant and run.variants is not None else run
    if case_id not in scored.cases:
        close_matches = get_close_matches(case_id, list(scored.cases), n=1)
        some_ids = ", ".join(list(scored.cases)[:_MOST_IDS_NAMED])
        expected = (
            f"did you mean {close_matches[0]!r}?" if close_matches else f"expected the id of a case, such as {some_ids}"
        )
        message = f"no such case in the golden set (got {shorten_repr(case_id)}; {expected})"
        raise InputError([Problem("", None, "case", message)])
    if config not in scored.scoring.configs:
        message = f"a variant, and {config} has no output of any variant (got {shorten_repr(case_id)})"
        raise InputError([Problem("", None, "case", message)])
    case_explanation = _explain_alone(scored, config, case_id)
    text = render_variant_lines(run, case_explanation, width=width, show_forbidden=show_forbidden)
    text += _describe_unread(run, case_explanation, width)
    if verbose:
        return render_case_text(case_explanation, width=width, show_forbidden=show_forbidden) + text
    scores = format_count(len(case_explanation.scores), "score")
    more = f"{verbose_name} adds rankings, context, citations and {scores}\n"
    room = MOST_LINES - reserved_lines - len(text.splitlines()) - 1
    summary = render_case_summary(case_explanation, width=width, show_forbidden=show_forbidden, most_lines=room)
    return summary + text + more


_MOST_IDS_NAMED = 3


def _describe_unread(run: ScoredRun, explanation: Explanation, width: int) -> str:
    """Return what the golden set holds and nothing looks at, because its name is not known; "" where it has none."""
    unread = [warning for warning in run.scoring.warnings if GOLDEN_KEYS_UNREAD in warning]
    if not unread:
        return ""
    page = make_page(explanation, width, show_forbidden=False)
    return _join_lines(page.paragraph("Not checked", "; ".join(unread), 2))


def _explain_alone(run: ScoredRun, config: str, case_id: str) -> Explanation:
    """Return everything known of a case of a run, with its attribution."""
    table = run.scoring.configs[config].table
    checks = next((case_checks for case_checks in table.checks if case_checks.case_id == case_id), None)
    position = run.joins.position[case_id]
    explanation = build_explanation(run, run.joins, position, config, checks)
    lists = list_missing_files(run.joins.case_index(position), explanation.observation)
    corpus = run.joins.corpus
    is_unchecked = explanation.case.user is None and corpus is not None and corpus.count_restricted() > 0
    return replace(
        explanation,
        attribution=attribute_run_case(run, config, case_id),
        file_sentences=tuple(lists),
        access_unchecked=is_unchecked,
    )


def render_variant_lines(
    run: ScoredRun, explanation: Explanation, *, width: int = 100, show_forbidden: bool = False
) -> str:
    """Return how a variant differs from its case, or how the variants of a case were treated; "" without any."""
    case, config = explanation.case, explanation.config_id
    page = make_page(explanation, width, show_forbidden)
    twins = run.scoring.twins.get(config)
    pairs = {pair.variant_id: pair for pair in twins.pairs} if twins is not None else {}
    if case.variant_of is None:
        kin = (
            [variant for variant in run.variants.golden.cases if variant.variant_of == case.id] if run.variants else []
        )
        if not kin or twins is None:
            return ""
        return _join_lines(page.paragraph("Variants", describe_variants_of_case(kin, pairs), 3))
    if case.variant_of not in run.cases:
        return _join_lines(page.paragraph("Variant", f"{case.variant} of {case.variant_of}, which was not scored", 1))
    base = build_explanation(run, run.joins, run.joins.position[case.variant_of], config, None, scores=False)
    checks = {row.case_id: row for row in run.scoring.configs[config].table.checks}
    base = replace(base, checks=checks.get(case.variant_of))
    pair = pairs.get(case.id)
    return _join_lines(compare_with_case(explanation, base, pair, width=width, show_forbidden=show_forbidden))


def _join_lines(lines: Sequence[str]) -> str:
    return "\n".join(["", *lines]) + "\n"


def summarise_failed_case(run: ScoredRun, config: str, checks: CaseChecks) -> str:
    """Return a failed case in at most 30 lines, for reports: forbidden text is withheld."""
    position = run.joins.position[checks.case_id]
    explanation = build_explanation(run, run.joins, position, config, checks, scores=False)
    explanation = replace(explanation, attribution=attribute_run_case(run, config, checks.case_id))
    return render_case_summary(explanation)


def explain_change(
    run: ScoredRun,
    case_id: str,
    config_id: str | None = None,
    *,
    verbose: bool = True,
    width: int = 100,
    most_lines: int = 2,
) -> Screen:
    """Return what changed on one case against the baseline that the run was scored with.

    Unless `verbose`, cause, scores and moved evidence have at most `most_lines` lines each.
    """
    comparison = compare_run(run)[require_config(run, config_id)]
    if verbose:
        return render_case_change(comparison, case_id)
    return render_short_case_change(comparison, case_id, width=width, most_lines=most_lines)


def list_missing_files(case: CaseIndex, observation: Observation | None) -> list[str]:
    """Return the files and symbols that a case expects and were not returned, and those returned in addition."""
    return (
        []
        if observation is None
        else describe_missing_files(compare_files(case, observation), compare_symbols(case, observation))
    )


def build_explanation(
    run: ScoredRun, joins: GoldenIndex, position: int, config: str, checks: CaseChecks | None, *, scores: bool = True
) -> Explanation:
    """Return everything known of the case at a position of the golden set, for one configuration.

    `joins` is the run's golden set joined with its corpus, shared by all cases of a report; `checks` are those of this
    case. Without `scores` it takes a fraction of the time.
    """
    case = joins.case_index(position)
    observation = run.read_observation(config, case.case.id)
    leaks = Leaks() if observation is None else find_leaks(case, observation)
    lines = _score_lines(run, case, position, config, observation, leaks) if scores else []
    samples = run.describe_samples(config, case.case.id)
    case_explanation = Explanation(
        case.case,
        config,
        observation,
        scores=tuple(lines),
        checks=checks,
        samples=samples,
        source_sentences=case.source_sentences,
    )
    if observation is None:
        return case_explanation
    withheld = WithheldTexts(case, observation, leaks, names_chunks=True)
    return replace(_add_trace(case_explanation, case, observation, leaks), withhold=withheld.withhold)


def _score_lines(
    run: ScoredRun, case: CaseIndex, position: int, config: str, observation: Observation | None, leaks: Leaks
) -> list[ScoreLine]:
    """Return every score with its derivation, or with the reason why it is missing."""
    table = run.scoring.configs[config].table
    rows = None
    if observation is not None and not may_repeat_forbidden(case, observation, leaks):
        rows = JoinedRows([case], [observation])  # one for all metrics: they read the answer once
        rows.leaks[id(observation)] = leaks
    lines = []
    for name in list_case_columns(run.plan):
        column = table.columns[name]
        state = STATUS_NAMES[column.status[position]]
        value = float(column.values[position]) if state == "scored" else None
        reason_missing = column.reasons[column.reason[position]]
        derivation = "" if rows is None or state != "scored" else _explain_value(rows, name)
        set_aside = _explain_leaked_score(table, str(name), position)
        reason = "; ".join(filter(None, (set_aside, reason_missing, derivation)))
        lines.append(ScoreLine(name, value, state, reason))
    return lines


def explain_score(run: ScoredRun, config: str, case_id: str, metric: str) -> str:
    """Return how the score of a case was derived, "" where that is not known or would quote what leaked."""
    position = run.joins.position[case_id]
    table = run.scoring.configs[config].table
    set_aside = _explain_leaked_score(table, metric, position)
    observation = run.read_observation(config, case_id)
    case = run.joins.case_index(position)
    if set_aside or observation is None or may_repeat_forbidden(case, observation, find_leaks(case, observation)):
        return set_aside
    return _explain_value(JoinedRows([case], [observation]), metric)


def _explain_leaked_score(table: ScoreTable, metric: str, position: int) -> str:
    """Return that a leak, and not the answer, gave a case its score, and what the score was; "" where it did not."""
    own = table.before_leaks.get(metric)
    if own is None or own.status[position] != SCORED or own.values[position] == table.columns[metric].values[position]:
        return ""
    return f"{SET_ASIDE}; {own.values[position]:.3f} without that"


def _explain_value(rows: JoinedRows, metric: str) -> str:
    """Return how a score was derived, if the metric can explain it. It quotes the answer, so never use it on a leak."""
    name = parse_metric(metric)
    explain_score = find_metric(name).explain
    return explain_score(rows, name) if explain_score is not None else ""


def require_config(run: ScoredRun, config_id: str | None) -> str:
    configs = list(run.scoring.configs)
    if config_id is None and len(configs) == 1:
        return configs[0]
    if config_id not in configs:
        got = "none named" if config_id is None else f"no such configuration (got {shorten_repr(config_id)}"
        separator = " (" if config_id is None else "; "
        message = f"{got}{separator}expected one of {', '.join(configs)})"
        raise InputError([Problem("", None, "config", message, "E_CONFIG")])
    return config_id


def _add_trace(explanation: Explanation, case: CaseIndex, observation: Observation, leaks: Leaks) -> Explanation:
    stages = None if observation.stages is None else [s for s in observation.stages if s.name != CONTEXT_STAGE]
    context = next((stage for stage in observation.stages or () if stage.name == CONTEXT_STAGE), None)
    return Explanation(
        explanation.case,
        explanation.config_id,
        observation,
        None
        if stages is None
        else tuple(RankedStage(s.name, _rank_chunks(case, s, leaks), s.latency_ms) for s in stages),
        None if context is None else _rank_chunks(case, context, leaks),
        None
        if observation.citations is None
        else tuple(_mark_citation(case, observation, citation, leaks) for citation in observation.citations),
        explanation.scores,
        explanation.checks,
        leaked=may_repeat_forbidden(case, observation, leaks),
        tools_leaked=TOOL_RESULTS in leaks.ids,
        is_refusal_doubted=is_refusal_doubted(case, observation),
        samples=explanation.samples,
        source_sentences=explanation.source_sentences,
    )


def _rank_chunks(case: CaseIndex, stage: Stage, leaks: Leaks) -> tuple[RankedChunk, ...]:
    """Return a ranking with the grade and the evidence that each position adds, from the same join as the scores."""
    forbidden_ids = {*leaks.ids.get(stage.name, ()), *leaks.over_fetched.get(stage.name, ())}
    superseded = case.golden_index.superseded_versions(case.as_of)
    covered, earlier_ids, rows = 0, set[str](), []
    for rank, (chunk, mask) in enumerate(zip(stage.chunks, case.evidence.unit_masks(stage.chunks), strict=True), 1):
        first_units = (mask or 0) & ~covered
        covered |= mask or 0
        marks = [FORBIDDEN_MARK] if chunk.chunk_id in forbidden_ids else []
        marks += ["repeat"] if chunk.chunk_id in earlier_ids else []
        marks += ["stale"] if superseded is not None and superseded.count_superseded([chunk]) else []
        marks += ["early"] if superseded is not None and superseded.count_early([chunk]) else []
        earlier_ids.add(chunk.chunk_id)
        grade = None if mask is None else case.evidence.best_grade(first_units)
        text = _chunk_text(case, chunk)
        rows.append(RankedChunk(rank, chunk.chunk_id, chunk.score, grade, first_units.bit_count(), tuple(marks), text))
    return tuple(rows)


def _chunk_text(case: CaseIndex, chunk: Chunk) -> str | None:
    corpus_chunk = case.corpus.chunks.get(chunk.chunk_id) if case.corpus is not None else None
    return chunk.text if chunk.text is not None else (corpus_chunk.text if corpus_chunk is not None else None)


def _mark_citation(case: CaseIndex, observation: Observation, citation: str, leaks: Leaks) -> CitationMark:
    stages = observation.stages or ()
    returned_ids = {chunk.chunk_id for stage in stages for chunk in stage.chunks}
    existing_ids = returned_ids | (case.corpus.chunks.keys() if case.corpus is not None else set())
    context = next((stage for stage in stages if stage.name == CONTEXT_STAGE), None)
    documents = list_reported_documents(observation, case.golden_index)
    in_context = None
    if context is not None:
        in_context = is_cited_among(citation, [chunk.chunk_id for chunk in context.chunks], case.corpus, documents)
    return CitationMark(
        citation,
        exists=is_cited_among(citation, existing_ids, case.corpus, documents) if existing_ids else None,
        reachable=citation not in leaks.ids.get("citations", ()) if leaks.measured else None,
        in_context=in_context,
    )
