"""What asking a model costs, estimated or spent."""

from __future__ import annotations

from msgspec import Struct


class ModelEffort(Struct, frozen=True, omit_defaults=True):
    """What requests to a model cost or cost so far: calls, replies from the store, tokens, dollars (None: unknown).

    As an estimate, `calls`, `tokens` and `cost_usd` are likely and the `max_` ones certain; `example` is the body of
    the first request as it would be sent. What was spent is what the endpoint reported; where calls failed or told no
    usage, `max_tokens` and `max_cost_usd` are the most that may have been billed with them. `halted` says why asking
    ended early, "" if it did not.
    `later_requests` are at most as many requests that follow from the replies to these, and are not in the estimate.
    """

    model: str
    requests: int = 0
    reused: int = 0
    calls: int = 0
    tokens: int = 0
    cost_usd: float | None = None
    max_calls: int = 0
    max_tokens: int = 0
    max_cost_usd: float | None = None
    unscored: dict[str, int] = {}
    halted: str = ""
    later_requests: int = 0
    example: str = ""
