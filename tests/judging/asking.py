"""Requests, judges and replies that the tests of judging share; the endpoint is a function, no socket is opened."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from typing import Any

from tests.support.judge_server import JudgeServer

from assay.judging.llm_judge import LLMJudge, build_judge_identity
from assay.judging.prompt import RenderedRequest, render_request
from assay.judging.provider import HttpReply, HttpRequest, SendRequest
from assay.judging.rubric_files import load_rubrics
from assay.records.verdicts import JudgeRequest, JudgeRubric, Verdict

RUBRICS = load_rubrics()
SUPPORT = RUBRICS["support", "en"]
KEY = "sk-test-0123456789abcdefghij"
JUDGE = "sha256:" + "0" * 64

CLAIMS = [{"id": "c1", "text": "Notice is 30 days."}, {"id": "c2", "text": "Interns have no notice."}]
CONTEXT = [
    {"id": "hr#1", "text": "The period of notice is 30 days."},
    {"id": "hr#2", "text": "Interns leave whenever they like."},
]


def request_for(rubric: JudgeRubric, inputs: dict[str, Any], items: tuple[str, ...] = ("answer",)) -> JudgeRequest:
    """Return a request under a rubric."""
    labels = tuple(label.name for label in rubric.labels)
    return JudgeRequest(rubric.name, rubric.version, rubric.hash, rubric.language, inputs, items, labels, rubric.quotes)


def support_request(**changed: Any) -> JudgeRequest:
    """Return two claims against two passages."""
    inputs = {"claims": CLAIMS, "question": "How long is notice?", "context": CONTEXT, **changed}
    return request_for(SUPPORT, inputs, tuple(entry["id"] for entry in inputs["claims"]))


def relevance_request(answer: str = "Thirty days.", question: str = "How long is notice?") -> JudgeRequest:
    """Return a request about an answer as a whole."""
    return request_for(RUBRICS["relevance", "en"], {"answer": answer, "question": question})


def rendered(request: JudgeRequest, sample: int = 0) -> RenderedRequest:
    """Return a request as a judge sees it."""
    return render_request(request, RUBRICS[request.rubric, request.language], JUDGE, sample)


def sending(server: JudgeServer) -> SendRequest:
    """Return a `SendRequest` that lets the scripted server reply without a connection, and keeps what was sent."""

    async def send(request: HttpRequest) -> HttpReply:
        step = server.plan.popleft() if server.plan else {}
        body = json.loads(request.body)
        server.requests.append({"path": request.url, "headers": dict(request.headers), "body": body})
        head, _, content = server.reply(request.url, body, step).partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in lines[1:])
        return HttpReply(int(lines[0].split(" ")[1]), headers, content, 2.0)

    return send


def judge(server: JudgeServer, protocol: str = "openai", **more: Any) -> LLMJudge:
    """Return a judge of the shipped rubrics behind a scripted server."""
    identity = build_judge_identity(protocol, "scripted-1", "local")
    return LLMJudge(identity, RUBRICS, sending(server), base_url="http://judge.test", api_key=KEY, **more)


def ask(asked: LLMJudge, request: JudgeRequest, sample: int = 0) -> Verdict:
    """Return one verdict."""
    return asyncio.run(asked.ask(request, sample))


def server(*plan: dict[str, Any], **settings: Any) -> JudgeServer:
    """Return a server that follows a plan, then answers."""
    return JudgeServer(plan=deque(plan), **settings)


def sent(by: JudgeServer) -> list[dict[str, Any]]:
    """Return the bodies that arrived."""
    return [request["body"] for request in by.requests]
