"""Observing a target from Python, in memory: the same calls, retries and limits as a run, without a run folder."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from assay.calls.interfaces import CallError, Target
from assay.formats.problems import make_value_error
from assay.formats.settings_file import find_secrets
from assay.records.counts import format_count
from assay.records.errors import IncompleteError
from assay.records.golden_set import GoldenSet
from assay.records.observations import CONTEXT_STAGE, Observation
from assay.runs.observation_runner import ObservationLimits, ObservationRunner, ObservationTask, ReportProgress
from assay.runs.observe_run import describe_halt, prepare_observation
from assay.text.escaping import Redactor
from assay.text.near_names import find_near_word

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ObservedValues:
    """What a target did with each case, in golden order, and what was noticed on the way."""

    observations: tuple[Observation, ...]
    notices: tuple[str, ...]


async def observe_target(
    target: Target,
    golden: GoldenSet,
    limits: ObservationLimits,
    repeat: int = 1,
    progress: ReportProgress | None = None,
) -> ObservedValues:
    """Ask the target every case. A failed case is an observation with an error. `progress` is told each second, and
    after each case, how many of how many are done.

    Raises IncompleteError if the target is not ready or nothing was observed.
    """
    redactor = Redactor(find_secrets())
    observed: list[Observation] = []

    def keep(observation: Observation) -> Observation:
        stored, _ = prepare_observation(observation, redactor)
        observed.append(stored)
        _refuse_misspelt_context(limits.context, stored)
        return stored

    runner = ObservationRunner(target, limits, keep, progress=progress)
    tasks = [ObservationTask(case, number) for number in range(repeat) for case in golden.cases]
    try:
        try:
            async with asyncio.timeout(limits.deadline):
                await target.identity()
        except TimeoutError:
            raise IncompleteError(f"target {target.name}: not ready after {limits.deadline} s") from None
        except CallError as error:
            raise IncompleteError(redactor.redact_message(f"target {target.name}: {error}")) from None
        with keep_answers(observed):
            async with _tell_time(runner, len(tasks), progress):
                await runner.run(tasks)
            _refuse_unreported_context(limits.context, observed)
    finally:
        await target.aclose()
    notices = [f"target {target.name}: {notice}" for notice in runner.notices]
    if runner.tally.halted:
        notices.append(describe_halt(target.name, runner.tally))
    if not observed:
        raise IncompleteError("; ".join(notices) or f"target {target.name}: nothing was observed")
    position = {case.id: number for number, case in enumerate(golden.cases)}
    observed.sort(key=lambda observation: (observation.repeat, position[observation.case_id]))
    return ObservedValues(tuple(observed), tuple(notices))


_TELL_SECONDS = 1.0


@asynccontextmanager
async def _tell_time(runner: ObservationRunner, total: int, progress: ReportProgress | None) -> AsyncIterator[None]:
    """Tell the progress each second: a slow target is otherwise silent until its first reply."""
    if progress is None:
        yield
        return

    async def tell() -> None:
        while True:
            await asyncio.sleep(_TELL_SECONDS)  # between two looks at the progress; nothing waits for it
            progress(runner.tally.done, total)

    teller = asyncio.create_task(tell())
    try:
        yield
    finally:
        teller.cancel()


@contextmanager
def keep_answers(observations: Sequence[Observation]) -> Iterator[None]:
    """Attach what was observed to what is raised within the block, as `error.observations`: asking again costs."""
    try:
        yield
    except BaseException as error:
        if observations and not getattr(error, ANSWERS, ()):
            setattr(error, ANSWERS, tuple(observations))
            counted = format_count(len(observations), "answer is", "answers are")
            error.add_note(f"{counted} kept in the member {ANSWERS} of this error, which assay.score takes")
        raise


ANSWERS = "observations"


def _refuse_misspelt_context(context: str | None, observation: Observation) -> None:
    """Raise InputError at the first answer whose stages have one that is nearly called like the context."""
    names = [stage.name for stage in observation.stages or ()]
    if context is None or not names or context in names or CONTEXT_STAGE in names:
        return
    meant = find_near_word(context, names)
    if meant:
        raise make_value_error("context", f"the target reports no such stage (got {context!r}; expected {meant!r}?)")


def _refuse_unreported_context(context: str | None, observations: Sequence[Observation]) -> None:
    """Raise InputError if answers were given and none has the stage that is to be the context."""
    answered = [observation for observation in observations if observation.error is None]
    names = {stage.name: None for observation in answered for stage in observation.stages or ()}
    if context is None or not answered or context in names or CONTEXT_STAGE in names:
        return
    expected = f"one of {', '.join(names)}" if names else "none, because the target reports no stage"
    raise make_value_error("context", f"no answer reports this stage (got {context!r}; expected {expected})")


def _is_loop_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def run_blocking(work: Coroutine[Any, Any, T]) -> T:
    """Return the result of a coroutine; where an event loop runs already, as in a notebook, in a thread of its own."""
    if not _is_loop_running():  # outside of an except block: an error of the work is not one about the loop
        try:
            return asyncio.run(work)
        except KeyboardInterrupt as interrupt:
            with keep_answers(getattr(interrupt.__context__, ANSWERS, ())):
                raise
    results: list[T] = []
    errors: list[BaseException] = []

    def run_in_thread() -> None:
        try:
            results.append(asyncio.run(work))
        except BaseException as error:  # noqa: BLE001  # raised again by the caller's thread
            errors.append(error)

    context = contextvars.copy_context()  # a notebook knows by it below which cell to write
    thread = threading.Thread(target=context.run, args=(run_in_thread,), name="assay-run")
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]
