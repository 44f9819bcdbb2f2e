"""kill -9 during ingest, checkpoint and migration: nothing acknowledged is lost, and nothing is stored twice.

Where acknowledgements come before their commits, seven and ten of fifteen kills lost answers in two trials;
`python -m tests.audit.killing` kills a thousand times.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.audit.killing import LINES_PER_KILL, KillPlan, kill_ingest
from tests.faults.forking import CommandForker

pytestmark = pytest.mark.slow


def test_killed_ingests_lose_and_double_nothing(tmp_path: Path, forker: CommandForker) -> None:
    outcome = kill_ingest(tmp_path, KillPlan(15, 1), forker)
    assert (15, 0, 0, 0) == (outcome.kills, outcome.lost, outcome.doubled, outcome.broken)
    assert outcome.answers >= 15 * LINES_PER_KILL
    assert outcome.kills_among_batches >= 5


def test_killed_ingests_into_a_database_lose_and_double_nothing(
    tmp_path: Path, forker: CommandForker, postgres_server: str
) -> None:
    outcome = kill_ingest(tmp_path, KillPlan(6, 2, server=postgres_server), forker)
    assert (6, 0, 0, 0) == (outcome.kills, outcome.lost, outcome.doubled, outcome.broken)
    assert outcome.answers >= 6 * LINES_PER_KILL


def test_killed_ingests_of_whole_batches_lose_and_double_nothing(tmp_path: Path, forker: CommandForker) -> None:
    outcome = kill_ingest(tmp_path, KillPlan(4, 3, batch=5000, lines=2500, seconds=1.0), forker)
    assert (4, 0, 0, 0) == (outcome.kills, outcome.lost, outcome.doubled, outcome.broken)
