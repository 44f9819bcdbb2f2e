"""Train the models that tell what an answer does and write their weights: `python -m benchmarks.train_refusal_model`.

`--check` writes nothing and exits with 1 if what a model learned from has changed since; languages may be named. A
linear support vector machine with squared hinge loss, by dual coordinate descent (Hsieh et al. 2008, "A dual
coordinate descent method for large-scale linear SVM", ICML), one for each head. The answers come from
`benchmarks/refusal_answers` and `benchmarks/fact_answers` alone, so that anyone can repeat it; the same answers give
the same bytes."""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from assay.text.normalisation import fold_in_place
from assay.text.refusals.behaviour import detect_phrases
from assay.text.refusals.refusal_model import (
    ACTS,
    KINDS,
    LONGEST_READ,
    WEIGHT_TYPE,
    AnswerAct,
    ModelParameters,
    RefusalModel,
)
from assay.text.refusals.refusal_model_file import MODEL_FOLDER, MODEL_LANGUAGES
from assay.text.refusals.weighed_wording import list_cues
from assay.text.refusals.wording_features import (
    KEEPS_DIACRITICS,
    MASK_MARK,
    NO_MASKS,
    Masks,
    WordingFeatures,
    list_short_runs,
    mark_words,
    prepare_wording,
    read_features,
    split_tokens,
)

FOLDER = Path(__file__).parent / "refusal_answers"
FACT_FOLDER = Path(__file__).parent / "fact_answers"
OTHER_FILES = {
    "en": ("cases-en", "en", "rag", "product-en"),
    "vi": ("cases-vi", "vi", "rag-vi", "product-vi"),
}
QUESTION_FILES = ("voices", "later", "kept", "unseen", "desks", "stock", "free")
RECORD_FILES = ("mixed", "counters", "counters-later", "gaps")
FACT_FILES = (
    *("apartment", "aquarium", "bakery", "camping", "campus", "clinic", "counter", "dormitory", "everyday", "ferry"),
    *("holiday", "museum", "pharmacy", "railway", "service", "town", "wording"),
)
"""Of facts: right and wrong answers to questions, all of which answer."""
VIETNAMESE_LETTERS = frozenset("ăđơưạảấầậếềệốồộớờợụủứừựịỉọỏẹẻẽỵỳ")
OWN = "rules"
EXCHANGEABLE = json.loads((FOLDER / "exchangeable.json").read_text("utf-8"))
"""By language, groups of words each of which may stand for another of its group: colours, days, trades, things."""
WITHIN = re.compile(r"(?<=[^\W\d_A-Z] )[^\W\d_]{3,}")
"""A word within a sentence."""
NAME_RATIO = 0.7  # of the places within sentences where a name is capitalised
NAMED = frozenset(("en", "es", "fr", "pt"))
"""Languages in which a word that is capitalised within a sentence is a name."""
AUTHORS = {
    "unseen": "unseen",
    "counters-later": "counters",
    "gaps": OWN,
    "courtesies": OWN,
    "rules-of-assistants": OWN,
    "extracts": OWN,
    "procedures": OWN,
    "manuals": OWN,
    "frontlines-en": "frontlines",
    "frontlines-es-fr": "frontlines",
}
"""Who wrote a file: each file of records has an author of its own, unless it is here; the others are by the author of
the rules."""
FOLDS = 8
LEAST_SOURCES = {"en": 4, "vi": 4}
OTHER_LEAST_SOURCES = 3
"""Files that must hold a run: what one author alone writes is about the world, not about refusing."""
DENIAL_RATIO = 5.0
"""How many times as often refusals hold a run that denies as ordinary answers do."""
DENIAL_SOURCES = {"en": 8, "vi": 8}
OTHER_DENIAL_SOURCES = 4
"""Files with a refusal that holds it."""
COST, EPOCHS = 1.0, 15
LEAST_FREEDOM = 0.3  # of a run that all answers hold alike, beside the logarithm of a ratio
ORDINARY_FILES = frozenset(
    (
        *("ordinary-en", "ordinary-later-en", "ordinary-vi", "ordinary-six", "plain-en", "plain-others"),
        *(
            "direct-en",
            "direct-vi",
            "direct-six",
            "courtesies",
            "extracts",
            "extracts-later",
            "styles-plain",
            "procedures",
        ),
    )
)
ORDINARY_WEIGHT = 3.0  # of an ordinary answer: real systems give many more of them than these files hold
BARE = 2  # every second answer of a language that keeps diacritics is also learned from without them
WITHOUT_QUESTION = 3  # every third answer with a question is also learned from without it
LEAST_WEIGHT = 0.03  # of the heaviest of a head: lighter runs are left out
FACT_LANGUAGES = ("en", "vi")
Floats = npt.NDArray[np.float64]
Signs = npt.NDArray[np.int8]


class TrainingAnswer(NamedTuple):
    """An answer, what it does and which kind of refusal it is, "" if unknown; the file that it is from and who wrote
    that."""

    language: str
    act: AnswerAct
    kind: str
    text: str
    question: str
    source: str
    author: str


def read_answers(language: str) -> list[TrainingAnswer]:
    """Return the answers of a language that a model learns from."""
    answers = [*_read_question_files(language), *_read_plain_files(language), *_read_facts(language)]
    for path in (*(FOLDER / f"{name}.jsonl" for name in RECORD_FILES), *sorted((FOLDER / "wordings").glob("*.jsonl"))):
        answers += [answer for answer in read_records(path) if answer.language == language]
    return answers


@cache  # one file holds answers of all languages, and each language reads it
def read_records(path: Path) -> tuple[TrainingAnswer, ...]:
    """Return the answers of a file of records, with the act and kind that each is labelled with."""
    answers = []
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        author = AUTHORS.get(path.stem, path.stem)
        answers.append(
            TrainingAnswer(
                row["language"], row["label"], row.get("kind", ""), row["answer"], row["question"], path.stem, author
            )
        )
    return tuple(answers)


def read_labelled(language: str, label: str, text: str, question: str, source: str) -> TrainingAnswer | None:
    """Return the answer that a row of a table describes; None for a text that nobody can read."""
    label = "abstain" if label == "refusal" else label
    if label == "none":
        return None
    act = "refuse" if label in KINDS else label
    return TrainingAnswer(
        language,
        next(name for name in ACTS if name == act),
        label if label in KINDS else "",
        text.replace("\\n", "\n"),
        question.replace("\\n", "\n"),
        source,
        AUTHORS.get(source, OWN),
    )


def _read_question_files(language: str) -> Iterator[TrainingAnswer]:
    for name in QUESTION_FILES:
        path = FOLDER / f"{name}-{language}.tsv"
        if not path.exists():
            continue
        for line in path.read_text("utf-8").splitlines()[1:]:
            *_, label, question, text = line.split("\t")
            answer = read_labelled(language, label, text, question, name)
            if answer is not None:
                yield answer


def _read_plain_files(language: str) -> Iterator[TrainingAnswer]:
    for name in OTHER_FILES.get(language, (language,)):
        for line in (FOLDER / f"{name}.tsv").read_text("utf-8").splitlines():
            label, text = line.split("\t")
            answer = read_labelled(language, label, text, "", name)
            if answer is not None:
                yield answer


def _read_facts(language: str) -> Iterator[TrainingAnswer]:
    for name in FACT_FILES if language in FACT_LANGUAGES else ():
        for line in (FACT_FOLDER / f"{name}.tsv").read_text("utf-8").splitlines():
            label, *columns = line.split("\t")
            is_vietnamese = not VIETNAMESE_LETTERS.isdisjoint(line.lower())
            if label not in ("right", "wrong") or (language == "vi") is not is_vietnamese:
                continue
            question = next((column for column in columns if column.endswith("?")), "")
            answer = read_labelled(language, "answer", columns[-1], question, name)
            if answer is not None:
                yield answer


def read_answer_features(answer: TrainingAnswer, denials: AbstractSet[str], masks: Masks = NO_MASKS) -> WordingFeatures:
    """Return what a model sees of an answer; `denials` are the runs by which its language denies."""
    text, question = (prepare_wording(part, answer.language) for part in (answer.text[:LONGEST_READ], answer.question))
    return read_features(text, question, answer.language, denials, list_cues(detect_phrases(answer.text)), masks)


class TrainingSet(NamedTuple):
    """The rows that a model learns from: `answers` with a row each, then some again in other forms (`vary_answers`).

    `columns`, `values`: of each row, with the measures behind the runs. `keys`, `measures`: what the columns are.
    `denials`: the runs by which the language denies.
    """

    answers: list[TrainingAnswer]
    columns: list[npt.NDArray[np.int64]]
    values: list[Floats]
    keys: npt.NDArray[np.uint32]
    measures: list[str]
    denials: frozenset[str]
    masked: frozenset[str]


@cache
def load_training_set(language: str) -> TrainingSet:
    """Return what the model of a language learns from."""
    return make_training_set(read_answers(language))


def make_training_set(answers: Sequence[TrainingAnswer]) -> TrainingSet:
    """Return the rows of answers, without the runs that too few of them hold."""
    rows = [*answers, *vary_answers(answers)]
    masked = frozenset(choose_masked(answers))
    denials = frozenset(choose_denials(answers, masked))
    features = [read_answer_features(answer, denials, _mask_row(masked, row)) for row, answer in enumerate(rows)]
    keys = _list_common_keys(rows, features)
    measures = sorted({name for row in features for name, _ in row.measures})
    place_of = {name: len(keys) + place for place, name in enumerate(measures)}
    columns, values = [], []
    for row in features:
        places = np.minimum(np.searchsorted(keys, row.keys), len(keys) - 1)
        is_known = keys[places] == row.keys
        names = [place_of[name] for name, _ in row.measures]
        columns.append(np.concatenate([places[is_known], np.array(names, dtype=np.int64)]))
        measured = np.array([value for _, value in row.measures])
        values.append(np.concatenate([row.weigh_groups()[row.groups[is_known]], measured]))
    return TrainingSet(rows, columns, values, keys, measures, denials, masked)


def _mask_row(masked: AbstractSet[str], row: int) -> Masks:
    """Return the masks of a row, with a mark of its own, so that nothing can be learned from a masked word."""
    return Masks(masked, f"{MASK_MARK}{row}")


def choose_masked(answers: Sequence[TrainingAnswer]) -> set[str]:
    """Return the words that say nothing about what an answer does: those of `EXCHANGEABLE`, and names that several
    files hold."""
    language = answers[0].language
    masked = {prepare_wording(word, language) for group in EXCHANGEABLE.get(language, ()) for word in group}
    if language not in NAMED:
        return masked
    written = Counter(word for answer in answers for word in WITHIN.findall(answer.text))
    sources: dict[str, set[str]] = {}
    for answer in answers:
        for word in find_names(answer.text):
            sources.setdefault(word, set()).add(answer.source)
    least = LEAST_SOURCES.get(language, OTHER_LEAST_SOURCES)
    for word, of_word in sources.items():
        if len(of_word) >= least and written[word] >= NAME_RATIO * (written[word] + written[word.lower()]):
            masked.update(split_tokens(prepare_wording(word, language), language))
    return masked


def find_names(text: str) -> list[str]:
    """Return the capitalised words within the sentences of a text, which are names in the languages of `NAMED`."""
    return [word for word in WITHIN.findall(text) if word.istitle()]


def vary_answers(answers: Sequence[TrainingAnswer]) -> Iterator[TrainingAnswer]:
    """Yield some answers without their questions, and some without diacritics where those count."""
    for index, answer in enumerate(answers):
        if answer.question and index % WITHOUT_QUESTION == 0:
            yield answer._replace(question="")
    for answer in answers[::BARE]:
        if answer.language in KEEPS_DIACRITICS:
            yield answer._replace(text=fold_in_place(answer.text), question=fold_in_place(answer.question))


def _list_common_keys(rows: Sequence[TrainingAnswer], features: Sequence[WordingFeatures]) -> npt.NDArray[np.uint32]:
    """Return the keys that answers of several files hold, in ascending order."""
    keys_by_source: dict[str, list[npt.NDArray[np.uint32]]] = {}
    for answer, row in zip(rows, features, strict=True):
        keys_by_source.setdefault(answer.source, []).append(row.keys)
    of_sources = [np.unique(np.concatenate(keys)) for keys in keys_by_source.values()]
    keys, counts = np.unique(np.concatenate(of_sources), return_counts=True)
    return keys[counts >= LEAST_SOURCES.get(rows[0].language, OTHER_LEAST_SOURCES)]


def fit_weights(training: TrainingSet, signs: Signs, rows: Sequence[int]) -> Floats:
    """Return one weight a column for each head, shape (n_heads, n_columns), from the given rows.

    `signs`: for each head which answers are wanted, shape (n_heads, n_rows).
    """
    heads = range(len(signs))
    freedom = choose_freedom(training, signs, rows)
    weights = np.zeros_like(freedom)
    damping_of = [1.0 / (2.0 * COST * weigh_answer(answer)) for answer in training.answers]
    signs_of = signs.T.tolist()
    squares = {
        row: (training.values[row] ** 2 @ freedom[training.columns[row]] + damping_of[row]).tolist() for row in rows
    }
    multipliers = {row: [0.0] * len(signs) for row in rows}
    order = list(rows)
    shuffler = random.Random(0)
    for _ in range(EPOCHS):
        shuffler.shuffle(order)
        for row in order:
            columns, values, damping = training.columns[row], training.values[row], damping_of[row]
            sums = (values @ weights[columns]).tolist()
            row_signs, row_multipliers, row_squares = signs_of[row], multipliers[row], squares[row]
            steps = [0.0] * len(signs)
            for head in heads:
                sign, multiplier = row_signs[head], row_multipliers[head]
                gradient = sign * sums[head] - 1.0 + damping * multiplier
                updated = max(0.0, multiplier - gradient / row_squares[head])
                steps[head] = (updated - multiplier) * sign
                row_multipliers[head] = updated
            if any(steps):
                weights[columns] += values[:, np.newaxis] * freedom[columns] * steps
    return weights.T


def choose_freedom(training: TrainingSet, signs: Signs, rows: Sequence[int]) -> Floats:
    """Return how freely a column may weigh for each head, shape (n_columns, n_heads): the more, the more one-sided the
    answers are that hold it.

    The prior variance of a weight, by the logarithm of how many times as often wanted answers hold the column as the
    rest do (after Wang and Manning 2012, "Baselines and bigrams", ACL). 1 for measures, and for runs on average.
    """
    columns = np.concatenate([training.columns[row] for row in rows])
    lengths = [len(training.columns[row]) for row in rows]
    count = len(training.keys) + len(training.measures)
    freedom = np.ones((count, len(signs)))
    held = np.bincount(columns, minlength=count)
    is_run = np.arange(count) < len(training.keys)
    for head, row_signs in enumerate(signs[:, list(rows)] > 0):
        wanted = np.bincount(columns[np.repeat(row_signs, lengths)], minlength=count)
        shares = (wanted + 1) / (row_signs.sum() + 2), (held - wanted + 1) / ((~row_signs).sum() + 2)
        one_sided = LEAST_FREEDOM + np.abs(np.log(shares[0] / shares[1]))
        freedom[is_run, head] = (one_sided / np.average(one_sided[is_run], weights=held[is_run]))[is_run]
    return freedom


def weigh_answer(answer: TrainingAnswer) -> float:
    """Return how much an error on an answer counts."""
    return ORDINARY_WEIGHT if is_ordinary(answer) else 1.0


def is_ordinary(answer: TrainingAnswer) -> bool:
    """Return whether an answer is one that was not written to look like a refusal."""
    return answer.act == "answer" and (answer.source in ORDINARY_FILES or answer.source in FACT_FILES)


def make_signs(answers: Sequence[TrainingAnswer], names: Sequence[str], attribute: str) -> Signs:
    """Return 1 for each answer that a head tells from the rest, and -1 for the rest, shape (n_heads, n_answers)."""
    labels = [getattr(answer, attribute) for answer in answers]
    return np.array([[1 if label == name else -1 for label in labels] for name in names], dtype=np.int8)


def fit_heads(training: TrainingSet, rows: Sequence[int]) -> Floats:
    """Return one weight a column for each of `HEADS`; kinds are learned from refusals whose kind is known."""
    of_acts = fit_weights(training, make_signs(training.answers, ACTS, "act"), rows)
    refusals = [row for row in rows if training.answers[row].kind]
    of_kinds = fit_weights(training, make_signs(training.answers, KINDS, "kind"), refusals)
    return np.concatenate([of_acts, of_kinds])


def build_model(language: str, training: TrainingSet, weights: Floats) -> RefusalModel:
    """Return the model that the weights of all columns give."""
    of_runs, of_measures = weights[:, : len(training.keys)], weights[:, len(training.keys) :]
    scales = np.max(np.abs(of_runs), axis=1) / 127
    rounded = np.rint(of_runs / scales[:, np.newaxis]).astype(np.int8)
    heaviest = np.max(np.abs(rounded), axis=0)
    kept = heaviest >= LEAST_WEIGHT * 127
    table = np.empty(int(kept.sum()), dtype=WEIGHT_TYPE)
    table["key"], table["weights"] = training.keys[kept], rounded[:, kept].T
    measures = {
        # The sign of what rounds to zero differs between processors.
        name: [round(float(weight), 4) + 0.0 for weight in of_measures[:, place]]
        for place, name in enumerate(training.measures)
    }
    rounded_scales = tuple(float(f"{scale:.6g}") for scale in scales)
    parameters = ModelParameters(rounded_scales, measures, training.denials, training.masked)
    return RefusalModel(language, table, parameters)


def split_by_author(answers: Sequence[TrainingAnswer]) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the rows to learn from and the rows held out, so that each author is held out once as a whole."""
    authors = sorted({answer.author for answer in answers})
    fold_of = {author: index % FOLDS for index, author in enumerate(authors)}
    for fold in range(min(FOLDS, len(authors))):
        rows: tuple[list[int], list[int]] = ([], [])
        for row, answer in enumerate(answers):
            rows[fold_of[answer.author] == fold].append(row)
        yield rows


def train_fold_models(language: str) -> Iterator[tuple[RefusalModel, list[TrainingAnswer]]]:
    """Yield a model for each fold and the answers of the authors that it has not seen."""
    training = load_training_set(language)
    count = len(read_answers(language))
    for rows, held_out in split_by_author(training.answers):
        model = build_model(language, training, fit_heads(training, rows))
        yield model, [training.answers[row] for row in held_out if row < count]


def choose_denials(answers: Sequence[TrainingAnswer], masked: AbstractSet[str] = frozenset()) -> list[str]:
    """Return the short runs of words, none of them masked, that refusals hold several times as often as ordinary
    answers."""
    language = answers[0].language
    of_refusals, of_ordinary = Counter[str](), Counter[str]()
    sources: dict[str, set[str]] = {}
    refusals = ordinary = 0
    for answer in (*answers, *vary_answers(answers)):
        text, question = (prepare_wording(part, language) for part in (answer.text, answer.question))
        runs = list_short_runs(mark_words(text, question, language), language)
        if answer.act == "refuse":
            of_refusals.update(runs)
            refusals += 1
            for run in runs:
                sources.setdefault(run, set()).add(answer.source)
        elif is_ordinary(answer):
            of_ordinary.update(runs)
            ordinary += 1
    least = DENIAL_SOURCES.get(language, OTHER_DENIAL_SOURCES)
    denials = []
    for run, count in of_refusals.items():
        usual = (of_ordinary[run] + 0.5) * refusals / (ordinary + 0.5)
        words = run.split()
        has_word = any(word.isalpha() and word != "Q" for word in words) and masked.isdisjoint(words)
        if has_word and len(sources[run]) >= least and count >= DENIAL_RATIO * usual:
            denials.append(run)
    return sorted(denials)


def train_model(language: str) -> RefusalModel:
    """Return the model that all answers of a language give."""
    training = load_training_set(language)
    return build_model(language, training, fit_heads(training, range(len(training.answers))))


def format_parameters(language: str, model: RefusalModel) -> str:
    """Return the file of what a model has beside its weights, with a digest of what it learned from."""
    parameters = model.parameters
    content = {
        "learned_from": digest_training_set(language),
        "scales": parameters.scales,
        "denials": sorted(parameters.denials),
        "masked": sorted(parameters.masked),
        "measures": dict(parameters.measures),
    }
    return json.dumps(content, ensure_ascii=False, indent=0) + "\n"


def digest_training_set(language: str) -> str:
    """Return a digest of all that the model of a language learns from: acts, kinds, runs and measures."""
    digest = hashlib.sha256(f"{COST} {EPOCHS} {LEAST_FREEDOM} {LEAST_WEIGHT} {ORDINARY_WEIGHT} {BARE}".encode())
    answers = read_answers(language)
    masked = frozenset(choose_masked(answers))
    denials = frozenset(choose_denials(answers, masked))
    for answer in answers:
        features = read_answer_features(answer, denials, Masks(masked))
        digest.update(f"{answer.act} {answer.kind} {answer.source} {features.measures}".encode())
        digest.update(features.keys.tobytes())
    return digest.hexdigest()


def main() -> int:
    """Write the models, or check that they are up to date."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("languages", nargs="*", default=MODEL_LANGUAGES)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    MODEL_FOLDER.mkdir(exist_ok=True)
    is_old = False
    for language in options.languages:
        if options.check:
            recorded = json.loads((MODEL_FOLDER / f"{language}.json").read_text("utf-8"))["learned_from"]
            if recorded != digest_training_set(language):
                print(f"{language}: the model learned from something else")
                is_old = True
            continue
        model = train_model(language)
        np.save(MODEL_FOLDER / f"{language}.npy", model.table)
        (MODEL_FOLDER / f"{language}.json").write_text(format_parameters(language, model), "utf-8")
        print(f"{language}: {len(read_answers(language))} answers, {len(model.table)} runs")
    return 1 if is_old else 0


if __name__ == "__main__":
    sys.exit(main())
