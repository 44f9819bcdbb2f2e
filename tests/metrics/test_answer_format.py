"""Format checks: patterns, JSON schemas and lengths that a case demands of its answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.cli import main
from assay.text.json_shape import check_schema, find_schema_faults

TICKET = {
    "type": "object",
    "properties": {"id": {"type": "string", "pattern": "^INC-\\d{4}$"}, "open": {"type": "boolean"}},
    "required": ["id"],
    "additionalProperties": False,
}


def score(folder: Path, capsys: pytest.CaptureFixture[str], wanted: dict[str, Any], answer: str, **case: Any) -> Any:
    """Return the case's scores by check, and the text that was printed where the golden set was refused."""
    golden, outputs, per_case = folder / "golden.jsonl", folder / "outputs.jsonl", folder / "cases.jsonl"
    row = {"id": "q", "question": "Which?", "reference": "x", "answer_format": wanted} | case
    header = {"golden_set": {"name": "g", "schema_version": 1}}
    golden.write_text(json.dumps(header) + "\n" + json.dumps(row) + "\n")
    outputs.write_text(json.dumps({"case_id": "q", "config_id": "a", "answer": answer}))
    checks = ("answer_format", *(f"answer_format(check={name})" for name in ("json_schema", "length", "pattern")))
    words = ["score", "--golden", str(golden), "--outputs", str(outputs), "--metrics", ",".join(checks)]
    status = main([*words, "--per-case", str(per_case)])
    printed = capsys.readouterr()
    if status:
        return printed.err
    scores = json.loads(per_case.read_bytes())["scores"]
    return tuple(scores[name] for name in checks)


@pytest.mark.parametrize(
    ("wanted", "answer", "scores"),
    [
        ({"pattern": "^\\d+ days$"}, " 12 days\n", (1, None, None, 1)),
        ({"pattern": "^\\d+ days$"}, "It is 12 days", (0, None, None, 0)),
        ({"max_words": 3, "min_chars": 2}, "one two three", (1, None, 1, None)),
        ({"max_words": 3}, "one two three four", (0, None, 0, None)),
        ({"min_chars": 5}, "four", (0, None, 0, None)),
        ({"json_schema": TICKET}, '{"id": "INC-2024", "open": true}', (1, 1, None, None)),
        ({"json_schema": TICKET}, '{"id": "INC-2024", "who": "An"}', (0, 0, None, None)),
        ({"json_schema": TICKET}, '```json\n{"id": "INC-2024"}\n```', (0, 0, None, None)),
        ({"json_schema": TICKET}, "[" * 100_000, (0, 0, None, None)),
        ({"json_schema": TICKET, "max_chars": 10}, '{"id": "INC-2024"}', (0, 1, 0, None)),
    ],
)
def test_each_check_has_a_score_where_it_is_demanded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], wanted: dict[str, Any], answer: str, scores: tuple[Any, ...]
) -> None:
    assert scores == score(tmp_path, capsys, wanted, answer)


def test_a_refusal_that_the_case_accepts_needs_no_form(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wanted, refusal = {"pattern": "^\\d+$"}, "I do not know."
    assert (0, None, None, 0) == score(tmp_path, capsys, wanted, refusal)
    assert (None,) * 4 == score(tmp_path, capsys, wanted, refusal, also_accept=["abstain"])


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"pattern": "(a"}, "answer_format.pattern: E_FORMAT not a pattern (got '(a': a ( without its )"),
        ({"min_words": 3, "max_words": 2}, "answer_format.max_words: E_FORMAT below its minimum (got 2"),
        (
            {"json_schema": {"minProperties": 1}},
            "json_schema.minProperties: E_FORMAT a keyword that is not checked",
        ),
        ({"json_schema": {"items": {"type": "int"}}}, "answer_format.json_schema.items.type: E_FORMAT no type"),
        ({}, "answer_format: E_FORMAT demands nothing"),
    ],
)
def test_what_cannot_be_checked_is_an_error_of_the_golden_set(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], wanted: dict[str, Any], message: str
) -> None:
    assert message in score(tmp_path, capsys, wanted, "x")


@pytest.mark.parametrize(
    ("schema", "value", "fits"),
    [
        ({"type": "integer"}, 2.0, True),
        ({"type": "integer"}, True, False),
        ({"type": ["string", "null"]}, None, True),
        ({"enum": [1, "a"]}, True, False),
        ({"const": {"a": [1]}}, {"a": [1]}, True),
        ({"minimum": 1, "exclusiveMaximum": 3}, 3, False),
        ({"minLength": 2, "maxLength": 3}, "éé", True),
        ({"items": {"type": "string"}, "maxItems": 2}, ["a", 1], False),
        ({"items": {"type": "string"}, "maxItems": 2}, ["a", "b", "c"], False),
        ({"anyOf": [{"type": "string"}, {"minimum": 5}]}, 6, True),
        ({"oneOf": [{"minimum": 1}, {"minimum": 5}]}, 6, False),
        ({"allOf": [{"minimum": 1}, {"maximum": 5}]}, 6, False),
        ({"not": {"type": "null"}}, None, False),
        ({"additionalProperties": {"type": "string"}}, {"a": 1}, False),
        (True, object(), True),
        (False, 1, False),
    ],
)
def test_schemas_mean_what_the_standard_says(schema: Any, value: Any, fits: bool) -> None:
    assert [] == list(find_schema_faults(schema, "s"))
    assert fits == (not list(check_schema(value, schema)))
