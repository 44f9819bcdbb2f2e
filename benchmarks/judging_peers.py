"""The same judgement with other tools, each used as its documentation shows, for `benchmarks.judging --peers`.

    python -m benchmarks.judging_peers NAME URL COUNT CONCURRENCY

Runs in its own environment without Assay. The endpoint answers at once, in the form that each tool expects, so that
the times are the cost of the tool.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import json
import os
import sys
import threading
import time
import urllib.request
from collections.abc import Awaitable, Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "bench-1"
KEY = "no-key-is-needed"
Spent = tuple[float, float]
"""Wall and CPU seconds."""
TASK = "Is every claim of the answer supported by the context?"


def passages(number: int) -> tuple[str, str, list[str]]:
    """Return a question, an answer and three passages of context; every number gives another text."""
    question = f"How many days of annual leave does a member of staff get in year {number}?"
    answer = f"A member of staff gets {number % 30 + 10} days of annual leave in year {number}."
    passage = (
        f"In year {number} every member of staff gets {number % 30 + 10} days of annual leave. Days that are not taken "
        "lapse at the end of March, unless the head of department agrees in writing. Part-time staff get a share. "
    )
    return question, answer, [f"{place}. {passage * 2}" for place in range(3)]


async def pooled(count: int, concurrency: int, ask: Callable[[int], Awaitable[Any]]) -> Spent:
    """Ask so many times, so many at once; the first connection and late imports are not what is compared."""
    await ask(count)
    wall, cpu = time.perf_counter(), time.process_time()
    numbers = iter(range(count))

    async def work() -> None:
        for number in numbers:
            await ask(number)

    await asyncio.gather(*(work() for _ in range(concurrency)))
    return time.perf_counter() - wall, time.process_time() - cpu


def openevals(url: str, count: int, concurrency: int) -> Spent:
    """LLM-as-judge with a prompt of one line."""
    from langchain_openai import ChatOpenAI  # type: ignore[import-not-found, unused-ignore]
    from openevals.llm import create_async_llm_as_judge  # type: ignore[import-not-found, unused-ignore]

    model = ChatOpenAI(model=MODEL, base_url=url, api_key=KEY, max_retries=0)
    prompt = TASK + "\n{context}\n{inputs}\n{outputs}"
    judge = create_async_llm_as_judge(prompt=prompt, feedback_key="support", judge=model, use_reasoning=True)

    async def ask(number: int) -> None:
        question, answer, context = passages(number)
        found = await judge(inputs=question, outputs=answer, context="\n".join(context))
        assert "score" in found

    return asyncio.run(pooled(count, concurrency, ask))


def pydantic_evals(url: str, count: int, concurrency: int) -> Spent:
    """`judge_input_output` with one model for all calls."""
    from pydantic_ai.models.openai import OpenAIChatModel  # type: ignore[import-not-found, unused-ignore]
    from pydantic_ai.providers.openai import OpenAIProvider  # type: ignore[import-not-found, unused-ignore]
    from pydantic_evals.evaluators.llm_as_a_judge import (  # type: ignore[import-not-found, unused-ignore]
        judge_input_output,
    )

    model = OpenAIChatModel(MODEL, provider=OpenAIProvider(base_url=url, api_key=KEY))

    async def ask(number: int) -> None:
        question, answer, context = passages(number)
        await judge_input_output("\n".join([*context, question]), answer, TASK, model)

    return asyncio.run(pooled(count, concurrency, ask))


def inspect_ai(url: str, count: int, concurrency: int) -> Spent:
    """A task whose solver gives the answer and whose scorer is `model_graded_qa`."""
    import tempfile

    import inspect_ai as inspect  # type: ignore[import-not-found, unused-ignore]
    from inspect_ai.dataset import Sample  # type: ignore[import-not-found, unused-ignore]
    from inspect_ai.model import ModelOutput, get_model  # type: ignore[import-not-found, unused-ignore]
    from inspect_ai.scorer import model_graded_qa  # type: ignore[import-not-found, unused-ignore]
    from inspect_ai.solver import solver  # type: ignore[import-not-found, unused-ignore]

    @solver  # type: ignore[untyped-decorator, unused-ignore]
    def recorded() -> Any:
        async def solve(state: Any, generate: Any) -> Any:
            state.output = ModelOutput.from_content(MODEL, state.metadata["answer"])
            return state

        return solve

    samples = []
    for number in range(count):
        question, answer, context = passages(number)
        samples.append(Sample(input="\n".join([*context, question]), target=answer, metadata={"answer": answer}))
    judge = get_model(f"openai/{MODEL}", base_url=url, api_key=KEY, responses_api=False)

    def run(some: list[Any]) -> None:
        task = inspect.Task(dataset=some, solver=recorded(), scorer=model_graded_qa(model=judge))
        with tempfile.TemporaryDirectory() as logs:
            limits = {"max_connections": concurrency, "max_samples": concurrency}
            found = inspect.eval(task, model=judge, display="none", log_dir=logs, **limits)
            assert found[0].status == "success", found[0].error

    run(samples[:1])
    wall, cpu = time.perf_counter(), time.process_time()
    run(samples)
    return time.perf_counter() - wall, time.process_time() - cpu


def ragas(url: str, count: int, concurrency: int) -> Spent:
    """`AspectCritic`, one call for each sample."""
    from openai import AsyncOpenAI  # type: ignore[import-not-found, unused-ignore]
    from ragas.dataset_schema import SingleTurnSample  # type: ignore[import-not-found, unused-ignore]
    from ragas.llms import llm_factory  # type: ignore[import-not-found, unused-ignore]
    from ragas.metrics import AspectCritic  # type: ignore[import-not-found, unused-ignore]

    critic = AspectCritic(
        name="support", definition=TASK, llm=llm_factory(MODEL, client=AsyncOpenAI(base_url=url, api_key=KEY))
    )

    async def ask(number: int) -> None:
        question, answer, context = passages(number)
        sample = SingleTurnSample(user_input=question, response=answer, retrieved_contexts=context)
        await critic.single_turn_ascore(sample)

    return asyncio.run(pooled(count, concurrency, ask))


def deepeval(url: str, count: int, concurrency: int) -> Spent:
    """`GEval` with its steps given, one call for each case."""
    os.environ |= {"DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "OPENAI_API_KEY": KEY}
    from deepeval.metrics import GEval  # type: ignore[import-not-found, unused-ignore]
    from deepeval.models import GPTModel  # type: ignore[import-not-found, unused-ignore]
    from deepeval.test_case import LLMTestCase, LLMTestCaseParams  # type: ignore[import-not-found, unused-ignore]

    model = GPTModel(model="gpt-4.1", base_url=url, api_key=KEY)
    params = [LLMTestCaseParams.INPUT, LLMTestCaseParams.ACTUAL_OUTPUT, LLMTestCaseParams.RETRIEVAL_CONTEXT]

    async def ask(number: int) -> None:
        question, answer, context = passages(number)
        metric = GEval(name="support", evaluation_steps=[TASK], evaluation_params=params, model=model)
        case = LLMTestCase(input=question, actual_output=answer, retrieval_context=context)
        await metric.a_measure(case, _show_indicator=False)

    return asyncio.run(pooled(count, concurrency, ask))


NAMES: dict[str, tuple[str, Callable[[str, int, int], Spent]]] = {
    "openevals": ("openevals", openevals),
    "pydantic-evals": ("pydantic-evals", pydantic_evals),
    "inspect_ai": ("inspect-ai", inspect_ai),
    "ragas": ("ragas", ragas),
    "deepeval": ("deepeval", deepeval),
}
"""The contenders by name, with the distribution that holds each."""


# ── an endpoint that says what each tool wants to read ───────────────────────────────────────────────────────────


def filled(schema: Any, defs: dict[str, Any]) -> Any:
    """Return a value that fits a JSON schema: true, 1, a short text, or the first of what is allowed."""
    if "$ref" in schema:
        return filled(defs[schema["$ref"].rpartition("/")[2]], defs)
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    if "enum" in schema:
        return schema["enum"][0]
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return filled(schema[key][0], defs)
    kind = schema.get("type", "object")
    if kind == "object":
        return {name: filled(member, defs) for name, member in schema.get("properties", {}).items()}
    if kind == "array":
        return [filled(schema.get("items", {"type": "string"}), defs)]
    return {"boolean": True, "integer": 1, "number": 1.0, "null": None}.get(kind, "as the context says")


def said(body: dict[str, Any]) -> dict[str, Any]:
    """Return the message of a model: its form is the schema or the tool of the request, else free text."""
    form = (body.get("response_format") or {}).get("json_schema") or {}
    if body.get("tools"):
        function = body["tools"][0]["function"]
        schema = function["parameters"]
        call = {"name": function["name"], "arguments": json.dumps(filled(schema, schema.get("$defs", {})))}
        tool = {"id": "call_1", "type": "function", "function": call}
        return {"role": "assistant", "content": None, "tool_calls": [tool]}
    if form:
        schema = form["schema"]
        return {"role": "assistant", "content": json.dumps(filled(schema, schema.get("$defs", {})))}
    text = json.dumps(body["messages"])
    wants_json = "JSON" in text or "json" in text
    fields = {"reason": "as the context says", "score": 9, "verdict": 1}
    return {"role": "assistant", "content": json.dumps(fields) if wants_json else "The answer is right.\n\nGRADE: C"}


class Endpoint(BaseHTTPRequestHandler):
    """Chat completions at 0 ms."""

    protocol_version = "HTTP/1.1"
    calls = 0

    def do_GET(self) -> None:
        """Say how many calls there were."""
        self._send(str(Endpoint.calls).encode())

    def do_POST(self) -> None:
        """Answer one request."""
        Endpoint.calls += 1
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        message = said(body)
        choice = {
            "index": 0,
            "message": message,
            "finish_reason": "tool_calls" if message.get("tool_calls") else "stop",
        }
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        reply = {"id": "1", "object": "chat.completion", "created": 1, "model": body["model"], "choices": [choice]}
        raw = json.dumps(reply | {"usage": usage}).encode()
        with suppress(ConnectionError):  # a tool may go without reading
            self._send(raw)

    def _send(self, raw: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def calls(url: str) -> int:
    """Return how many calls the endpoint has answered."""
    with urllib.request.urlopen(url) as reply:
        return int(reply.read())


class Listener(ThreadingHTTPServer):
    """A server for many connections at once, of which some are given up."""

    request_queue_size = 1024

    def handle_error(self, *_: Any) -> None:
        """Say nothing: the tool that gave up says it."""


def serve() -> None:
    """Serve on loopback until standard input ends, after printing the address."""
    server = Listener(("127.0.0.1", 0), Endpoint)
    print(f"http://127.0.0.1:{server.server_address[1]}/v1", flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()


def main() -> int:
    """Run one contender and print its figures, or why it was left out."""
    if sys.argv[1] == "serve":
        serve()
        return 0
    name, url, count, concurrency = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    distribution, contender = NAMES[name]
    try:
        version = importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        print("left out: not installed in that environment")
        return 0
    before = calls(url)
    wall, cpu = contender(url, count, concurrency)
    each = (calls(url) - before) / (count + 1)
    print(f"{version}: {wall:.2f} s, {cpu * 1000 / count:.2f} CPU s per 1,000, {each:.2f} calls for each")
    return 0


if __name__ == "__main__":
    sys.exit(main())
