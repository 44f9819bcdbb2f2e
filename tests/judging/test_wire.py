"""What an endpoint's failure becomes: a stable code, and the time to wait only where it makes sense."""

from __future__ import annotations

import pytest

from assay.calls.retry import read_retry_after
from assay.judging.provider import HttpReply, call_error_of_message, call_error_of_reply


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": " 1.5 "}, 1.5),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "1e400"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "Thu, 01 Jan 1970 00:16:50 GMT"}, 10.0),  # 1,010 seconds after the epoch; it is 1,000
        ({"retry-after": "Thu, 01 Jan 1970 00:00:01 GMT"}, None),  # gone by
        ({"retry-after": "Thu, 01 Jan 99999 00:00:01 GMT"}, None),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after-ms": "x", "retry-after": "3"}, None),
    ],
)
def test_the_time_to_wait_is_read_or_unknown(headers: dict[str, str], seconds: float | None) -> None:
    assert seconds == read_retry_after(headers, now=lambda: 1_000.0)


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
