"""The questions of the depot with what is expected, in every kind that a golden set knows.

`values` are what a true answer must say, as plain text of the answer that the sound pipeline gives or of the documents;
the benchmark tells good answers by them and not by Assay.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

import msgspec
from msgspec import Struct

from assay.records.golden_set import Behaviour, Case, Evidence, GoldenSet, Rubric, User
from benchmarks.depot.documents import TODAY

Kind = Literal["facts", "keywords", "all", "number", "reference"]
KINDS: tuple[Kind, ...] = get_args(Kind)


class Question(Struct, frozen=True, forbid_unknown_fields=True):
    """A question: the chunks that hold the answer, the values of a true answer, and a reference in other words.

    `kind` says what the case states: must-have facts, any or all keywords, a number, or a reference alone.
    """

    case_id: str
    text: str
    chunks: tuple[str, ...]
    values: tuple[str, ...]
    reference: str = ""
    kind: Kind = "facts"
    roles: tuple[str, ...] = ()
    tenant: str | None = None
    behaviour: Behaviour = "answer"


QUESTIONS: tuple[Question, ...] = tuple(
    msgspec.json.decode(line, type=Question)
    for line in Path(__file__).with_name("questions.jsonl").read_bytes().splitlines()
)
"""Tables (t), limits of use (p), prices (c), news (n), editions (e), what has no answer (u), and what is denied (d)."""
_TWINS = frozenset(("guide.kestrel-40", "guide.lynx-5", "guide.otter-2200"))


def make_user(question: Question) -> User:
    """Return the user of a question."""
    return User(tenant=question.tenant, roles=question.roles, as_of=TODAY)


def make_case(question: Question) -> Case:
    """Return the case of a question; chunks that repeat each other cover one unit."""
    twins = [name for name in question.chunks if name in _TWINS]
    others = [name for name in question.chunks if name not in _TWINS]
    units = []
    for name in others:
        covering = (name, *twins)
        units.append(Evidence(any_of=tuple({"chunk_id": chunk_id} for chunk_id in covering)))
    must_have: tuple[str, ...] = ()
    rubric = None
    if question.kind == "facts" and question.behaviour == "answer":
        must_have = question.values
    elif question.kind in ("keywords", "all"):
        rubric = Rubric(correct_keywords=question.values, match="all" if question.kind == "all" else "any")
    elif question.kind == "number":
        rubric = Rubric(kind="number")
    return Case(
        question.case_id,
        question.text,
        behaviour=question.behaviour,
        reference=question.reference or None,
        must_have=must_have,
        rubric=rubric,
        evidence=tuple(units),
        user=make_user(question),
        language="en",
    )


def build_golden() -> GoldenSet:
    """Return the golden set of the depot."""
    return GoldenSet(tuple(map(make_case, QUESTIONS)), name="depot", as_of=TODAY)
