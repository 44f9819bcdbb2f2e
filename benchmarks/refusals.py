"""How often it is told what an answer does, with intervals: published answers, and answers in eight languages.

`ASSAY_TEST_DATA=… python -m benchmarks.refusals` prints recall and precision with Wilson intervals and counts, then the
CPU time. First come sets that no model learned from: published answers of four models, and sets by authors who knew
nothing of the rules, each scored once when the models were frozen. Then, for every file of `wordings` and the older
files together, what models say that have not seen that author; `--without-folds` leaves them out, which takes a few
minutes less. `benchmarks/refusal_answers/README.md` says how the answers were labelled. A refusal is an answer that
abstains, denies or hands over; questions back are counted apart, partial refusals and unreadable text are none. Exit 1
if a bar is missed; without ASSAY_TEST_DATA the published answers are left out.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from assay.stats.intervals import wilson_interval
from assay.text.refusals.behaviour import clear_caches, detect_behaviour, detect_phrases
from assay.text.refusals.behaviour_candidates import find_behaviour_candidates, mark_answers_open_to_model
from assay.text.refusals.detected_behaviour import DetectedBehaviour
from assay.text.refusals.refusal_model_file import MODEL_LANGUAGES
from assay.text.refusals.weighed_wording import weigh_wording
from benchmarks.train_refusal_model import read_answers, read_records, train_fold_models

FOLDER = Path(__file__).parent / "refusal_answers"
REFUSALS = frozenset(("abstain", "permission_denied", "escalate"))
LANGUAGES = ("de", "fr", "es", "pt", "ja", "zh")
PUBLISHED = "published"
HALVES = ("development", "untouched")
UNSEEN_SETS = (
    *("encounters", "samples", "errands", "wards", "journeys"),
    *("council", "harbour", "orchard"),
)
"""Sets by other authors that no model learned from, in the order in which they came."""
BARS = {PUBLISHED: (0.92, 0.97)}
for name in UNSEEN_SETS:
    BARS |= {f"{name} en": (0.92, 0.97), f"{name} vi": (0.90, 0.97), f"{name} six": (0.80, 0.0)}
"""Least recall and precision of what no model and no rule was made from."""
MOST_MICROSECONDS = {"ordinary answer, mean": 3.0, "1,000 characters, worst": 100.0}


@dataclass(frozen=True)
class LabelledAnswer:
    """An answer and what it does by its reader's label."""

    label: str
    text: str
    question: str = ""


@dataclass(frozen=True)
class Counts:
    """What was detected in a set: of refusals, of what was read as one, and of the others."""

    found: int
    refusals: int
    wrong: int
    same_kind: int
    asked_back: int
    questions_back: int
    partial_told: int
    partials: int
    undecided: int

    @property
    def recall(self) -> float:
        return self.found / max(1, self.refusals)

    @property
    def precision(self) -> float:
        return self.found / max(1, self.found + self.wrong)


def read_sentences(language: str) -> dict[str, list[LabelledAnswer]]:
    """Return the sentences of a language by half: odd lines are for development, even lines are untouched."""
    rows = [line.split("\t") for line in (FOLDER / f"{language}.tsv").read_text("utf-8").splitlines()]
    answers = [LabelledAnswer(label, text) for label, text in rows]
    return {"development": answers[::2], "untouched": answers[1::2]}


def read_stock(name: str, language: str) -> dict[str, list[LabelledAnswer]]:
    """Return the answers of `stock-LANGUAGE.tsv` or `free-LANGUAGE.tsv` by half: odd lines are for development."""
    lines = (FOLDER / f"{name}-{language}.tsv").read_text("utf-8").splitlines()[1:]
    answers = [LabelledAnswer(label, text, question) for label, question, text in (line.split("\t") for line in lines)]
    return {"development": answers[::2], "untouched": answers[1::2]}


def read_published(test_data: Path) -> dict[str, list[LabelledAnswer]]:
    """Return the 800 published answers by half, with the labels of this repository."""
    texts = {}
    for line in (test_data / "responses" / "dev.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        texts[row["dataset"], row["model"], row["question_id"]] = row["response"]
    answers: dict[str, list[LabelledAnswer]] = {half: [] for half in HALVES}
    for line in (FOLDER / "labels.tsv").read_text("utf-8").splitlines()[1:]:
        dataset, model, question_id, _, _, label, half = line.split("\t")
        answers[half].append(LabelledAnswer(label, texts[dataset, model, question_id]))
    return answers


def read_set(name: str) -> dict[str, list[LabelledAnswer]]:
    """Return the answers of a set of records, `worlds.jsonl` and the like: English, Vietnamese and six languages.

    Their labels do not say what kind of refusal it is.
    """
    answers: dict[str, list[LabelledAnswer]] = {}
    for answer in read_records(FOLDER / f"{name}.jsonl"):
        part = answer.language if answer.language in ("en", "vi") else "six"
        label = "abstain" if answer.act == "refuse" else answer.act
        answers.setdefault(part, []).append(LabelledAnswer(label, answer.text, answer.question))
    return answers


def count_verdicts(answers: Sequence[LabelledAnswer]) -> Counts:
    """Compare what is detected with the labels."""
    detected = [detect_behaviour(answer.text, question=answer.question) for answer in answers]
    return count_detected([answer.label for answer in answers], detected)


def count_unseen_authors(language: str) -> dict[str, Counts]:
    """Compare what is detected in the answers that the model of a language learned from with their labels, by file;
    each answer is weighed by a model that has seen nothing by its author."""
    labels: dict[str, list[str]] = {}
    detected: dict[str, list[DetectedBehaviour]] = {}
    for model, held_out in train_fold_models(language):
        for answer in held_out:
            behaviour = weigh_wording(detect_phrases(answer.text), answer.text, answer.question, model)
            labels.setdefault(answer.source, []).append(answer.kind or answer.act)
            detected.setdefault(answer.source, []).append(behaviour)
    return {name: count_detected(labels[name], detected[name]) for name in sorted(labels)}


def count_detected(labels: Sequence[str], detected: Sequence[DetectedBehaviour]) -> Counts:
    """Compare what was detected with the labels; `refuse` is a refusal of a kind that nobody named."""
    found = refusals = wrong = same_kind = asked_back = questions_back = partial_told = partials = undecided = 0
    for label, behaviour in zip(labels, detected, strict=True):
        refuses, is_refusal = behaviour.behaviour in REFUSALS, label in REFUSALS or label == "refuse"
        refusals += is_refusal
        found += refuses and is_refusal
        wrong += refuses and not is_refusal
        same_kind += is_refusal and behaviour.behaviour == label
        questions_back += label == "clarify"
        asked_back += label == behaviour.behaviour == "clarify"
        partials += label == "partial"
        partial_told += label == "partial" and behaviour.is_partial_refusal
        undecided += behaviour.behaviour == "unknown"
    return Counts(found, refusals, wrong, same_kind, asked_back, questions_back, partial_told, partials, undecided)


def measure_microseconds(answers: Sequence[str], rounds: int = 9) -> dict[str, float]:
    """Return the CPU microseconds of an ordinary answer on average, filter, rules and model, and the worst per 1,000
    characters of text that the rules must examine."""

    def examine() -> None:
        clear_caches()
        may_hold_phrase = find_behaviour_candidates(answers)
        examined = may_hold_phrase | mark_answers_open_to_model(answers)
        for index in np.flatnonzero(examined).tolist():
            detect_behaviour(answers[index], may_hold_phrase=bool(may_hold_phrase[index]))

    mean = _best_time(examine, rounds) / len(answers)
    worst = max(_time_thousand_characters(text, rounds) for text in _hard_texts())
    return {"ordinary answer, mean": mean * 1e6, "1,000 characters, worst": worst * 1e6}


def measure_floor(answers: Sequence[str], rounds: int = 9) -> float:
    """Return the CPU microseconds that folding the case of an answer and one search of it for a negation take: less
    than this no rule in Python can take that reads the answer."""
    negation = re.compile(r"not|n't|no |un|fail")

    def read_once() -> None:
        for answer in answers:
            negation.search(answer.casefold())

    return _best_time(read_once, rounds) / len(answers) * 1e6


def _hard_texts() -> Iterator[str]:
    """Yield texts of 10,000 characters that the filter lets through: one refusal again and again, and many in turn."""
    for piece in (
        "The passages do not mention the price. ",
        "Tôi không tìm thấy thông tin về điều này. ",
        "资料中没有关于价格的信息。",
        "Passage 2 states that the limit is 600, but it is not clear whether that holds. ",
    ):
        yield (piece * 10_000)[:10_000]
    yield " ".join(answer.text for answer in read_answers("en") if answer.kind == "abstain")[:10_000]


def _time_thousand_characters(text: str, rounds: int) -> float:
    return _best_time(lambda: detect_behaviour(text), rounds) / len(text) * 1000


def _best_time(work: Callable[[], object], rounds: int) -> float:
    work()
    times = []
    for _ in range(rounds):
        begun = time.process_time()
        work()
        times.append(time.process_time() - begun)
    return min(times)


def _format_share(count: int, total: int) -> str:
    if total == 0:
        return "  –   (n=0)"
    bounds = wilson_interval(count, total)
    return f"{count / total:.3f} ({bounds.low:.3f} to {bounds.high:.3f}, n={total})"


def _print_counts(name: str, counts: Counts) -> list[str]:
    """Print what was detected in a set, and return the bars that it missed."""
    found = _format_share(counts.found, counts.refusals)
    print(f"{name:24}: found {found}, right {_format_share(counts.found, counts.found + counts.wrong)}")
    told = f"partial refusals told {counts.partial_told} of {counts.partials}"
    back = f"questions back {counts.asked_back} of {counts.questions_back}"
    print(f"{'':24}  {told}, {back}, same kind {counts.same_kind}, {counts.undecided} undecided")
    least_recall, least_precision = BARS.get(name.partition(",")[0], (0.0, 0.0))
    if counts.recall < least_recall or counts.precision < least_precision:
        return [f"{name}: bars are recall {least_recall} and precision {least_precision}"]
    return []


def main() -> int:
    """Print the figures; return 1 if a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--without-folds", action="store_true")
    options = parser.parse_args()
    test_data = os.environ.get("ASSAY_TEST_DATA")
    published = read_published(Path(test_data)) if test_data else {}
    missed_bars = []
    for half, answers in published.items():
        missed_bars += _print_counts(f"{PUBLISHED}, {half}", count_verdicts(answers))
    for name in UNSEEN_SETS:
        for part, answers in read_set(name).items():
            missed_bars += _print_counts(f"{name} {part}", count_verdicts(answers))
    for language in () if options.without_folds else MODEL_LANGUAGES:
        for name, counts in count_unseen_authors(language).items():
            missed_bars += _print_counts(f"unseen author, {language}, {name}", counts)
    timed = itertools.chain.from_iterable(published.values() or read_set(UNSEEN_SETS[0]).values())
    ordinary = [answer.text for answer in timed if answer.label == "answer"]
    for name, microseconds in measure_microseconds(ordinary).items():
        print(f"{name}: {microseconds:.1f} µs of CPU (bar: {MOST_MICROSECONDS[name]:g})")
        if microseconds > MOST_MICROSECONDS[name]:
            missed_bars.append(f"{name}: {microseconds:.1f} µs")
    print(f"folding the case of an ordinary answer and one search of it: {measure_floor(ordinary):.1f} µs of CPU")
    for bar in missed_bars:
        print(f"MISSED: {bar}")
    return 1 if missed_bars else 0


if __name__ == "__main__":
    sys.exit(main())
