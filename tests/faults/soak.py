"""The long version of test_kill.py: `python -m tests.faults.soak --kills 200` prints what was lost or asked again."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.faults.forking import CommandForker
from tests.faults.killing import CASES, CONCURRENCY, killed

KILLS_A_RUN = 10


def main() -> int:
    """Kill the process `--kills` times, ten in each run; exit with 1 if a line was lost, doubled or differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    options = parser.parse_args()
    done = lost = twice = torn = again = different = 0
    with tempfile.TemporaryDirectory() as folder, CommandForker() as forker:
        unkilled = killed(Path(folder), 0, 0, forker)
        for seed in range(1, 1 + -(-options.kills // KILLS_A_RUN)):
            outcome = killed(Path(folder), KILLS_A_RUN, seed, forker)
            done, lost, twice, torn = (
                done + outcome.kills,
                lost + outcome.lost,
                twice + outcome.twice,
                torn + outcome.torn,
            )
            again += outcome.calls - CASES
            different += outcome.lines != unkilled.lines
            sys.stdout.write(f"{done} kills: lost {lost}, twice {twice}, torn tails {torn}, asked again {again}\n")
            sys.stdout.flush()
    sys.stdout.write(f"runs that differ from an uninterrupted one: {different}\n")
    within = again <= done * CONCURRENCY
    sys.stdout.write(f"asked again per kill: {again / done:.2f} (at most {CONCURRENCY}: {within})\n")
    return int(bool(lost or twice or different or not within))


if __name__ == "__main__":
    sys.exit(main())
