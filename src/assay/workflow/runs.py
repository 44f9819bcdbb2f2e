"""Scoring a run folder again: RUN, or RUN:CONFIG for one of its configurations (ADR 0032)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from assay.errors import InputError, Problem, shown
from assay.io.runfolder import (
    CALIBRATION,
    CORPUS,
    GOLDEN,
    LOCK,
    MANIFEST,
    OBSERVATIONS,
    RUBRICS,
    VERDICTS,
    VERDICTS_TEXT,
    read_manifest,
    sha256_of,
)
from assay.workflow.score import Progress, ScoreRun
from assay.workflow.session import Request, scored


@dataclass(frozen=True, slots=True)
class RunName:
    """A run folder as a user names it, with the configuration if one is named."""

    path: Path
    config: str | None = None

    @property
    def configs(self) -> tuple[str, ...]:
        """The value for `Request.configs`: the named configuration, or none, which means all."""
        return (self.config,) if self.config is not None else ()


def is_run(text: str) -> bool:
    """Return whether a text names a run folder, with or without a configuration."""
    return (split_run(text).path / MANIFEST).is_file()


def rubrics_of_run(run: Path) -> list[str]:
    """Return the folders of the rubrics that a run was judged with; none if it used only the built-in ones, or if there
    is no run."""
    judge = (read_manifest(run).get("judge") or {}) if is_run(str(run)) else {}
    return [str(run / RUBRICS)] if judge.get("rubrics") else []


def files_of(*names: str | None) -> list[str]:
    """Return the files behind some names: for a run the files that it is scored from, else the name itself."""
    paths: list[str] = []
    for name in filter(None, names):
        if not is_run(name):
            paths.append(name)
            continue
        folder = split_run(name).path
        output_names = [str(file["path"]) for file in read_manifest(folder).get("observations", ())]
        fixed_names = (MANIFEST, GOLDEN, CORPUS, OBSERVATIONS, VERDICTS, VERDICTS_TEXT, CALIBRATION, LOCK)
        paths += [str(folder / file_name) for file_name in (*fixed_names, *output_names)]
    return paths


def split_run(text: str) -> RunName:
    """Return the folder and the configuration of `DIR` or `DIR:CONFIG`; the name of a folder may contain a colon.

    >>> split_run("runs/0001:hybrid").config
    'hybrid'
    """
    path, colon, config = text.rpartition(":")
    if not colon or Path(text).is_dir() or not path:
        return RunName(Path(text))
    return RunName(Path(path), config)


def request_of(run: Path, **changes: Any) -> Request:
    """Return the request that scores a run folder again with the golden set, outputs and settings of its manifest.

    `changes` are fields of `Request` that replace those of the run; other `verdicts` come with their own judge and
    rubrics. Raises InputError if the folder is not a run, or if its files are not those that its manifest names.
    """
    manifest = read_manifest(run)
    problems = []
    files = manifest.get("observations") or [{"path": OBSERVATIONS, "format": "assay"}]
    for file in files:
        problems += _check_file(run / file["path"], file.get("sha256"))
    formats = {file["format"] for file in files}
    if len(formats) > 1:
        message = f"outputs of several formats (got {', '.join(sorted(formats))}; expected one)"
        problems.append(Problem(str(run), None, "observations", message, "E_RUN_FOLDER"))
    corpus = run / CORPUS if "corpus" in manifest else None
    if corpus is not None:
        problems += _check_file(corpus, manifest["corpus"]["sha256"])
    judge = manifest.get("judge")
    rubrics = judge.get("rubrics", ()) if judge is not None else ()
    problems += _check_rubrics(run, rubrics)
    if problems:
        raise InputError(problems)
    request = Request(
        golden=str(run / GOLDEN),
        outputs=[str(run / file["path"]) for file in files],
        golden_format="assay",
        outputs_format=formats.pop(),
        corpus=str(corpus) if corpus is not None else None,
        metrics=manifest.get("metrics", ()),
        look_again=True,
        verdicts=_verdict_store_path(run, judge) if judge is not None else None,
        judge=judge["digest"] if judge is not None else None,
        rubrics=rubrics_of_run(run),
        judged=judge is not None,
        golden_name=manifest.get("golden", {}).get("name", ""),
        calibration=str(run / manifest["calibration"]) if "calibration" in manifest else None,
        **manifest.get("attribution", {}),
    )
    if changes.get("verdicts") is not None:
        request = replace(request, judge=None, rubrics=())
    return replace(request, **changes)


@contextmanager
def opened(run: str | Path, progress: Progress | None = None, **changes: Any) -> Iterator[ScoreRun]:
    """Yield the scoring of a run folder; `changes` are fields of `Request`.

    Raises InputError as `request_of` does, and if the golden set is not the one that the run was made with.
    """
    folder = Path(run)
    with scored_again(folder, request_of(folder, **changes), progress) as scoring:
        yield scoring


@contextmanager
def scored_again(folder: Path, request: Request, progress: Progress | None = None) -> Iterator[ScoreRun]:
    """Yield the scoring of a run folder for a request of `request_of`. Raises InputError for an edited golden set."""
    with scored(request, progress) as scoring:
        refuse_other_golden(folder, scoring.scoring.golden.digest)
        yield scoring


def refuse_other_golden(folder: Path, digest: str) -> None:
    """Raise InputError if the golden set is not the one that a run was made with."""
    if read_manifest(folder).get("golden_digest", digest) != digest:
        message = "is not the golden set that the run was made with (its digest differs from the manifest's)"
        raise InputError([Problem(str(folder / GOLDEN), None, "", message, "E_RUN_CHANGED")])


def config_of(run: ScoreRun, name: RunName) -> str:
    """Return the configuration that a name means. Raises InputError if the run lacks it, or if one must be named."""
    configs = sorted(run.scoring.configs)
    if name.config is None and len(configs) == 1:
        return configs[0]
    if name.config in configs:
        return name.config
    got = "no configuration named" if name.config is None else f"got {shown(name.config)}"
    message = f"{got} (expected {name.path}:CONFIG with one of {', '.join(configs)})"
    raise InputError([Problem(str(name.path), None, "config", message, "E_CONFIG")])


def _verdict_store_path(run: Path, judge: dict[str, str]) -> str:
    """Return the path of the verdicts of a run: in its folder, unless another verdict store was named."""
    path_in_run = run / judge["book"]
    return str(path_in_run if path_in_run.is_file() else judge["book"])


def _check_rubrics(run: Path, named: Sequence[Mapping[str, str]]) -> list[Problem]:
    """Return the problems of a run's rubrics: the verdicts answer the rubrics as they were when the judge was asked."""
    problems = [problem for file in named for problem in _check_file(run / file["path"], file["sha256"])]
    expected_paths = {str(run / file["path"]) for file in named}
    added_paths = (
        [str(path) for path in sorted((run / RUBRICS).glob("*.yaml")) if str(path) not in expected_paths]
        if named
        else []
    )
    message = "is not a rubric of this run (expected those that its manifest names)"
    return problems + [Problem(path, None, "", message, "E_RUN_CHANGED") for path in added_paths]


def _check_file(path: Path, digest: str | None) -> list[Problem]:
    if not path.is_file():
        return [Problem(str(path), None, "", "does not exist (expected the file that the manifest names)", "E_NO_FILE")]
    if digest is not None and sha256_of(path) != digest:
        message = "is not the file that was scored (its SHA-256 differs from the manifest's)"
        return [Problem(str(path), None, "", message, "E_RUN_CHANGED")]
    return []
