"""What a reader found wrong or doubtful, gathered so that people see it all at once."""

from __future__ import annotations

from collections import Counter

from assay.errors import MAX_PROBLEMS_SHOWN, InputError, Problem

MAX_WARNINGS_PER_CODE = 20


class Findings:
    """Errors (up to 50 kept, the rest counted) and warnings (up to 20 of a kind kept, the rest counted)."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._problems: list[Problem] = []
        self._more = 0
        self._warnings: list[Problem] = []
        self._warned: Counter[str] = Counter()

    def error(self, line: int | None, field: str, message: str, code: str) -> None:
        """Note an error in the current file; reading goes on, and `raise_errors` raises it."""
        self._keep(Problem(self.path, line, field, message, code))

    def warn(self, line: int | None, field: str, message: str, code: str) -> None:
        """Note something doubtful that does not stop the reading."""
        self._warned[code] += 1
        if self._warned[code] <= MAX_WARNINGS_PER_CODE:
            self._warnings.append(Problem(self.path, line, field, message, code))

    def absorb(self, error: InputError) -> None:
        """Keep the problems of an error raised elsewhere, so that reading can go on."""
        for problem in error.problems:
            self._keep(problem)
        self._more += error.more

    def raise_errors(self) -> None:
        """Raise InputError with every error so far, in the order of reading; nothing happens where there is none."""
        if self._problems:
            raise InputError(self._problems, more=self._more)

    def warnings(self) -> tuple[Problem, ...]:
        """Return the warnings so far, each kind that was cut short followed by its count."""
        cut = [
            Problem(self.path, None, "", f"{count - MAX_WARNINGS_PER_CODE} more warnings of this kind", code)
            for code, count in self._warned.items()
            if count > MAX_WARNINGS_PER_CODE
        ]
        return (*self._warnings, *cut)

    def _keep(self, problem: Problem) -> None:
        if len(self._problems) < MAX_PROBLEMS_SHOWN:
            self._problems.append(problem)
        else:
            self._more += 1
