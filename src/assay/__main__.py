"""`python -m assay`: the command of the same name, for environments whose scripts are not on the path."""

from __future__ import annotations

import sys

from assay.cli import main

if __name__ == "__main__":
    sys.exit(main())
