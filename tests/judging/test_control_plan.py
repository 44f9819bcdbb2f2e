"""Controls and anchors are a limited share of a run, are paid once per judge, and are asked again when they expire."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from tests.cli.judging import INPUTS, NAMED, judging, score
from tests.judging.asking import RUBRICS, support_request
from tests.support.judge_server import JudgeServer

from assay.cli import main
from assay.cli.judge import _describe_controls
from assay.judging.control_plan import ControlLimits, ControlPlan, find_unasked, plan_controls
from assay.judging.control_questions import (
    ANCHOR_CLAIM_ID,
    RequestSubject,
    assess_judge,
    build_all_anchors,
    build_anchor_requests,
    list_possible_controls,
)
from assay.judging.judge_run import combine_statuses
from assay.judging.rubric_files import load_anchors
from assay.judging.verdict_files import merge_status
from assay.judging.verdict_store import read_store
from assay.records.verdicts import ItemVerdict, JudgeRequest, JudgeStatus, RubricControl, Verdict

ANCHORS = build_anchor_requests(load_anchors().anchors, RUBRICS)
KINDS = {"foreign_context", "swapped_answer", "other_number", "colon_answer", "planted_order"}
METRICS = ("--metrics", "faithfulness(by=judge),answer_relevance(by=judge)", "--votes", "1")


def make_requests(run: str, count: int) -> dict[str, JudgeRequest]:
    """Return the requests of a run about support."""
    requests = [
        support_request(
            question=f"Question {run} {number}?",
            claims=[{"id": "c", "text": f"Claim {run} holds {number} times."}],
            context=[{"id": "s", "text": f"Passage {number} of {run}."}],
        )
        for number in range(count)
    ]
    return {request.digest: request for request in requests}


def about(name: str) -> RequestSubject:
    """A subject that no other request shares."""
    return RequestSubject(frozenset({("cluster", name)}))


class World:
    """A judge that answers everything right, its store, and its status; `run` is one run of it."""

    def __init__(self) -> None:
        self.recorded: dict[str, list[Verdict]] = {}
        self.status: JudgeStatus | None = None

    def plan(self, requests: dict[str, JudgeRequest], at: str | None, calls: int, days: int = 30) -> ControlPlan:
        possible = list_possible_controls(requests, {digest: about(digest) for digest in requests}, RUBRICS)
        limits = ControlLimits(0.2, days, at)
        return plan_controls(
            possible, ANCHORS, self.status, self.recorded, limits, calls=calls, rounds=1, asks_again=False
        )

    def run(self, name: str, count: int, at: str | None = None, days: int = 30) -> int:
        """Plan a run, answer what it asks, record the status, and return how many calls that took."""
        plan = self.plan(make_requests(name, count), at, count, days)
        calls = 0
        for digest, control in plan.questions.controls.items():
            items = tuple(ItemVerdict(item, "not_found") for item in control.request.items)
            calls += self._answer(digest, items, 1)
        for digest, votes in plan.anchor_votes.items():
            calls += self._answer(digest, (ItemVerdict(ANCHOR_CLAIM_ID, ANCHORS[digest][0].label),), votes)
        status = assess_judge("j", plan.questions, self.recorded, RUBRICS, at, plan.earlier)
        unasked = find_unasked(plan, status)
        self.status = merge_status(self.status, _with_unasked(status, unasked))
        return calls

    def _answer(self, digest: str, items: tuple[ItemVerdict, ...], votes: int) -> int:
        samples = self.recorded.setdefault(digest, [])
        missing = max(0, votes - len(samples))
        for _ in range(missing):
            samples.append(Verdict(digest, "j", len(samples), "support@1", items))
        return missing


def _with_unasked(status: JudgeStatus, unasked: tuple[RubricControl, ...]) -> JudgeStatus:
    return structs.replace(status, unasked=unasked)


@pytest.mark.parametrize("count", [1, 3, 4, 10, 43, 60, 500])
def test_controls_and_anchors_are_a_fifth_of_the_calls_at_most(count: int) -> None:
    calls = World().run("a", count)
    assert calls <= 0.2 * (calls + count)
    assert (calls > 0) == (count >= 4)


def test_one_control_of_each_kind_comes_before_the_anchors_and_second_controls_last() -> None:
    """Of 43 requests 10 are added: five kinds and five anchors. 500 leave room for two of each kind and 20 anchors."""
    plan = World().plan(make_requests("a", 43), None, 43)
    assert sorted(KINDS) == sorted(control.kind for control in plan.questions.controls.values())
    assert 5 == sum(plan.anchor_votes.values())
    labels = [ANCHORS[digest][0].label == "supported" for digest, votes in plan.anchor_votes.items() if votes]
    assert 2 <= sum(labels) <= 3
    plan = World().plan(make_requests("a", 500), None, 500)
    assert sorted([*KINDS, *KINDS]) == sorted(control.kind for control in plan.questions.controls.values())
    assert 20 == sum(plan.anchor_votes.values())


def test_small_runs_go_on_where_the_last_one_stopped_until_every_kind_was_asked() -> None:
    world = World()
    gaps = []
    for number in range(20):
        world.run(f"run{number}", 8)
        assert world.status is not None
        gaps.append(len(world.status.gaps))
    assert [4, 2, 1] == gaps[:3]  # two calls a run: three kinds and the anchors are left, one and the anchors, anchors
    assert 0 == gaps[-1]
    assert world.status is not None
    assert {answer.control.kind for answer in world.status.answered} == KINDS


@given(seed=st.integers(0, 2**32), killed_after=st.lists(st.integers(1, 12), max_size=4))
def test_a_killed_first_run_goes_on_with_the_controls_and_anchors_that_it_had_chosen(
    seed: int, killed_after: list[int]
) -> None:
    """Whatever answers were saved before each kill, those of anchors alone included."""
    chance, requests = random.Random(seed), make_requests("a", 60)

    def list_missing(world: World) -> list[str]:
        plan = world.plan(requests, None, 60)
        asked = [*plan.questions.controls, *(digest for digest, votes in plan.anchor_votes.items() if votes)]
        return [digest for digest in asked if digest not in world.recorded]

    first = World()
    expected = set(list_missing(first))
    for count in killed_after:
        missing = list_missing(first)
        for digest in chance.sample(missing, min(count, len(missing))):
            first.recorded[digest] = [
                Verdict(digest, "j", 0, "support@1", (ItemVerdict(ANCHOR_CLAIM_ID, "not_found"),))
            ]
    assert expected == {*first.recorded, *list_missing(first)}


def test_what_was_not_asked_yet_is_named() -> None:
    world = World()
    assert 0 == world.run("a", 3)
    assert world.status is not None
    assert {*(f"support.en {kind}" for kind in KINDS), "20 anchors"} == set(world.status.gaps)


def test_controls_are_paid_once_per_judge_and_again_when_they_expire() -> None:
    world = World()
    assert 30 == world.run("a", 500, "2026-01-01T08:00:00Z")
    assert 0 == world.run("b", 500, "2026-01-30T08:00:00Z")
    assert 10 == world.run("c", 500, "2026-01-31T08:00:00Z")  # ten controls; anchors have their own rounds
    assert world.status is not None
    assert {"2026-01-31T08:00:00Z"} == {answer.at for answer in world.status.answered}
    assert 10 == world.run("d", 500, "2026-02-01T08:00:00Z", days=1)


def test_an_expired_control_that_did_not_fit_again_is_named() -> None:
    world = World()
    world.run("a", 500, "2026-01-01T08:00:00Z")
    world.run("b", 3, "2026-02-01T08:00:00Z")
    assert world.status is not None
    assert 5 == len(world.status.unasked)
    assert () == world.status.answered


def test_a_run_that_was_cut_short_asks_no_more_than_one_that_was_not() -> None:
    requests = make_requests("a", 60)
    whole = World()
    expected = whole.run("a", 60)
    cut = World()
    plan = cut.plan(requests, None, 60)
    paid = 0
    for digest, control in list(plan.questions.controls.items())[:3]:
        paid += cut._answer(digest, tuple(ItemVerdict(item, "not_found") for item in control.request.items), 1)
    for digest in [digest for digest, votes in plan.anchor_votes.items() if votes][:4]:
        paid += cut._answer(digest, (ItemVerdict(ANCHOR_CLAIM_ID, ANCHORS[digest][0].label),), 1)
    assert expected == paid + cut.run("a", 60)
    assert 0 == cut.run("a", 60)


def test_statuses_of_two_stores_count_together() -> None:
    first, second = World(), World()
    first.run("a", 8)
    second.run("b", 20)
    assert first.status is not None
    assert second.status is not None
    combined = combine_statuses(first.status, second.status)
    assert combined is not None
    assert len(combined.answered) == len(first.status.answered) + len(second.status.answered)


# ── through the command ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(name="server")
def _server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[JudgeServer]:
    with judging(tmp_path, monkeypatch) as server:
        yield server


def judge(*more: str) -> int:
    return main(["judge", *INPUTS, *NAMED, *METRICS, *more])


def test_the_command_says_before_the_first_call_how_many_are_controls(
    server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """16 requests leave room for four: one fifth of twenty."""
    assert 0 == judge("--dry-run")
    printed = capsys.readouterr().out
    assert 0 == server.calls
    assert "calls: 20 at least" in printed
    assert "controls and anchors: 4 of the calls; 0 controls of earlier runs count" in printed
    assert "controls incomplete: 20% of the calls of this run leave no room for " in printed
    (incomplete,) = re.findall(r"^controls incomplete: (.*)", printed, re.MULTILINE)
    kinds = r"20% of the calls of this run leave no room for (\d+ kinds? of controls of [\w.]+, )+14 anchors"
    assert re.fullmatch(kinds, incomplete.partition(";")[0])
    assert "until they are asked, the verdicts give numbers with this notice" in incomplete
    assert 0 == judge()
    assert 20 == server.calls
    assert "controls incomplete: not yet asked: " in capsys.readouterr().err
    warnings = score()["warnings"]
    (warning,) = [line for line in warnings if line.startswith("controls incomplete: scripted-1 was not asked yet ")]
    assert re.search(
        r" \d+ kinds? of controls of \w+\.en, .*\b14 anchors; an unsuitable judge may go unnoticed", warning
    )
    assert not any(kind in warning for kind in KINDS)
    assert 0 == judge()
    assert 20 == server.calls


@pytest.mark.slow
def test_runs_with_stores_of_their_own_share_the_controls_of_their_judge(
    server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = {"judges": {"scripted": {"control_store": "controls.sqlite", "control_share": 0.9}}}
    Path("assay.yaml").write_text(json.dumps(settings))
    more = ("--settings", "assay.yaml", "--now", "2026-03-01T08:00:00Z")
    assert 0 == judge(*more, "--store", "a.sqlite")
    first, answered = server.calls, next(iter(read_store("a.sqlite").statuses.values())).answered
    assert first > 16 + 20
    assert answered
    capsys.readouterr()
    assert 0 == judge(*more, "--store", "b.sqlite")
    assert first + 16 == server.calls
    assert f"controls and anchors: 0 of the calls; {len(answered)} controls of earlier runs count" in (
        capsys.readouterr().err
    )
    assert answered == next(iter(read_store("b.sqlite").statuses.values())).answered
    rewarding = JudgeServer()
    server.answer = rewarding.answer  # the controls expired: a judge that rewards everything is found out again
    late = ("--settings", "assay.yaml", "--now", "2026-05-01T08:00:00Z", "--store", "c.sqlite")
    assert 1 == judge(*late)
    assert next(iter(read_store("controls.sqlite").statuses.values())).invalid


def test_controls_pass_only_if_their_numbers_do() -> None:
    """A kind above the limit with one rewarded control, and anchors too few to tell, are no pass."""
    status = JudgeStatus("j", 21, 0.1, 20, 0.95)
    assert _describe_controls(status).startswith("controls passed: ")
    above = structs.replace(status, reasons=("controls foreign_context: mean 0.50 (expected 0.2 at most)",))
    assert _describe_controls(above).startswith("controls NOT PASSED yet: ")
    few = structs.replace(status, anchors=5, anchors_right=0.4, anchors_unasked=15)
    assert _describe_controls(few).startswith("anchors NOT PASSED yet: ")
    both = structs.replace(few, controls_mean=0.3)
    assert _describe_controls(both).startswith("controls and anchors NOT PASSED yet: ")
    selftest, more = (
        "`assay judge selftest`, which asks all and keeps nothing",
        "judge more answers to ask more controls",
    )
    told = [_describe_controls(each) for each in (above, few, both)]
    assert [False, True, True] == [selftest in text for text in told]
    assert [True, False, True] == [more in text for text in told]
    right = structs.replace(few, anchors_right=1.0)
    assert _describe_controls(right).startswith("controls not complete yet: those that were asked are passed: ")


@pytest.mark.parametrize(
    ("mean", "reasons", "failed"),
    [
        (0.6, ("controls empty_answer: mean 1.00 (expected 0.2 at most)",), "controls"),
        (0.6, (), "controls"),
        (0.0, ("anchors: grounded claims score higher in 50% of pairs",), "anchors"),
        (0.5, ("controls other_number: mean 1.00", "anchors: grounded claims score higher"), "controls and anchors"),
    ],
)
def test_an_invalid_judge_failed_what_is_named(mean: float, reasons: tuple[str, ...], failed: str) -> None:
    status = JudgeStatus("j", 17, mean, 20, 0.9, invalid=True, reasons=reasons)
    assert _describe_controls(status).startswith(f"judge INVALID: it failed its {failed}, and its verdicts give")


def test_controls_that_were_asked_in_vain_are_not_called_unasked() -> None:
    status = JudgeStatus("j", unasked=(), anchors_unasked=20)
    assert _describe_controls(status, 8) == "controls NOT PASSED yet: of 8 samples to check the judge, none has a label"
    assert _describe_controls(status, 0) == "no controls could be made"


# ── under a cap ──────────────────────────────────────────────────────────────────────────────────────────────────


def count_control_samples(store: str = "verdicts.sqlite") -> tuple[int, int]:
    """Return how many of the recorded samples are of controls and anchors, and how many there are."""
    contents = read_store(store)
    (status,) = contents.statuses.values()
    (by_request,) = contents.verdicts.values()
    total = sum(map(len, by_request.values()))
    anchors = build_all_anchors(load_anchors().anchors, RUBRICS)
    return len(status.answered) + sum(len(by_request[digest]) for digest in anchors.keys() & by_request.keys()), total


@pytest.mark.parametrize("cap", [5, 10, 15])
def test_controls_are_a_fifth_of_the_calls_that_a_cap_allows(
    server: JudgeServer, capsys: pytest.CaptureFixture[str], cap: int
) -> None:
    """Of 20 calls four would be controls; a cap ends the run earlier, so fewer are asked."""
    assert 3 == judge("--max-calls", str(cap), "--concurrency", "1")
    controls, total = count_control_samples()
    assert (cap // 5, cap) == (controls, total)
    printed = capsys.readouterr().err
    assert f"controls and anchors: {cap // 5} of the calls" in printed
    assert "leave no room for" in printed.partition("verdicts written")[0]


def test_runs_under_a_cap_go_on_with_the_controls_until_the_share_is_used(server: JudgeServer) -> None:
    for _ in range(4):
        judge("--max-calls", "5", "--concurrency", "1")
    controls, total = count_control_samples()
    assert (4, 20) == (controls, total)
    assert 0 == judge("--max-calls", "5")
    assert (4, 20) == count_control_samples()


@pytest.mark.parametrize("option", ["--max-cost", "--max-tokens"])
def test_a_cap_on_money_or_tokens_leaves_as_little_room_for_controls(server: JudgeServer, option: str) -> None:
    """A call takes 800 tokens here and is taken for 1,400, for a cent each 1,000: about ten calls are made."""
    price = {"prompt_usd_per_1k": 0.01, "completion_usd_per_1k": 0.01, "max_tokens": 200}
    Path("assay.yaml").write_text(json.dumps({"judges": {"scripted": price}}))
    cap = {"--max-cost": "0.12", "--max-tokens": "12000"}[option]
    assert 3 == judge("--settings", "assay.yaml", option, cap, "--concurrency", "1")
    controls, total = count_control_samples()
    assert 5 <= total < 20
    assert 1 <= controls <= 0.2 * total
