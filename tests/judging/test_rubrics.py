"""Rubrics: the shipped ones match their lock file, and every fault of a user's own is reported with its line."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import get_args

import pytest
from msgspec import structs

from assay.formats.strict_yaml import read_yaml
from assay.judging.rubric_files import (
    JUDGE_INPUTS,
    PLACEHOLDER,
    RUBRICS_LOCK_FILE,
    compare_with_lock,
    decode_rubric,
    format_lock,
    load_anchors,
    load_rubrics,
    load_shipped_rubrics,
)
from assay.records.errors import SettingsError
from assay.records.golden_set import Behaviour
from assay.records.verdicts import UnscoredReason

RUBRICS = load_rubrics()
NAMES = {
    "citation_support",
    "claims",
    "completeness",
    "correctness",
    "failure",
    "grade",
    "refusal",
    "relevance",
    "support",
}
OWN = """\
name: tone
version: "1"
language: en
inputs: [answer, question]
task: Say whether {{answer}} is polite.
labels:
  - name: polite
    value: 1
    meaning: It is polite.
  - name: rude
    value: 0
    meaning: It is rude.
"""


def problems_of(text: str) -> str:
    """Return what is wrong with a rubric."""
    with pytest.raises(SettingsError) as caught:
        decode_rubric(read_yaml(text, "own.yaml"), "own.yaml")
    return str(caught.value)


def test_every_rubric_is_there_in_both_languages() -> None:
    assert {(name, language) for name in NAMES for language in ("en", "vi")} == set(RUBRICS)


@pytest.mark.parametrize("name", sorted(NAMES))
def test_both_languages_ask_for_the_same(name: str) -> None:
    """Vietnamese and English cases are judged by the same criteria."""
    english, vietnamese = RUBRICS[name, "en"], RUBRICS[name, "vi"]
    for field in ("name", "version", "inputs", "per_item", "quotes", "sources"):
        assert getattr(english, field) == getattr(vietnamese, field), field
    assert [(label.name, label.value) for label in english.labels] == [
        (label.name, label.value) for label in vietnamese.labels
    ]
    assert set(PLACEHOLDER.findall(english.task)) == set(PLACEHOLDER.findall(vietnamese.task)) == set(english.inputs)


@pytest.mark.parametrize("key", sorted(RUBRICS))
def test_every_label_has_an_anchor_and_two_or_three_examples(key: tuple[str, str]) -> None:
    rubric = RUBRICS[key]
    for label in rubric.labels:
        assert 2 <= len(label.examples) <= 3, label.name
        assert label.value in (None, 0.0, 0.5, 1.0)
    examples = [example for label in rubric.labels for example in label.examples]
    assert len(set(examples)) == len(examples)


def test_files_are_named_after_what_they_hold() -> None:
    names = {
        entry.name for entry in files("assay").joinpath("judging", "rubrics").iterdir() if entry.name.endswith(".yaml")
    }
    assert {f"{name}.{language}.yaml" for name, language in RUBRICS} | {"anchors.yaml"} == names


def test_labels_are_those_that_the_metrics_know() -> None:
    """The grades and failures of the code benchmark (ADR 0038), and the behaviours of the golden set."""
    labels = {name: [label.name for label in RUBRICS[name, "en"].labels] for name in NAMES}
    assert list(get_args(Behaviour)) == labels["refusal"]
    assert ["fully_correct", "partially_correct", "unsupported", "wrong"] == labels["grade"]
    failures = {"hallucination", "missing_evidence", "retrieval_miss", "wrong_chunk", "reasoning_error"}
    assert failures | {"scope_confusion", "none"} == set(labels["failure"])
    assert ["supported", "contradicted", "not_found"] == labels["support"]


def test_faithfulness_never_sees_the_reference() -> None:
    for name in ("support", "citation_support", "relevance", "refusal", "claims"):
        assert "reference" not in RUBRICS[name, "en"].inputs


def test_the_lock_is_that_of_the_files() -> None:
    locked = files("assay").joinpath("judging", "rubrics", RUBRICS_LOCK_FILE).read_text(encoding="utf-8")
    assert format_lock(load_shipped_rubrics()) == locked
    assert [] == compare_with_lock(load_shipped_rubrics(), locked)


def test_a_rubric_changed_under_the_same_version_is_an_error() -> None:
    """Changing one word of an example is enough; with a new version the lock file only has to be updated."""
    rubrics = load_shipped_rubrics()
    locked = format_lock(rubrics)
    before = rubrics["support", "en"]
    label = structs.replace(before.labels[0], examples=(*before.labels[0].examples[:-1], "Another example."))
    text = structs.replace(before, labels=(label, *before.labels[1:]), hash="sha256:changed")
    (problem,) = compare_with_lock({**rubrics, ("support", "en"): text}, locked)
    assert "rubrics/support.en.yaml" == problem.path
    assert "changed under the same version (got '1' again; expected a new version)" == problem.message
    (problem,) = compare_with_lock({**rubrics, ("support", "en"): structs.replace(text, version="2")}, locked)
    assert "not as locked (run scripts/rubrics_lock.py)" == problem.message
    without = {key: rubric for key, rubric in rubrics.items() if key != ("support", "en")}
    assert ["in the lock file, but missing"] == [problem.message for problem in compare_with_lock(without, locked)]


def test_the_script_writes_the_lock_that_is_committed() -> None:
    """The script changes nothing when it runs on the committed files."""
    script = Path(__file__).resolve().parents[2] / "scripts" / "rubrics_lock.py"
    lock = Path(str(files("assay").joinpath("judging", "rubrics", RUBRICS_LOCK_FILE)))
    before = lock.read_bytes()
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert (0, "") == (done.returncode, done.stderr)
    assert before == lock.read_bytes()


def test_the_hash_is_of_the_meaning_not_of_the_bytes() -> None:
    """Comments, line ends and folding do not change the hash; a word does."""
    plain = decode_rubric(read_yaml(OWN, "own.yaml"), "own.yaml")
    other = "# a comment\n" + OWN.replace("\n", "\r\n").replace("task: Say", "task: >-\r\n  Say")
    assert plain.hash == decode_rubric(read_yaml(other, "own.yaml"), "own.yaml").hash
    assert plain.hash != decode_rubric(read_yaml(OWN.replace("polite.", "kind."), "own.yaml"), "own.yaml").hash
    assert re.fullmatch(r"sha256:[0-9a-f]{64}", plain.hash)


def test_own_rubrics_stand_beside_the_shipped_ones(tmp_path: Path) -> None:
    (tmp_path / "tone.yaml").write_text(OWN)
    (tmp_path / "notes.txt").write_text("not a rubric")
    assert {*RUBRICS, ("tone", "en")} == set(load_rubrics([tmp_path]))


def test_an_own_rubric_takes_the_place_of_a_shipped_one_under_another_version(tmp_path: Path) -> None:
    """Two wordings can then be compared; under the same version the rubric would be taken for the shipped one."""
    own = OWN.replace("name: tone", "name: relevance")
    (tmp_path / "own.yaml").write_text(own.replace('version: "1"', 'version: "1-polite"'))
    assert "1-polite" == load_rubrics([tmp_path])["relevance", "en"].version
    (tmp_path / "own.yaml").write_text(own)
    with pytest.raises(SettingsError, match="other text than the shipped rubric"):
        load_rubrics([tmp_path])


def test_everything_wrong_in_all_files_is_said_together(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(OWN)
    (tmp_path / "b.yaml").write_text(OWN)
    (tmp_path / "c.yaml").write_text("name: 3\n")
    with pytest.raises(SettingsError) as caught:
        load_rubrics([tmp_path, tmp_path / "missing"])
    report = str(caught.value)
    assert f"{tmp_path / 'b.yaml'}:1: name: E_RUBRIC_TWICE a second rubric tone in en (the first is in" in report
    assert f"{tmp_path / 'c.yaml'}:1: name: E_TYPE" in report
    assert f"{tmp_path / 'missing'}: E_FILE not a folder" in report


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("name: tone", "name: Tone!", "own.yaml:1: name: E_RUBRIC not a name (got 'Tone!'"),
        ("language: en", "language: english", "own.yaml:3: language: E_RUBRIC not a language code"),
        ('version: "1"', "version: 1", "own.yaml:2: version: E_TYPE wrong type (got 1"),
        ('version: "1"', 'version: "1 b"', "own.yaml:2: version: E_RUBRIC not a version"),
        ("inputs: [answer, question]", "inputs: [answer, config_id]", "own.yaml:4: inputs[1]: E_RUBRIC unknown"),
        ("inputs: [answer, question]", "inputs: [answer, answer]", "inputs[1]: E_RUBRIC given twice"),
        ("inputs: [answer, question]", "inputs: []", "inputs: E_RUBRIC empty"),
        ("{{answer}}", "{{reference}}", "own.yaml:5: task: E_RUBRIC placeholder 1 is not an input (got 'reference'"),
        ("{{answer}}", "{{answer.__class__}}", "task: E_RUBRIC placeholder 1 is not an input"),
        ("Say whether {{answer}} is polite.", '""', "task: E_RUBRIC empty"),
        ("name: rude", "name: polite", "own.yaml:10: labels[1].name: E_RUBRIC label given twice"),
        ("name: rude", "name: very rude", "labels[1].name: E_RUBRIC not a label"),
        ("value: 1", "value: 2", "own.yaml:8: labels[0].value: E_RUBRIC out of range (got 2.0"),
        ("value: 1", "value: good", "own.yaml:8: labels[0].value: E_TYPE"),
        ("value: 1", "value: .nan", "E_NUMBER"),
        ("meaning: It is rude.", 'meaning: ""', "labels[1].meaning: E_RUBRIC empty"),
        ("meaning: It is rude.", "means: It is rude.", "labels[1].means: E_UNKNOWN_FIELD"),
        ("task:", "quotes: [polite]\ntask:", "sources: E_RUBRIC quotes need sources"),
        ("task:", "quotes: [great]\nsources: [answer]\ntask:", "quotes[0]: E_RUBRIC unknown (got 'great'"),
        ("task:", "quotes: [rude]\nsources: [context]\ntask:", "sources[0]: E_RUBRIC unknown (got 'context'"),
        ("task:", "per_item: true\nquotes: [rude]\nsources: [answer]\ntask:", "sources[0]: E_RUBRIC unknown"),
        ("task:", "hash: sha256:0\ntask:", "own.yaml:5: hash: E_UNKNOWN_FIELD"),
        ("language: en\n", "", "language"),
    ],
)
def test_every_fault_is_reported_with_its_line(old: str, new: str, message: str) -> None:
    assert old in OWN
    assert message in problems_of(OWN.replace(old, new, 1))


def test_wrong_types_and_what_makes_no_sense_are_told_together() -> None:
    text = OWN.replace('"1"', "1").replace("value: 0", "value: low").replace("It is polite.", '""')
    text = text.replace("name: tone", "name: Tone").replace("{{answer}}", "{{reply}}") + "quotes: [kind]\nhash: x\n"
    problems = problems_of(text)
    for expected in (
        "hash: E_UNKNOWN_FIELD unknown key",
        "version: E_TYPE wrong type (got 1; expected a string)",
        "labels[1].value: E_TYPE wrong type (got 'low'",
        "name: E_RUBRIC not a name (got 'Tone'",
        "labels[0].meaning: E_RUBRIC empty",
        "task: E_RUBRIC placeholder 1 is not an input (got 'reply'",
    ):
        assert expected in problems
    assert "quotes[0]" not in problems, "its labels are not known yet"


def test_more_errors_than_are_listed_are_no_traceback() -> None:
    labels = "".join(f"  - name: {number}\n    value: 1\n    meaning: It is.\n" for number in range(60))
    assert "labels[2].name: E_TYPE wrong type (got 0" in problems_of(OWN + labels)


def test_what_rests_on_a_field_of_the_wrong_type_is_not_blamed() -> None:
    problems = problems_of(OWN.replace("inputs: [answer, question]", "inputs: answer"))
    assert 1 == problems.count("E_")
    problems = problems_of(OWN.replace("labels:\n", "labels: 3\nx_labels:\n"))
    assert ["labels", "x_labels"] == sorted(re.findall(r"(\w+): E_\w+", problems))


@pytest.mark.parametrize("text", ["", "- a\n- b\n", "just words", "labels: []"])
def test_a_file_that_is_no_rubric_is_refused(text: str) -> None:
    assert "own.yaml:1" in problems_of(text)


def test_one_label_leaves_no_choice() -> None:
    assert "labels: E_RUBRIC too few to choose from (got 1" in problems_of(OWN[: OWN.index("  - name: rude")])


def test_anchors_are_read() -> None:
    read = load_anchors()
    assert ("1", 20) == (read.version, len(read.anchors))


def test_the_page_on_judging_names_every_label_input_and_reason() -> None:
    """The documentation agrees with the files."""
    page = (Path(__file__).resolve().parents[2] / "docs" / "how-to" / "judging.md").read_text(encoding="utf-8")
    for rubric in RUBRICS.values():
        row = next(line for line in page.splitlines() if line.startswith(f"| `{rubric.name}` |"))
        for label in rubric.labels:
            value = "" if label.value is None else f" ({label.value:g})".replace("0.", ".")
            assert f"{label.name}{value}" in row
    assert f"some of {', '.join(JUDGE_INPUTS)}." in " ".join(page.split()).replace(" or ", " ")
    for reason in get_args(UnscoredReason):
        assert f"`{reason}`" in page
