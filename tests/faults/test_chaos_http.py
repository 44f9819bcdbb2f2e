"""A web server that does everything wrong: each fault has its code, bounded cost, and affects only its own call."""

from __future__ import annotations

import asyncio
import gzip
import tracemalloc
from collections.abc import Awaitable, Callable, Iterator

import msgspec
import pytest
from tests.contracts.loopback import Request, Server, as_json, response, serving

from assay.calls import addresses
from assay.calls.interfaces import CallError, TargetCall
from assay.records.errors import SettingsError
from assay.records.golden_set import Case, User
from assay.records.observations import Observation
from assay.records.settings import AuthSettings, HttpTargetSettings, ResponseMapping
from assay.targets.http import HttpTarget as Target

CAP = 100_000
JSON = {"content-type": "application/json"}
Writer = asyncio.StreamWriter


async def slow_loris(request: Request, writer: Writer) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n")
    for _ in range(1000):
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.02)


async def endless(request: Request, writer: Writer) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n")
    while not writer.is_closing():
        writer.write(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")
        await writer.drain()


async def reset(request: Request, writer: Writer) -> None:
    writer.write(b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{"answer')
    await writer.drain()
    writer.transport.abort()


async def hang_up(request: Request, writer: Writer) -> None:
    writer.close()


def saying(data: bytes) -> Callable[[Request, Writer], Awaitable[None]]:
    async def answer(request: Request, writer: Writer) -> None:
        writer.write(data)

    return answer


BOMB = gzip.compress(b"[" + b" " * 20_000_000 + b"]", 1)
FAULTS = {
    "slow loris": (slow_loris, "timeout"),
    "endless body": (endless, "too_large"),
    "reset in the body": (reset, "connection"),
    "hangs up": (hang_up, "connection"),
    "no HTTP": (saying(b"hello\r\n\r\n"), "connection"),
    "gzip bomb": (saying(response(BOMB, 200, {**JSON, "content-encoding": "gzip"})), "too_large"),
    "broken gzip": (saying(response(b"no gzip", 200, {**JSON, "content-encoding": "gzip"})), "protocol"),
    "unknown packing": (saying(response(b"x", 200, {**JSON, "content-encoding": "br"})), "protocol"),
    "login page": (saying(response(b"<html>log in</html>", 200, {"content-type": "text/html"})), "protocol"),
    "event stream": (saying(response(b"data: {", 200, {"content-type": "text/event-stream"})), "protocol"),
    "invalid UTF-8": (saying(response(b'{"answer": "\xff"}', 200, JSON)), "protocol"),
    "lone surrogate": (saying(response(b'{"answer": "\\ud800"}', 200, JSON)), "protocol"),
    "not finite": (saying(response(b'{"answer": "a", "usage": {"end_to_end_ms": NaN}}', 200, JSON)), "protocol"),
    "empty 200": (saying(response(b"", 200, JSON)), "protocol"),
    "no content": (saying(b"HTTP/1.1 204 No Content\r\n\r\n"), "protocol"),
    "cut JSON": (saying(response(b'{"answer": "a', 200, JSON)), "protocol"),
    "deep JSON": (saying(response(b"[" * 90_000 + b"]" * 9_000, 200, JSON)), "schema"),
    "deep but closed": (saying(response(b"[" * 200 + b"]" * 200, 200, JSON)), "schema"),
    "a number": (saying(as_json(5)), "schema"),
    "null": (saying(as_json(None)), "schema"),
    "neither answer nor ranking": (saying(as_json({"color": "red"})), "schema"),
    "answer of another type": (saying(as_json({"answer": ["a"]})), "schema"),
    "another case": (saying(as_json({"case_id": "other", "answer": "a"})), "id_mismatch"),
    "another query": (saying(as_json({"query_id": "other", "answer": "a"})), "id_mismatch"),
    "another question": (saying(as_json({"question": "Who?", "answer": "a"})), "id_mismatch"),
    "error with status 200": (saying(as_json({"error": "rate limit exceeded"})), "target_error"),
    "redirect": (saying(as_json({}, 302, {"location": "http://169.254.169.254/"})), "redirect"),
    "forbidden": (saying(as_json({}, 403)), "http_403"),
    "broken": (saying(as_json({}, 500)), "http_500"),
    "overloaded": (saying(as_json({}, 429)), "http_429"),
    "quota used up": (saying(as_json({"error": {"code": "insufficient_quota"}}, 429)), "quota"),
}


@pytest.fixture
def canary(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("CHAOS_KEY", "canary-0123456789")
    return "canary-0123456789"


async def ask(url: str, seconds: float = 5.0) -> Observation:
    settings = HttpTargetSettings(url=url, auth=AuthSettings("CHAOS_KEY"), max_bytes=CAP)
    return await once(settings, TargetCall(Case("c", "What?"), "ask", seconds))


async def once(settings: HttpTargetSettings, call: TargetCall) -> Observation:
    target = Target("t", settings, 4, typed=True)
    try:
        async with asyncio.timeout(call.seconds):
            return await target.observe(call)
    except TimeoutError:
        raise CallError("timeout", "") from None
    finally:
        await target.aclose()


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "code"), FAULTS.values(), ids=FAULTS)
def test_each_fault_has_its_code(answer: Callable[..., Awaitable[None]], code: str, canary: str) -> None:
    with serving(answer) as server, pytest.raises(CallError) as failure:
        asyncio.run(ask(server.url, 0.3 if code == "timeout" else 5.0))
    assert code == failure.value.code
    assert len(failure.value.message) <= 500
    assert canary not in str(failure.value)


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["endless body", "gzip bomb"])
def test_memory_stays_near_the_cap(fault: str, canary: str) -> None:
    answer, _ = FAULTS[fault]
    with serving(answer) as server:
        with pytest.raises(CallError):  # what is imported at the first call does not count
            asyncio.run(ask(server.url))
        tracemalloc.start()
        with pytest.raises(CallError):
            asyncio.run(ask(server.url))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 30 * CAP


@pytest.fixture
def polite() -> Iterator[Server]:
    async def answer(request: Request, writer: Writer) -> None:
        writer.write(as_json({"answer": "yes", "headers": request.headers, "case_id": "c"}))

    with serving(answer) as server:
        yield server


def test_secret_is_sent_and_proxies_of_the_environment_are_not_used(
    polite: Server, canary: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    observation = asyncio.run(ask(polite.url))
    assert ("yes", f"Bearer {canary}") == (observation.answer, polite.requests[0].headers["authorization"])


def test_missing_secret_is_named_before_anything_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CHAOS_KEY", raising=False)
    with pytest.raises(SettingsError, match=r"targets.t.auth.env: E_SECRET environment variable CHAOS_KEY is not set"):
        Target("t", HttpTargetSettings(url="http://127.0.0.1:1", auth=AuthSettings("CHAOS_KEY")), 1, typed=True)


def test_identity_that_no_header_can_hold_is_an_error_not_a_request(polite: Server) -> None:
    settings = HttpTargetSettings(url=polite.url, identity={"x-tenant": "user.tenant"})
    for tenant in ("a\r\nx-admin: 1", "công ty"):
        call = TargetCall(Case("c", "q", user=User(tenant=tenant)), "ask", 5.0)
        with pytest.raises(CallError, match="identity"):
            asyncio.run(once(settings, call))
    assert [] == polite.requests


def test_body_and_reply_are_mapped_by_configuration() -> None:
    async def answer(request: Request, writer: Writer) -> None:
        body = request.json
        hits = [{"doc": "hr", "page": 3, "id": 17, "body": "text", "s": 0.5}]
        reply = {"data": {"text": body["input"]["q"] + "!"}, "hits": hits, "refs": [{"doc": "hr", "page": 3}]}
        writer.write(as_json(reply))

    mapping = {
        "answer": "data.text",
        "citations": "refs",
        "stages": {"retrieved": "hits", "context": "$.context"},
        "chunk": {"id": "id", "text": "body", "score": "s", "metadata": {"document": "doc", "page": "page"}},
        "key": "document+page",
    }
    with serving(answer) as server:
        settings = HttpTargetSettings(
            url=server.url,
            body={"input": {"q": "Q: {{question}}"}, "k": "{{k}}"},
            response=msgspec.convert(mapping, ResponseMapping),
        )
        observation = asyncio.run(once(settings, TargetCall(Case("c", "What?"), "ask", 5.0, 7)))
    assert {"input": {"q": "Q: What?"}, "k": 7} == server.requests[0].json
    stages = observation.stages or ()
    assert ("Q: What?!", ("hr:3",), ["retrieved"]) == (
        observation.answer,
        observation.citations,
        [stage.name for stage in stages],
    )
    assert ("hr:3", "text", 0.5) == (stages[0].chunks[0].chunk_id, stages[0].chunks[0].text, stages[0].chunks[0].score)


REFUSED_ALWAYS = [
    "file:///etc/passwd", "gopher://x", "ftp://x/", "http://u:p@x.example/", "http://x@y.example/", "http://",
    "http://169.254.169.254/latest", "http://[fe80::1]/", "http://[::ffff:169.254.169.254]/", "http://2852039166/",
    "http://0xa9fea9fe/", "http://0251.0376.0251.0376/", "http://bücher.example/", "http://xn--bcher-kva.example/",
    "http://0.0.0.0/", "http://[::]/", "https://x.example/?api_key=abc", "http://x:99999/", "http://[::1", "x",
]  # fmt: skip
REFUSED_IN_FILES = [
    "http://10.0.0.1/", "http://192.168.1.1/", "https://172.16.0.1/", "http://x.example/", "http://100.64.0.1/",
    "https://[fc00::1]/", "http://[::ffff:10.0.0.1]/", "http://8.8.8.8/",
]  # fmt: skip
ALLOWED_IN_FILES = [
    "http://localhost:8000/",
    "http://127.0.0.1:8000/",
    "http://[::1]/",
    "https://x.example/",
    "https://8.8.8.8/",
]


@pytest.mark.parametrize("url", REFUSED_ALWAYS)
def test_addresses_that_are_never_called(url: str) -> None:
    assert addresses.check_url(url, typed=True, allowed=["169.254.169.254"])


@pytest.mark.parametrize("url", REFUSED_IN_FILES)
def test_addresses_that_a_file_may_name_only_with_consent(url: str) -> None:
    host = url.split("//")[1].split("/")[0].strip("[]")
    assert addresses.check_url(url, typed=False)
    assert "" == addresses.check_url(url, typed=False, allowed=[host])
    assert "" == addresses.check_url(url, typed=True)


@pytest.mark.parametrize("url", ALLOWED_IN_FILES)
def test_addresses_that_a_file_may_name(url: str) -> None:
    assert "" == addresses.check_url(url, typed=False)


def test_name_that_leads_inside_is_refused_and_a_checked_one_is_pinned(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host is resolved only once, so that DNS rebinding has no effect."""
    answers = iter(["93.184.216.34", "10.0.0.1"])

    async def look_up(*_: object, **__: object) -> list[tuple[object, ...]]:
        return [(0, 0, 0, "", (next(answers), 443))]

    async def run() -> None:
        monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", look_up)
        target = Target("t", HttpTargetSettings(url="https://x.example/ask"), 1)
        call = TargetCall(Case("c", "q"), "ask", 5.0)
        for _ in range(2):
            request = await target._build_request(call)
            assert ("93.184.216.34", "x.example", "x.example") == (
                request.url.host,
                request.headers["host"],
                request.extensions["sni_hostname"],
            )
        with pytest.raises(CallError, match="private address"):
            await addresses.resolve_address("https://y.example/", typed=False)

    asyncio.run(run())
