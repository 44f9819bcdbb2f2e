"""What an endpoint's failure becomes: a stable code, and the time to wait only where it makes sense."""

from __future__ import annotations

import pytest

from assay.judging.provider import HttpReply, call_error_of_message, call_error_of_reply


@pytest.mark.parametrize(
    ("status", "message", "code"),
    [
        (429, "slow down", "rate_limited"),
        (429, "insufficient_quota", "quota"),
        (402, "billing: payment required", "quota"),
        (403, "quota_exceeded", "quota"),
        (403, "forbidden", "http_403"),
        (401, "insufficient_quota", "http_401"),
        (500, "billing service failed", "http_500"),
        (529, "overloaded", "http_529"),
    ],
)
def test_statuses_become_codes(status: int, message: str, code: str) -> None:
    error = call_error_of_reply(HttpReply(status, {"retry-after": "5"}, b"", 1.0), message)
    assert code == error.code
    assert error.retry_after == (None if code == "quota" else 5.0)


@pytest.mark.parametrize(
    ("message", "code"),
    [("Rate limit reached", "rate_limited"), ("overloaded_error", "rate_limited"), ("insufficient_quota", "quota")],
)
def test_a_success_may_say_come_back_later(message: str, code: str) -> None:
    busy_error = call_error_of_message(message)
    assert busy_error
    assert code == busy_error.code
    assert call_error_of_message("model crashed") is None
