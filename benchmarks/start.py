"""Start-up times: `assay --help`, and scoring a small golden set with every deterministic metric.

`python -m benchmarks.start [--runs 11]` runs each command in its own process, in turns, and prints median wall and CPU
times. Scored are the recorded outputs of the handbook example, with its corpus: of one configuration, and of both.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

HANDBOOK = Path(__file__).resolve().parents[1] / "examples" / "handbook"
ASSAY = [sys.executable, "-c", "from assay.__main__ import run_process; run_process()"]
SCORE = [
    *(*ASSAY, "score", "--golden", str(HANDBOOK / "golden" / "handbook.jsonl")),
    *("--corpus", str(HANDBOOK / "corpus" / "chunks.jsonl"), "--outputs"),
]
COMMANDS = {
    "python alone": [sys.executable, "-c", "pass"],
    "import assay": [sys.executable, "-c", "import assay"],
    "assay --help": [*ASSAY, "--help"],
    "assay score --help": [*ASSAY, "score", "--help"],
    "assay score, 41 rows": [*SCORE, str(HANDBOOK / "outputs" / "hybrid-rerank.jsonl")],
    "assay score, 82 rows": [*SCORE, str(HANDBOOK / "outputs" / "*.jsonl")],
}


def measure(command: list[str]) -> tuple[float, float]:
    """Run one command to its end and return the wall and CPU seconds that it took."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    begun = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - begun
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed with {process.returncode}")
    return wall, usage.ru_utime + usage.ru_stime


def main() -> None:
    """Run the benchmark and print its table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=11)
    options = parser.parse_args()
    for command in COMMANDS.values():  # compile bytecode before measuring
        measure(command)
    runs = [{name: measure(command) for name, command in COMMANDS.items()} for _ in range(options.runs)]
    print(f"median of {options.runs}\n| command | wall s | CPU s |\n|---|---|---|")
    for name in COMMANDS:
        wall, cpu = (median(run[name][index] for run in runs) for index in (0, 1))
        print(f"| {name} | {wall:.3f} | {cpu:.3f} |")


if __name__ == "__main__":
    main()
