"""Scoring recorded traces beside decoding them: Assay's CPU time and memory against msgspec's typed decode alone.

`python -m benchmarks.traces [--rows 100000] [--runs 5]` writes a golden set and traces once, the same bytes every time,
and then runs every contender in a process of its own, taking turns. It prints medians and their ratios to `decode`,
which reads the same file line by line and decodes each line into the full record of the format. CPU time is user and
system, worker processes included; what it takes to start Python, to import and to load the golden set comes before it
and is told apart. Peak memory is that of the largest process. The last table is of twice as many rows: what memory
grows by.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.tracegen import write

METRICS = (
    "hit@5,hit@10,recall@5,recall@10,precision@5,precision@10,rr@5,rr@10,ndcg@5,ndcg@10,context_recall,"
    "citation_correctness(by=rules),behaviour,latency_ms,latency_ms(stat=p95),cost_usd"
)
"""All deterministic metrics of the runner behind `rag-trace`; the metrics that its checks use come with them."""

REFERENCE = "decode"
CONTENDERS = ("read", REFERENCE, "assay-1", "assay-1 per case", "assay-2", "assay-2 per case")
GROWTH = "assay-1"


class Measured(NamedTuple):
    """One execution of one contender: seconds and mebibytes; `before` is the CPU time that is told apart."""

    wall: float
    cpu: float
    before: float
    memory: float


def read(outputs: Path, golden: Path) -> Callable[[], None]:
    """Return what reads every line."""

    def work() -> None:
        with outputs.open("rb") as lines:
            for _ in lines:
                pass

    return work


def decode(outputs: Path, golden: Path) -> Callable[[], None]:
    """Return what decodes every line, one at a time, and keeps none."""
    import msgspec

    from assay.io.outputs.ragtrace import RagTrace

    one = msgspec.json.Decoder(RagTrace).decode

    def work() -> None:
        with outputs.open("rb") as lines:
            for line in lines:
                one(line)

    return work


def assay(outputs: Path, golden: Path, workers: int, per_case: bool) -> Callable[[], None]:
    """Return what scores the traces with every check, summary and slice, and writes the scores of every case."""
    from assay.io.golden import load_golden
    from assay.workflow import reports
    from assay.workflow.outputs import decodable, output_files
    from assay.workflow.score import Job, Options, score_files

    loaded = load_golden(golden)
    options = Options(metrics=(METRICS,), workers=workers)

    def work() -> None:
        job = Job.of(loaded.golden, options, None, loaded.format, loaded.digest)
        with output_files([str(outputs)], None) as files, decodable(files) as ready:
            run = score_files(job, ready)
            for config in run.scoring.configs.values():  # slices are summed up when somebody looks at them
                for summaries in config.slices.values():
                    dict(summaries)
            if per_case:
                with tempfile.TemporaryDirectory() as folder:
                    reports.write_reports(run, reports.Targets(per_case=str(Path(folder, "cases.jsonl"))))

    return work


def prepared(name: str, outputs: Path, golden: Path) -> Callable[[], None]:
    """Return the work of a contender, with everything loaded that is told apart."""
    if name in ("read", REFERENCE):
        return {"read": read, REFERENCE: decode}[name](outputs, golden)
    workers, _, per_case = name.removeprefix("assay-").partition(" ")
    return assay(outputs, golden, int(workers), bool(per_case))


def cpu() -> float:
    """Return the CPU seconds of this process and of those that it started and saw end."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def contend(name: str, outputs: Path, golden: Path) -> None:
    """Be a contender: print what the work took."""
    work = prepared(name, outputs, golden)
    before, begun = cpu(), time.perf_counter()
    work()
    wall, used = time.perf_counter() - begun, cpu() - before
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(json.dumps(Measured(wall, used, before, peak / (2**20 if sys.platform == "darwin" else 2**10))))


def measure(name: str, outputs: Path, golden: Path) -> Measured:
    """Run one contender to its end and return what it took."""
    command = [sys.executable, "-m", "benchmarks.traces", "--contender", name]
    command += ["--files", str(golden), str(outputs)]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment["OPENBLAS_NUM_THREADS"] = "1"  # as the command line has it: workers are then forked
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise SystemExit(f"{name} failed:\n{done.stderr}")
    return Measured(*json.loads(done.stdout.splitlines()[-1]))


def middle(runs: list[Measured]) -> Measured:
    """Return the medians of several executions."""
    return Measured(*(median(values) for values in zip(*runs, strict=True)))


def table(found: dict[str, Measured]) -> str:
    """Return the medians with their ratios to decoding alone."""
    reference = found[REFERENCE]
    lines = [
        "| contender | CPU s | ÷ decode | wall s | ÷ decode | peak MiB | told apart: CPU s |",
        "|---|" + "---|" * 6,
    ]
    for name, each in found.items():
        shares = f"{each.cpu:.2f} | {each.cpu / reference.cpu:.2f} | {each.wall:.2f} | {each.wall / reference.wall:.2f}"
        lines.append(f"| {name} | {shares} | {each.memory:.0f} | {each.before:.2f} |")
    return "\n".join(lines)


def main() -> None:
    """Run the benchmark and print its tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--cases", type=int, default=25_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "assay-benchmarks" / "traces")
    parser.add_argument("--contender", help=argparse.SUPPRESS)
    parser.add_argument("--files", nargs=2, type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.contender is not None:
        golden, outputs = options.files
        contend(options.contender, outputs, golden)
        return
    golden, outputs = write(options.folder, options.rows, options.cases)
    size = outputs.stat().st_size
    print(
        f"{options.rows} rows of {size / options.rows / 1000:.2f} kB, {options.cases} cases; median of {options.runs}"
    )
    runs: dict[str, list[Measured]] = {name: [] for name in CONTENDERS}
    for _ in range(options.runs):
        for name in CONTENDERS:
            runs[name].append(measure(name, outputs, golden))
    found = {name: middle(each) for name, each in runs.items()}
    print(table(found))
    golden, outputs = write(options.folder, 2 * options.rows, options.cases)
    twice = measure(GROWTH, outputs, golden)
    grown = (twice.memory - found[GROWTH].memory) * 2**20 / options.rows
    print(f"{GROWTH} with {2 * options.rows} rows: {twice.memory:.0f} MiB, {grown:.0f} bytes for each further row")


if __name__ == "__main__":
    main()
