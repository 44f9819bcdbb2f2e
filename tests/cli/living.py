"""A small living system, its golden set and its settings, for the tests of the commands that measure one."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import msgspec

from assay.records.golden_set import Case, Evidence, User

CANARY = "canary-0123456789"
SYSTEM = f"""
import os
calls = []

def ask(question, user=None):
    calls.append(question)
    password = os.environ.get("DB_PASSWORD", "none")
    if os.environ.get("BREAK") and question in os.environ["BREAK"].split(","):
        raise RuntimeError("cannot reach https://me:{CANARY}@db with Bearer {CANARY} and " + password)
    return {{
        "answer": "yes, and the password is " + password,
        "stages": [{{"name": "retrieved", "chunks": [{{"chunk_id": "a", "text": password}}, "b"]}}],
        "citations": ["a"],
        "usage": {{"end_to_end_ms": 1.0, "cost_usd": 0.1}},
        "versions": {{"model": "1"}},
    }}

def other(question):
    return ask(question) | {{"stages": [{{"name": "retrieved", "chunks": ["x", "b"]}}]}}

def search(question, k):
    return ["a", "c"][:k]
"""
CASES = [
    Case("c0", "q0", evidence=(Evidence(({"chunk_id": "a"},)),), tags=("hr",), user=User(tenant="t")),
    Case("c1", "q1", evidence=(Evidence(({"chunk_id": "a"},)),)),
    Case("c2", "q2", evidence=(Evidence(({"chunk_id": "b"},)),), tags=("hr",)),
]
SETTINGS = """\
golden: golden.jsonl
targets:
  first: {type: python, call: "the_system:ask"}
  second: {type: python, call: "the_system:other", search: "the_system:search"}
gate:
  rules: [{metric: recall@10, at_least: 0.9}]
  configs: [first]
report: {markdown: out/report.md, json: out/report.json}
"""


def write_golden(path: Path, cases: list[Case]) -> None:
    lines = [msgspec.json.encode({"golden_set": {"name": "g", "schema_version": 1}}), *map(msgspec.json.encode, cases)]
    path.write_bytes(b"\n".join(lines) + b"\n")


def rows(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "observations.jsonl").read_bytes().splitlines()]


def calls() -> list[str]:
    return list(sys.modules["the_system"].calls)
