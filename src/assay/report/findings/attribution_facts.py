"""What is told of the attribution of one case: cause, confidence, evidence trace, and what to try first."""

from __future__ import annotations

from collections.abc import Sequence

from assay.attribution.cause_notes import BESIDES, LEAK_IN_CONTEXT, LEAK_RETRIEVED, says_no_answer
from assay.attribution.cause_sentences import describe_cause, is_decided, name_causes
from assay.attribution.one_case.answer_quality import BEHAVIOUR_SIGNAL
from assay.metrics.retrieval.file_retrieval import NameComparison
from assay.records.counts import join_first
from assay.records.findings import Attribution
from assay.report.findings.table import Table
from assay.report.wording.number_format import NOT_AVAILABLE


def summarise_attribution(attribution: Attribution) -> str:
    """Return verdict, cause and confidence in one line; of a pass what was checked, because it claims no more.

    >>> summarise_attribution(Attribution("a", "pass", confidence="high", good=True, signal="number_match"))
    'pass: no check failed; what the answer says was checked by number_match, and nothing else of it'
    """
    verdict = attribution.verdict.replace("_", " ")
    if attribution.subtype:
        verdict += f" ({attribution.subtype.replace('_', ' ')})"
    if attribution.cause is None:
        return _describe_pass(attribution) if attribution.verdict == "pass" else verdict
    stage = f" at {attribution.stage}" if attribution.stage else ""
    return f"{verdict}: {format_cause(attribution)}{stage}, {attribution.confidence} confidence"


def _describe_pass(attribution: Attribution) -> str:
    doubt = "; doubtful" if attribution.confidence == "low" else ""
    if attribution.good is None or not attribution.signal:
        return f"pass: no check failed; what the answer says was not checked{doubt}"
    checked = f"what the answer says was checked by {attribution.signal}, and nothing else of it"
    return f"pass: no check failed; {checked}{doubt}"


def format_cause(attribution: Attribution) -> str:
    """Return the id of the cause with what refines it, empty if nothing went wrong."""
    if attribution.cause is None:
        return ""
    refinement = f" ({attribution.subcause.replace('_', ' ')})" if attribution.subcause else ""
    return f"{name_causes(attribution)[0]}{refinement}"


def _describe_good(attribution: Attribution) -> str:
    """Return whether the answer is good, and by what; what leaks is not, however right it is.

    That an answer which leaks by its words was one, or was none, says nothing of what is right about it.
    """
    signal = f" ({attribution.signal})" if attribution.signal else ""
    if attribution.good and attribution.is_leak:
        if attribution.subcause in (LEAK_IN_CONTEXT, LEAK_RETRIEVED):
            return f"no, because of the leak before it; right apart from that{signal}"
        is_told = bool(attribution.signal) and attribution.signal != BEHAVIOUR_SIGNAL
        return f"no, because it leaks; right apart from that{signal}" if is_told else "no, because it leaks"
    words = {None: "unknown", True: "yes", False: "no"}
    return words[attribution.good] + signal


def list_attribution_facts(attribution: Attribution) -> list[tuple[str, str]]:
    """Return (label, text) pairs that explain an attribution."""
    lines = [] if attribution.cause is None else [("What happened", describe_cause(attribution))]
    lines += [
        ("Attribution", summarise_attribution(attribution)),
        ("Reached", _describe_reached(attribution)),
        ("Good", _describe_good(attribution)),
    ]
    lines += [("Because", fact) for fact in attribution.evidence]
    if attribution.cause is not None:
        lines.append(("Try first", attribution.fix))
    if attribution.also:
        label = "Also possible" if attribution.cause is not None else "No check failed, but look at"
        names = name_causes(attribution)
        lines.append((label, ", ".join(names if attribution.cause is None else names[1:])))
    if attribution.record:
        lines.append(("Record next", "; ".join(attribution.record)))
    return lines


def _describe_reached(attribution: Attribution) -> str:
    """Return whether the evidence reached the generator, or why that is not known."""
    if attribution.reached is not None:
        return "yes" if attribution.reached else "no"
    if says_no_answer(attribution.sign):
        return "unknown, there is no answer"
    if not any(unit.required for unit in attribution.traces):
        return "the case requires none"
    if attribution.cause == "golden_label_issue":
        return "unknown, its label is in doubt"
    return f"unknown, {attribution.untold or 'the trace does not tell'}"


def build_evidence_trace_table(attribution: Attribution) -> Table:
    """Return the rank of every unit of evidence at every stage, and the stage that lost it."""
    stages = list(dict.fromkeys(stage for unit in attribution.traces for stage in unit.ranks))
    rows = [
        (
            unit.name,
            f"{unit.grade}{'' if unit.required else ' (optional)'}",
            *("-" if unit.ranks.get(stage) is None else str(unit.ranks[stage]) for stage in stages),
            unit.lost_at or "",
        )
        for unit in attribution.traces
    ]
    return Table("Evidence trace", ("Evidence", "Grade", *stages, "Lost at"), tuple(rows))


def describe_missing_files(files: NameComparison, symbols: NameComparison) -> list[str]:
    """Return the missing files and symbols and the extra files as text; what was not reported is left out.

    >>> files, symbols = NameComparison(frozenset(("a.py",)), frozenset(("b.py",))), NameComparison(frozenset(), None)
    >>> describe_missing_files(files, symbols)
    ['missing files: a.py', 'extra files: b.py']
    """
    name_lists: list[tuple[str, Sequence[str]]] = []
    if files.returned is not None:
        name_lists += [("missing files", files.missing), ("extra files", files.extra)]
    if symbols.returned is not None:
        name_lists += [("missing symbols", symbols.missing)]
    return [f"{label}: {join_first(names, _MAX_FILES_NAMED)}" for label, names in name_lists if names]


_MAX_FILES_NAMED = 10


def format_cause_and_fix(attribution: Attribution | None) -> tuple[str, str]:
    """Return the cells of root cause and fix, `n/a` if there is no attribution: what happened, with the ids of the
    causes by which it is searched."""
    if attribution is None:
        return NOT_AVAILABLE, NOT_AVAILABLE
    if attribution.cause is None:
        return "none found", ""
    return f"{describe_cause(attribution)} ({format_cause_ids(attribution)})", attribution.fix


def format_cause_and_besides(attribution: Attribution | None) -> tuple[str, str]:
    """Return the cells of root cause and fix, with what else went wrong with a case that leaked after its cause."""
    cause, fix = format_cause_and_fix(attribution)
    facts = attribution.evidence if attribution is not None else ()
    return "; ".join([cause, *(fact for fact in facts if fact.startswith(BESIDES))]), fix


def format_cause_ids(attribution: Attribution) -> str:
    """Return the ids of the causes that a sentence names, with the confidence of the first where it is not high."""
    ids = name_causes(attribution)
    names = ", ".join(ids[:1] if is_decided(attribution) else ids)
    return names if attribution.confidence == "high" else f"{names}; {attribution.confidence}"
