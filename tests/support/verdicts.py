"""Small requests, judges and verdicts for tests of the verdict store and of the judging runner."""

from __future__ import annotations

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
