"""Judging a run: each question about the recorded outputs is asked once, and its verdicts go to the verdict store."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import structs

from assay.calls.interruption import handle_interrupts
from assay.calls.retry import Clock
from assay.formats.run_files.run_folder import RunFolder, list_run_rubrics, read_manifest
from assay.judging.billing import may_have_been_billed
from assay.judging.budget import Budget
from assay.judging.call_scheduler import JudgingRunner, JudgingTally, ReportProgress
from assay.judging.choose_judge import ChosenJudge, choose_caps, choose_judge, list_missing_variables, make_judge
from assay.judging.collect_questions import (
    VERDICT_STORE_NAME,
    JudgeQuestions,
    JudgingRequest,
    cases_that_decide_alone,
    check_self_judging,
    load_judging_gate,
    load_questions,
    pending_questions,
)
from assay.judging.collect_votes import (
    MAX_CALLS_PER_VOTE,
    SecondJudge,
    TokenUsage,
    VotingJudge,
    VotingRule,
    choose_second_judge,
    find_doubtful_requests,
    share_caps,
)
from assay.judging.control_plan import NO_PLAN, Answers, ControlLimits, ControlRounds, find_unasked, plan_controls
from assay.judging.control_questions import (
    SUPPORT,
    ControlQuestions,
    assess_judge,
    build_all_anchors,
    count_anchor_rounds,
    find_unusable_rubrics,
    list_possible_controls,
    skip_shuffled_sample,
)
from assay.judging.llm_judge import LLMJudge
from assay.judging.load_verdicts import describe_several_models, describe_unusable_rubrics
from assay.judging.rubric_anchors import find_uncontrolled, list_asked_repeats, select_anchors
from assay.judging.rubric_files import load_anchors, load_rubrics
from assay.judging.verdict_files import StoreContents, group_reviews, merge_status
from assay.judging.verdict_store import SqliteVerdictStore, read_store
from assay.metrics.judged.judge_requests import Rubrics
from assay.metrics.judged.vote_folding import MAX_VOTES, apply_reviews, fold_votes, settle_ruling
from assay.records.counts import format_count
from assay.records.errors import ExitCode, InputError, Problem
from assay.records.release_gates import Gate, list_first_lines
from assay.records.verdicts import JudgeIdentity, JudgeRequest, JudgeStatus, JudgeUsage, Verdict, describe_unasked

NOT_ASKED = "not asked"
FINAL_REASONS = {
    "tie": "as many votes for as against; ask another number of --votes, or settle it (`assay judge review`)",
    "too_long": "longer than the judge can read",
    "disputed": "labelled better with the orders in its texts than without them; settle it (`assay judge review`)",
}
"""Why a request has no verdict, for the reasons that stay when it is asked again."""


@dataclass(frozen=True, slots=True)
class JudgingEstimate:
    """The estimated effort of a judge run.

    It counts the requests, those already answered (`answered`), the calls at least and at most, and the likely and
    the maximal tokens and dollars (None if the price of the judge is unknown). The maximum includes extra votes where
    votes differ and repair calls for bad replies, but not calls that fail. `control_calls` of the calls are controls
    and anchors; `earlier_controls` counts the controls that are not asked because the judge answered them before, and
    `unasked` says what does not fit into this run, of whose calls they are at most `control_share`. `example` is the
    body of one request as it would be sent, "" if there is none to send. `assumption` says what the likely usage
    rests on. `invalid` is the status of a judge that failed its controls or anchors before: then nothing is asked.
    """

    judge: str
    observations: int
    requests: int
    answered: int
    control_calls: int
    calls: int
    max_calls: int
    likely_usage: TokenUsage
    max_usage: TokenUsage
    votes: str
    second: str = ""
    earlier_controls: int = 0
    unasked: str = ""
    example: str = ""
    assumption: str = ""
    control_share: float = 0.0
    invalid: JudgeStatus | None = None


@dataclass(slots=True, repr=False)
class JudgeRun:
    """The result of a judge run: the path of the verdicts, what was spent, and notices for the user.

    `unscored` counts the requests whose votes give no verdict, by reason; `paid_in_vain` are those of them that are not
    asked again unless errors are retried. `bugs` has a line for each case about which nothing could be asked.
    `in_doubt` is the number of requests that a second judge was asked, None without one. `replacement` says which judge
    a run has now that was judged by another one before, "" where that did not happen. `several_models` says that not
    one model alone answered, "" if one did; `one_label` says of which rubrics the verdicts give no
    numbers, because all have one label.
    """

    preflight: JudgingEstimate
    store_path: Path
    notices: list[str] = field(default_factory=list)
    tally: JudgingTally = field(default_factory=JudgingTally)
    budget: Budget = field(default_factory=Budget)
    rubrics: tuple[str, ...] = ()
    judge_status: JudgeStatus | None = None
    requests: int = 0
    unscored: Counter[str] = field(default_factory=Counter)
    paid_in_vain: int = 0
    bugs: dict[str, str] = field(default_factory=dict)
    double_bills: int = 0
    is_done: bool = False
    in_doubt: int | None = None
    replacement: str = ""
    several_models: str = ""
    one_label: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Return a few lines: the outcome, what was asked and what it cost, what has no verdict, and what is wrong."""
        tally, reported, unreported = self.tally, self.budget.reported, self.budget.unreported
        cost = f", ${reported.cost:.4f}" if reported.cost_known else ""
        cost += f" and at most ${unreported.cost:.4f} besides" if unreported.calls and unreported.cost_known else ""
        lines = [
            f"{self.exit_code.name}: {format_count(self.requests, 'request')}, {tally.asked} newly asked, "
            f"{tally.reused} already stored, {format_count(self.budget.calls, 'call')}{cost}"
        ]
        if self.unscored:
            reasons = ", ".join(f"{reason} {count}" for reason, count in sorted(self.unscored.items()))
            lines.append(f"without a verdict: {self.unscored.total()} ({reasons})")
        if self.judge_status is not None:
            lines += list_first_lines(self.judge_status.reasons, "judge_status.reasons")
        lines += list_first_lines([f"{case}: {bug}" for case, bug in self.bugs.items()], "bugs")
        lines += list_first_lines(self.notices, "notices")
        lines += filter(None, [self.several_models, *self.one_label, self.replacement])
        return "\n".join([*lines, f"verdicts in {self.store_path}"])

    @property
    def exit_code(self) -> ExitCode:
        """PASS if every request has a verdict, FAILED if the judge failed its controls or drifted, INCOMPLETE if
        verdicts are missing, or INTERRUPTED."""
        if self.tally.halted == "interrupted":
            return ExitCode.INTERRUPTED
        if self.judge_status is not None and self.judge_status.invalid:
            return ExitCode.FAILED
        if self.is_done and (self.unscored or self.bugs or self.tally.halted):
            return ExitCode.INCOMPLETE
        return ExitCode.PASS if self.judge_status is None or self.judge_status.may_gate else ExitCode.FAILED


ConfirmEstimate = Callable[[JudgingEstimate, Sequence[str]], bool]
"""Receives the estimated effort and the notices, and returns whether to continue."""


def judge_run(
    request: JudgingRequest,
    confirm: ConfirmEstimate = lambda *_: True,
    progress: ReportProgress | None = None,
    on_interrupt: Callable[[], None] = lambda: None,
    clock: Clock | None = None,
) -> JudgeRun:
    """Judge everything that has no verdict yet. `on_interrupt` is called at the first Ctrl-C.

    Raises InputError for bad inputs, IncompleteError if a verdict cannot be saved, and KeyboardInterrupt at the second
    Ctrl-C; verdicts that were saved before are kept.
    """
    usual = list_run_rubrics(Path(request.inputs.run)) if request.inputs.run is not None else ()
    is_asked = not request.is_estimate
    chosen = choose_judge(request.config, request.judge, request.flags, request.rubrics, usual, is_asked=is_asked)
    second = choose_second_judge(request, chosen)
    caps = choose_caps(chosen, request.max_calls, request.max_tokens, request.max_cost)
    budget = Budget(caps if second is None else share_caps(caps, second))
    gate = load_judging_gate(request)
    questions, question_notices = load_questions(request, chosen)
    notices = [*request.config.notes, *question_notices]
    for judge_to_check in (chosen, second):
        if judge_to_check is not None:
            notices += check_self_judging(request, judge_to_check, questions)
            notices += [] if is_asked else _describe_missing_variables(judge_to_check)
    questions, selection_notices = pending_questions(questions, request.only, gate)
    session = _Session(request, chosen, second, questions, budget, gate or Gate(), on_interrupt)
    contents = read_store(request.store_path) if request.store_path.exists() else StoreContents()
    if usual and tuple(chosen.folders) != tuple(usual):
        _refuse_changed_rubrics(load_rubrics(usual), chosen, contents)
    preflight = session.preflight(contents)
    judged = JudgeRun(preflight, request.store_path, [*notices, *selection_notices, *contents.warnings], budget=budget)
    judged.rubrics = chosen.folders
    if not confirm(preflight, judged.notices) or request.is_estimate:
        judged.judge_status = preflight.invalid
        return judged
    with closing(SqliteVerdictStore(request.store_path, retry_errors=request.retry_errors)) as store:
        store.register_judge(session.judge.identity)
        if session.second is not None:
            store.register_judge(session.second.judge.identity)
        earlier = _find_other_judge(request, session.judge.identity)
        if earlier is None:
            _write_judge_to_manifest(request, session.judge.identity, chosen.folders)
        try:
            asyncio.run(session.run(store, judged, progress, clock))
        except asyncio.CancelledError:  # a second Ctrl-C
            raise KeyboardInterrupt from None
        if earlier is not None:
            judged.replacement = _replace_judge(request, judged, session.judge.identity, chosen.folders, earlier)
    return judged


def _refuse_changed_rubrics(recorded: Rubrics, chosen: ChosenJudge, contents: StoreContents) -> None:
    """Raise InputError for a rubric with another text than the run has verdicts on under the same version.

    Its earlier verdicts would have no rubric any more, and both texts would be called the same in every report.
    """
    samples = (sample for by_request in contents.verdicts.values() for votes in by_request.values() for sample in votes)
    judged_versions = {sample.rubric for sample in samples}
    problems = []
    for (name, language), rubric in sorted(chosen.rubrics.items()):
        before = recorded.get((name, language))
        version = f"{name}@{rubric.version}"
        is_changed = before is not None and before.version == rubric.version and before.hash != rubric.hash
        if is_changed and version in judged_versions:
            message = f"another text than the run has verdicts on (got {version} in {language}; expected a new version)"
            problems.append(Problem("", None, "rubrics", message, "E_RUBRIC_VERSION"))
    if problems:
        raise InputError(problems)


class _Session:
    """One call of `judge`, from the first questions to the status of the judge."""

    def __init__(
        self,
        judgement: JudgingRequest,
        chosen: ChosenJudge,
        second: ChosenJudge | None,
        questions: JudgeQuestions,
        budget: Budget,
        gate: Gate,
        stopping: Callable[[], None],
    ) -> None:
        self.judgement, self.chosen, self.questions, self.budget = judgement, chosen, questions, budget
        self.stopping = stopping
        self.judge = self._make_judge(chosen)
        self.second = None
        if second is not None:
            other = self._make_judge(second)
            self.second = SecondJudge(second, other, retry_errors=judgement.retry_errors)
        self.digest = self.judge.identity.digest
        self._store: SqliteVerdictStore | None = None
        self.verdicts: dict[str, list[Verdict]] = {}
        self._recorded: Mapping[str, Sequence[Verdict]] = {}
        self._standing: JudgeStatus | None = None
        self._is_rechecked = False
        self._round = 1
        self._expected = ExpectedUsage()
        self._plan = NO_PLAN
        self._shared = SharedControls.of(judgement, chosen)
        self._asked: dict[str, JudgeRequest] = {}
        self._first_requests: dict[str, JudgeRequest] = {}
        self._asked_first: frozenset[str] = frozenset()
        self._rubrics = {rubric.hash: rubric for rubric in chosen.rubrics.values()}
        setting = chosen.settings.votes
        votes = judgement.votes or (setting if isinstance(setting, int) else None)
        alone = cases_that_decide_alone(gate, questions.golden.cases)
        self.voting = VotingRule(
            questions, self._rubrics, votes, alone, ControlQuestions({}, {}), retry_errors=judgement.retry_errors
        )

    def _make_judge(self, chosen: ChosenJudge) -> LLMJudge:
        limits, is_asked = self.judgement.limits, not self.judgement.is_estimate
        return make_judge(
            chosen, limits.concurrency, limits.deadline, self.budget, self._store_bytes, is_asked=is_asked
        )

    def preflight(self, contents: StoreContents) -> JudgingEstimate:
        """Determine what must be asked, and return the estimated effort."""
        self._load_recorded(contents)
        requests = self._first_requests = self.questions.find_requests(self.verdicts)
        self._expected = self._learn_usage(requests)
        least, most = Counter[str](), Counter[str]()
        answered = sum(not self._add_calls(request, least, most) for request in requests.values())
        control_calls = 0
        if self.is_invalid:  # nothing more is asked of it
            least.clear()
            most.clear()
        elif requests:
            control_calls = self._add_control_calls(requests, least, most)
        second_calls, second_usage, second_name = 0, TokenUsage(0, 0, 0.0), ""
        if self.second is not None and not self.is_invalid:
            second_calls, second_usage = self.second.estimate_most(requests.values())
            second_name = self.second.name
        votes = f"1, and up to {MAX_VOTES} where they differ or one case decides"
        return JudgingEstimate(
            f"{self.judge.identity.model} ({self.chosen.name}, {self.digest})",
            len(self.questions.observations),
            len(requests),
            answered,
            control_calls,
            least["calls"],
            most["calls"] + second_calls,
            self._usage_of(least),
            self._usage_of(most).plus(second_usage),
            str(self.voting.fixed) if self.voting.fixed else votes,
            second_name,
            len(self._plan.earlier),
            describe_unasked(self._plan.unasked, sum(not votes for votes in self._plan.anchor_votes.values())),
            self._show_example(requests.values()),
            self._expected.assumption,
            self.chosen.settings.control_share,
            self._standing if self.is_invalid else None,
        )

    def _load_recorded(self, contents: StoreContents) -> None:
        """Take what the verdict store, and the store of shared controls, have of this judge and the second one."""
        shared = self._shared.read() if self._shared is not None else StoreContents()
        self._recorded = shared.verdicts.get(self.digest, {}) | contents.verdicts.get(self.digest, {})
        self.questions.reviews = group_reviews(contents.reviews)
        self._standing = combine_statuses(shared.statuses.get(self.digest), contents.statuses.get(self.digest))
        standing = self._standing
        is_unusable = standing is not None and (standing.invalid or bool(standing.one_label))
        self._is_rechecked = self.judgement.recheck and is_unusable
        self.verdicts = {name: list(samples) for name, samples in self._recorded.items()}
        if self.second is not None:
            self.second.load_recorded(contents)

    def _add_control_calls(self, requests: dict[str, JudgeRequest], least: Counter[str], most: Counter[str]) -> int:
        """Plan the controls, and add their calls to both totals; return how many they are at least."""
        # Controls are made from the same requests if judging is continued: those that follow from no verdict.
        is_continued = bool(self.verdicts.keys() & requests.keys())
        first_requests = self.questions.find_requests({}) if is_continued else requests
        affordable = self._count_affordable_calls(least, most)
        self._plan_controls(first_requests, affordable, asks_more=least["calls"] > 0, is_continued=is_continued)
        controls = self.voting.control_questions.all_requests()
        control_calls = sum(self._add_calls(request, least, most) for request in controls)
        for control in self._plan.possible[:1]:  # as many more may be asked where the answers leave a doubt
            _add_usage(most, control.request, self._plan.room * MAX_CALLS_PER_VOTE, self.judge.estimate)
        return control_calls

    @property
    def is_invalid(self) -> bool:
        """Whether the judge failed its controls or anchors before, as the verdict store or the shared controls say.

        One that is rechecked is asked more of them.
        """
        return self._standing is not None and self._standing.invalid and not self._is_rechecked

    def _show_example(self, requests: Iterable[JudgeRequest]) -> str:
        """Return the body of the first request that has no verdict, else of the first one."""
        waiting = (request for request in requests if self._missing_votes(request)[0])
        request = next(waiting, None) or next(iter(requests), None)
        if request is None:
            return ""
        return msgspec.json.format(msgspec.json.encode(self.judge.build_body(request))).decode()

    def _add_calls(self, request: JudgeRequest, least: Counter[str], most: Counter[str]) -> int:
        """Add the calls that a request needs to both totals; return how many they are at least."""
        min_votes, max_votes = self._missing_votes(request)
        _add_usage(least, request, min_votes, self._estimate_likely)
        _add_usage(most, request, max_votes * MAX_CALLS_PER_VOTE, self.judge.estimate)
        return min_votes

    def _estimate_likely(self, request: JudgeRequest) -> tuple[int, int]:
        return self._expected.correct(*self.judge.estimate_likely(request))

    def _learn_usage(self, requests: Mapping[str, JudgeRequest]) -> ExpectedUsage:
        """Return what the first of the recorded verdicts on these requests took."""
        recorded_requests = [digest for digest in requests if self._recorded.get(digest)][:MOST_VERDICTS_READ]
        taken = []
        for digest in recorded_requests:
            rough = self.judge.estimate_likely(requests[digest])
            taken.append((self._recorded[digest][0].usage, rough))
        return learn_usage(taken)

    def _count_affordable_calls(self, least: Counter[str], most: Counter[str]) -> float:
        """Return how many calls of likely size the caps allow, those for controls included; infinite without caps.

        What a call takes at most is reserved before it is made, so less than the whole budget can be spent.
        """
        caps, counts = self.budget.caps, [math.inf]
        if caps.calls is not None:
            counts.append(caps.calls)
        if not least["calls"] or not most["calls"]:
            return min(counts)
        likely = least["prompt"] / least["calls"], least["completion"] / least["calls"]
        reserved = most["prompt"] / most["calls"], most["completion"] / most["calls"]
        if caps.tokens is not None and sum(likely) > 0:
            counts.append((caps.tokens - sum(reserved)) / sum(likely) + 1)
        if caps.cost is not None and caps.price is not None:
            likely_cost, reserved_cost = caps.price.compute_cost(*likely), caps.price.compute_cost(*reserved)
            counts += [(caps.cost - reserved_cost) / likely_cost + 1] if likely_cost > 0 else []
        return max(0.0, min(counts))

    def _plan_controls(
        self, requests: Mapping[str, JudgeRequest], affordable: float, *, asks_more: bool, is_continued: bool
    ) -> None:
        """Choose the controls and anchors; new ones are asked only if the run `asks_more`.

        Their share is of the calls that the run can make: of the `affordable` ones where caps end it earlier.

        Anchors are those of the rubrics, in the languages, of which the run asks; they are asked again on a later day.
        """
        before, settings = self._standing, self.chosen.settings
        self._round = count_anchor_rounds(before, self.judgement.at, asks_more=asks_more)
        calls: float = sum(self.voting.count_missing_votes(request, ())[0] for request in requests.values())
        answered = calls - sum(self._missing_votes(request)[0] for request in requests.values())
        if affordable < math.inf:  # the caps end the run before it has asked everything
            calls = min(calls, answered + (1 - settings.control_share) * affordable)
        possible = list_possible_controls(requests, self.questions.subjects_of, self.chosen.rubrics)
        anchors = build_all_anchors(load_anchors().anchors, self.chosen.rubrics)
        anchors = select_anchors(anchors, requests.values(), SUPPORT)
        controlled = {control.request.rubric_hash for control in possible}
        controlled |= {answer.control.rubric_hash for answer in (before.answered if before is not None else ())}
        asked = {request.rubric_hash for request in requests.values()}
        uncontrolled = find_uncontrolled([self._rubrics[each] for each in sorted(asked)], anchors, controlled)
        others = before.uncontrolled if before is not None else ()  # of rubrics of which only earlier runs asked
        uncontrolled += tuple(each for each in others if each.rubric_hash not in asked)
        plan = plan_controls(
            possible,
            anchors,
            before,
            self._recorded,
            ControlLimits(settings.control_share, settings.control_days, self.judgement.at),
            calls=calls if asks_more or self._is_rechecked else 0,
            rounds=self._round,
            asks_again=before is not None and self._round > before.rounds,
            is_continued=is_continued,
        )
        self._plan = plan._replace(uncontrolled=uncontrolled)
        self.voting.control_questions, self.voting.anchor_votes = self._plan.questions, self._plan.anchor_votes

    def _usage_of(self, total: Counter[str]) -> TokenUsage:
        price = self.chosen.price
        cost = price.compute_cost(total["prompt"], total["completion"]) if price is not None else None
        return TokenUsage(total["prompt"], total["completion"], cost)

    async def run(
        self, store: SqliteVerdictStore, judged: JudgeRun, progress: ReportProgress | None, clock: Clock | None
    ) -> None:
        """Ask all questions, round by round, and determine the status of the judge."""
        self._store = store
        if self.is_invalid and self._standing is not None:
            judged.judge_status = store.record_status(self._standing)
            judged.is_done = True
            await self._close_judges()
            return
        limits = self.judgement.limits
        judge = VotingJudge(self.judge, self.voting)
        retry_errors = self.judgement.retry_errors
        runner = JudgingRunner(
            judge, store, self.voting.needs_more, limits, self.budget, clock, progress, retry_errors=retry_errors
        )
        judged.tally = runner.tally
        try:
            with handle_interrupts(runner, self.stopping):
                await self._ask_controls(runner, store, judged)
                await self._ask_questions(runner, judged)
                await self._ask_second_judge(store, judged, clock)
            for request in self._asked.values():
                is_disputed = request.digest in self.questions.disputed
                reason = self._missing_verdict_reason(request) or ("disputed" if is_disputed else "")
                if reason:
                    judged.unscored[reason] += 1
                    judged.paid_in_vain += reason not in FINAL_REASONS and self._is_paid_in_vain(request)
            judged.bugs = dict(sorted(self.questions.bugs.items()))
            model = self.judge.identity.model
            judged.several_models = describe_several_models(model, self.verdicts)
            if judged.judge_status is not None and not judged.judge_status.invalid:
                unusable = find_unusable_rubrics(judged.judge_status, self.verdicts, self.chosen.rubrics)
                judged.one_label = describe_unusable_rubrics(model, unusable)
        finally:
            await self._close_judges()
            judged.double_bills = store.count_double_bills(self.digest)
        judged.is_done = True

    async def _close_judges(self) -> None:
        await self.judge.aclose()
        if self.second is not None:
            await self.second.judge.aclose()

    async def _ask_controls(self, runner: JudgingRunner, store: SqliteVerdictStore, judged: JudgeRun) -> None:
        """Ask the control questions first, each round mixed with as many real ones.

        A judge that fails them is not paid for the others.
        """
        planned, before = self.voting.control_questions, self._standing
        if not planned.all_requests():
            judged.judge_status = before
            return
        staged = {digest for stage in self._plan.stages for digest in stage}
        answered = {item.digest: item for item in planned.all_requests() if item.digest not in staged}
        answers: Answers = {}
        for _, anchor in planned.anchors.values():
            asked_repeats = list_asked_repeats(anchor, self.verdicts)
            answers |= {repeat.digest: self.verdicts[repeat.digest] for repeat in asked_repeats}
        answers |= await self._ask_round(runner, answered)
        rounds = ControlRounds(self._plan, self._rubrics, answers)
        for asked in rounds.iterate(self._assess, is_rechecked=self._is_rechecked):
            if runner.tally.halted:
                break
            planned = self.voting.control_questions
            self.voting.control_questions = ControlQuestions(
                planned.controls | asked.controls, planned.anchors | asked.anchors
            )
            answers |= await self._ask_round(runner, {item.digest: item for item in asked.all_requests()})
        # A round of anchors that was cut short is finished by the next run.
        number = self._round if not runner.tally.halted else before.rounds if before is not None else 1
        at = before.at if before is not None and before.rounds == number else self.judgement.at
        status = structs.replace(
            self._assess(rounds.questions, answers), rounds=number, at=at, uncontrolled=self._plan.uncontrolled
        )
        status = structs.replace(status, unasked=find_unasked(self._plan, status))
        judged.judge_status = store.record_status(
            merge_status(before, status, is_rechecked=self._is_rechecked), is_rechecked=self._is_rechecked
        )
        if self._shared is not None:
            self._shared.record(
                self.judge.identity, judged.judge_status, answers.values(), is_rechecked=self._is_rechecked
            )

    async def _ask_round(self, runner: JudgingRunner, requests: Mapping[str, JudgeRequest]) -> Answers:
        """Ask some control questions, mixed with as many real ones as there are new ones; return their answers."""
        recorded = self.verdicts | skip_shuffled_sample(self.voting.anchor_votes, self.verdicts)
        runner.controls |= frozenset(requests)
        new_count = sum(self._missing_votes(request)[0] > 0 for request in requests.values())
        planned = self.voting.control_questions
        real = [
            digest
            for digest in self._first_requests
            if digest not in self._asked_first and digest not in planned.controls and digest not in planned.anchors
        ]
        real = real[:new_count] if planned.controls else []
        batch = {**requests, **{digest: self._first_requests[digest] for digest in real}}
        samples = await runner.run([batch[digest] for digest in sorted(batch)], recorded)
        self.verdicts |= {digest: samples[digest] for digest in real if samples.get(digest)}
        self._asked_first |= frozenset(real)
        return {digest: samples[digest] for digest in requests if digest in samples}

    def _assess(self, questions: ControlQuestions, answers: Answers) -> JudgeStatus:
        rubrics, earlier = self.chosen.rubrics, self._plan.earlier
        return assess_judge(self.digest, questions, answers, rubrics, self.judgement.at, earlier)

    async def _ask_questions(self, runner: JudgingRunner, judged: JudgeRun) -> None:
        """Ask the questions that follow from the verdicts so far, until there are no new ones."""
        if judged.judge_status is not None and judged.judge_status.invalid:
            return  # its verdicts give no numbers
        requests = self.questions.find_requests(self.verdicts)
        new_requests = {name: request for name, request in requests.items() if name not in self._asked_first}
        while new_requests and not runner.tally.halted:
            self.verdicts |= await runner.run(new_requests.values(), self.verdicts)
            earlier_requests, requests = requests, self.questions.find_requests(self.verdicts)
            new_requests = {name: request for name, request in requests.items() if name not in earlier_requests}
        judged.requests, self._asked = len(requests), requests

    async def _ask_second_judge(self, store: SqliteVerdictStore, judged: JudgeRun, clock: Clock | None) -> None:
        """Ask the second judge, if there is one, about the requests that the first left in doubt."""
        judge_status = judged.judge_status
        if self.second is None or judge_status is None or judge_status.invalid or judged.tally.halted:
            return
        digest = self.second.judge.identity.digest
        judged.judge_status = store.record_status(structs.replace(judge_status, second=digest))
        doubts = find_doubtful_requests(self.questions, self._asked, self.verdicts)
        runner = self.second.make_runner(store, self.judgement.limits, self.budget, clock, judged.tally)
        with handle_interrupts(runner, self.stopping):
            await self.second.ask(runner, doubts.values())
        judged.in_doubt = len(doubts)

    def _missing_verdict_reason(self, request: JudgeRequest) -> str:
        """Return why neither people nor all votes, earlier ones included, give a verdict; "" if they give one."""
        recorded = (*self._recorded.get(request.digest, ()), *self.verdicts.get(request.digest, ()))
        votes = {sample.sample: sample for sample in recorded}
        if not votes:
            return NOT_ASKED
        rubric = self._rubrics[request.rubric_hash]
        ruling = fold_votes([votes[sample] for sample in sorted(votes)], rubric)
        second_samples = self.second.samples.get(request.digest) if self.second is not None else None
        if second_samples:
            ruling = settle_ruling(ruling, fold_votes(second_samples, rubric))
        ruling = apply_reviews(request, ruling, self.questions.reviews.get(request.digest, ()), rubric)
        return ruling.unscored or next((item.unscored for item in ruling.items if item.unscored), "")

    def _is_paid_in_vain(self, request: JudgeRequest) -> bool:
        """Whether every vote on a request that gave no labels was paid for: only `--retry-errors` repeats it."""
        failures = [vote for vote in self.verdicts.get(request.digest, ()) if vote.unscored is not None]
        return bool(failures) and all(map(may_have_been_billed, failures))

    def _missing_votes(self, request: JudgeRequest) -> tuple[int, int]:
        return self.voting.count_missing_votes(request, self.verdicts.get(request.digest, ()))

    def _store_bytes(self, name: str, body: bytes) -> None:
        assert self._store is not None
        self._store.keep_rendered(name, body)


def _describe_missing_variables(chosen: ChosenJudge) -> list[str]:
    names = list_missing_variables(chosen.settings)
    return [f"not set yet, and needed to ask {chosen.name}: {', '.join(names)}"] if names else []


def _add_usage(
    total: Counter[str], request: JudgeRequest, calls: int, estimate: Callable[[JudgeRequest], tuple[int, int]]
) -> None:
    """Add to a total the calls for a request and their estimated prompt and completion tokens."""
    if calls:  # an estimate renders the prompt, which takes time
        prompt, completion = estimate(request)
        total.update(calls=calls, prompt=calls * prompt, completion=calls * completion)


_DIGEST_SHOWN = len("sha256:") + 8


def _find_other_judge(request: JudgingRequest, judge: JudgeIdentity) -> Mapping[str, Any] | None:
    """Return the judge of the run that is judged, if it has another one than is asked now."""
    if request.inputs.run is None:
        return None
    recorded: Mapping[str, Any] | None = read_manifest(Path(request.inputs.run)).get("judge")
    return recorded if recorded and recorded.get("digest") not in (None, judge.digest) else None


def _replace_judge(
    request: JudgingRequest,
    judged: JudgeRun,
    judge: JudgeIdentity,
    rubrics: Sequence[str],
    earlier: Mapping[str, Any],
) -> str:
    """Make the judge that was asked that of the run, if it passed its controls and gave verdicts on more than half of
    the requests, and return which judge the run has now."""
    is_invalid = judged.judge_status is not None and judged.judge_status.invalid
    named = f"{earlier.get('model', '')} ({str(earlier['digest'])[:_DIGEST_SHOWN]}…)"
    if is_invalid or 2 * judged.unscored.total() >= judged.requests:
        why = "failed its controls" if is_invalid else "gave verdicts on less than half of the requests"
        return f"the run keeps the verdicts of its earlier judge, {named}: {judge.model} {why}"
    _write_judge_to_manifest(request, judge, rubrics)
    again = f"assay score {request.inputs.run} --judge {earlier['digest']}"
    return f"the run is scored by {judge.model} from now on; by its earlier judge, {named}: {again}"


def _write_judge_to_manifest(request: JudgingRequest, judge: JudgeIdentity, rubrics: Sequence[str]) -> None:
    """Record in the manifest of a run its judge and verdict store, and copy the rubrics that are not built in; nothing
    where no run is judged."""
    if request.inputs.run is None:
        return
    store = request.store or VERDICT_STORE_NAME
    judge_entry = {"digest": judge.digest, "model": judge.model, "endpoint": judge.endpoint, "store": store}
    with RunFolder(Path(request.inputs.run)) as folder:
        copies = folder.copy_rubrics(rubrics)
        folder.write_manifest({**folder.manifest, "judge": judge_entry | {"rubrics": copies}})


MOST_VERDICTS_READ = 50
"""Earlier verdicts from which is learnt what a call takes: rendering their requests takes time."""


class ExpectedUsage(NamedTuple):
    """How many times the rough estimate of a call the earlier `verdicts` took; 1 without any."""

    verdicts: int = 0
    prompt_ratio: float = 1.0
    completion_ratio: float = 1.0

    def correct(self, prompt: int, completion: int) -> tuple[int, int]:
        """Return a rough estimate of prompt and completion tokens, as the earlier verdicts correct it.

        >>> ExpectedUsage(3, 0.5, 2.0).correct(301, 140)
        (151, 280)
        """
        return math.ceil(prompt * self.prompt_ratio), math.ceil(completion * self.completion_ratio)

    @property
    def assumption(self) -> str:
        """What the estimate assumes, in words."""
        if self.verdicts:
            return f"one vote on each, as long as {self.verdicts} earlier verdicts of this judge took"
        return "one vote on each, 3 bytes a token, replies of 100 tokens a label, no call repeated"


def learn_usage(taken: Iterable[tuple[JudgeUsage, tuple[int, int]]]) -> ExpectedUsage:
    """Return what verdicts took in proportion to the rough estimates of their calls, repeated calls included.

    Verdicts whose endpoint does not report its usage tell nothing.

    >>> learn_usage([(JudgeUsage(200, 70), (400, 140)), (JudgeUsage(0, 0), (400, 140))])
    ExpectedUsage(verdicts=1, prompt_ratio=0.5, completion_ratio=0.5)
    """
    measured = [(usage, rough) for usage, rough in taken if usage.prompt_tokens and usage.completion_tokens]
    if not measured:
        return ExpectedUsage()
    prompt, completion = (sum(rough[part] for _, rough in measured) for part in (0, 1))
    return ExpectedUsage(
        len(measured),
        sum(usage.prompt_tokens for usage, _ in measured) / prompt,
        sum(usage.completion_tokens for usage, _ in measured) / completion,
    )


class SharedControls:
    """A verdict store that holds answers to controls and anchors only."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def of(cls, judgement: JudgingRequest, chosen: ChosenJudge) -> SharedControls | None:
        """Return the shared store that the settings of a judge name; None without one, or if it is that of the run."""
        if chosen.settings.control_store is None:
            return None
        path = judgement.config.folder / chosen.settings.control_store
        return None if path.resolve() == judgement.store_path.resolve() else cls(path)

    def read(self) -> StoreContents:
        """Return what is recorded; nothing if there is no file yet. Raises the errors of `read_store`."""
        return read_store(self.path) if self.path.exists() else StoreContents()

    def record(
        self, judge: JudgeIdentity, status: JudgeStatus, samples: Iterable[Sequence[Verdict]], *, is_rechecked: bool
    ) -> None:
        """Record the answers and the status of a judge."""
        answers = [sample for votes in samples for sample in votes if sample.items or sample.unscored is not None]
        with closing(SqliteVerdictStore(self.path)) as store, store.transaction():
            store.register_judge(judge)
            store.save(answers)
            store.record_status(status, is_rechecked=is_rechecked)


def combine_statuses(shared: JudgeStatus | None, own: JudgeStatus | None) -> JudgeStatus | None:
    """Return the status of a judge from a shared store and from that of a run, with the controls of both."""
    if shared is None or own is None:
        return own or shared
    by_request = {answer.request: answer for answer in (*shared.answered, *own.answered)}
    uncontrolled = tuple(sorted({*shared.uncontrolled, *own.uncontrolled}))
    return structs.replace(merge_status(shared, own), answered=tuple(by_request.values()), uncontrolled=uncontrolled)
