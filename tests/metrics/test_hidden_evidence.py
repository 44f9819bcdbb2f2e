"""A case that expects an answer from what its user may not see is named: no leak is found there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec import structs

from assay.cli import main
from assay.metrics.cases.hidden_evidence import find_hidden_evidence
from assay.records.golden_set import Case, Corpus, CorpusChunk, Evidence, GoldenSet, User

CORPUS = Corpus({"code": CorpusChunk("code", roles=("technician",)), "hours": CorpusChunk("hours")}, "sha256:0")
GUEST = User(roles=("guest",))


@pytest.mark.parametrize(
    ("user", "behaviour", "chunk_ids", "is_named"),
    [
        (GUEST, "answer", ["code"], True),
        (User(roles=("technician",)), "answer", ["code"], False),
        (None, "answer", ["code"], False),
        (GUEST, "permission_denied", ["code"], False),
        (GUEST, "answer", ["code", "hours"], True),
        (GUEST, "answer", ["hours", "hours"], False),
        (GUEST, "answer", ["unknown"], False),
    ],
)
def test_a_case_is_named_if_its_user_may_not_see_a_unit_of_its_evidence(
    user: User | None, behaviour: str, chunk_ids: list[str], is_named: bool
) -> None:
    evidence = tuple(Evidence(({"chunk_id": chunk_id},)) for chunk_id in chunk_ids)
    case = Case("door", "What is the code?", behaviour=behaviour, evidence=evidence, user=user)  # type: ignore[arg-type]  # a text
    problems = find_hidden_evidence(GoldenSet((case,)), CORPUS, "g.jsonl")
    assert is_named == bool(problems)
    assert all(problem.code == "E_ACCESS" and "its user may not see code" in problem.message for problem in problems)


@pytest.mark.parametrize(
    ("any_of", "is_named"),
    [
        (({"chunk_id": "code"}, {"chunk_id": "hours"}), False),
        (({"chunk_id": "code"}, {"chunk_id": "keys"}), True),
        (({"chunk_id": "code"}, {"document": "handout"}), False),
    ],
)
def test_a_unit_is_within_reach_if_its_user_may_see_one_chunk_that_covers_it(
    any_of: tuple[dict[str, str | int], ...], is_named: bool
) -> None:
    corpus = Corpus(CORPUS.chunks | {"keys": CorpusChunk("keys", tenant="owner")}, "sha256:1")
    optional = Evidence(({"chunk_id": "keys"},), required=False)
    case = Case("door", "What is the code?", evidence=(Evidence(any_of), optional), user=GUEST)
    problems = find_hidden_evidence(GoldenSet((case,)), corpus, "g.jsonl")
    assert is_named == bool(problems)
    assert all("may not see code, keys by the corpus, and it expects them" in problem.message for problem in problems)


TEXTS = Corpus(
    {
        "code": CorpusChunk(
            "code", text="The gate opens with 2208.", document="gates", section="Code", roles=("warden",)
        ),
        "copy": CorpusChunk("copy", text="Press the bell twice.", document="gates", section="Bell", roles=("warden",)),
        "bell": CorpusChunk("bell", text="Visitors press the bell twice.", document="visits", section="Bell"),
    },
    "sha256:2",
)


@pytest.mark.parametrize(
    ("any_of", "named"),
    [
        (({"quote": "the gate opens with 2208"},), "code"),
        (({"document": "gates"},), "code, copy"),
        (({"document": "gates", "section": "Code"}, {"document": "gates", "quote": "bell twice"}), "code, copy"),
        (({"quote": "press the bell twice"},), ""),  # a chunk that everybody sees has it too
        (({"section": "Bell"},), ""),
        (({"document": "gates"}, {"chunk_id": "bell"}), ""),
        (({"quote": "nothing has this"},), ""),
    ],
)
def test_evidence_that_is_told_by_its_words_or_its_document_is_looked_up(
    any_of: tuple[dict[str, str | int], ...], named: str
) -> None:
    case = Case("gate", "What opens the gate?", evidence=(Evidence(any_of),), user=GUEST)
    problems = find_hidden_evidence(GoldenSet((case,)), TEXTS, "g.jsonl")
    assert bool(named) == bool(problems)
    assert all(f"its user may not see {named} by the corpus" in problem.message for problem in problems)
    as_warden = structs.replace(case, user=User(roles=("warden",)))
    assert () == find_hidden_evidence(GoldenSet((as_warden,)), TEXTS, "g.jsonl")


def test_scoring_says_it_before_all_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "250")
    case = {"id": "door", "question": "What is the code?", "reference": "It is 4711.", "user": {"roles": ["guest"]}}
    rows = {
        "golden.jsonl": case | {"evidence": [{"chunk_id": "code"}]},
        "corpus.jsonl": {"chunk_id": "code", "text": "The code is 4711.", "roles": ["technician"]},
        "outputs.jsonl": {
            "id": "door",
            "answer": "It is 4711.",
            "retrieved": [{"id": "code", "text": "The code is 4711."}],
        },
    }
    for name, row in rows.items():
        (tmp_path / name).write_text(json.dumps(row) + "\n", encoding="utf-8")
    main(["score", "--golden", "golden.jsonl", "--outputs", "outputs.jsonl", "--corpus", "corpus.jsonl"])
    output = "".join(capsys.readouterr())
    first_note = next(line for line in output.splitlines() if line.startswith("note: "))
    assert "E_ACCESS its user may not see code by the corpus" in first_note
