"""Write the JSON copies of the lexicons that ship, checked and folded: scoring reads them faster than their YAML.

`python scripts/lexicon_copies.py [--check]`; `--check` writes nothing, and the exit code is 1 if a copy is old.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from assay.text.refusals.lexicon_file import format_copy, read_lexicon

FOLDER = Path(__file__).resolve().parents[1] / "src" / "assay" / "text" / "refusals"


def build_copies() -> Iterator[tuple[Path, str]]:
    """Yield the path and the content of each copy."""
    for path in sorted(FOLDER.joinpath("lexicons").glob("*.yaml")):
        yield path.with_suffix(".json"), format_copy(read_lexicon(path))


def main() -> int:
    """Write the copies that are not up to date."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    old = [(path, text) for path, text in build_copies() if not path.exists() or path.read_text("utf-8") != text]
    for path, text in old:
        print(path.relative_to(FOLDER))
        if not options.check:
            path.write_text(text, encoding="utf-8")
    return 1 if options.check and old else 0


if __name__ == "__main__":
    raise SystemExit(main())
