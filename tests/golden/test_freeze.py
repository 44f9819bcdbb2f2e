"""`golden freeze` and `golden diff`: who accepted what, what a new version keeps, and what changed."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from assay import golden
from assay.cli import main
from assay.formats.file_io import hold_folder
from assay.formats.golden_files import load_golden
from assay.golden.candidate import FrozenSet
from assay.golden.freeze_set import FreezeRequest, freeze_set
from assay.golden.set_difference import SetDifference
from assay.records.errors import InputError

AT = "2026-11-23T08:00:00+00:00"
DRAFTED = {"provenance": {"kind": "exact"}}
CASES: list[dict[str, Any]] = [
    {"id": name, "question": f"What is {name}?", "reference": f"It is {name}.", "metadata": DRAFTED}
    for name in ("a", "b", "c")
]


def write(path: Path, rows: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def decide(path: Path, *rows: tuple[str, str, str], **edited: Any) -> str:
    decisions: list[dict[str, Any]] = [
        {"case": case, "decision": said, "reviewer": who, "reason": "because"} for case, said, who in rows
    ]
    if edited:
        decisions[0]["edited"] = edited
    path.write_text(json.dumps(decisions), encoding="utf-8")
    return str(path)


def freeze(folder: Path, version: str = "1", **options: Any) -> FrozenSet:
    candidates = options.pop("candidates", None) or write(folder / "candidates.jsonl", CASES)
    out = options.pop("out", str(folder / f"golden-{version}.jsonl"))
    frozen = golden.freeze(candidates, out, version=version, owner="ann", change="first", at=AT, **options)
    assert isinstance(frozen, FrozenSet)
    return frozen


def test_accept_all_freezes_no_case_in_which_lint_finds_an_error(tmp_path: Path) -> None:
    """Its reference does not state its own must-have fact: a person may accept that, and a switch may not."""
    rows = [
        {"id": "good", "question": "What does a tent cost?", "reference": "45 euros.", "must_have": ["45 euros"]},
        {
            "id": "odd",
            "question": "What does a stove cost?",
            "reference": "It costs 45 euros.",
            "must_have": ["19 euros"],
        },
    ]
    path = tmp_path / "candidates.jsonl"
    path.write_text("".join(json.dumps(row | {"evidence": [{"chunk_id": "p"}]}) + "\n" for row in rows))
    request = FreezeRequest(
        str(path), str(tmp_path / "set.jsonl"), "1", "Lan", "first", "2026-05-01T00:00:00Z", accept_all=True
    )
    with pytest.raises(InputError, match="odd: must_have: E_LINT reference-fails"):
        freeze_set(request)
    assert not (tmp_path / "set.jsonl").exists()
    path.write_text(json.dumps(rows[0] | {"evidence": [{"chunk_id": "p"}]}) + "\n")
    assert 1 == freeze_set(request).cases


def test_accepted_cases_get_owner_version_changelog_digest_and_who_accepted_them(tmp_path: Path) -> None:
    decided = decide(tmp_path / "ann.json", ("a", "accept", "ann"), ("b", "reject", "ann"), reference="It is A.")
    frozen = freeze(tmp_path, decisions=[decided])
    loaded = load_golden(tmp_path / "golden-1.jsonl")
    (case,) = loaded.golden.cases
    assert (1, 1, ("c",)) == (frozen.cases, frozen.rejected, frozen.undecided)
    assert ("It is A.", ["ann"], ["reference"]) == (
        case.reference,
        case.metadata["provenance"]["accepted_by"],
        case.metadata["provenance"]["edited"],
    )
    assert ("1", "ann", "test", (f"1 ({AT}): first",)) == (
        loaded.golden.version,
        loaded.golden.owner,
        loaded.golden.split,
        loaded.golden.changelog,
    )
    assert frozen.digest == loaded.digest == loaded.golden.frozen_digest


def test_two_reviewers_must_agree(tmp_path: Path) -> None:
    first = decide(tmp_path / "ann.json", ("a", "accept", "ann"), ("b", "accept", "ann"))
    second = decide(tmp_path / "bob.json", ("a", "accept", "bob"), ("b", "reject", "bob"))
    with pytest.raises(InputError, match=r"1 candidate decided differently and not settled \(b\).*--out settle\.html"):
        freeze(tmp_path, decisions=[first, second])
    assert not (tmp_path / "golden-1.jsonl").exists()
    settling = tmp_path / "cem.json"
    decision = {"case": "b", "decision": "reject", "reviewer": "cem", "reason": "dull", "settles": True}
    settling.write_text(json.dumps([decision]), encoding="utf-8")
    frozen = freeze(tmp_path, decisions=[first, second, str(settling)])
    assert ("c",) == frozen.undecided
    (case,) = load_golden(tmp_path / "golden-1.jsonl").golden.cases
    assert ["ann", "bob"] == case.metadata["provenance"]["accepted_by"]


def test_what_one_reviewer_accepted_alone_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ann = decide(tmp_path / "ann.json", ("a", "accept", "ann"), ("b", "accept", "ann"), ("c", "reject", "ann"))
    bob = decide(tmp_path / "bob.json", ("a", "accept", "bob"))
    assert [("b", ("bob",))] == [(row.case, row.reviewers) for row in freeze(tmp_path, decisions=[ann, bob]).left_open]
    assert () == freeze(tmp_path, decisions=[ann], out=str(tmp_path / "alone.jsonl")).left_open
    options = ["--version", "1", "--owner", "ann", "--change", "first", "--out", str(tmp_path / "again.jsonl")]
    assert 0 == main(
        ["golden", "freeze", str(tmp_path / "candidates.jsonl"), "--decisions", ann, "--decisions", bob, *options]
    )
    assert "accepted although a reviewer left it open: b (bob)" in " ".join(capsys.readouterr().out.split())


def test_a_new_version_keeps_the_cases_and_the_changelog_of_the_one_before(tmp_path: Path) -> None:
    freeze(tmp_path, accept_all=True)
    more = write(tmp_path / "more.jsonl", [{**CASES[0], "id": "d"}])
    freeze(tmp_path, "2", candidates=more, base=str(tmp_path / "golden-1.jsonl"), accept_all=True)
    loaded = load_golden(tmp_path / "golden-2.jsonl").golden
    assert (["a", "b", "c", "d"], 2) == ([case.id for case in loaded.cases], len(loaded.changelog))
    difference = golden.diff(str(tmp_path / "golden-1.jsonl"), str(tmp_path / "golden-2.jsonl"))
    assert isinstance(difference, SetDifference)
    assert (("d",), (), ()) == (difference.added, difference.removed, difference.changed)


def test_a_frozen_set_that_was_edited_is_found_and_no_base(tmp_path: Path) -> None:
    freeze(tmp_path, accept_all=True)
    path = tmp_path / "golden-1.jsonl"
    assert 0 == main(["golden", "lint", str(path)])
    path.write_text(path.read_text(encoding="utf-8").replace("It is a.", "It is not a."), encoding="utf-8")
    assert 1 == main(["golden", "lint", str(path)])
    with pytest.raises(InputError, match="edited after it was frozen"):
        freeze(tmp_path, "2", base=str(path), accept_all=True)


REFUSED = (
    ([("x", "accept", "ann")], "no such candidate"),
    ([("a", "maybe", "ann")], "expected accept, edit or reject"),
    ([("a", "reject", "ann"), ("b", "reject", "ann"), ("c", "reject", "ann")], "no candidate was accepted"),
)


@pytest.mark.parametrize(("rows", "message"), REFUSED)
def test_decisions_that_cannot_be_used_are_refused(tmp_path: Path, rows: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        freeze(tmp_path, decisions=[decide(tmp_path / "ann.json", *rows)])


def test_a_rejection_needs_a_reason_and_an_edit_must_fit(tmp_path: Path) -> None:
    path = tmp_path / "ann.json"
    path.write_text('[{"case": "a", "decision": "reject", "reviewer": "ann"}]', encoding="utf-8")
    with pytest.raises(InputError, match="without a reason"):
        freeze(tmp_path, decisions=[str(path)])
    with pytest.raises(InputError, match="edited"):
        freeze(tmp_path, decisions=[decide(path, ("a", "accept", "ann"), behaviour="laugh")])


def test_the_same_version_and_the_same_ids_are_refused(tmp_path: Path) -> None:
    freeze(tmp_path, accept_all=True)
    base = str(tmp_path / "golden-1.jsonl")
    with pytest.raises(InputError, match="has this version already"):
        freeze(tmp_path, "1", base=base, out=str(tmp_path / "new.jsonl"), accept_all=True)
    with pytest.raises(InputError, match="nothing is new"):
        freeze(tmp_path, "2", base=base, accept_all=True)


def test_the_commands_exit_with_1_while_candidates_are_open(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    candidates, out = write(tmp_path / "candidates.jsonl", CASES), str(tmp_path / "golden.jsonl")
    decided = decide(tmp_path / "ann.json", ("a", "accept", "ann"))
    arguments = ["golden", "freeze", candidates, "--out", out, "--version", "1", "--owner", "ann", "--change", "first"]
    assert 1 == main([*arguments, "--decisions", decided, "--now", AT])
    more = [name if name != "1" else "2" for name in arguments]
    assert 0 == main([*more, "--base", out, "--accept-all", "--now", AT])
    assert ["a", "b", "c"] == [case.id for case in load_golden(out).golden.cases]
    assert 2 == main([*arguments, "--accept-all", "--split", "other"])
    edited = write(tmp_path / "edited.jsonl", [{**CASES[0], "reference": "Else.", "notes": "x"}])
    capsys.readouterr()
    assert 0 == main(["golden", "diff", candidates, edited, "--format", "json"])
    difference = json.loads(capsys.readouterr().out)
    assert ["b", "c"] == difference["removed"]
    assert (True, {"reference", "notes"}) == (
        difference["changed"][0]["is_relabelled"],
        {change["field"] for change in difference["changed"][0]["changes"]},
    )


def test_a_frozen_set_is_not_written_over_but_by_a_later_version_of_it(tmp_path: Path) -> None:
    one, two = (
        write(tmp_path / f"{name}.jsonl", [{"id": name, "question": "How many days?", "reference": "12"}])
        for name in ("a", "b")
    )
    out = tmp_path / "golden.jsonl"
    kept: dict[str, Any] = {"owner": "ann", "change": "x", "at": AT, "accept_all": True}
    golden.freeze(one, str(out), version="2", **kept)
    before = out.read_bytes()
    golden.freeze(one, str(out), version="2", **kept)  # the same bytes
    for candidates, version, at in ((two, "1", AT), (two, "2", AT), (two, "3", AT), (one, "2", "2026-12-01T00:00:00Z")):
        with pytest.raises(InputError) as refused:
            golden.freeze(candidates, str(out), version=version, **kept | {"at": at})
        assert "frozen already as version '2' with 1 case" in str(refused.value)
        assert f"--base {out} --out {tmp_path / 'golden-3.jsonl'} --version 3 --owner ann" in str(refused.value)
        assert out.read_bytes() == before
    with pytest.raises(InputError, match="has a later version"):
        golden.freeze(two, str(out), version="1", base=str(out), **kept)
    golden.freeze(two, str(out), version="3", base=str(out), **kept)
    assert ["a", "b"] == [case.id for case in load_golden(out).golden.cases]


def test_the_digest_has_the_time_of_the_decisions_which_is_an_argument(tmp_path: Path) -> None:
    decided = decide(tmp_path / "ann.json", ("a", "accept", "ann"))
    arguments = ["golden", "freeze", write(tmp_path / "c.jsonl", CASES), "--decisions", decided, "--version", "1"]
    for name in ("x", "y"):
        out = str(tmp_path / f"{name}.jsonl")
        main([*arguments, "--owner", "ann", "--change", "first", "--out", out, "--now", AT])
    assert (tmp_path / "x.jsonl").read_bytes() == (tmp_path / "y.jsonl").read_bytes()


FREEZE_PART = """
import sys
from assay import golden
from assay.records.errors import InputError
part, folder = sys.argv[1:]
print("ready", flush=True)
for _ in sys.stdin:
    try:
        golden.freeze(
            f"{folder}/{part}.jsonl", f"{folder}/set.jsonl", version="2", owner="ann", change=part,
            at="2026-03-01T00:00:00Z", base=f"{folder}/set.jsonl", accept_all=True,
        )
    except InputError as error:
        print("refused", error.problems[0].code, flush=True)
    else:
        print("frozen", flush=True)
"""


@pytest.mark.slow
def test_of_two_freezes_at_once_none_is_lost_in_silence(tmp_path: Path) -> None:
    for name in ("first", "a", "b"):
        write(tmp_path / f"{name}.jsonl", [{"id": name, "question": f"What is {name}?", "reference": "It is."}])
    first: dict[str, Any] = {"owner": "ann", "change": "x", "at": AT, "accept_all": True}
    golden.freeze(str(tmp_path / "first.jsonl"), str(tmp_path / "set.jsonl"), version="1", **first)
    frozen = (tmp_path / "set.jsonl").read_bytes()
    with ExitStack() as processes:
        both = [
            processes.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", FREEZE_PART, part, str(tmp_path)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
            )
            for part in ("a", "b")
        ]
        assert ["ready\n"] * 2 == [read_line(process) for process in both]
        for _ in range(3):
            (tmp_path / "set.jsonl").write_bytes(frozen)
            for process in both:
                assert process.stdin is not None
                process.stdin.write("go\n")
                process.stdin.flush()
            said = sorted(read_line(process).split()[0] for process in both)
            kept = {case.id for case in load_golden(tmp_path / "set.jsonl").golden.cases}
            assert said == ["frozen", "refused"] and len(kept) == 2 and "first" in kept


def read_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def test_a_freeze_waits_for_the_one_before_it(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", CASES)
    waiting = threading.Thread(target=freeze, args=(tmp_path,), kwargs={"accept_all": True}, daemon=True)
    with hold_folder(tmp_path / "golden-1.jsonl"):
        waiting.start()
        waiting.join(0.3)
        assert waiting.is_alive() and not (tmp_path / "golden-1.jsonl").exists()
    waiting.join(30)
    assert (tmp_path / "golden-1.jsonl").exists()


def test_the_command_that_the_error_prints_replaces_a_case_that_is_answered_otherwise_now(tmp_path: Path) -> None:
    ann = decide(tmp_path / "ann.json", ("a", "accept", "ann"), ("b", "accept", "ann"), reference="It is A, edited.")
    freeze(tmp_path, decisions=[ann])
    cem = decide(tmp_path / "cem.json", ("a", "accept", "cem"), reference="It is A, as settled.")
    bob = decide(tmp_path / "bob.json", ("b", "accept", "bob"))
    with pytest.raises(InputError) as refused:
        freeze(tmp_path, "2", out=str(tmp_path / "golden-1.jsonl"), decisions=[cem, bob])
    (problem,) = refused.value.problems
    command = shlex.split(problem.message.partition("add to it with assay ")[2])
    assert "--update" in command
    main([*command, "--now", AT])
    cases = load_golden(tmp_path / "golden-2.jsonl").golden.cases
    assert ["It is A, as settled.", "It is b."] == [case.reference for case in cases]


def test_the_command_that_the_error_prints_adds_to_a_set_with_edited_cases(tmp_path: Path) -> None:
    first = decide(tmp_path / "ann.json", ("a", "accept", "ann"), reference="It is A, edited.")
    freeze(tmp_path, decisions=[first])
    out = str(tmp_path / "golden-1.jsonl")
    more = decide(tmp_path / "bob.json", ("b", "accept", "bob"))
    with pytest.raises(InputError) as refused:
        freeze(tmp_path, "2", out=out, decisions=[first, more])
    (problem,) = refused.value.problems
    command = shlex.split(problem.message.partition("add to it with assay ")[2])
    main([*command, "--now", AT])
    (added,) = tmp_path.glob("golden-2.jsonl")
    cases = load_golden(added).golden.cases
    assert [("a", "It is A, edited."), ("b", CASES[1].get("reference"))] == [
        (case.id, case.reference) for case in cases
    ]
