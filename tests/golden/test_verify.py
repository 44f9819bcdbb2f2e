"""`golden verify`: what a live index shows of each kind of case, over a function, HTTP and MCP."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.golden.test_lint import CORPUS, HANDBOOK

from assay import golden
from assay.cli import main
from assay.formats.golden_files import load_golden
from assay.golden.verification import VerificationReport
from assay.records.digest import compute_text_digest
from assay.records.errors import IncompleteError

AT = "2026-11-23T08:00:00+00:00"
TEXTS = {
    "leave:1": "Staff have 12 days of leave a year.",
    "pay:1": "Grade E5 earns 900 dollars.",
    "page:9": "In chapter nine the butler confesses.",
}
CHUNKS: list[dict[str, Any]] = [
    {"chunk_id": "leave:1", "text": TEXTS["leave:1"]},
    {"chunk_id": "pay:1", "text": TEXTS["pay:1"], "roles": ["finance"]},
    {"chunk_id": "page:9", "text": TEXTS["page:9"], "position": 9, "position_scope": "novel"},
]
LEAVE: dict[str, Any] = {
    "id": "leave",
    "question": "How many days of leave do staff have?",
    "reference": "12 days",
    "evidence": [{"any_of": [{"chunk_id": "leave:1"}]}],
}
DENIED: dict[str, Any] = {
    "id": "pay",
    "question": "What does grade E5 earn?",
    "behaviour": "permission_denied",
    "evidence": [{"any_of": [{"chunk_id": "pay:1"}]}],
    "user": {"roles": ["employee"]},
}
NOVEL: dict[str, Any] = {
    "id": "novel",
    "question": "Who confesses?",
    "behaviour": "permission_denied",
    "evidence": [{"any_of": [{"chunk_id": "page:9"}]}],
    "user": {"position": 3, "position_scope": "novel"},
}
ABSENT: dict[str, Any] = {"id": "car", "question": "What is the company car policy?", "behaviour": "abstain"}


class Index:
    """A search over `TEXTS` by common words; `sees_all` forgets who asks, `without` has lost a chunk."""

    def __init__(self, *, sees_all: bool = False, without: str = "", extra: str = "") -> None:
        self.sees_all, self.without, self.extra = sees_all, without, extra

    def search(self, question: str, k: int, user: dict[str, Any] | None = None) -> list[dict[str, Any]]:
        words = set(question.casefold().strip("?").split())
        user = user or {}
        found = []
        for chunk in [*CHUNKS, {"chunk_id": "extra", "text": self.extra}]:
            may_see = (
                set(chunk.get("roles", user.get("roles", ()))) & set(user.get("roles", ())) or "roles" not in chunk
            )
            is_before = "position" not in chunk or user.get("position") is None or user["position"] > chunk["position"]
            score = len(words & set(chunk["text"].casefold().strip(".").split()))
            if score and chunk["chunk_id"] != self.without and (self.sees_all or (may_see and is_before)):
                found.append({"chunk_id": chunk["chunk_id"], "text": chunk["text"], "score": score})
        return sorted(found, key=lambda row: -row["score"])[:k]


def write(folder: Path, *cases: dict[str, Any]) -> tuple[str, str]:
    golden_file, corpus = folder / "golden.jsonl", folder / "corpus.jsonl"
    golden_file.write_text("".join(json.dumps(case) + "\n" for case in cases), encoding="utf-8")
    corpus.write_text("".join(json.dumps(chunk) + "\n" for chunk in CHUNKS), encoding="utf-8")
    return str(golden_file), str(corpus)


def verify(folder: Path, index: Any, *cases: dict[str, Any]) -> dict[str, tuple[str, tuple[int | None, ...]]]:
    golden_file, corpus = write(folder, *cases)
    report = golden.verify(golden_file, index, at=AT, corpus=corpus)
    assert isinstance(report, VerificationReport)
    return {case.case: (case.state, case.ranks) for case in report.cases}


def test_a_sound_index_shows_every_case_as_labelled(tmp_path: Path) -> None:
    states = verify(tmp_path, Index(), LEAVE, DENIED, NOVEL, ABSENT)
    assert {"leave": ("found", (1,)), "pay": ("found", (1,)), "novel": ("found", (1,)), "car": ("absent", ())} == states


def test_a_chunk_that_is_gone_is_missing_and_not_answerable(tmp_path: Path) -> None:
    assert ("missing", (None,)) == verify(tmp_path, Index(without="leave:1"), LEAVE)["leave"]
    assert ("not_answerable", (None,)) == verify(tmp_path, Index(without="pay:1"), DENIED)["pay"]


def test_evidence_found_only_by_its_own_text_is_present(tmp_path: Path) -> None:
    case = {**LEAVE, "question": "Holidays?"}
    assert ("present", (None,)) == verify(tmp_path, Index(), case)["leave"]


def label(chunk: str, **fields: Any) -> list[dict[str, Any]]:
    return [{"any_of": [{"chunk_id": chunk}], **fields}]


TEN_DAYS = "Staff have 10 days of leave a year."
OTHER_TEXTS = (
    ({**LEAVE, "evidence": label("leave:1", quote="have 10 days of leave")}, "changed", (1,)),
    ({**LEAVE, "evidence": label("leave:1", text_hash=compute_text_digest(TEN_DAYS))}, "changed", (1,)),
    ({**LEAVE, "evidence": label("leave:1", quote="have 12 days"), "question": "Leave?"}, "found", (1,)),
    # The passage is there; what else stands in the chunk is no matter of the label.
    (
        {
            **LEAVE,
            "evidence": label("leave:1", quote="HAVE  12 days", text_hash=compute_text_digest(TEN_DAYS)),
        },
        "found",
        (1,),
    ),
    ({**LEAVE, "evidence": label("leave:1", text_hash=compute_text_digest(TEXTS["leave:1"]))}, "found", (1,)),
    ({**LEAVE, "evidence": label("leave:1", quote="have 10 days", required=False)}, "found", (1,)),
    # Nothing but its own text finds it, and that is another one.
    ({**LEAVE, "question": "Holidays?", "evidence": label("leave:1", quote="staff have 10 days")}, "changed", (None,)),
    ({**DENIED, "evidence": label("pay:1", quote="E5 earns 700 dollars")}, "changed", (1,)),
    ({**DENIED, "evidence": label("pay:1", quote="E5 earns 900 dollars")}, "found", (1,)),
)


@pytest.mark.parametrize(("case", "state", "ranks"), OTHER_TEXTS)
def test_evidence_with_another_text_under_its_id_is_changed(
    case: dict[str, Any], state: str, ranks: tuple[int | None, ...], tmp_path: Path
) -> None:
    assert (state, ranks) == verify(tmp_path, Index(), case)[case["id"]]


def test_a_changed_text_is_not_as_labelled_and_the_command_exits_with_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "250")
    case = {**LEAVE, "evidence": label("leave:1", quote="Staff have 10 days of leave")}
    golden_file, corpus = write(tmp_path, case)
    report = golden.verify(golden_file, Index(), at=AT, corpus=corpus)
    assert ((0, 1), ("leave: changed",)) == (
        (report.verification.found, report.verification.missing),
        report.verification.faults,
    )
    module = tmp_path / "index_of_leave.py"
    module.write_text("from tests.golden.test_verify import Index\nsearch = Index().search\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert 1 == main(["golden", "verify", golden_file, "--target", "index_of_leave:search", "--corpus", corpus])
    printed = capsys.readouterr().out
    assert "leave:1 is found, and the quote 'Staff have 10 days of leave' is in neither index nor corpus" in printed
    assert "0 as labelled, 1 not" in printed
    assert 1 == main(["golden", "verify", golden_file, "--target", "index_of_leave:search"])
    assert "is not in the text that the target shows (with --corpus," in capsys.readouterr().out


def test_of_a_text_of_which_the_target_shows_a_part_the_corpus_has_the_rest(tmp_path: Path) -> None:
    class Excerpts(Index):
        def search(self, question: str, k: int, user: dict[str, Any] | None = None) -> list[dict[str, Any]]:
            return [{**row, "text": row["text"][:10]} for row in super().search(question, k, user)]

    case = {**LEAVE, "evidence": label("leave:1", quote="12 days of leave")}
    assert ("found", (1,)) == verify(tmp_path, Excerpts(), case)["leave"]


def test_what_a_user_may_not_see_is_a_leak_for_roles_and_positions(tmp_path: Path) -> None:
    states = verify(tmp_path, Index(sees_all=True), DENIED, NOVEL)
    assert {"leak"} == {state for state, _ in states.values()}


def test_a_refusal_case_whose_words_are_in_the_index_is_answerable(tmp_path: Path) -> None:
    index = Index(extra="The company car policy is generous.")
    assert ("answerable", ()) == verify(tmp_path, index, ABSENT)["car"]


def test_a_target_that_fails_verifies_nothing(tmp_path: Path) -> None:
    class Broken:
        def search(self, question: str, k: int) -> list[str]:
            raise RuntimeError("down")

    with pytest.raises(IncompleteError, match="down"):
        verify(tmp_path, Broken(), LEAVE)


def test_the_record_in_the_set_says_what_broke_and_what_was_repaired(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    golden_file, corpus = write(tmp_path, LEAVE, ABSENT)
    digest = load_golden(golden_file).digest
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "an_index.py").write_text(
        "from tests.golden.test_verify import Index\nsound, damaged = Index(), Index(without='leave:1')\n",
        encoding="utf-8",
    )

    def run(name: str) -> tuple[int, dict[str, Any]]:
        target = ["--target", f"an_index:{name}", "--corpus", corpus]
        code = main(["golden", "verify", golden_file, *target, "--write", "--now", AT, "--format", "json"])
        return code, json.loads(capsys.readouterr().out)

    code, report = run("sound")
    assert (0, []) == (code, report["broke"])
    before = Path(golden_file).read_text(encoding="utf-8").splitlines()[1:]
    code, report = run("damaged")
    assert (1, ["leave: missing"]) == (code, report["broke"])
    assert ["leave: missing"] == run("sound")[1]["repaired"]
    loaded = load_golden(golden_file)
    assert loaded.golden.verification is not None
    assert (AT, digest) == (loaded.golden.verification.verified_at, loaded.golden.verification.cases_digest)
    assert digest == loaded.digest
    assert before == Path(golden_file).read_text(encoding="utf-8").splitlines()[1:]


@pytest.mark.slow
def test_the_handbook_is_verified_over_mcp(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = tmp_path / "assay.yaml"
    settings.write_text(
        "targets:\n"
        "  handbook:\n"
        "    type: mcp\n"
        f"    command: [{json.dumps(sys.executable)}, -m, examples.handbook.serve_mcp]\n"
        "    arguments:\n"
        '      search: {query: "{{question}}", k: "{{k}}", tenant: "{{user.tenant}}", roles: "{{user.roles}}"}\n',
        encoding="utf-8",
    )
    arguments = ["golden", "verify", str(HANDBOOK), "--target", "handbook", "--settings", str(settings), "--allow-exec"]
    code = main([*arguments, "--corpus", str(CORPUS), "--now", AT, "--format", "json"])
    report = json.loads(capsys.readouterr().out)
    assert 41 == len(report["cases"])
    assert {"error"} != {case["state"] for case in report["cases"]}
    assert code in (0, 1)


COMMAND = """
import json, sys
TEXTS = {"leave:1": "Staff have 12 days of leave a year.", "pay:1": "Pay day is the last Friday."}
for line in sys.stdin:
    asked = json.loads(line)
    words = set(asked["question"].lower().rstrip("?").split())
    ranked = sorted(TEXTS, key=lambda name: -len(words & set(TEXTS[name].lower().split())))
    chunks = [{"chunk_id": name, "text": TEXTS[name]} for name in ranked[:1]]
    print(json.dumps({"case_id": asked["case_id"], "answer": "", "retrieved_chunks": chunks}), flush=True)
"""


def test_a_set_is_verified_on_a_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "ask.py").write_text(COMMAND, encoding="utf-8")
    cases = [
        {"id": "one", "question": "How many days of leave?", "evidence": [{"any_of": [{"chunk_id": "leave:1"}]}]},
        {"id": "two", "question": "Who wins on Friday?", "evidence": [{"any_of": [{"chunk_id": "gone"}]}]},
    ]
    path = tmp_path / "golden.jsonl"
    path.write_text("".join(json.dumps(case) + "\n" for case in cases), encoding="utf-8")
    settings = {"targets": {"script": {"type": "command", "command": [sys.executable, str(tmp_path / "ask.py")]}}}
    (tmp_path / "assay.yaml").write_text(json.dumps(settings), encoding="utf-8")
    words = ["golden", "verify", str(path), "--target", "script", "--settings", str(tmp_path / "assay.yaml")]
    assert 1 == main([*words, "--allow-exec", "--format", "json"])
    report = json.loads(capsys.readouterr().out)
    assert [("one", "found"), ("two", "missing")] == [(case["case"], case["state"]) for case in report["cases"]]


class Nameless(Index):
    """The same search, which returns texts alone."""

    def search(self, question: str, k: int, user: dict[str, Any] | None = None) -> list[dict[str, Any]]:
        return [{"text": row["text"].replace(" ", "  ")} for row in super().search(question, k, user)]


def test_chunks_without_ids_are_told_by_their_texts(tmp_path: Path) -> None:
    sound = verify(tmp_path, Nameless(), LEAVE, DENIED, NOVEL, ABSENT)
    assert {"leave": ("found", (1,)), "pay": ("found", (1,)), "novel": ("found", (1,)), "car": ("absent", ())} == sound
    expecting = {**DENIED, "id": "answered", "behaviour": "answer", "reference": "900 dollars"}
    golden_file, corpus = write(tmp_path, DENIED, NOVEL, expecting)
    report = golden.verify(golden_file, Nameless(sees_all=True), at=AT, corpus=corpus)
    assert {"pay": "leak", "novel": "leak", "answered": "leak"} == {case.case: case.state for case in report.cases}
    assert ["pay:1"] == list(report.cases[0].chunks)
    assert "shown to a user who may not see it: pay:1" == report.cases[2].message


def test_a_text_that_some_users_may_see_elsewhere_is_no_leak(tmp_path: Path) -> None:
    golden_file, corpus = write(tmp_path, {**DENIED, "behaviour": "abstain", "evidence": []})
    copy = {"chunk_id": "notice:1", "text": TEXTS["pay:1"]}
    with Path(corpus).open("a", encoding="utf-8") as file:
        file.write(json.dumps(copy) + "\n")
    report = golden.verify(golden_file, Nameless(sees_all=True), at=AT, corpus=corpus)
    assert ["answerable"] == [case.state for case in report.cases]
