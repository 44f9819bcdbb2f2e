"""A run folder scored again: RUN, or RUN:CONFIG where one configuration of it is meant (DECISIONS 20)."""

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
    """A run folder as people name it, with the configuration where they name one."""

    path: Path
    config: str | None = None

    @property
    def configs(self) -> tuple[str, ...]:
        """What `Request.configs` shall be: the configuration that is named, or none, which means all."""
        return (self.config,) if self.config is not None else ()


def is_run(text: str) -> bool:
    """Return whether a text names a run folder, with or without a configuration."""
    return (split_run(text).path / MANIFEST).is_file()


def rubrics_of_run(run: Path) -> list[str]:
    """Return the folders of the rubrics that a run was judged with; none where the shipped ones were enough, or where
    there is no run."""
    judge = (read_manifest(run).get("judge") or {}) if is_run(str(run)) else {}
    return [str(run / RUBRICS)] if judge.get("rubrics") else []


def files_of(*names: str | None) -> list[str]:
    """Return the files that names stand for: of a run those that it is scored from, else the name itself."""
    found: list[str] = []
    for name in filter(None, names):
        if not is_run(name):
            found.append(name)
            continue
        folder = split_run(name).path
        kept = [str(each["path"]) for each in read_manifest(folder).get("observations", ())]
        own = (MANIFEST, GOLDEN, CORPUS, OBSERVATIONS, VERDICTS, VERDICTS_TEXT, CALIBRATION, LOCK)
        found += [str(folder / each) for each in (*own, *kept)]
    return found


def split_run(text: str) -> RunName:
    """Return the folder and the configuration of `DIR` or `DIR:CONFIG`; a folder that exists is taken whole.

    >>> split_run("runs/0001:hybrid").config
    'hybrid'
    """
    path, colon, config = text.rpartition(":")
    if not colon or Path(text).is_dir() or not path:
        return RunName(Path(text))
    return RunName(Path(path), config)


def request_of(run: Path, **changes: Any) -> Request:
    """Return what scores a run folder again: the same golden set, outputs, corpus, metrics, verdicts and rubrics.

    `changes` are fields of `Request`; other `verdicts` come with their own judge and rubrics. Raises InputError where
    the folder is no run, or its files are not those that its manifest names.
    """
    manifest = read_manifest(run)
    problems = []
    files = manifest.get("observations") or [{"path": OBSERVATIONS, "format": "assay"}]
    for file in files:
        problems += _changed(run / file["path"], file.get("sha256"))
    formats = {file["format"] for file in files}
    if len(formats) > 1:
        message = f"outputs of several formats (got {', '.join(sorted(formats))}; expected one)"
        problems.append(Problem(str(run), None, "observations", message, "E_RUN_FOLDER"))
    corpus = run / CORPUS if "corpus" in manifest else None
    if corpus is not None:
        problems += _changed(corpus, manifest["corpus"]["sha256"])
    judge = manifest.get("judge")
    rubrics = judge.get("rubrics", ()) if judge is not None else ()
    problems += _changed_rubrics(run, rubrics)
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
        verdicts=_book_of(run, judge) if judge is not None else None,
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
    """Yield a run folder's scoring; `changes` are fields of `Request`.

    Raises InputError as `request_of` does, and where the golden set is not the one that the run was made with.
    """
    folder = Path(run)
    with scored_again(folder, request_of(folder, **changes), progress) as scoring:
        yield scoring


@contextmanager
def scored_again(folder: Path, request: Request, progress: Progress | None = None) -> Iterator[ScoreRun]:
    """Yield the scoring of a run folder by what `request_of` made of it. Raises InputError for an edited golden set."""
    with scored(request, progress) as scoring:
        refuse_other_golden(folder, scoring.scoring.golden.digest)
        yield scoring


def refuse_other_golden(folder: Path, digest: str) -> None:
    """Raise InputError where the golden set is not the one that a run was made with."""
    if read_manifest(folder).get("golden_digest", digest) != digest:
        message = "is not what the run was made with (its digest differs from the manifest's)"
        raise InputError([Problem(str(folder / GOLDEN), None, "", message, "E_RUN_CHANGED")])


def config_of(run: ScoreRun, name: RunName) -> str:
    """Return the configuration that a name means. Raises InputError where it is another's, or must be named."""
    configs = sorted(run.scoring.configs)
    if name.config is None and len(configs) == 1:
        return configs[0]
    if name.config in configs:
        return name.config
    got = "no configuration named" if name.config is None else f"got {shown(name.config)}"
    message = f"{got} (expected {name.path}:CONFIG with one of {', '.join(configs)})"
    raise InputError([Problem(str(name.path), None, "config", message, "E_CONFIG")])


def _book_of(run: Path, judge: dict[str, str]) -> str:
    """Return where the verdicts of a run lie: in the folder, unless another book was named."""
    own = run / judge["book"]
    return str(own if own.is_file() else judge["book"])


def _changed_rubrics(run: Path, named: Sequence[Mapping[str, str]]) -> list[Problem]:
    """Return what is wrong with the rubrics of a run: one that was edited is another question than was asked."""
    problems = [problem for file in named for problem in _changed(run / file["path"], file["sha256"])]
    known = {str(run / file["path"]) for file in named}
    added = [str(path) for path in sorted((run / RUBRICS).glob("*.yaml")) if str(path) not in known] if named else []
    message = "is no rubric of this run (expected those that its manifest names)"
    return problems + [Problem(path, None, "", message, "E_RUN_CHANGED") for path in added]


def _changed(path: Path, digest: str | None) -> list[Problem]:
    if not path.is_file():
        return [Problem(str(path), None, "", "is not there (expected the file that the manifest names)", "E_NO_FILE")]
    if digest is not None and sha256_of(path) != digest:
        message = "is not what was scored (its SHA-256 differs from the manifest's)"
        return [Problem(str(path), None, "", message, "E_RUN_CHANGED")]
    return []
