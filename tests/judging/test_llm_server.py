"""A judge over a real model server: `ASSAY_LLM_PYTHON=…/python pytest -m llm_server`, where that Python has the
packages `llama-cpp-python[server]` and `gguf`. The model is noise of two layers: only the protocol is tested."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import pytest
from tests.judging.asking import RUBRICS, relevance_request

from assay.judging.http_client import HttpTransport
from assay.judging.llm_judge import LLMJudge, build_judge_identity
from assay.records.verdicts import Verdict

pytestmark = pytest.mark.llm_server
SECONDS = 120.0


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    python = os.environ.get("ASSAY_LLM_PYTHON")
    if python is None:
        pytest.skip("ASSAY_LLM_PYTHON names no Python with llama-cpp-python[server] and gguf")
    model = str(tmp_path_factory.mktemp("model") / "tiny.gguf")
    subprocess.run([python, str(Path(__file__).parents[1] / "support" / "tiny_model.py"), model], check=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [python, "-m", "llama_cpp.server", "--model", model, "--host", "127.0.0.1", "--port", str(port)]
    server = subprocess.Popen([*command, "--n_ctx", "8192"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait(server, f"http://127.0.0.1:{port}/v1/models")
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        server.wait(30)


def _wait(server: subprocess.Popen[bytes], address: str) -> None:
    deadline = monotonic() + SECONDS
    while monotonic() < deadline and server.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            pass
    pytest.fail("the model server did not start")


def _asked(endpoint: str, times: int) -> list[Verdict]:
    async def ask() -> list[Verdict]:
        transport = HttpTransport(4, SECONDS)
        identity = build_judge_identity("openai", "tiny", "local", max_tokens=300)
        judge = LLMJudge(identity, RUBRICS, transport.send, base_url=endpoint, close=transport.aclose)
        try:
            return [await judge.ask(relevance_request(), 0) for _ in range(times)]
        finally:
            await judge.aclose()

    return asyncio.run(ask())


def test_a_server_without_structured_output_is_asked_by_a_forced_tool_call(endpoint: str) -> None:
    """It answers 500 to a schema; the next step is remembered, so the second verdict takes a call less."""
    first, second = _asked(endpoint, 2)
    assert "mode:tool" in first.flags
    assert first.usage.attempts == second.usage.attempts + 1
    assert first.usage.prompt_tokens > 1000


def test_noise_in_the_right_form_is_no_verdict(endpoint: str) -> None:
    """The model fills every text, also the one that must stay empty: a judge that does so did not follow its rules."""
    first, second = _asked(endpoint, 2)
    assert ("judge_parse", "echo is not the empty text") == (first.unscored, first.message)
    assert () == first.items
    assert (first.unscored, first.message) == (second.unscored, second.message)
