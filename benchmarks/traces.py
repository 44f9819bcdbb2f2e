"""Scoring recorded traces compared with decoding them: CPU time and memory of Assay and of msgspec's decoder.

`python -m benchmarks.traces [--rows 100000] [--runs 5]` writes a golden set and traces once, the same bytes every time,
and then runs every contender in its own process, in turns. It prints medians and their ratios to `decode`,
which reads the same file line by line and decodes each line into the full record of the format. CPU time is user and
system, worker processes included; starting Python, imports and loading the golden set are measured separately.
Peak memory is that of the largest process. The last line is about twice as many rows and shows the growth of memory.
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
"""The deterministic metrics of the `rag-trace` runner (ADR 0038); its checks add the metrics that they need."""

REFERENCE = "decode"
CONTENDERS = ("read", REFERENCE, "assay-1", "assay-1 per case", "assay-2", "assay-2 per case")
GROWTH = "assay-1"


class Measured(NamedTuple):
    """One execution of one contender: seconds and mebibytes; `before` is the CPU time before the work."""

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
    """Return a function that decodes all lines one by one and keeps none."""
    import msgspec

    from assay.formats.recorded_outputs.rag_trace import RagTraceRow

    decode_line = msgspec.json.Decoder(RagTraceRow).decode

    def work() -> None:
        with outputs.open("rb") as lines:
            for line in lines:
                decode_line(line)

    return work


def assay(outputs: Path, golden: Path, workers: int, per_case: bool) -> Callable[[], None]:
    """Return what scores the traces with every check, summary and slice, and writes the scores of every case."""
    from assay.formats.golden_files import load_golden
    from assay.formats.outputs import open_output_files, prepare_decodable
    from assay.records.requests import ReportFiles, ScoreRequest, ScoringOptions
    from assay.report.write_reports import write_reports
    from assay.runs.score_inputs import ScoreInputs
    from assay.runs.score_run import score_files

    loaded = load_golden(golden)
    request = ScoreRequest(scoring=ScoringOptions(metrics=(METRICS,), workers=workers))

    def work() -> None:
        inputs = ScoreInputs.from_golden(loaded.golden, request, format=loaded.format, digest=loaded.digest)
        with open_output_files([str(outputs)], None) as files, prepare_decodable(files) as ready:
            run = score_files(inputs, ready)
            for config in run.scoring.configs.values():  # slices are summed up when somebody looks at them
                for summaries in config.slices.values():
                    dict(summaries)
            if per_case:
                with tempfile.TemporaryDirectory() as folder:
                    write_reports(run, ReportFiles(per_case=str(Path(folder, "cases.jsonl"))))

    return work


def prepared(name: str, outputs: Path, golden: Path) -> Callable[[], None]:
    """Return the work of a contender, after loading what is measured separately."""
    if name in ("read", REFERENCE):
        return {"read": read, REFERENCE: decode}[name](outputs, golden)
    workers, _, per_case = name.removeprefix("assay-").partition(" ")
    return assay(outputs, golden, int(workers), bool(per_case))


def cpu() -> float:
    """Return the CPU seconds of this process and of those that it started and saw end."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def contend(name: str, outputs: Path, golden: Path) -> None:
    """Run as a contender: print time and memory of the work."""
    work = prepared(name, outputs, golden)
    before, begun = cpu(), time.perf_counter()
    work()
    wall, used = time.perf_counter() - begun, cpu() - before
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(json.dumps(Measured(wall, used, before, peak / (2**20 if sys.platform == "darwin" else 2**10))))


def measure(name: str, outputs: Path, golden: Path) -> Measured:
    """Run one contender in its own process and return its time and memory."""
    command = [sys.executable, "-m", "benchmarks.traces", "--contender", name]
    command += ["--files", str(golden), str(outputs)]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment["OPENBLAS_NUM_THREADS"] = "1"  # as the command line sets it, so that workers are forked
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise SystemExit(f"{name} failed:\n{done.stderr}")
    return Measured(*json.loads(done.stdout.splitlines()[-1]))


def middle(runs: list[Measured]) -> Measured:
    """Return the medians of several executions."""
    return Measured(*(median(values) for values in zip(*runs, strict=True)))


def table(medians: dict[str, Measured]) -> str:
    """Return the medians with their ratios to decoding alone."""
    reference = medians[REFERENCE]
    lines = [
        "| contender | CPU s | ÷ decode | wall s | ÷ decode | peak MiB | start: CPU s |",
        "|---|" + "---|" * 6,
    ]
    for name, median_run in medians.items():
        cpu_time = f"{median_run.cpu:.2f} | {median_run.cpu / reference.cpu:.2f}"
        wall_time = f"{median_run.wall:.2f} | {median_run.wall / reference.wall:.2f}"
        lines.append(f"| {name} | {cpu_time} | {wall_time} | {median_run.memory:.0f} | {median_run.before:.2f} |")
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
    medians = {name: middle(measurements) for name, measurements in runs.items()}
    print(table(medians))
    golden, outputs = write(options.folder, 2 * options.rows, options.cases)
    twice = measure(GROWTH, outputs, golden)
    grown = (twice.memory - medians[GROWTH].memory) * 2**20 / options.rows
    print(f"{GROWTH} with {2 * options.rows} rows: {twice.memory:.0f} MiB, {grown:.0f} bytes for each further row")


if __name__ == "__main__":
    main()
