"""Files that are written completely or not at all: which are replaced, and which are written on."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from assay.formats.file_io import write_atomically

MEMORY = Path("/dev/shm")
WRITE_TWICE = (
    "from assay.formats.file_io import write_atomically as write\n"
    "for name in ('/dev/stdout', '/dev/fd/1'): write(name, [name.encode()])"
)


@pytest.mark.skipif(not os.access(MEMORY, os.W_OK), reason="the system has no files in memory under /dev")
def test_a_file_in_memory_is_replaced_like_any_other() -> None:
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        target = Path(folder, "manifest.json")
        for content in (b"first", b"2nd"):
            write_atomically(target, [content])
            assert target.read_bytes() == content
        assert [target] == list(Path(folder).iterdir())
        link = Path(folder, "newest.json")
        link.symlink_to(target)
        write_atomically(link, [b"3rd"])
        assert (link.read_bytes(), target.read_bytes()) == (b"3rd", b"2nd")


@pytest.mark.skipif(not Path("/dev/fd/1").exists(), reason="the system names no open files under /dev/fd")
def test_what_goes_to_a_file_by_way_of_standard_output_is_written_on(tmp_path: Path) -> None:
    target = tmp_path / "log"
    target.write_bytes(b"before ")
    with target.open("ab") as log:
        subprocess.run([sys.executable, "-c", WRITE_TWICE], stdout=log, check=True)
    assert target.read_bytes() == b"before /dev/stdout/dev/fd/1"
