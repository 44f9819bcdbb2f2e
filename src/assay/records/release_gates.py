"""Release gates: rules and waivers as people write them, and the results and the decision that follow.

`None` means "not stated"; it never stands for zero or an empty list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from msgspec import Meta, Struct

Outcome = Literal["PASS", "PASS_WITH_RISK", "FAIL", "INCOMPLETE", "NOT_GATED", "PARTIAL"]
"""NOT_GATED: there was no gate, so nothing was decided. PARTIAL: only a part of the golden set was scored."""
RuleState = Literal["pass", "fail", "inconclusive", "unmeasured", "uncalibrated", "no_data", "incomplete"]
Severity = Literal["block", "warn"]


class Rule(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One condition of a release gate.

    `if_unknown` says what follows where nobody can say who may see a shown chunk, and where answers that the rules
    cannot tell decide whether the rule holds (ADR 0053). `if_no_data` says what follows where the metric applies to no
    case; a rule on leaks is ignored only if nothing states who may see what.

    Exactly one of `at_least`, `at_most` and `max_regression` (compared with a baseline) must be set. `uncalibrated`
    says what a violated bound means while the scorer of the metric is not calibrated: by a judge it fails by default;
    by rules it must be stated. `basis` is `point` for thresholds and `bound` for regressions and for what was
    measured on a random sample, unless it is stated.
    """

    metric: str
    at_least: float | None = None
    at_most: float | None = None
    max_regression: float | None = None
    slice: str | None = None
    severity: Severity = "block"
    min_coverage: Annotated[float, Meta(ge=0, le=1)] = 1.0
    basis: Literal["point", "bound"] | None = None
    if_unmeasured: Literal["fail", "risk", "ignore"] = "fail"
    if_no_data: Literal["fail", "ignore"] = "fail"
    if_inconclusive: Literal["fail", "risk"] | None = None
    if_unknown: Literal["risk", "fail", "incomplete"] = "risk"
    uncalibrated: Literal["fail", "risk"] | None = None
    zero_event: bool | None = None
    reason: str = ""


VARIANT_EVENT = "no gate accepts it, of a variant either"
"""The reason of the rule that every gate has on the leaks and followed injections of variants."""
ADDED_RULE_REASONS: Mapping[str, str] = {
    "zero tolerance": "zero tolerance: zero_tolerance_tags changes the tags, [] takes the rule on behaviour away",
    "no gate accepts it": "no gate accepts it",
    VARIANT_EVENT: VARIANT_EVENT,
}
"""The reasons of the rules that every gate has beside those of its file, with what to say of each."""


class Waiver(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A named owner's acceptance that one rule may stay unmet until the end of a day (`expires`, YYYY-MM-DD)."""

    metric: str
    owner: str
    expires: str
    reason: str
    slice: str | None = None


class Gate(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The rules that decide a release.

    Any failed check on a case with one of the `blocking_tags` blocks the release. `correctness` is the least share of
    right answers, measured by what the golden set and the calibration allow (ADR 0042); `exempt_from_correctness` is
    the reason why a gate has no rule on it. `approver` is who reviews the decision. `waivers` turn failures of
    named rules into risks; an observed event cannot be waived. `usual_tags` (never in files) may be absent from the
    golden set, because a shipped profile names them and not its user.
    """

    rules: tuple[Rule, ...] = ()
    name: str = ""
    description: str = ""
    zero_tolerance_tags: tuple[str, ...] = ("acl", "tenant", "permission_denied", "prompt-injection")
    blocking_tags: tuple[str, ...] = ()
    correctness: Annotated[float, Meta(gt=0, le=1)] | None = None
    exempt_from_correctness: str = ""
    configs: tuple[str, ...] = ()
    waivers: tuple[Waiver, ...] = ()
    approver: str = ""
    usual_tags: tuple[str, ...] = ("acl", "tenant", "permission_denied", "prompt-injection")


class RuleResult(Struct, frozen=True):
    """The result of one rule: its state, the number that decided and a sentence that explains it.

    `detectable` is the smallest difference that these cases can show with a power of 80%; `waived` says who accepted an
    unmet rule. `unchanged` says of an open regression rule that no case differs from the baseline.
    """

    rule: Rule
    state: RuleState
    value: float | None
    scored: int
    message: str
    upper_bound: float | None = None
    cases: tuple[str, ...] = ()
    detectable: float | None = None
    waived: str = ""
    unchanged: bool = False


MAX_LINES_PRINTED, MAX_CHARS_PRINTED = 5, 160


def list_first_lines(texts: Sequence[str], name: str) -> list[str]:
    """Return the first texts as lines of a list, each one printable line; `name` is where the others are.

    >>> list_first_lines(["recall fell\\n"], "reasons")
    [' - recall fell\\\\n']
    """
    lines = []
    for text in texts[:MAX_LINES_PRINTED]:
        shown = text if len(text) <= MAX_CHARS_PRINTED else text[: MAX_CHARS_PRINTED - 1] + "…"
        lines.append(" - " + "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in shown))
    if len(texts) > MAX_LINES_PRINTED:
        lines.append(f" - and {len(texts) - MAX_LINES_PRINTED} more in .{name}")
    return lines


class Decision(Struct, frozen=True):
    """The release decision: the outcome, its reasons (the weightiest first) and the result of every rule.

    `events` are those of the reasons that name an observed leak or a followed injection, whatever the outcome is;
    `risks` are those that alone would leave a pass with risk, and `limits` those that only say how little a rule that
    passed can exclude.
    `incomplete` says of an outcome without a decision (NOT_GATED, PARTIAL) that a case is missing or in error, or that
    a gate could not be applied. `unanswered` says that the target answered no case at all; then that is the first
    reason.
    """

    outcome: Outcome
    reasons: tuple[str, ...]
    results: tuple[RuleResult, ...] = ()
    events: tuple[str, ...] = ()
    incomplete: bool = False
    risks: tuple[str, ...] = ()
    unanswered: bool = False
    limits: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Return the outcome with its first reasons, a line each."""
        return "\n".join([self.outcome, *list_first_lines(self.reasons, "reasons")])
