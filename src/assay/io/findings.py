"""The errors and warnings of one reader, collected so that people see them all at once."""

from __future__ import annotations

from collections import Counter

from assay.errors import MAX_PROBLEMS_SHOWN, InputError, Problem

MAX_WARNINGS_PER_CODE = 20


class Findings:
    """Keeps up to 50 errors, and up to 20 warnings of each code; further ones are only counted."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._problems: list[Problem] = []
        self._more = 0
        self._warnings: list[Problem] = []
        self._warned: Counter[str] = Counter()

    def error(self, line: int | None, field: str, message: str, code: str) -> None:
        """Note an error in the current file, for `raise_errors` to raise once everything has been read."""
        self._add(Problem(self.path, line, field, message, code))

    def warn(self, line: int | None, field: str, message: str, code: str) -> None:
        """Note something suspicious that is not an error."""
        self._warned[code] += 1
        if self._warned[code] <= MAX_WARNINGS_PER_CODE:
            self._warnings.append(Problem(self.path, line, field, message, code))

    def absorb(self, error: InputError) -> None:
        """Keep the problems of an error raised elsewhere, so that reading can go on."""
        for problem in error.problems:
            self._add(problem)
        self._more += error.more

    def raise_errors(self) -> None:
        """Raise InputError with every error so far, in the order of reading; do nothing if there is none."""
        if self._problems:
            raise InputError(self._problems, more=self._more)

    def warnings(self) -> tuple[Problem, ...]:
        """Return the warnings so far, then one line for each code of which some were only counted."""
        omitted = [
            Problem(self.path, None, "", f"{count - MAX_WARNINGS_PER_CODE} more warnings of this kind", code)
            for code, count in self._warned.items()
            if count > MAX_WARNINGS_PER_CODE
        ]
        return (*self._warnings, *omitted)

    def _add(self, problem: Problem) -> None:
        if len(self._problems) < MAX_PROBLEMS_SHOWN:
            self._problems.append(problem)
        else:
            self._more += 1
