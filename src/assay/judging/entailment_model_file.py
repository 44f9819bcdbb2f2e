"""A local entailment model in a folder of the user: `model.onnx`, `tokenizer.json` and `config.json`.

The packages are optional and imported here alone. Every pair is computed by itself, without padding and on one thread,
so that no other pair, no batch and no order can change it; probabilities are rounded to four decimals.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn, cast

import numpy as np

from assay.formats.file_io import is_file, is_folder
from assay.formats.strict_json import decode_json_object
from assay.metrics.judged.entailment_model import EntailmentError, EntailmentScores
from assay.records.counts import format_count
from assay.records.errors import InputError, MissingExtraError, Problem, shorten_repr

MODEL_FILE, TOKENIZER_FILE, CONFIG_FILE = "model.onnx", "tokenizer.json", "config.json"
LABELS = ("entailment", "contradiction")
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
DEFAULT_LENGTH, LEAST_LENGTH = 512, 32
"""Tokens that a model reads at once: the most, where its files name no fewer, and the fewest that are enough."""
MAX_CONFIG_BYTES = 1_000_000
MAX_REMEMBERED = 100_000
MAX_PREMISE_CHARACTERS = 100_000
DECIMALS = 4


class OnnxEntailmentModel:
    """A loaded model. Copies for other processes load the folder again."""

    def __init__(
        self, folder: str, digest: str, session: Any, tokenizer: Any, columns: Mapping[str, int], length: int
    ) -> None:
        """`columns` are the places of the labels in the output; `length` is the number of tokens that it reads."""
        self.name, self.digest = Path(folder).name, digest
        self._folder, self._session, self._tokenizer, self._columns = folder, session, tokenizer, columns
        self._names = [model_input.name for model_input in session.get_inputs()]
        self._most_claim_tokens = length // 2
        self._remembered: dict[tuple[str, str], EntailmentScores] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return load_entailment_model, (self._folder,)

    def compare(self, premise: str, claim: str) -> EntailmentScores:
        """Return the largest probabilities over the windows of a premise; one that fits is one window.

        Raises EntailmentError for a claim that is longer than half of what the model reads, which is never cut, and
        where the model fails or its output is not finite.
        """
        key = premise, claim
        if key not in self._remembered:
            if len(self._remembered) >= MAX_REMEMBERED:
                self._remembered.clear()
            self._remembered[key] = self._compute(premise, claim)
        return self._remembered[key]

    def _compute(self, premise: str, claim: str) -> EntailmentScores:
        if len(premise) > MAX_PREMISE_CHARACTERS or len(claim) > MAX_PREMISE_CHARACTERS:
            raise EntailmentError(f"a sentence of more than {MAX_PREMISE_CHARACTERS} characters")
        try:
            count = len(self._tokenizer.encode(claim, add_special_tokens=False).ids)
            if count > self._most_claim_tokens:  # checked first: what is too long for both is cut in the premise alone
                raise EntailmentError(f"a claim of more than {self._most_claim_tokens} tokens")
            encoded = self._tokenizer.encode(premise, claim)
            windows = [self._run(window) for window in (encoded, *encoded.overflowing)]
        except EntailmentError:
            raise
        except BaseException as error:  # both packages raise exceptions of their own for a bad row
            _raise_interruption(error)
            raise EntailmentError(f"{type(error).__name__} of the model") from error
        best = [max(window[self._columns[label]] for window in windows) for label in LABELS]
        return EntailmentScores(*(round(value, DECIMALS) for value in best))

    def _run(self, window: Any) -> list[float]:
        values = {
            "input_ids": window.ids,
            "attention_mask": window.attention_mask,
            "token_type_ids": window.type_ids,
        }
        feeds = {name: np.array([values[name]], np.int64) for name in self._names}
        logits = np.asarray(self._session.run([self._session.get_outputs()[0].name], feeds)[0], np.float64)
        if logits.shape != (1, len(self._columns)):
            raise EntailmentError(f"an output of the shape {logits.shape}, not (1, {len(self._columns)})")
        if not np.isfinite(logits).all():
            raise EntailmentError("an output that is not finite")
        return _normalise(logits[0].tolist())


def _normalise(logits: Sequence[float]) -> list[float]:
    """Return the probabilities of logits (softmax)."""
    most = max(logits)
    powers = [math.exp(logit - most) for logit in logits]
    total = math.fsum(powers)
    return [power / total for power in powers]


def load_entailment_model(folder: str) -> OnnxEntailmentModel:
    """Return the model in a folder. Nothing is downloaded, and only these files are read.

    Raises MissingExtraError without the extra `entailment`, InputError with the file and what is wrong and expected.
    """
    path = Path(folder)
    if not is_folder(path):
        _refuse(folder, "", f"no such folder (expected one with {MODEL_FILE}, {TOKENIZER_FILE} and {CONFIG_FILE})")
    missing = [name for name in (MODEL_FILE, TOKENIZER_FILE, CONFIG_FILE) if not is_file(path / name)]
    if missing:
        raise InputError(
            [_problem(str(path / name), "", "no such file (export the model to ONNX)") for name in missing]
        )
    runtime, tokenizers = _import_packages()
    columns, length = _read_config(path / CONFIG_FILE)
    tokenizer, length = _read_tokenizer(tokenizers, path / TOKENIZER_FILE, length)
    session = _open_session(runtime, path / MODEL_FILE, len(columns))
    model = OnnxEntailmentModel(folder, _hash_folder(path), session, tokenizer, columns, length)
    try:
        model.compare("The leave is ten days.", "The leave is ten days.")
    except EntailmentError as error:
        message = (
            f"fails on a plain sentence ({error}; expected logits of shape (1, {len(columns)}) from {CONFIG_FILE})"
        )
        _refuse(str(path / MODEL_FILE), "outputs", message)
    return model


def _import_packages() -> tuple[Any, Any]:
    try:
        return cast(Any, import_module("onnxruntime")), cast(Any, import_module("tokenizers"))
    except ImportError:
        raise MissingExtraError("an entailment model", "entailment") from None


def _read_config(path: Path) -> tuple[dict[str, int], int]:
    """Return the place of each label in the output, and the most tokens that the model was made for."""
    if path.stat().st_size > MAX_CONFIG_BYTES:
        _refuse(str(path), "", f"too large (expected {MAX_CONFIG_BYTES} bytes at most)")
    try:
        text = path.read_bytes().decode()
    except UnicodeDecodeError:
        _refuse(str(path), "", "not UTF-8 (expected the config.json of the model)")
    config = decode_json_object(text, str(path))
    labels = config.get("id2label")
    if not isinstance(labels, dict) or not all(isinstance(label, str) for label in labels.values()):
        _refuse(str(path), "id2label", f"no labels (got {shorten_repr(labels)}; expected a name for each output)")
    if sorted(labels) != sorted(map(str, range(len(labels)))):
        _refuse(str(path), "id2label", f"not numbered from 0 (got {shorten_repr(sorted(labels))})")
    columns: dict[str, int] = {}
    for number, label in labels.items():
        name = label.strip().lower()
        if name in columns:
            _refuse(str(path), "id2label", f"one label twice (got {shorten_repr(label)}; expected it once)")
        columns[name] = int(number)
    for label in LABELS:
        if label not in columns:
            names = shorten_repr(sorted(columns))
            _refuse(str(path), "id2label", f"no label {label} (got {names}; expected entailment and contradiction)")
    length = config.get("max_position_embeddings", DEFAULT_LENGTH)
    if not isinstance(length, int) or isinstance(length, bool) or length < LEAST_LENGTH:
        message = f"not a length (got {shorten_repr(length)}; expected {LEAST_LENGTH} or more)"
        _refuse(str(path), "max_position_embeddings", message)
    return columns, min(length, DEFAULT_LENGTH)


def _read_tokenizer(tokenizers: Any, path: Path, length: int) -> tuple[Any, int]:
    """Return the tokenizer, which cuts a premise into overlapping windows and never a claim, and their length."""
    try:
        tokenizer = tokenizers.Tokenizer.from_file(str(path))
        length = min(length, (tokenizer.truncation or {}).get("max_length", length))
        if length < LEAST_LENGTH:
            raise ValueError(f"truncation.max_length is {length}, expected {LEAST_LENGTH} or more")
        tokenizer.no_padding()
        tokenizer.enable_truncation(length, stride=length // 8, strategy="only_first")
    except BaseException as error:  # noqa: BLE001  # the package raises plain exceptions, and panics
        _raise_interruption(error)
        message = f"not a tokenizer ({shorten_repr(str(error))}; expected the tokenizer.json of the model)"
        _refuse(str(path), "", message)
    return tokenizer, length


def _raise_interruption(error: BaseException) -> None:
    """Raise an interruption again; a panic of the tokenizer, which is no Exception, is an error like any other."""
    if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
        raise error


def _open_session(runtime: Any, path: Path, labels: int) -> Any:
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.use_deterministic_compute = True
    options.log_severity_level = 4
    try:
        session = runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # noqa: BLE001  # the package has an exception for each of its error codes
        _refuse(str(path), "", f"not a model of ONNX ({shorten_repr(str(error))}; export the model to ONNX again)")
    got = {model_input.name: model_input.type for model_input in session.get_inputs()}
    if "input_ids" not in got or not set(got) <= set(INPUTS) or set(got.values()) != {"tensor(int64)"}:
        expected = f"expected input_ids and at most {INPUTS[1]} and {INPUTS[2]}, all int64"
        _refuse(str(path), "inputs", f"of another kind of model (got {shorten_repr(got)}; {expected})")
    shape = session.get_outputs()[0].shape
    if len(shape) != 2 or (isinstance(shape[1], int) and shape[1] != labels):
        expected = f"expected two dimensions, the second of the {format_count(labels, 'label')} in {CONFIG_FILE}"
        _refuse(str(path), "outputs", f"of another kind of model (got the shape {shape}; {expected})")
    return session


def _hash_folder(path: Path) -> str:
    """Return the digest of everything that the numbers depend on: the model with its outside weights, and the texts."""
    digest = hashlib.sha256()
    for file in sorted(path.iterdir()):
        if file.is_file() and (file.name.startswith(MODEL_FILE) or file.name in (TOKENIZER_FILE, CONFIG_FILE)):
            with file.open("rb") as stream:
                digest.update(f"{file.name}\0{hashlib.file_digest(stream, 'sha256').hexdigest()}\0".encode())
    return f"sha256:{digest.hexdigest()}"


def _problem(path: str, field: str, message: str) -> Problem:
    return Problem(path, None, field, message, "E_ENTAILMENT_MODEL")


def _refuse(path: str, field: str, message: str) -> NoReturn:
    raise InputError([_problem(path, field, message)])
