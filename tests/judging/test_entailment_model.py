"""The local entailment model: what it says of a pair depends on the pair alone, and unfit folders are refused."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.tiny_entailment import USUAL, write_model

from assay.judging import entailment_model_file
from assay.judging.entailment_model_file import load_entailment_model
from assay.metrics.judged.entailment_model import EntailmentError
from assay.records.errors import InputError, MissingExtraError

pytest.importorskip("onnxruntime", reason="needs the extra entailment")
pytest.importorskip("tokenizers", reason="needs the extra entailment")

PREMISES = ["The leave is ten days .", "The canteen serves soup on Mondays .", "leave " * 40, "days"]
CLAIMS = ["The leave is days .", "The leave is not days .", "The canteen serves soup .", "soup"]


def test_labels_are_read_in_any_order_and_case(tmp_path: Path) -> None:
    model = load_entailment_model(str(write_model(tmp_path)))
    supported, denied = (model.compare(PREMISES[0], claim) for claim in CLAIMS[:2])
    assert supported.entailment > 0.8 > 0.2 > supported.contradiction
    assert denied.contradiction > 0.8 > 0.2 > denied.entailment


def test_what_is_said_of_a_pair_depends_on_no_other_pair_and_no_order(tmp_path: Path) -> None:
    folder = str(write_model(tmp_path))
    pairs = [(premise, claim) for premise in PREMISES for claim in CLAIMS]
    alone = {pair: load_entailment_model(folder).compare(*pair) for pair in pairs}
    assert len(set(alone.values())) > 3
    for seed in range(5):
        shuffled = random.Random(seed).sample(pairs, len(pairs))
        model = load_entailment_model(folder)
        assert alone == {pair: model.compare(*pair) for pair in shuffled}
        assert alone == {pair: model.compare(*pair) for pair in pairs}


def test_padding_that_the_tokenizer_asks_for_changes_nothing(tmp_path: Path) -> None:
    plain = load_entailment_model(str(write_model(tmp_path / "plain")))
    folder = write_model(tmp_path / "padded")
    tokenizer = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    tokenizer["padding"] = {
        "strategy": {"Fixed": 60}, "direction": "Right", "pad_to_multiple_of": None,
        "pad_id": 3, "pad_type_id": 0, "pad_token": "the",
    }  # fmt: skip
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    padded = load_entailment_model(str(folder))
    for claim in CLAIMS:
        assert plain.compare(PREMISES[0], claim) == padded.compare(PREMISES[0], claim)


def test_a_long_premise_is_read_in_windows_to_its_end(tmp_path: Path) -> None:
    weights = {**USUAL, ("granted", 0): (0.0, 0.0, 6.0), ("soup", 0): (6.0, 0.0, 0.0)}
    model = load_entailment_model(str(write_model(tmp_path, weights)))
    for filler in (10, 60, 61, 500):
        scores = model.compare("soup " + "the " * filler + "granted", "it is full")
        assert scores.entailment > 0.4
        assert scores.contradiction > 0.4
    assert model.compare("the " * 500, "it is full").entailment < 0.4


def test_a_claim_is_never_cut(tmp_path: Path) -> None:
    model = load_entailment_model(str(write_model(tmp_path, length=64)))
    model.compare("the leave", "days " * 32)
    with pytest.raises(EntailmentError, match="more than 32 tokens"):
        model.compare("the leave", "days " * 33)
    with pytest.raises(EntailmentError, match="more than 32 tokens"):
        model.compare("the leave", "days " * 200)


def test_numbers_that_are_none_are_an_error_of_the_pair(tmp_path: Path) -> None:
    model = load_entailment_model(str(write_model(tmp_path)))
    with pytest.raises(EntailmentError, match="not finite"):
        model.compare("the leave", "broken")
    assert model.compare("the leave", "days").entailment > 0.5


def test_the_digest_is_that_of_the_contents(tmp_path: Path) -> None:
    first, again = (load_entailment_model(str(write_model(tmp_path / name))) for name in ("a", "b"))
    other = load_entailment_model(str(write_model(tmp_path / "c", {**USUAL, ("soup", 1): (1.0, 0.0, 0.0)})))
    assert first.digest == again.digest != other.digest


def _drop(name: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).unlink()


def _write(name: str, content: bytes) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_bytes(content)


@pytest.mark.parametrize(
    ("spoil", "named", "expected"),
    [
        (_drop("model.onnx"), "model.onnx", "no such file"),
        (_drop("tokenizer.json"), "tokenizer.json", "no such file"),
        (_drop("config.json"), "config.json", "no such file"),
        (_write("model.onnx", b""), "model.onnx", "not a model of ONNX"),
        (_write("model.onnx", b"\x08\x08 no model"), "model.onnx", "not a model of ONNX"),
        (_write("tokenizer.json", b"{}"), "tokenizer.json", "not a tokenizer"),
        (_write("tokenizer.json", b"\xff\xfe"), "tokenizer.json", "not a tokenizer"),
        (_write("config.json", b"\xff"), "config.json", "not UTF-8"),
        (_write("config.json", b"[]"), "config.json", "object"),
        (_write("config.json", b'{"id2label": 3}'), "id2label", "no labels"),
        (
            _write("config.json", b'{"id2label": {"0": "entailment", "1": "neutral"}}'),
            "id2label",
            "label contradiction",
        ),
        (_write("config.json", b'{"id2label": {"0": "entailment", "1": "ENTAILMENT"}}'), "id2label", "one label twice"),
        (_write("config.json", b'{"id2label": {"0": "entailment", "7": "contradiction"}}'), "id2label", "from 0"),
        (_write("config.json", b'{"id2label": {"0": "entailment", "1": "contradiction"}}'), "outputs", "2 labels"),
        (lambda folder: write_model(folder, outputs=2), "outputs", "3 labels"),
        (lambda folder: write_model(folder, input_name="pixels"), "inputs", "input_ids"),
        (lambda folder: write_model(folder, length=8), "max_position_embeddings", "32 or more"),
        (lambda folder: write_model(folder, {("the", 0): (float("inf"), 0.0, 0.0)}), "outputs", "not finite"),
    ],
)
def test_an_unfit_folder_is_refused_with_its_file_and_a_remedy(
    tmp_path: Path, spoil: Callable[[Path], object], named: str, expected: str
) -> None:
    spoil(write_model(tmp_path))
    with pytest.raises(InputError) as caught:
        load_entailment_model(str(tmp_path))
    (problem,) = caught.value.problems
    assert named in str(problem)
    assert expected in str(problem)
    assert str(tmp_path) in str(problem)


def test_a_tokenizer_that_panics_is_refused(tmp_path: Path) -> None:
    """Its code is Rust, and a panic is no Exception; the post-processor names a token that is not there."""
    tokenizer = json.loads((write_model(tmp_path) / "tokenizer.json").read_text("utf-8"))
    tokenizer["post_processor"]["special_tokens"] = {}
    (tmp_path / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    with pytest.raises(InputError, match=r"not a tokenizer|fails on a plain sentence"):
        load_entailment_model(str(tmp_path))


def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    for name in ("none", "a\0b", "x" * 5000):
        with pytest.raises(InputError, match="no such folder"):
            load_entailment_model(f"{tmp_path}/{name}")


def test_without_the_extra_the_message_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str) -> None:
        raise ImportError(name)

    write_model(tmp_path)
    monkeypatch.setattr(entailment_model_file, "import_module", refuse)
    with pytest.raises(MissingExtraError, match="rag-assay\\[entailment\\]"):
        load_entailment_model(str(tmp_path))
