"""Writes an incident as a file for people: Markdown, or an HTML page that loads nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from assay.audit.answer_now import describe_target, summarise_changes
from assay.audit.incident import CitationCheck, CitationState, Incident, ShownChunk
from assay.formats.file_io import write_atomically
from assay.records.audit_records import AUDIT_FIELDS
from assay.records.counts import format_count
from assay.report.exports.markdown import render_table_lines
from assay.report.findings.table import Table
from assay.report.write_pages import render_incident_page
from assay.text.escaping import WITHHELD, escape_markdown

FINDING_FIELDS = ("cause", "owner", "decision", "date")
MAX_CHUNK_TEXT = 2000
MAX_ROWS_PRINTED, MAX_CELL_PRINTED = 40, 600
MAX_LINES_OF_TEXT, MAX_TEXT_PRINTED = 20, 2000
"""How much of an incident a screen shows: rows of a table, characters of a cell, lines and characters of question and
answer."""
HAS_ALL = "--out FILE.html or --format json for all"


def write_incident(incident: Incident, path: str) -> Path:
    """Write the file that the suffix of the name asks for: .html or .md. Raises IncompleteError if it cannot be."""
    render = render_incident_html if path.lower().endswith((".html", ".htm")) else render_incident_markdown
    return write_atomically(path, [render(incident).encode()])


# ── what both have ───────────────────────────────────────────────────────────────────────────────────────────────────


def build_incident_tables(incident: Incident) -> list[Table]:
    """Return the tables of an incident, in their order."""
    labels = [claim.judged for claim in incident.claims] + [check.judged for check in incident.citations]
    is_judged = any(label is not None for label in labels)
    tables = (
        Table("The record", ("", ""), tuple(_list_facts(incident))),
        _build_claims_table(incident, is_judged=is_judged),
        _build_citations_table(incident, is_judged=is_judged),
        *(_build_stage_table(name, chunks) for name, chunks in incident.stages),
        _build_near_cases_table(incident),
    )
    return [table for table in tables if table.rows]


_JUDGE_COLUMN = "by the judge"


def _build_claims_table(incident: Incident, *, is_judged: bool) -> Table:
    rows = tuple(
        (
            claim.text,
            claim.verdict.replace("_", " "),
            claim.source or "",
            claim.quote or "",
            "; ".join(filter(None, (*claim.reasons, claim.lost_at))),
            *([_describe_label(claim.judged)] if is_judged else []),
        )
        for claim in incident.claims
    )
    columns = ("claim", "by its context", "source", "evidence", "why, and lost where")
    return Table("Claims", (*columns, *([_JUDGE_COLUMN] if is_judged else [])), rows)


def _build_citations_table(incident: Incident, *, is_judged: bool) -> Table:
    rows = tuple(
        (
            _describe_name(check),
            check.claim or "the answer as a whole",
            *_describe_state(check.then),
            *(_describe_state(check.now) if check.now is not None else ("", "", "")),
            _describe_change(check.text_changed) if check.now is not None else "",
            *([_describe_label(check.judged)] if is_judged else []),
        )
        for check in incident.citations
    )
    then = ("citation", "claim", "existed", "reachable", "supported")
    now = ("exists now", "reachable now", "supports now", "text changed")
    return Table("Citations", (*then, *now, *([_JUDGE_COLUMN] if is_judged else [])), rows)


def _build_stage_table(name: str, chunks: Sequence[ShownChunk]) -> Table:
    rows = tuple(
        (
            str(rank),
            chunk.chunk_id,
            "" if chunk.score is None else f"{chunk.score:.4g}",
            WITHHELD if chunk.restricted and chunk.text is None else _shorten(chunk.text),
        )
        for rank, chunk in enumerate(chunks, 1)
    )
    return Table(f"Stage {name}", ("rank", "chunk", "score", "text"), rows)


def _build_near_cases_table(incident: Incident) -> Table:
    rows = tuple(
        (
            case.case_id,
            case.question,
            f"{case.similarity:.2f}",
            "n/a" if case.answer_similarity is None else f"{case.answer_similarity:.2f}",
            case.expected,
            case.stated,
        )
        for case in incident.near_cases
    )
    columns = ("case", "question", "question alike", "answer alike", "expects", "what the answer does with it")
    return Table("Near golden cases", columns, rows)


def shorten_tables(tables: Sequence[Table]) -> list[Table]:
    """Return tables that a screen has room for: rows that are the same are one, the last ones are only counted.

    >>> rows = [("Paid.", "supported")] * 3 + [(f"Item {number}.", "not found") for number in range(90)]
    >>> (shortened,) = shorten_tables([Table("Claims", ("claim", "by"), tuple(rows))])
    >>> shortened.rows[0], len(shortened.rows), shortened.notes[-1]
    (('Paid. (×3)', 'supported'), 40, 'and 51 more rows: --out FILE.html or --format json for all')
    """
    return [_shorten_table(table) for table in tables]


def _shorten_table(table: Table) -> Table:
    counts = Counter(table.rows)
    rows = []
    for (first, *others), count in counts.items():
        cells = [f"{_shorten_cell(first)} (×{count})" if count > 1 else _shorten_cell(first)]
        rows.append((*cells, *map(_shorten_cell, others)))
    if len(rows) <= MAX_ROWS_PRINTED:
        return Table(table.title, table.columns, tuple(rows), table.notes)
    more = f"and {format_count(len(rows) - MAX_ROWS_PRINTED, 'more row')}: {HAS_ALL}"
    return Table(table.title, table.columns, tuple(rows[:MAX_ROWS_PRINTED]), (*table.notes, more))


def _shorten_cell(text: str) -> str:
    return text if len(text) <= MAX_CELL_PRINTED else f"{text[:MAX_CELL_PRINTED]} … ({len(text)} characters)"


def list_first_lines_of_text(text: str) -> list[str]:
    """Return the lines of a text that a screen has room for, at least one; the last one says how long the text is.

    >>> list_first_lines_of_text("Twelve days.\\nAsk Lan.")
    ['Twelve days.', 'Ask Lan.']
    >>> list_first_lines_of_text("Twelve days. " * 900)[-1]
    '… (11700 characters: --out FILE.html or --format json for all)'
    """
    lines = text[:MAX_TEXT_PRINTED].splitlines()[:MAX_LINES_OF_TEXT] or [""]
    if len(text) > MAX_TEXT_PRINTED or len(text.splitlines()) > MAX_LINES_OF_TEXT:
        lines.append(f"… ({len(text)} characters: {HAS_ALL})")
    return lines


def _list_facts(incident: Incident) -> Iterable[tuple[str, str]]:
    record = incident.record
    yield "id", record.id
    yield "asked at", record.at + ("" if record.time_source == "reported" else " (time of receipt)")
    yield "by", record.user_uid or "not recorded"
    if record.user is not None:
        yield "tenant and roles", f"{record.user.tenant or 'none'}; {', '.join(record.user.roles) or 'none'}"
    yield "behaviour", incident.behaviour
    for name in ("model", "prompt_hash", "config_id", "context_tokens", "latency_ms", "cost_usd", "feedback"):
        value = getattr(record, name)
        if value is not None:
            yield name.replace("_", " "), str(value)
    for name, version in sorted(record.versions.items()):
        yield f"version of {name}", version
    if record.error is not None:
        yield "error", f"{record.error.code}: {record.error.message}"
    absent = [name for name in AUDIT_FIELDS if name != "feedback" and getattr(record, name) is None]
    missing = [name for name in absent if name != "retrieved_uids" or record.stages is None]
    if missing:
        yield "not recorded", ", ".join(missing)
    if record.redacted:
        yield "redacted", ", ".join(f"{name} ×{count}" for name, count in record.redacted.items())
    state = "; ".join(incident.chain_faults) or "unchanged since it was recorded"
    yield "record in the chain", f"{incident.sequence} of {incident.day}: {state}"


def _describe_state(state: CitationState) -> tuple[str, str, str]:
    support = (state.support or "unknown").replace("_", " ")
    if state.expired_since is not None:
        successors = f"; in force: {', '.join(state.current)}" if state.current else ""
        support = f"EXPIRED since {state.expired_since} (the expired text: {support}){successors}"
    return _yes_no(state.exists), _yes_no(state.reachable), support


def _describe_name(check: CitationCheck) -> str:
    """Return the name of a citation, with the chunks that it means where the name does not say so."""
    if check.by == "name":
        return check.name
    meaning = ", ".join(check.chunks) or "nothing known"
    return f"{check.name} ({_MEANINGS[check.by]}: {meaning})"


_MEANINGS = {
    "list": "by the list in the answer",
    "position": "by its place among what was shown",
    "link": "at this address",
}


def _describe_label(label: str | None) -> str:
    return "not judged" if label is None else label.replace("_", " ")


def _describe_change(changed: bool | None) -> str:
    """Return whether a text changed: capitals mark what is bad, which here is a yes."""
    return "unknown" if changed is None else "YES" if changed else "no"


def _yes_no(value: bool | None) -> str:
    return "unknown" if value is None else "yes" if value else "no"


def _shorten(text: str | None) -> str:
    if text is None:
        return "text not recorded"
    return text if len(text) <= MAX_CHUNK_TEXT else f"{text[:MAX_CHUNK_TEXT]} … ({len(text)} characters)"


# ── Markdown ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def render_incident_markdown(incident: Incident) -> str:
    """Return the incident as Markdown, ending in a newline."""
    record = incident.record
    lines = [f"# Incident {escape_markdown(record.id)}", ""]
    if incident.leaks:
        lines += ["**What this user may not see was found in:**", ""]
        lines += [*(f"- {escape_markdown(leak)}" for leak in incident.leaks), ""]
    lines += [*(f"- {escape_markdown(sentence)}" for sentence in incident.summary), ""]
    if incident.stale:
        lines += ["**What was not in force any more was shown to the model:**", ""]
        lines += [*(f"- {escape_markdown(chunk_id)}" for chunk_id in incident.stale), ""]
    lines += ["## Asked", "", *_quote(record.question), "", "## Answered", "", *_quote(record.answer), ""]
    present_answer = incident.answer_now
    if present_answer is not None:
        whom = escape_markdown(describe_target(incident, present_answer))
        lines += [f"## What the system says now ({whom}, {present_answer.at})", ""]
        lines += [*_quote(present_answer.answer or present_answer.error), ""]
        lines += [escape_markdown(summarise_changes(present_answer)), ""]
    for table in build_incident_tables(incident):
        lines += [f"## {escape_markdown(table.title)}", "", *render_table_lines(table), ""]
    lines += ["## Findings", "", f"| {' | '.join(FINDING_FIELDS)} |", f"|{' --- |' * len(FINDING_FIELDS)}"]
    for finding in incident.findings:
        cells = (finding.cause, finding.owner, finding.decision, finding.at)
        lines.append("| " + " | ".join(escape_markdown(cell).replace("|", "\\|") for cell in cells) + " |")
    lines.append("|" + "  |" * len(FINDING_FIELDS))
    if incident.notes:
        lines += ["", "## Notes", "", *(f"- {escape_markdown(note)}" for note in incident.notes)]
    return "\n".join(lines) + "\n"


def _quote(text: str | None) -> list[str]:
    if text is None:
        return ["not recorded"]
    return [f"> {escape_markdown(line)}" for line in text.splitlines() or [""]]


# ── HTML ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def render_incident_html(incident: Incident) -> str:
    """Return the incident as a page that loads nothing; its scripts are those that are shipped, by their hashes."""
    return render_incident_page(incident, incident.record.id).decode()
