"""Scoring TREC files, with means and values by query: Assay compared with pytrec_eval, ir_measures and ranx.

`python -m benchmarks.trec [--queries 100000] [--depth 100] [--runs 3]` writes a run and its qrels once, the same bytes
every time, and then runs every contender in its own process, in turns. It prints medians of wall time, CPU
time (user and system, children included) and peak memory, and ratios to the faster of two ways to use pytrec_eval.
Peak memory is the sum of the peaks of a contender's processes: pages that two processes share are counted twice. The
peers run in their own environment; those that are not installed are skipped.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

CONTENDERS = Path(__file__).parent / "trec_contenders.py"
REQUIREMENTS = Path(__file__).parent / "requirements.txt"
PEERS = Path(__file__).parent / ".venv" / "bin" / "python"
MODULES = {
    "pytrec_eval-own": "pytrec_eval",
    "pytrec_eval-loop": "pytrec_eval",
    "ir_measures": "ir_measures",
    "ranx": "ranx",
}
REFERENCES = ("pytrec_eval-own", "pytrec_eval-loop")
JUDGED = 20
VERSION = 1  # of the files written: raise it with any change to `write_files`
AGREEMENT = 1e-9


@dataclass(frozen=True)
class Measured:
    """One execution of one contender: seconds, mebibytes, and the means that it found."""

    wall: float
    cpu: float
    memory: float
    means: dict[str, float]


def write_files(folder: Path, queries: int, depth: int) -> tuple[Path, Path]:
    """Return qrels and run: falling scores, 20 judged documents a query of which half are in the ranking."""
    qrels, run = folder / "qrels.txt", folder / "run.txt"
    done = folder / "done"
    if done.exists():
        return qrels, run
    folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(1)
    with qrels.open("w") as judgments, run.open("w") as rankings:
        for number in range(queries):
            numbers = rng.sample(range(10**8, 10**9), depth + JUDGED // 2)
            documents = [
                f"msmarco_passage_{number_of_document % 70:02d}_{number_of_document:09d}"
                for number_of_document in numbers
            ]
            score = 30.0
            for rank, document in enumerate(documents[:depth], 1):
                score -= rng.randrange(1, 500_000) / 1e6
                rankings.write(f"{100_000 + number} Q0 {document} {rank} {score:.6f} bench\n")
            judged = rng.sample(documents[:depth], min(depth, JUDGED // 2))
            for document in judged + documents[depth:]:
                judgments.write(f"{100_000 + number} 0 {document} {rng.choice((0, 0, 1, 1, 2, 3))}\n")
    done.touch()
    return qrels, run


def measure(python: str, name: str, qrels: Path, run: Path) -> Measured:
    """Run one contender to its end and return what it took."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    command = [python, "-P", str(CONTENDERS), name, str(qrels), str(run)]
    begun = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        printed = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - begun
    if process.returncode:
        raise SystemExit(f"{name} failed")
    told = json.loads(printed.splitlines()[-1])
    return Measured(wall, usage.ru_utime + usage.ru_stime, sum(told["peaks_mib"]), told["means"])


def present(peers: Path, names: Sequence[str]) -> dict[str, str]:
    """Return the interpreter of each contender that can run here, and say what to do about the others."""
    found = {}
    for name in names:
        python = interpreter(MODULES[name], peers) if name in MODULES else sys.executable
        if python:
            found[name] = python
        else:
            print(f"{name} skipped: python -m venv {peers.parent.parent} && {peers} -m pip install -r {REQUIREMENTS}")
    return found


def interpreter(module: str, peers: Path) -> str | None:
    """Return the first of the peers' interpreter and this one that has a module."""
    for python in (str(peers), sys.executable):
        if (
            Path(python).exists()
            and subprocess.run([python, "-c", f"import {module}"], stderr=subprocess.DEVNULL).returncode == 0
        ):
            return python
    return None


def disagreements(runs: dict[str, list[Measured]]) -> list[str]:
    """Return one sentence for each mean in which a contender differs from the first."""
    reference = next(iter(runs.values()))[0].means
    return [
        f"{name}: {measure} is {value!r}, not {reference[measure]!r}"
        for name, measured in runs.items()
        for measure, value in measured[0].means.items()
        if abs(value - reference[measure]) > AGREEMENT
    ]


def table(runs: dict[str, list[Measured]]) -> str:
    """Return the medians, with ratios to the faster way to use pytrec_eval."""
    medians = {
        name: (median(m.wall for m in measured), median(m.cpu for m in measured), median(m.memory for m in measured))
        for name, measured in runs.items()
    }
    known = [medians[name] for name in REFERENCES if name in medians]
    reference = min(known) if known else next(iter(medians.values()))
    lines = [
        "| contender | wall s | CPU s | peak MiB | times as fast | share of CPU | share of memory |",
        "|---|" + "---|" * 6,
    ]
    for name, (wall, cpu, memory) in medians.items():
        shares = f"{reference[0] / wall:.2f} | {cpu / reference[1]:.2f} | {memory / reference[2]:.2f}"
        lines.append(f"| {name} | {wall:.2f} | {cpu:.2f} | {memory:.0f} | {shares} |")
    return "\n".join(lines)


def main() -> None:
    """Run the benchmark and print its table; exit 1 where the means differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=100_000)
    parser.add_argument("--depth", type=int, default=100)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", action="append", choices=["assay-1", "assay-2", *MODULES], help="can be repeated")
    parser.add_argument("--peers", type=Path, default=PEERS, help="the interpreter of the peers' environment")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "assay-benchmarks")
    options = parser.parse_args()
    folder = options.folder / f"trec-{VERSION}-{options.queries}x{options.depth}"
    qrels, run = write_files(folder, options.queries, options.depth)
    chosen = present(options.peers, options.only or ["assay-1", "assay-2", *MODULES])
    print(
        f"{run.stat().st_size / 1e6:.0f} MB, {options.queries} queries × {options.depth}; median of {options.runs}",
        flush=True,
    )
    runs: dict[str, list[Measured]] = {name: [] for name in chosen}
    for _ in range(options.runs):
        for name, python in chosen.items():
            runs[name].append(measure(python, name, qrels, run))
            print(f"{name}: {runs[name][-1].wall:.2f} s", file=sys.stderr, flush=True)
    print(table(runs))
    different = disagreements(runs)
    print("\n".join(different) or "all means agree to 1e-9")
    if different:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
