"""Fuzzes every reader, guided by coverage: `python -m tests.faults.fuzz [--executions N] [--seed N] [--keep FOLDER]`.

Samples of each format are cut, repeated, spliced and changed at random. What reaches a step from line to line that
nothing reached before joins the samples of its reader. A reader may return or raise an AssayError within two seconds of
processor time; everything else is a finding, which is minimised and written to the folder. Runs with other seeds can
share the folder; a run is repeated by its seed.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from tests.faults.readers import MAX_SAMPLE_BYTES, REFUSALS, Reader, load_samples, make_readers

import assay

PACKAGE = str(Path(str(assay.__file__)).parent)
SECONDS = 2.0
TRACED_SHARE = 4
"""One execution of so many is traced, because tracing makes a reader about ten times slower."""
MAX_SAMPLES = 2000
SUFFIXES = (".jsonl", ".json", ".csv", ".yaml", ".tsv", "")
EXECUTIONS_BETWEEN_LINES = 10_000
TOKENS = [
    *(
        b"\0",
        b"\r",
        b"\n",
        b"\r\n",
        b"\xff",
        b"\xef\xbb\xbf",
        b"\xe2\x80\xa8",
        b"\x1f\x8b",
        b'"',
        b'""',
        b",",
        b";",
        b"\t",
    ),
    *(
        b"NaN",
        b"1e999",
        b"-0",
        b"9" * 30,
        b"9" * 120,
        b"{}",
        b"[]",
        b"[[[[",
        b"null",
        b"true",
        b"\\ud800",
        b"\\",
        b"../",
    ),
    *(b"&a", b"*a", b"!!python/object", b"<<: ", b"- ", b": ", b"id", b"question", b"sha256:", b"=cmd", b"::error::"),
]


def find_fault(read: Reader, path: Path, data: bytes, seconds: float = SECONDS) -> str:
    """Return what is wrong with the way in which a reader treats some bytes; empty if nothing is."""
    path.write_bytes(data)
    began = time.process_time()
    try:
        read(path)
    except REFUSALS:
        pass
    except Exception as error:  # noqa: BLE001  # every other exception is a finding
        return type(error).__name__
    return "too slow" if time.process_time() - began > seconds else ""


def change_bytes(data: bytes, other: bytes, chance: random.Random) -> bytes:
    """Return the bytes with one to four random changes; `other` is what parts are taken from."""
    for _ in range(chance.randint(1, 4)):
        start = chance.randrange(len(data) + 1)
        end = min(len(data), start + chance.choice([0, 1, 1, 2, 8, 64]))
        middle = chance.choice(TOKENS)
        kind = chance.randrange(5)
        if kind == 0:
            middle = b""
        elif kind == 1:
            middle = data[start:end] * chance.choice([2, 3, 200])
        elif kind == 2:
            begin = chance.randrange(len(other) + 1)
            middle = other[begin : begin + 64]
        elif kind == 3:
            middle = bytes([chance.randrange(256)])
        data = data[:start] + middle + data[end:]
    return data[:200_000]


def minimise(read: Reader, path: Path, data: bytes, fault: str) -> bytes:
    """Return shorter bytes with the same fault: pieces are left out as long as it stays."""
    size = len(data) // 2
    while size:
        start = 0
        while start < len(data):
            shorter = data[:start] + data[start + size :]
            if find_fault(read, path, shorter) == fault:
                data = shorter
            else:
                start += size
        size //= 2
    return data


class StepRecorder:
    """Records the steps from line to line in the code of the package, as pairs of line numbers in a function."""

    def __init__(self) -> None:
        self.steps: set[tuple[CodeType, int, int]] = set()

    def count_new_steps(self, run: Callable[[], str]) -> tuple[str, int]:
        """Run and return the result with the number of steps that are new."""
        before = len(self.steps)
        previous = sys.gettrace()
        sys.settrace(self._enter)
        try:
            result = run()
        finally:
            sys.settrace(previous)
        return result, len(self.steps) - before

    def _enter(self, frame: FrameType, event: str, _: Any) -> Any:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(PACKAGE):
            return None
        last_line = 0

        def follow(frame: FrameType, event: str, _: Any) -> Any:
            nonlocal last_line
            if event == "line":
                self.steps.add((code, last_line, frame.f_lineno))
                last_line = frame.f_lineno
            return follow

        return follow


class Fuzzer:
    """Runs the readers on changed samples; `samples` holds, for each reader, what reached new steps."""

    def __init__(self, seed: int, keep: Path, folder: Path) -> None:
        self.chance = random.Random(seed)  # no secret
        self.keep, self.folder = keep, folder
        self.readers = make_readers()
        shared = load_samples()
        self.samples = {name: list(shared) for name in self.readers}
        self.recorder = StepRecorder()
        self.findings: set[tuple[str, str]] = set()

    def run_once(self, number: int) -> None:
        """Change one sample and give it to one reader."""
        name = self.chance.choice(list(self.readers))
        read, samples = self.readers[name], self.samples[name]
        path = self.folder / f"input{self.chance.choice(SUFFIXES)}"
        # What was added last is closest to code that is not yet well covered.
        sample = self.chance.choice(samples if self.chance.random() < 0.5 else samples[-50:])
        content = change_bytes(sample, self.chance.choice(samples), self.chance)
        new_steps = 0
        if number % TRACED_SHARE:
            fault = find_fault(read, path, content)
        else:
            fault, new_steps = self.recorder.count_new_steps(lambda: find_fault(read, path, content, SECONDS * 10))
        if new_steps and len(content) <= MAX_SAMPLE_BYTES and len(samples) < MAX_SAMPLES:
            samples.append(content)
        if fault and (name, fault) not in self.findings:
            self.findings.add((name, fault))
            self._keep_finding(name, fault, path, content, number)

    def _keep_finding(self, name: str, fault: str, path: Path, data: bytes, number: int) -> None:
        smallest = minimise(self.readers[name], path, data, fault)
        self.keep.mkdir(parents=True, exist_ok=True)
        digest = sha256(smallest).hexdigest()[:8]
        (self.keep / f"{name}-{fault}-{digest}{path.suffix}".replace(" ", "-")).write_bytes(smallest)
        sys.stdout.write(f"{name}: {fault} at execution {number}: {smallest[:100]!r}\n")


def fuzz_readers(executions: int, seed: int, keep: Path) -> int:
    """Run the readers on changed samples; return how many different findings there were."""
    with tempfile.TemporaryDirectory() as folder:
        fuzzer = Fuzzer(seed, keep, Path(folder))
        for number in range(executions):
            if number and number % EXECUTIONS_BETWEEN_LINES == 0:
                sys.stdout.write(f"{number} executions, {describe_progress(fuzzer)}\n")
                sys.stdout.flush()
            fuzzer.run_once(number)
    sys.stdout.write(f"{executions} executions, seed {seed}, {describe_progress(fuzzer)}\n")
    return len(fuzzer.findings)


def describe_progress(fuzzer: Fuzzer) -> str:
    """Describe what was reached and found so far."""
    samples = sum(len(samples) for samples in fuzzer.samples.values())
    steps, findings = len(fuzzer.recorder.steps), len(fuzzer.findings)
    return f"{len(fuzzer.readers)} readers: {steps} steps reached, {samples} samples, {findings} findings"


def main() -> int:
    """Parse the command line and fuzz; exit with 1 if anything was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--executions", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, default=Path("fuzz-findings"), help="folder for minimised findings")
    arguments = parser.parse_args()
    return 1 if fuzz_readers(arguments.executions, arguments.seed, arguments.keep) else 0


if __name__ == "__main__":
    sys.exit(main())
