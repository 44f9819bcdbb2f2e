"""The handbook application with models of your own: embeddings and chat from a server, embeddings from a directory."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from examples.handbook.app.chat import ChatAnswerer
from examples.handbook.app.embedding import HashedTrigrams, RemoteEmbeddings, from_spec
from examples.handbook.app.endpoint import Endpoint, EndpointError
from examples.handbook.app.parts import Parts
from examples.handbook.app.pipeline import Handbook

EMPLOYEE = {"tenant": "company_a", "roles": ["employee"]}
QUESTION = "Mật khẩu phải dài tối thiểu bao nhiêu ký tự?"
Reply = dict[str, Any]


class ModelServer(HTTPServer):
    """Answers with what the test puts into `status` and `text`, and keeps what it was sent."""

    status = 200
    text = ""
    vectors: Reply | None = None

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[tuple[str, str | None, Reply]] = []

    def endpoint(self, key_variable: str = "") -> Endpoint:
        return Endpoint("test-model", f"http://127.0.0.1:{self.server_address[1]}/v1", key_variable)


class _Handler(BaseHTTPRequestHandler):
    server: ModelServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.requests.append((self.path, self.headers.get("authorization"), body))
        if self.path.endswith("/embeddings"):
            rows = HashedTrigrams().embed(body["input"])
            # Last first: the index says to which text a vector belongs.
            embeddings = [{"index": number, "embedding": row.tolist()} for number, row in enumerate(rows)][::-1]
            reply: Reply = self.server.vectors or {"data": embeddings}
        else:
            reply = {"choices": [{"message": {"content": self.server.text}}], "usage": {"prompt_tokens": 7}}
        self.send_response(self.server.status)
        if self.server.status == 302:
            self.send_header("Location", "http://127.0.0.1:1/elsewhere")
        self.end_headers()
        self.wfile.write(json.dumps(reply).encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def test_embeddings_of_a_server_rank_as_the_same_vectors_made_here(server: ModelServer) -> None:
    remote = Handbook("vector-only", parts=Parts(embedder=RemoteEmbeddings(server.endpoint())))
    local = Handbook("vector-only")
    one, other = (each.ask(QUESTION, EMPLOYEE) for each in (remote, local))
    assert [chunk["chunk_id"] for chunk in other["stages"][0]["chunks"]] == [
        chunk["chunk_id"] for chunk in one["stages"][0]["chunks"]
    ]
    assert "test-model" == one["versions"]["embedding"]
    assert [95, 1] == [len(body["input"]) for _, _, body in server.requests]


def test_a_chat_model_answers_from_numbered_sources_and_is_cited_by_them(server: ModelServer) -> None:
    server.text = "Tối thiểu 14 ký tự. [1] Xem thêm nguồn khác [99]."
    application = Handbook(
        "hybrid-rerank", parts=Parts(generate=ChatAnswerer(server.endpoint())), generator="test-model"
    )
    observation = application.ask(QUESTION, EMPLOYEE)
    assert "Tối thiểu 14 ký tự. Xem thêm nguồn khác." == observation["answer"]
    assert ["it_security_policy:v2026-02:003"] == observation["citations"]
    assert [["it_security_policy:v2026-02:003"], []] == [sentence["citations"] for sentence in observation["sentences"]]
    assert (7, False) == (observation["usage"]["prompt_tokens"], "cost_usd" in observation["usage"])
    path, _, body = server.requests[0]
    assert ("/v1/chat/completions", 0) == (path, body["temperature"])
    assert "tối thiểu 14 ký tự" in body["messages"][1]["content"]


def test_a_chat_model_that_finds_nothing_abstains_and_is_never_asked_what_the_user_may_not_know(
    server: ModelServer,
) -> None:
    server.text = "NOT_FOUND"
    application = Handbook("hybrid-rerank", parts=Parts(generate=ChatAnswerer(server.endpoint())))
    assert "abstain" == application.ask(QUESTION, EMPLOYEE)["behaviour"]
    assert 1 == len(server.requests)
    assert "permission_denied" == application.ask("Khung lương nội bộ áp dụng từ ngày nào?", EMPLOYEE)["behaviour"]
    assert 1 == len(server.requests)


def test_the_key_comes_from_the_environment_and_stands_in_no_error(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint = server.endpoint("HANDBOOK_TEST_KEY")
    with pytest.raises(EndpointError, match="HANDBOOK_TEST_KEY holds no key"):
        endpoint.post("/embeddings", {"input": ["x"]})
    monkeypatch.setenv("HANDBOOK_TEST_KEY", "s3cret")
    endpoint.post("/embeddings", {"input": ["x"]})
    assert "Bearer s3cret" == server.requests[0][1]
    for status in (401, 500, 302):
        server.status = status
        with pytest.raises(EndpointError, match=f"HTTP {status}") as error:
            endpoint.post("/embeddings", {"input": ["x"]})
        assert "s3cret" not in str(error.value)
        assert error.value.__cause__ is None


@pytest.mark.parametrize("data", [None, [], [{"index": 0, "embedding": [float("nan")]}], [{"index": 0}]])
def test_a_reply_without_one_vector_for_each_text_is_an_error(server: ModelServer, data: Any) -> None:
    server.vectors = {"data": data}
    with pytest.raises(EndpointError, match=r"test-model: the reply (holds no|does not hold)"):
        RemoteEmbeddings(server.endpoint()).embed(["x"])


def test_a_server_that_is_not_there_is_named() -> None:
    with pytest.raises(EndpointError, match=re.escape("m at http://127.0.0.1:1/v1: ")):
        Endpoint("m", "http://127.0.0.1:1/v1").post("/embeddings", {"input": ["x"]})


@pytest.mark.parametrize("spec", ["", "dir:", "openai:", "openai:model", "openai:model@ftp://x", "minilm"])
def test_an_unreadable_embedding_is_refused(spec: str) -> None:
    with pytest.raises(ValueError, match=r"unknown embedding|unreadable endpoint"):
        from_spec(spec)


# ── a directory ──────────────────────────────────────────────────────────────────────────────────────────────────

WIDTH, INNER, HEADS, LAYERS = 4, 8, 2, 1


def write_model(directory: Path, vocabulary: dict[str, int]) -> None:
    """Write a model of one layer whose attention and feed-forward parts add nothing, so that its vectors are known."""
    tokenizers = pytest.importorskip("tokenizers", reason="reading a model directory needs the package tokenizers")
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))
    words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    words.save(str(directory / "tokenizer.json"))
    (directory / "config.json").write_text(json.dumps({"num_attention_heads": HEADS, "num_hidden_layers": LAYERS}))
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.position_embeddings.weight": (256, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
        "encoder.layer.0.intermediate.dense.weight": (INNER, WIDTH),
        "encoder.layer.0.intermediate.dense.bias": (INNER,),
        "encoder.layer.0.output.dense.weight": (WIDTH, INNER),
        "encoder.layer.0.output.dense.bias": (WIDTH,),
    }
    for name in ("self.query", "self.key", "self.value", "output.dense"):
        shapes |= {f"encoder.layer.0.attention.{name}.weight": (WIDTH, WIDTH)}
        shapes |= {f"encoder.layer.0.attention.{name}.bias": (WIDTH,)}
    tensors = {name: np.zeros(shape, dtype="<f4") for name, shape in shapes.items()}
    tensors["embeddings.word_embeddings.weight"] = np.eye(len(vocabulary), WIDTH, dtype="<f4")
    for name in ("embeddings", "encoder.layer.0.attention.output", "encoder.layer.0.output"):
        tensors |= {f"{name}.LayerNorm.weight": np.ones(WIDTH, "<f4"), f"{name}.LayerNorm.bias": np.zeros(WIDTH, "<f4")}
    header, tensor_bytes = {}, b""
    for name, tensor in tensors.items():
        header[name] = {
            "dtype": "F32",
            "shape": tensor.shape,
            "data_offsets": [len(tensor_bytes), len(tensor_bytes) + tensor.nbytes],
        }
        tensor_bytes += tensor.tobytes()
    text = json.dumps(header).encode()
    (directory / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + tensor_bytes)


def test_a_model_directory_gives_the_mean_of_its_normalised_token_vectors(tmp_path: Path) -> None:
    write_model(tmp_path, {"[UNK]": 0, "leave": 1, "sick": 2, "days": 3})
    vectors = from_spec(f"dir:{tmp_path}").embed(["leave", "sick leave", "sick leave days leave"])
    # LayerNorm of a one-hot row of width 4 is (3, -1, -1, -1)/sqrt(3), already of mean 0 and variance 1 afterwards;
    # the mean of two such rows is (-1, 1, 1, -1)/sqrt(3), and of length 1 it is (-1, 1, 1, -1)/2.
    assert [-0.5, 0.5, 0.5, -0.5] == pytest.approx(vectors[1].tolist(), abs=1e-6)
    assert (np.array([-1, 3, -1, -1]) / np.sqrt(12)).tolist() == pytest.approx(vectors[0].tolist(), abs=1e-6)
    # Counts 0, 2, 1, 1 of four tokens: (-4, 4, 0, 0)/4, whose length is sqrt(2).
    assert [-np.sqrt(0.5), np.sqrt(0.5), 0, 0] == pytest.approx(vectors[2].tolist(), abs=1e-6)
