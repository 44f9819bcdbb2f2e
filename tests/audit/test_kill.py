"""kill -9 during ingest, checkpoint and migration: nothing acknowledged is lost, and nothing is stored twice."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.audit.killing import LINES_PER_KILL, kill_ingest
from tests.faults.forking import CommandForker

pytestmark = pytest.mark.slow


def test_fifty_killed_ingests_lose_and_double_nothing(tmp_path: Path, forker: CommandForker) -> None:
    outcome = kill_ingest(tmp_path, 50, 1, forker)
    assert (50, 0, 0, 0) == (outcome.kills, outcome.lost, outcome.doubled, outcome.broken)
    assert outcome.answers >= 50 * LINES_PER_KILL
