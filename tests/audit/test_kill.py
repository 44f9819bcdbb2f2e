"""kill -9 during ingest, checkpoint and migration: nothing acknowledged is lost, and nothing is stored twice."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.audit.killing import LINES_PER_KILL, KillPlan, kill_ingest
from tests.faults.forking import CommandForker

pytestmark = pytest.mark.slow


def test_fifty_killed_ingests_lose_and_double_nothing(tmp_path: Path, forker: CommandForker) -> None:
    outcome = kill_ingest(tmp_path, KillPlan(50, 1), forker)
    assert (50, 0, 0, 0) == (outcome.kills, outcome.lost, outcome.doubled, outcome.broken)
    assert outcome.answers >= 50 * LINES_PER_KILL


def test_killed_ingests_into_a_database_lose_and_double_nothing(
    tmp_path: Path, forker: CommandForker, postgres_server: str
) -> None:
    outcome = kill_ingest(tmp_path, KillPlan(12, 2, server=postgres_server), forker)
    assert (12, 0, 0, 0) == (outcome.kills, outcome.lost, outcome.doubled, outcome.broken)
    assert outcome.answers >= 12 * LINES_PER_KILL


def test_killed_ingests_of_whole_batches_lose_and_double_nothing(tmp_path: Path, forker: CommandForker) -> None:
    outcome = kill_ingest(tmp_path, KillPlan(6, 3, batch=5000, lines=4000, seconds=1.5), forker)
    assert (6, 0, 0, 0) == (outcome.kills, outcome.lost, outcome.doubled, outcome.broken)
