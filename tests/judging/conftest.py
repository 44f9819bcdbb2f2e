"""A scripted judge's endpoint for every test that wants one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.support.judge_server import JudgeServer, judge_server


@pytest.fixture(name="judge_server")
def _judge_server() -> Iterator[JudgeServer]:
    with judge_server() as server:
        yield server
