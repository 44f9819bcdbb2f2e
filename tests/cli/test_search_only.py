"""Systems behind HTTP that only search."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.living import rows, write_golden
from tests.contracts.loopback import Request, Server, as_json, serving

from assay.cli import main
from assay.records.golden_set import Case, Evidence, User

CASES = [Case("c0", "Where is the ferry?", evidence=(Evidence(({"chunk_id": "pier"},)),), user=User(tenant="north"))]


async def find(request: Request, writer: asyncio.StreamWriter) -> None:
    writer.write(as_json({"hits": [{"id": "pier", "text": "Pier 4"}, {"id": request.json.get("words", "none")}]}))


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A search, and the working directory with a golden set."""
    monkeypatch.chdir(tmp_path)
    write_golden(tmp_path / "golden.jsonl", CASES)
    with serving(find) as server:
        yield server


def write_settings(server: Server, **target: object) -> None:
    settings = {"golden": "golden.jsonl", "targets": {"find": {"type": "http", **target}}}
    Path("assay.yaml").write_text(json.dumps(settings, indent=1).replace("HERE", server.url), encoding="utf-8")


SEARCH = {"url": "HERE/search", "body": {"words": "{{question}}", "of": "{{user.tenant}}"}}


@pytest.mark.parametrize("options", [["--retrieval-only"], []])
def test_a_system_that_only_searches_has_a_search_and_no_url(
    server: Server, capsys: pytest.CaptureFixture[str], options: list[str]
) -> None:
    write_settings(server, search=SEARCH)
    assert 0 == main(["run", "--run-dir", "run", "--metrics", "recall@10", *options])
    assert [{"words": "Where is the ferry?", "of": "north"}] == [request.json for request in server.requests]
    (row,) = rows(Path("run"))
    assert (["search"], False) == ([stage["name"] for stage in row["stages"]], "answer" in row)
    printed = capsys.readouterr()
    assert "recall@10             1.000" in printed.out
    assert "not told which user" not in printed.err + printed.out


def test_an_address_that_answers_is_not_searched(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    write_settings(server, url="HERE/ask")
    assert 2 == main(["run", "--retrieval-only"])
    printed = capsys.readouterr().err
    assert "assay.yaml:4: targets.find.search: E_TARGET cannot search" in printed
    assert "search: {url: ADDRESS}, and no url if the system only searches" in printed
    assert not server.requests
    assert not Path("runs/0001").exists()


def test_a_target_without_any_address_is_refused_with_its_line(
    server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    write_settings(server, body={"q": "{{question}}"})
    assert 2 == main(["run"])
    printed = capsys.readouterr().err
    assert "assay.yaml:4: targets.find.url: E_MISSING missing (expected the address that answers, or search:" in printed


def test_all_targets_are_checked_before_the_first_is_searched(
    server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = {
        "golden": "golden.jsonl",
        "targets": {
            "find": {"type": "http", "search": {"url": server.url + "/search"}},
            "desk": {"type": "http", "url": server.url + "/ask"},
        },
    }
    Path("assay.yaml").write_text(json.dumps(settings), encoding="utf-8")
    assert 2 == main(["run", "--retrieval-only"])
    assert "targets.desk.search" in capsys.readouterr().err
    assert not server.requests
