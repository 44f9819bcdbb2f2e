"""A plugin that raises while it is used is named with its distribution; it is no bug in Assay."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.runs.scoring import make_case, make_trace, score, write
from tests.support.distributions import installed_folder, write_distribution

from assay.cli import main

CASES = [make_case("q1"), make_case("q2")]
ROWS = [make_trace("q1"), make_trace("q2")]
GOLDEN_READER = """
from assay.formats.golden_builder import GoldenFormat
def read(source, builder):
    return {}["column"]
ROW = GoldenFormat("mine", "a format", read)
"""
OUTPUT_DECODER = """
import msgspec
from assay.formats.outputs import OutputFormat
def decode(line):
    return [][5]
ROW = OutputFormat("mine", "a format", decode, msgspec.Struct, "id")
"""
TARGET = """
from assay.calls.target_kinds import TargetKind
from assay.records.settings import BaseTargetSettings
class Mine(BaseTargetSettings, frozen=True, tag="mine"): ...
class MyTarget:
    name, operations = "c", ("ask",)
    def __init__(self, request): self.name = request.name
    async def identity(self): return {"type": "mine"}
    async def observe(self, call): return 1 / 0
    async def aclose(self): ...
ROW = TargetKind("mine", Mine, MyTarget)
"""


@pytest.fixture(name="site")
def make_site(tmp_path: Path) -> Iterator[Path]:
    with installed_folder(tmp_path / "site") as folder:
        yield folder


def install(site: Path, group: str, module: str) -> None:
    write_distribution(site, "my-things", f"[assay.{group}]\nmine = mine:ROW\n", {"mine.py": module})


@pytest.mark.parametrize(
    ("module", "option", "named"),
    [
        (
            GOLDEN_READER,
            "--golden-format",
            "golden-set format mine: plugin mine:ROW of my-things 1.2: KeyError at",
        ),
        (
            OUTPUT_DECODER,
            "--outputs-format",
            "output format mine: plugin mine:ROW of my-things 1.2: IndexError at",
        ),
    ],
)
def test_a_reader_that_raises_is_named(
    module: str, option: str, named: str, site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install(site, "formats", module)
    assert 3 == score(tmp_path, CASES, ROWS, option, "mine")
    printed = capsys.readouterr()
    assert named in printed.out + printed.err
    assert "Traceback" not in printed.err
    assert "a bug in Assay" not in printed.out + printed.err


def test_a_target_that_raises_is_named_in_the_error_of_its_case(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(site, "targets", TARGET)
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "golden.jsonl", CASES)
    (tmp_path / "assay.yaml").write_text("golden: golden.jsonl\ntargets: {c: {type: mine}}\n", encoding="utf-8")
    assert 3 == main(["observe", "--run-dir", "run"])
    lines = (tmp_path / "run" / "observations.jsonl").read_text(encoding="utf-8").splitlines()
    errors = [json.loads(line)["error"] for line in lines]
    assert {"plugin_error"} == {error["code"] for error in errors}
    assert "target kind mine: plugin mine:ROW of my-things 1.2: ZeroDivisionError at mine.py" in errors[0]["message"]
