"""Small requests, judges and verdicts for tests of the verdict store and of the judging runner."""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing

from assay.judging.verdict_store import SqliteVerdictStore
from assay.records.verdicts import ItemVerdict, JudgeIdentity, JudgeRequest, JudgeUsage, Verdict

JUDGE = JudgeIdentity("openai", "local", "tiny", "tiny")


def make_request(name: str) -> JudgeRequest:
    """Return a request that differs from others by `name`."""
    return JudgeRequest("support", "1", "sha256:0", "en", {"answer": name}, ("answer",), ("yes", "no"))


def make_verdict(asked: JudgeRequest, sample: int = 0, label: str = "yes", judge: JudgeIdentity = JUDGE) -> Verdict:
    """Return a scored sample."""
    items = (ItemVerdict("answer", label, f"because of {asked.inputs['answer']}"),)
    usage = JudgeUsage(100, 10, latency_ms=5.0)
    return Verdict(asked.digest, judge.digest, sample, "support@1", items, usage=usage)


def make_unscored(asked: JudgeRequest, sample: int = 0, reason: str = "judge_parse") -> Verdict:
    """Return a sample without a verdict."""
    return Verdict(asked.digest, JUDGE.digest, sample, "support@1", unscored=reason)


def count_all_double_bills(store: SqliteVerdictStore) -> int:
    """Return how many calls of all judges may have been billed without a verdict."""
    return sum(store.count_double_bills(judge.digest) for judge in store.load_contents().judges)


def read_sent_bytes(store: SqliteVerdictStore, digest: str) -> bytes | None:
    """Return the request bytes with this digest; None if they are not stored, or were changed."""
    with closing(sqlite3.connect(store.path)) as db:
        row = db.execute("SELECT body, sha256 FROM rendered WHERE digest = ?", (digest,)).fetchone()
    body, sha256 = row or (None, None)
    return body if isinstance(body, bytes) and hashlib.sha256(body).digest() == sha256 else None
