"""The protocols of targets, judges and verdict stores, and how a call reports that it failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal, Protocol, runtime_checkable

from assay.records.counts import format_count
from assay.records.golden_set import Case
from assay.records.observations import Observation
from assay.records.verdicts import JudgeIdentity, JudgeRequest, Verdict

TargetOperation = Literal["search", "ask"]

MAX_MESSAGE_CHARS = 500

SEARCH_STAGE = "search"
"""The name of the stage that holds what the target's own search returned."""


class ReplyNotices:
    """What was noticed while replies were read, each sentence once, with the number of times it applied.

    A path of the settings is looked up in every reply; it is worth a sentence where no reply had anything at it.
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.restarts: Counter[str] = Counter()
        self._missing_paths: dict[str, str] = {}
        self._present_paths: set[str] = set()

    def add(self, sentence: str) -> None:
        """Count one sentence about how a reply was understood, or what of it was not."""
        self.counts[sentence] += 1

    def add_path(self, setting: str, missing: str) -> None:
        """Note whether a reply had something at the path of a setting: `missing` says what was not there, "" if it was.

        An optional part may be absent from some replies, so that only a path that never led anywhere is named.
        """
        if missing:
            self._missing_paths.setdefault(setting, missing)
        else:
            self._present_paths.add(setting)

    def add_restart(self, action: str) -> None:
        """Count that the server of a target was lost and `started` again, or `connected to`."""
        self.restarts[action] += 1

    def list_missing_paths(self) -> list[str]:
        """Return a sentence for each path of the settings at which no reply had anything."""
        return [missing for setting, missing in self._missing_paths.items() if setting not in self._present_paths]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the sentences: lost servers, paths that led nowhere, then the others in their order."""
        for action, count in self.restarts.items():
            lost = "it had ended, closed its output or been silent for a whole call"
            yield f"its server was {action} again {format_count(count, 'time')} ({lost})"
        yield from self.list_missing_paths()
        yield from self.counts


@dataclass(frozen=True, slots=True)
class TargetCall:
    """One call of a target: `seconds` is its time limit, `k` the number of chunks that a search returns.

    `notices` takes how the reply was understood; the calls of a run share one.
    """

    case: Case
    operation: TargetOperation
    seconds: float
    k: int = 10
    notices: ReplyNotices = field(default_factory=ReplyNotices, compare=False)


class CallError(Exception):
    """Raised when a target returns no observation.

    `code` is a stable error code, `message` is for people, `retry_after` the seconds to wait if the target stated them.
    """

    def __init__(self, code: str, message: str, retry_after: float | None = None) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message[:MAX_MESSAGE_CHARS]
        self.retry_after = retry_after


@runtime_checkable
class Target(Protocol):
    """A system under test in one configuration; `name` becomes the observations' config_id.

    Codes that adapters raise with `CallError`: timeout, connection, tls, crashed, http_<status>, rate_limited, quota,
    redirect, protocol (not the agreed form), schema (the agreed form, wrong content), too_large, id_mismatch,
    tool_error, schema_drift, target_error (the target reports an error), exception (a callable raised).
    """

    name: str
    operations: tuple[TargetOperation, ...]

    async def identity(self) -> dict[str, Any]:
        """Return everything that identifies this system for the manifest, without secrets."""
        ...

    async def observe(self, call: TargetCall) -> Observation:
        """Make one call and return what this operation reported. Raises CallError."""
        ...

    async def aclose(self) -> None:
        """Close processes and connections; never raises for a target that is already dead."""
        ...


class Judge(Protocol):
    """A judge behind one endpoint: renders prompts, sends them, and parses and checks replies.

    Retries, rate limits and the budget across calls are the job of the runner.
    """

    identity: JudgeIdentity

    async def ask(self, request: JudgeRequest, sample: int) -> Verdict:
        """Return one sample, scored or unscored.

        Raises CallError, with the codes of targets, if the endpoint gave no reply that could be parsed at all (timeout,
        connection, rate_limited, quota, http_<status>).
        """
        ...

    def estimate(self, request: JudgeRequest) -> tuple[int, int]:
        """Return upper bounds for the prompt and completion tokens of a call, without making it."""
        ...

    async def aclose(self) -> None:
        """Close connections."""
        ...


SampleKey = tuple[str, str, int]
"""The key of a recorded verdict: request digest, judge digest, sample number."""


class ClaimState(Enum):
    """Who asks for a verdict that is not recorded yet: this process (MINE), or another one (BUSY)."""

    CLAIMED = "mine"
    BUSY = "busy"


class VerdictStore(Protocol):
    """Stores verdicts; a scored one is never replaced. Methods raise IncompleteError if nothing can be stored."""

    def transaction(self) -> AbstractContextManager[None]:
        """Run the block as one transaction: all of its changes are stored when it ends, or none."""
        ...

    def claim(self, keys: Sequence[SampleKey], seconds: float) -> list[Verdict | ClaimState]:
        """Return, for each key, the stored verdict that is not to be asked for again, MINE or BUSY.

        MINE means that the caller should ask: other processes respect this claim for `seconds`, or until this process
        dies. BUSY means that another process holds the claim.
        """
        ...

    def save(self, verdicts: Sequence[Verdict]) -> None:
        """Store verdicts and release their claims. A scored verdict is never replaced."""
        ...

    def release(self, keys: Sequence[SampleKey]) -> None:
        """Release claims for which no request was sent."""
        ...
