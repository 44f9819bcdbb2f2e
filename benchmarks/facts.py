"""How often the rules tell right answers from wrong ones: other forms, quantities, paraphrases, short answers.

`python -m benchmarks.facts` prints, for the development and the other half of each set ("untouched", or "read since" if
somebody has worked on its errors after the first score), which answers the rules pass, leave open (`unknown`) and fail,
with Wilson intervals, and the CPU time of an answer. `--development` leaves out the other halves, `--errors` lists the
wrongly judged answers of the development halves.
`benchmarks/fact_answers/README.md` says what the sets hold. Exit 1 unless the rates of all untouched halves together
lie above their bars with their whole interval, or if the interval of a half lies below its bar (ADR 0189).
"""

from __future__ import annotations

import hashlib
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from assay.metrics.answers.expected_text import assess_answer_text
from assay.records.golden_set import Case, Evidence, Rubric
from assay.stats.intervals import wilson_interval
from assay.text.answer_similarity import compute_answer_similarity
from assay.text.claims.claim_segments import segment_claims
from assay.text.claims.passages import IndexedSources
from assay.text.claims.short_answers import score_short_answer
from assay.text.facts.stated_quantities import is_lone_value
from assay.text.tokens import DocumentFrequencies

FOLDER = Path(__file__).parent / "fact_answers"
HALVES = ("development", "untouched")
SETS = (
    *("forms", "quantities", "statements", "everyday", "service", "counter", "railway", "campus", "camping"),
    *("holiday", "town", "pharmacy", "museum", "wording", "aquarium", "ferry", "bakery", "clinic"),
    *("dormitory", "apartment", "worlds", "worlds-vi", "marathon", "reception", "reception-vi"),
    *("clubhouse", "clubhouse-vi", "branches", "branches-vi", "theatre", "homestay-vi", "choir", "coach-vi"),
    *("handouts", "bulletins", "desks", "terms", "reviewed"),
)
LONE_VALUES = "values"
"""The answers of the sets whose fact is one value, with that value as a reference and nothing else."""
REFERENCES = "references"
"""The answers of the sets whose reference is in words, with that reference and nothing else."""
BELOW, TOO_SMALL, NOT_ABOVE = "BELOW THE BAR", "too small to tell", "NOT ABOVE THE BAR"
"""What is said of a rate whose whole interval lies below its bar, of one whose interval reaches it, and of a pooled
rate whose interval does not lie above it."""
SLOW = "TOO SLOW"
LEAST_SHARE = 0.85
"""Of right answers not failed, and of wrong answers not passed."""
LEAST_PASSED = dict.fromkeys(("service", "counter", "railway", "campus", "camping"), 0.75) | dict.fromkeys(
    ("holiday", "town", "pharmacy", "museum"), 0.65
)
"""Of right answers passed, neither failed nor left open."""
ANSWERS_A_QUESTION = dict.fromkeys(("service", "choir", "coach-vi", "handouts"), 4) | dict.fromkeys(
    (
        *("railway", "holiday", "apartment", "reception", "reception-vi", "clubhouse", "clubhouse-vi"),
        *("branches", "branches-vi", "theatre", "homestay-vi", "desks", "terms"),
    ),
    2,
)
"""Consecutive lines with one question: they stay in one half, so that no question is in both."""
UNTOUCHED_ONLY = {"counter", "campus", "camping", "town", "pharmacy", "museum", "wording"}
"""Sets without a development half."""
DEVELOPMENT_ONLY = {"reviewed"}
"""Sets of which all answers were read while rules were repaired."""
HALVED_BY_QUESTION = {
    *("aquarium", "ferry", "bakery", "clinic", "dormitory", "worlds", "worlds-vi", "marathon", "bulletins"),
}
"""Sets of which only the half of the questions with an even hash was read (ADR 0153, ADR 0156)."""
READ_SINCE = {"statements", "everyday", "service", "counter", "railway", "campus", "camping", "town"} | {
    *("pharmacy", "museum", "wording"),
}
"""Sets whose untouched half was scored once, and has been read and worked on since: its figures are no first sight."""
MOST_MILLISECONDS = {"answer similarity": 0.15, "claims": 1.0}

PASSED, OPEN, FAILED = "passed", "unknown", "failed"


class MarkedAnswer(NamedTuple):
    """A case with one answer, and whether it is right. `kind`: the form it has, or the trap that it holds."""

    is_right: bool
    kind: str
    case: Case
    answer: str


class ShortAnswer(NamedTuple):
    """An answer of a few words to a question, with the source it is compared with."""

    is_supported: bool
    question: str
    source: str
    answer: str


def read_rows(name: str) -> list[list[str]]:
    r"""Return the rows of a set; `\n` in a field stands for a line break."""
    lines = (FOLDER / f"{name}.tsv").read_text("utf-8").splitlines()
    return [[field.replace("\\n", "\n") for field in line.split("\t")] for line in lines]


def list_answers(name: str) -> list[tuple[str, MarkedAnswer]]:
    """Return the answers of a set in order, each with its half: odd lines (or questions) are for development.

    In `HALVED_BY_QUESTION` those of questions with an even hash are.
    """
    answers_a_question = ANSWERS_A_QUESTION.get(name, 1)
    answers = []
    for line, row in enumerate(read_rows(name)):
        answer = _ROW_READERS[name](*row)
        if name in HALVED_BY_QUESTION:
            half = HALVES[hashlib.sha256(answer.case.question.encode()).digest()[0] % 2]
        else:
            half = HALVES[line // answers_a_question % 2]
        if name in UNTOUCHED_ONLY:
            half = HALVES[1]
        elif name in DEVELOPMENT_ONLY:
            half = HALVES[0]
        answers.append((half, answer))
    return answers


def read_answers(name: str) -> dict[str, list[MarkedAnswer]]:
    """Return the answers of a set by half."""
    halves: dict[str, list[MarkedAnswer]] = {half: [] for half in HALVES}
    for half, answer in list_answers(name):
        halves[half].append(answer)
    return halves


def _make_form(label: str, kind: str, rubric: str, expected: str, answer: str) -> MarkedAnswer:
    cases = {
        "fact": Case("case", "?", must_have=(expected,)),
        "keyword": Case("case", "?", rubric=Rubric(correct_keywords=(expected,))),
        "exact": Case("case", "?", reference=expected, rubric=Rubric(kind="exact")),
        "number": Case("case", "?", reference=expected, rubric=Rubric(kind="number")),
    }
    return MarkedAnswer(label == "right", kind, cases[rubric], answer)


def _make_quantity(label: str, kind: str, reference: str, answer: str) -> MarkedAnswer:
    case = Case("case", "?", reference=reference, rubric=Rubric(kind="number"))
    return MarkedAnswer(label == "same", kind, case, answer)


def _make_statement(label: str, kind: str, question: str, facts: str, answer: str) -> MarkedAnswer:
    case = Case("case", question, must_have=tuple(facts.split(" | ")))
    return MarkedAnswer(label == "right", kind or "paraphrase", case, answer)


def _make_service_answer(label: str, kind: str, question: str, facts: str, reference: str, answer: str) -> MarkedAnswer:
    case = Case("case", question, reference=reference, must_have=tuple(facts.split(" | ")))
    return MarkedAnswer(label == "right", kind, case, answer)


def _make_any_answer(
    label: str, kind: str, question: str, rubric: str, expected: str, reference: str, answer: str
) -> MarkedAnswer:
    expectations = {
        "fact": Case("case", question, reference=reference or None, must_have=tuple(expected.split(" | "))),
        "keyword": Case("case", question, reference=reference, rubric=Rubric(correct_keywords=(expected,))),
        "number": Case("case", question, reference=reference, rubric=Rubric(kind="number")),
        "reference": Case("case", question, reference=reference),
    }
    return MarkedAnswer(label == "right", kind, expectations[rubric], answer)


def _make_answer_from_source(*fields: str) -> MarkedAnswer:
    """Return an answer of a row that ends with the passage of the source that the question is answered from."""
    *fields_before, passage = fields
    marked = _make_any_answer(*fields_before)
    evidence = Evidence(any_of=({"document_id": "source"},), quote=passage)
    return marked._replace(case=msgspec.structs.replace(marked.case, evidence=(evidence,)))


_ROW_READERS: dict[str, Callable[..., MarkedAnswer]] = {
    "forms": _make_form,
    "quantities": _make_quantity,
    "statements": _make_statement,
    "everyday": _make_statement,
    "service": _make_service_answer,
    "counter": _make_service_answer,
    "railway": _make_any_answer,
    "campus": _make_any_answer,
    "camping": _make_any_answer,
    "holiday": _make_any_answer,
    "town": _make_any_answer,
    "pharmacy": _make_any_answer,
    "museum": _make_any_answer,
    "wording": _make_any_answer,
    "aquarium": _make_any_answer,
    "ferry": _make_any_answer,
    "bakery": _make_any_answer,
    "clinic": _make_any_answer,
    "dormitory": _make_any_answer,
    "apartment": _make_any_answer,
    "worlds": _make_any_answer,
    "worlds-vi": _make_any_answer,
    "marathon": _make_any_answer,
    "reception": _make_any_answer,
    "reception-vi": _make_any_answer,
    "clubhouse": _make_any_answer,
    "clubhouse-vi": _make_any_answer,
    "branches": _make_any_answer,
    "branches-vi": _make_any_answer,
    "theatre": _make_any_answer,
    "homestay-vi": _make_any_answer,
    "choir": _make_any_answer,
    "coach-vi": _make_any_answer,
    "handouts": _make_answer_from_source,
    "bulletins": _make_any_answer,
    "desks": _make_any_answer,
    "terms": _make_any_answer,
    "reviewed": _make_any_answer,
}


def read_lone_values(half: str) -> list[MarkedAnswer]:
    """Return the answers of all sets whose question asks for one value, with that value as the whole reference.

    They are what imported rows without facts or keywords look like.
    """
    answers = []
    for name in SETS:
        for answer in read_answers(name)[half]:
            expected = answer.case.must_have or (answer.case.rubric and answer.case.rubric.correct_keywords) or ()
            if answer.case.question != "?" and len(expected) == 1 and is_lone_value(expected[0]):
                case = Case("case", answer.case.question, reference=expected[0])
                answers.append(answer._replace(case=case))
    return answers


def read_references(half: str) -> list[MarkedAnswer]:
    """Return the answers of all sets whose case has must-have facts and a reference in words, without the facts.

    They are what imported rows of a question and a reference look like.
    """
    answers = []
    for name in SETS:
        for answer in read_answers(name)[half]:
            case = answer.case
            if case.must_have and case.reference and not is_lone_value(case.reference):
                answers.append(answer._replace(case=Case("case", case.question, reference=case.reference)))
    return answers


def read_short_answers() -> dict[str, list[ShortAnswer]]:
    """Return the short answers by half: of every four lines, two with one source, the first two are for development."""
    answers = [ShortAnswer(label == "supported", *texts) for label, *texts in read_rows("short")]
    return {
        "development": [answer for line, answer in enumerate(answers) if line % 4 < 2],
        "untouched": [answer for line, answer in enumerate(answers) if line % 4 >= 2],
    }


def assess_answer(answer: MarkedAnswer) -> str:
    """Return what the rules make of an answer. A reference in which they see nothing to compare leaves it open."""
    quality = assess_answer_text(answer.case, answer.answer)
    if quality is None or quality.good is None:
        return OPEN
    return PASSED if quality.good else FAILED


def format_share(count: int, total: int) -> str:
    """Return a share with its Wilson interval and count."""
    if total == 0:
        return "  –   (n=0)"
    bounds = wilson_interval(count, total)
    return f"{count / total:.3f} ({bounds.low:.3f} to {bounds.high:.3f}, n={total})"


class JudgedShare(NamedTuple):
    """How many of some answers the rules judge well enough, the bar for that share, and the line that says so."""

    good: int
    total: int
    bar: float
    text: str

    def find_verdict(self) -> str:
        """Return what the interval tells of a share that misses its bar; "" of one that does not.

        >>> [JudgedShare(good, 26, 0.85, "").find_verdict() for good in (26, 20, 12)]
        ['', 'too small to tell', 'BELOW THE BAR']
        """
        if self.good >= self.bar * self.total:
            return ""
        return BELOW if wilson_interval(self.good, self.total).high < self.bar else TOO_SMALL

    def format_line(self) -> str:
        """Return the line, ended by what the interval tells where the bar is missed."""
        return f"{self.text}  {self.find_verdict()}".rstrip()


CLAIMS = {True: (FAILED, "right not failed"), False: (PASSED, "wrong not passed")}
"""Of right and of wrong answers, the outcome that they must not have, and the words for the share without it."""


def judge_answers(name: str, half: str, answers: Sequence[MarkedAnswer]) -> Iterator[JudgedShare]:
    """Yield the shares of one half of a set: right answers not failed and passed, wrong ones not passed."""
    part = "read since" if half == HALVES[1] and name in READ_SINCE else half
    for is_right, (bad_outcome, claim) in CLAIMS.items():
        outcomes = Counter(assess_answer(answer) for answer in answers if answer.is_right == is_right)
        total = outcomes.total()
        if not total:
            continue
        good = total - outcomes[bad_outcome]
        counts = ", ".join(f"{outcome} {outcomes[outcome]}" for outcome in (PASSED, OPEN, FAILED))
        text = f"{name:12} {part:11} {claim}: {format_share(good, total)}; {counts}"
        yield JudgedShare(good, total, LEAST_SHARE, text)
        if is_right:
            text = f"{name:12} {part:11} right passed: {format_share(outcomes[PASSED], total)}"
            yield JudgedShare(outcomes[PASSED], total, LEAST_PASSED.get(name, 0), text)


def pool_answers(names: Sequence[str]) -> list[MarkedAnswer]:
    """Return the answers of the untouched halves of sets together, without those that were read since."""
    pooled: list[MarkedAnswer] = []
    for name in names:
        if name not in READ_SINCE:
            pooled += read_answers(name)[HALVES[1]]
    return pooled


def judge_pooled_answers(answers: Sequence[MarkedAnswer]) -> Iterator[str]:
    """Yield the rates that decide: of all untouched halves together, each with whether its interval is above its bar.

    Answers to one question are counted as if they were independent.
    """
    for is_right, (bad_outcome, claim) in CLAIMS.items():
        outcomes = Counter(assess_answer(answer) for answer in answers if answer.is_right == is_right)
        total = outcomes.total()
        good = total - outcomes[bad_outcome]
        is_above = wilson_interval(good, total).low > LEAST_SHARE
        verdict = f"above the bar of {LEAST_SHARE:g}" if is_above else NOT_ABOVE
        yield f"all untouched halves, {claim}: {format_share(good, total)}  {verdict}"


def list_errors(answers: Sequence[MarkedAnswer]) -> Iterator[str]:
    """Yield the answers that the rules get wrong."""
    for answer in answers:
        outcome = assess_answer(answer)
        if outcome == (FAILED if answer.is_right else PASSED):
            expected = answer.case.must_have or answer.case.reference or answer.case.rubric
            yield f"    {outcome} {answer.kind}: {expected} <- {answer.answer!r}"


def report_short_answers(half: str, answers: Sequence[ShortAnswer]) -> Iterator[str]:
    """Yield how well the support of short answers tells those that answer the question from those that do not."""
    frequencies = DocumentFrequencies.from_texts([])
    scores: dict[bool, list[float]] = {True: [], False: []}
    called_supported = Counter[bool]()
    for answer in answers:
        sources = IndexedSources([("source", answer.source)], frequencies)
        support = score_short_answer(answer.answer, answer.question, sources)
        scores[answer.is_supported].append(support.z)
        called_supported[answer.is_supported] += support.verdict == "supported"
    pairs = [(right > wrong) + 0.5 * (right == wrong) for right in scores[True] for wrong in scores[False]]
    yield f"short        {half:11} area under the ROC curve {sum(pairs) / len(pairs):.3f}"
    for is_supported, name in ((True, "supported"), (False, "unsupported")):
        total = len(scores[is_supported])
        share = format_share(called_supported[is_supported], total)
        text = f"{'':22} called supported of the {name}: {share}"
        # Of the unsupported ones, those that are not called so are good.
        good = total if is_supported else total - called_supported[is_supported]
        yield JudgedShare(good, total, LEAST_SHARE, text).format_line()


# ── times ────────────────────────────────────────────────────────────────────────────────────────────────────────

_ANSWER = (
    "Full-time staff in Hanoi receive 12 days of paid annual leave per year [1]. Up to 5 unused days carry over until "
    "31 March 2027, provided that the manager has approved this in writing. Nhân viên thử việc được nghỉ 6 ngày."
)
_REFERENCE = "Full-time staff get 12 days of annual leave a year; 5 unused days may be carried over until 31 March."
_QUESTION = "How much annual leave do full-time staff have?"


def measure_milliseconds(rounds: int = 7) -> dict[str, float]:
    """Return the CPU milliseconds of the similarity and of the claims of one answer of 300 characters."""
    frequencies = DocumentFrequencies.from_texts([_REFERENCE])
    answers = [f"{number} {_ANSWER}" for number in range(200)]
    return {
        "answer similarity": _time_each(
            answers, lambda text: compute_answer_similarity(text, _REFERENCE, _QUESTION, frequencies), rounds
        ),
        "claims": _time_each(answers, segment_claims, rounds),
    }


def _time_each(texts: Sequence[str], work: Callable[[str], object], rounds: int) -> float:
    times = []
    for _ in range(rounds):
        begun = time.process_time()
        for text in texts:
            work(text)
        times.append(time.process_time() - begun)
    return min(times) / len(texts) * 1000


def main() -> int:
    """Print the figures; return 1 if a bar is missed beyond doubt, or not reached by all answers together."""
    shows_errors = "--errors" in sys.argv[1:]
    halves = HALVES[:1] if "--development" in sys.argv[1:] else HALVES
    lines: list[str] = []
    for name in SETS:
        for half in halves:
            answers = read_answers(name)[half]
            lines += [share.format_line() for share in judge_answers(name, half, answers)]
            if shows_errors and half == "development":
                lines += list_errors(answers)
    for half in halves:
        lines += [share.format_line() for share in judge_answers(LONE_VALUES, half, read_lone_values(half))]
        lines += [share.format_line() for share in judge_answers(REFERENCES, half, read_references(half))]
    for half in halves:
        lines += report_short_answers(half, read_short_answers()[half])
    if HALVES[1] in halves:
        lines += judge_pooled_answers(pool_answers(SETS))
    for name, milliseconds in measure_milliseconds().items():
        missed = f"  {SLOW}" if milliseconds > MOST_MILLISECONDS[name] else ""
        lines.append(f"{name}: {milliseconds:.3f} ms of CPU an answer (bar: {MOST_MILLISECONDS[name]:g}){missed}")
    print("\n".join(lines))
    return int(any(line.endswith((BELOW, NOT_ABOVE, SLOW)) for line in lines))


if __name__ == "__main__":
    sys.exit(main())
