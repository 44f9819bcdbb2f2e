"""How often entities of a question are told apart from their neighbours, on questions with known truth.

`python -m benchmarks.entities [--questions N] [--seed N]` makes questions that name incidents, CVEs and firms,
and for each a passage of which it is known which of them it mentions: the entity as it is written, in another case or
with other hyphens, a neighbour that differs in one digit or holds the code as a part, or nothing. It prints how many
entities of the questions were found, and how many verdicts "mentioned" and "missing" were right, with Wilson intervals
and counts. Exit 1 below .97. The questions are made from a few patterns: real ones name things in more ways.
"""

from __future__ import annotations

import argparse
import random
import sys
from typing import NamedTuple

from assay.stats.intervals import wilson_interval
from assay.text.question_entities import find_missing_entities, find_question_entities

FIRMS = ("Delft Medical", "Norwood Freight", "Hải Long", "Orchid Labs", "Van der Meer")
QUESTIONS = (
    "Who closed {code}?",
    "Does {firm} follow {code}, and since when?",
    "why is {code} still open at {firm}",
    "Is {code} the one that {firm} reported?",
    "Trạng thái của {code} ở {firm} là gì?",
)
PASSAGES = (
    "The report on {} was filed on Monday.",
    "{}: closed.",
    "See {}, page 3.",
    "We spoke with {} about the plan.",
)
BAR = 0.97


class QuestionWithTruth(NamedTuple):
    """A question, the entities that it names, its passages, and the entities that these mention."""

    question: str
    entities: frozenset[str]
    passages: tuple[str, ...]
    mentioned: frozenset[str]


def make_question(rng: random.Random) -> QuestionWithTruth:
    """Return a question whose truth is known because it was made from it."""
    number = rng.randint(100, 998)
    code = rng.choice((f"INC-2024-{number}", f"CVE-2024-{number}4", f"SKU-{number}", f"RFC{number}", f"AB-{number}/7"))
    firm = rng.choice(FIRMS)
    template = rng.choice(QUESTIONS)
    entities = {code} | ({firm} if "{firm}" in template else set())
    passages, mentioned = ["Nothing else was discussed."], set()
    for entity in sorted(entities):
        written, is_it = _write(entity, rng)
        if written:
            passages.append(rng.choice(PASSAGES).format(written))
        if is_it:
            mentioned.add(entity)
    return QuestionWithTruth(
        template.format(code=code, firm=firm), frozenset(entities), tuple(passages), frozenset(mentioned)
    )


def _write(entity: str, rng: random.Random) -> tuple[str, bool]:
    """Return how a passage writes an entity, or another one that looks like it, and whether it is the entity."""
    kind = rng.choice(("same", "case", "hyphens", "neighbour", "longer", "nothing"))
    if kind == "same":
        return entity, True
    if kind == "case":
        return entity.lower() if rng.random() < 0.5 else entity.upper(), True
    if kind == "hyphens":
        return entity.replace("-", " ") if "-" in entity else f"“{entity}”", True
    if kind == "neighbour":
        return (entity[:-1] + str((int(entity[-1]) + 1) % 10) if entity[-1].isdigit() else f"{entity[:-2]}ix"), False
    if kind == "longer":
        return (entity + "2" if entity[-1].isdigit() else f"{entity[:3]} Works"), False
    return "", False


def main() -> int:
    """Print the figures; return 1 if one is below the bar."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--questions", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    counts = {"entities of the questions found": [0, 0], "verdict mentioned is right": [0, 0]}
    counts["verdict missing is right"] = [0, 0]
    for _ in range(options.questions):
        asked = make_question(rng)
        named = find_question_entities(asked.question)
        missing = find_missing_entities(named, asked.passages)
        counts["entities of the questions found"][0] += len(asked.entities & set(named))
        counts["entities of the questions found"][1] += len(asked.entities)
        for entity in asked.entities & set(named):
            name = "verdict missing is right" if entity in missing else "verdict mentioned is right"
            counts[name][0] += (entity in missing) != (entity in asked.mentioned)
            counts[name][1] += 1
    low = False
    for name, (right, total) in counts.items():
        bounds = wilson_interval(right, total)
        print(f"{name}: {right / total:.3f} ({bounds.low:.3f} to {bounds.high:.3f}, n={total})")
        low = low or right / total < BAR
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main())
