"""What the runners need of a target and of a judge, and how these say that they failed."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal, Protocol

from assay.model import Case, Observation
from assay.verdict import JudgeIdentity, JudgeRequest, Verdict

Operation = Literal["search", "ask"]

TRANSIENT = frozenset(
    {"connection", "crashed", "rate_limited", "timeout"}
    | {f"http_{status}" for status in (408, 425, 429, 500, 502, 503, 504, 529)}
)
"""Failures that may be gone at the next attempt; every other code is final."""

OVERLOADED = frozenset({"rate_limited", "http_429", "http_503", "http_529"})
"""Failures that ask for fewer calls at a time."""

MESSAGE_LIMIT = 500

SEARCHED = "search"
"""The stage that holds what the target's own search returned."""


@dataclass(frozen=True, slots=True)
class Call:
    """One thing to ask of a target: `seconds` is the time it may take, `k` how many chunks a search returns."""

    case: Case
    operation: Operation
    seconds: float
    k: int = 10


class CallError(Exception):
    """A target gave no observation: a stable code, a message for people and, where it said so, when to come back."""

    def __init__(self, code: str, message: str, retry_after: float | None = None) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message[:MESSAGE_LIMIT]
        self.retry_after = retry_after


class Target(Protocol):
    """A system under test in one configuration; `name` becomes the observations' config_id.

    Codes that adapters raise with `CallError`: timeout, connection, tls, crashed, http_<status>, rate_limited, quota,
    redirect, protocol (not the agreed form), schema (the agreed form, wrong content), too_large, id_mismatch,
    tool_error, schema_drift, target_error (the target says so itself), exception (a callable raised).
    """

    name: str
    operations: tuple[Operation, ...]

    async def identity(self) -> dict[str, Any]:
        """Return what goes into the manifest: everything that makes this another system, and no secret."""
        ...

    async def observe(self, call: Call) -> Observation:
        """Do one call. Raises CallError; the observation holds what this operation reported and nothing else."""
        ...

    async def aclose(self) -> None:
        """Give back processes and connections; never raises for a target that is already dead."""
        ...


class Judge(Protocol):
    """A judge behind one endpoint. It renders, sends, parses and guards; it never retries what is transient, waits for
    a turn, or counts money across calls: that is the runner's work.
    """

    identity: JudgeIdentity

    async def ask(self, request: JudgeRequest, sample: int) -> Verdict:
        """Return one sample, scored or unscored. Raises CallError, with the codes of targets, where the endpoint gave
        no reply that could be parsed at all (timeout, connection, rate_limited, quota, http_<status>)."""
        ...

    def estimate(self, request: JudgeRequest) -> tuple[int, int]:
        """Return the most prompt and completion tokens that a call can take, without making it."""
        ...

    async def aclose(self) -> None:
        """Give back connections."""
        ...


SampleKey = tuple[str, str, int]
"""Which verdict: request digest, judge digest, sample."""


class Turn(Enum):
    """Who asks for a verdict that is not recorded: the one who claimed it, or another who is at it already."""

    MINE = "mine"
    BUSY = "busy"


class VerdictStore(Protocol):
    """Where verdicts are kept; only scored ones are final. Raises IncompleteError where nothing can be kept."""

    def together(self) -> AbstractContextManager[None]:
        """Make what is changed inside one change: all of it is kept for good when the block ends, or nothing."""
        ...

    def claim(self, keys: Sequence[SampleKey], seconds: float) -> list[Verdict | Turn]:
        """Return, for each key, the scored verdict that is kept; else MINE, with an intent recorded that others honour
        for so many seconds or until this process has died; else BUSY."""
        ...

    def save(self, verdicts: Sequence[Verdict]) -> None:
        """Keep verdicts for good and give their claims back. A scored one is never replaced."""
        ...

    def release(self, keys: Sequence[SampleKey]) -> None:
        """Give back claims for which nothing was asked."""
        ...
