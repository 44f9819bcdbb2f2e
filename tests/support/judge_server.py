"""A scripted judge endpoint on loopback that speaks both protocols, with good replies and every kind of bad one.

In a test: `with judge_server() as server`. As a process of its own, for measuring:
`python tests/support/judge_server.py --port 0 --delay-ms 200`, which prints its address, takes a plan with POST /plan
and reports the received requests with GET /log (only with --log) and its counts with GET /stats.

A plan is a list of steps, one for each call in order of arrival; when it is empty, calls are answered. Keys of a step,
which combine: status, headers, body (the whole body as text), content (what the model says), finish (the finish or
stop reason), refusal, error (a body with this error message), delay_ms, hang, reset, cut (close within the body).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

Step = dict[str, Any]
FENCED = re.compile(r"^<<<\S+ [0-9a-f]{16,}>>>\n(.*)$", re.MULTILINE)


@dataclass
class JudgeCall:
    """One call as the judge sees it: the text of its messages, the fenced data, and the schema of the reply."""

    body: dict[str, Any]
    text: str
    data: dict[str, Any]
    schema: dict[str, Any]
    how: str

    @property
    def item(self) -> dict[str, Any]:
        """The schema of one item of the reply."""
        properties: dict[str, Any] = self.schema["properties"]["items"]["items"]["properties"]
        return properties


Answer = Callable[[JudgeCall], Any]
"""Returns the reply as plain values, or as a text that is sent unchanged."""


def answer_with_labels(choose: Callable[[JudgeCall, str], str]) -> Answer:
    """Return an answer that gives each id the label chosen for it, with a quote of the first source where asked."""

    def answer(asked: JudgeCall) -> Any:
        quotable = [each for each in asked.item.get("source", {}).get("enum", []) if each]
        items = []
        for name in asked.item["id"]["enum"]:
            item: dict[str, Any] = {"id": name, "reasoning": "as scripted"}
            if quotable:
                item |= {"source": quotable[0], "quote": find_text(asked.data, quotable[0])[:60]}
            items.append(item | {"label": choose(asked, name)})
        return {"items": items, "echo": ""}

    return answer


def find_text(data: Any, name: str) -> str:
    """Return the text of the source with this id, or of the field of this name."""
    if isinstance(data, dict):
        if data.get("id") == name and isinstance(data.get("text"), str):
            return str(data["text"])
        if isinstance(data.get(name), str):
            return str(data[name])
    children = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    return next((text for child in children if (text := find_text(child, name))), "")


FIRST = answer_with_labels(lambda asked, _: str(asked.item["label"]["enum"][0]))
"""Chooses the first label for everything."""


@dataclass
class JudgeServer:
    """Its address, plan and received requests. Parameters in `refuses` are answered with 400."""

    answer: Answer = FIRST
    refuses: frozenset[str] = frozenset()
    delay_ms: float = 0.0
    log: bool = True
    url: str = ""
    plan: deque[Step] = field(default_factory=deque)
    requests: list[dict[str, Any]] = field(default_factory=list)
    calls: int = 0
    at_once: int = 0
    most_at_once: int = 0
    failures: list[Exception] = field(default_factory=list)
    """What `answer` raised: each call is refused for good, and the test fails when its server stops."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection until it closes."""
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while not writer.is_closing():
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                _, path, _ = head[0].split(" ")
                headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in head[1:] if line)}
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                if path in ("/plan", "/log", "/stats"):
                    writer.write(self._control(path, body))
                else:
                    await self._judge(path, headers, body, writer)
                await writer.drain()
        writer.transport.abort()

    def _control(self, path: str, body: bytes) -> bytes:
        if path == "/plan":
            self.plan = deque(json.loads(body))
            return build_http_response({})
        return build_http_response(
            self.requests if path == "/log" else {"calls": self.calls, "most_at_once": self.most_at_once}
        )

    async def _judge(self, path: str, headers: dict[str, str], raw: bytes, writer: asyncio.StreamWriter) -> None:
        body = json.loads(raw)
        step = self.plan.popleft() if self.plan else {}
        self.calls += 1
        if self.log:
            self.requests.append({"path": path, "headers": headers, "body": body})
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            if step.get("hang"):
                await asyncio.Event().wait()
            if delay := step.get("delay_ms", self.delay_ms):
                await asyncio.sleep(delay / 1000)
        finally:
            self.at_once -= 1
        if step.get("reset"):
            writer.transport.abort()
            return
        reply = self.reply(path, body, step)
        writer.write(reply[: -len(reply) // 3] if step.get("cut") else reply)
        if step.get("cut"):
            await writer.drain()
            writer.close()

    def reply(self, path: str, body: dict[str, Any], step: Step) -> bytes:
        """Return the whole HTTP response to a call, without its delays and broken connections."""
        status, headers = int(step.get("status", 200)), step.get("headers", {})
        if "body" in step:
            return build_http_response(step["body"], status, headers)
        if "error" in step or status != 200:
            return build_http_response(error_body(str(step.get("error", f"scripted {status}"))), status, headers)
        refused = next((each for each in sorted(self.refuses) if uses_parameter(body, each)), None)
        if refused is not None:
            message = f"Unsupported parameter: '{refused}' is not supported with this model."
            return build_http_response(error_body(message, refused), 400)
        anthropic = path.endswith("/messages")
        asked = parse_request(body, anthropic)
        try:
            said = step["content"] if "content" in step else self.answer(asked)
        except Exception as failure:  # noqa: BLE001  # a closed connection would be tried again, for seconds, and pass
            self.failures.append(failure)
            return build_http_response(error_body(f"the test has no answer: {failure!r}"), 400)
        return build_http_response(
            (build_anthropic_body if anthropic else build_openai_body)(asked, said, step), 200, headers
        )


def uses_parameter(body: dict[str, Any], parameter: str) -> bool:
    """Return whether a request uses a parameter; `json_schema` is a value of response_format."""
    if parameter == "json_schema":
        return bool((body.get("response_format") or {}).get("type") == "json_schema")
    return parameter in body


def parse_request(body: dict[str, Any], anthropic: bool) -> JudgeCall:
    """Return a request as the model sees it."""
    messages = [{"content": body["system"]}, *body["messages"]] if anthropic else body["messages"]
    text = "\n".join(str(message["content"]) for message in messages)
    fenced = FENCED.search(text)
    report = json.loads(fenced[1]) if fenced else {}
    form = body.get("response_format") or {}
    if "tools" in body:
        tool = body["tools"][0]
        return JudgeCall(
            body, text, report, tool["input_schema"] if anthropic else tool["function"]["parameters"], "tool"
        )
    if form.get("type") == "json_schema":
        return JudgeCall(body, text, report, form["json_schema"]["schema"], "json_schema")
    lines = [line for line in text.splitlines() if line.startswith("{") and '"additionalProperties"' in line]
    return JudgeCall(body, text, report, json.loads(lines[-1]) if lines else {}, form.get("type", "text"))


def build_openai_body(asked: JudgeCall, said: Any, step: Step) -> dict[str, Any]:
    """Return the body of a chat completion with this content."""
    text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
    message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": step.get("refusal")}
    finish = step.get("finish", "stop")
    if step.get("refusal"):
        message["content"] = None
    elif asked.how == "tool":
        name = asked.body["tools"][0]["function"]["name"]
        call = {"id": "call_1", "type": "function", "function": {"name": name, "arguments": text}}
        message, finish = message | {"content": None, "tool_calls": [call]}, step.get("finish", "tool_calls")
    usage = {"prompt_tokens": len(asked.text) // 4, "completion_tokens": len(text) // 4}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": f"{asked.body['model']}-2026-01-01",
        "system_fingerprint": "fp_scripted",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": usage | {"total_tokens": sum(usage.values())},
    }


def build_anthropic_body(asked: JudgeCall, said: Any, step: Step) -> dict[str, Any]:
    """Return the body of a message with this content; a text in reply to a tool call stays a text."""
    text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
    block: dict[str, Any] = {"type": "text", "text": text}
    stop = "end_turn"
    if asked.how == "tool" and not isinstance(said, str):
        block = {"type": "tool_use", "id": "toolu_1", "name": asked.body["tools"][0]["name"], "input": said}
        stop = "tool_use"
    refusal = step.get("refusal")
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": asked.body["model"],
        "content": [{"type": "text", "text": refusal}] if refusal else [block],
        "stop_reason": step.get("finish", "refusal" if refusal else stop),
        "stop_sequence": None,
        "usage": {"input_tokens": len(asked.text) // 4, "output_tokens": len(text) // 4},
    }


def error_body(message: str, parameter: str | None = None) -> dict[str, Any]:
    """Return the body of an error, as both protocols know it."""
    return {"type": "error", "error": {"message": message, "type": "scripted", "param": parameter, "code": None}}


def build_http_response(body: Any, status: int = 200, headers: dict[str, str] | None = None) -> bytes:
    """Return a whole HTTP response."""
    raw = body.encode() if isinstance(body, str) else json.dumps(body, ensure_ascii=False).encode()
    sent = {"content-type": "application/json", "content-length": str(len(raw)), **(headers or {})}
    lines = [f"HTTP/1.1 {status} X", *(f"{name}: {value}" for name, value in sent.items())]
    return "\r\n".join([*lines, "", ""]).encode() + raw


async def start_listening(server: JudgeServer, port: int = 0) -> asyncio.Server:
    """Start listening on loopback and store the address in `server`."""
    listening = await asyncio.start_server(server.serve, "127.0.0.1", port, limit=2**24, backlog=1024)
    server.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    return listening


@contextmanager
def judge_server(**settings: Any) -> Iterator[JudgeServer]:
    """Yield a server that runs in a thread; `settings` are fields of `JudgeServer`."""
    server, started = JudgeServer(**settings), threading.Event()
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()

    async def main() -> None:
        listening = await start_listening(server)
        started.set()
        await stop.wait()
        listening.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def run() -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(main())

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert started.wait(10)
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(10)
    for failure in server.failures:
        raise AssertionError(f"the judge of this test had no answer to {len(server.failures)} calls") from failure


async def _alone(arguments: argparse.Namespace) -> None:
    server = JudgeServer(delay_ms=arguments.delay_ms, log=arguments.log, refuses=frozenset(arguments.refuse))
    listening = await start_listening(server, arguments.port)
    print(server.url, flush=True)  # noqa: T201  # how the starter learns the address
    await listening.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--delay-ms", type=float, default=0.0)
    parser.add_argument("--log", action="store_true")
    parser.add_argument("--refuse", action="append", default=[])
    with suppress(KeyboardInterrupt):
        asyncio.run(_alone(parser.parse_args()))
