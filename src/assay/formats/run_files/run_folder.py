"""The run folder (ADR 0032): manifest, golden set, journal of observations, lock, and files derived from them.

An observation counts only once its line has been written completely. A last line that a crash cut off is dropped when
the folder is opened again, and reported.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from assay.formats import outputs
from assay.formats.file_io import is_file, is_folder, write_atomically
from assay.formats.golden_files import write_golden
from assay.formats.recorded_outputs.line_checks import DECODING_ERRORS, explain_bad_line
from assay.formats.run_files.manifest import decode_manifest
from assay.records.errors import IncompleteError, InputError, Problem, shorten_repr
from assay.records.golden_set import Corpus, GoldenSet
from assay.records.observations import Observation
from assay.records.release_gates import Gate
from assay.records.requests import ScoreRequest, ScoringOptions, VerdictOptions, date_of_time

MANIFEST_FILE, GOLDEN_FILE, CORPUS_FILE, OBSERVATIONS_FILE, REPLACED_FILE, RUN_LOCK_FILE, DERIVED_FOLDER = (
    "manifest.json",
    "golden.jsonl",
    "corpus.jsonl",
    "observations.jsonl",
    "replaced.jsonl",
    "LOCK",
    "derived",
)
VERDICTS_STORE_FILE, VERDICTS_FILE, CALIBRATION_FILE = "verdicts.sqlite", "verdicts.jsonl", "calibration.json"
LABELS_FILE, GATE_FILE, BASELINE_FILE = "labels.jsonl", "gate.json", "baseline.json"
RUBRICS_FOLDER = "rubrics"
RUN_FOLDER_FORMAT = 1
FSYNC_LINES = 64

ObservationKey = tuple[str, str, int]
"""Identifies an observation: configuration, case, repeat."""


def make_observation_key(observation: Observation) -> ObservationKey:
    """Return the configuration, case and repeat of an observation."""
    return observation.config_id, observation.case_id, observation.repeat


class RunInUseError(InputError):
    """Raised for a run folder that another process writes."""


class RunFolder:
    """An open, locked run folder. Close it, or use it in a `with` block."""

    def __init__(self, path: Path) -> None:
        """Open or make the folder. Raises InputError if it is in use, or holds other files and is not a run folder."""
        self.path = path
        if path.exists() and not path.is_dir():
            raise _input_error(path, "is a file (expected a folder)")
        if (
            path.exists()
            and any(entry.name != RUN_LOCK_FILE for entry in path.iterdir())
            and not (path / MANIFEST_FILE).exists()
        ):
            raise _input_error(path, "is not empty and not a run folder (expected a new or empty folder)")
        try:
            path.mkdir(parents=True, exist_ok=True)
            self._lock = _acquire_lock(path / RUN_LOCK_FILE)
        except OSError as error:
            raise IncompleteError(f"{path}: cannot be written: {error.strerror or error}") from error
        try:
            self.manifest: dict[str, Any] = self._read_manifest()
        except InputError:
            self.close()
            raise

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the lock; the operating system does so when the process dies."""
        if not self._lock.closed:  # after a first close the file may already be the lock of another process
            (self.path / RUN_LOCK_FILE).unlink(missing_ok=True)
            self._lock.close()

    def discard(self) -> None:
        """Release the lock, and remove the folder if nothing was written into it."""
        self.close()
        with suppress(OSError):
            self.path.rmdir()

    def begin_again(self) -> None:
        """Move all observations to `replaced.jsonl` and forget the manifest, so that every case is asked again.

        A crash loses none of them: until they are all copied they stay where they were. A last line that a crash cut
        off is dropped, as it is when the journal is opened.
        """
        path = self.path / OBSERVATIONS_FILE
        if self.has_observations():
            with open(path, "rb") as lines, open(self.path / REPLACED_FILE, "ab", opener=_open_private) as replaced:
                replaced.writelines(line for line in lines if line.endswith(b"\n"))
                replaced.flush()
                os.fsync(replaced.fileno())
        path.unlink(missing_ok=True)
        self.manifest = {}

    def has_observations(self) -> bool:
        """Return whether an observation was written completely; the manifest alone is there before the first one."""
        try:
            with open(self.path / OBSERVATIONS_FILE, "rb") as lines:
                return lines.readline().endswith(b"\n")
        except FileNotFoundError:
            return False

    def write_manifest(self, manifest: Mapping[str, Any]) -> None:
        """Replace the manifest, completely or not at all."""
        self.manifest = {"format": RUN_FOLDER_FORMAT, **manifest}
        text = msgspec.json.format(msgspec.json.encode(self.manifest, order="sorted"), indent=2) + b"\n"
        write_atomically(self.path / MANIFEST_FILE, [text])

    def write_golden(self, golden: GoldenSet) -> None:
        """Write the golden set in its native format; labels of answers, which are no part of it, are left out."""
        cases = tuple(replace(case, answer_labels=()) for case in golden.cases)
        write_golden(replace(golden, cases=cases), self.path / GOLDEN_FILE)

    def write_corpus(self, corpus: Corpus) -> str:
        """Write the corpus in its native format and return the SHA-256 of its bytes."""
        path = write_atomically(
            self.path / CORPUS_FILE, (msgspec.json.encode(chunk) + b"\n" for chunk in corpus.chunks.values())
        )
        return compute_file_sha256(path)

    def write_derived(self, name: str, parts: Iterable[bytes]) -> Path:
        """Write a file that can be computed again from the others."""
        return write_atomically(self.path / DERIVED_FOLDER / name, parts)

    def record_gate(self, gate: Gate | None) -> None:
        """Keep the gate that decided about the run, for reports of it; one that an earlier scoring kept is replaced."""
        if gate is not None:
            self.write_derived(GATE_FILE, [msgspec.json.encode(gate) + b"\n"])
        else:
            (self.path / DERIVED_FOLDER / GATE_FILE).unlink(missing_ok=True)

    def record_baseline(self, name: str | None) -> None:
        """Keep where the run or file is that the run was compared with, for reports; None forgets an earlier one."""
        if name is not None:
            path = str(Path(name).absolute())
            self.write_derived(BASELINE_FILE, [msgspec.json.encode({"baseline": path}) + b"\n"])
        else:
            (self.path / DERIVED_FOLDER / BASELINE_FILE).unlink(missing_ok=True)

    def copy_observations(self, source: str, name: str) -> str:
        """Copy a file of outputs into the folder and return its SHA-256."""
        draft = self.path / f"{name}.part"
        draft.unlink(missing_ok=True)
        draft.touch(mode=0o600, exist_ok=False)
        shutil.copyfile(source, draft)
        draft.replace(self.path / name)
        return compute_file_sha256(self.path / name)

    def copy_rubrics(self, folders: Iterable[str]) -> list[dict[str, str]]:
        """Replace the rubrics of the run by copies of those in `folders`; return each with its SHA-256."""
        # All are read before the first one is removed, because `folders` may be those of this run.
        contents: dict[str, bytes] = {}
        for number, folder in enumerate(folders, 1):
            for path in sorted(Path(folder).glob("*.yaml")):
                contents[f"{number}-{path.name}"] = path.read_bytes()
        for path in (self.path / RUBRICS_FOLDER).glob("*.yaml"):
            path.unlink()
        written = [write_atomically(self.path / RUBRICS_FOLDER / name, [content]) for name, content in contents.items()]
        return [{"path": f"{RUBRICS_FOLDER}/{path.name}", "sha256": compute_file_sha256(path)} for path in written]

    def _read_manifest(self) -> dict[str, Any]:
        return read_manifest(self.path) if (self.path / MANIFEST_FILE).exists() else {}


class ObservationJournal:
    """The append-only file of observations of an open run folder."""

    def __init__(self, folder: RunFolder) -> None:
        """Open the journal and drop a last line that a crash cut off. Raises InputError for any other invalid line."""
        self.path = folder.path / OBSERVATIONS_FILE
        self.torn_bytes = 0
        self.failed_keys: set[ObservationKey] = set()
        self.keys: set[ObservationKey] = set()
        self._unsynced = 0
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            self._size = self._read_keys()
        except BaseException:  # also on Ctrl-C: nobody else closes the descriptor
            os.close(self._file)
            raise

    def append(self, line: bytes, key: ObservationKey, *, failed: bool) -> None:
        """Write one line completely. Raises IncompleteError if that fails, after removing a partly written line."""
        data = line + b"\n"
        try:
            written = 0
            while written < len(data):
                written += os.write(self._file, data[written:])
            self._unsynced += 1
            if self._unsynced >= FSYNC_LINES:
                self.sync()
        except OSError as error:
            os.ftruncate(self._file, self._size)
            message = f"{self.path}: cannot be written: {error.strerror} ({len(data)} bytes more; nothing was lost)"
            raise IncompleteError(message) from error
        self._size += len(data)
        self.keys.add(key)
        if failed:
            self.failed_keys.add(key)

    def sync(self) -> None:
        """Make sure that what was written survives a power failure."""
        os.fsync(self._file)
        self._unsynced = 0

    def close(self) -> None:
        """Sync and close."""
        try:
            self.sync()
        except OSError as error:
            raise IncompleteError(f"{self.path}: cannot be written: {error.strerror}") from error
        finally:
            os.close(self._file)

    def move_out(self, keys: Collection[ObservationKey]) -> int:
        """Move the observations of some keys to `replaced.jsonl`, so that they are made again.

        Returns how many were moved. A crash during the move loses none of them.
        """
        lines = self.path.read_bytes().splitlines(keepends=True)
        moved = [line for line in lines if make_observation_key(outputs.decode_observation(line)) in keys]
        if not moved:
            return 0
        with open(self.path.with_name(REPLACED_FILE), "ab", opener=_open_private) as replaced:
            replaced.writelines(moved)
            replaced.flush()
            os.fsync(replaced.fileno())
        dropped = set(moved)
        os.close(self._file)
        write_atomically(self.path, [line for line in lines if line not in dropped])
        self._file = os.open(self.path, os.O_RDWR | os.O_APPEND)
        self.keys.clear()
        self.failed_keys.clear()
        self._size = self._read_keys()
        return len(moved)

    def _read_keys(self) -> int:
        """Note the key of each line, cut off a last line without a line end, and return the remaining size in bytes."""
        problems, size = [], 0
        with open(self.path, "rb") as lines:
            for number, line in enumerate(lines, 1):
                if not line.endswith(b"\n"):
                    self.torn_bytes = len(line)
                    os.ftruncate(self._file, size)
                    break
                size += len(line)
                try:
                    observation = outputs.decode_observation(line)
                except DECODING_ERRORS as error:
                    problems += explain_bad_line(str(self.path), number, line, Observation, error)
                    continue
                key = make_observation_key(observation)
                if key in self.keys:
                    problems.append(
                        Problem(str(self.path), number, "case_id", f"observed twice (got {shorten_repr(key)})")
                    )
                self.keys.add(key)
                if observation.error is not None:
                    self.failed_keys.add(key)
        if problems:
            raise InputError(problems)
        return size


def read_manifest(run: Path) -> dict[str, Any]:
    """Return the manifest of a run folder. Raises InputError if it is missing, broken or of another format."""
    path = run / MANIFEST_FILE
    if not is_file(path):
        expected = f"a folder with {MANIFEST_FILE}, as --run-dir or `assay run` makes"
        expected += "; files are named with --golden and --outputs" if is_file(run) else ""
        raise _input_error(run, f"no run folder (expected {expected})")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise _input_error(path, f"cannot be read: {error.strerror} (expected the manifest of a run)") from error
    manifest = decode_manifest(data, path)
    if manifest.get("format", RUN_FOLDER_FORMAT) != RUN_FOLDER_FORMAT:
        writer = f", written by Assay {version}" if (version := manifest.get("assay_version")) else ""
        remedy = "use that version, or score the observations of the folder again with --golden and --outputs"
        got = f"of another format (got {manifest['format']!r}{writer}; expected {RUN_FOLDER_FORMAT}: {remedy})"
        raise _input_error(path, got)
    return manifest


def read_recorded_gate(run: Path) -> Gate | None:
    """Return the gate that last decided about a run, None if none did, or none is kept."""
    try:
        return msgspec.json.decode((run / DERIVED_FOLDER / GATE_FILE).read_bytes(), type=Gate)
    except (OSError, msgspec.MsgspecError):
        return None


def read_recorded_baseline(run: Path) -> str | None:
    """Return where the run or file was that a run was last compared with, None if it was compared with none."""
    try:
        recorded = msgspec.json.decode((run / DERIVED_FOLDER / BASELINE_FILE).read_bytes(), type=dict[str, str])
    except (OSError, msgspec.MsgspecError):
        return None
    return recorded.get("baseline")


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def compute_file_sha256(path: Path) -> str:
    """Return `sha256:` and the SHA-256 digest of a file in hexadecimal."""
    with open(path, "rb") as file:
        return "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()


def describe_manifest_changes(before: Mapping[str, Any], now: Mapping[str, Any], at: str = "") -> list[str]:
    """Describe each difference between two parts of manifests, including members that only one of them has.

    >>> describe_manifest_changes({"k": 5, "t": {"a": 1}}, {"k": 5, "t": {"a": 2}})
    ['t.a: was 1, is now 2']
    """
    differences = []
    for name in sorted({*before, *now}):
        field = f"{at}.{name}" if at else name
        old, new = before.get(name), now.get(name)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            differences += describe_manifest_changes(old, new, field)
        elif old != new:
            differences.append(f"{field}: was {shorten_repr(old)}, is now {shorten_repr(new)}")
    return differences


def _acquire_lock(path: Path) -> IO[str]:
    """Lock a file for as long as it is open. Raises InputError naming the process that holds the lock."""
    import fcntl

    while True:
        file = open(path, "a+", encoding="utf-8")  # noqa: SIM115  # the lock lives as long as the file is open
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            holder = file.read(200).strip() or "another process"
            file.close()
            message = f"is being written by {holder} (expected one process at a time)"
            raise RunInUseError([Problem(str(path.parent), None, "", message, "E_RUN_FOLDER")]) from None
        # The previous holder may have removed the file that was locked here in the meantime: try the new one.
        if path.exists() and os.fstat(file.fileno()).st_ino == path.stat().st_ino:
            break
        file.close()
    file.truncate(0)
    import socket  # only a run that is written needs the name of the host

    file.write(f"process {os.getpid()} on {socket.gethostname()}\n")
    file.flush()
    return file


def _input_error(path: Path, message: str) -> InputError:
    return InputError([Problem(str(path), None, "", message, "E_RUN_FOLDER")])


class RunName(Struct, frozen=True):
    """A run folder as a user names it, with the configuration if one is named."""

    path: Path
    config: str | None = None

    @property
    def configs(self) -> tuple[str, ...]:
        """The value for `Request.configs`: the named configuration, or none, which means all."""
        return (self.config,) if self.config is not None else ()


def is_run_name(text: str) -> bool:
    """Return whether a text names a run folder, with or without a configuration."""
    return is_file(parse_run_name(text).path / MANIFEST_FILE)


def list_run_rubrics(run: Path) -> list[str]:
    """Return the folders of the rubrics that a run was judged with; none if it used only the built-in ones, or if there
    is no run."""
    judge = (read_manifest(run).get("judge") or {}) if is_run_name(str(run)) else {}
    return [str(run / RUBRICS_FOLDER)] if judge.get("rubrics") else []


def list_run_files(*names: str | None) -> list[str]:
    """Return the files behind some names: for a run the files that it is scored from, else the name itself."""
    paths: list[str] = []
    for name in filter(None, names):
        if not is_run_name(name):
            paths.append(name)
            continue
        folder = parse_run_name(name).path
        manifest = read_manifest(folder)
        output_names = [str(file["path"]) for file in manifest.get("observations", ())]
        fixed_names = (
            MANIFEST_FILE,
            GOLDEN_FILE,
            CORPUS_FILE,
            OBSERVATIONS_FILE,
            REPLACED_FILE,
            VERDICTS_STORE_FILE,
            *(f"{VERDICTS_STORE_FILE}{suffix}" for suffix in ("-wal", "-shm")),
            VERDICTS_FILE,
            CALIBRATION_FILE,
            LABELS_FILE,
            RUN_LOCK_FILE,
        )
        paths += [str(folder / file_name) for file_name in (*fixed_names, *output_names)]
        paths += map(str, (folder / RUBRICS_FOLDER).glob("*.yaml"))
        judge = manifest.get("judge")
        paths += [_verdict_store_path(folder, judge)] if judge is not None else []
    return paths


def parse_run_name(text: str) -> RunName:
    """Return the folder and the configuration of `DIR` or `DIR:CONFIG`; the name of a folder may contain a colon.

    >>> parse_run_name("runs/0001:hybrid").config
    'hybrid'
    """
    path, colon, config = text.rpartition(":")
    if not colon or is_folder(text) or not path:
        return RunName(Path(text))
    return RunName(Path(path), config)


def complete_run_request(request: ScoreRequest) -> ScoreRequest:
    """Return a request that names a run folder, with the golden set, outputs, verdicts and settings of its manifest.

    What the request states wins over the manifest; other verdicts come with their own judge and rubrics. Waivers are
    read on the day of the run if the request names none. Raises
    InputError if the folder is not a run, or if its files are not those that its manifest names.
    """
    name = parse_run_name(str(request.inputs.run))
    run, manifest = name.path, read_manifest(name.path)
    problems = []
    files = manifest.get("observations") or [{"path": OBSERVATIONS_FILE, "format": "assay"}]
    for file in files:
        problems += _check_file(run / file["path"], file.get("sha256"))
    formats = {file["format"] for file in files}
    if len(formats) > 1:
        message = f"outputs of several formats (got {', '.join(sorted(formats))}; expected one)"
        problems.append(Problem(str(run), None, "observations", message, "E_RUN_FOLDER"))
    corpus = run / CORPUS_FILE if "corpus" in manifest else None
    if corpus is not None:
        problems += _check_file(corpus, manifest["corpus"]["sha256"])
    judge = manifest.get("judge")
    problems += _check_rubrics(run, judge.get("rubrics", ()) if judge is not None else ())
    if problems:
        raise InputError(problems)
    accepted = manifest.get("accepted", {})
    selection = manifest.get("selection", {})
    inputs = replace(
        request.inputs,
        golden=str(run / GOLDEN_FILE),
        outputs=[str(run / file["path"]) for file in files],
        golden_format="assay",
        outputs_format=formats.pop(),
        corpus=str(corpus) if corpus is not None else None,
        golden_name=manifest.get("golden", {}).get("name", ""),
        ignore_unknown=request.inputs.ignore_unknown or accepted.get("unknown_cases", False),
        allow_torn_tail=request.inputs.allow_torn_tail or accepted.get("torn_tail", False),
        configs=request.inputs.configs or name.configs,
        limit=request.inputs.limit if request.inputs.limit is not None else selection.get("limit"),
        only=request.inputs.only or selection.get("only", ()),
    )
    recorded_verdicts = VerdictOptions(
        store=_verdict_store_path(run, judge) if judge is not None else None,
        judge=judge["digest"] if judge is not None else None,
        calibration=str(run / manifest["calibration"]) if "calibration" in manifest else None,
        rubrics=list_run_rubrics(run),
        judged=judge is not None,
    )
    return replace(
        request,
        inputs=inputs,
        verdicts=_override_verdicts(recorded_verdicts, request.verdicts),
        gate=replace(request.gate, today=request.gate.today or date_of_time(manifest.get("started_at"))),
        scoring=_complete_scoring(request.scoring, manifest, run),
    )


def _override_verdicts(recorded: VerdictOptions, given: VerdictOptions) -> VerdictOptions:
    """Return the verdicts of a run with those options replaced that are given."""
    if given.store is not None:  # the judge and the rubrics of the run belong to its own verdicts
        recorded = replace(recorded, store=given.store, judge=None, rubrics=())
    return VerdictOptions(
        store=recorded.store,
        judge=given.judge if given.judge is not None else recorded.judge,
        calibration=given.calibration if given.calibration is not None else recorded.calibration,
        rubrics=given.rubrics or recorded.rubrics,
        judged=given.judged or recorded.judged,
        entailment_model=given.entailment_model,
    )


def _complete_scoring(scoring: ScoringOptions, manifest: Mapping[str, Any], run: Path) -> ScoringOptions:
    """Return the scoring options with those of the manifest where none are given; single cases can be read again."""
    recorded = manifest.get("attribution", {})
    return replace(
        scoring,
        metrics=scoring.metrics if scoring.metrics is not None else manifest.get("metrics") or None,
        good=scoring.good if scoring.good is not None else recorded.get("good"),
        production_k=scoring.production_k if scoring.production_k is not None else recorded.get("production_k"),
        internal_stages=scoring.internal_stages
        if scoring.internal_stages is not None
        else recorded.get("internal_stages") or None,
        missing_as_zero=scoring.missing_as_zero if scoring.missing_as_zero is not None else counts_missing(manifest),
        look_again=True,
        with_variants=scoring.with_variants or manifest.get("selection", {}).get("with_variants", False),
        metric_paths=manifest.get("metric_paths", {}),
        labels=scoring.labels or list_run_labels(run, manifest),
        sent_users=read_sent_users(manifest),
    )


def list_run_labels(run: Path, manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the files of what people decided about the answers of a run: its own one, if it has any."""
    return (str(run / manifest["labels"]),) if "labels" in manifest else ()


_CALLED_BY_TEMPLATE = ("http", "mcp")


def read_sent_users(manifest: Mapping[str, Any]) -> dict[str, bool]:
    """Return, for each target of a manifest of which the settings tell, whether they send the user with a question.

    A command is given the user; of a Python function nothing tells which of its arguments it takes.

    >>> asked, told = {"type": "http", "body": {"q": "{{question}}"}}, {"type": "mcp", "identity": {"r": "user.roles"}}
    >>> read_sent_users({"targets": {"a": asked, "b": told, "c": {"type": "python"}}})
    {'a': False, 'b': True}
    """
    sent: dict[str, bool] = {}
    for name, settings in manifest.get("targets", {}).items():
        kind = settings.get("type") if isinstance(settings, Mapping) else None
        if kind in _CALLED_BY_TEMPLATE:
            sent[name] = bool(settings.get("identity")) or "{{user" in repr(settings)
        elif kind == "command":
            sent[name] = True
    return sent


def counts_missing(manifest: Mapping[str, Any]) -> bool:
    """Return whether a run gave its cases without an observation the worst score."""
    return manifest.get("missing") == "zero"


def refuse_other_golden(folder: Path, digest: str) -> None:
    """Raise InputError if the golden set is not the one that a run was made with."""
    if read_manifest(folder).get("golden_digest", digest) != digest:
        message = "is not the golden set that the run was made with (its digest differs from the manifest's)"
        raise InputError([Problem(str(folder / GOLDEN_FILE), None, "", message, "E_RUN_CHANGED")])


def find_verdict_store(run: str) -> str:
    """Return the path of the verdict store of a run. Raises InputError if it is no run, or was not judged."""
    folder = parse_run_name(run).path
    judge = read_manifest(folder).get("judge")
    if judge is None:
        message = "was not judged: it has no verdict store (expected `assay judge --run` first)"
        raise InputError([Problem(str(folder), None, "judge", message, "E_RUN_FOLDER")])
    return _verdict_store_path(folder, judge)


def _verdict_store_path(run: Path, judge: dict[str, str]) -> str:
    """Return the path of the verdicts of a run: in its folder, unless another verdict store was named."""
    path_in_run = run / judge["store"]
    return str(path_in_run if path_in_run.is_file() else judge["store"])


def _check_rubrics(run: Path, named: Sequence[Mapping[str, str]]) -> list[Problem]:
    """Return the problems of a run's rubrics: the verdicts answer the rubrics as they were when the judge was asked."""
    problems = [problem for file in named for problem in _check_file(run / file["path"], file["sha256"])]
    expected_paths = {str(run / file["path"]) for file in named}
    added_paths = (
        [str(path) for path in sorted((run / RUBRICS_FOLDER).glob("*.yaml")) if str(path) not in expected_paths]
        if named
        else []
    )
    message = "is not a rubric of this run (expected those that its manifest names)"
    return problems + [Problem(path, None, "", message, "E_RUN_CHANGED") for path in added_paths]


def _check_file(path: Path, digest: str | None) -> list[Problem]:
    if not path.is_file():
        return [Problem(str(path), None, "", "does not exist (expected the file that the manifest names)", "E_NO_FILE")]
    if digest is not None and compute_file_sha256(path) != digest:
        message = (
            "is not the file that was scored (its SHA-256 differs from the manifest's; expected the file as it was, or "
            "name it with --golden and --outputs to score it as it is now)"
        )
        return [Problem(str(path), None, "", message, "E_RUN_CHANGED")]
    return []
