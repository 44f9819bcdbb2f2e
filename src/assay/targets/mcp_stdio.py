"""The stdio transport of an MCP session: a server whose lines are bounded and whose noise harms nobody.

A line that is no message is noise and is dropped. One that is a reply but cannot be used (too long, not UTF-8, not
JSON-RPC) becomes an error of its own request. The session is lost when the server ends or closes its output.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

from assay.calls.interfaces import CallError
from assay.targets.process_group import GroupGuard, end_group

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.shared.message import SessionMessage

REPLY_FAILED = -32012
"""The code of the JSON-RPC error that stands for a reply which cannot be used; its data names that of the CallError."""
EXIT_SECONDS = 2.0
MAX_DISCARDED_BYTES = 2**30
"""A line that is longer than this never ends: the session is lost."""

_BLOCK_BYTES = 2**18
_HEAD_BYTES, _TAIL_BYTES = 2**16, 2**10
_TOKEN = re.compile(rb'"(?>(?:[^"\\]|\\.)*)"?|[{}\[\]]', re.DOTALL)  # a string without an end is one token: linear
_ID_VALUE = re.compile(rb'\s*+:\s*+(?P<id>-?\d{1,18}|"[^"\\]{0,200}")\s*+[,}]')
_ID_AT_END = re.compile(rb',\s*+"id"\s*+:\s*+(?P<id>-?\d{1,18}|"[^"\\]{0,200}")\s*+}\s*+$')


@dataclass
class StdioWatch:
    """What the transport sees of a server: the number of lines that it wrote, and whether it is gone."""

    lines: int = 0
    is_lost: bool = False


@dataclass(frozen=True, slots=True)
class OutputLine:
    """One line of output; of a line that is too long, `data` has the first bytes and `end` the last ones."""

    data: bytes
    end: bytes = b""
    is_too_long: bool = False


class LineCutter:
    """Cuts blocks of bytes into lines and keeps at most `max_bytes` of one."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._parts: list[bytes] = []
        self._end = b""
        self.size = 0

    def cut(self, block: bytes) -> Iterator[OutputLine]:
        """Yield the lines that end in this block."""
        start = 0
        while (stop := block.find(b"\n", start)) >= 0:
            self._add(block[start:stop])
            yield self._take()
            start = stop + 1
        self._add(block[start:])

    def _add(self, part: bytes) -> None:
        if self.size <= self._max_bytes:
            self._parts.append(part)
        self.size += len(part)
        if self.size > self._max_bytes:
            # Nobody reads the middle of a line that is too long.
            self._parts = [b"".join(self._parts)[:_HEAD_BYTES]]
            self._end = (self._end + part)[-_TAIL_BYTES:]

    def _take(self) -> OutputLine:
        line = OutputLine(b"".join(self._parts), self._end, self.size > self._max_bytes)
        self._parts, self._end, self.size = [], b"", 0
        return line


def find_reply_id(line: OutputLine) -> str | int | None:
    """Return the member `id` of the outermost JSON object of a line, which may be cut or broken; None if unclear.

    >>> find_reply_id(OutputLine(b'{"result": {"id": 7}, "id": 3, "x'))
    3
    """
    depth = 0
    head = line.data[:_HEAD_BYTES]
    for token in _TOKEN.finditer(head):
        mark = token.group()
        if mark in (b"{", b"["):
            depth += 1
        elif mark in (b"}", b"]"):
            depth -= 1
        elif depth == 1 and mark == b'"id"':
            value = _ID_VALUE.match(head, token.end())
            if value is not None:
                return _read_id(value["id"])
    at_end = _ID_AT_END.search((line.end or line.data)[-_TAIL_BYTES:])
    return _read_id(at_end["id"]) if at_end is not None else None


def _read_id(text: bytes) -> str | int | None:
    try:
        identifier = json.loads(text)
    except ValueError:
        return None
    return identifier if isinstance(identifier, str | int) else None


def read_message(line: OutputLine, max_bytes: int) -> SessionMessage | None:
    """Return the message of a line, an error for the request to which it replies, or None for noise."""
    from mcp.shared.message import SessionMessage
    from mcp.types import ErrorData, JSONRPCError, jsonrpc_message_adapter

    if line.is_too_long:
        code, message = "too_large", f"a reply of more than {max_bytes} bytes (expected {max_bytes} at most)"
    else:
        try:
            return SessionMessage(jsonrpc_message_adapter.validate_json(line.data, by_name=False))
        except ValueError:
            code, message = "protocol", "a reply that is no JSON-RPC message in UTF-8"
    request_id = find_reply_id(line)
    if request_id is None:
        return None
    error = ErrorData(code=REPLY_FAILED, message=message, data={"code": code})
    return SessionMessage(JSONRPCError(jsonrpc="2.0", id=request_id, error=error))


@asynccontextmanager
async def open_stdio(
    command: Sequence[str],
    environment: Mapping[str, str],
    errors: TextIO,
    max_bytes: int,
    guard: GroupGuard,
    watch: StdioWatch,
) -> AsyncIterator[tuple[Any, Any]]:
    """Start a server and yield the streams of the SDK for reading and writing; end its process group afterwards.

    Raises CallError, with code `not_started`, for a command that cannot be started.
    """
    import anyio
    from mcp.client.stdio import get_default_environment

    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
            env=get_default_environment() | dict(environment),
            start_new_session=True,
            limit=_BLOCK_BYTES,
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise CallError("not_started", f"{command[0]}: {reason}") from None
    guard.add(process.pid)
    to_session, from_server = anyio.create_memory_object_stream[Any](0)
    to_server, from_session = anyio.create_memory_object_stream[Any](0)
    assert process.stdout is not None and process.stdin is not None
    reader = asyncio.create_task(_read_output(process.stdout, to_session, max_bytes, watch))
    writer = asyncio.create_task(_write_input(process.stdin, from_session, to_session, watch))
    try:
        yield from_server, to_server
    finally:
        watch.is_lost = True
        from_server.close()
        to_server.close()
        await _end_process(process, (reader, writer))
        guard.remove(process.pid)


async def _read_output(
    output: asyncio.StreamReader, to_session: MemoryObjectSendStream[Any], max_bytes: int, watch: StdioWatch
) -> None:
    """Pass on the messages of the server until its output ends; then read on, so that it is never blocked."""
    import anyio

    cutter = LineCutter(max_bytes)
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, ConnectionError):
        async with to_session:
            while block := await output.read(_BLOCK_BYTES):
                for line in cutter.cut(block):
                    watch.lines += 1
                    message = read_message(line, max_bytes)
                    if message is not None:
                        await to_session.send(message)
                if cutter.size > MAX_DISCARDED_BYTES:
                    break
            watch.is_lost = True
    while await output.read(_BLOCK_BYTES):
        pass


async def _write_input(
    stdin: asyncio.StreamWriter,
    from_session: MemoryObjectReceiveStream[Any],
    to_session: MemoryObjectSendStream[Any],
    watch: StdioWatch,
) -> None:
    """Send the messages of the session; a server that no longer reads is lost."""
    try:
        async with from_session:
            async for message in from_session:
                stdin.write(message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
                await stdin.drain()
    except ConnectionError:
        watch.is_lost = True
        to_session.close()


async def _end_process(process: asyncio.subprocess.Process, pipes: tuple[asyncio.Task[None], ...]) -> None:
    """Close the input of a server, wait up to `EXIT_SECONDS`, then end what is left of its process group."""
    if process.stdin is not None:
        process.stdin.close()
    try:
        with suppress(TimeoutError):
            async with asyncio.timeout(EXIT_SECONDS):
                await process.wait()
    finally:
        await end_group(process.pid)
        for pipe in pipes:
            pipe.cancel()
        await asyncio.gather(*pipes, return_exceptions=True)
        # A process that left the group can hold the pipes open: the transport would wait for it.
        process._transport.close()  # type: ignore[attr-defined]  # asyncio has no public way
