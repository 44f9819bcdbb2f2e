"""A server that sends one reply too many on a connection: the surplus is never the answer to another case."""

from __future__ import annotations

import asyncio

from assay.calls.interfaces import TargetCall
from assay.records.golden_set import Case
from assay.records.settings import HttpTargetSettings
from assay.targets.http import HttpTarget


def reply_with(text: str) -> bytes:
    body = f'{{"answer": "{text}"}}'.encode()
    return b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body)


async def answer_twice(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer each request with its own body, and then again with a reply that nobody asked for."""
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            lengths = [
                line.split(b":")[1] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")
            ]
            question = (await reader.readexactly(int(lengths[0]))).decode().split('"')[3]
            writer.write(reply_with(question) + reply_with("surplus"))
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def ask_in_turn(questions: list[str]) -> list[str | None]:
    server = await asyncio.start_server(answer_twice, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    target = HttpTarget("t", HttpTargetSettings(f"http://127.0.0.1:{port}/"), 1, typed=True)
    try:
        return [str((await target.observe(TargetCall(Case(name, name), "ask", 5.0, 10))).answer) for name in questions]
    finally:
        await target.aclose()
        await asyncio.sleep(0.05)  # lets the server close its ends
        server.close()


def test_a_surplus_reply_is_not_the_answer_of_the_next_case() -> None:
    questions = [f"q{number}" for number in range(6)]
    assert questions == asyncio.run(ask_in_turn(questions))
