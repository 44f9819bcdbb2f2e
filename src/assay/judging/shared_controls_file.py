"""The verdict store that runs with stores of their own share for the controls and anchors of their judge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path

from msgspec import structs

from assay.judging.choose_judge import ChosenJudge
from assay.judging.collect_questions import JudgingRequest
from assay.judging.verdict_files import StoreContents, merge_status
from assay.judging.verdict_store import SqliteVerdictStore, read_store
from assay.records.verdicts import JudgeIdentity, JudgeStatus, Verdict


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
