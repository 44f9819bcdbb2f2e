"""A run folder that has answers already: nobody is asked, which is said, unless what was asked has changed."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from tests.contracts.loopback import Request, as_json, serving

from assay.cli import main
from assay.records.golden_set import Case
from assay.runs.earlier_answers import Versions, describe_age, describe_changed_code, find_sameness

CASES = [Case(f"c{number}", f"question {number}?", reference=f"code {number}") for number in range(4)]
SYSTEM = "from rules import reply\n\ndef ask(question):\n    return reply(question)\n"
RULES = "def reply(question):\n    return 'code ' + question.split()[1].rstrip('?')\n"
GATE = "rules:\n  - {metric: error_rate, at_most: 0}\n"


@pytest.fixture
def clerk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a target of two modules, a golden set and a gate."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "250")
    monkeypatch.setattr(sys, "path", [*sys.path])
    write_system(tmp_path, monkeypatch)
    lines = [b'{"golden_set": {"name": "g", "schema_version": 1}}', *map(msgspec.json.encode, CASES)]
    (tmp_path / "golden.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    (tmp_path / "gate.yaml").write_text(GATE, encoding="utf-8")
    return tmp_path


def write_system(folder: Path, monkeypatch: pytest.MonkeyPatch, rules: str = RULES) -> None:
    """Write the target as a new process would import it."""
    for name, text in {"clerk_system": SYSTEM, "rules": rules}.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
        monkeypatch.delitem(sys.modules, name, raising=False)


RUN = ["run", "--golden", "golden.jsonl", "--target", "clerk=clerk_system:ask", "--run-dir", "kept"]
SAID = "all 4 answers are from an earlier run, begun 2026-03-02 09:30"


def test_a_second_run_says_everywhere_that_nobody_was_asked(
    clerk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first = [*RUN, "--now", "2026-03-02T09:30:00Z", "--gate", "gate.yaml"]
    assert 0 == main(first)
    assert "earlier run" not in "".join(capsys.readouterr())
    files = ["--report", "r.md", "--json-report", "r.json", "--html", "r.html"]
    assert 0 == main([*RUN, "--now", "2026-03-04T10:00:00Z", "--gate", "gate.yaml", *files])
    printed = capsys.readouterr()
    assert "clerk: not asked, 4 answers from an earlier run, begun 2 days ago" in printed.err
    assert (
        f"target clerk was not asked: {SAID} (its source files are the same; assay run --fresh asks again)"
        in printed.out
    )
    report = json.loads((clerk / "r.json").read_bytes())
    assert [SAID in doubt for doubt in report["doubts"]].count(True) == 1
    assert SAID in (clerk / "r.md").read_text(encoding="utf-8")
    assert SAID in (clerk / "r.html").read_text(encoding="utf-8")
    assert main([*first, "--format", "json"]) == 0
    printed = capsys.readouterr()
    assert SAID in printed.out and SAID in printed.err


def test_a_target_that_is_not_asked_again_loses_no_answers_unsaid(
    clerk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 0 == main([*RUN, "--target", "other=clerk_system:ask"])
    capsys.readouterr()
    assert 0 == main([*RUN, "--fresh", "--verbose"])
    printed = "".join(capsys.readouterr())
    assert "not asked: other, whose earlier answers moved to replaced.jsonl too" in printed
    assert b'"other"' in (clerk / "kept/replaced.jsonl").read_bytes()
    assert 0 == main([*RUN, "--fresh"])
    assert "whose earlier answers" not in "".join(capsys.readouterr())


def test_changed_code_is_refused_and_asked_again_on_demand(
    clerk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 0 == main([*RUN, "--gate", "gate.yaml"])
    before = (clerk / "kept/observations.jsonl").read_bytes()
    write_system(clerk, monkeypatch, "def reply(question):\n    raise RuntimeError('the index is gone')\n")
    assert 2 == main([*RUN, "--gate", "gate.yaml"])
    assert 2 == main([*RUN, "--retry-errors"])
    error = capsys.readouterr().err
    assert "the code of target clerk has changed: rules" in error
    assert "--fresh asks every case again, another --run-dir begins a new run" in error
    assert before == (clerk / "kept/observations.jsonl").read_bytes()
    assert 3 == main([*RUN, "--gate", "gate.yaml", "--fresh"])
    assert before == (clerk / "kept/replaced.jsonl").read_bytes()
    rows = [json.loads(line) for line in (clerk / "kept/observations.jsonl").read_bytes().splitlines()]
    assert 4 == len(rows) == sum("the index is gone" in row["error"]["message"] for row in rows)


def test_what_failed_on_every_case_is_repeated_with_repaired_code(
    clerk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_system(clerk, monkeypatch, "def reply(question):\n    raise KeyError('TOKEN')\n")
    assert 3 == main(RUN)
    write_system(clerk, monkeypatch)
    assert 2 == main(RUN)
    assert 0 == main([*RUN, "--retry-errors"])
    assert "earlier run" not in "".join(capsys.readouterr())


def test_an_interrupted_run_goes_on_and_says_how_much_it_had(clerk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 3 == main([*RUN, "--max-calls", "3", "--concurrency", "1", "--now", "2026-03-02T09:30:00Z"])
    capsys.readouterr()
    assert 0 == main(RUN)
    printed = capsys.readouterr()
    assert "clerk: 1 observed, 1 call" in printed.err
    assert "target clerk: 3 of 4 answers are from an earlier run, begun 2026-03-02 09:30" in printed.out


def test_a_folder_of_an_earlier_version_goes_on_and_its_code_is_not_known(
    clerk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 0 == main(RUN)
    path = clerk / "kept/manifest.json"
    manifest = json.loads(path.read_bytes())
    del manifest["code"]
    path.write_text(json.dumps(manifest), encoding="utf-8")
    capsys.readouterr()
    for _ in range(2):  # the code of today is not recorded as that of older answers
        assert 0 == main(RUN)
        assert "(nothing tells whether it has changed since; assay run --fresh asks again)" in capsys.readouterr().out


OLD, NEW = frozenset({("index", "7")}), frozenset({("index", "8")})


@pytest.mark.parametrize(
    ("before", "now", "is_shown"),
    [
        ([OLD], [], False),
        ([OLD], [OLD], True),
        ([OLD], [NEW], False),
        ([OLD, frozenset()], [OLD], False),
        ([frozenset()], [frozenset()], False),
    ],
)
def test_a_service_is_the_same_only_if_all_its_answers_name_the_same_versions(
    before: list[Versions], now: list[Versions], is_shown: bool
) -> None:
    sameness = find_sameness(has_address=True, is_recorded=False, knows_code=True, before=before, now=now)
    assert is_shown == sameness.is_shown


def test_earlier_errors_name_no_versions_that_could_differ() -> None:
    sameness = find_sameness(has_address=True, is_recorded=False, knows_code=True, before=[], now=[NEW])
    assert (sameness.sentence, sameness.is_shown) == (
        "nothing tells whether what its address serves has changed since",
        False,
    )


def test_a_recorded_file_is_the_same_because_another_is_refused() -> None:
    assert find_sameness(has_address=False, is_recorded=True, knows_code=False).is_shown
    assert not find_sameness(has_address=False, is_recorded=False, knows_code=False).is_shown


def test_code_differs_by_file_and_an_unknown_one_by_nothing() -> None:
    assert [] == describe_changed_code({}, {"a": {"m": "1"}})
    assert [] == describe_changed_code({"a": {"m": "1"}}, {"a": {"m": "1"}})
    assert ["the code of target a has changed: n"] == describe_changed_code(
        {"a": {"m": "1", "n": "2"}}, {"a": {"m": "1"}}
    )


@pytest.mark.parametrize(
    ("earlier", "now", "age"),
    [
        ("2026-03-02T09:30:00+00:00", "2026-03-02T09:33:10+00:00", "3 minutes"),
        ("2026-03-02T09:30:00+00:00", "2026-03-02T10:30:00+00:00", "1 hour"),
        ("2026-03-02T09:30:00+00:00", "2026-03-02T09:30:00+00:00", ""),
        ("2026-03-02T09:30:00+00:00", "2026-03-02T09:30:00", ""),
        ("yesterday", "2026-03-02T09:30:00", ""),
        (None, "2026-03-02T09:30:00", ""),
    ],
)
def test_an_age_is_told_where_both_times_are_known(earlier: str | None, now: str, age: str) -> None:
    assert age == describe_age(earlier, now)


def test_a_line_that_a_crash_cut_off_is_not_moved(clerk: Path) -> None:
    assert 0 == main(RUN)
    with open(clerk / "kept/observations.jsonl", "ab") as lines:
        lines.write(b'{"case_id":"c3","conf')
    assert [0, 0] == [main([*RUN, "--fresh"]) for _ in range(2)]
    replaced = (clerk / "kept/replaced.jsonl").read_bytes().splitlines()
    assert ["c0", "c1", "c2", "c3"] * 2 == [msgspec.json.decode(line)["case_id"] for line in replaced]


def test_errors_of_an_earlier_run_are_not_called_answers_alone(
    clerk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    failing = "def reply(question):\n    if '2' in question:\n        raise OSError('no disk')\n    return 'code'\n"
    write_system(clerk, monkeypatch, failing)
    for _ in range(2):
        main(RUN)
    assert "all 4 answers are from an earlier run, begun " in (printed := capsys.readouterr().out)
    assert ", 1 with an error (its source files are the same; assay run --fresh asks again)" in printed


def read_answers(clerk: Path, name: str = "observations.jsonl") -> dict[str, str]:
    """Return the answers in a file of the run folder, by case."""
    rows = [json.loads(line) for line in (clerk / "kept" / name).read_bytes().splitlines()]
    return {row["case_id"]: row["answer"] for row in rows}


def test_fresh_on_some_cases_replaces_these_alone(clerk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(RUN)
    before = read_answers(clerk)
    assert 0 == main([*RUN, "--fresh", "--limit", "2"])
    assert "clerk: 2 observed, 2 calls" in capsys.readouterr().err
    assert before == read_answers(clerk)
    assert ["c0", "c1"] == list(read_answers(clerk, "replaced.jsonl"))
    assert 0 == main([*RUN, "--fresh", "--only", "case:c3"])
    assert ["c0", "c1", "c3"] == list(read_answers(clerk, "replaced.jsonl"))


def test_fresh_on_some_cases_mixes_no_two_systems(
    clerk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 0 == main(RUN)
    before = (clerk / "kept/observations.jsonl").read_bytes()
    write_system(clerk, monkeypatch, "def reply(question):\n    return 'code 9'\n")
    assert 2 == main([*RUN, "--fresh", "--limit", "2"])
    error = capsys.readouterr().err
    assert "the code of target clerk has changed: rules" in error
    assert "--fresh without --limit and --only asks every case again" in error
    assert before == (clerk / "kept/observations.jsonl").read_bytes()
    assert not (clerk / "kept/replaced.jsonl").exists()
    assert 0 == main([*RUN, "--fresh"])
    assert {"code 9"} == set(read_answers(clerk).values())


def test_errors_of_cases_that_are_not_selected_stay(clerk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failing = "def reply(question):\n    if question < 'question 2':\n        return '1'\n    raise OSError('no')\n"
    write_system(clerk, monkeypatch, failing)
    assert 3 == main(RUN)
    main([*RUN, "--retry-errors", "--limit", "3"])
    replaced = (clerk / "kept/replaced.jsonl").read_bytes().splitlines()
    assert ["c2"] == [json.loads(line)["case_id"] for line in replaced]


@pytest.mark.parametrize("left", [None, b"", b'{"case_id":"c0","conf'])
def test_a_run_that_was_killed_before_its_first_answer_is_begun_with_whatever_is_there_now(
    clerk: Path, monkeypatch: pytest.MonkeyPatch, left: bytes | None
) -> None:
    assert 0 == main(RUN)
    observations = clerk / "kept/observations.jsonl"
    observations.unlink()
    if left is not None:
        observations.write_bytes(left)
    write_system(clerk, monkeypatch, "def reply(question):\n    return 'code 9'\n")
    assert 0 == main([*RUN, "--repeat", "1"])
    assert {"code 9"} == set(read_answers(clerk).values())
    assert not (clerk / "kept/replaced.jsonl").exists()
    assert 0 == main(RUN)  # and its manifest names the code of today


@pytest.mark.parametrize("option", [[], ["--fresh"], ["--retry-errors"]])
def test_a_folder_of_recorded_outputs_is_no_place_for_a_live_run(
    clerk: Path, capsys: pytest.CaptureFixture[str], option: list[str]
) -> None:
    assert 0 == main(RUN)
    outputs = ["--outputs", "kept/observations.jsonl"]
    assert 0 == main(["score", "--golden", "golden.jsonl", *outputs, "--run-dir", "scored"])
    before = (clerk / "scored/observations.jsonl").read_bytes()
    capsys.readouterr()
    assert 2 == main([*RUN[:-1], "scored", *option])
    assert (
        "scored: E_RUN_FOLDER holds the scores of recorded outputs (expected another --run-dir"
        in capsys.readouterr().err
    )
    assert before == (clerk / "scored/observations.jsonl").read_bytes()


@pytest.fixture
def desk_url(clerk: Path) -> Iterator[str]:
    """The address of a service that answers every question alike, and names the version of its index."""

    async def reply(_: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(as_json({"answer": "code", "versions": {"index": "7"}}))

    (clerk / "gate.yaml").write_text(f"{GATE}exempt_from_correctness: a test of what is asked\n", encoding="utf-8")
    with serving(reply) as server:
        yield server.url


def test_reused_answers_of_a_service_are_a_risk_that_strict_refuses(
    clerk: Path, desk_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run = ["run", "--golden", "golden.jsonl", "--target", f"desk={desk_url}", "--run-dir", "kept"]
    gate = ["--gate", "gate.yaml", "--strict"]
    assert 0 == main([*run, *gate])
    capsys.readouterr()
    assert 1 == main([*run, *gate, "--json-report", "r.json"])
    printed = "nothing tells whether what its address serves has changed since; assay run --fresh asks again"
    assert 1 == capsys.readouterr().out.count(printed)
    report = json.loads((clerk / "r.json").read_bytes())
    assert "PASS_WITH_RISK" == report["decision"]["outcome"]
    assert not any("earlier run" in doubt for doubt in report["doubts"])
    assert 0 == main([*run, *gate[:2]])  # a risk, which only --strict refuses
    for folder in ("kept", "again"):  # and scoring the recording knows of it, as does a copy of the folder
        capsys.readouterr()
        assert 1 == main(["score", folder, *gate, *(["--run-dir", "again"] if folder == "kept" else [])])
        assert 1 == capsys.readouterr().out.count(printed)
    assert 0 == main([*run, *gate, "--fresh"])
    assert 0 == main(["score", "kept", *gate])


def test_a_service_that_still_reports_its_versions_is_continued_without_a_risk(
    clerk: Path, desk_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run = ["run", "--golden", "golden.jsonl", "--target", f"desk={desk_url}", "--run-dir", "kept"]
    assert 3 == main([*run, "--max-calls", "3", "--concurrency", "1"])
    for command in (run, ["score", "kept"]):
        assert 0 == main([*command, "--gate", "gate.yaml", "--strict"])
        assert "3 of 4 answers are from an earlier run" in (printed := capsys.readouterr().out)
        assert "(it reports the same versions as then; assay run --fresh asks again)" in printed
