"""Hard caps on calls, tokens and money: the maximum of a call is reserved before it is made, retries included.

A call that does not fit while others are in progress waits for them: most take far less than was reserved.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from assay.calls.interfaces import CallError
from assay.judging.billing import BILLED_FAILURES
from assay.records.verdicts import JudgeUsage

Q = TypeVar("Q")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class TokenPrice:
    """Dollars for a thousand prompt and completion tokens."""

    prompt_per_1k: float
    completion_per_1k: float

    def compute_cost(self, prompt: float, completion: float) -> float:
        """Return the price of these tokens in dollars.

        >>> TokenPrice(0.001, 0.004).compute_cost(2000, 500)
        0.004
        """
        return (prompt * self.prompt_per_1k + completion * self.completion_per_1k) / 1000


@dataclass(frozen=True, slots=True)
class BudgetCaps:
    """The most that may be spent; None for no cap. Money needs a `price`."""

    calls: int | None = None
    tokens: int | None = None
    cost: float | None = None
    price: TokenPrice | None = None


@dataclass(slots=True)
class Spending:
    """What calls took: tokens, and dollars where their price is known."""

    calls: int = 0
    tokens: int = 0
    cost: float = 0.0
    cost_known: bool = True

    def add(self, calls: int, tokens: int, cost: float | None) -> None:
        """Add calls with their tokens and dollars; None for an unknown price."""
        self.calls += calls
        self.tokens += tokens
        self.cost += cost or 0.0
        self.cost_known = self.cost_known and cost is not None


class Reservation:
    """The reservation for one request: how many calls, how many of them were sent, and what each may take."""

    def __init__(self, estimate: Callable[[], tuple[int, int]]) -> None:
        self._estimate = estimate
        self.reserved_calls = self.sent_calls = 0
        self.reserved_tokens, self.reserved_cost = 0, 0.0

    @cached_property
    def max_tokens_per_call(self) -> tuple[int, int]:
        """The most prompt and completion tokens of one call; computed on first use, because it takes time."""
        return self._estimate()


@dataclass(slots=True)
class Budget:
    """What was spent, what is reserved for calls in progress, and which cap was `reached_cap` first.

    `repeats` of the `calls` repeat a request whose reply was of no use, or that the endpoint wants in another form.
    `reported` is what the endpoint said that calls took. `unreported` is the most that the others may have been billed
    for besides: those that failed after the work may have been done, and those whose reply does not say.
    """

    caps: BudgetCaps = field(default_factory=BudgetCaps)
    calls: int = 0
    repeats: int = 0
    reported: Spending = field(default_factory=Spending)
    unreported: Spending = field(default_factory=Spending)
    reached_cap: str = ""
    _tokens_aside: int = 0
    _cost_aside: float = 0.0
    _under_way: int = 0
    _waiting: list[asyncio.Future[None]] = field(default_factory=list)

    @property
    def tokens(self) -> int:
        """The most tokens that may have been billed: this is what a cap is compared with."""
        return self.reported.tokens + self.unreported.tokens

    @property
    def cost(self) -> float:
        """The most dollars that may have been billed, of what has a known price."""
        return self.reported.cost + self.unreported.cost

    @property
    def cost_known(self) -> bool:
        """Whether everything that may have been billed has a known price."""
        return self.reported.cost_known and self.unreported.cost_known

    async def wait_for_room(self, estimate: Callable[[], tuple[int, int]]) -> None:
        """Wait until one more call would fit, or until no call is in progress that could make room for it."""
        await self._fits(Reservation(estimate))

    async def reserve(self, estimate: Callable[[], tuple[int, int]]) -> Reservation | None:
        """Reserve the maximum of one call, and count it; None if that would exceed a cap."""
        reserved = Reservation(estimate)
        if not await self._taken(reserved):
            return None
        self._under_way += 1
        return reserved

    async def reserve_again(self, reserved: Reservation) -> bool:
        """Reserve one more call for the same request; False if that would exceed a cap."""
        self._under_way -= 1  # a waiting request makes no room for others
        try:
            is_taken = await self._taken(reserved)
            self.repeats += is_taken
            return is_taken
        finally:
            self._under_way += 1

    async def _taken(self, reserved: Reservation) -> bool:
        cap = await self._fits(reserved)
        self.reached_cap = self.reached_cap or cap
        if self.reached_cap:
            self._wake()
            return False
        self.calls += 1
        reserved.reserved_calls += 1
        self._set_aside(reserved, *self._most(reserved))
        return True

    async def _fits(self, reserved: Reservation) -> str:
        """Return which cap one more call would exceed once nothing can make room any more; "" if it fits."""
        while (cap := self._broken_by(reserved)) and cap != "max_calls" and self._under_way and not self.reached_cap:
            waiter = asyncio.get_running_loop().create_future()
            self._waiting.append(waiter)
            await waiter
        return cap

    def _broken_by(self, reserved: Reservation) -> str:
        caps = self.caps
        tokens, cost = self._most(reserved)
        if caps.calls is not None and self.calls + 1 > caps.calls:
            return "max_calls"
        if caps.tokens is not None and self.tokens + self._tokens_aside + tokens > caps.tokens:
            return "max_tokens"
        if caps.cost is not None and self.cost + self._cost_aside + cost > caps.cost:
            return "max_cost"
        return ""

    def _most(self, reserved: Reservation) -> tuple[int, float]:
        """Return the maximum tokens and dollars of one call, 0 for what has no cap."""
        tokens = sum(reserved.max_tokens_per_call) if self.caps.tokens is not None else 0
        return tokens, self._price(reserved.max_tokens_per_call) if self.caps.cost is not None else 0.0

    def settle_reservation(self, reserved: Reservation, usage: JudgeUsage) -> None:
        """Count what a request took; the maximum if the endpoint does not report its usage."""
        prompt, completion, cost = usage.prompt_tokens, usage.completion_tokens, usage.cost_usd
        spending = self.reported
        if not prompt and not completion:
            spending = self.unreported
            cost = cost or None  # no tokens cost nothing only if the endpoint says what they are
            prompt, completion = (reserved.reserved_calls * tokens for tokens in reserved.max_tokens_per_call)
        self._give_back(reserved)
        if cost is None and self.caps.price is not None:
            cost = self._price((prompt, completion))
        spending.add(reserved.reserved_calls, prompt + completion, cost)

    def settle_failure(self, reserved: Reservation, code: str) -> None:
        """Count a failed request: the maximum if the endpoint may have done the work, else nothing."""
        if code in BILLED_FAILURES:
            self.settle_reservation(reserved, JudgeUsage())
        else:
            self._give_back(reserved)

    def count_calls(self, send: Callable[[Q], Awaitable[R]]) -> Callable[[Q], Awaitable[R]]:
        """Return `send` with every call counted: a request that a judge repeats is one more call.

        The returned function raises CallError, code budget, if the next call would exceed a cap.
        """

        async def counted(request: Q) -> R:
            reserved = CURRENT_RESERVATION.get()
            if reserved is not None:
                if reserved.sent_calls == reserved.reserved_calls and not await self.reserve_again(reserved):
                    raise CallError("budget", f"{self.reached_cap} is reached")
                reserved.sent_calls += 1
            return await send(request)

        return counted

    def _price(self, tokens: tuple[int, int]) -> float:
        return self.caps.price.compute_cost(*tokens) if self.caps.price is not None else 0.0

    def _give_back(self, reserved: Reservation) -> None:
        """End a request: what was reserved for it becomes available to waiting requests."""
        self._set_aside(reserved, -reserved.reserved_tokens, -reserved.reserved_cost)
        self._under_way -= 1
        self._wake()

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for waiter in waiting:
            if not waiter.done():
                waiter.set_result(None)

    def _set_aside(self, reserved: Reservation, tokens: int, cost: float) -> None:
        reserved.reserved_tokens += tokens
        reserved.reserved_cost += cost
        self._tokens_aside += tokens
        self._cost_aside += cost


CURRENT_RESERVATION: ContextVar[Reservation | None] = ContextVar("reserved", default=None)
"""The reservation of the request that the current task makes."""
