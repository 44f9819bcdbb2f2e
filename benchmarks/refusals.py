"""How often a refusal is told, with intervals: published answers, and sentences in eight languages.

`ASSAY_TEST_DATA=… python -m benchmarks.refusals` prints recall and precision with Wilson intervals and counts, then the
CPU time. Of English and Vietnamese sentences that the models of free wording learned from, each is read by a model that
has not seen its cell; the halves of those sets are spent. The sets called kept were not read before the models were
frozen; those called unseen were written by other people, and an earlier model had read them once; mixed and counters
by others still, each scored once when it came. Since then rules were made with sight of mixed and of one half of
counters (development, by a digest of the id); the other half was scored once when these rules were frozen, and read
since. Of stock answers in eight languages one half was read when the rules were frozen; those called free were written
after that, those called gaps for the rules that compare an answer with its question. Those called worlds came from
another author when these rules were frozen: scored once, and not read since.
`benchmarks/refusal_answers/README.md` says how the answers were labelled. A refusal is an answer that abstains, denies,
hands over or asks back; partial refusals and unreadable text are none. Exit 1 if a bar is missed; without
ASSAY_TEST_DATA the published answers are left out.
"""

from __future__ import annotations

import hashlib
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
from assay.text.refusal_model_file import MODEL_LANGUAGES
from assay.text.refusals import (
    DetectedBehaviour,
    clear_caches,
    compare_with_question,
    detect_behaviour,
    detect_phrases,
    find_behaviour_candidates,
    is_open_to_model,
    mark_answers_open_to_model,
    weigh_wording,
)
from assay.text.segmentation import normalise_answer
from benchmarks.train_refusal_model import read_desks, read_training_answers, read_voices, train_fold_models

FOLDER = Path(__file__).parent / "refusal_answers"
REFUSALS = frozenset(("abstain", "permission_denied", "escalate", "clarify"))
LANGUAGES = ("de", "fr", "es", "pt", "ja", "zh")
PUBLISHED = "published"
HALVES = ("development", "untouched")
BARS = {
    PUBLISHED: (0.92, 0.97),
    "unseen-en": (0.92, 0.97),
    "unseen-vi": (0.90, 0.97),
    "kept-en": (0.92, 0.97),
    "desks-en": (0.92, 0.97),
    "kept-vi": (0.90, 0.97),
    "mixed-en": (0.92, 0.97),
    "mixed-vi": (0.90, 0.97),
    "worlds-en": (0.92, 0.97),
    "worlds-vi": (0.90, 0.97),
    "counters-en": (0.92, 0.97),
    "counters-vi": (0.90, 0.97),
}
BARS |= dict.fromkeys(LANGUAGES, (0.80, 0.0))
for name in ("stock", "free", "counters", "worlds"):
    BARS |= {f"{name}-{language}": (0.80, 0.95) for language in LANGUAGES}
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
    """What was detected in one half of a set."""

    right: int
    missed: int
    refused: int
    refusals: int
    asked_back: int
    questions_back: int
    wrong: int
    same_kind: int
    partial_told: int
    partials: int
    unknown: int

    @property
    def recall(self) -> float:
        return self.right / max(1, self.right + self.missed)

    @property
    def precision(self) -> float:
        return self.right / max(1, self.right + self.wrong)


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


def read_unseen(language: str) -> list[LabelledAnswer]:
    """Return the answers of `unseen-LANGUAGE.tsv`, whose labels do not say what kind of refusal it is."""
    answers = []
    for line in (FOLDER / f"unseen-{language}.tsv").read_text("utf-8").splitlines()[1:]:
        label, question, text = line.split("\t")
        kind = "abstain" if label == "refusal" else label
        answers.append(LabelledAnswer(kind, text.replace("\\n", "\n"), question))
    return answers


def read_mixed(name: str = "mixed") -> dict[str, list[LabelledAnswer]]:
    """Return the answers of `mixed.jsonl`, `gaps.jsonl` or `worlds.jsonl` by language.

    Their labels do not say what kind of refusal it is.
    """
    answers: dict[str, list[LabelledAnswer]] = {}
    for line in (FOLDER / f"{name}.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        label = "abstain" if row["label"] == "refuse" else row["label"]
        answers.setdefault(row["language"], []).append(LabelledAnswer(label, row["answer"], row["question"]))
    return answers


def read_counters() -> dict[str, dict[str, list[LabelledAnswer]]]:
    """Return the answers of `counters.jsonl` and `counters-later.jsonl` by language and half, a digest of their id."""
    answers: dict[str, dict[str, list[LabelledAnswer]]] = {}
    for name in ("counters", "counters-later"):
        for line in (FOLDER / f"{name}.jsonl").read_text("utf-8").splitlines():
            row = json.loads(line)
            digest = int(hashlib.sha256(row["id"].encode()).hexdigest(), 16)
            label = "abstain" if row["label"] == "refuse" else row["label"]
            halves = answers.setdefault(row["language"], {half: [] for half in HALVES})
            halves[HALVES[digest % 2]].append(LabelledAnswer(label, row["answer"], row["question"]))
    return answers


def read_kept(language: str) -> list[LabelledAnswer]:
    """Return the answers of `kept-LANGUAGE.tsv`, none of whose cells the models learned from."""
    return [LabelledAnswer(answer.label, answer.text, answer.question) for answer in read_voices(language, "kept")]


def read_desks_half(half: str) -> list[LabelledAnswer]:
    """Return the answers of a half of `desks-en.tsv`, from which no model learned."""
    return [LabelledAnswer(answer.label, answer.text, answer.question) for answer in read_desks()[half]]


def count_verdicts(answers: Sequence[LabelledAnswer]) -> Counts:
    """Compare what is detected with the labels."""
    detected = [detect_behaviour(answer.text, question=answer.question) for answer in answers]
    return count_detected([answer.label for answer in answers], detected)


def count_unseen_cells(language: str) -> dict[str, Counts]:
    """Compare what is detected in the answers that the model of a language learned from with their labels, by file;
    each answer is weighed by a model that has seen no answer of its cell."""
    labels: dict[str, list[str]] = {}
    detected: dict[str, list[DetectedBehaviour]] = {}
    for model, held_out in train_fold_models(language):
        for answer in held_out:
            behaviour = detect_phrases(answer.text)
            if is_open_to_model(answer.text):
                behaviour = weigh_wording(behaviour, normalise_answer(answer.text), answer.question, model)
            behaviour = compare_with_question(answer.text, answer.question, behaviour)
            labels.setdefault(answer.source, []).append(answer.label)
            detected.setdefault(answer.source, []).append(behaviour)
    return {name: count_detected(labels[name], detected[name]) for name in sorted(labels)}


def count_detected(labels: Sequence[str], found: Sequence[DetectedBehaviour]) -> Counts:
    """Compare what was detected with the labels."""
    right = missed = wrong = same_kind = partial_told = unknown = refused = asked_back = 0
    for label, detected in zip(labels, found, strict=True):
        refuses, is_refusal = detected.behaviour in REFUSALS, label in REFUSALS
        right += refuses and is_refusal
        missed += is_refusal and not refuses
        wrong += refuses and not is_refusal
        same_kind += is_refusal and detected.behaviour == label
        partial_told += label == "partial" and detected.is_partial_refusal
        unknown += detected.behaviour == "unknown"
        refused += refuses and is_refusal and label != "clarify"
        asked_back += label == detected.behaviour == "clarify"
    questions_back = sum(label == "clarify" for label in labels)
    refusals = right + missed - questions_back
    partials = sum(label == "partial" for label in labels)
    return Counts(
        right,
        missed,
        refused,
        refusals,
        asked_back,
        questions_back,
        wrong,
        same_kind,
        partial_told,
        partials,
        unknown,
    )


def load_sets() -> dict[str, dict[str, list[LabelledAnswer]]]:
    """Return all sets by name, the published answers only where the test data are."""
    sets = {language: read_sentences(language) for language in LANGUAGES}
    sets |= {f"stock-{language}": read_stock("stock", language) for language in (*MODEL_LANGUAGES, *LANGUAGES)}
    sets |= {f"free-{language}": read_stock("free", language) for language in LANGUAGES}
    test_data = os.environ.get("ASSAY_TEST_DATA")
    return {PUBLISHED: read_published(Path(test_data))} | sets if test_data else sets


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
    yield " ".join(answer.text for answer in read_training_answers("en") if answer.label == "abstain")[:10_000]


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


def _print_counts(name: str, part: str, counts: Counts) -> list[str]:
    """Print what was detected in a set, and return the bars that it missed."""
    recall = _format_share(counts.right, counts.right + counts.missed)
    precision = _format_share(counts.right, counts.right + counts.wrong)
    print(f"{name:10} {part:12}: recall {recall}, precision {precision}")
    told = f"{counts.partial_told} of {counts.partials} partial refusals told apart"
    back = f"questions back {counts.asked_back} of {counts.questions_back}"
    print(f"{'':23}without questions back {_format_share(counts.refused, counts.refusals)}, {back}")
    print(f"{'':23}same kind {counts.same_kind} of {counts.right}, {told}, {counts.unknown} undecided")
    least_recall, least_precision = BARS.get(name, (0.0, 0.0))
    if counts.recall < least_recall or counts.precision < least_precision:
        return [f"{name} {part}: bars are recall {least_recall} and precision {least_precision}"]
    return []


def _print_others() -> list[str]:
    """Print what was detected in the sets by others, and return the bars that they missed."""
    missed_bars = []
    for language, halves in read_counters().items():
        for half, answers in halves.items():
            missed_bars += _print_counts(f"counters-{language}", half, count_verdicts(answers))
    for name in ("mixed", "gaps", "worlds"):
        for language, answers in read_mixed(name).items():
            missed_bars += _print_counts(f"{name}-{language}", "all", count_verdicts(answers))
    return missed_bars


def main() -> int:
    """Print the figures; return 1 if a bar is missed."""
    sets = load_sets()
    missed_bars = []
    for name, halves in sets.items():
        for half, answers in halves.items():
            missed_bars += _print_counts(name, half, count_verdicts(answers))
    for language in MODEL_LANGUAGES:
        for name, counts in count_unseen_cells(language).items():
            missed_bars += _print_counts(name, "unseen cells", counts)
        missed_bars += _print_counts(f"kept-{language}", "untouched", count_verdicts(read_kept(language)))
        missed_bars += _print_counts(f"unseen-{language}", "all", count_verdicts(read_unseen(language)))
    missed_bars += _print_others()
    for half in HALVES:
        missed_bars += _print_counts("desks-en", half, count_verdicts(read_desks_half(half)))
    timed = itertools.chain.from_iterable(sets.get(PUBLISHED, {"all": read_unseen("en")}).values())
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
