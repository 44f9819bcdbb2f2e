"""What of an exchange with a judge is kept: its cost, who answered, what was said; and what is not: the key."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import msgspec
import pytest
from tests.judging.asking import KEY, ask, judge, sent, server, support_request
from tests.judging.malformed_replies import GOOD, first

from assay.calls.interfaces import CallError
from assay.records.verdicts import Verdict

BOTH = pytest.mark.parametrize("protocol", ["openai", "anthropic"])
BAD = "no JSON at all"


def test_usage_is_summed_over_all_attempts_and_priced() -> None:
    """Two attempts; 1,000 prompt tokens at 2 dollars and 1,000 completion tokens at 4."""
    at = server({"content": BAD}, {"content": GOOD})
    verdict = ask(judge(at, usd_per_1k=(2.0, 4.0)), support_request())
    usage = verdict.usage
    bodies = [json.loads(reply)["usage"] for reply in json.loads(verdict.raw)]
    assert sum(usage_of_reply["prompt_tokens"] for usage_of_reply in bodies) == usage.prompt_tokens > 0
    assert sum(usage_of_reply["completion_tokens"] for usage_of_reply in bodies) == usage.completion_tokens > 0
    assert (usage.prompt_tokens * 2 + usage.completion_tokens * 4) / 1000 == usage.cost_usd
    assert 4.0 == usage.latency_ms  # two milliseconds each, says the transport
    assert ask(judge(server()), support_request()).usage.cost_usd is None


def test_a_failure_after_a_paid_reply_keeps_what_it_cost() -> None:
    """The first reply was paid for: the verdict says so instead of getting lost in an error."""
    verdict = ask(judge(server({"content": BAD}, {"status": 429})), support_request())
    assert ("provider", 2) == (verdict.unscored, verdict.usage.attempts)
    assert "rate_limited" in verdict.message
    assert verdict.usage.prompt_tokens > 0


def test_the_model_and_fingerprint_that_answered_are_kept() -> None:
    verdict = ask(judge(server()), support_request())
    assert "scripted-1-2026-01-01" == verdict.model
    assert "fingerprint:fp_scripted" in verdict.flags
    assert "chatcmpl-1" == json.loads(json.loads(verdict.raw)[0])["id"]


@BOTH
def test_half_a_character_anywhere_can_still_be_written_down(protocol: str) -> None:
    """JSON may hold a lone surrogate, which no file in UTF-8 can: names and messages are cleaned of it."""
    odd = '{"model": "m\\ud800", "system_fingerprint": "\\udfff", "content": [{"text": "\\ud800"}],'
    odd += '"stop_reason": "refusal", "choices": [{"message": {"refusal": "no\\ud800"}}]}'
    verdicts = [
        ask(judge(server({"body": body}), protocol), support_request()) for body in (odd, '{"error": "\\ud800"}')
    ]
    assert ["refused", "provider"] == [verdict.unscored for verdict in verdicts]
    assert "m?" == verdicts[0].model
    for verdict in verdicts:
        assert msgspec.json.decode(msgspec.json.encode(verdict), type=Verdict) == verdict
    with pytest.raises(CallError) as caught:
        ask(judge(server({"status": 401, "body": '{"error": {"message": "\\ud800"}}'}), protocol), support_request())
    assert caught.value.message.encode()


def test_what_was_sent_can_be_kept_under_its_digest() -> None:
    kept: dict[str, bytes] = {}
    at = server()
    verdict = ask(judge(at, keep=kept.__setitem__), support_request())
    assert [verdict.rendered] == list(kept)
    assert sent(at)[0] == json.loads(kept[verdict.rendered])
    assert "sha256:" + hashlib.sha256(kept[verdict.rendered]).hexdigest() == verdict.rendered


@BOTH
def test_the_key_is_nowhere_but_in_the_header(protocol: str) -> None:
    """The endpoint repeats the key wherever it can; `redact` takes it out of everything that is kept."""
    kept: list[bytes] = []
    tools: dict[str, Any] = {
        "redact": lambda text: text.replace(KEY, "[redacted]"),
        "keep": lambda _, raw: kept.append(raw),
    }
    named = json.dumps({"model": KEY, "system_fingerprint": KEY})
    verdict = first(reasoning=f"your key is {KEY}")
    verdicts = [
        ask(judge(server({"content": verdict}), protocol, **tools), support_request()),
        ask(judge(server({"refusal": KEY}), protocol, **tools), support_request()),
        ask(judge(server({"body": f'{{"error": "{KEY}"}}'}), protocol, **tools), support_request()),
        ask(judge(server({"body": named}), protocol, **tools), support_request()),
    ]
    assert verdicts[0].items
    with pytest.raises(CallError) as caught:
        ask(judge(server({"status": 401, "error": f"invalid key {KEY}"}), protocol, **tools), support_request())
    judged = judge(server(), protocol)
    assert KEY not in f"{verdicts} {caught.value} {kept} {judged.identity}"
    assert "[redacted]" in str(verdicts[2])
