"""Merging of scored shards: absolute line numbers, one list of configurations, and every row accounted for."""

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
"""The formats that can state versions."""


class Place(NamedTuple):
    """The location of a row: index of its file, line number, and byte offset of the line."""

    file: int
    line: int
    start: int


@dataclass
class Gathered:
    """All rows of all files, their configurations (`Block.config` indexes `configs`), problems and notices."""

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
        """Return the location of the first repeat of a case; None if there is no row."""
        if config_id not in self.configs:
            return None
        keys, order = self._first_rows
        key = self._sort_key(self.configs.index(config_id), case)
        index = int(np.searchsorted(keys, key))
        return self._row_location(int(order[index])) if index < len(keys) and keys[index] == key else None

    @cached_property
    def _first_rows(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.intp]]:
        """The sorted keys of all rows, and the rows in that order; the lowest repeat of a case comes first."""
        keys = self._sort_key(self.rows.config.astype(np.int64), self.rows.case)
        order = np.lexsort((self.rows.repeat, keys))
        return keys[order], order

    def _sort_key(self, config: Any, case: Any) -> Any:
        return config * (int(self.rows.case.max(initial=0)) + 1) + case

    def _row_location(self, row: int) -> Place:
        return Place(int(self.file[row]), int(self.rows.line[row]), int(self.rows.start[row]))

    def inputs(self, files: Sequence[OutputFile]) -> tuple[InputFile, ...]:
        """Return the description of each file that was read."""
        input_files = []
        for number, file in enumerate(files):
            codes = self.rows.config[self.file == number]
            names = tuple(sorted(self.configs[code] for code in np.unique(codes).tolist()))
            input_files.append(InputFile(file.name, file.format, len(codes), names))
        return tuple(input_files)

    def duplicates(self) -> list[tuple[Place, Place, str, int]]:
        """Return pairs of locations with the same (configuration, case, repeat), with that configuration and case."""
        keys = (self.rows.repeat, self.rows.case, self.rows.config)
        order = np.lexsort((self.rows.start, self.file, *keys))
        same = np.ones(max(len(order) - 1, 0), dtype=np.bool_)
        for key in keys:
            ordered = key[order]
            same &= ordered[1:] == ordered[:-1]
        return [
            (
                self._row_location(int(order[i])),
                self._row_location(int(order[i + 1])),
                *self._config_and_case(int(order[i])),
            )
            for i in np.flatnonzero(same).tolist()
        ]

    def _config_and_case(self, row: int) -> tuple[str, int]:
        return self.configs[int(self.rows.config[row])], int(self.rows.case[row])


def gather(results: Sequence[Collected]) -> Gathered:
    """Return the results of all shards as one, independent of the order in which they were computed."""
    configs = sorted({config for result in results for config in result.configs})
    config_code = {config: position for position, config in enumerate(configs)}
    lines_before: Counter[int] = Counter()
    blocks, files = [], []
    for result in results:
        assert result.rows is not None
        before = lines_before[result.file]
        lines_before[result.file] += result.lines
        codes = np.array([config_code[config] for config in result.configs] or [0], dtype=np.int32)
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
        versions=_merge_versions(results),
        stages=_merge_stages(results),
    )


def _merge_versions(results: Sequence[Collected]) -> dict[str, dict[str, tuple[str, ...]]]:
    by_config: dict[str, dict[str, set[str]]] = {}
    for result in results:
        for config, by_name in result.versions.items():
            for name, values in by_name.items():
                by_config.setdefault(config, {}).setdefault(name, set()).update(values)
    return {
        config: {name: tuple(sorted(values)) for name, values in sorted(by_name.items())}
        for config, by_name in sorted(by_config.items())
    }


def _merge_stages(results: Sequence[Collected]) -> dict[str, str]:
    by_config: dict[str, set[str]] = {}
    for result in results:
        for config, names in result.stages.items():
            by_config.setdefault(config, set()).update(names)
    return {config: ", ".join(sorted(names)) for config, names in sorted(by_config.items())}


def check(
    gathered: Gathered,
    golden: GoldenSet,
    files: Sequence[OutputFile],
    left_out: frozenset[str],
    *,
    ignore_unknown: bool = False,
) -> tuple[str, ...]:
    """Return notices about the inputs; raise InputError listing all their problems."""
    unknown_rows = [row for row in gathered.unknown if row[0] not in left_out]
    problems = [*gathered.problems, *_duplicate_problems(gathered, golden, files)]
    if not ignore_unknown:
        problems += _unknown_case_problems(unknown_rows, files)
    if problems:
        raise InputError(problems, more=gathered.more_problems)
    notices = [f"{count} {text}" for text, count in sorted(gathered.notices.items())]
    notices += [notice for file in files for notice in file.notices]
    if unknown_rows:
        notices.append(f"{len(unknown_rows)} rows of cases that are not in the golden set were left out")
    if len(unknown_rows) < len(gathered.unknown):
        notices.append(f"{len(gathered.unknown) - len(unknown_rows)} rows of cases beyond the limit were left out")
    if any(file.format == "trec-rag" for file in files):
        notices.append("trec-rag holds citations and no ranking: the scores compare citations, not retrieval")
    return (*notices, *_version_notices(gathered, files))


def _version_notices(gathered: Gathered, files: Sequence[OutputFile]) -> Iterator[str]:
    stating_configs = {
        name for file in gathered.inputs(files) if file.format in STATING_VERSIONS for name in file.configs
    }
    for config in gathered.configs:
        versions = gathered.versions.get(config, {})
        if config in stating_configs and not versions:
            yield f"{config} states no versions (corpus, index, prompt, generator …): the run cannot be repeated"
        for name, values in versions.items():
            if len(values) > 1:
                yield f"E_MIXED_VERSIONS {config}: {name} differs within the run: {', '.join(values)}"


def _duplicate_problems(gathered: Gathered, golden: GoldenSet, files: Sequence[OutputFile]) -> Iterator[Problem]:
    for first, second, config, case in sorted(gathered.duplicates(), key=lambda pair: pair[1]):
        first_file, second_file = files[first.file], files[second.file]
        message = (
            f"output given twice (got case {shown(golden.cases[case].id)} of configuration {shown(config)} again; "
            f"expected it once, it is at {first_file.name}:{first_file.line(first.line)}; give repeated samples "
            "a `repeat` number)"
        )
        yield Problem(second_file.name, second_file.line(second.line), "", message, "E_DUPLICATE")


def _unknown_case_problems(rows: Sequence[tuple[str, int, int]], files: Sequence[OutputFile]) -> Iterator[Problem]:
    for case_id, number, line in rows:
        file = files[number]
        field = "query" if file.format == TREC_RUN else FORMATS[file.format].id_key
        message = f"no such case (got {shown(case_id)}; expected an id of the golden set, or --ignore-unknown)"
        yield Problem(file.name, file.line(line), field, message, "E_UNKNOWN_ID")
