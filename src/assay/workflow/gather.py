"""Shards put together: absolute line numbers, one list of configurations, and every row accounted for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from assay.errors import InputError, Problem, shown
from assay.io.observations import FORMATS, TREC_RUN
from assay.model import GoldenSet, InputFile
from assay.scoring.engine import Block, join_blocks
from assay.workflow.collect import Collected
from assay.workflow.outputs import OutputFile

STATING_VERSIONS = ("assay", "rag-trace")
"""The formats that have a place for versions."""


class Place(NamedTuple):
    """Where a row came from."""

    file: int
    line: int
    start: int


@dataclass
class Gathered:
    """All rows of all files, their configurations (`Block.config` indexes `configs`) and what was noticed."""

    rows: Block
    configs: list[str]
    file: npt.NDArray[np.int32]
    problems: list[Problem] = field(default_factory=list)
    more_problems: int = 0
    unknown: list[tuple[str, int, int]] = field(default_factory=list)
    notices: Counter[str] = field(default_factory=Counter)
    versions: dict[str, dict[str, tuple[str, ...]]] = field(default_factory=dict)
    stages: dict[str, str] = field(default_factory=dict)

    def locate(self, config_id: str, case: int) -> Place | None:
        """Return where the first repeat of a case lies, None where there is no row."""
        if config_id not in self.configs:
            return None
        keys, order = self._first_rows
        wanted = self._key(self.configs.index(config_id), case)
        at = int(np.searchsorted(keys, wanted))
        return self._place(int(order[at])) if at < len(keys) and keys[at] == wanted else None

    @cached_property
    def _first_rows(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.intp]]:
        """One key for each row, rising, and the rows in that order; of one case, the lowest repeat first."""
        keys = self._key(self.rows.config.astype(np.int64), self.rows.case)
        order = np.lexsort((self.rows.repeat, keys))
        return keys[order], order

    def _key(self, config: Any, case: Any) -> Any:
        return config * (int(self.rows.case.max(initial=0)) + 1) + case

    def _place(self, row: int) -> Place:
        return Place(int(self.file[row]), int(self.rows.line[row]), int(self.rows.start[row]))

    def inputs(self, files: Sequence[OutputFile]) -> tuple[InputFile, ...]:
        """Return what was read from each file."""
        found = []
        for number, file in enumerate(files):
            codes = self.rows.config[self.file == number]
            names = tuple(sorted(self.configs[code] for code in np.unique(codes).tolist()))
            found.append(InputFile(file.name, file.format, len(codes), names))
        return tuple(found)

    def duplicates(self) -> list[tuple[Place, Place, str, int]]:
        """Return pairs of places that hold the same (configuration, case, repeat), with the configuration and case."""
        keys = (self.rows.repeat, self.rows.case, self.rows.config)
        order = np.lexsort((self.rows.start, self.file, *keys))
        same = np.ones(max(len(order) - 1, 0), dtype=np.bool_)
        for key in keys:
            ordered = key[order]
            same &= ordered[1:] == ordered[:-1]
        return [
            (self._place(int(order[i])), self._place(int(order[i + 1])), *self._identity(int(order[i])))
            for i in np.flatnonzero(same).tolist()
        ]

    def _identity(self, row: int) -> tuple[str, int]:
        return self.configs[int(self.rows.config[row])], int(self.rows.case[row])


def gather(results: Sequence[Collected]) -> Gathered:
    """Return the shards' results as one, whatever the order in which they were computed."""
    configs = sorted({config for result in results for config in result.configs})
    code = {config: place for place, config in enumerate(configs)}
    lines_before: Counter[int] = Counter()
    blocks, files = [], []
    for result in results:
        assert result.rows is not None
        before = lines_before[result.file]
        lines_before[result.file] += result.lines
        codes = np.array([code[config] for config in result.configs] or [0], dtype=np.int32)
        blocks.append(replace(result.rows, config=codes[result.rows.config], line=result.rows.line + before))
        files.append(np.full(len(result.rows.case), result.file, dtype=np.int32))
        result.problems = [replace(p, line=None if p.line is None else p.line + before) for p in result.problems]
        result.unknown = [(case_id, line + before) for case_id, line in result.unknown]
    return Gathered(
        join_blocks(blocks),
        configs,
        np.concatenate(files),
        problems=[problem for result in results for problem in result.problems],
        more_problems=sum(result.more_problems for result in results),
        unknown=[(case_id, result.file, line) for result in results for case_id, line in result.unknown],
        notices=sum((result.notices for result in results), Counter()),
        versions=_versions(results),
        stages=_stages(results),
    )


def _versions(results: Sequence[Collected]) -> dict[str, dict[str, tuple[str, ...]]]:
    found: dict[str, dict[str, set[str]]] = {}
    for result in results:
        for config, known in result.versions.items():
            for name, values in known.items():
                found.setdefault(config, {}).setdefault(name, set()).update(values)
    return {
        config: {name: tuple(sorted(values)) for name, values in sorted(known.items())}
        for config, known in sorted(found.items())
    }


def _stages(results: Sequence[Collected]) -> dict[str, str]:
    found: dict[str, set[str]] = {}
    for result in results:
        for config, names in result.stages.items():
            found.setdefault(config, set()).update(names)
    return {config: ", ".join(sorted(names)) for config, names in sorted(found.items())}


def check(
    gathered: Gathered,
    golden: GoldenSet,
    files: Sequence[OutputFile],
    left_out: frozenset[str],
    *,
    ignore_unknown: bool = False,
) -> tuple[str, ...]:
    """Return what people should know about the inputs; raise InputError with everything that is wrong with them."""
    unknown = [row for row in gathered.unknown if row[0] not in left_out]
    problems = [*gathered.problems, *_duplicates(gathered, golden, files)]
    if not ignore_unknown:
        problems += _unknown(unknown, files)
    if problems:
        raise InputError(problems, more=gathered.more_problems)
    notices = [f"{count} {text}" for text, count in sorted(gathered.notices.items())]
    notices += [notice for file in files for notice in file.notices]
    if unknown:
        notices.append(f"{len(unknown)} rows of cases that the golden set does not know were left out")
    if len(unknown) < len(gathered.unknown):
        notices.append(f"{len(gathered.unknown) - len(unknown)} rows of cases beyond the limit were left out")
    if any(file.format == "trec-rag" for file in files):
        notices.append("trec-rag holds citations and no ranking: this compares citing, not retrieving")
    return (*notices, *_version_notices(gathered, files))


def _version_notices(gathered: Gathered, files: Sequence[OutputFile]) -> Iterator[str]:
    able = {name for file in gathered.inputs(files) if file.format in STATING_VERSIONS for name in file.configs}
    for config in gathered.configs:
        known = gathered.versions.get(config, {})
        if config in able and not known:
            yield f"{config} states no versions (corpus, index, prompt, generator …): it cannot be measured again"
        for name, values in known.items():
            if len(values) > 1:
                yield f"E_MIXED_VERSIONS {config}: {name} differs within the run: {', '.join(values)}"


def _duplicates(gathered: Gathered, golden: GoldenSet, files: Sequence[OutputFile]) -> Iterator[Problem]:
    for first, second, config, case in sorted(gathered.duplicates(), key=lambda pair: pair[1]):
        one, two = files[first.file], files[second.file]
        message = (
            f"output given twice (got case {shown(golden.cases[case].id)} of configuration {shown(config)} again; "
            f"expected it once, it is at {one.name}:{one.line(first.line)}; give repeated samples a `repeat` number)"
        )
        yield Problem(two.name, two.line(second.line), "", message, "E_DUPLICATE")


def _unknown(rows: Sequence[tuple[str, int, int]], files: Sequence[OutputFile]) -> Iterator[Problem]:
    for case_id, number, line in rows:
        file = files[number]
        field = "query" if file.format == TREC_RUN else FORMATS[file.format].id_key
        message = f"no such case (got {shown(case_id)}; expected an id of the golden set, or --ignore-unknown)"
        yield Problem(file.name, file.line(line), field, message, "E_UNKNOWN_ID")
