"""The sentences that say what a judging asked, what it had already, and how its calls add up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.records.counts import format_count

if TYPE_CHECKING:
    from assay.judging.budget import Budget
    from assay.judging.call_scheduler import JudgingTally


def describe_samples(tally: JudgingTally, earlier_controls: int = 0) -> list[str]:
    """Return how many samples were asked for, how many of them have labels, and how many were stored before.

    The parts of each sentence add up to its total. `earlier_controls` of earlier runs count and are not read again.
    """
    lines = [f"asked: {format_count(tally.asked, 'sample')}{_describe_parts(tally.asked, tally.asked_controls)}"]
    failed = tally.unscored.total()
    if tally.asked:
        lines[0] += f": {tally.asked - failed} with labels, {failed} without"
    if tally.uncalled:
        lines[0] += f" ({tally.uncalled} of them not called for in time)"
    stored = f"taken from the store: {format_count(tally.reused, 'sample')}"
    stored += _describe_parts(tally.reused, tally.reused_controls)
    if earlier_controls:
        stored += f"; {format_count(earlier_controls, 'control')} of earlier runs count too"
    if tally.reused or earlier_controls:
        lines.append(stored)
    return lines


def _describe_parts(total: int, controls: int) -> str:
    return f" ({total - controls} about answers, {controls} to check the judge)" if controls else ""


def describe_calls(tally: JudgingTally, budget: Budget) -> str:
    """Return the calls, as the sum of what they were made for, with the tokens and cost that the endpoint reported.

    What calls without a reported usage may have been billed for is said apart, as the most that it can be.
    """
    parts = [format_count(tally.first_calls, "first call")]
    parts += [f"{format_count(tally.retries, 'retry', 'retries')} after errors"] if tally.retries else []
    parts += [f"{format_count(budget.repeats, 'repeat')} for a reply of the right form"] if budget.repeats else []
    given_up = ""
    if tally.given_up:
        were = "was" if tally.given_up == 1 else "were"
        given_up = f"; {format_count(tally.given_up, 'sample')} {were} given up when it stopped"
    made = f" ({' + '.join(parts)}{given_up})" if len(parts) > 1 or given_up else ""
    reported, unreported = budget.reported, budget.unreported
    cost = f"${reported.cost:.4f}" if reported.cost_known else "unknown"
    line = f"calls: {budget.calls}{made}; tokens: {reported.tokens}; cost: {cost}"
    if not unreported.calls:
        return line
    most = f"{unreported.tokens} tokens" + (f", ${unreported.cost:.4f}" if unreported.cost_known else ", price unknown")
    return f"{line}; besides at most {most}, for {format_count(unreported.calls, 'call')} without a reported usage"


STOP_REASONS = {
    "interrupted": "interrupted",
    "breaker": "stopped: too many samples in a row gave no verdict",
    "max_calls": "stopped at --max-calls",
    "max_tokens": "stopped at --max-tokens",
    "max_cost": "stopped at --max-cost",
}
_TOKEN_LIMITS = ("max_tokens", "max_cost")
_LIMIT_TOO_LOW = "a single call may exceed the limit (expected a higher limit, or fewer max_tokens for the judge)"
_REFUSED_KEY = "the endpoint refuses the key: check the variable that api_key_env names"
_NO_QUOTA = "the account has nothing left: raise its quota, or name another judge"
_REMEDIES_OF_STOPS = {
    "http_401": _REFUSED_KEY,
    "http_403": _REFUSED_KEY,
    "http_402": _NO_QUOTA,
    "quota": _NO_QUOTA,
    "http_404": "the endpoint knows no such model or address: check model and the variable that base_url_env names",
}
_REMEDIES_OF_FAILURES = {
    "judge_parse": "the model does not keep to the form of the reply: name another one",
    "off_menu": "the model invents labels: name another one",
    "quote": "the model quotes what is not in the source: name another one",
    "canary": "the model follows instructions in its data: name another one",
    "refused": "the model refuses to judge these texts: name another one",
    "truncated": "its replies are cut off: raise max_tokens of the judge",
    "deadline": "it answers too slowly: raise --deadline or lower --concurrency",
    "provider": "see above what the endpoint says, and check its address",
}
_AGAIN = "then run the same command again to continue"


def describe_stop(tally: JudgingTally) -> str:
    """Return why a judging ended early and what to do; "" if it did not.

    Nothing is repeated in vain: what made it stop is named with its remedy first.
    """
    if not tally.halted:
        return ""
    reason = STOP_REASONS.get(tally.halted, f"stopped: {tally.halted}")
    if tally.halted in _TOKEN_LIMITS and not tally.asked:
        return f"{reason}; {_LIMIT_TOO_LOW}"
    remedy = _REMEDIES_OF_STOPS.get(tally.halted, "")
    if tally.halted == "breaker" and tally.unscored:
        commonest = min(tally.unscored, key=lambda name: (-tally.unscored[name], name))
        remedy = _REMEDIES_OF_FAILURES.get(commonest, "")
    return f"{reason}; {remedy}, {_AGAIN}" if remedy else f"{reason}; run the same command again to continue"
