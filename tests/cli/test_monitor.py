"""`assay monitor` on the command line, and the commands of its page."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tests.cli.judging import NAMED
from tests.docs.pages import ROOT, iter_blocks, iter_commands
from tests.faults.judging import label_anchor
from tests.support.judge_server import JudgeCall, answer_with_labels, find_text, judge_server
from tests.trends.production import QUESTIONS, SENTENCES, list_traffic, write_traffic

import assay
from assay.cli import main
from assay.gates.calibration_file import write_calibrations
from assay.judging.rubric_files import load_rubrics
from assay.judging.verdict_store import read_store
from assay.records.verdicts import Calibration, LabelledRate, compute_rubrics_hash
from assay.stats.intervals import wilson_interval

pytestmark = pytest.mark.slow
PAGE = ROOT / "docs" / "how-to" / "monitor.md"
ALERT_OF_PAGE = "alert-80d23a6076"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store of thirteen weeks, a corpus and a golden set, as the page names them."""
    folder = tmp_path_factory.mktemp("monitor")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAY_AUDIT_KEY", "a secret of the tests, long enough")
        lines = write_traffic(folder / "answers.jsonl", list_traffic(92, 9, change_day=78))
        assay.audit.ingest(folder / "audit.sqlite", lines)
    corpus = [{"chunk_id": f"{name}-1", "text": text} for name, text in SENTENCES]
    golden = [
        {"id": name, "question": question, "expected_chunk_ids": [f"{name}-1"]} for name, question in QUESTIONS.items()
    ]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in corpus))
    (folder / "golden.jsonl").write_text("".join(json.dumps(row) + "\n" for row in golden))
    return folder


@pytest.fixture
def here(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    for version in ("v11", "v12"):
        shutil.copy(tmp_path / "corpus.jsonl", tmp_path / f"corpus-{version}.jsonl")
    return tmp_path


def test_the_commands_of_the_page_do_what_it_says(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Those that a judge or a webhook answers are tried where there is one."""
    quick = ["--metrics", "hallucination_risk(by=rules)", "--budget", "0"]
    assert main(["monitor", "audit.sqlite", "--format", "json", *quick]) == 1
    alert = json.loads(capsys.readouterr().out)["alerts"][0]["id"]
    commands = [words for block in iter_blocks(PAGE) if block.kind == "sh" for words in iter_commands(block.text)]
    run = 0
    for words in commands:
        if words[0] != "monitor" or "--webhook" in words or "--verdicts" in words:
            continue
        words = [alert if word == ALERT_OF_PAGE else word for word in words]
        reads = "--acknowledge" in words or "--write-sample" in words
        metrics = [] if "--metrics" in words else quick if reads else ["--metrics", "refusal_rate"]
        if "--bound" in words:
            metrics = ["--metrics", "hallucination_risk(by=rules),faithfulness(by=rules),latency_ms(stat=p95)"]
        assert main([*words, *metrics]) in (0, 1), words
        run += 1
    assert run >= 8
    assert (here / "sample" / "golden.jsonl").exists()
    assert "Lan Pham" in (here / "assay-alerts.jsonl").read_text()


def test_a_table_shows_alerts_before_rates(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["monitor", "audit.sqlite", "--metrics", "hallucination_risk(by=rules),stale_chunks"]) == 1
    printed = capsys.readouterr().out
    assert printed.index("what changed") < printed.index("Production answers by week")
    assert "not measured: Stale chunks (no corpus)" in " ".join(printed.split())


def test_the_store_is_an_argument_or_an_option_or_the_default(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--metrics", "refusal_rate", "--format", "json"]
    outputs = set()
    for store in (["audit.sqlite"], ["--store", "audit.sqlite"], []):
        assert main(["monitor", *store, *words]) in (0, 1)
        outputs.add(capsys.readouterr().out)
    assert len(outputs) == 1
    assert main(["monitor", "audit.sqlite", "--store", "other.sqlite"]) == 2
    assert "two audit stores (got 'audit.sqlite' and --store 'other.sqlite'; expected one)" in capsys.readouterr().err


def test_a_message_for_a_chat_is_short(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["monitor", "audit.sqlite", "--metrics", "hallucination_risk(by=rules)", "--format", "markdown"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) < 10 and lines[0].startswith("**Production, ")
    assert any("rose from" in line for line in lines)


def test_settings_say_what_is_watched(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "assay.yaml").write_text("monitor:\n  metrics: [refusal_rate]\n  slices: [tenant]\n  by: month\n")
    assert main(["monitor", "audit.sqlite", "--format", "json"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert {(row["key"], row["slice"]) for row in values["series"]} == {
        ("refusal_rate", None),
        ("refusal_rate", "tenant=acme"),
        ("refusal_rate", "tenant=globex"),
    }
    assert values["by"] == "month"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("monitor: {budget: 3}", "monitor.budget"),
        ("monitor: {by: year}", "monitor.by"),
        ("monitor: {false_alarms: 0}", "monitor.false_alarms"),
        ("monitor: {quiet: {start: 25:00, end: '07:00'}}", "monitor.quiet.start"),
        ("monitor: {quiet: {start: '22:00'}}", "monitor.quiet"),
        ("monitor: {webhook: {url: 'https://chat.example/', secret: abcdefgh}}", "monitor.webhook"),
        ("monitor: {colour: red}", "colour"),
    ],
)
def test_bad_settings_are_named_with_their_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], text: str, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("assay.yaml").write_text(f"# watched\n{text}\n")
    assert main(["monitor", "audit.sqlite"]) == 2
    error = capsys.readouterr().err
    assert "assay.yaml:2: " in error and words in error


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["absent.sqlite"], "no such audit store"),
        (["notes.txt"], "not a database"),
        (["audit.sqlite", "--alert-log", "audit.sqlite"], "audit.sqlite"),
        (["audit.sqlite", "--now", "yesterday"], "--now"),
    ],
)
def test_what_cannot_be_read_is_refused(
    here: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    (here / "notes.txt").write_text("no store")
    assert main(["monitor", *words]) in (2, 3)
    assert message in capsys.readouterr().err
    assert (here / "audit.sqlite").stat().st_size > 10_000


def write_calibration(path: Path, models: tuple[str, ...] = ()) -> None:
    """Write a calibration by which the judge passes 45 of 50 right claims and fails 48 of 50 wrong ones.

    `models` are those that answered in its place when it was measured.
    """
    identity = read_store("verdicts.sqlite").judges[0]
    rubrics = compute_rubrics_hash(load_rubrics().values(), "support")
    sensitivity, specificity = (LabelledRate(hits / 50, *wilson_interval(hits, 50)[:2], 50) for hits in (45, 48))
    record = Calibration(
        "faithfulness(by=judge)",
        identity.digest,
        rubrics,
        "",
        "",
        100,
        2,
        sensitivity,
        specificity,
        may_gate=True,
        models=models,
    )
    write_calibrations(str(path), [record], {})


def test_a_judge_reads_the_sample_and_a_calibration_corrects_what_it_says(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def label(asked: JudgeCall, item: str) -> str:
        anchor_label, claim = label_anchor(asked, item), find_text(asked.data, item)
        if anchor_label:
            return anchor_label
        labels = [str(name) for name in asked.item["label"]["enum"]]
        return labels[0] if len(claim) > 25 and claim[:25] in json.dumps(asked.data.get("context")) else labels[-1]

    period = ["--from", "2026-03-30", "--to", "2026-04-05", "--budget", "20"]
    metrics = ["--metrics", "faithfulness(by=judge)"]
    with judge_server(answer=answer_with_labels(label)) as server:
        monkeypatch.setenv("THE_JUDGE", f"{server.url}/v1")
        monkeypatch.setenv("THE_KEY", "a key of the judge")
        by_rules = ["--metrics", "faithfulness(by=rules)"]
        assert main(["monitor", "audit.sqlite", *period, *by_rules, "--write-sample", "sample"]) in (0, 1)
        inputs = ["--golden", "sample/golden.jsonl", "--outputs", "sample/outputs.jsonl"]
        assert main(["judge", *inputs, *NAMED, *metrics, "--control-share", "0.95"]) in (0, 3)
    write_calibration(here / "calibration.json")
    capsys.readouterr()
    words = ["monitor", "audit.sqlite", *period, *metrics, "--verdicts", "verdicts.sqlite", "--format", "json"]
    # Answers of earlier weeks have the same texts, and so the same verdicts: the change may be an alert.
    assert main([*words, "--calibration", "calibration.json"]) in (0, 1)
    values = json.loads(capsys.readouterr().out)
    raw, corrected = (row["points"][-1] for row in values["series"])
    assert values["sampling"]["judged"] == 20 and values["sampling"]["unjudged"] == 0
    assert 0.3 < raw["value"] < 1 and raw["n"] <= 20
    expected = (raw["value"] + 48 / 50 - 1) / (45 / 50 + 48 / 50 - 1)
    assert corrected["value"] == pytest.approx(min(1.0, expected))
    write_calibration(here / "calibration.json", models=("another-1",))
    assert main([*words, "--calibration", "calibration.json"]) in (0, 1)
    values = json.loads(capsys.readouterr().out)
    assert not any("corrected" in row["name"] for row in values["series"])
    assert any("under the name of the judge" in note and "it corrects nothing" in note for note in values["notes"])
