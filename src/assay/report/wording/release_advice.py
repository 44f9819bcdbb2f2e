"""What to do with a release after each outcome of a gate, in words for whoever decides."""

from __future__ import annotations

from collections.abc import Mapping

from assay.records.release_gates import Outcome

RELEASE_ADVICE: Mapping[Outcome, str] = {
    "PASS": "Release: all rules of the gate are met.",
    "PASS_WITH_RISK": "Release only if the owner accepts the risks named below, and record who accepted them.",
    "FAIL": "Do not release. Fix the problems below and run again, or roll back to the last good release.",
    "INCOMPLETE": "No decision is possible yet: measure what is missing and run again.",
    "NOT_GATED": "No gate was given, so nothing was decided: this report does not say that it may be released.",
    "PARTIAL": "Only a part of the golden set was scored, so nothing was decided: run all of it with a gate.",
}

SHORT_ADVICE: Mapping[Outcome, str] = {"PASS_WITH_RISK": "release only if its owner accepts the risks"}
"""What is said next to the name of an outcome from whose name alone nobody could tell what follows."""


def name_outcome(outcome: Outcome) -> str:
    """Return an outcome with what follows from it, where its name does not tell.

    >>> name_outcome("PASS_WITH_RISK")
    'PASS_WITH_RISK (release only if its owner accepts the risks)'
    >>> name_outcome("FAIL")
    'FAIL'
    """
    advice = SHORT_ADVICE.get(outcome)
    return f"{outcome} ({advice})" if advice is not None else outcome
