"""Right answers in other words and forms, and wrong ones made of them, over golden sets of every kind.

The answers are those of the depot (`benchmarks/depot`), whose generator never repeats a reference. Each form of a right
answer must fail no check; each defect should fail one, or at least be warned of, or named as a cause. What a golden set
states decides how much of it can be noticed: must-have facts, any or all of the keywords, a number, a reference alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from assay.attribution.attribute_run import attribute_run
from assay.metrics.catalog import DEFAULT_METRICS
from assay.records.golden_set import GoldenSet
from assay.records.observations import Observation
from assay.records.requests import ScoreRequest, ScoringOptions
from assay.runs.score_inputs import ScoreInputs
from assay.runs.score_run import score_observations
from assay.scoring.case_outcomes import list_failed_cases, list_unknown_cases
from benchmarks.depot import faults, pipeline
from benchmarks.depot.documents import SHEETS, TODAY, build_corpus
from benchmarks.depot.pipeline import Depot, Line, Parts
from benchmarks.depot.questions import KINDS, QUESTIONS, Kind, make_case, make_user

Rewrite = Callable[[str, Line], str]
_NUMBER_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


class AnswerForm(NamedTuple):
    """A way to write an answer, and whether it still is a right one; `parts` answer the questions."""

    name: str
    is_good: bool
    parts: Parts


class Outcome(NamedTuple):
    """What was noticed of one form over golden sets of one kind, in cases: failed, unknown, warned of, doubted."""

    form: str
    kind: Kind
    is_good: bool
    cases: int
    failed: int
    unknown: int
    warned: int
    doubted: int


def _write_markdown(text: str, line: Line) -> str:
    title = line.title.partition(" (")[0]
    return f"### {title}\n\n- **{line.text.rstrip('.')}**\n"


def _spell_numbers(text: str, line: Line) -> str:
    """Write whole numbers up to ten as words; others with a decimal point or a narrow space between thousands."""
    words = re.sub(
        r"(?<![\w.,-])(\d{1,2})(?=\s[a-z])",
        lambda match: _NUMBER_WORDS[int(match[1])] if int(match[1]) <= 10 else match[1],
        text,
    )
    return re.sub(r"(?<![\w.])(\d{1,2})(\d{3})(?![\w.])", r"\1,\2", words)


def _write_shortly(text: str, line: Line) -> str:
    """Say what a row says as a person would, with the abbreviated unit."""
    name, separator, value = line.text.partition(": ")
    return f"That would be {value} ({name[0].lower()}{name[1:]})." if separator else f"Sure! {line.text}"


def _claim_wrongly(text: str, line: Line) -> str:
    """Keep what the case looks for, and give it to another product or another purpose."""
    names = [name for name in SHEETS if name in text] or ["it"]
    others = [name for name in SHEETS if name not in names]
    value = line.text.partition(": ")[2] or line.text.rstrip(".")
    return f"For the {others[0]} one reads “{value}”; {names[0]} has only half of that."


def _rewrite(change: Rewrite) -> Parts:
    def generate(question: str, context: pipeline.Ranking, depot: Depot) -> pipeline.Answer:
        answer = pipeline.generate(question, context, depot)
        text = " ".join(change(pipeline.rephrase(line), line) for line in answer.lines)
        return pipeline.Answer(text or answer.text, answer.lines)

    return Parts(generate=generate)


FORMS: tuple[AnswerForm, ...] = (
    AnswerForm("other words, units spelled out", True, Parts()),
    AnswerForm("Markdown", True, _rewrite(_write_markdown)),
    AnswerForm("numbers as words", True, _rewrite(_spell_numbers)),
    AnswerForm("short, units abbreviated", True, _rewrite(_write_shortly)),
    AnswerForm("negation", False, _rewrite(faults.negate)),
    AnswerForm("another entity", False, _rewrite(faults.swap_product)),
    AnswerForm("another unit", False, _rewrite(faults.swap_unit)),
    AnswerForm("another number", False, _rewrite(faults.shift_numbers)),
    AnswerForm("keyword with a wrong claim", False, _rewrite(_claim_wrongly)),
    AnswerForm("added invention", False, _rewrite(faults.add_promise)),
    AnswerForm("citation off by one", False, Parts(cite=faults.cite_next)),
)
"""Each form; the first is what the sound depot says, and a defect counts where it changes that."""


def measure_answers() -> Iterator[Outcome]:
    """Yield what is noticed of each form, by the kind of golden set."""
    asked = [question for question in QUESTIONS if question.behaviour == "answer"]
    sound = {question.case_id: _ask(Depot(), question.case_id) for question in asked}
    for form in FORMS:
        depot = Depot(form.parts)
        observations = [_ask(depot, question.case_id) for question in asked]
        changed = [item for item in observations if form.is_good or _differs(item, sound[item.case_id])]
        for kind in KINDS:
            yield _score_form(form, kind, changed)


def _differs(one: Observation, other: Observation) -> bool:
    return (one.answer, one.citations) != (other.answer, other.citations)


def _ask(depot: Depot, case_id: str) -> Observation:
    question = _QUESTIONS_BY_ID[case_id]
    record, _ = depot.ask(question.text, make_user(question))
    fields: dict[str, Any] = record | {"case_id": case_id, "config_id": "depot"}
    return msgspec.convert(fields, Observation)


_QUESTIONS_BY_ID: Mapping[str, Any] = {question.case_id: question for question in QUESTIONS}


def _score_form(form: AnswerForm, kind: Kind, observations: list[Observation]) -> Outcome:
    cases = [
        make_case(replace(_QUESTIONS_BY_ID[observation.case_id], kind=kind))
        for observation in observations
        if kind != "number" or any(letter.isdigit() for letter in _QUESTIONS_BY_ID[observation.case_id].reference)
    ]
    names = {case.id for case in cases}
    shown = [observation for observation in observations if observation.case_id in names]
    request = ScoreRequest(scoring=ScoringOptions(metrics=DEFAULT_METRICS))
    inputs = ScoreInputs.from_golden(GoldenSet(tuple(cases), as_of=TODAY), request, corpus=build_corpus())
    run = score_observations(inputs, shown)
    result = run.scoring.configs["depot"]
    failed, unknown = set(list_failed_cases(result)), set(list_unknown_cases(result))
    warned = {noted.case_id for noted in result.table.checks if noted.warnings} - failed - unknown
    doubted = {name for name, item in attribute_run(run, "depot").items() if item.also} - failed - unknown - warned
    counts = (len(failed), len(unknown), len(warned), len(doubted))
    return Outcome(form.name, kind, form.is_good, len(cases), *counts)


def format_outcomes(outcomes: list[Outcome]) -> str:
    """Return the tables as Markdown: shares that fail a check, else are unknown, warned of or doubted; by kind."""
    lines = []
    for is_good, title in ((True, "Right answers in other forms"), (False, "Defects")):
        lines += [f"\n{title}: failed / unknown / warned / doubted alone, of the cases (number)", ""]
        lines += ["| form | " + " | ".join(KINDS) + " |", "|---|" + "---|" * len(KINDS)]
        chosen = [outcome for outcome in outcomes if outcome.is_good == is_good]
        for form in dict.fromkeys(outcome.form for outcome in chosen):
            cells = [_format_cell(outcome) for outcome in chosen if outcome.form == form]
            lines.append(f"| {form} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _format_cell(outcome: Outcome) -> str:
    shares = (
        count / max(outcome.cases, 1) for count in (outcome.failed, outcome.unknown, outcome.warned, outcome.doubted)
    )
    return " / ".join(f"{share:.2f}" for share in shares) + f" ({outcome.cases})"
