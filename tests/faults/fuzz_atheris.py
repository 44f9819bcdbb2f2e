"""Fuzzes every reader with libFuzzer: `python -m tests.faults.fuzz_atheris [--executions N] [--seconds N]`.

Needs `atheris`, which the project does not install: make an environment of its own with `requirements/core.txt` and
`atheris`. Coverage comes from instrumented bytecode, so that this is about ten times faster than
`python -m tests.faults.fuzz`, which needs nothing. The first byte of an input chooses the reader and the second the
name of its file. Findings are minimised and written to the folder; a run goes on after one.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from hashlib import sha256
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["assay"]):
    from tests.faults.fuzz import SUFFIXES, find_fault, minimise
    from tests.faults.readers import load_samples, make_readers

READERS = make_readers()
SECONDS_BETWEEN_LINES = 60.0
MAX_INPUT_BYTES = 2048
_MEMORY = Path("/dev/shm")  # nothing secret, and a file there costs no disk


class InputRunner:
    """Gives inputs to readers; `executions` counts them, and `findings` has what was found once for each reader."""

    def __init__(self, keep: Path, folder: Path, names: list[str]) -> None:
        self.keep, self.folder, self.names = keep, folder, names
        self.executions: Counter[str] = Counter()
        self.findings: set[tuple[str, str]] = set()
        self.began = self.last_line = time.monotonic()

    def run(self, data: bytes) -> None:
        """Give one input to the reader that its first byte chooses."""
        if len(data) < 2:  # the two bytes that choose
            return
        name = self.names[data[0] % len(self.names)]
        path = self.folder / f"input{SUFFIXES[data[1] % len(SUFFIXES)]}"
        self.executions[name] += 1
        fault = find_fault(READERS[name], path, data[2:])
        if fault and (name, fault) not in self.findings:
            self.findings.add((name, fault))
            self._keep_finding(name, fault, path, data[2:])
        if time.monotonic() - self.last_line > SECONDS_BETWEEN_LINES:
            self.last_line = time.monotonic()
            self.print_progress()

    def print_progress(self) -> None:
        """Print how many executions there were, of which reader the fewest, and how many findings."""
        total = sum(self.executions.values())
        rate = total / max(0.001, time.monotonic() - self.began)
        name, fewest = min(((name, self.executions[name]) for name in self.names), key=lambda pair: pair[1])
        sys.stdout.write(
            f"{total} executions, {rate:.0f} a second, {len(self.names)} readers (fewest: {name}, {fewest}), "
            f"{len(self.findings)} findings\n"
        )
        sys.stdout.flush()

    def _keep_finding(self, name: str, fault: str, path: Path, data: bytes) -> None:
        smallest = minimise(READERS[name], path, data, fault)
        self.keep.mkdir(parents=True, exist_ok=True)
        digest = sha256(smallest).hexdigest()[:8]
        (self.keep / f"{name}-{fault}-{digest}{path.suffix}".replace(" ", "-")).write_bytes(smallest)
        sys.stdout.write(f"{name}: {fault}: {smallest[:100]!r}\n")
        sys.stdout.flush()


def write_samples(folder: Path, names: list[str]) -> None:
    """Write each sample for each reader, with a file name that fits as far as the sample tells."""
    for sample in load_samples():
        if len(sample) > MAX_INPUT_BYTES:
            sample = sample[: sample.rfind(b"\n", 0, MAX_INPUT_BYTES) + 1] or sample[:MAX_INPUT_BYTES]
        first = sample.lstrip()[:1]
        suffix = SUFFIXES.index(".jsonl" if first == b"{" else ".json" if first == b"[" else "")
        for number in range(len(names)):
            content = bytes([number, suffix]) + sample[:MAX_INPUT_BYTES]
            (folder / sha256(content).hexdigest()[:16]).write_bytes(content)


def main() -> None:
    """Parse the command line and fuzz; libFuzzer ends the process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--executions", type=int, default=10_000_000)
    parser.add_argument("--seconds", type=int, default=3600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, default=Path("fuzz-findings"), help="folder for minimised findings")
    parser.add_argument("--readers", default="", help="names separated by commas; all without")
    arguments = parser.parse_args()
    names = arguments.readers.split(",") if arguments.readers else list(READERS)
    work = Path(tempfile.mkdtemp(prefix="assay-fuzz-", dir=_MEMORY if _MEMORY.is_dir() else None))
    samples = work / "samples"
    samples.mkdir()
    tempfile.tempdir = str(work)  # temporary folders of readers too: removing one on a disk takes milliseconds
    write_samples(samples, names)
    runner = InputRunner(arguments.keep, work, names)
    options = [
        f"-runs={arguments.executions}",
        f"-max_total_time={arguments.seconds}",
        f"-seed={arguments.seed}",
        f"-max_len={MAX_INPUT_BYTES}",
        "-rss_limit_mb=4096",
        "-timeout=900",
        "-print_final_stats=1",
    ]
    atheris.Setup([sys.argv[0], *options, str(samples)], runner.run)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
