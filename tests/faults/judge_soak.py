"""The long version of test_judge_kill.py: `python -m tests.faults.judge_soak --kills 1000` prints what was lost.

Half of the verdict stores are filled by a judge that answers, half by one of which nineteen of twenty replies are of no
use: there the judging also stops itself after 20 useless replies in a row. Each is resumed with the same command until
it is done, which must cost no more calls than an uninterrupted judging and, for each kill, the calls that were in
progress.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.faults.forking import CommandForker
from tests.faults.judging import CONCURRENCY, killed

KILLS_A_STORE = 10


def main() -> int:
    """Kill the process `--kills` times, ten for each verdict store; exit with 1 if a verdict was lost or differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    options = parser.parse_args()
    began = time.monotonic()
    done = lost = again = unseen = different = resumes = 0
    with tempfile.TemporaryDirectory() as folder, CommandForker() as forker:
        unkilled = {hopeless: killed(Path(folder), 0, 0, forker, hopeless=hopeless) for hopeless in (False, True)}
        for seed in range(1, 1 + -(-options.kills // KILLS_A_STORE)):
            hopeless = seed % 2 == 0
            expected = unkilled[hopeless]
            outcome = killed(Path(folder), KILLS_A_STORE, seed, forker, hopeless=hopeless)
            done, lost, resumes = done + outcome.kills, lost + outcome.lost, resumes + outcome.resumes
            again += outcome.calls - expected.calls
            unseen += max(0, outcome.calls - expected.calls - outcome.double_bills)
            different += outcome.report != expected.report or outcome.verdicts != expected.verdicts
            sys.stdout.write(
                f"{done} kills: lost {lost}, paid twice {again}, of them without an intent {unseen}, "
                f"{time.monotonic() - began:.0f} seconds\n"
            )
            sys.stdout.flush()
    within = again <= done * CONCURRENCY
    sys.stdout.write(f"all finished, after {resumes} more commands because the judging had stopped itself\n")
    sys.stdout.write(f"stores that score differently from an uninterrupted one: {different}\n")
    sys.stdout.write(f"paid twice per kill: {again / max(done, 1):.2f} (at most {CONCURRENCY}: {within})\n")
    return int(bool(lost or unseen or different or not within or done < options.kills))


if __name__ == "__main__":
    sys.exit(main())
