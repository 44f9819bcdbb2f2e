"""The judges' HTTP client against polite and rude servers on loopback."""

from __future__ import annotations

import asyncio
import gzip
import socket
import sys
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tests.contracts.loopback import Request, as_json, response, serving

from assay.calls.interfaces import CallError
from assay.judging.http_client import HttpTransport, describe_system_error
from assay.judging.provider import HttpReply, HttpRequest
from assay.records.errors import MissingExtraError

Answer = Callable[[Request, asyncio.StreamWriter], Awaitable[None]]


def sent(url: str, count: int = 1, concurrency: int = 4, **limits: Any) -> list[HttpReply]:
    async def main() -> list[HttpReply]:
        transport = HttpTransport(concurrency, **limits)
        try:
            request = HttpRequest(url, {"authorization": "Bearer k"}, b'{"q": "\xc3\xad"}')
            return list(await asyncio.gather(*(transport.send(request) for _ in range(count))))
        finally:
            await transport.aclose()

    return asyncio.run(main())


def saying(data: bytes) -> Answer:
    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(data)

    return answer


def refused(answer: Answer, **limits: Any) -> CallError:
    with serving(answer) as server, pytest.raises(CallError) as caught:
        sent(server.url, **limits)
    return caught.value


def test_reply_comes_whole_with_status_headers_and_time() -> None:
    with serving(saying(as_json({"a": "í"}, 429, {"Retry-After": "3"}))) as server:
        (reply,) = sent(f"{server.url}/v1/chat?x=1")
    (request,) = server.requests
    assert (429, "3") == (reply.status, reply.headers["retry-after"])
    assert (b'{"a": "\\u00ed"}', True) == (reply.body, reply.latency_ms > 0)
    assert ("POST", "/v1/chat?x=1", b'{"q": "\xc3\xad"}') == (request.method, request.path, request.body)
    assert "Bearer k" == request.headers["authorization"]
    assert "gzip, identity" == request.headers["accept-encoding"]


def test_packed_reply_is_unpacked() -> None:
    with serving(saying(response(gzip.compress(b"x" * 5000), headers={"content-encoding": "gzip"}))) as server:
        (reply,) = sent(server.url)
    assert b"x" * 5000 == reply.body


def test_connections_are_used_again_and_never_more_than_the_concurrency() -> None:
    opened: set[int] = set()

    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        opened.add(id(writer))
        writer.write(as_json({}))

    with serving(answer) as server:
        replies = sent(server.url, 50, 4)
    assert [200] * 50 == [reply.status for reply in replies]
    assert 1 <= len(opened) <= 4


def test_redirect_is_returned_and_not_followed() -> None:
    with serving(saying(response(b"", 302, {"location": "http://169.254.169.254/"}))) as server:
        (reply,) = sent(server.url)
    assert (302, 1) == (reply.status, len(server.requests))


def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with serving(saying(as_json({}))) as server:
        assert [200] == [reply.status for reply in sent(server.url)]


def test_reply_beyond_the_cap_is_refused() -> None:
    assert "too_large" == refused(saying(response(b"x" * 200_001)), max_bytes=200_000).code


def test_small_bomb_is_refused_before_it_is_unpacked() -> None:
    bomb = gzip.compress(b"\0" * 50_000_000)
    assert len(bomb) < 200_000
    error = refused(saying(response(bomb, headers={"content-encoding": "gzip"})), max_bytes=200_000)
    assert "too_large" == error.code


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (response(b"x", headers={"content-encoding": "br"}), "protocol"),
        (response(b"not gzip", headers={"content-encoding": "gzip"}), "protocol"),
        (response(gzip.compress(b"x" * 999)[:-9], headers={"content-encoding": "gzip"}), "connection"),
        (b"SSH-2.0-OpenSSH\r\n\r\n", "protocol"),
        (b"HTTP/1.1 200 X\r\ncontent-length: 100\r\n\r\nhalf", "connection"),
        (b"", "connection"),
    ],
    ids=["unknown packing", "broken packing", "packing cut off", "not HTTP", "cut off", "closed"],
)
def test_what_is_no_reply_is_an_error_with_a_code(data: bytes, code: str) -> None:
    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()
        writer.close()

    assert code == refused(answer).code


def test_reset_is_a_lost_connection() -> None:
    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.transport.abort()

    assert "connection" == refused(answer).code


def test_silence_is_a_timeout() -> None:
    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    assert "timeout" == refused(answer, seconds=0.05).code


def test_nobody_listening_means_that_nothing_was_sent() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        with pytest.raises(CallError) as caught:
            sent(f"http://127.0.0.1:{free.getsockname()[1]}")
    assert ("unreachable", "no connection to the judge's address: Connection refused") == (
        caught.value.code,
        caught.value.message,
    )


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ConnectionRefusedError(111, "Connect call failed ('10.0.0.7', 8080)"), "Connection refused"),
        (socket.gaierror(-2, "Name or service not known"), "Name or service not known"),
        (OSError("Multiple exceptions: [Errno 111] Connect call failed ('::1', 8080)"), "none of its addresses"),
    ],
)
def test_a_recorded_error_names_no_address(error: OSError, expected: str) -> None:
    described = describe_system_error(error)
    assert described.startswith(expected)
    assert not any(address in described for address in ("10.0.0.7", "8080", "::1"))


def test_plain_server_behind_https_is_no_safe_connection() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def say() -> None:
            one, _ = listening.accept()
            with one:
                one.recv(1000)
                one.sendall(b"HTTP/1.1 400 no\r\n\r\n")

        thread = threading.Thread(target=say)
        thread.start()
        with pytest.raises(CallError) as caught:
            sent(f"https://127.0.0.1:{listening.getsockname()[1]}")
        thread.join(10)
    assert "tls" == caught.value.code


@pytest.mark.parametrize("url", ["not an address", "http://[::1"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(CallError) as caught:
        sent(url)
    assert "protocol" == caught.value.code
    assert url not in caught.value.message


def test_missing_package_is_named_with_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "aiohttp", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'rag-assay\[judge\]'"):
        HttpTransport()
