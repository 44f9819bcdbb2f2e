"""Merging of scored shards: absolute line numbers, one list of configurations, and every row accounted for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field
from msgspec.structs import replace

from assay.formats.outputs import BYTE_ORDER_MARK, OUTPUT_FORMATS, TREC_RUN_FORMAT, OutputFile
from assay.formats.recorded_outputs.line_checks import normalise_names
from assay.metrics.cases.absent_labels import leave_out_rows
from assay.metrics.cases.case_index import GoldenIndex
from assay.metrics.catalog import find_metric, parse_metric
from assay.metrics.judged.judge_requests import RecordedVerdicts
from assay.metrics.retrieval.evidence_fields import RENAMED, OtherName, find_cases_by_field
from assay.records.counts import CountedNoun, format_count
from assay.records.errors import InputError, Problem, shorten_repr
from assay.records.golden_set import Case, Corpus, GoldenSet
from assay.records.observations import UNNAMED_CONFIG, Observation
from assay.records.scores import InputFile, ScoringResult, TargetFailure
from assay.scoring.attribution_settings import AttributionSettings
from assay.scoring.one_answer import SharedText, describe_one_answer, merge_shared_texts
from assay.scoring.paired_scores import ScoreSnapshot
from assay.scoring.repeated_samples import describe_samples, find_worst_sample
from assay.scoring.score_shard import CollectedRows
from assay.scoring.score_tables import EVIDENCE_FAMILIES, MetricPlan, ScoredBlock, join_blocks
from assay.scoring.sent_run import describe_own_metrics, has_function, needs_function, recognise_metrics
from assay.stats.arrays import RowIndices, find_distinct

MOST_KEPT_OBSERVATIONS = 128
"""How many of the observations that were read again are kept."""
FORMATS_WITH_VERSIONS = ("assay", "rag-trace")
"""The formats that can state versions."""


class RowLocation(Struct, frozen=True):
    """The location of a row: index of its file, line number, and byte offset of the line."""

    file: int
    line: int
    start: int


class MergedShards(Struct, dict=True):
    """All rows of all files, their configurations (`Block.config` indexes `configs`), problems and notices.

    `failures` holds the positions of the failed cases by configuration and error text, `repeated` those of the calls
    that failed and were repeated, by configuration and error code.
    """

    block: ScoredBlock
    configs: list[str]
    file_of_row: npt.NDArray[np.int32]
    problems: list[Problem] = field(default_factory=list)
    more_problems: int = 0
    unknown_cases: list[tuple[str, int, int]] = field(default_factory=list)
    notices: Counter[CountedNoun] = field(default_factory=Counter)
    versions: dict[str, dict[str, tuple[str, ...]]] = field(default_factory=dict)
    stages: dict[str, str] = field(default_factory=dict)
    failures: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    repeated: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    other_names: Counter[OtherName] = field(default_factory=Counter)
    renamed: list[tuple[str, int, int, OtherName]] = field(default_factory=list)
    shown_names: set[tuple[str, str]] = field(default_factory=set)
    texts: dict[str, SharedText] = field(default_factory=dict)

    def leave_out_renamed(self, names: Collection[OtherName], golden: GoldenSet) -> None:
        """Make what depends on evidence not applicable on the rows that have its quote under one of these names, and on
        all whose evidence is named by a field of which no chunk of the run has a name of the golden set: there, to
        leave out those alone that were found would make a recall of those that were not."""
        if not names:
            return
        fields = {name.field for name in names} - {name for name, _ in self.shown_names}
        positions = find_cases_by_field(golden, fields)
        config_codes = {config: code for code, config in enumerate(self.configs)}
        marked = {(config_codes[config], case, repeat) for config, case, repeat, name in self.renamed if name in names}
        block = self.block
        keys = zip(block.config.tolist(), block.case.tolist(), block.repeat.tolist(), strict=True)
        rows = [row for row, key in enumerate(keys) if key in marked or key[1] in positions]
        for metric, column in block.columns.items():
            if find_metric(parse_metric(metric)).family in EVIDENCE_FAMILIES:
                block.columns[metric] = leave_out_rows(column, rows, RENAMED)

    def locate(self, config_id: str, case: int) -> RowLocation | None:
        """Return the location of the first repeat of a case; None if there is no row."""
        if config_id not in self.configs:
            return None
        keys, order = self._first_rows
        key = self._sort_key(self.configs.index(config_id), case)
        index = int(np.searchsorted(keys, key))
        return self._row_location(int(order[index])) if index < len(keys) and keys[index] == key else None

    def list_first_rows(self, config_id: str) -> RowIndices:
        """Return the first repeat of each case under a configuration."""
        keys, order = self._first_rows
        is_first = np.concatenate(([True], keys[1:] != keys[:-1]))[: len(keys)]
        first: RowIndices = order[is_first]
        rows: RowIndices = first[self.block.config[first] == self.configs.index(config_id)]
        return rows

    def list_rows(self, config_id: str, case: int) -> RowIndices:
        """Return the rows of a case, one for each repeat, in the order of the repeats."""
        keys, order = self._first_rows
        key = self._sort_key(self.configs.index(config_id), case) if config_id in self.configs else -1
        rows: RowIndices = order[np.searchsorted(keys, key) : np.searchsorted(keys, key, side="right")]
        return rows

    def has_repeats(self) -> bool:
        """Return whether some case of a configuration has several rows."""
        keys, _ = self._first_rows
        return bool((keys[1:] == keys[:-1]).any())

    def locate_row(self, row: int) -> RowLocation:
        """Return where a row is."""
        return self._row_location(row)

    @cached_property
    def _first_rows(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.intp]]:
        """The sorted keys of all rows, and the rows in that order; the lowest repeat of a case comes first."""
        keys = self._sort_key(self.block.config.astype(np.int64), self.block.case)
        order = np.lexsort((self.block.repeat, keys))
        return keys[order], order

    def _sort_key(self, config: Any, case: Any) -> Any:
        return config * (int(self.block.case.max(initial=0)) + 1) + case

    def _row_location(self, row: int) -> RowLocation:
        return RowLocation(int(self.file_of_row[row]), int(self.block.line[row]), int(self.block.start[row]))

    def describe_inputs(self, files: Sequence[OutputFile]) -> tuple[InputFile, ...]:
        """Return the description of each file that was read."""
        input_files = []
        for number, file in enumerate(files):
            codes = self.block.config[self.file_of_row == number]
            names = tuple(sorted(self.configs[code] for code in find_distinct(codes).tolist()))
            input_files.append(InputFile(file.name, file.format, len(codes), names))
        return tuple(input_files)

    def list_failures(self, config_id: str, case_ids: Sequence[str]) -> tuple[TargetFailure, ...]:
        """Return the error texts of a configuration, those of most observations first, then in golden order."""
        return _order_failures(self.failures.get(config_id, {}), case_ids)

    def list_repeated(self, config_id: str, case_ids: Sequence[str]) -> tuple[TargetFailure, ...]:
        """Return the error codes of the calls that were repeated, those of most calls first, then in golden order."""
        return _order_failures(self.repeated.get(config_id, {}), case_ids)

    def find_duplicates(self) -> list[tuple[RowLocation, RowLocation, str, int]]:
        """Return pairs of locations with the same (configuration, case, repeat), with that configuration and case."""
        keys = (self.block.repeat, self.block.case, self.block.config)
        order = np.lexsort((self.block.start, self.file_of_row, *keys))
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
        return self.configs[int(self.block.config[row])], int(self.block.case[row])


def _order_failures(
    positions_by_text: Mapping[str, Sequence[int]], case_ids: Sequence[str]
) -> tuple[TargetFailure, ...]:
    ordered = sorted(positions_by_text.items(), key=lambda item: (-len(item[1]), min(item[1]), item[0]))
    return tuple(
        TargetFailure(text, len(positions), tuple(case_ids[position] for position in sorted(set(positions))))
        for text, positions in ordered
    )


def merge_shards(results: Sequence[CollectedRows]) -> MergedShards:
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
    return MergedShards(
        join_blocks(blocks),
        configs,
        np.concatenate(files),
        problems=[problem for result in results for problem in result.problems],
        more_problems=sum(result.more_problems for result in results),
        unknown_cases=[(case_id, result.file, line) for result in results for case_id, line in result.unknown],
        notices=sum((result.notices for result in results), Counter()),
        versions=_merge_versions(results),
        stages=_merge_stages(results),
        failures=_merge_positions([result.failures for result in results]),
        repeated=_merge_positions([result.repeated for result in results]),
        other_names=sum((result.other_names for result in results), Counter()),
        renamed=[row for result in results for row in result.renamed],
        shown_names=set().union(*(result.shown_names for result in results)),
        texts=merge_shared_texts(result.texts for result in results),
    )


def _merge_positions(parts: Sequence[dict[str, dict[str, list[int]]]]) -> dict[str, dict[str, list[int]]]:
    by_config: dict[str, dict[str, list[int]]] = {}
    for part in parts:
        for config, positions_by_message in part.items():
            merged = by_config.setdefault(config, {})
            for message, positions in positions_by_message.items():
                merged.setdefault(message, []).extend(positions)
    return by_config


def _merge_versions(results: Sequence[CollectedRows]) -> dict[str, dict[str, tuple[str, ...]]]:
    by_config: dict[str, dict[str, set[str]]] = {}
    for result in results:
        for config, by_name in result.versions.items():
            for name, values in by_name.items():
                by_config.setdefault(config, {}).setdefault(name, set()).update(values)
    return {
        config: {name: tuple(sorted(values)) for name, values in sorted(by_name.items())}
        for config, by_name in sorted(by_config.items())
    }


def _merge_stages(results: Sequence[CollectedRows]) -> dict[str, str]:
    by_config: dict[str, set[str]] = {}
    for result in results:
        for config, names in result.stages.items():
            by_config.setdefault(config, set()).update(names)
    return {config: ", ".join(sorted(names)) for config, names in sorted(by_config.items())}


def check_inputs(
    gathered: MergedShards,
    golden: GoldenSet,
    files: Sequence[OutputFile],
    excluded_cases: frozenset[str],
    *,
    ignore_unknown: bool = False,
) -> tuple[str, ...]:
    """Return notices about the inputs; raise InputError listing all their problems."""
    unknown_rows = [row for row in gathered.unknown_cases if row[0] not in excluded_cases]
    problems = [*gathered.problems, *_duplicate_problems(gathered, golden, files)]
    if not ignore_unknown:
        problems += _unknown_case_problems(unknown_rows, files)
    if problems:
        raise InputError(problems, more=gathered.more_problems)
    if not gathered.configs:
        raise InputError([_describe_no_rows(file, len(gathered.unknown_cases)) for file in files])
    counted = sorted(gathered.notices.items(), key=lambda item: item[0].plural)
    notices = [format_count(count, *noun) for noun, count in counted]
    notices += [notice for file in files for notice in file.notices]
    if unknown_rows:
        notices.append(f"left out: {format_count(len(unknown_rows), 'row')} of cases that are not in the golden set")
    if len(unknown_rows) < len(gathered.unknown_cases):
        notices.append(
            f"left out: {format_count(len(gathered.unknown_cases) - len(unknown_rows), 'row')} of cases beyond "
            "the limit"
        )
    if any(file.format == "trec-rag" for file in files):
        notices.append("trec-rag holds citations and no ranking: the scores compare citations, not retrieval")
    return (*describe_one_answer(gathered.texts), *notices, *_version_notices(gathered, files))


def _describe_no_rows(file: OutputFile, unknown_count: int) -> Problem:
    """Return the problem of outputs none of which can be scored: without a configuration there is no result."""
    message = (
        f"no row of a golden case (got {format_count(unknown_count, 'row')} of other cases; expected outputs "
        "for the golden set)"
    )
    return Problem(file.name, None, "", message, "E_EMPTY")


def _version_notices(gathered: MergedShards, files: Sequence[OutputFile]) -> Iterator[str]:
    stating_configs = {
        name
        for file in gathered.describe_inputs(files)
        if file.format in FORMATS_WITH_VERSIONS
        for name in file.configs
    }
    for config in gathered.configs:
        versions = gathered.versions.get(config, {})
        if config in stating_configs and not versions:
            yield f"the run cannot be repeated: {config} states no versions, such as those of index and prompt"
        for name, values in versions.items():
            if len(values) > 1:
                yield f"E_MIXED_VERSIONS {config}: {name} differs within the run: {', '.join(values)}"


def _duplicate_problems(gathered: MergedShards, golden: GoldenSet, files: Sequence[OutputFile]) -> Iterator[Problem]:
    pairs = sorted(gathered.find_duplicates(), key=lambda pair: (pair[1].file, pair[1].line))
    # Two files that name no configuration are two systems under one name, which is one mistake and not one a line.
    nameless: dict[tuple[int, int], set[int]] = {}
    for first, second, config, case in pairs:
        if config == UNNAMED_CONFIG and first.file != second.file:
            nameless.setdefault((first.file, second.file), set()).add(case)
    for (first_number, second_number), cases in nameless.items():
        yield _describe_nameless(files[first_number], files[second_number], len(cases))
    for first, second, config, case in pairs:
        if config == UNNAMED_CONFIG and first.file != second.file:
            continue
        first_file, second_file = files[first.file], files[second.file]
        message = (
            f"output given twice (got case {shorten_repr(golden.cases[case].id)} of "
            f"configuration {shorten_repr(config)} again; "
            f"expected it once, it is at "
            f"{first_file.name}:{first_file.original_line(first.line)}; give repeated samples "
            "a `repeat` number)"
        )
        yield Problem(second_file.name, second_file.original_line(second.line), "", message, "E_DUPLICATE")


def _describe_nameless(first: OutputFile, second: OutputFile, count: int) -> Problem:
    """Return the problem of two files with outputs for the same cases and no configuration to tell them apart."""
    example = shorten_repr(Path(second.name).name.partition(".")[0] or "b")
    message = (
        f"outputs of the same configuration as in {first.name}, because neither names one "
        f"(got {format_count(count, 'case')} in both; expected a `config_id` on each line of one file, such as "
        f"{example}, for a comparison of two systems; a `repeat` number for repeated samples of one; "
        "or each file scored on its own)"
    )
    return Problem(second.name, None, "config_id", message, "E_DUPLICATE")


def _unknown_case_problems(rows: Sequence[tuple[str, int, int]], files: Sequence[OutputFile]) -> Iterator[Problem]:
    for case_id, number, line in rows:
        file = files[number]
        field = "query" if file.format == TREC_RUN_FORMAT else OUTPUT_FORMATS[file.format].id_key
        message = f"no such case (got {shorten_repr(case_id)}; expected an id of the golden set, or --ignore-unknown)"
        yield Problem(file.name, file.original_line(line), field, message, "E_UNKNOWN_ID")


_SENT = "sent_metrics"


class ScoredRun(Struct, dict=True):
    """A finished scoring, with the location of each observation so that single cases can be read again.

    `variants` is the scoring of the variants of its cases, None if there are none; `same_index` is another run whose
    traces show the same index. `given_golden` is the golden set as it was given, None where `golden` is it.
    `made_with` is how each configuration was observed, as far as a run folder says so.
    """

    scoring: ScoringResult
    golden: GoldenSet
    corpus: Corpus | None
    plan: MetricPlan
    files: Sequence[OutputFile]
    shards: MergedShards | None = None
    observations_in_memory: Mapping[tuple[str, str], Sequence[Observation]] = field(default_factory=dict)
    baseline: ScoreSnapshot | None = None
    judging: RecordedVerdicts | None = None
    whole_golden: GoldenSet | None = None
    attribution: AttributionSettings = field(default_factory=AttributionSettings)
    variants: ScoredRun | None = None
    same_index: ScoredRun | None = None
    given_golden: GoldenSet | None = None
    made_with: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def __reduce__(self) -> tuple[type[ScoredRun], tuple[Any, ...], dict[str, Any]]:
        """Return what a pickle holds: neither what is computed again when asked for, nor the user's functions."""
        # What the user's functions measured is in the tables; a case that is explained later is scored without them.
        columns = tuple(name for name in self.plan.columns if not needs_function(name))
        facts = tuple(key for key in self.plan.facts if not has_function(key))
        plan = replace(self.plan, columns=columns, facts=facts)
        required = self.scoring, self.golden, self.corpus, plan, self.files
        # The others are set afterwards: among them are runs that refer to this one.
        state = {name: getattr(self, name) for name in self.__struct_fields__[len(required) :]}
        return ScoredRun, required, {**state, _SENT: describe_own_metrics(self.plan.requested)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        recognise_metrics(state.pop(_SENT))
        for name, value in state.items():
            setattr(self, name, value)

    @cached_property
    def joins(self) -> GoldenIndex:
        """The golden set joined with corpus and verdicts, with which single cases are scored again."""
        internal = self.attribution.internal_stages
        return GoldenIndex(self.golden, self.corpus, self.judging, self.whole_golden, internal)

    @cached_property
    def cases(self) -> dict[str, Case]:
        """The golden cases by id."""
        return {case.id: case for case in self.golden.cases}

    @cached_property
    def _position(self) -> dict[str, int]:
        return {case_id: position for position, case_id in enumerate(self.cases)}

    def iterate_observations(self, *, answered: bool = False) -> Iterator[tuple[str, int, Observation]]:
        """Yield each configuration with the position of each case and its observation, where there is one; with
        `answered` those alone whose answer is a text."""
        for config in sorted(self.scoring.configs):
            for position, case in enumerate(self.golden.cases):
                observation = self.read_observation(config, case.id)
                if observation is None:
                    continue
                if not answered or (observation.error is None and isinstance(observation.answer, str)):
                    yield config, position, observation

    def read_observation(self, config_id: str, case_id: str) -> Observation | None:
        """Return the recorded observation of a case, read again from its file; None if there is none.

        Of several repeats it is the worst, so that what is shown of a failed case is what failed.
        """
        key = config_id, case_id
        if key not in self.observations_in_memory and self.shards is None:
            return None
        if key not in self._read_again:
            if len(self._read_again) >= MOST_KEPT_OBSERVATIONS:
                self._read_again.clear()
            samples = self.read_samples(config_id, case_id, only=self._choose_sample(config_id, case_id))
            self._read_again[key] = samples[0] if samples else None
        return self._read_again[key]

    def read_samples(self, config_id: str, case_id: str, *, only: int | None = None) -> list[Observation]:
        """Return the observations of a case in the order of its repeats, or `only` one of them by its place."""
        chosen = slice(None) if only is None else slice(only, only + 1)
        if (config_id, case_id) in self.observations_in_memory:
            return list(self.observations_in_memory[config_id, case_id][chosen])
        if self.shards is None:
            return []
        rows = self.shards.list_rows(config_id, self._position.get(case_id, -1))[chosen]
        read = (_read_location(self.files, self.shards.locate_row(row)) for row in rows.tolist())
        return [observation for observation in read if observation is not None]

    def has_repeats(self) -> bool:
        """Return whether some case was answered several times."""
        return self.shards is not None and self.shards.has_repeats()

    def describe_samples(self, config_id: str, case_id: str) -> str:
        """Return how the repeats of a case differ, and which is shown; "" for one alone."""
        if self.shards is None:
            return ""
        rows = self.shards.list_rows(config_id, self._position.get(case_id, -1))
        shown = self._choose_sample(config_id, case_id)
        return describe_samples(self.shards.block.columns, rows, shown) if len(rows) > 1 else ""

    def _choose_sample(self, config_id: str, case_id: str) -> int:
        if self.shards is None:
            return 0
        rows = self.shards.list_rows(config_id, self._position.get(case_id, -1))
        return find_worst_sample(self.shards.block.columns, rows) if len(rows) > 1 else 0

    @cached_property
    def _read_again(self) -> dict[tuple[str, str], Observation | None]:
        """The observations that were read again last: causes, reports and details of a small run share them."""
        return {}


def read_row(files: Sequence[OutputFile], shards: MergedShards, config_id: str, case: int) -> Observation | None:
    """Return the first repeat of the case at a position of the scored set, read again; None if there is no row."""
    location = shards.locate(config_id, case)
    return None if location is None else _read_location(files, location)


def _read_location(files: Sequence[OutputFile], location: RowLocation) -> Observation | None:
    file = files[location.file]
    if not file.path:
        return None
    with open(file.path, "rb") as lines:
        lines.seek(location.start)
        line = lines.readline()
    return normalise_names(OUTPUT_FORMATS[file.decoded_as].decode(line.removeprefix(BYTE_ORDER_MARK)))[0]
