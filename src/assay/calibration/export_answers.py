"""`labels export --only`: the answers that a person should read, because neither rules nor people tell of them yet, or
because they are a random sample of those that rules passed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from assay.calibration.exchange_labels import KEY_FILE, LabelSample, refuse_used_folder, write_sheet
from assay.formats.file_io import write_atomically
from assay.formats.golden_files import compute_golden_digest
from assay.formats.labels.label_sheets import (
    SHEET_KEY_FORMAT,
    LabelledItem,
    SheetKey,
    SheetRow,
    encode_key,
    make_row_id,
)
from assay.metrics.answers.answer_behaviour import ANSWER_BEHAVIOUR
from assay.metrics.answers.correctness import CORRECT_ANSWER, list_open_metrics
from assay.metrics.case_checks import DENIED_FACT, INCOMPLETE_ANSWER, WRONG_ANSWER, WRONG_BEHAVIOUR
from assay.metrics.cases.case_index import GoldenIndex
from assay.metrics.cases.settled_answers import ANSWER_SCALES, RIGHT, UNCLEAR, WRONG, SettledMetric, digest_expectations
from assay.metrics.leaks.withheld_text import WithheldTexts
from assay.metrics.parsed_answer import ParsedAnswer
from assay.records.counts import format_count
from assay.records.digest import compute_answer_hash
from assay.records.errors import InputError, Problem, SettingsError, shorten_repr
from assay.records.golden_set import Case
from assay.records.scores import CaseChecks
from assay.scoring.collect_passes import DrawnPass, draw_passes
from assay.scoring.scored_run import ScoredRun
from assay.scoring.slices import select_cases
from assay.text.near_names import find_near_word

ANSWERS_SHEET = "answers"
AMBIGUOUS, FAILED, PASSED = "ambiguous", "failed", "passed"
_SELECTIONS = "ambiguous, failed, passed, tag:NAME or case:ID"
DEFAULT_PASSES = 30
_MEANINGS = {
    RIGHT: "It states everything that the case requires, and nothing that is wrong.",
    WRONG: "It leaves out or contradicts what the case requires.",
    UNCLEAR: "Reference and sources do not tell.",
    "answer": "It answers the question, rightly or wrongly.",
    "abstain": "It says that it does not know or cannot help.",
    "permission_denied": "It says that the person may not have this.",
    "escalate": "It hands over to a person or another place.",
    "clarify": "It asks back.",
}
_FAILED_METRICS: dict[str, SettledMetric] = {
    WRONG_ANSWER: CORRECT_ANSWER,
    INCOMPLETE_ANSWER: CORRECT_ANSWER,
    DENIED_FACT: CORRECT_ANSWER,
    WRONG_BEHAVIOUR: "behaviour",
}


class _AnswerToRead(NamedTuple):
    metric: SettledMetric
    config: str
    reading: ParsedAnswer
    sample: int | None = None


def export_answers_to_read(
    run: ScoredRun, folder: Path, only: Sequence[str], language: str = "en", sample: int = DEFAULT_PASSES
) -> LabelSample:
    """Write the answers that a person should read as a sheet (CSV, JSON lines, page), and its key, into a new folder.

    `only` selects them: `ambiguous` those that the rules leave open, `failed` those that failed by rules, `tag:NAME`
    and `case:ID` the cases; `passed`, alone, draws `sample` of those that rules passed, and leaves out the ones that
    people labelled already. The same answer of several configurations is one row. Raises InputError for a folder that
    is not empty, and if there is nothing to read; SettingsError for a selector that no case has.
    """
    refuse_used_folder(folder)
    _refuse_unknown_selectors(only)
    rows: list[SheetRow] = []
    targets: dict[str, LabelledItem] = {}
    exported: set[tuple[str, str, str]] = set()
    notes: list[str] = []
    answers = _iterate_passes(run, sample, notes) if PASSED in only else _iterate_answers(run, only)
    for metric, config, reading, drawn_for in answers:
        case = reading.case.case
        item = LabelledItem(
            case.id,
            metric,
            config,
            answer_hash=compute_answer_hash(reading.answer),
            case_hash=digest_expectations(case),
            sample=drawn_for,
        )
        key = case.id, metric, item.answer_hash or ""
        if key in exported:
            continue
        exported.add(key)
        row = _make_row(make_row_id("a", len(rows) + 1, key), metric, reading)
        rows.append(row)
        targets[row.row_id] = item
    if not rows:
        reason = "; ".join(notes) or f"no answer of this run is among --only {' '.join(only)}"
        raise InputError(f"nothing to read: {reason}")
    files = write_sheet(folder, ANSWERS_SHEET, rows, language)
    key_file = encode_key(SheetKey(SHEET_KEY_FORMAT, compute_golden_digest(run.golden), 0, targets))
    files.append(("key", write_atomically(folder / KEY_FILE, [key_file])))
    return LabelSample(tuple(files), dict(Counter(row.metric for row in rows)), tuple(notes))


def _refuse_unknown_selectors(only: Sequence[str]) -> None:
    """Raise SettingsError for a selector without a colon that is no word of this command, with the near one, and for
    others beside `passed`: a sample of some cases says nothing of all that passed."""
    problems = []
    if PASSED in only and len(set(only)) > 1:
        others = ", ".join(selector for selector in dict.fromkeys(only) if selector != PASSED)
        message = f"passed draws from all answers that passed (got {others} with it; expected passed alone)"
        problems.append(Problem("", None, "only", message, "E_SELECTOR"))
    for selector in only:
        if ":" not in selector and selector not in (AMBIGUOUS, FAILED, PASSED):
            near = find_near_word(selector, (AMBIGUOUS, FAILED, PASSED))
            meant = f"did you mean {near}? " if near else ""
            message = f"no such selection (got {shorten_repr(selector)}; {meant}expected {_SELECTIONS})"
            problems.append(Problem("", None, "only", message, "E_SELECTOR"))
    if problems:
        raise SettingsError(problems)


def _iterate_answers(run: ScoredRun, only: Sequence[str]) -> Iterator[_AnswerToRead]:
    """Yield what a person should tell of each selected answer, by configuration and in golden order."""
    selectors = [selector for selector in only if selector not in (AMBIGUOUS, FAILED)]
    chosen = {case.id for case in select_cases(run.golden, None, selectors)}
    joins = GoldenIndex(run.golden, run.corpus, None, run.whole_golden)
    for config, result in sorted(run.scoring.configs.items()):
        checks = {case_checks.case_id: case_checks for case_checks in result.table.checks}
        for position, case in enumerate(run.golden.cases):
            observation = run.read_observation(config, case.id) if case.id in chosen else None
            if observation is None or not isinstance(observation.answer, str) or not observation.answer.strip():
                continue
            reading = ParsedAnswer(joins.case_index(position), observation)
            for metric in _choose_metrics(reading, checks.get(case.id), only):
                yield _AnswerToRead(metric, config, reading)


def _iterate_passes(run: ScoredRun, size: int, notes: list[str]) -> Iterator[_AnswerToRead]:
    """Yield the drawn passes that nobody labelled, of all configurations in the order of the draw, and note the counts.

    Raises InputError for a size below 1.
    """
    if size < 1:
        raise InputError(f"--sample: too small (got {size}; expected how many answers to draw, 1 or more)")
    unread: list[tuple[DrawnPass, str]] = []
    for config in sorted(run.scoring.configs):
        drawn = draw_passes(run, config, size)
        notes.append(_describe_draw(config, drawn, size))
        unread += [(one, config) for one in drawn if one.is_unread]
    positions = {case.id: position for position, case in enumerate(run.golden.cases)}
    for one, config in sorted(unread):
        observation = run.read_observation(config, one.case_id)
        assert observation is not None
        reading = ParsedAnswer(run.joins.case_index(positions[one.case_id]), observation)
        yield _AnswerToRead(one.metric, config, reading, size)


def _describe_draw(config: str, drawn: Sequence[DrawnPass], size: int) -> str:
    """Return how many passes of a configuration were drawn, and how many of these were read already."""
    if not drawn:
        return f"{config}: rules passed no answer"
    read = sum(not answer.is_unread for answer in drawn)
    if len(drawn) < size:
        text = f"{config}: rules passed {format_count(len(drawn), 'answer')}, fewer than {size}: all are in the sample"
    else:
        text = f"{config}: {format_count(len(drawn), 'answer')} drawn at random from those that rules passed"
    if not read:
        return text
    more = " (a larger --sample draws more)" if read == len(drawn) == size else ""
    return f"{text}, {'all' if read == len(drawn) else read} of them labelled already{more}"


def _choose_metrics(reading: ParsedAnswer, checks: CaseChecks | None, only: Sequence[str]) -> list[SettledMetric]:
    """Return what a person should tell of one answer; of a case that was named, whether it is right in any case."""
    metrics: list[SettledMetric] = []
    if AMBIGUOUS in only:
        metrics += list_open_metrics(reading)
    if FAILED in only and checks is not None:
        metrics += [_FAILED_METRICS[name] for name in checks.failed if name in _FAILED_METRICS]
    if AMBIGUOUS not in only and FAILED not in only:
        metrics.append(CORRECT_ANSWER if reading.case.case.behaviour == ANSWER_BEHAVIOUR else "behaviour")
    return list(dict.fromkeys(metrics))


def _make_row(row_id: str, metric: SettledMetric, reading: ParsedAnswer) -> SheetRow:
    """Return the row that shows an answer with everything that its case expects.

    What the user of the case must not see is withheld, as in every report.
    """
    case = reading.case.case
    labels = tuple(ANSWER_SCALES[metric])
    sources = reading.context_texts
    texts = tuple(sources.values()) if isinstance(sources, dict) else ()
    answer, *shown = WithheldTexts(reading.case, reading.observation).withhold([reading.answer, *texts])
    return SheetRow(
        row_id,
        metric,
        _describe_question(case),
        answer,
        _list_facts(case) if metric == CORRECT_ANSWER else "",
        case.reference or "",
        tuple(shown),
        labels,
        tuple(_MEANINGS[label] for label in labels),
    )


def _describe_question(case: Case) -> str:
    turns = [f"{turn.role}: {turn.text}" for turn in case.history]
    return "\n".join((*turns, case.question))


def _list_facts(case: Case) -> str:
    keywords = case.rubric.correct_keywords if case.rubric is not None else ()
    return "; ".join(dict.fromkeys((*case.must_have, *keywords)))
