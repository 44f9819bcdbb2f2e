"""A judge that slips speak against is asked more, one that cannot be used is found, and an INVALID one may return."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks.control_rates import KINDS, KnownQuestions, SimulatedJudge
from tests.cli.judging import INPUTS, NAMED, judging
from tests.faults.judging import honest
from tests.judging.asking import RUBRICS
from tests.judging.test_rubric_anchors import ALL
from tests.support.judge_server import JudgeCall, JudgeServer, answer_with_labels

from assay.cli import main
from assay.judging.control_questions import are_errors_too_many
from assay.judging.prompt import render_request
from assay.judging.rubric_anchors import iterate_repeats
from assay.judging.verdict_store import read_store
from assay.records.verdicts import JudgeRequest, JudgeStatus

RELEVANCE = ("--metrics", "answer_relevance(by=judge)", "--votes", "1")


@pytest.fixture(name="server")
def _server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[JudgeServer]:
    with judging(tmp_path, monkeypatch) as server:
        yield server


class Slips:
    """Labels honestly, and gives the highest label to the first so many answers or claims that are only a colon."""

    def __init__(self, slips: int) -> None:
        self.left = slips

    def __call__(self, asked: JudgeCall, item: str) -> str:
        claims = [claim["text"] for claim in asked.data.get("claims", ())]
        if ":" in (asked.data.get("answer"), *claims) and self.left > 0:
            self.left -= 1
            return str(asked.item["label"]["enum"][0])
        return honest(asked, item)


def judge(*more: str) -> int:
    return main(["judge", *INPUTS, *NAMED, *RELEVANCE, *more])


def read_status() -> JudgeStatus:
    (status,) = read_store("verdicts.sqlite").statuses.values()
    return status


def count_kind(status: JudgeStatus, kind: str) -> int:
    return Counter(answer.control.kind for answer in status.answered)[kind]


def test_two_slips_in_one_kind_are_asked_after_and_decide_nothing(
    server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two of the first two colons are rewarded; of the eight that can be made two are not more than one in five."""
    server.answer = answer_with_labels(Slips(2))
    assert 0 == judge("--control-share", "0.9")
    status = read_status()
    assert count_kind(status, "colon_answer") > count_kind(status, "empty_answer") == 2
    assert not status.invalid
    assert "INVALID" not in capsys.readouterr().err


def test_a_judge_that_rewards_every_control_of_a_kind_is_found_with_more_of_them(
    server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answer = answer_with_labels(Slips(1000))
    assert 1 == judge("--control-share", "0.9")
    assert read_status().invalid
    assert "judge INVALID: it failed its controls" in capsys.readouterr().err


@pytest.mark.parametrize("share", ["0.2", "0.5"])
def test_what_is_asked_in_doubt_is_within_the_share_of_the_calls(server: JudgeServer, share: str) -> None:
    server.answer = answer_with_labels(Slips(1000))
    judge("--control-share", share)
    status = read_status()
    (by_request,) = read_store("verdicts.sqlite").verdicts.values()
    known_questions = len(status.answered) + sum(digest in by_request for digest in ALL)
    assert known_questions <= float(share) / (1 - float(share)) * 8


def test_without_room_to_ask_more_a_judge_is_in_doubt_and_not_invalid(
    server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """A fifth of ten calls are two controls: one of two kinds, and no more of that which was rewarded."""
    server.answer = answer_with_labels(Slips(1000))
    assert 0 == judge("--control-share", "0.34")
    status = read_status()
    assert status.reasons and not status.invalid
    assert "controls NOT PASSED yet" in capsys.readouterr().err


def test_an_invalid_judge_is_asked_again_only_on_request_and_may_return(
    server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """Four colons of the first four were rewarded; the others are right."""
    slips = Slips(4)
    server.answer = answer_with_labels(slips)
    both = ("--metrics", "answer_relevance(by=judge),faithfulness(by=judge)", "--control-share", "0.9")
    assert 1 == judge(*both)
    first = count_kind(read_status(), "colon_answer")
    calls = server.calls
    assert 1 == judge(*both)
    assert calls == server.calls
    assert "or --recheck, which asks it more and counts all its answers" in capsys.readouterr().err
    assert (4, 0) == (first, slips.left)
    assert 0 == judge(*both, "--recheck")
    status = read_status()
    assert count_kind(status, "colon_answer") > first
    assert not status.invalid
    assert calls < server.calls


def test_a_recheck_does_not_rescue_a_judge_that_answers_as_before(server: JudgeServer) -> None:
    server.answer = answer_with_labels(Slips(1000))
    assert 1 == judge("--control-share", "0.9")
    for _ in range(2):
        assert 1 == judge("--control-share", "0.9", "--recheck")
        assert read_status().invalid


def test_a_recheck_of_a_judge_that_is_not_invalid_changes_nothing(server: JudgeServer) -> None:
    assert 0 == judge("--control-share", "0.9")
    before, calls = read_status(), server.calls
    assert 0 == judge("--control-share", "0.9", "--recheck")
    assert (before, calls) == (read_status(), server.calls)


def mislabel_once(asked: JudgeCall, item: str, seen: set[str]) -> str:
    """Give the lowest label to the first question about each anchor that deserves the highest, and honest ones then."""
    deserved, labels = honest(asked, item), [str(each) for each in asked.item["label"]["enum"]]
    question = str(asked.data.get("question"))
    if deserved == labels[0] and "year" not in question and question not in seen:
        seen.add(question)
        return labels[-1]
    return deserved


def test_anchors_that_were_answered_wrongly_once_are_repeated(server: JudgeServer) -> None:
    asked_before: set[str] = set()
    server.answer = answer_with_labels(lambda asked, item: mislabel_once(asked, item, asked_before))
    assert 0 == judge("--control-share", "0.9")
    status = read_status()
    assert (False, ()) == (status.invalid, status.reasons)
    (by_request,) = read_store("verdicts.sqlite").verdicts.values()
    repeats = [repeat.digest for _, request in ALL.values() for repeat in iterate_repeats(request)]
    assert 4 == sum(digest in by_request for digest in repeats), "two anchors, each twice more"


@pytest.mark.parametrize("name", ["support", "citation_support", "relevance", "refusal"])
def test_a_repeated_anchor_shows_a_judge_the_same_and_is_another_request(name: str) -> None:
    request = next(request for _, request in ALL.values() if request.rubric == name and request.language == "en")
    rubric = RUBRICS[name, "en"]

    def read_data(asked: JudgeRequest) -> str:
        rendered = render_request(asked, rubric, "sha256:j", 0)
        return rendered.user.partition("{")[2].partition('"note"')[0]

    repeats = list(iterate_repeats(request))
    assert {read_data(request)} == {read_data(repeat) for repeat in repeats}
    assert len(repeats) + 1 == len({request.digest, *(repeat.digest for repeat in repeats)})


@pytest.mark.parametrize(
    ("families", "are_too_many"),
    [
        ([[[1.0] * 4, [0.0] * 20], []], True),  # 0.2 to the 4th is 0.0016, below 0.025 / 2
        ([[[1.0] * 4, *[[0.0] * 20] * 5], [[0.0] * 5] * 20], True),  # and below 0.025 / 2 / 6
        ([[[1.0] * 3, *[[0.0] * 20] * 6], []], False),  # 0.008 is not below 0.025 / 7
        ([[], [[1.0] * 4, *[[0.0] * 20] * 10]], True),  # 0.0016 is below 0.025 / 11
        ([[[0.0] * 20], [[1.0] * 4, *[[0.0] * 20] * 10]], False),  # and not below 0.025 / 2 / 11
        ([[[1.0] * 2]], False),
        ([[[0.5] * 8, [0.0] * 20]], False),
        ([[[0.2] * 40]], False),  # exactly at the limit
        ([[[1.0] * 6 + [0.0] * 14] * 6], True),  # no group alone, but 36 of 120 together
        ([[], []], False),
    ],
)
def test_errors_are_too_many_only_if_one_in_five_does_not_explain_them(
    families: list[list[list[float]]], are_too_many: bool
) -> None:
    together = [error for groups in families for errors in groups for error in errors]
    assert are_too_many == are_errors_too_many(together, families, 0.2, 0.05)


@pytest.mark.slow
def test_noise_makes_hardly_any_judge_invalid_and_blindness_to_one_kind_every_judge() -> None:
    """The rates of ADR 237, on fewer judges."""
    questions = KnownQuestions(100)
    noisy = Counter(questions.check(SimulatedJudge("noise", 0.1), seed)[0] for seed in range(40))
    assert noisy["INVALID"] == 0
    assert noisy["passed"] >= 36
    for kind in KINDS:
        assert {"INVALID"} == {questions.check(SimulatedJudge("blind", blind=kind), seed)[0] for seed in range(2)}
    for end in (0, -1):
        assert "INVALID" == questions.check(SimulatedJudge("always", always=end), 0)[0]
    lowest = SimulatedJudge("lowest", lowest_under=("relevance", "correctness", "completeness"))
    assert "INVALID" == questions.check(lowest, 0)[0]


@pytest.mark.slow
def test_a_judge_at_temperature_0_is_not_invalid_for_the_same_error_again() -> None:
    """It errs in one of five: before repeats of an anchor counted as one, 25% of these judges were invalid."""
    questions = KnownQuestions(100)
    steady = Counter(questions.check(SimulatedJudge("steady", 0.2, steady=True), seed)[0] for seed in range(40))
    assert steady["INVALID"] <= 2


@pytest.mark.slow
def test_one_label_under_a_rubric_of_several_is_found_and_hardly_ever_a_steady_judge_that_slips() -> None:
    questions = KnownQuestions(100)
    lowest = SimulatedJudge("lowest", lowest_under=("relevance",))
    assert "ONE LABEL" == questions.check(lowest, 0)[0]
    steady = Counter(questions.check(SimulatedJudge("steady", 0.2, steady=True), seed)[0] for seed in range(40))
    assert steady["ONE LABEL"] <= 2
