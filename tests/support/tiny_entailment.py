"""A tiny entailment model: a table of logits for each word of premise and claim, added up. No model file is committed.

The file is written byte by byte, as ONNX describes it (protocol buffers), so that nothing but the runtime is needed.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

INT64, FLOAT = 7, 1
WORDS = (
    *("[unk]", "[cls]", "[sep]", "the", "leave", "in", "year", "is", "days", "canteen", "serves", "soup", "on"),
    *("mondays", "granted", "full", "not", "it", "broken", "."),
)
LABELS = {"0": "CONTRADICTION", "1": "neutral", "2": "Entailment"}
Weights = Mapping[tuple[str, int], Sequence[float]]
"""Logits (contradiction, neutral, entailment) by word and by segment: 0 is the premise, 1 the claim."""
USUAL: Weights = {
    ("days", 1): (0.0, 0.0, 2.3),
    ("leave", 0): (0.01, 0.0, 0.037),
    ("canteen", 1): (0.2, 1.5, -2.0),
    ("not", 1): (4.0, 0.0, -1.0),
    ("broken", 1): (float("nan"), 0.0, 0.0),
}


def write_model(
    folder: Path,
    weights: Weights = USUAL,
    *,
    labels: Mapping[str, str] = LABELS,
    outputs: int = 3,
    input_name: str = "input_ids",
    length: int = 64,
) -> Path:
    """Write model.onnx, tokenizer.json and config.json; needs the package tokenizers."""
    folder.mkdir(parents=True, exist_ok=True)
    table = [[0.0] * outputs for _ in range(2 * len(WORDS))]
    for (word, segment), logits in weights.items():
        table[WORDS.index(word) + segment * len(WORDS)] = [*logits][:outputs] + [0.0] * (outputs - len(logits))
    (folder / "model.onnx").write_bytes(encode_model(table, outputs, input_name))
    config: dict[str, Any] = {"id2label": dict(labels), "max_position_embeddings": length}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    special = [(1, "[cls]"), (2, "[sep]")]
    tokenizer: dict[str, Any] = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [_special("[cls]", 0), _sequence("A", 0), _special("[sep]", 0)],
            "pair": [
                *(_special("[cls]", 0), _sequence("A", 0), _special("[sep]", 0)),
                *(_sequence("B", 1), _special("[sep]", 1)),
            ],
            "special_tokens": {name: {"id": name, "ids": [number], "tokens": [name]} for number, name in special},
        },
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": {word: n for n, word in enumerate(WORDS)}, "unk_token": "[unk]"},
    }
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    return folder


def _special(name: str, segment: int) -> dict[str, Any]:
    return {"SpecialToken": {"id": name, "type_id": segment}}


def _sequence(name: str, segment: int) -> dict[str, Any]:
    return {"Sequence": {"id": name, "type_id": segment}}


def encode_model(table: Sequence[Sequence[float]], outputs: int, input_name: str = "input_ids") -> bytes:
    """Return a model that adds up the rows of a table over the tokens that the attention mask keeps."""
    flat = [value for row in table for value in row]
    nodes = [
        _node("Mul", ["token_type_ids", "words"], "shift"),
        _node("Add", [input_name, "shift"], "rows"),
        _node("Gather", ["table", "rows"], "logits_of_tokens"),
        _node("Cast", ["attention_mask"], "mask", _field(5, _text(1, "to") + _number(3, FLOAT) + _number(20, 2))),
        _node("Unsqueeze", ["mask", "last"], "mask_of_tokens"),
        _node("Mul", ["logits_of_tokens", "mask_of_tokens"], "kept"),
        _node(
            "ReduceSum",
            ["kept", "first"],
            "logits",
            _field(5, _text(1, "keepdims") + _number(3, 0) + _number(20, 2)),
        ),
    ]
    tensors = [
        _tensor("words", INT64, [], struct.pack("<q", len(WORDS))),
        _tensor("table", FLOAT, [len(table), outputs], struct.pack(f"<{len(flat)}f", *flat)),
        _tensor("last", INT64, [1], struct.pack("<q", 2)),
        _tensor("first", INT64, [1], struct.pack("<q", 1)),
    ]
    graph = (
        b"".join(_field(1, node) for node in nodes) + _text(2, "tiny") + b"".join(_field(5, each) for each in tensors)
    )
    for name in (input_name, "attention_mask", "token_type_ids"):
        graph += _field(11, _value(name, INT64, ["batch", "length"]))
    graph += _field(12, _value("logits", FLOAT, ["batch", outputs]))
    return _number(1, 8) + _field(7, graph) + _field(8, _text(1, "") + _number(2, 13))


def _varint(number: int) -> bytes:
    encoded = bytearray()
    while number > 127:
        encoded.append(number & 127 | 128)
        number >>= 7
    return bytes([*encoded, number])


def _tag(field: int, kind: int) -> bytes:
    return _varint(field << 3 | kind)


def _number(field: int, value: int) -> bytes:
    return _tag(field, 0) + _varint(value)


def _field(field: int, content: bytes) -> bytes:
    return _tag(field, 2) + _varint(len(content)) + content


def _text(field: int, text: str) -> bytes:
    return _field(field, text.encode())


def _node(kind: str, inputs: Sequence[str], output: str, attributes: bytes = b"") -> bytes:
    return b"".join(_text(1, name) for name in inputs) + _text(2, output) + _text(4, kind) + attributes


def _tensor(name: str, kind: int, shape: Sequence[int], content: bytes) -> bytes:
    return b"".join(_number(1, size) for size in shape) + _number(2, kind) + _text(8, name) + _field(9, content)


def _value(name: str, kind: int, shape: Sequence[str | int]) -> bytes:
    sizes = [_text(2, size) if isinstance(size, str) else _number(1, size) for size in shape]
    dimensions = b"".join(_field(1, size) for size in sizes)
    return _text(1, name) + _field(2, _field(1, _number(1, kind) + _field(2, dimensions)))
