"""A web server on loopback in a thread; its answers are functions of the raw request, polite and rude ones."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Request:
    """What arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


Reply = Callable[[Request, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Server:
    """Where it listens, and what was asked of it."""

    url: str
    requests: list[Request] = field(default_factory=list)


def as_json(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> bytes:
    """Return a whole HTTP response."""
    return response(json.dumps(value).encode(), status, {"content-type": "application/json", **(headers or {})})


def response(body: bytes, status: int = 200, headers: dict[str, str] | None = None) -> bytes:
    """Return a whole HTTP response with any body."""
    lines = [f"HTTP/1.1 {status} X", f"content-length: {len(body)}", *(f"{k}: {v}" for k, v in (headers or {}).items())]
    return "\r\n".join([*lines, "", ""]).encode() + body


@contextmanager
def serving(answer: Reply) -> Iterator[Server]:
    """Yield a server that answers every request with `answer`, on connections that stay open."""
    started = threading.Event()
    state: dict[str, Any] = {}
    writers: set[asyncio.StreamWriter] = set()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.add(writer)
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while not writer.is_closing():
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                method, path, _ = head[0].split(" ")
                headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in head[1:] if line)}
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                request = Request(method, path, headers, body)
                state["server"].requests.append(request)
                await answer(request, writer)
                await writer.drain()
        writer.transport.abort()

    async def main() -> None:
        server = await asyncio.start_server(handle, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        state["server"] = Server(f"http://127.0.0.1:{port}")
        state["loop"], state["stop"] = asyncio.get_running_loop(), asyncio.Event()
        started.set()
        await state["stop"].wait()
        server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        for writer in writers:
            writer.transport.abort()
        await asyncio.gather(*tasks, return_exceptions=True)

    thread = threading.Thread(target=lambda: asyncio.run(main()), daemon=True)
    thread.start()
    assert started.wait(10)
    try:
        yield state["server"]
    finally:
        state["loop"].call_soon_threadsafe(state["stop"].set)
        thread.join(10)
