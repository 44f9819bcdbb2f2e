"""What the tests of `assay judge` share: a working directory with eight cases, and a judge that labels honestly."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.faults.judging import honest, write_inputs
from tests.support.judge_server import JudgeServer, judge_server, labelled

KEY = "a-very-secret-key-of-mine"
NAMED = ("--judge", "scripted", "--model", "scripted-1", "--base-url-env", "THE_JUDGE", "--api-key-env", "THE_KEY")
METRICS = ("--metrics", "faithfulness(by=judge),answer_relevance(by=judge)")


@contextmanager
def judging(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[JudgeServer]:
    """Yield the judge's endpoint; its address and key are in the environment."""
    patch.chdir(folder)
    write_inputs(folder, 8)
    with judge_server(answer=labelled(honest)) as server:
        patch.setenv("THE_JUDGE", f"{server.url}/v1")
        patch.setenv("THE_KEY", KEY)
        yield server
