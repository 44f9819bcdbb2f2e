"""What an endpoint does not support is found out by asking, given up once, remembered and recorded."""

from __future__ import annotations

import asyncio

import pytest
from tests.judging.asking import ask, judge, sent, server, support_request

from assay.calls.interfaces import CallError

BOTH = pytest.mark.parametrize("protocol", ["openai", "anthropic"])


@pytest.mark.parametrize(
    ("refuses", "mode", "calls"),
    [
        ({"json_schema"}, "tool", 2),
        ({"response_format"}, "tool", 2),
        ({"json_schema", "tools"}, "json_object", 3),
        ({"json_schema", "tool_choice"}, "json_object", 3),
        ({"response_format", "tools"}, "text", 4),
    ],
)
def test_openai_steps_down_the_ladder_and_remembers(refuses: set[str], mode: str, calls: int) -> None:
    at = server(refuses=frozenset(refuses))
    judged = judge(at)
    once, again = ask(judged, support_request()), ask(judged, support_request(), 2)
    assert (None, f"mode:{mode}", calls) == (once.unscored, once.flags[0], once.usage.attempts)
    assert (None, f"mode:{mode}", 1) == (again.unscored, again.flags[0], again.usage.attempts)


def test_without_a_form_the_schema_stands_in_the_text() -> None:
    at = server(refuses=frozenset({"response_format", "tools"}))
    ask(judge(at), support_request())
    texts = [body["messages"][1]["content"] for body in sent(at)]
    assert [False, False, True, True] == ['"additionalProperties":false' in text for text in texts]
    assert "JSON" in texts[2]  # which JSON mode demands


def test_anthropic_without_tools_is_asked_for_text() -> None:
    at = server(refuses=frozenset({"tools"}))
    verdict = ask(judge(at, "anthropic"), support_request())
    assert (None, ("mode:text",)) == (verdict.unscored, verdict.flags)


@pytest.mark.parametrize("status", [400, 422, 500])
def test_a_refused_form_is_recognised_by_its_name_whatever_the_status(status: int) -> None:
    """Some servers answer 500 to a form that they do not know."""
    at = server({"status": status, "error": "Input should be 'text' or 'json_object': response_format.type"})
    assert "mode:tool" in ask(judge(at), support_request()).flags


@BOTH
def test_temperature_is_dropped_where_it_is_refused_and_that_is_recorded(protocol: str) -> None:
    at = server(refuses=frozenset({"temperature"}))
    judged = judge(at, protocol)
    verdict = ask(judged, support_request())
    assert "no_temperature" in verdict.flags
    assert [True, False] == ["temperature" in body for body in sent(at)]
    assert "no_temperature" in ask(judged, support_request(), 1).flags
    assert judged.identity.parameters["temperature"] == 0.0  # the identity stays what was asked for


def test_the_token_limit_takes_the_name_that_the_model_wants() -> None:
    error = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    at = server({"status": 400, "error": error})
    assert ask(judge(at), support_request()).unscored is None
    assert ["max_tokens", "max_completion_tokens"] == [next(k for k in body if "max" in k) for body in sent(at)]


def test_calls_under_way_together_give_up_one_rung_only() -> None:
    """Eight calls are refused for the same reason: they meet at the next rung, not eight rungs further down."""
    at = server(refuses=frozenset({"json_schema"}))
    judged = judge(at)

    async def together() -> list[str]:
        verdicts = await asyncio.gather(*(judged.ask(support_request(question=f"{n}?"), 0) for n in range(8)))
        return [verdict.flags[0] for verdict in verdicts]

    assert ["mode:tool"] * 8 == asyncio.run(together())


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422, 500, 503, 529])
def test_an_error_that_names_no_parameter_is_an_error(status: int) -> None:
    with pytest.raises(CallError) as caught:
        ask(judge(server({"status": status, "error": "something else"})), support_request())
    assert f"http_{status}" == caught.value.code


def test_an_endpoint_that_refuses_for_ever_is_given_up() -> None:
    """Each capability is given up once; the last refusal is an error, not a loop."""
    at = server(*[{"status": 400, "error": "response_format tools temperature max_tokens unsupported"}] * 50)
    with pytest.raises(CallError, match="http_400"):
        ask(judge(at), support_request())
    assert len(at.requests) < 15


def test_a_request_that_is_too_long_leaves_the_ladder_alone() -> None:
    """Such an error speaks of functions and formats too: the next, shorter request is sent in the best form."""
    error = "maximum context length is 8192 tokens; you sent 9000 (8000 in the messages, 1000 in response_format)"
    at = server({"status": 400, "error": error})
    judged = judge(at)
    with pytest.raises(CallError, match="http_400"):
        ask(judged, support_request())
    assert "mode:json_schema" in ask(judged, support_request()).flags
