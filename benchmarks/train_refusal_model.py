"""Train the models of refusals in free wording and write their weights: `python -m benchmarks.train_refusal_model`.

A linear support vector machine with squared hinge loss, by dual coordinate descent (Hsieh et al. 2008, "A dual
coordinate descent method for large-scale linear SVM", ICML). The answers come from `benchmarks/refusal_answers` alone,
so that anyone can repeat it; the same answers give the same bytes. The thresholds come from scores of answers whose
cell (voice and tone) the scoring model has not seen.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from assay.text.refusal_model import (
    HEADS,
    KINDS,
    NEVER_PARTIAL,
    FeatureReader,
    ModelThresholds,
    RefusalModel,
    is_answer_by_classes,
    parse_weights,
)
from assay.text.refusal_model_file import MODEL_FOLDER, MODEL_LANGUAGES, load_model, load_reader
from assay.text.segmentation import normalise_answer

FOLDER = Path(__file__).parent / "refusal_answers"
OTHER_FILES = {
    "en": ("cases-en", "en", "rag", "product-en"),
    "vi": ("cases-vi", "vi", "rag-vi", "product-vi"),
}
FOLDS = 8
LEAST_DOCUMENTS = 2  # sentences that must hold a feature
COST, EPOCHS = 0.5, 25
LEAST_WEIGHT = 0.015
REFUSAL_PRECISION, UNDECIDED_PRECISION, PARTIAL_PRECISION = 0.96, 0.90, 0.85

Floats = npt.NDArray[np.float64]
Signs = npt.NDArray[np.int8]


@dataclass(frozen=True)
class TrainingAnswer:
    """An answer, its label, the cell of voice and tone that it was written for, and its file."""

    cell: str
    label: str
    text: str
    question: str = ""
    source: str = ""

    @property
    def is_refusal(self) -> bool:
        return self.label in KINDS

    @property
    def is_partial(self) -> bool:
        return self.label == "partial"


def read_voices(language: str, name: str = "voices") -> list[TrainingAnswer]:
    """Return the answers of a file by cells of voice and tone: `voices-LANGUAGE.tsv` unless another is named."""
    answers = []
    for line in (FOLDER / f"{name}-{language}.tsv").read_text("utf-8").splitlines()[1:]:
        cell, label, question, text = line.split("\t")
        answers.append(TrainingAnswer(cell, label, text.replace("\\n", "\n"), question, f"{name}-{language}"))
    return answers


def read_desks() -> dict[str, list[TrainingAnswer]]:
    """Return the answers of five desks by half: odd lines are for development, no model learns from either."""
    answers = read_voices("en", "desks")
    return {"development": answers[::2], "untouched": answers[1::2]}


def read_training_answers(language: str) -> list[TrainingAnswer]:
    """Return all committed answers of a language that can be read."""
    answers = read_voices(language) + read_voices(language, "later")
    for name in OTHER_FILES[language]:
        for index, line in enumerate((FOLDER / f"{name}.tsv").read_text("utf-8").splitlines()):
            label, text = line.split("\t")
            text = text.replace("\\n", "\n")
            answers.append(TrainingAnswer(f"{name} {index % FOLDS}", label, text, source=name))
    return [answer for answer in answers if answer.label != "none"]


@dataclass(frozen=True)
class Matrix:
    """Rows of features as numbers of columns and values, and which rows are answers by their classes alone.

    `fitted`: the weights that were learned so far, by the signs and the rows that they were learned from.
    """

    features: list[str]
    columns: list[npt.NDArray[np.int64]]
    values: list[Floats]
    is_answer: list[bool]
    fitted: dict[tuple[bytes, bytes], Floats] = field(default_factory=dict, repr=False, compare=False)


class TrainingSet(NamedTuple):
    """All answers that a model learns from, and their features."""

    answers: list[TrainingAnswer]
    matrix: Matrix


@cache
def load_training_set(language: str) -> TrainingSet:
    """Return what the model of a language learns from."""
    answers = read_training_answers(language)
    return TrainingSet(answers, make_matrix(load_reader(language), answers))


def make_matrix(reader: FeatureReader, answers: Sequence[TrainingAnswer]) -> Matrix:
    """Return the features of the answers, without those that too few hold."""
    read = [
        reader.read_features(normalise_answer(answer.text), normalise_answer(answer.question)) for answer in answers
    ]
    weighed = [features.weigh() for features in read]
    counts = Counter(feature for row in weighed for feature in row)
    features = sorted(feature for feature, count in counts.items() if count >= LEAST_DOCUMENTS)
    column_of = {feature: column for column, feature in enumerate(features)}
    columns, values = [], []
    for row in weighed:
        known = sorted((column_of[feature], value) for feature, value in row.items() if feature in column_of)
        columns.append(np.array([column for column, _ in known], dtype=np.int64))
        values.append(np.array([value for _, value in known]))
    return Matrix(features, columns, values, [is_answer_by_classes(row.classes) for row in read])


def fit_weights(matrix: Matrix, signs: Signs, rows: Sequence[int]) -> Floats:
    """Return one weight a feature for each head, shape (n_heads, n_features), from the given rows.

    `signs`: for each head which answers are wanted, shape (n_heads, n_answers); both signs weigh the same in total.
    The models of the folds, whose scores give the thresholds, are also those that unseen cells are told by: each is
    fitted once.
    """
    key = signs.tobytes(), np.array(rows, dtype=np.int32).tobytes()
    if key not in matrix.fitted:
        matrix.fitted[key] = _fit_weights(matrix, signs, rows)
    return matrix.fitted[key]


def _fit_weights(matrix: Matrix, signs: Signs, rows: Sequence[int]) -> Floats:
    heads = range(len(signs))
    weights = np.zeros((len(signs), len(matrix.features)))
    damping = []
    for head in heads:
        share = Counter(signs[head, rows].tolist())
        damping.append({sign: share[sign] / (COST * len(rows)) for sign in (-1, 1)})
    signs_of = signs.T.tolist()
    squares = {row: float(np.sum(matrix.values[row] ** 2)) for row in rows}
    multipliers = {row: [0.0] * len(signs) for row in rows}
    order = list(rows)
    shuffler = random.Random(0)
    for _ in range(EPOCHS):
        shuffler.shuffle(order)
        for row in order:
            columns, values = matrix.columns[row], matrix.values[row]
            present = weights.take(columns, axis=1)
            sums = (present @ values).tolist()
            row_signs, row_multipliers = signs_of[row], multipliers[row]
            for head in heads:
                sign, multiplier = row_signs[head], row_multipliers[head]
                gradient = sign * sums[head] - 1.0 + damping[head][sign] * multiplier
                if gradient >= 0 and not multiplier:  # most answers are told well enough, and change nothing
                    continue
                updated = max(0.0, multiplier - gradient / (squares[row] + damping[head][sign]))
                if updated != multiplier:
                    weights[head, columns] = present[head] + (updated - multiplier) * sign * values
                    row_multipliers[head] = updated
    return weights


def make_signs(*heads: Sequence[bool]) -> Signs:
    """Return 1 for each answer that a head is to tell from the rest, and -1 for the rest."""
    return np.where(np.array(heads, dtype=np.bool_), 1, -1).astype(np.int8)


def score_rows(matrix: Matrix, weights: Floats, rows: Sequence[int]) -> list[float]:
    """Return the score of each row."""
    return [float(np.sum(weights[matrix.columns[row]] * matrix.values[row])) for row in rows]


def split_by_cell(answers: Sequence[TrainingAnswer]) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the rows to learn from and the rows held out, so that each cell is held out once as a whole."""
    cells = sorted({answer.cell for answer in answers})
    fold_of = {cell: index % FOLDS for index, cell in enumerate(cells)}
    for fold in range(FOLDS):
        rows: tuple[list[int], list[int]] = ([], [])
        for row, answer in enumerate(answers):
            rows[fold_of[answer.cell] == fold].append(row)
        yield rows


def train_fold_models(language: str) -> Iterator[tuple[RefusalModel, list[TrainingAnswer]]]:
    """Yield a model for each fold, with the shipped thresholds, and the answers that it has not seen."""
    reader, shipped = load_reader(language), load_model(language)
    answers, matrix = load_training_set(language)
    for rows, held_out in split_by_cell(answers):
        content = format_weights(matrix, answers, rows, shipped.thresholds)
        yield parse_weights(content, language, reader), [answers[row] for row in held_out]


def score_unseen_cells(matrix: Matrix, answers: Sequence[TrainingAnswer], signs: Signs) -> list[list[float]]:
    """Return for each head the score of each answer by a model that has seen no answer of its cell; `signs`: what the
    heads tell from the rest. Answers by their classes alone have the lowest score."""
    scores = [[NEVER_PARTIAL] * len(answers) for _ in signs]
    for rows, held_out in split_by_cell(answers):
        weights = fit_weights(matrix, signs, rows)
        for head, scores_of_head in enumerate(scores):
            for row, score in zip(held_out, score_rows(matrix, weights[head], held_out), strict=True):
                if not matrix.is_answer[row]:
                    scores_of_head[row] = score
    return scores


def choose_threshold(is_wanted: Sequence[bool], scores: Sequence[float], precision: float) -> float:
    """Return the lowest score from which as many answers as wanted are what the scores tell from the rest."""
    ranked = sorted(zip(scores, is_wanted, strict=True), key=lambda pair: -pair[0])
    lowest = ranked[0][0]
    right = 0
    for count, (score, wanted) in enumerate(ranked, 1):
        right += wanted
        if right >= precision * count:
            lowest = score
    return round(lowest, 2)


def choose_thresholds(matrix: Matrix, answers: Sequence[TrainingAnswer]) -> ModelThresholds:
    """Return the thresholds at the wanted precisions; partial refusals are sought among what does not refuse."""
    is_refusal = [answer.is_refusal for answer in answers]
    is_partial = [answer.is_partial for answer in answers]
    scores, partial_scores = score_unseen_cells(matrix, answers, make_signs(is_refusal, is_partial))
    refusal = choose_threshold(is_refusal, scores, REFUSAL_PRECISION)
    undecided = choose_threshold(is_refusal, scores, UNDECIDED_PRECISION)
    left = [row for row, score in enumerate(scores) if score < refusal]
    partial = choose_threshold(
        [is_partial[row] for row in left], [partial_scores[row] for row in left], PARTIAL_PRECISION
    )
    return ModelThresholds(refusal, undecided, partial)


def train_model(language: str) -> str:
    """Return the file of weights that all answers of a language give."""
    answers, matrix = load_training_set(language)
    return format_weights(matrix, answers, range(len(answers)), choose_thresholds(matrix, answers))


def format_weights(
    matrix: Matrix, answers: Sequence[TrainingAnswer], rows: Sequence[int], thresholds: ModelThresholds
) -> str:
    """Return the file of weights that the answers in some rows give."""
    is_refusal, is_partial = [answer.is_refusal for answer in answers], [answer.is_partial for answer in answers]
    kinds = [[answer.label == kind for answer in answers] for kind in KINDS]
    columns = [*fit_weights(matrix, make_signs(is_refusal, is_partial), rows)]
    columns += [*fit_weights(matrix, make_signs(*kinds), [row for row in rows if is_refusal[row]])]
    lines = [f"{name} from\t{value:.2f}" for name, value in thresholds._asdict().items()]
    lines.append("\t".join(("feature", *HEADS)))
    for index, feature in enumerate(matrix.features):
        row = [float(column[index]) for column in columns]
        if max(map(abs, row)) >= LEAST_WEIGHT:
            lines.append("\t".join((feature, *(_format_weight(weight) for weight in row))))
    return "\n".join(lines) + "\n"


def _format_weight(weight: float) -> str:
    return f"{weight:.2f}" if abs(weight) >= LEAST_WEIGHT else ""


def main() -> int:
    """Write the weights of every language."""
    for language in MODEL_LANGUAGES:
        content = train_model(language)
        MODEL_FOLDER.joinpath(f"{language}.tsv").write_text(content, "utf-8")
        print(f"{language}: {content.count(chr(10)) - 4} features, {', '.join(content.splitlines()[:3])}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
