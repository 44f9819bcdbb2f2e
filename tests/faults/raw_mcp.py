"""An MCP server without the SDK, which writes what it likes to its standard output: `python raw_mcp.py STATE`.

STATE is a folder that outlives it. Questions choose the fault: see `FAULTS`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

STATE = Path(sys.argv[1]) if len(sys.argv) > 1 else Path()
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"question": {"type": "string"}}}
CHILD = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(300)"
HUGE_BYTES = 60_000_000
server = {"properties": 1}
writing = threading.Lock()


def write(line: bytes) -> None:
    """Write to the pipe itself; nothing of Python's buffers is in between."""
    view = memoryview(line)
    with writing:
        while view:
            view = view[os.write(1, view) :]


def send(message: dict[str, Any]) -> None:
    """Write one JSON-RPC message."""
    write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


def answer(request_id: Any, text: str) -> None:
    """Reply to a call with an answer."""
    content = [{"type": "text", "text": json.dumps({"answer": text})}]
    send({"id": request_id, "result": {"content": content}})


def first_time(name: str) -> bool:
    """Return whether this happens for the first time, in any process."""
    try:
        (STATE / name).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def make_noise(request_id: Any) -> None:
    """Write everything that is no message, and then the answer."""
    for line in (b"starting up", b"\xff\xfe\x80", b"\0\0", b"[]", b"5", b'{"answer": "a"}', b"[" * 200_000, b""):
        write(line + b"\n")
    answer(request_id, "answer to noise")


def reply_in_latin_1(request_id: Any) -> None:
    """Reply with bytes that are not UTF-8."""
    write(b'{"jsonrpc": "2.0", "id": %d, "result": {"content": [{"type": "text", "text": "\xe9"}]}}\n' % request_id)


def reply_with_id_first(request_id: Any) -> None:
    """Reply with far too much, the id before it."""
    write(b'{"jsonrpc": "2.0", "id": %d, "result": {"x": "%s"}}\n' % (request_id, b"x" * HUGE_BYTES))


def reply_with_id_last(request_id: Any) -> None:
    """Reply with far too much, the id after it; the one inside is another's."""
    write(b'{"result": {"id": 1, "x": "%s"}, "jsonrpc": "2.0", "id": %d}\n' % (b"x" * HUGE_BYTES, request_id))


def reply_too_deep(request_id: Any) -> None:
    """Reply with more nesting than any parser takes."""
    write(b'{"jsonrpc": "2.0", "id": %d, "result": %s}\n' % (request_id, b"[" * 100_000 + b"]" * 100_000))


def reply_in_another_form(request_id: Any) -> None:
    """Reply with an object that is no JSON-RPC reply."""
    write(b'{"id": %d, "answer": "yes"}\n' % request_id)


def reply_to_others(request_id: Any) -> None:
    """Reply to requests that nobody made, and twice to one."""
    answer(987654, "surplus")
    answer("x", "surplus")
    answer(request_id, "answer to others")
    answer(request_id, "surplus")


def close_output(_: Any) -> None:
    """Close the standard output and live on."""
    if first_time("closed"):
        os.close(1)
        time.sleep(60)
    answer(_, "answer to close")


def fall_silent(request_id: Any) -> None:
    """Write nothing any more, in the first process."""
    if first_time("silent"):
        time.sleep(60)
    answer(request_id, "answer to silent")


def start_child(request_id: Any) -> None:
    """Start a child that ignores SIGTERM, and tell its number."""
    child = subprocess.Popen([sys.executable, "-c", CHILD], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    written = STATE / f"child-{child.pid}"
    written.write_text(str(child.pid))
    written.replace(STATE / "child")  # at once: who reads it must not find it empty when a second question comes
    answer(request_id, str(child.pid))


def change_tools(request_id: Any) -> None:
    """Announce that the tools changed, and answer as if nothing had happened."""
    server["properties"] += 1
    send({"method": "notifications/tools/list_changed"})
    answer(request_id, "answer to change")


def answer_later(request_id: Any) -> None:
    """Answer after a while, from another thread."""
    threading.Timer(0.5, answer, (request_id, "answer to later")).start()


FAULTS: dict[str, Callable[[Any], None]] = {
    "noise": make_noise,
    "latin-1": reply_in_latin_1,
    "huge": reply_with_id_first,
    "huge id last": reply_with_id_last,
    "deep": reply_too_deep,
    "other form": reply_in_another_form,
    "others": reply_to_others,
    "close": close_output,
    "silent": fall_silent,
    "child": start_child,
    "change": change_tools,
    "later": answer_later,
    "die": lambda _: os._exit(3),
}


def handle(message: dict[str, Any]) -> None:
    """Answer one message of the client."""
    method, request_id = message.get("method"), message.get("id")
    if request_id is None:
        return
    if method == "initialize":
        result = {
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "raw", "version": "1"},
        }
        send({"id": request_id, "result": result})
    elif method == "tools/list":
        schema = SCHEMA | {"minProperties": server["properties"]}
        page = {"nextCursor": "again"} if (STATE / "pages").exists() else {}
        send({"id": request_id, "result": {"tools": [{"name": "ask", "inputSchema": schema}], **page}})
    elif method == "tools/call":
        question = message["params"]["arguments"]["question"]
        FAULTS.get(question.partition(" #")[0], lambda number: answer(number, f"answer to {question}"))(request_id)
    else:
        send({"id": request_id, "error": {"code": -32601, "message": "no such method"}})


if __name__ == "__main__":
    for line in sys.stdin:
        handle(json.loads(line))
