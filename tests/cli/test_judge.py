"""`assay judge` from end to end against a scripted endpoint on loopback."""

from __future__ import annotations

import json
import re
import socket
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.cli.judging import KEY, METRICS, NAMED, judging
from tests.faults.judging import honest, scored
from tests.support.judge_server import JudgeCall, JudgeServer, answer_with_labels
from tests.support.verdicts import read_sent_bytes

from assay.cli import main
from assay.formats.run_files.run_folder import read_manifest
from assay.judging import collect_questions
from assay.judging.verdict_files import count_verdicts
from assay.judging.verdict_store import SqliteVerdictStore, read_store
from assay.metrics.parsed_answer import ParsedAnswer
from assay.records.errors import ExitCode


@pytest.fixture(name="server")
def _server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[JudgeServer]:
    with judging(tmp_path, monkeypatch) as server:
        yield server


def judge(*more: str) -> int:
    return main(["judge", "--golden", "golden.jsonl", "--outputs", "outputs.jsonl", *NAMED, *METRICS, *more])


def settings(**changes: Any) -> None:
    endpoint = {"protocol": "openai", "model": "scripted-1", "base_url_env": "THE_JUDGE", "api_key_env": "THE_KEY"}
    Path("assay.yaml").write_text(json.dumps({"judges": {"scripted": endpoint | changes}}), encoding="utf-8")


def tag(case: int, tags: list[str]) -> None:
    rows = [json.loads(line) for line in Path("golden.jsonl").read_text().splitlines()]
    rows[case]["tags"] = tags
    Path("golden.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def samples(path: str = "verdicts.sqlite") -> Counter[str]:
    """Return how many verdicts there are of each rubric."""
    verdicts = read_store(path).verdicts
    return Counter(v.rubric for by in verdicts.values() for each in by.values() for v in each)


@pytest.mark.slow
def test_dry_run_says_what_it_would_take_and_asks_nothing(
    server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 0 == judge("--dry-run")
    printed = capsys.readouterr().out
    assert "16 requests about 8 observations" in printed
    assert "calls: " in printed
    assert "tokens: about " in printed
    assert "cost: unknown (no price in its settings)" in printed
    assert (0, False) == (server.calls, Path("verdicts.sqlite").exists())


@pytest.mark.slow
def test_dry_run_needs_neither_address_nor_key(
    server: JudgeServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 0 == judge("--dry-run", "--show")
    with_both = capsys.readouterr().out
    monkeypatch.delenv("THE_JUDGE")
    monkeypatch.delenv("THE_KEY")
    assert 0 == judge("--dry-run", "--show")
    note = "note: not set yet, and needed to ask scripted: THE_JUDGE, THE_KEY\n"
    assert with_both == capsys.readouterr().out.replace(note, "")
    inputs = ["judge", "--golden", "golden.jsonl", "--outputs", "outputs.jsonl", *METRICS]
    assert 0 == main([*inputs, "--judge", "scripted", "--model", "scripted-1", "--dry-run"])
    assert "16 requests about 8 observations" in capsys.readouterr().out
    assert 2 == judge()
    assert "the environment variable THE_JUDGE is missing or empty" in capsys.readouterr().err


@pytest.mark.slow
def test_dry_run_gives_the_cost_where_the_settings_give_prices(
    server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    settings(prompt_usd_per_1k=1.0, completion_usd_per_1k=0.0)
    assert 0 == main(["judge", "--golden", "golden.jsonl", "--outputs", "outputs.jsonl", *METRICS, "--dry-run"])
    printed = capsys.readouterr().out
    likely, most = re.findall(r"(\d+) prompt", printed)
    assert f"cost: about ${int(likely) / 1000:.4f}\n" in printed
    assert re.search(rf"limit: {most} prompt and \d+ completion, \${int(most) / 1000:.4f}, if every vote", printed)
    assert "(one vote on each, 3 bytes a token, replies of 100 tokens a label, no call repeated)" in printed


@pytest.mark.slow
def test_the_estimate_of_a_later_run_goes_by_what_earlier_verdicts_took(
    server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """Four cases are judged; the estimate of the other four is near what they take then."""
    first = [f"--only=case:c{number}" for number in range(4)]
    assert 0 == judge("--votes", "1", *first)
    capsys.readouterr()
    assert 0 == judge("--votes", "1", "--dry-run")
    preview = capsys.readouterr().out
    assert "as long as 8 earlier verdicts of this judge took" in preview
    prompt, completion = map(int, re.findall(r"tokens: about (\d+) prompt and (\d+) completion", preview)[0])
    assert 0 == judge("--votes", "1")
    (spent,) = re.findall(r"tokens: (\d+); cost", capsys.readouterr().err)
    assert 0.8 < (prompt + completion) / int(spent) < 1.25


def test_judging_fills_the_book_and_judging_again_asks_nothing(
    server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 0 == judge("--votes", "1")
    calls = server.calls
    assert calls == count_verdicts(read_store("verdicts.sqlite").verdicts)
    printed = capsys.readouterr().err
    assert "controls passed" in printed
    assert "verdicts written to verdicts.sqlite" in printed
    assert "next: assay score --golden golden.jsonl --outputs outputs.jsonl --verdicts verdicts.sqlite" in printed
    assert 0 == judge("--votes", "1")
    assert calls == server.calls
    again = capsys.readouterr().err
    assert "asked: 0 samples" in again
    assert f"taken from the store: {calls} samples" in again or "of earlier runs count too" in again


@pytest.mark.slow
def test_scoring_replays_the_book_its_export_and_its_copy_to_the_same_bytes(server: JudgeServer) -> None:
    assert 0 == judge("--votes", "1")
    calls = server.calls
    assert 0 == main(["judge", "export", "--store", "verdicts.sqlite", "--to", "verdicts.jsonl"])
    assert 0 == main(["judge", "import", "--store", "copy.sqlite", "--from", "verdicts.jsonl"])
    inputs = Path("golden.jsonl"), Path("outputs.jsonl")
    reports = {scored(*inputs, Path(name)) for name in ("verdicts.sqlite", "verdicts.jsonl", "copy.sqlite")}
    assert (1, calls) == (len(reports), server.calls)
    # Every second answer gives one day more than its context: 4 of 8 are faithful.
    summary = json.loads(reports.pop())["configs"]["a"]["summary"]
    assert (0.5, 8) == (
        summary["faithfulness(by=judge)"]["value"],
        summary["faithfulness(by=judge)"]["scored"],
    )


@pytest.mark.slow
def test_cap_on_calls_is_kept_and_the_same_command_goes_on(
    server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 3 == judge("--votes", "1", "--max-calls", "7")
    assert 7 == server.calls
    printed = capsys.readouterr().err
    assert "stopped at --max-calls; run the same command again to continue" in printed
    assert "note: --max-calls 7 ends before all requests have verdicts; the same command goes on with them" in printed
    assert 0 == judge("--votes", "1")
    assert server.calls == count_verdicts(read_store("verdicts.sqlite").verdicts)


def test_cap_on_money_needs_a_price(server: JudgeServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert 2 == judge("--max-cost", "1")
    assert "the price of scripted-1 is unknown" in capsys.readouterr().err
    settings(prompt_usd_per_1k=0.001, completion_usd_per_1k=0.001)
    assert 3 == judge("--max-cost", "0.01")
    with SqliteVerdictStore("verdicts.sqlite") as store:
        verdicts = store.load_contents().verdicts
    spent = sum(v.usage.cost_usd or 0 for by in verdicts.values() for each in by.values() for v in each)
    assert 0 < spent <= 0.01


def test_votes_are_as_many_as_asked_for(server: JudgeServer) -> None:
    assert 0 == judge("--votes", "3", "--only", "case:c0")
    contents = read_store("verdicts.sqlite")
    judges, verdicts = contents.judges, contents.verdicts
    votes = sorted(len(each) for each in verdicts[judges[0].digest].values())
    assert [3, 3] == votes[-2:]
    assert {1} == set(votes[:-2])  # controls and anchors


def test_case_that_can_fail_the_gate_alone_gets_three_votes(server: JudgeServer) -> None:
    tag(0, ["acl"])
    assert 0 == judge("--only", "case:c0", "--only", "case:c2")
    contents = read_store("verdicts.sqlite")
    judges, verdicts = contents.judges, contents.verdicts
    votes = Counter(len(each) for each in verdicts[judges[0].digest].values())
    assert 2 == votes[3]


def test_only_keeps_the_cases_that_a_selector_names(server: JudgeServer, capsys: pytest.CaptureFixture[str]) -> None:
    tag(3, ["hr"])
    assert 0 == judge("--only", "tag:hr", "--dry-run")
    printed = capsys.readouterr().out
    assert "2 requests about 1 observation" in printed
    assert "judged: 1 of 8 observations" in printed


def test_only_gate_keeps_what_judged_rules_look_at(server: JudgeServer, capsys: pytest.CaptureFixture[str]) -> None:
    tag(3, ["hr"])
    rule = {"metric": "faithfulness(by=judge)", "at_least": 0.9, "slice": "tag=hr"}
    Path("gate.yaml").write_text(json.dumps({"rules": [rule, {"metric": "recall@5", "at_least": 0.9}]}))
    assert 0 == judge("--only", "gate", "--gate", "gate.yaml", "--dry-run")
    assert "judged: 1 of 8 observations" in capsys.readouterr().out
    assert 2 == judge("--only", "gate", "--dry-run")
    assert "no gate is named" in capsys.readouterr().err


def test_only_ambiguous_says_what_is_given_up(server: JudgeServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == judge("--only", "ambiguous", "--dry-run")
    printed = capsys.readouterr().out
    assert " of 8 observations" in printed
    assert "What the rules decided gets no verdict, and has their errors" in printed
    assert "8 of 8 observations" not in printed


def test_only_ambiguous_asks_about_answers_that_the_rules_cannot_tell(
    server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    fact = "the manager approves the leave"
    answers = {
        "stated": "The manager approves the leave.",
        "unknown": "Perhaps the manager approves the leave.",
        "denied": "The manager never approves the leave.",
        "unanswered": "",
    }
    cases = [{"id": name, "question": "Who approves the leave?", "must_have": [fact]} for name in answers]
    header = {"golden_set": {"name": "g", "schema_version": 1}}
    Path("golden.jsonl").write_text("\n".join(map(json.dumps, [header, *cases])) + "\n")
    rows = [{"case_id": name, "answer": answer} for name, answer in answers.items()]
    Path("outputs.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    judge("--only", "ambiguous", "--dry-run")
    assert "judged: 1 of 4 observations" in capsys.readouterr().out


@pytest.mark.slow
def test_judge_that_rewards_nonsense_is_marked_and_scoring_says_so(
    server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answer = answer_with_labels(lambda asked, _: str(asked.item["label"]["enum"][0]))
    judge("--votes", "1")
    assert "judge INVALID" in capsys.readouterr().err
    (judge_status,) = read_store("verdicts.sqlite").statuses.values()
    assert (True, 1.0) == (judge_status.invalid, judge_status.controls_mean)
    scored(Path("golden.jsonl"), Path("outputs.jsonl"), Path("verdicts.sqlite"))
    assert "E_JUDGE_INVALID" in capsys.readouterr().out


def test_model_does_not_judge_itself(server: JudgeServer, capsys: pytest.CaptureFixture[str]) -> None:
    """The answers say that they are of generator-1."""
    assert 2 == judge("--model", "generator-1", "--dry-run")
    assert "E_SELF_JUDGE" in capsys.readouterr().err
    assert 0 == judge("--model", "generator-1", "--dry-run", "--allow-self-judge")
    assert "E_SELF_JUDGE" in capsys.readouterr().out
    assert 0 == server.calls


@pytest.mark.slow
def test_unusable_replies_are_unscored_with_their_reason_and_asked_again_on_request(
    server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = answer_with_labels(honest)
    server.answer = lambda asked: "I would rather not say." if "answer" in asked.data else answer(asked)
    assert 3 == judge("--votes", "1", "--only", "case:c0")
    printed = capsys.readouterr().err
    assert "1 of 2 requests have no verdict (judge_parse 1)" in printed
    assert "1 were paid for in vain: --retry-errors asks, and pays, for them again" in printed
    calls, server.answer = server.calls, answer
    assert 3 == judge("--votes", "1", "--only", "case:c0")
    assert calls == server.calls
    assert 0 == judge("--votes", "1", "--only", "case:c0", "--retry-errors")
    assert calls + 1 + 4 + 2 == server.calls  # and the anchors and controls of relevance, which also had no label


@pytest.mark.provokes_bug
def test_an_answer_that_no_code_foresaw_is_the_error_of_its_case(
    server: JudgeServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class OddReading(ParsedAnswer):
        @property
        def is_refusal(self) -> bool:
            if self.case.case.id == "c3":
                raise KeyError("odd")
            return super().is_refusal

    monkeypatch.setattr(collect_questions, "ParsedAnswer", OddReading)
    assert 3 == judge("--votes", "1")
    printed = capsys.readouterr().err
    assert "error: case c3 was not judged: KeyError" in printed
    assert "please report this line" in printed
    assert "14 requests about 8 observations" in printed


def test_quota_stops_at_once(server: JudgeServer, capsys: pytest.CaptureFixture[str]) -> None:
    server.plan.extend({"status": 429, "error": "insufficient_quota"} for _ in range(200))
    assert 3 == judge("--concurrency", "2")
    assert server.calls <= 2
    assert "stopped: quota" in capsys.readouterr().err


def test_key_is_sent_and_never_kept(server: JudgeServer, capsys: pytest.CaptureFixture[str]) -> None:
    answer = answer_with_labels(honest)

    def leaking(asked: JudgeCall) -> Any:
        found = answer(asked)
        found["items"][0]["reasoning"] = f"my key is {KEY}"
        return found

    server.answer = leaking
    server.plan.append({"status": 400, "error": f"bad key {KEY}"})
    judge("--votes", "1")
    assert f"Bearer {KEY}" == server.requests[0]["headers"]["authorization"]
    printed = capsys.readouterr()
    for text in (printed.out, printed.err, Path("verdicts.sqlite").read_bytes().decode("latin-1")):
        assert KEY not in text
    assert "my key is [redacted]" in Path("verdicts.sqlite").read_bytes().decode("latin-1")


def test_bytes_sent_are_kept_under_their_digest(server: JudgeServer) -> None:
    assert 0 == judge("--votes", "1", "--only", "case:c1")
    with SqliteVerdictStore("verdicts.sqlite") as store:
        judges = store.load_contents().judges
        for each in store.load_contents().verdicts[judges[0].digest].values():
            body = json.loads(read_sent_bytes(store, each[0].rendered) or b"")
            assert "scripted-1" == body["model"]
    assert 0o600 == Path("verdicts.sqlite").stat().st_mode & 0o777


@pytest.mark.slow
def test_run_folder_keeps_its_book_and_names_its_judge(server: JudgeServer) -> None:
    words = ["--golden", "golden.jsonl", "--outputs", "outputs.jsonl", "--run-dir", "run"]
    assert 0 == main(["score", *words])
    assert 0 == main(["judge", "--run", "run", *NAMED, *METRICS, "--votes", "1"])
    manifest = json.loads(Path("run/manifest.json").read_bytes())
    ((judge_digest, _),) = read_store("run/verdicts.sqlite").statuses.items()
    assert (judge_digest, "scripted-1", "verdicts.sqlite") == (
        manifest["judge"]["digest"],
        manifest["judge"]["model"],
        manifest["judge"]["store"],
    )
    assert 0 == main(["judge", "--run", "run", *NAMED, *METRICS, "--votes", "1"])
    assert server.calls == count_verdicts(read_store("run/verdicts.sqlite").verdicts)


def test_damaged_book_stops_before_anything_is_asked(server: JudgeServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == judge("--votes", "1")
    calls = server.calls
    content = bytearray(Path("verdicts.sqlite").read_bytes())
    content[4096:40960] = bytes(36864)
    Path("verdicts.sqlite").write_bytes(content)
    assert 3 == judge("--votes", "1")
    assert "damaged" in capsys.readouterr().err
    assert calls == server.calls


def test_changed_verdict_is_asked_for_again(server: JudgeServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == judge("--votes", "1")
    calls = server.calls
    db = sqlite3.connect("verdicts.sqlite")
    (judge_status,) = read_store("verdicts.sqlite").statuses.values()
    controls = {answer.request for answer in judge_status.answered}
    rows = db.execute("SELECT record, request FROM verdicts").fetchall()
    record, request = next(row for row in rows if b"relevance@" in row[0] and row[1] not in controls)
    changed = msgspec.json.encode(msgspec.json.decode(record) | {"message": "changed"})
    db.execute("UPDATE verdicts SET record = ? WHERE request = ?", (changed, request))
    db.commit()
    db.close()
    assert 0 == judge("--votes", "1")
    assert calls + 1 == server.calls
    assert "1 verdict does not match the recorded sha256" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("members", "asked"),
    [
        ({"answer": "Staff get 12 days of leave in year 2 [d2]."}, 0),
        ({"answer": "Staff get 12 days of leave in year 2 [d2].", "behaviour": "abstain"}, 1),
        ({"answer": "Staff get 19 days of leave in year 2 [d2]."}, 1),
    ],
    ids=["clear", "declared otherwise", "nearly matches, with another number"],
)
def test_only_ambiguous_asks_what_rules_leave_open_or_flag(
    server: JudgeServer, capsys: pytest.CaptureFixture[str], members: dict[str, Any], asked: int
) -> None:
    text = "Staff get 12 days of leave in year 2. They ask the head of department."
    case = {"id": "c2", "question": "How many days of leave are there in year 2?", "expected_chunk_ids": ["d2"]}
    context = {"name": "context", "chunks": [{"chunk_id": "d2", "text": text}]}
    Path("golden.jsonl").write_text(json.dumps(case) + "\n")
    Path("outputs.jsonl").write_text(json.dumps({"case_id": "c2", "config_id": "a", "stages": [context], **members}))
    judge("--only", "ambiguous", "--dry-run")
    assert f"note: judged: {asked} of 1 observation" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("must_have", "answer", "rubrics"),
    [
        ("nine", "The office opens at nine and closes at six.", set()),
        ("nine", "The office opens at nine, closes at six, and has a view of the harbour.", {"support"}),
        ("opens in the morning", "The office opens at nine and closes at six.", {"correctness", "relevance"}),
    ],
    ids=["nothing open", "a claim is open", "open whether it is right"],
)
def test_only_ambiguous_asks_of_each_metric_what_the_rules_leave_open_of_it(
    server: JudgeServer, must_have: str, answer: str, rubrics: set[str]
) -> None:
    text = "The office opens at nine and closes at six."
    case = {"id": "o", "question": "When is the office open?", "must_have": [must_have], "expected_chunk_ids": ["d"]}
    case |= {"reference_answer": "It opens at nine."}
    context = {"name": "context", "chunks": [{"chunk_id": "d", "text": text}]}
    Path("golden.jsonl").write_text(json.dumps(case) + "\n")
    Path("outputs.jsonl").write_text(
        json.dumps({"case_id": "o", "config_id": "a", "stages": [context], "answer": answer})
    )
    metrics = "faithfulness(by=judge),answer_relevance(by=judge),correctness(by=judge)"
    judge("--only", "ambiguous", "--metrics", metrics, "--control-share", "0", "--votes", "1")
    verdicts = [vote for votes in read_store("verdicts.sqlite").verdicts.values() for vote in votes.values()]
    assert rubrics == {sample.rubric.partition("@")[0] for samples in verdicts for sample in samples}


def test_a_judge_that_nobody_runs_costs_nothing_and_changes_no_score(
    server: JudgeServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["score", "--golden", "golden.jsonl", "--outputs", "outputs.jsonl", "--json-report", "report.json"]
    main(command)
    before = json.loads(Path("report.json").read_bytes())
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        monkeypatch.setenv("THE_JUDGE", f"http://127.0.0.1:{free.getsockname()[1]}/v1")
    capsys.readouterr()
    assert ExitCode.INCOMPLETE == judge("--attempts", "1")
    printed = capsys.readouterr().err
    assert "tokens: 0;" in printed
    assert "paid for" not in printed
    assert ": \n" not in printed
    assert "the judge gave no verdict: the scores stay as they were" in printed
    main([*command, "--verdicts", "verdicts.sqlite"])
    assert before["configs"] == json.loads(Path("report.json").read_bytes())["configs"]


@pytest.mark.slow
def test_a_judge_whose_verdicts_do_not_count_leaves_the_run_to_the_one_before(
    server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 0 == main(["score", "--golden", "golden.jsonl", "--outputs", "outputs.jsonl", "--run-dir", "run"])
    named = ("judge", "--run", "run", *NAMED, *METRICS)
    assert 0 == main([*named])
    first = read_manifest(Path("run"))["judge"]["digest"]
    honest_answer = server.answer
    server.answer = answer_with_labels(lambda asked, _: str(asked.item["label"]["enum"][0]))
    capsys.readouterr()
    assert 1 == main([*named, "--model", "flatterer", "--votes", "1"])
    assert "the run keeps the verdicts of its earlier judge" in " ".join(capsys.readouterr().err.split())
    assert first == read_manifest(Path("run"))["judge"]["digest"]
    server.answer = honest_answer
    main([*named, "--model", "stopped-1", "--max-calls", "3"])
    assert "stopped-1 gave verdicts on less than half" in " ".join(capsys.readouterr().err.split())
    assert first == read_manifest(Path("run"))["judge"]["digest"]
    assert 0 == main([*named, "--model", "other-1"])
    said = " ".join(capsys.readouterr().err.split())
    assert "the run is scored by other-1 from now on" in said and f"assay score run --judge {first}" in said
    assert first != read_manifest(Path("run"))["judge"]["digest"]
    assert 0 == main(["score", "run", "--judge", first])


def test_calls_that_may_have_been_billed_twice_are_told_of_the_judge_that_made_them_and_where_anything_was_asked(
    server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 0 == judge("--votes", "1", "--only", "case:c0")
    (identity,) = read_store("verdicts.sqlite").judges
    with closing(sqlite3.connect("verdicts.sqlite")) as db:
        db.executemany("INSERT INTO abandoned VALUES (?, ?, 0, 'gone')", [("q1", identity.digest), ("q2", "other")])
        db.commit()
    warnings = []
    for more in (("--only", "case:c0"), ("--only", "case:c1"), ("--only", "case:c1", "--model", "scripted-2")):
        capsys.readouterr()
        assert 0 == judge("--votes", "1", *more)
        warnings.append("1 call of this judge may have been billed without a verdict" in capsys.readouterr().err)
    assert [False, True, False] == warnings
