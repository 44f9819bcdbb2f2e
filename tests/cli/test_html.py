"""The HTML report from the command line: from settings, from flags, from a run folder, with a comparison."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from tests.cli.living import SETTINGS
from tests.report.html_islands import details, islands

from assay.cli import main

pytestmark = pytest.mark.slow


def read(path: Path) -> dict[str, object]:
    """Return the islands of a report."""
    return islands(path.read_text(encoding="utf-8"))


def test_settings_and_flags_of_a_living_run_write_it(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "assay.yaml").write_text(SETTINGS.replace("report: {", "report: {html: from-settings.html, "))
    assert 0 == main(["run", "--run-dir", "run", "--target", "first"])
    assert "from-settings.html" in capsys.readouterr().err
    found = read(here / "from-settings.html")
    report = found["report"]
    assert isinstance(report, dict)
    assert "--run run" == report["explain"].replace(str(here) + "/", "")
    assert [0, 1, 2] == sorted(details(found))
    assert 0 == main(["run", "--run-dir", "run", "--target", "first", "--html", "flag.html", "--detail-mb", "0"])
    assert {} == details(read(here / "flag.html"))


def test_recorded_outputs_give_the_same_bytes_each_time(here: Path) -> None:
    assert 0 == main(["observe", "--run-dir", "run", "--target", "first"])
    words = ["score", "--golden", "golden.jsonl", "--outputs", "run/observations.jsonl", "--owner", "HR"]
    for name in ("one.html", "two.html"):
        assert 0 == main([*words, "--html", name])
    assert (here / "one.html").read_bytes() == (here / "two.html").read_bytes()
    report = read(here / "one.html")["report"]
    assert isinstance(report, dict)
    assert "--golden golden.jsonl --outputs run/observations.jsonl" == report["explain"]
    assert "HR" == report["owner"]


def test_what_was_read_is_never_written_over(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["observe", "--run-dir", "run", "--target", "first"])
    words = ["score", "--golden", "golden.jsonl", "--outputs", "run/observations.jsonl"]
    assert 2 == main([*words, "--html", "golden.jsonl"])
    assert "golden.jsonl" in capsys.readouterr().err


def test_a_run_is_reported_beside_a_baseline(here: Path) -> None:
    assert main(["run", "--run-dir", "run", "--target", "first", "--target", "second"]) in (0, 1, 3)
    assert 0 == main(["report", "run:second", "--baseline", "run:first", "--html", "r.html"])
    report = read(here / "r.html")["report"]
    assert isinstance(report, dict)
    assert ("first", "second") == tuple(report["comparison"][side]["config"] for side in ("baseline", "candidate"))


def test_the_command_that_the_page_names_explains_the_case(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["run", "--run-dir", "run", "--target", "first", "--html", "r.html"])
    report = read(here / "r.html")["report"]
    assert isinstance(report, dict)
    capsys.readouterr()
    assert 0 == main(["explain", "c1", "--config", "first", *shlex.split(report["explain"])])
    assert "c1 under first" in capsys.readouterr().out
    assert 0 == main(["explain", "c1", "--run", "run:first"])
    assert 2 == main(["explain", "c1"])
    assert 2 == main(["explain", "c1", "--run", "run", "--golden", "golden.jsonl"])
    assert "no answers named" in capsys.readouterr().err
