"""What the rules do with endless answers, many facts, many numbers and many chunks grows with them, and not faster.

Work is counted, not timed: each call of a function of the rules, and each character that a function reads through.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from types import FrameType

import pytest

from assay import score
from assay.records.golden_set import Case, GoldenSet, Rubric
from assay.records.observations import Chunk, Observation, Stage

_WORDS = (
    "member choir hall evening ticket fee window deposit month garden booking guest singer tea parcel glove".split()
)
_READERS = {
    *(
        "fold_in_place",
        "fold_text",
        "normalise_nfc",
        "split_glued_units",
        "write_spoken_numbers",
        "write_vietnamese_forms",
    ),
    *("parse_terms", "parse_elements", "parse_term_keys", "_find", "find_token_spans", "_scan_quantities"),
    "remove_markup",
}
"""Functions that read through the text that they are given."""
_CHARACTERS_A_CALL = 50


class WorkCount:
    """Counts the calls of functions of Assay, and the characters that some of them read through."""

    def __init__(self) -> None:
        self.calls = 0
        self.characters = 0

    def note(self, frame: FrameType, event: str, _: object) -> None:
        """Count one call; Python calls this where a function begins, and traces no lines of it."""
        if event != "call" or "assay" not in frame.f_code.co_filename:
            return
        self.calls += 1
        if frame.f_code.co_name in _READERS:
            text = frame.f_locals.get("text")
            self.characters += len(text) if isinstance(text, str) else 0

    @property
    def total(self) -> float:
        """The calls, with what is read through."""
        return self.calls + self.characters / _CHARACTERS_A_CALL


def measure_work(case: Case, observation: Observation) -> float:
    count = WorkCount()
    golden = GoldenSet((case,))
    sys.settrace(count.note)  # a profiler would be called at the end of each function too, and for those written in C
    try:
        score(golden, [observation])
    finally:
        sys.settrace(None)
    return count.total


def write_sentences(count: int, seed: int) -> list[str]:
    chance = random.Random(seed)
    sentences = []
    for _ in range(count):
        words = [chance.choice(_WORDS) for _ in range(9)]
        words.insert(4, chance.choice(["costs", "is", "takes"]))
        words.insert(5, chance.choice([f"£{chance.randint(1, 999)}", f"{chance.randint(1, 99)} days"]))
        sentences.append(" ".join(words).capitalize() + ".")
    return sentences


def make_case(
    facts: tuple[str, ...] = ("12 days", "the manager approves"), reference: str = "12 days of leave."
) -> Case:
    return Case(
        "q",
        "How many days of leave do members get?",
        reference=reference,
        must_have=facts,
        rubric=Rubric(correct_keywords=("12 days",)),
    )


def observe(answer: str, chunks: list[str]) -> Observation:
    stage = Stage("context", tuple(Chunk(f"c{number}", text=text) for number, text in enumerate(chunks)))
    return Observation("q", "c", stages=(stage,), answer=answer, citations=("c0",))


_CHUNKS = ["Members get 12 days of leave. The manager approves it.", *write_sentences(15, 3)]


def ask_for_many_facts(count: int) -> tuple[Case, Observation]:
    facts = tuple(f"{number + 3} {_WORDS[number % 7]} are for the {_WORDS[7 + number % 9]}" for number in range(count))
    return make_case(facts, ". ".join(facts)), observe(". ".join(facts) + ".", _CHUNKS)


SHAPES: dict[str, Callable[[int], tuple[Case, Observation]]] = {
    "sentences": lambda n: (make_case(), observe("12 days. " + " ".join(write_sentences(n, 1)), _CHUNKS)),
    "one sentence": lambda n: (
        make_case(),
        observe("members get 12 days " + " ".join(write_sentences(4 * n, 1)).replace(".", "").lower(), _CHUNKS),
    ),
    "numbers": lambda n: (
        make_case(),
        observe("12 days " + " ".join(str(7919 * k % 99991) for k in range(6 * n)), _CHUNKS),
    ),
    "items": lambda n: (make_case(), observe("\n".join(f"- item {k} costs £{k + 7}." for k in range(n)), _CHUNKS)),
    "chunks": lambda n: (make_case(), observe(" ".join(write_sentences(5, 1)), write_sentences(n, 2))),
    "facts": ask_for_many_facts,
}


@pytest.fixture(scope="module", autouse=True)
def loaded() -> None:
    """What is loaded and compiled once, whatever the shape."""
    score(GoldenSet((make_case(),)), [observe("members get leave " * 1000, _CHUNKS)])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "most", "count"),
    # Each fact is looked for among all the quantities of an answer, which here grow with the facts.
    [
        *((shape, 2.3, 60) for shape in ("sentences", "one sentence", "numbers", "items", "chunks")),
        ("facts", 2.8, 40),
    ],
)
def test_twice_as_much_takes_about_twice_the_work(shape: str, most: float, count: int) -> None:
    measure_work(*SHAPES[shape](10))  # what is loaded and compiled once
    small, large = (measure_work(*SHAPES[shape](number)) for number in (count, 2 * count))
    assert large < most * small


def test_what_is_left_out_of_an_endless_answer_is_said() -> None:
    golden = GoldenSet((make_case(),))
    short, long = (observe(" ".join(write_sentences(count, 1)), _CHUNKS) for count in (40, 3000))
    assert not [
        line for line in score(golden, [short], metrics="correct_answer").run.scoring.warnings if "characters" in line
    ]
    endless = observe("12 days " + " ".join(write_sentences(80, 1)).replace(".", ""), _CHUNKS)
    for row, said in (
        (long, "1 answer of more than 200,000 characters"),
        (endless, "1 answer with a sentence of more than 4,000"),
    ):
        warnings = score(golden, [row], metrics="correct_answer").run.scoring.warnings
        assert [line for line in warnings if line.startswith(said)], warnings
