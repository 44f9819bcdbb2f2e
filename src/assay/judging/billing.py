"""Which calls that left no verdict may have been paid for."""

from __future__ import annotations

from assay.records.verdicts import Verdict

BILLED_FAILURES = frozenset({"timeout", "connection", "too_large", "protocol", "schema"})
"""Failures after which the endpoint may have done and billed the work; refused calls are not billed."""
_REASONS_WITHOUT_REPLY = frozenset({"provider", "deadline", "budget", "too_long"})


def may_have_been_billed(sample: Verdict) -> bool:
    """Return whether a sample without a verdict may have been paid for: the judge replied, or may have done so.

    >>> may_have_been_billed(Verdict("q", "j", 0, "r", unscored="judge_parse"))
    True
    >>> may_have_been_billed(Verdict("q", "j", 0, "r", unscored="provider", message="http_401: no such key"))
    False
    """
    if sample.unscored not in _REASONS_WITHOUT_REPLY:
        return True
    return sample.raw not in ("", "[]") or sample.message.partition(":")[0] in BILLED_FAILURES
