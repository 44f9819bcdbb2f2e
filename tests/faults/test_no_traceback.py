"""Malformed files end with place, value, remedy and exit code 2; odd values that a target reported cost one row."""

from __future__ import annotations

import json
import shutil
import stat
from pathlib import Path
from typing import Any

import pytest
from tests.faults.hostile_files import GOLDEN, make_run, write_inputs, write_rows

from assay.cli import main
from assay.formats.golden_files import load_golden
from assay.formats.strict_json import decode_json
from assay.metrics import usage
from assay.records.errors import InputError

MEMBER_FORMS: list[tuple[str, Any]] = [
    ("observations", None),
    ("observations", "observations.jsonl"),
    ("observations", [1]),
    ("observations", [{}]),
    ("observations", [{"path": 1, "format": "assay"}]),
    ("observations", [{"path": "../outputs.jsonl", "format": "assay"}]),
    ("observations", [{"path": "/etc/passwd", "format": "assay"}]),
    ("observations", [{"path": "a\0b", "format": "assay"}]),
    ("observations", [{"path": "", "format": "assay"}]),
    ("observations", [{"path": "observations.jsonl", "format": []}]),
    ("observations", [{"path": "observations.jsonl", "format": "assay", "sha256": 1}]),
    ("corpus", "corpus.jsonl"),
    ("corpus", {"path": "corpus.jsonl"}),
    ("corpus", {"path": "../corpus.jsonl", "sha256": "sha256:0"}),
    ("judge", "gpt"),
    ("judge", {}),
    ("judge", {"digest": "d", "store": 5}),
    ("judge", {"digest": "d", "store": "a\0b"}),
    ("judge", {"digest": "d", "store": "b", "rubrics": [{"path": "../../x.yaml", "sha256": "s"}]}),
    ("golden", "g"),
    ("golden", {"name": 7}),
    ("golden_digest", 7),
    ("metrics", "recall@5"),
    ("metrics", ["no_such_metric"]),
    ("metrics", [5]),
    ("attribution", {"good": 3}),
    ("attribution", {"good": "no_such_metric>=0.5"}),
    ("attribution", {"production_k": "x"}),
    ("calibration", 5),
    ("calibration", "../calibration.json"),
    ("format", "one"),
    ("configs", 3),
    ("versions", {"a": 3}),
]
TEXT_FORMS = ["", "[]", "null", '{"format": 1', '{"format": NaN}', '{"format": 1, "format": 1}', "\x00", "[" * 5000]


@pytest.fixture(scope="module", name="scored_run")
def score_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder, of which each test damages a copy."""
    return make_run(tmp_path_factory.mktemp("scored"))


@pytest.mark.slow
@pytest.mark.parametrize(("member", "value"), MEMBER_FORMS, ids=lambda form: str(form)[:40].replace("\0", "NUL"))
@pytest.mark.parametrize("command", ["score", "report"])
def test_a_tampered_manifest_is_bad_input(
    member: str, value: Any, command: str, tmp_path: Path, scored_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = shutil.copytree(scored_run, tmp_path / "run")
    manifest = json.loads((run / "manifest.json").read_text())
    (run / "manifest.json").write_text(json.dumps(manifest | {member: value}))
    capsys.readouterr()
    code = main(["score", str(run)] if command == "score" else ["report", str(run)])
    message = capsys.readouterr().err
    assert 2 == code, message
    assert "Traceback" not in message
    assert "expected" in message or "`assay metrics` lists all" in message


@pytest.mark.slow
@pytest.mark.parametrize("text", TEXT_FORMS, ids=lambda text: repr(text[:20]))
def test_a_broken_manifest_is_bad_input(
    text: str, tmp_path: Path, scored_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = shutil.copytree(scored_run, tmp_path / "run")
    (run / "manifest.json").write_text(text)
    capsys.readouterr()
    assert 2 == main(["score", str(run)])
    message = capsys.readouterr().err
    assert "manifest.json" in message
    assert "Traceback" not in message


def test_a_link_in_a_manifest_does_not_lead_out_of_the_run_folder(tmp_path: Path, scored_run: Path) -> None:
    run = shutil.copytree(scored_run, tmp_path / "run")
    (run / "observations.jsonl").rename(tmp_path / "elsewhere.jsonl")
    (run / "observations.jsonl").symlink_to(tmp_path / "elsewhere.jsonl")
    assert 2 == main(["score", str(run)])


@pytest.mark.parametrize(
    "text", ['{"a": NaN, "b": }', '{"a": 1e999, "b"', '{"a": 1, "a": 2', "{" + '"a": Infinity,' * 9]
)
def test_a_forbidden_number_before_broken_json_is_bad_input(text: str) -> None:
    with pytest.raises(InputError, match="invalid JSON"):
        decode_json(text, "x.json")


@pytest.mark.slow
@pytest.mark.parametrize(
    "head",
    [b"\r\x01", b"a\rb,c\n", b'"a\r"b', b"x" * 200_000, b"a," * 100_000, b'"' * 140_001, b"\0", b'"\n', b"\x85,\r\x85"],
    ids=lambda head: f"{head[:8]!r} of {len(head)} bytes",
)
@pytest.mark.parametrize("name", ["golden", "golden.csv", "golden.jsonl", "golden.tsv"])
def test_a_first_line_that_is_no_csv_is_bad_input(head: bytes, name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(head)
    with pytest.raises(InputError):
        load_golden(str(path), None)


def test_outputs_none_of_which_belongs_to_a_case_are_bad_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = write_inputs(tmp_path, query_id="other")
    assert 2 == main(["score", *options, "--ignore-unknown"])
    assert "expected outputs for the golden set" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["score", "--golden", "a\0b", "--outputs", "o"], ["report", "a\0b"]])
def test_a_nul_in_an_argument_is_bad_input(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert 2 == main(arguments)
    assert r"got 'a\x00b'" in capsys.readouterr().err


def test_a_nul_in_settings_is_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = tmp_path / "assay.yaml"
    settings.write_text('golden: "a\\0b"\n')
    assert 2 == main(["doctor", "--settings", str(settings)])
    assert "NUL" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize(
    "form", [{"cost_usd": 1e308}, {"latency_ms": 1e300}, {"tokens": {"prompt": 2**62, "completion": 2**62}}]
)
def test_numbers_too_large_to_add_are_errors_of_their_metric(form: dict[str, Any], tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    if "latency_ms" in form:
        form = {"latency_ms": {"end_to_end": form["latency_ms"]}}
    code = main(
        [
            "score",
            *write_inputs(tmp_path, **form),
            "--json-report",
            str(report),
            "--metrics",
            "recall@5,cost_usd,latency_ms,tokens",
        ]
    )
    assert code in (0, 3)
    metrics = json.loads(report.read_text())["configs"]["a"]["summary"]
    assert 1.0 == metrics["recall@5"]["value"]
    if "cost_usd" in form:
        assert (2, None) == (metrics["cost_usd"]["errors"], metrics["cost_usd"]["value"])


@pytest.mark.parametrize("roles", [[{}], [[]], [None], [1], {}, "hr", 3])
def test_odd_roles_of_a_chunk_are_scored(roles: Any, tmp_path: Path) -> None:
    golden = [case | {"user_context": {"tenant_id": "t", "roles": ["hr"]}} for case in GOLDEN]
    chunk = {"chunk_id": "a", "metadata": {"roles": roles}}
    options = write_inputs(tmp_path, retrieved_chunks=[chunk])
    write_rows(tmp_path / "golden.jsonl", golden)
    assert 0 == main(["score", *options, "--metrics", "recall@5"])


@pytest.mark.provokes_bug
def test_an_unforeseen_exception_costs_its_row_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail_on_second_case(observation: Any, _: str) -> float | None:
        if observation.case_id == "c2" and observation.error is None:
            raise KeyError("odd")
        return 1.0

    monkeypatch.setitem(usage._READERS, "cost_usd", fail_on_second_case)
    report = tmp_path / "report.json"
    options = ["--json-report", str(report), "--metrics", "recall@5,cost_usd", "--verbose"]
    assert 3 == main(["score", *write_inputs(tmp_path), *options])
    metrics = json.loads(report.read_text())["configs"]["a"]["summary"]
    assert (1, 1) == (metrics["recall@5"]["scored"], metrics["recall@5"]["errors"])
    printed = capsys.readouterr()
    assert "KeyError at test_no_traceback.py" in printed.out + printed.err
    assert "please report this line" in printed.out + printed.err


def test_calibrate_does_not_replace_the_verdicts_of_its_run(tmp_path: Path, scored_run: Path) -> None:
    run = shutil.copytree(scored_run, tmp_path / "run")
    labels = tmp_path / "labels.jsonl"
    labels.write_text('{"case_id": "c1", "config_id": "a", "metric": "answered", "label": "yes", "rater": "r"}\n')
    for name in ("verdicts.sqlite", "manifest.json", "observations.jsonl", "golden.jsonl"):
        (run / name).touch()
        before = (run / name).read_bytes()
        for option in ("--out", "--report"):
            assert 2 == main(["calibrate", "--run", str(run), "--labels", str(labels), option, str(run / name)])
        assert before == (run / name).read_bytes()


def test_only_the_owner_can_read_what_is_written(tmp_path: Path, scored_run: Path) -> None:
    run = shutil.copytree(scored_run, tmp_path / "run")
    report = tmp_path / "report.md"
    assert 0 == main(["score", str(run), "--report", str(report)])
    written = [report, *(path for path in run.rglob("*") if path.is_file())]
    assert {0o600} == {stat.S_IMODE(path.stat().st_mode) for path in written}
