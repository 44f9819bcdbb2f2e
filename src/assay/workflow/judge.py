"""The use case of judging: what recorded outputs ask of a judge, asked once, and kept in the verdict book."""

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
    """What judging will take: requests and those that are answered already, the controls and anchors beside them, calls
    at least and at most, and what they are likely to take and take at most (dollars are None where nobody says what the
    judge costs). The most counts votes that differ and replies asked for again, not calls that fail.
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
    """What a judging left: where the verdicts are, what was spent, and what people should know.

    `unscored` counts the requests whose votes come to no verdict, by reason; `in_doubt` is how many a second judge was
    asked about, None without one.
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
        """The exit code: 0 where every request has a verdict, 1 where the judge is not to be trusted."""
        if self.tally.halted == "interrupted":
            return 130
        if self.done and (self.unscored or self.tally.halted):
            return 3
        return 0 if self.standing is None or self.standing.may_gate else 1


Tell = Callable[[Preflight, Sequence[str]], bool]
"""Is told what judging will take, and says whether to go on."""


def judge(
    judgement: Judgement,
    tell: Tell = lambda *_: True,
    progress: Progress | None = None,
    stopping: Callable[[], None] = lambda: None,
    clock: Clock | None = None,
) -> Judged:
    """Judge what is not judged yet. `stopping` is called at the first Ctrl-C.

    Raises InputError where that cannot be, IncompleteError where a verdict cannot be kept, and KeyboardInterrupt at the
    second Ctrl-C, with everything kept that was acknowledged.
    """
    usual = rubrics_of_run(Path(judgement.run)) if judgement.run is not None else ()
    chosen = choose_judge(judgement.config, judgement.judge, judgement.flags, judgement.rubrics, usual)
    second = second_of(judgement, chosen)
    caps = caps_of(chosen, judgement.max_calls, judgement.max_tokens, judgement.max_cost)
    budget = Budget(caps if second is None else shared_caps(caps, second))
    gate = gate_of(judgement)
    questions, notices = questions_of(judgement, chosen)
    notices += [said for each in (chosen, second) if each is not None for said in guarded(judgement, each, questions)]
    questions, said = narrowed(questions, judgement.only, gate)
    session = _Session(judgement, chosen, second, questions, budget, gate or Gate(), stopping)
    contents = _read_store(judgement.book_path)
    preflight = session.preflight(contents)
    judged = Judged(preflight, judgement.book_path, [*notices, *said, *contents.warnings], budget=budget)
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
    """One call of `judge`, from the first questions to how the judge stands."""

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
        """Return what is to be asked, and what it will take."""
        self._recorded = contents.verdicts.get(self.digest, {})
        self._standing = contents.standings.get(self.digest)
        self.verdicts = {name: list(samples) for name, samples in self._recorded.items()}
        if self.second is not None:
            self.second.recall(contents)
        asked = self.questions.asked(self.verdicts)
        if asked:
            self.voting.known = known_questions(asked, self.questions.clusters_of, self.chosen.rubrics)
            anew = any(self._missing_votes(request)[0] for request in asked.values())
            self._begin_round(anew=anew)
        beside = self.voting.known.requests()
        least, most = Counter[str](), Counter[str]()
        for request in [*asked.values(), *beside]:
            count, top = self._missing_votes(request)
            for total, calls, each in (
                (least, count, self.judge.likely),
                (most, top * CALLS_OF_VOTE, self.judge.estimate),
            ):
                tokens = each(request) if calls else (0, 0)
                total.update(calls=calls, prompt=calls * tokens[0], completion=calls * tokens[1], known=not calls)
        calls, took = self.second.most(asked.values()) if self.second is not None else (0, Took(0, 0, 0.0))
        return Preflight(
            f"{self.judge.identity.model} ({self.chosen.name}, {self.digest})",
            len(self.questions.observations),
            len(asked),
            least["known"],
            len(beside),
            least["calls"],
            most["calls"] + calls,
            self._estimate_cost(least),
            self._estimate_cost(most).and_also(took),
            str(self.voting.fixed)
            if self.voting.fixed
            else f"1, and up to {MOST} where they differ or one case decides",
            self.second.name if self.second is not None else "",
        )

    def _begin_round(self, *, anew: bool) -> None:
        """Decide whether the anchors are asked again: on a later day on which something else is asked `anew`."""
        before = self._standing
        self._round = rounds_of(before, self.judgement.at, anew=anew)
        again = before is not None and self._round > before.rounds
        self.voting.anchors = votes_of_anchors(self.voting.known, self._recorded, self._round, anew=again)

    def _estimate_cost(self, total: Counter[str]) -> Took:
        price = self.chosen.price
        cost = price.of(total["prompt"], total["completion"]) if price is not None else None
        return Took(total["prompt"], total["completion"], cost)

    async def run(self, book: Book, judged: Judged, progress: Progress | None, clock: Clock | None) -> None:
        """Ask everything, round by round, and see how the judge stands."""
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
            judged.unscored = Counter(
                why for each in self._asked.values() if (why := self._missing_verdict_reason(each))
            )
        finally:
            await self.judge.aclose()
            if self.second is not None:
                await self.second.judge.aclose()
            judged.double_bills = book.double_bills
        judged.done = True

    async def _ask_controls(self, runner: JudgingRunner, book: Book, judged: Judged) -> None:
        """Ask the questions whose answer is known first: who fails them need not be paid for the others."""
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
        """Ask what the verdicts so far give rise to, until that is nothing new."""
        requests = new_requests = self.questions.asked(self.verdicts)
        while new_requests and not runner.tally.halted:
            self.verdicts |= await runner.run(new_requests.values(), self.verdicts)
            earlier_requests, requests = requests, self.questions.asked(self.verdicts)
            new_requests = {name: request for name, request in requests.items() if name not in earlier_requests}
        judged.requests, self._asked = len(requests), requests

    async def _ask_second_judge(self, book: Book, judged: Judged, clock: Clock | None) -> None:
        """Ask the second judge, where there is one, about what the first left in doubt."""
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
        """Return why the votes on a request come to no verdict, those of before included; "" where they do."""
        recorded = (*self._recorded.get(request.digest, ()), *self.verdicts.get(request.digest, ()))
        votes = {sample.sample: sample for sample in recorded}
        if not votes:
            return NOT_ASKED
        rubric = self._rubrics[request.rubric_hash]
        ruling = fold_votes([votes[sample] for sample in sorted(votes)], rubric)
        if self.second is not None and (second_samples := self.second.said.get(request.digest)):
            ruling = settled(ruling, fold_votes(second_samples, rubric))
        return ruling.unscored or next((item.unscored for item in ruling.items if item.unscored), "")

    def _missing_votes(self, request: JudgeRequest) -> tuple[int, int]:
        return self.voting.lacking(request, self.verdicts.get(request.digest, ()))

    def _store_bytes(self, name: str, body: bytes) -> None:
        assert self._book is not None
        self._book.keep(name, body)


def _read_store(path: Path) -> Contents:
    return read_contents(path) if path.exists() else Contents()


def _write_judge_to_manifest(run: Path, judge: JudgeIdentity, book: str, rubrics: Sequence[str]) -> None:
    """Say in the manifest of a run who judges it, where the verdicts are and, with copies, by which other rubrics."""
    judge_entry = {"digest": judge.digest, "model": judge.model, "endpoint": judge.endpoint, "book": book}
    with RunFolder(run) as folder:
        copies = folder.copy_rubrics(rubrics)
        folder.write_manifest({**folder.manifest, "judge": judge_entry | {"rubrics": copies}})
