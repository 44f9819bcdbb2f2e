"""The long version of test_judge_kill.py: `python -m tests.faults.judge_soak --kills 200` prints what was lost."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.faults.judging import CONCURRENCY, killed

KILLS_A_BOOK = 10


def main() -> int:
    """Kill the process `--kills` times, ten for each verdict store; exit with 1 if a verdict was lost or differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    options = parser.parse_args()
    done = lost = again = unseen = different = 0
    with tempfile.TemporaryDirectory() as folder:
        unkilled = killed(Path(folder), 0, 0)
        for seed in range(1, 1 + -(-options.kills // KILLS_A_BOOK)):
            outcome = killed(Path(folder), KILLS_A_BOOK, seed)
            done, lost = done + outcome.kills, lost + outcome.lost
            again += outcome.calls - unkilled.calls
            unseen += max(0, outcome.calls - unkilled.calls - outcome.double_bills)
            different += outcome.report != unkilled.report or outcome.verdicts != unkilled.verdicts
            sys.stdout.write(f"{done} kills: lost {lost}, asked again {again}, of them without an intent {unseen}\n")
            sys.stdout.flush()
    within = again <= done * CONCURRENCY
    sys.stdout.write(f"books that score differently from an uninterrupted one: {different}\n")
    sys.stdout.write(f"asked again per kill: {again / max(done, 1):.2f} (at most {CONCURRENCY}: {within})\n")
    return int(bool(lost or unseen or different or not within or done < options.kills))


if __name__ == "__main__":
    sys.exit(main())
