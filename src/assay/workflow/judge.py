"""Judging a run: each question about the recorded outputs is asked once, and its verdicts go to the verdict store."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import structs

from assay.graders.votes import MOST, fold_votes, settled
from assay.io.runfolder import RunFolder
from assay.judges.book import Book, read_contents
from assay.judges.rows import Contents
from assay.model import Gate
from assay.runners.attempts import Clock
from assay.runners.budget import Budget
from assay.runners.judging import JudgingRunner, JudgingTally, Progress
from assay.verdict import JudgeIdentity, JudgeRequest, Standing, Verdict
from assay.workflow.controls import Known, known_questions, passing_over, rounds_of, standing_of, votes_of_anchors
from assay.workflow.judgement import BOOK, Judgement, gate_of, guarded, questions_of
from assay.workflow.judges import ChosenJudge, caps_of, choose_judge, make_judge
from assay.workflow.questions import Questions, deciding, narrowed
from assay.workflow.runs import rubrics_of_run
from assay.workflow.second import CALLS_OF_VOTE, SecondJudge, Took, flagged, second_of, shared_caps
from assay.workflow.stopping import interruptible
from assay.workflow.voting import Voting, VotingJudge

NOT_ASKED = "not asked"


@dataclass(frozen=True, slots=True)
class Preflight:
    """The estimated effort of a judge run.

    It counts the requests, those already answered (`known`), the controls and anchors (`beside`), the calls at least
    and at most, and the likely and the maximal tokens and dollars (None if the price of the judge is unknown). The
    maximum includes extra votes where votes differ and repair calls for bad replies, but not calls that fail.
    """

    judge: str
    observations: int
    requests: int
    known: int
    beside: int
    calls: int
    most_calls: int
    likely: Took
    most: Took
    votes: str
    second: str = ""


@dataclass(slots=True)
class Judged:
    """The result of a judge run: the path of the verdicts, what was spent, and notices for the user.

    `unscored` counts the requests whose votes give no verdict, by reason; `in_doubt` is the number of requests that a
    second judge was asked, None without one.
    """

    preflight: Preflight
    book: Path
    notices: list[str] = field(default_factory=list)
    tally: JudgingTally = field(default_factory=JudgingTally)
    budget: Budget = field(default_factory=Budget)
    rubrics: tuple[str, ...] = ()
    standing: Standing | None = None
    requests: int = 0
    unscored: Counter[str] = field(default_factory=Counter)
    double_bills: int = 0
    done: bool = False
    in_doubt: int | None = None

    @property
    def status(self) -> int:
        """The exit code: 0 if every request has a verdict, 1 if the judge cannot be trusted, 3 if verdicts are missing,
        130 if interrupted."""
        if self.tally.halted == "interrupted":
            return 130
        if self.done and (self.unscored or self.tally.halted):
            return 3
        return 0 if self.standing is None or self.standing.may_gate else 1


Tell = Callable[[Preflight, Sequence[str]], bool]
"""Receives the estimated effort and the notices, and returns whether to continue."""


def judge(
    judgement: Judgement,
    tell: Tell = lambda *_: True,
    progress: Progress | None = None,
    stopping: Callable[[], None] = lambda: None,
    clock: Clock | None = None,
) -> Judged:
    """Judge everything that has no verdict yet. `stopping` is called at the first Ctrl-C.

    Raises InputError for bad inputs, IncompleteError if a verdict cannot be saved, and KeyboardInterrupt at the second
    Ctrl-C; verdicts that were saved before are kept.
    """
    usual = rubrics_of_run(Path(judgement.run)) if judgement.run is not None else ()
    chosen = choose_judge(judgement.config, judgement.judge, judgement.flags, judgement.rubrics, usual)
    second = second_of(judgement, chosen)
    caps = caps_of(chosen, judgement.max_calls, judgement.max_tokens, judgement.max_cost)
    budget = Budget(caps if second is None else shared_caps(caps, second))
    gate = gate_of(judgement)
    questions, notices = questions_of(judgement, chosen)
    for judge_to_check in (chosen, second):
        if judge_to_check is not None:
            notices += guarded(judgement, judge_to_check, questions)
    questions, selection_notices = narrowed(questions, judgement.only, gate)
    session = _Session(judgement, chosen, second, questions, budget, gate or Gate(), stopping)
    contents = _read_store(judgement.book_path)
    preflight = session.preflight(contents)
    judged = Judged(preflight, judgement.book_path, [*notices, *selection_notices, *contents.warnings], budget=budget)
    judged.rubrics = chosen.folders
    if not tell(preflight, judged.notices):
        return judged
    with closing(Book(judgement.book_path)) as book:
        book.register(session.judge.identity)
        if session.second is not None:
            book.register(session.second.judge.identity)
        if judgement.run is not None:
            _write_judge_to_manifest(
                Path(judgement.run), session.judge.identity, judgement.book or BOOK, chosen.folders
            )
        try:
            asyncio.run(session.run(book, judged, progress, clock))
        except asyncio.CancelledError:  # a second Ctrl-C
            raise KeyboardInterrupt from None
    return judged


class _Session:
    """One call of `judge`, from the first questions to the status of the judge."""

    def __init__(
        self,
        judgement: Judgement,
        chosen: ChosenJudge,
        second: ChosenJudge | None,
        questions: Questions,
        budget: Budget,
        gate: Gate,
        stopping: Callable[[], None],
    ) -> None:
        self.judgement, self.chosen, self.questions, self.budget = judgement, chosen, questions, budget
        self.stopping = stopping
        limits = judgement.limits
        self.judge = make_judge(chosen, limits.concurrency, limits.deadline, budget, self._store_bytes)
        self.second = None
        if second is not None:
            other = make_judge(second, limits.concurrency, limits.deadline, budget, self._store_bytes)
            self.second = SecondJudge(second, other)
        self.digest = self.judge.identity.digest
        self._book: Book | None = None
        self.verdicts: dict[str, list[Verdict]] = {}
        self._recorded: Mapping[str, Sequence[Verdict]] = {}
        self._standing: Standing | None = None
        self._round = 1
        self._asked: dict[str, JudgeRequest] = {}
        self._rubrics = {rubric.hash: rubric for rubric in chosen.rubrics.values()}
        setting = chosen.settings.votes
        votes = judgement.votes or (setting if isinstance(setting, int) else None)
        alone = deciding(gate, questions.golden.cases)
        self.voting = Voting(questions, self._rubrics, votes, alone, Known({}, {}))

    def preflight(self, contents: Contents) -> Preflight:
        """Determine what must be asked, and return the estimated effort."""
        self._recorded = contents.verdicts.get(self.digest, {})
        self._standing = contents.standings.get(self.digest)
        self.verdicts = {name: list(samples) for name, samples in self._recorded.items()}
        if self.second is not None:
            self.second.recall(contents)
        requests = self.questions.asked(self.verdicts)
        if requests:
            self.voting.known = known_questions(requests, self.questions.clusters_of, self.chosen.rubrics)
            asks_more = any(self._missing_votes(request)[0] for request in requests.values())
            self._begin_round(anew=asks_more)
        control_requests = self.voting.known.requests()
        answered = 0
        least, most = Counter[str](), Counter[str]()
        for request in [*requests.values(), *control_requests]:
            min_votes, max_votes = self._missing_votes(request)
            answered += not min_votes
            _add_usage(least, request, min_votes, self.judge.likely)
            _add_usage(most, request, max_votes * CALLS_OF_VOTE, self.judge.estimate)
        second_calls, second_usage, second_name = 0, Took(0, 0, 0.0), ""
        if self.second is not None:
            second_calls, second_usage = self.second.most(requests.values())
            second_name = self.second.name
        votes = f"1, and up to {MOST} where they differ or one case decides"
        return Preflight(
            f"{self.judge.identity.model} ({self.chosen.name}, {self.digest})",
            len(self.questions.observations),
            len(requests),
            answered,
            len(control_requests),
            least["calls"],
            most["calls"] + second_calls,
            self._usage_of(least),
            self._usage_of(most).and_also(second_usage),
            str(self.voting.fixed) if self.voting.fixed else votes,
            second_name,
        )

    def _begin_round(self, *, anew: bool) -> None:
        """Decide whether the anchors are asked again: on a later day, if other questions are asked `anew`."""
        before = self._standing
        self._round = rounds_of(before, self.judgement.at, anew=anew)
        again = before is not None and self._round > before.rounds
        self.voting.anchors = votes_of_anchors(self.voting.known, self._recorded, self._round, anew=again)

    def _usage_of(self, total: Counter[str]) -> Took:
        price = self.chosen.price
        cost = price.of(total["prompt"], total["completion"]) if price is not None else None
        return Took(total["prompt"], total["completion"], cost)

    async def run(self, book: Book, judged: Judged, progress: Progress | None, clock: Clock | None) -> None:
        """Ask all questions, round by round, and determine the status of the judge."""
        self._book = book
        limits = self.judgement.limits
        judge = VotingJudge(self.judge, self.voting)
        runner = JudgingRunner(judge, book, self.voting.needs_more, limits, self.budget, clock, progress)
        judged.tally = runner.tally
        try:
            with interruptible(runner, self.stopping):
                await self._ask_controls(runner, book, judged)
                await self._ask_questions(runner, judged)
                await self._ask_second_judge(book, judged, clock)
            reasons = [self._missing_verdict_reason(request) for request in self._asked.values()]
            judged.unscored = Counter(reason for reason in reasons if reason)
        finally:
            await self.judge.aclose()
            if self.second is not None:
                await self.second.judge.aclose()
            judged.double_bills = book.double_bills
        judged.done = True

    async def _ask_controls(self, runner: JudgingRunner, book: Book, judged: Judged) -> None:
        """Ask the control questions first, so that a judge that fails them is not paid for the other questions."""
        control_questions = self.voting.known
        recorded = self.verdicts | passing_over(self.voting.anchors, self.verdicts)
        samples = await runner.run(control_questions.requests(), recorded)
        before = self._standing
        if not samples:
            judged.standing = before
        if runner.tally.halted or not samples:
            return
        at = before.at if before is not None and before.rounds == self._round else self.judgement.at
        standing = standing_of(self.digest, control_questions, samples, self.chosen.rubrics, at)
        judged.standing = book.mark(structs.replace(standing, rounds=self._round))

    async def _ask_questions(self, runner: JudgingRunner, judged: Judged) -> None:
        """Ask the questions that follow from the verdicts so far, until there are no new ones."""
        requests = new_requests = self.questions.asked(self.verdicts)
        while new_requests and not runner.tally.halted:
            self.verdicts |= await runner.run(new_requests.values(), self.verdicts)
            earlier_requests, requests = requests, self.questions.asked(self.verdicts)
            new_requests = {name: request for name, request in requests.items() if name not in earlier_requests}
        judged.requests, self._asked = len(requests), requests

    async def _ask_second_judge(self, book: Book, judged: Judged, clock: Clock | None) -> None:
        """Ask the second judge, if there is one, about the requests that the first left in doubt."""
        if self.second is None or judged.standing is None or judged.tally.halted:
            return
        digest = self.second.judge.identity.digest
        judged.standing = book.mark(structs.replace(judged.standing, second=digest))
        doubts = flagged(self.questions, self._asked, self.verdicts)
        runner = self.second.runner(book, self.judgement.limits, self.budget, clock, judged.tally)
        with interruptible(runner, self.stopping):
            await self.second.ask(runner, doubts.values())
        judged.in_doubt = len(doubts)

    def _missing_verdict_reason(self, request: JudgeRequest) -> str:
        """Return why all votes on a request, earlier ones included, give no verdict; "" if they give one."""
        recorded = (*self._recorded.get(request.digest, ()), *self.verdicts.get(request.digest, ()))
        votes = {sample.sample: sample for sample in recorded}
        if not votes:
            return NOT_ASKED
        rubric = self._rubrics[request.rubric_hash]
        ruling = fold_votes([votes[sample] for sample in sorted(votes)], rubric)
        second_samples = self.second.said.get(request.digest) if self.second is not None else None
        if second_samples:
            ruling = settled(ruling, fold_votes(second_samples, rubric))
        return ruling.unscored or next((item.unscored for item in ruling.items if item.unscored), "")

    def _missing_votes(self, request: JudgeRequest) -> tuple[int, int]:
        return self.voting.lacking(request, self.verdicts.get(request.digest, ()))

    def _store_bytes(self, name: str, body: bytes) -> None:
        assert self._book is not None
        self._book.keep(name, body)


def _add_usage(
    total: Counter[str], request: JudgeRequest, calls: int, estimate: Callable[[JudgeRequest], tuple[int, int]]
) -> None:
    """Add to a total the calls for a request and their estimated prompt and completion tokens."""
    if calls:  # an estimate renders the prompt, which takes time
        prompt, completion = estimate(request)
        total.update(calls=calls, prompt=calls * prompt, completion=calls * completion)


def _read_store(path: Path) -> Contents:
    return read_contents(path) if path.exists() else Contents()


def _write_judge_to_manifest(run: Path, judge: JudgeIdentity, book: str, rubrics: Sequence[str]) -> None:
    """Record in the manifest of a run its judge and verdict store, and copy the rubrics that are not built in."""
    judge_entry = {"digest": judge.digest, "model": judge.model, "endpoint": judge.endpoint, "book": book}
    with RunFolder(run) as folder:
        copies = folder.copy_rubrics(rubrics)
        folder.write_manifest({**folder.manifest, "judge": judge_entry | {"rubrics": copies}})
