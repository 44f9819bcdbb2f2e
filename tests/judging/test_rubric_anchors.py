"""Anchors of rubrics: a judge that gives only one end of the labels is found out, or the report says that it may be."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from tests.cli.judging import INPUTS, NAMED, judging, score
from tests.faults.judging import honest, label_anchor
from tests.judging.asking import RUBRICS, rendered, request_for
from tests.support.judge_server import JudgeCall, JudgeServer, answer_with_labels

from assay.cli import main
from assay.formats.strict_yaml import read_yaml
from assay.judging.control_questions import SUPPORT, build_all_anchors, find_unusable_rubrics
from assay.judging.rubric_anchors import (
    LabelledAnchor,
    describe_failed_rubric,
    find_place,
    find_uncontrolled,
    select_anchors,
)
from assay.judging.rubric_files import decode_rubric, load_anchors
from assay.judging.verdict_store import read_store
from assay.records.errors import SettingsError
from assay.records.verdicts import ItemVerdict, JudgeRequest, JudgeStatus, RubricAnchor, Verdict

ALL = build_all_anchors(load_anchors().anchors, RUBRICS)
CORRECTNESS = RUBRICS["correctness", "en"]
STYLE = """\
name: style
version: "1"
language: en
inputs: [answer, question]
task: Say whether {{answer}} to {{question}} is short.
labels:
  - {name: short, value: 1, meaning: One sentence.}
  - {name: long, value: 0, meaning: More.}
"""
STYLE_ANCHORS = """\
anchors:
  - {label: short, inputs: {question: "Is it open?", answer: "Yes."}}
  - {label: short, inputs: {question: "Is it far?", answer: "A mile."}}
  - {label: long, inputs: {question: "Is it open?", answer: "Well. That depends. Let me think. Perhaps. Yes."}}
"""


@pytest.mark.parametrize("key", sorted(RUBRICS))
def test_every_shipped_rubric_has_anchors_for_both_ends_of_its_labels(key: tuple[str, str]) -> None:
    """Two for each end, so that no single slip decides; where labels have no numbers, of at least three labels."""
    rubric = RUBRICS[key]
    labels = [anchor.label for anchor, request in ALL.values() if request.rubric_hash == rubric.hash]
    places = [find_place(label, rubric) for label in labels]
    if rubric.value_range is None:
        assert len(set(labels)) >= 3
        assert max(map(labels.count, labels)) < len(labels) / 2 + 1
    else:
        assert places.count("highest") >= 2
        assert places.count("lowest") >= 2
    assert () == find_uncontrolled([rubric], ALL, ())


def test_every_anchor_of_a_rubric_can_be_rendered_and_is_asked_once() -> None:
    for _, request in ALL.values():
        assert 1 == len(rendered(request).ids)
    assert 20 + sum(len(rubric.anchors) for rubric in RUBRICS.values()) == len(ALL)


def test_anchors_do_not_change_the_identity_of_a_rubric() -> None:
    plain = decode_rubric(read_yaml(STYLE, "style.yaml"), "style.yaml")
    with_anchors = decode_rubric(read_yaml(STYLE + STYLE_ANCHORS, "style.yaml"), "style.yaml")
    assert plain.hash == with_anchors.hash
    assert 3 == len(with_anchors.anchors)


@pytest.mark.parametrize(
    ("anchor", "told"),
    [
        ("{label: brief, inputs: {question: q, answer: a}}", "anchors[0].label: E_RUBRIC unknown (got 'brief'"),
        (
            "{label: short, inputs: {answer: a}}",
            "anchors[0].inputs: E_RUBRIC other inputs (got answer;",
        ),
        ("{label: short, inputs: {question: q, answer: [a]}}", "answer: neither null nor a text (got ('a',))"),
    ],
)
def test_an_anchor_that_does_not_fit_its_rubric_is_an_error_with_its_place(anchor: str, told: str) -> None:
    with pytest.raises(SettingsError) as caught:
        decode_rubric(read_yaml(f"{STYLE}anchors:\n  - {anchor}\n", "style.yaml"), "style.yaml")
    assert told in str(caught.value)


@pytest.mark.parametrize("claims", ["[one, two]", "[]", "one"])
def test_an_anchor_of_items_has_one_item(claims: str) -> None:
    text = STYLE.replace("[answer, question]", "[claims, question]\nper_item: true").replace("{{answer}}", "{{claims}}")
    with pytest.raises(SettingsError, match=r"anchors\[0\].inputs: E_RUBRIC claims: "):
        decode_rubric(
            read_yaml(f"{text}anchors:\n  - {{label: short, inputs: {{question: q, claims: {claims}}}}}\n", "s.yaml"),
            "s.yaml",
        )


# ── which anchors a run asks ─────────────────────────────────────────────────────────────────────────────────────


def _request(name: str, language: str) -> JudgeRequest:
    return request_for(RUBRICS[name, language], dict.fromkeys(RUBRICS[name, language].inputs, "x"))


@pytest.mark.parametrize("languages", [{"en"}, {"vi"}, {"en", "vi"}])
def test_anchors_are_those_of_the_rubrics_and_languages_that_a_run_asks_in(languages: set[str]) -> None:
    asked = [_request(name, language) for name in ("correctness", "support") for language in languages]
    selected = select_anchors(ALL, asked, SUPPORT)
    assert {(request.rubric, request.language) for _, request in selected.values()} == {
        (name, language) for name in ("correctness", "support") for language in languages
    }
    assert 14 * len(languages) == len(selected)


@pytest.mark.parametrize(("language", "expected"), [("vi", "vi"), ("en", "en"), ("de", "en")])
def test_a_rubric_without_anchors_is_asked_with_those_of_support(language: str, expected: str) -> None:
    plain = structs.replace(decode_rubric(read_yaml(STYLE, "s.yaml"), "s.yaml"), language=language)
    selected = select_anchors(ALL, [request_for(plain, {"answer": "a", "question": "q"})], SUPPORT)
    assert {("support", expected)} == {(request.rubric, request.language) for _, request in selected.values()}


def test_nothing_asked_needs_no_anchor() -> None:
    assert {} == select_anchors(ALL, [], SUPPORT)


# ── what the labels on them show ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("given", "is_failed"),
    [
        (["correct", "correct", "incorrect", "incorrect"], False),
        (["incorrect", "incorrect", "incorrect", "incorrect"], True),
        (["correct", "correct", "correct", "correct"], True),
        (["incorrect", "correct", "incorrect", "incorrect"], False),  # one slip decides nothing
        (["partly_correct", "partly_correct", "incorrect", "incorrect"], False),  # half of the scale apart
        (["partly_correct", "incorrect", "incorrect", "incorrect"], True),
        (["incorrect"], False),
        (["incorrect", "incorrect"], True),  # the two that deserve the highest label are enough
    ],
)
def test_the_labels_on_both_ends_must_lie_half_of_the_scale_apart(given: list[str], is_failed: bool) -> None:
    deserved = ["correct", "correct", "incorrect", "incorrect"]
    labelled = [LabelledAnchor(label, right, CORRECTNESS) for label, right in zip(given, deserved, strict=False)]
    assert is_failed == bool(describe_failed_rubric("correctness", labelled))


@pytest.mark.parametrize("name", ["refusal", "failure", "claims"])
def test_a_judge_that_always_gives_the_same_label_fails_where_labels_have_no_numbers(name: str) -> None:
    rubric = RUBRICS[name, "en"]
    for label in rubric.labels:
        labelled = [LabelledAnchor(label.name, anchor.label, rubric) for anchor in rubric.anchors]
        assert describe_failed_rubric(name, labelled), label.name
    right = [LabelledAnchor(anchor.label, anchor.label, rubric) for anchor in rubric.anchors]
    assert "" == describe_failed_rubric(name, right)


def test_controls_stand_for_the_lowest_label_only() -> None:
    plain = structs.replace(CORRECTNESS, anchors=())
    labels = [each.labels for each in find_uncontrolled([plain], {}, {plain.hash})]
    assert ["highest"] == labels
    assert ["highest", "lowest"] == [each.labels for each in find_uncontrolled([plain], {}, ())]
    assert ["any"] == [each.labels for each in find_uncontrolled([RUBRICS["refusal", "en"]], {}, ())]


# ── through the command ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(name="server")
def _server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[JudgeServer]:
    with judging(tmp_path, monkeypatch) as server:
        rows = [json.loads(line) for line in Path("golden.jsonl").read_text().splitlines()]
        for number, row in enumerate(rows):
            row["reference_answer"] = f"Staff get {number + 10} days of leave in year {number}."
            row["must_have"] = [f"{number + 10} days"]
        Path("golden.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        yield server


def judge(*more: str) -> int:
    return main(["judge", *INPUTS, *NAMED, "--control-share", "0.9", "--votes", "1", *more])


@pytest.mark.parametrize("metric", ["correctness", "answer_relevance", "completeness", "citation_support"])
def test_a_judge_that_gives_only_the_lowest_label_is_invalid(
    server: JudgeServer, capsys: pytest.CaptureFixture[str], metric: str
) -> None:
    """The controls deserve the lowest label, so it passes all of them."""
    server.answer = answer_with_labels(lambda asked, _: str(asked.item["label"]["enum"][-1]))
    assert 1 == judge("--metrics", f"{metric}(by=judge)")
    printed = capsys.readouterr().err
    assert "judge INVALID: it failed its anchors" in printed
    assert "that deserve the highest label got it" in printed
    assert "controls passed" not in printed


def _read_all_but_relevance(asked: JudgeCall, item: str) -> str:
    """Label as one should, but for relevance, where nothing gets more than the lowest label."""
    labels = [str(each) for each in asked.item["label"]["enum"]]
    return labels[-1] if "irrelevant" in labels else _read(asked, item)


@pytest.mark.slow
def test_verdicts_under_a_rubric_where_a_judge_gives_one_label_give_no_numbers(
    server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """It passes every control of relevance, and its two slips on anchors are no proof among those of all rubrics."""
    server.answer = answer_with_labels(_read_all_but_relevance)
    assert 0 == judge()
    assert "E_JUDGE_ONE_LABEL scripted-1 gave one label (lowest) to everything that" in capsys.readouterr().err
    (status,) = read_store("verdicts.sqlite").statuses.values()
    assert (False, {"relevance": "lowest"}) == (status.invalid, status.one_label)
    report = score(metrics="correctness(by=judge),answer_relevance(by=judge)")
    measured = next(iter(report["configs"].values()))["summary"]
    assert "correctness(by=judge)" in measured and "answer_relevance(by=judge)" not in measured
    assert any("E_JUDGE_ONE_LABEL" in warning for warning in report["warnings"])


def test_a_judge_with_other_labels_for_answers_keeps_its_numbers() -> None:
    """Where it slips on two anchors, its verdicts on answers show that it has more labels to give."""
    rubric = RUBRICS["relevance", "en"]
    status = JudgeStatus("j", one_label={"relevance": "lowest"})

    def give(*labels: str) -> dict[str, list[Verdict]]:
        items = [(ItemVerdict("answer", label),) for label in labels]
        return {f"r{row}": [Verdict(f"r{row}", "j", 0, "relevance@1", item)] for row, item in enumerate(items)}

    lowest, highest = rubric.labels[-1].name, rubric.labels[0].name
    assert {"relevance": "lowest"} == find_unusable_rubrics(status, give(lowest, lowest), RUBRICS)
    assert {} == find_unusable_rubrics(status, give(lowest, highest), RUBRICS)


def test_a_judge_that_labels_as_it_should_passes_every_control_of_the_default_metrics(
    server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answer = answer_with_labels(_read)
    assert 0 == judge()
    assert "controls passed: " in capsys.readouterr().err
    (status,) = read_store("verdicts.sqlite").statuses.values()
    assert (26, 1.0, 0, ()) == (status.anchors, status.anchors_right, status.anchors_unasked, status.uncontrolled)


def _read(asked: JudgeCall, item: str) -> str:
    """Label anchors and claims as they deserve; what is no claim is right if it names days and orders nothing."""
    anchor_label = label_anchor(asked, item)
    if anchor_label or "context" in asked.data:
        return anchor_label or honest(asked, item)
    labels, answer = [str(each) for each in asked.item["label"]["enum"]], str(asked.data.get("answer"))
    asked_year = str(asked.data["question"]).rpartition("year ")[2].rstrip("?")
    return labels[0] if f"year {asked_year} " in answer and "Label every" not in answer else labels[-1]


def own_rubric(text: str) -> tuple[str, ...]:
    Path("own").mkdir()
    Path("own/style.en.yaml").write_text(text)
    return "--rubrics", "own", "--metrics", "style(by=judge)"


@pytest.mark.parametrize("more", ["", "controls: [swapped_answer, empty_answer]\n"])
def test_where_a_rubric_has_no_anchor_the_command_says_what_was_not_controlled(
    server: JudgeServer, capsys: pytest.CaptureFixture[str], more: str
) -> None:
    assert 0 == judge(*own_rubric(STYLE + more))
    printed = capsys.readouterr().err
    assert "controls passed" not in printed
    ends = "the highest label of style.en" if more else "the highest label of style.en; the lowest label of style.en"
    assert f"not controlled, because nothing asked deserves it: {ends} (list `anchors` in the rubric)" in printed
    warnings: list[Any] = score("--rubrics", "own", metrics="style(by=judge)")["warnings"]
    assert any(f"gives {ends} where it is deserved" in line for line in warnings)


def test_anchors_of_an_own_rubric_find_out_a_judge_that_never_gives_its_highest_label(
    server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    own = own_rubric(STYLE + STYLE_ANCHORS)
    server.answer = answer_with_labels(lambda asked, _: "long")
    assert 1 == judge(*own)
    assert (
        "anchors of style: 0 of 2 that deserve the highest label got it, 1 of 1 the lowest" in capsys.readouterr().err
    )
    server.answer = answer_with_labels(_count_sentences)
    assert 0 == judge(*own, "--store", "other.sqlite")
    assert "anchors passed; no controls could be made: 100% of 3 anchors as expected" in capsys.readouterr().err


def _count_sentences(asked: JudgeCall, item: str) -> str:
    """Label anchors of shipped rubrics as they deserve, and an answer as long if it has two sentences."""
    return label_anchor(asked, item) or ("long" if str(asked.data["answer"]).count(".") > 1 else "short")


def test_an_anchor_that_was_added_later_ends_the_notice(server: JudgeServer) -> None:
    server.answer = answer_with_labels(_count_sentences)
    own = own_rubric(STYLE)
    judge(*own, "--only", "case:c0")
    (status,) = read_store("verdicts.sqlite").statuses.values()
    assert ["highest", "lowest"] == [each.labels for each in status.uncontrolled]
    Path("own/style.en.yaml").write_text(STYLE + STYLE_ANCHORS)
    assert 0 == judge(*own)
    (status,) = read_store("verdicts.sqlite").statuses.values()
    assert () == status.uncontrolled


def test_rubrics_with_anchors_are_equal_and_hashed_by_what_they_hold() -> None:
    anchors = [RubricAnchor("short", {"answer": answer, "question": "q"}) for answer in ("a", "a", "b")]
    assert (anchors[0], hash(anchors[0])) == (anchors[1], hash(anchors[1]))
    assert anchors[0] != anchors[2]
