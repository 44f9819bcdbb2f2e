"""The results of the golden commands as tables for the screen and Markdown."""

from __future__ import annotations

from collections import Counter

from assay.calibration.rater_agreement import ReportedEstimate
from assay.corpora.match_chunks import BuiltCorpus
from assay.golden.candidate import REJECT_REASONS, DraftReport, FrozenSet, StarterSet
from assay.golden.coverage_matrix import Coverage, TrafficShare
from assay.golden.drafting.document_languages import describe_other_languages
from assay.golden.lint_finding import LintReport
from assay.golden.model_effort import ModelEffort
from assay.golden.pooling.nugget_rules import NUGGET_REASONS, NuggetDraft
from assay.golden.pooling.pooled_chunks import PoolReport
from assay.golden.relinking import Proposal
from assay.golden.set_difference import SetDifference
from assay.golden.settlement import ReviewReport, describe_decision
from assay.golden.twin_cases.twin_draft import KINDS_FOR_A_MODEL, LEFT_OUT_REASONS, TwinDraft
from assay.golden.verification import VerificationReport
from assay.records.counts import format_count, join_first
from assay.records.golden_set import ALIKE_KINDS
from assay.report.findings.table import Table
from assay.scoring.unlabelled_scores import CIRCULAR, NO_LABELS
from assay.text.escaping import escape_terminal, shorten_to_line

_MAX_TEXT = 110
_MAX_NAMES = 12
_MAX_POOLED = 20


def build_lint_table(report: LintReport, path: str) -> list[Table]:
    """Return the findings with place, rule and remedy, and a note with the counts."""
    rows = []
    for finding in report.findings:
        place = path if finding.line is None else f"{path}:{finding.line}"
        subject = ": ".join(filter(None, (finding.case, finding.field)))
        rows.append((place, finding.level, finding.rule, subject, finding.message, finding.remedy))
    warnings = len(report.findings) - report.errors
    counts = f"{format_count(report.errors, 'error')}, {format_count(warnings, 'warning')}, {report.silenced} silenced"
    notes = [counts]
    if report.fixed:
        notes.append(f"clusters written for {', '.join(report.fixed)}")
    columns = ("Where", "Level", "Rule", "What", "Finding", "Remedy")
    table = Table("Findings", columns, tuple(_escape_row(row) for row in rows), tuple(notes))
    return [table] if report.effort is None else [table, build_effort_table(report.effort)]


def build_coverage_tables(coverage: Coverage, path: str) -> list[Table]:
    """Return the matrix with its gaps as a to-do list, the counts, documents without a question, and the traffic."""
    cells = []
    for cell in coverage.cells:
        missing = f"write {cell.missing}" if cell.missing else ""
        cells.append((cell.kind, str(len(cell.cases)), str(cell.target), missing, _list_names(cell.cases)))
    wanted = [f"{cell.kind}: {cell.means}" for cell in coverage.gaps if cell.means]
    columns = ("Kind", "Cases", "Target", "To do", "Which")
    tables = [
        Table(
            f"Coverage of {path}",
            columns,
            tuple(map(_escape_row, cells)),
            tuple(map(escape_terminal, wanted)),
        )
    ]
    counts = [(name, value, str(count)) for name, row in coverage.counts.items() for value, count in row.items()]
    notes = []
    if coverage.variants:
        listed = ", ".join(f"{count} {kind}" for kind, count in coverage.variants.items())
        notes.append(f"variants of cases, which count in no number here: {listed}")
    if coverage.unasked_documents:
        notes.append(f"no case asks about: {_list_names(coverage.unasked_documents)}")
    tables.append(Table("Counts", ("Of", "Value", "Cases"), tuple(map(_escape_row, counts)), tuple(notes)))
    shares = [(name, share) for name, share in (("head", coverage.head), ("tail", coverage.tail)) if share is not None]
    if shares:
        columns = ("Traffic", "Questions", "Requests", "Covered", "Not covered, for example")
        tables.append(Table("Production", columns, tuple(_describe_share(name, share) for name, share in shares)))
    return tables


def _describe_share(name: str, share: TrafficShare) -> tuple[str, ...]:
    covered = f"{share.covered_requests} ({share.covered_requests / share.requests:.0%})" if share.requests else "0"
    examples = "; ".join(shorten_to_line(question, _MAX_TEXT) for question in share.examples)
    return _escape_row((name, str(share.questions), str(share.requests), covered, examples))


def _list_names(names: tuple[str, ...]) -> str:
    return join_first(names, _MAX_NAMES)


def _escape_row(cells: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(escape_terminal, cells))


def build_corpus_table(built: BuiltCorpus) -> Table:
    """Return what `corpus build` made, and the target's chunks that it could not match."""
    rows = [("documents", str(built.documents)), ("chunks", str(built.chunks))]
    notes = []
    if built.empty:
        notes.append(f"without any text: {_list_names(built.empty)}")
    if built.skipped:
        notes.append(f"not read: {_list_names(built.skipped)}")
    if built.matches is not None:
        rows.append(("chunks of the target", str(len(built.matches))))
        rows.append(("matched by text", str(len(built.matches) - len(built.unmatched))))
        if built.unmatched:
            notes.append(f"no text of theirs found: {_list_names(tuple([m.target_chunk for m in built.unmatched]))}")
    return Table("Corpus", ("What", "How many"), tuple(rows), tuple(map(escape_terminal, notes)))


def build_verification_tables(report: VerificationReport) -> list[Table]:
    """Return the cases that are not as labelled with the ranks of their units, and what changed since last time."""
    rows = []
    for case in report.cases:
        ranks = ", ".join("–" if rank is None else str(rank) for rank in case.ranks)
        rows.append((case.case, case.state, ranks, case.message))
    checked = report.verification
    rest = len(report.cases) - checked.found - checked.missing - len(report.errors)
    unchecked = f", {rest} with nothing to verify" if rest > 0 else ""
    counts = f"{checked.found} as labelled, {checked.missing} not, {len(report.errors)} with an error{unchecked}"
    notes = [f"{counts}; {checked.verified_at}"]
    if checked.index_version:
        notes.append(f"index version {checked.index_version}")
    notes += [f"broke since the last time: {fault}" for fault in report.broke]
    notes += [f"repaired since the last time: {fault}" for fault in report.repaired]
    columns = ("Case", "State", "Ranks", "Finding")
    return [
        Table(
            f"Verified on {checked.target}",
            columns,
            tuple(map(_escape_row, rows)),
            tuple(map(escape_terminal, notes)),
        )
    ]


def build_relink_table(proposal: Proposal) -> Table:
    """Return the links that are not applied yet, with both texts, and the counts of all."""
    rows = []
    for label in proposal.to_review:
        place = ", ".join(label.new) or "not found"
        texts = [shorten_to_line(text, _MAX_TEXT) for text in (label.passage, label.new_text)]
        rows.append((label.case, label.field, label.method, f"{label.confidence:.2f}", place, *texts))
    columns = ("Case", "Label", "By", "Confidence", "New chunks", "Labelled text", "New text")
    counts = f"{proposal.kept} kept, {len(proposal.applied)} sure or accepted, {len(proposal.to_review)} to review"
    return Table("To review", columns, tuple(map(_escape_row, rows)), (counts,))


MOST_DOCUMENTS = 12
"""How many documents without a candidate are shown."""


def build_draft_tables(report: DraftReport) -> list[Table]:
    """Return how many candidates of each kind are left, and why others were thrown away."""
    kinds = tuple((kind, str(count)) for kind, count in report.kinds.items())
    reasons = tuple((name, str(count), REJECT_REASONS[name]) for name, count in report.reasons.items())
    note = "candidates become part of a golden set only after a person has accepted them"
    notes = [note]
    if report.reading is not None:
        read = report.reading
        count_read = f"{read.statements} sentences and rows of {format_count(read.chunks, 'chunk')} were read"
        notes.insert(0, f"{count_read}; {read.asked} gave a plain question")
        if read.other_languages:
            others = describe_other_languages(read.other_languages.items())
            notes.insert(1, f"{others}; --model NAME drafts questions in the language of the documents")
    tables = [Table("Candidates left", ("Kind", "How many"), kinds, tuple(notes))]
    if report.gaps:
        columns = ("Kind", "Candidates", "Target", "Why", "What helps")
        rows = tuple((gap.kind, str(gap.candidates), str(gap.target), gap.reason, gap.remedy) for gap in report.gaps)
        tables.append(Table("Too few of these kinds", columns, rows))
    if report.documents:
        shown = report.documents[:MOST_DOCUMENTS]
        hidden = len(report.documents) - len(shown)
        more = (f"{format_count(hidden, 'document')} more; --format json lists all",) if hidden else ()
        document_rows = tuple(_escape_row((gap.document, gap.reason)) for gap in shown)
        tables.append(Table("Documents without a candidate", ("Document", "Why"), document_rows, more))
    if report.leaks:
        leak_rows = tuple(_escape_row((leak.target, leak.case, ", ".join(leak.chunks))) for leak in report.leaks)
        cases = format_count(len({leak.case for leak in report.leaks}), "candidate")
        note = f"the target shows what this user may not see: {cases} found it, and stay candidates; fix its filters"
        tables.append(Table("The target leaks", ("Target", "Candidate", "Shown"), leak_rows, (note,)))
    if reasons:
        tables.append(Table("Thrown away", ("Reason", "How many", "Meaning"), reasons))
    return tables if report.effort is None else [*tables, build_effort_table(report.effort)]


def build_effort_table(effort: ModelEffort) -> Table:
    """Return what a model was asked, or would be asked, and what that costs."""
    rows = [
        ("model", effort.model),
        ("requests", str(effort.requests)),
        ("of them recorded", str(effort.reused)),
        ("calls", _join_most(str(effort.calls), str(effort.max_calls), effort.max_calls > 0)),
        ("tokens", _join_most(str(effort.tokens), str(effort.max_tokens), effort.max_tokens > 0)),
    ]
    if effort.cost_usd is not None:
        most = f"{effort.max_cost_usd or 0:.4f}"
        rows.append(("US dollars", _join_most(f"{effort.cost_usd:.4f}", most, effort.max_cost_usd is not None)))
    rows += [(f"no usable reply: {reason}", str(count)) for reason, count in effort.unscored.items()]
    notes = [f"stopped: {effort.halted}"] if effort.halted else []
    if effort.later_requests:
        notes.append(
            f"the candidates of the model are tried by at most {format_count(effort.later_requests, 'request')} more"
        )
    return Table("Model", ("What", "How much"), tuple(rows), tuple(notes))


def _join_most(likely: str, most: str, has_limit: bool) -> str:
    return f"{likely}, at most {most}" if has_limit else likely


def build_twin_tables(draft: TwinDraft) -> list[Table]:
    """Return how many variants of each kind there are, and why others were left out."""
    kinds = []
    for kind, count in draft.kinds.items():
        kinds.append((kind, str(count), "alike" if kind in ALIKE_KINDS else "another answer"))
    reasons = tuple((name, str(count), LEFT_OUT_REASONS[name]) for name, count in draft.reasons.items())
    notes = ["variants become part of a golden set only after a person has accepted them"]
    if draft.effort is None:
        notes.append(f"for a model (--model): {', '.join(KINDS_FOR_A_MODEL)}")
    if draft.unvaried:
        notes.append(f"cases without a variant: {_list_names(draft.unvaried)}")
    columns = ("Kind", "How many", "Expected of a system")
    tables = [
        Table("Variants", columns, tuple(kinds), tuple(map(escape_terminal, notes))),
        Table("Left out", ("Reason", "How many", "Meaning"), reasons),
    ]
    return tables if draft.effort is None else [*tables, build_effort_table(draft.effort)]


def build_nugget_tables(draft: NuggetDraft) -> list[Table]:
    """Return how many nuggets there are, and the questions without."""
    counts = draft.counts
    rows = (
        ("questions with nuggets", str(len(draft.cases))),
        ("vital nuggets", str(counts["vital"])),
        ("okay nuggets", str(counts["okay"])),
        ("configurations pooled", ", ".join(draft.configs)),
        ("graded by", draft.graded_by),
    )
    reasons = Counter(question.reason for question in draft.left_out)
    left_out = tuple((name, str(reasons[name]), NUGGET_REASONS[name]) for name in sorted(reasons))
    notes = ["no label of a person: what is scored with them is a first comparison, and reports say so"]
    if draft.effort is None:
        notes.append("rules are a weak start: they know words, and answers of the systems decide what is vital")
    tables = [
        Table("Nuggets", ("What", "How many"), tuple(map(_escape_row, rows)), tuple(notes)),
        Table("Questions without", ("Reason", "How many", "Meaning"), left_out),
    ]
    if draft.circularity.configs:
        tables.append(_build_circularity_table(draft))
    return tables if draft.effort is None else [*tables, build_effort_table(draft.effort)]


def _build_circularity_table(draft: NuggetDraft) -> Table:
    """Return the first comparison without labels, and how far each configuration decided by what it was scored."""
    rows = [
        (
            influence.config,
            str(influence.cases),
            _format_mean(influence.score),
            _format_mean(influence.score_by_others),
            str(influence.own_nuggets),
        )
        for influence in draft.circularity.configs
    ]
    turned = [f"{first} and {second}" for first, second in draft.circularity.turned]
    notes = [
        f"{NO_LABELS}: {CIRCULAR}; by those of the others each system is scored as if it had not taken part",
        f"the order of {', '.join(turned)} is another one by the nuggets of the others: it cannot be told from them"
        if turned
        else "the nuggets of the others alone leave the order as it is; that is no proof that it is right",
    ]
    columns = (
        "Configuration",
        "Cases",
        "Nuggets stated (by rules)",
        "By those of the others",
        "From chunks of its own",
    )
    return Table(
        "First comparison, NO LABELS", columns, tuple(map(_escape_row, rows)), tuple(map(escape_terminal, notes))
    )


def build_freeze_table(frozen: FrozenSet) -> Table:
    """Return what was frozen, and the candidates that are still open."""
    rows = [("version", frozen.version), ("digest", frozen.digest), ("cases", str(frozen.cases))]
    notes = []
    if frozen.change is not None:
        rows += [
            ("added", str(len(frozen.change.added))),
            ("updated", str(len(frozen.change.updated))),
            ("retired", str(len(frozen.change.retired))),
        ]
        rows += [("as of", frozen.change.as_of)] if frozen.change.as_of is not None else []
    rows += [("rejected", str(frozen.rejected)), ("undecided", str(len(frozen.undecided)))]
    if frozen.undecided:
        notes.append(f"undecided: {_list_names(frozen.undecided)}")
    if frozen.left_open:
        named = tuple(f"{row.case} ({', '.join(row.reviewers)})" for row in frozen.left_open)
        notes.append(f"accepted although a reviewer left it open: {_list_names(named)}")
    if frozen.to_look_at:
        notes.append(
            f"variants of updated cases that expect something of their own (look at them): "
            f"{_list_names(frozen.to_look_at)}"
        )
    return Table("Frozen", ("What", "Value"), tuple(map(_escape_row, rows)), tuple(map(escape_terminal, notes)))


def build_pool_tables(report: PoolReport) -> list[Table]:
    """Return what unjudged chunks can change in each configuration, and the chunks to judge first."""
    ranges = []
    for share in report.configs:
        unjudged = f"{share.unjudged} of {share.ranked}"
        for row in share.metrics:
            values = (row.none_relevant, row.all_relevant, row.all_background)
            span = "not measured" if row.low is None else f"{row.low:.3f} – {row.high:.3f}"
            ranges.append((share.config, unjudged, row.metric, *map(_format_mean, values), span))
    notes = [
        "a range is of these hypotheses, and of four that only the chunks which a configuration ranks, or only the "
        "others, have a grade; it held the truth in all simulated worlds, and is no proof"
    ]
    shown_metrics = [row.metric for share in report.configs for row in share.metrics]
    if any(metric.startswith("precision") for metric in shown_metrics):
        notes.append(
            "precision counts units of evidence, each once: a further chunk with a fact that was found already adds "
            "nothing, so it stays low even where all chunks have the fact"
        )
    without_id = sum(share.without_id for share in report.configs)
    if without_id:
        notes.append(
            f"{format_count(without_id, 'chunk')} without an id of the target's: they cannot be labelled by one"
        )
    if report.merged:
        notes.append(f"{format_count(report.merged, 'grade')} merged")
    columns = ("Configuration", "Unjudged", "Metric", "None relevant", "All have the fact", "All background", "Range")
    rows = [
        (item.case, item.chunk, str(len(item.ranks)), ", ".join(f"{name} {rank}" for name, rank in item.ranks.items()))
        for item in report.chunks[:_MAX_POOLED]
    ]
    more = len(report.chunks) - len(rows)
    return [
        Table("While nobody judges them", columns, tuple(map(_escape_row, ranges)), tuple(map(escape_terminal, notes))),
        Table(
            "To judge first",
            ("Case", "Chunk", "Configurations", "Ranks"),
            tuple(map(_escape_row, rows)),
            (f"and {more} more",) if more > 0 else (),
        ),
    ]


def _format_mean(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def build_starter_table(starter: StarterSet) -> Table:
    """Return the example cases of a set to start from."""
    rows = [_escape_row((name, "read, correct, or delete")) for name in starter.examples]
    return Table("Example cases", ("Case", "To do"), tuple(rows), (f"digest {starter.digest}",))


def build_review_tables(report: ReviewReport) -> list[Table]:
    """Return what each reviewer decided, how far every two agree, and the candidates that are left to settle."""
    counts = [(row.reviewer, str(row.accepted), str(row.edited), str(row.rejected)) for row in report.reviewers]
    notes = [
        f"{format_count(report.candidates, 'candidate')}: {report.accepted} accepted, {report.rejected} rejected, "
        f"{len(report.disagreed)} to settle, {len(report.undecided)} undecided"
    ]
    if report.left_open:
        named = tuple(f"{row.case} ({', '.join(row.reviewers)})" for row in report.left_open)
        notes.append(f"decided although a reviewer left it open: {escape_terminal(_list_names(named))}")
    columns = ("Reviewer", "Accepted", "Edited", "Rejected")
    tables = [Table("Reviews", columns, tuple(map(_escape_row, counts)), tuple(notes))]
    if report.agreement:
        pairs = [
            (
                f"{pair.first}, {pair.second}",
                str(pair.n),
                f"{pair.raw:.2f}",
                *map(_format_reported, (pair.kappa, pair.ac1)),
            )
            for pair in report.agreement
        ]
        names = ("Reviewers", "Candidates", "Same decision", "Cohen's kappa", "Gwet's AC1")
        tables.append(Table("Agreement (95% intervals)", names, tuple(map(_escape_row, pairs))))
    if report.disagreed:
        open_rows = [
            (case.case, decision.reviewer, describe_decision(decision), shorten_to_line(decision.reason, _MAX_TEXT))
            for case in report.disagreed
            for decision in case.decisions
        ]
        tables.append(
            Table("To settle", ("Candidate", "Reviewer", "Decision", "Why"), tuple(map(_escape_row, open_rows)))
        )
    return tables


def _format_reported(estimate: ReportedEstimate | None) -> str:
    if estimate is None:
        return "–"
    has_interval = estimate.low is not None and estimate.high is not None
    interval = f" [{estimate.low:.2f}, {estimate.high:.2f}]" if has_interval else ""
    return f"{estimate.value:.2f}{interval}"


def build_difference_tables(difference: SetDifference) -> list[Table]:
    """Return the changed fields with both values, and the cases that were added or removed."""
    rows = [("", change.field, repr(change.before), repr(change.after)) for change in difference.header]
    for case in difference.changed:
        rows += [(case.case, change.field, repr(change.before), repr(change.after)) for change in case.changes]
    short = [(*row[:2], *(shorten_to_line(text, _MAX_TEXT) for text in row[2:])) for row in rows]
    relabelled = sum(case.is_relabelled for case in difference.changed)
    notes = [
        f"{len(difference.added)} added, {len(difference.removed)} removed, {len(difference.changed)} changed, "
        f"{relabelled} of them in what is asked or what is right"
    ]
    notes += [
        f"{title}: {_list_names(names)}"
        for title, names in (("added", difference.added), ("removed", difference.removed))
        if names
    ]
    columns = ("Case", "Field", "Before", "After")
    return [Table("Changes", columns, tuple(map(_escape_row, short)), tuple(map(escape_terminal, notes)))]
