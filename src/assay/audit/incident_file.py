"""Writes an incident as a file for people: Markdown, or an HTML page without scripts that loads nothing."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from assay.audit.incident import CitationState, Incident
from assay.formats.file_io import write_atomically
from assay.records.audit_records import AUDIT_FIELDS
from assay.report.markdown import render_table_lines
from assay.report.tables import Table
from assay.text.escaping import WITHHELD, escape_invisible, escape_markdown

FINDING_FIELDS = ("cause", "owner", "decision", "date")
MAX_CHUNK_TEXT = 2000

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --bad: #b3261e; --paper: #fff; --ink: #1b1b1b; }
@media (prefers-color-scheme: dark) { :root { --bad: #ff8a80; --paper: #121212; --ink: #eee; } }
html { background: var(--paper); color: var(--ink); }
* { box-sizing: border-box; }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; }
.wide { overflow-x: auto; overflow-wrap: break-word; }
.wide table { min-width: 50rem; }
.wide td { min-width: 6rem; }
th, td { text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); padding: .3rem .6rem .3rem 0; }
blockquote { margin: .5rem 0; padding-left: 1rem; border-left: 4px solid var(--line); white-space: pre-wrap; }
.bad { color: var(--bad); font-weight: 600; }
.blank td { height: 3rem; min-width: 8rem; }
"""


def write_incident(incident: Incident, path: str) -> Path:
    """Write the file that the suffix of the name asks for: .html or .md. Raises IncompleteError if it cannot be."""
    render = render_incident_html if path.lower().endswith((".html", ".htm")) else render_incident_markdown
    return write_atomically(path, [render(incident).encode()])


# ── what both have ───────────────────────────────────────────────────────────────────────────────────────────────────


def build_incident_tables(incident: Incident) -> list[Table]:
    """Return the tables of an incident, in their order."""
    tables = [Table("The record", ("", ""), tuple(_list_facts(incident)))]
    claims = tuple(
        (
            claim.text,
            claim.verdict.replace("_", " "),
            claim.source or "",
            claim.quote or "",
            "; ".join(filter(None, (*claim.reasons, claim.lost_at))),
        )
        for claim in incident.claims
    )
    tables.append(Table("Claims", ("claim", "by its context", "source", "evidence", "why, and lost where"), claims))
    citations = tuple(
        (
            check.name,
            check.claim or "the answer as a whole",
            *_describe_state(check.then),
            *(_describe_state(check.now) if check.now is not None else ("", "", "")),
            _yes_no(check.text_changed) if check.now is not None else "",
        )
        for check in incident.citations
    )
    columns = ("citation", "claim", "existed", "reachable", "supported", "exists now", "reachable now", "supports now")
    tables.append(Table("Citations", (*columns, "text changed"), citations))
    for name, chunks in incident.stages:
        rows = tuple(
            (
                str(rank),
                chunk.chunk_id,
                "" if chunk.score is None else f"{chunk.score:.4g}",
                WITHHELD if chunk.restricted and chunk.text is None else _shorten(chunk.text),
            )
            for rank, chunk in enumerate(chunks, 1)
        )
        tables.append(Table(f"Stage {name}", ("rank", "chunk", "score", "text"), rows))
    near = tuple(
        (
            case.case_id,
            case.question,
            f"{case.similarity:.2f}",
            "n/a" if case.answer_similarity is None else f"{case.answer_similarity:.2f}",
        )
        for case in incident.near_cases
    )
    tables.append(Table("Near golden cases", ("case", "question", "question alike", "answer alike"), near))
    return [table for table in tables if table.rows]


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
    missing = [name for name in AUDIT_FIELDS if name != "feedback" and getattr(record, name) is None]
    if missing:
        yield "not recorded", ", ".join(missing)
    if record.redacted:
        yield "redacted", ", ".join(f"{name} ×{count}" for name, count in record.redacted.items())
    state = "; ".join(incident.chain_faults) or "as it was committed to"
    yield "record in the chain", f"{incident.sequence} of {incident.day}: {state}"


def _describe_state(state: CitationState) -> tuple[str, str, str]:
    return _yes_no(state.exists), _yes_no(state.reachable), (state.support or "unknown").replace("_", " ")


def _yes_no(value: bool | None) -> str:
    return "unknown" if value is None else "yes" if value else "NO"


def _shorten(text: str | None) -> str:
    if text is None:
        return "not recorded"
    return text if len(text) <= MAX_CHUNK_TEXT else f"{text[:MAX_CHUNK_TEXT]} … ({len(text)} characters)"


# ── Markdown ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def render_incident_markdown(incident: Incident) -> str:
    """Return the incident as Markdown, ending in a newline."""
    record = incident.record
    lines = [f"# Incident {escape_markdown(record.id)}", ""]
    if incident.leaks:
        lines += ["**What this user may not see was found in:**", ""]
        lines += [*(f"- {escape_markdown(leak)}" for leak in incident.leaks), ""]
    lines += ["## Asked", "", *_quote(record.question), "", "## Answered", "", *_quote(record.answer), ""]
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
    """Return the incident as one HTML page. Its policy lets nothing run or load but its own style."""
    record = incident.record
    digest = b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    body = [f"<h1>Incident {_safe(record.id)}</h1>"]
    if incident.leaks:
        leaks = "".join(f"<li>{_safe(leak)}</li>" for leak in incident.leaks)
        body.append(f'<p class="bad">What this user may not see was found in:</p><ul>{leaks}</ul>')
    for title, text in (("Asked", record.question), ("Answered", record.answer)):
        shown = "not recorded" if text is None else _safe(text)
        body.append(f"<h2>{title}</h2><blockquote>{shown}</blockquote>")
    body += [_render_html_table(table) for table in build_incident_tables(incident)]
    body.append(_render_findings(incident))
    if incident.notes:
        body.append("<h2>Notes</h2><ul>" + "".join(f"<li>{_safe(note)}</li>" for note in incident.notes) + "</ul>")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Incident {_safe(record.id)}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n{chr(10).join(body)}\n</main>\n</body>\n</html>\n"
    )


def _safe(text: str) -> str:
    """Return a text that is shown as it is, also if it holds markup or characters that change its direction."""
    return escape(escape_invisible(text))


def _render_html_table(table: Table) -> str:
    if not any(table.columns):  # names and values
        rows = [f'<tr><th scope="row">{_safe(name)}</th><td>{_safe(value)}</td></tr>' for name, value in table.rows]
        return f"<h2>{_safe(table.title)}</h2><table>{''.join(rows)}</table>"
    head = "".join(f'<th scope="col">{_safe(column)}</th>' for column in table.columns)
    lines = [f"<tr>{''.join(_render_cell(cell) for cell in row)}</tr>" for row in table.rows]
    label = f'role="region" tabindex="0" aria-label="{_safe(table.title)}"'
    body = f"<thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody>"
    return f'<h2>{_safe(table.title)}</h2><div class="wide" {label}><table>{body}</table></div>'


def _render_cell(cell: str) -> str:
    is_bad = cell in ("NO", "contradicted", "not found", WITHHELD)
    return f'<td class="bad">{_safe(cell)}</td>' if is_bad else f"<td>{_safe(cell)}</td>"


def _render_findings(incident: Incident) -> str:
    head = "".join(f'<th scope="col">{name}</th>' for name in FINDING_FIELDS)
    rows: Sequence[str] = [
        "<tr>"
        + "".join(f"<td>{_safe(cell)}</td>" for cell in (finding.cause, finding.owner, finding.decision, finding.at))
        + "</tr>"
        for finding in incident.findings
    ]
    blank = '<tr class="blank">' + "<td></td>" * len(FINDING_FIELDS) + "</tr>"
    label = 'role="region" tabindex="0" aria-label="Findings"'
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}{blank}</tbody></table>"
    return f'<h2>Findings</h2><div class="wide" {label}>{table}</div>'
