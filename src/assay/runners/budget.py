"""Hard caps on calls, tokens and money: what a call may cost is set aside before it is made, retries included."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TypeVar

from assay.ports import CallError
from assay.verdict import JudgeUsage

Q = TypeVar("Q")
R = TypeVar("R")

BILLED_ANYWAY = frozenset({"timeout", "connection", "too_large", "protocol", "schema"})
"""Failures after which the endpoint may have done, and billed, the work; refusals are not billed."""


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars for a thousand tokens of each kind."""

    prompt_per_1k: float
    completion_per_1k: float

    def of(self, prompt: int, completion: int) -> float:
        """Return the dollars for so many tokens.

        >>> Price(0.001, 0.004).of(2000, 500)
        0.004
        """
        return (prompt * self.prompt_per_1k + completion * self.completion_per_1k) / 1000


@dataclass(frozen=True, slots=True)
class Caps:
    """The most that may be spent; None for no cap. Money needs a `price`."""

    calls: int | None = None
    tokens: int | None = None
    cost: float | None = None
    price: Price | None = None


@dataclass(slots=True)
class Reserved:
    """What is set aside for one question: the estimate of one call, how many are set aside, and how many were sent."""

    prompt: int
    completion: int
    calls: int = 0
    sent: int = 0


@dataclass(slots=True)
class Budget:
    """What was spent, what is set aside for calls under way, and which cap was `reached`."""

    caps: Caps = field(default_factory=Caps)
    calls: int = 0
    tokens: int = 0
    cost: float = 0.0
    cost_known: bool = True
    reached: str = ""
    _tokens_aside: int = 0
    _cost_aside: float = 0.0

    def reserve(self, prompt: int, completion: int) -> Reserved | None:
        """Set aside what one call may take, and count it; None where that would break a cap."""
        reserved = Reserved(prompt, completion)
        return reserved if self.again(reserved) else None

    def again(self, reserved: Reserved) -> bool:
        """Set aside one more call for the same question; False where that would break a cap."""
        tokens, cost = reserved.prompt + reserved.completion, self._price(reserved)
        caps = self.caps
        if caps.calls is not None and self.calls + 1 > caps.calls:
            self.reached = "max_calls"
        elif caps.tokens is not None and self.tokens + self._tokens_aside + tokens > caps.tokens:
            self.reached = "max_tokens"
        elif caps.cost is not None and self.cost + self._cost_aside + cost > caps.cost:
            self.reached = "max_cost"
        if self.reached:
            return False
        self.calls += 1
        reserved.calls += 1
        self._tokens_aside += tokens
        self._cost_aside += cost
        return True

    def settle(self, reserved: Reserved, usage: JudgeUsage) -> None:
        """Book what a question took; the estimate counts where the endpoint does not say."""
        prompt, completion = usage.prompt_tokens, usage.completion_tokens
        if not prompt and not completion:
            prompt, completion = reserved.prompt * reserved.calls, reserved.completion * reserved.calls
        self._free(reserved)
        self.tokens += prompt + completion
        price = self.caps.price
        cost = usage.cost_usd if usage.cost_usd is not None else price and price.of(prompt, completion)
        self.cost_known = self.cost_known and cost is not None
        self.cost += cost or 0.0

    def fail(self, reserved: Reserved, code: str) -> None:
        """Book a question that failed: the estimate counts where the endpoint may have done the work."""
        if code in BILLED_ANYWAY:
            self.settle(reserved, JudgeUsage())
        else:
            self._free(reserved)

    def metered(self, send: Callable[[Q], Awaitable[R]]) -> Callable[[Q], Awaitable[R]]:
        """Return `send` with every call counted: a question asked again inside a judge is one call more.

        Raises CallError, code budget, where the next call would break a cap.
        """

        async def counted(request: Q) -> R:
            reserved = CURRENT.get()
            if reserved is not None:
                if reserved.sent == reserved.calls and not self.again(reserved):
                    raise CallError("budget", f"{self.reached} is reached")
                reserved.sent += 1
            return await send(request)

        return counted

    def _price(self, reserved: Reserved) -> float:
        return self.caps.price.of(reserved.prompt, reserved.completion) if self.caps.price is not None else 0.0

    def _free(self, reserved: Reserved) -> None:
        self._tokens_aside -= reserved.calls * (reserved.prompt + reserved.completion)
        self._cost_aside -= reserved.calls * self._price(reserved)


CURRENT: ContextVar[Reserved | None] = ContextVar("reserved", default=None)
"""The question that the running task asks."""
