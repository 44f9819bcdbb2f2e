"""What the manifest of a run folder may contain: everything that is read from it has the right type and place.

A run folder is often copied from elsewhere, so its manifest is data like any other file: it names only files inside the
folder, except for the verdict store, which a user may keep elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from assay.formats.strict_json import MisfitError, convert_strictly, decode_json_object, join_field
from assay.records.errors import InputError, Problem, shorten_repr
from assay.records.scores import SplitLooks


class ManifestFile(msgspec.Struct, frozen=True):
    """One file of the run folder; `origin` is the name that it was copied from."""

    path: str
    sha256: str | None = None
    format: str = "assay"
    origin: str = msgspec.field(default="", name="from")


class ManifestCorpus(msgspec.Struct, frozen=True):
    """The copy of the corpus."""

    path: str
    sha256: str
    digest: str = ""


class ManifestJudge(msgspec.Struct, frozen=True):
    """The judge, its verdict store and the rubrics that are not built in."""

    digest: str
    store: str
    model: str = ""
    endpoint: str = ""
    rubrics: list[ManifestFile] = []


class ManifestGolden(msgspec.Struct, frozen=True):
    """The name and the version of the golden set."""

    name: str = ""
    version: str | None = None
    format: str = ""


class ManifestAttribution(msgspec.Struct, frozen=True):
    """The settings of attribution that change scores."""

    good: str = "auto"
    production_k: int | None = None
    internal_stages: tuple[str, ...] = ()


class ManifestAccepted(msgspec.Struct, frozen=True):
    """What was unusual about the outputs and accepted by those who scored them, so that the copies are read too."""

    unknown_cases: bool = False
    torn_tail: bool = False


class ManifestSelection(msgspec.Struct, frozen=True):
    """Which cases of the golden set were scored, and whether variants counted like other cases."""

    limit: int | None = None
    only: list[str] = []
    with_variants: bool = False


class EarlierAnswers(msgspec.Struct, frozen=True):
    """How many of the answers of a target the last `assay run` did not ask for, because the folder had them.

    `count` of `total` observations, of which `failed` have an error; the run that made them began at `started_at`.
    `sameness` tells whether the target has changed since, and `is_shown` whether that shows that it is the same.
    """

    count: int
    total: int
    sameness: str
    is_shown: bool = False
    failed: int = 0
    started_at: str | None = None


class RunManifest(msgspec.Struct, frozen=True):
    """All members of a manifest, whether observing or scoring wrote them."""

    format: int = 1
    assay_version: str = ""
    golden: ManifestGolden = ManifestGolden()
    golden_digest: str = ""
    complete: bool = False
    configs: list[str] = []
    observations: list[ManifestFile] = []
    corpus: ManifestCorpus | None = None
    judge: ManifestJudge | None = None
    calibration: str | None = None
    labels: str | None = None
    metrics: list[str] = []
    attribution: ManifestAttribution = ManifestAttribution()
    versions: dict[str, dict[str, Any]] = {}
    targets: dict[str, dict[str, Any]] = {}
    code: dict[str, dict[str, str]] = {}
    operations: dict[str, Any] = {}
    seed: int | None = None
    started_at: str | None = None
    earlier_answers: dict[str, EarlierAnswers] = {}
    looks: SplitLooks | None = None
    accepted: ManifestAccepted = ManifestAccepted()
    selection: ManifestSelection = ManifestSelection()


def decode_manifest(data: bytes, path: Path) -> dict[str, Any]:
    """Return the manifest as plain values. Raises InputError, with the field, for everything that cannot be used."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        message = f"not UTF-8 (got byte 0x{data[error.start]:02x} at byte offset {error.start}; expected UTF-8 text)"
        raise InputError([Problem(str(path), None, "", message, "E_ENCODING")]) from None
    manifest = decode_json_object(text, str(path))
    judge = manifest.get("judge")
    if isinstance(judge, dict) and "book" in judge:  # what 0.1 called the verdict store
        judge.setdefault("store", judge.pop("book"))
    known_members = {name: value for name, value in manifest.items() if name in _MEMBERS}
    try:
        record = convert_strictly(known_members, RunManifest)
    except MisfitError as error:
        raise InputError(
            [Problem(str(path), None, field, message, code) for field, message, code in error.misfits]
        ) from None
    problems = [
        Problem(str(path), None, field, _describe_outside(name), "E_RUN_FOLDER")
        for field, name in _list_paths(record)
        if not is_inside(path.parent, name)
    ]
    if record.judge is not None and "\0" in record.judge.store:
        problems.append(Problem(str(path), None, "judge.store", _describe_outside(record.judge.store), "E_RUN_FOLDER"))
    if problems:
        raise InputError(problems)
    return manifest


def is_inside(folder: Path, name: str) -> bool:
    """Return whether a name in a manifest stays inside the run folder, symbolic links included."""
    if not name or "\0" in name or PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
        return False
    try:
        return (folder / name).resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):  # a loop of links, or a name that the system refuses
        return False


_MEMBERS = frozenset(RunManifest.__struct_encode_fields__)


def _list_paths(manifest: RunManifest) -> Iterator[tuple[str, str]]:
    """Yield the field and the value of each path of the manifest that belongs into the folder."""
    for index, file in enumerate(manifest.observations):
        yield f"{join_field('observations', index)}.path", file.path
    if manifest.corpus is not None:
        yield "corpus.path", manifest.corpus.path
    if manifest.calibration is not None:
        yield "calibration", manifest.calibration
    if manifest.labels is not None:
        yield "labels", manifest.labels
    for index, file in enumerate(manifest.judge.rubrics if manifest.judge is not None else ()):
        yield f"{join_field('judge.rubrics', index)}.path", file.path


def _describe_outside(name: str) -> str:
    return f"not a file of this run folder (got {shorten_repr(name)}; expected a relative path inside it)"


_MADE_WITH = ("targets", "operations", "seed")


def read_made_with(manifest: Mapping[str, Any], config: str) -> dict[str, str]:
    """Return how one configuration was observed, from the manifest of its run, as dotted names with their values."""
    facts = {name: manifest[name] for name in _MADE_WITH if name in manifest}
    if isinstance(facts.get("targets"), Mapping):
        facts["target"] = facts.pop("targets").get(config, {})
    return dict(sorted(_flatten("", facts)))


def _flatten(at: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for name, part in value.items():
            yield from _flatten(f"{at}.{name}" if at else str(name), part)
    else:
        yield at, value if isinstance(value, str) else shorten_repr(value)
