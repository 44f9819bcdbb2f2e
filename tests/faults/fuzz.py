"""Fuzzes every reader: `python -m tests.faults.fuzz [--executions N] [--seed N] [--keep FOLDER]`.

Samples of each format are cut, repeated, spliced and changed at random. A reader may return or raise an AssayError
within two seconds of processor time; everything else is a finding, which is minimised and written to the folder.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from assay.formats.file_io import open_source
from assay.formats.golden_files import GOLDEN_FORMATS, load_golden
from assay.formats.run_manifest import decode_manifest
from assay.formats.settings_file import load_config
from assay.formats.strict_json import decode_json
from assay.formats.strict_yaml import read_yaml
from assay.gates.gate_files import load_gate_or_profile
from assay.judging.verdict_store import load_recorded_verdicts
from assay.records.errors import AssayError

SAMPLES = Path(__file__).parents[1] / "compatibility" / "samples"
CORPUS = Path(__file__).parent / "findings"
SECONDS = 2.0
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
Reader = Callable[[Path], object]


def make_readers() -> dict[str, Reader]:
    """Return each reader by its name; all take the path of a file."""
    readers: dict[str, Reader] = {
        "json": lambda path: decode_json(path.read_bytes().decode("utf-8", "replace"), str(path)),
        "yaml": lambda path: read_yaml(path.read_bytes().decode("utf-8", "replace"), str(path)),
        "manifest": lambda path: decode_manifest(path.read_bytes(), path),
        "settings": lambda path: load_config(str(path)),
        "gate": lambda path: load_gate_or_profile(str(path), None, ""),
        "verdicts": load_recorded_verdicts,
        "golden": lambda path: load_golden(str(path), None),
        "packed": _read_packed,
    }
    for name in GOLDEN_FORMATS:
        readers[f"golden {name}"] = lambda path, form=name: load_golden(str(path), form)  # type: ignore[misc]
    return readers


def _read_packed(path: Path) -> None:
    packed = path.with_suffix(".gz")
    packed.write_bytes(path.read_bytes())
    with open_source(packed):
        return


def find_fault(read: Reader, path: Path, data: bytes) -> str:
    """Return what is wrong with the way in which a reader treats some bytes; empty if nothing is."""
    path.write_bytes(data)
    began = time.process_time()
    try:
        read(path)
    except AssayError:
        pass
    except Exception as error:  # noqa: BLE001  # every other exception is a finding
        return type(error).__name__
    return "too slow" if time.process_time() - began > SECONDS else ""


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


def fuzz_readers(executions: int, seed: int, keep: Path) -> int:
    """Run the readers on changed samples; return how many different findings there were."""
    chance = random.Random(seed)  # no secret
    seeds = [path.read_bytes()[:20_000] for path in sorted(SAMPLES.rglob("*")) if path.is_file()]
    seeds += [path.read_bytes() for path in sorted(CORPUS.glob("*"))]
    readers = make_readers()
    findings: set[tuple[str, str]] = set()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(executions):
            name = chance.choice(list(readers))
            path = Path(folder) / f"input{chance.choice(['.jsonl', '.json', '.csv', '.yaml', '.tsv', ''])}"
            data = change_bytes(chance.choice(seeds), chance.choice(seeds), chance)
            fault = find_fault(readers[name], path, data)
            if fault and (name, fault) not in findings:
                findings.add((name, fault))
                smallest = minimise(readers[name], path, data, fault)
                keep.mkdir(parents=True, exist_ok=True)
                (keep / f"{name.replace(' ', '-')}-{fault.replace(' ', '-')}{path.suffix}").write_bytes(smallest)
                sys.stdout.write(f"{name}: {fault} at execution {number}: {smallest[:100]!r}\n")
    sys.stdout.write(f"{executions} executions of {len(readers)} readers, seed {seed}: {len(findings)} findings\n")
    return len(findings)


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
