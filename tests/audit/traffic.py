"""Lines of production traffic for the tests."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from assay.audit.audit_store import AuditStore

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


def make_line(number: int, **changes: Any) -> dict[str, Any]:
    """Return one complete audit record; a change to ... (Ellipsis) leaves the member out."""
    line = {
        "id": f"req-{number}",
        "at": (NOON + timedelta(seconds=number)).isoformat(),
        "question": f"How many days of annual leave does contract {number} grant?",
        "user_uid": f"user-{number % 7}",
        "retrieved_uids": [f"leave-{number % 5}", "leave-overview"],
        "context_tokens": 1200,
        "model": "model-a",
        "prompt_hash": "sha256:1f",
        "answer": f"Contract {number} grants {20 + number % 5} days [leave-{number % 5}].",
        "citations": [f"leave-{number % 5}"],
        "tool_calls": 1,
        "latency_ms": 900.5,
        "feedback": None,
    }
    return {name: value for name, value in (line | changes).items() if value is not ...}


def write_lines(path: Path, lines: Iterable[Any]) -> Path:
    """Write lines of JSON; a text is written as it is."""
    texts = (line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in lines)
    path.write_text("".join(text + "\n" for text in texts), encoding="utf-8")
    return path


@contextmanager
def counting_statements(store: AuditStore) -> Iterator[list[str]]:
    """Yield a list to which each statement that the store executes is added."""
    statements: list[str] = []

    def note(_: object, __: object, statement: str, *___: object) -> None:
        statements.append(statement)

    sa.event.listen(store.engine, "before_cursor_execute", note)
    try:
        yield statements
    finally:
        sa.event.remove(store.engine, "before_cursor_execute", note)


def at_noon() -> datetime:
    """A clock that stands."""
    return NOON
