"""More faults of the depot, written when the rules had learned from the later faults, in mechanisms that neither they
nor the first faults have.

They are scored once, after the rules are frozen, and are a group of their own in `benchmarks.attribution`. What each
declares was written down before any rule saw it, with the reason beside it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from msgspec.structs import replace as replace_fields

from assay.records.golden_set import Case, User
from benchmarks.depot import pipeline
from benchmarks.depot.documents import TODAY, Passage
from benchmarks.depot.faults import Fault, declare_fault, prepare_each
from benchmarks.depot.labels import LabelFault
from benchmarks.depot.pipeline import Answer, Depot, Parts, Ranking, with_body

_UNIT = re.compile(r"(?<=\d) ?(?:l/min|m3/h|l/h|kW|kg|mm|dB|EUR|NOK|W|l|h|m)(?= \|)")
_IMPERIAL = (
    ("kilograms", "pounds", 0.4536),
    ("millimetres", "inches", 25.4),
    ("metres", "feet", 0.3048),
    ("litres", "gallons", 3.785),
)
"""A unit, the one that it is converted to, and the factor by which it should be divided."""
_SCORE_FLOOR = 0.9


# ── the index ────────────────────────────────────────────────────────────────────────────────────────────────────


def _lose_units(passage: Passage) -> list[Passage]:
    """Lose the units in the cells of a table, as a reader that takes cells for numbers does."""
    return [with_body(passage, _UNIT.sub("", passage.body))] if passage.kind == "table" else [passage]


def _shift_boundaries(passages: Sequence[Passage]) -> list[Passage]:
    """Let each text begin with the last sentence of the one before, and end one sentence too early, as a splitter that
    counts positions in another encoding does."""
    carried, shifted = "", []
    for passage in passages:
        sentences = re.split(r"(?<=[.!?])\s+(?=[A-Z])", passage.body)
        if passage.kind == "table" or len(sentences) < 2:
            shifted.append(passage)
            continue
        shifted.append(with_body(passage, " ".join(filter(None, [carried, *sentences[:-1]]))))
        carried = sentences[-1]
    return shifted


def _keep_first_of_title(passages: Sequence[Passage]) -> list[Passage]:
    """Index one passage of each title, the oldest, as a removal of duplicates that compares titles does."""
    by_title: dict[str, Passage] = {}
    for passage in passages:
        by_title.setdefault(passage.title, passage)
    return list(by_title.values())


def _serve_staging(passages: Sequence[Passage]) -> list[Passage]:
    """Serve the index of the staging system: tables with the values of a draft, and no news since March."""
    staged = []
    for passage in passages:
        if passage.kind == "news" and passage.valid_from >= "2026-03-01":
            continue
        is_draft = passage.kind == "table"
        body = re.sub(r"\d(?=\D*$)", _count_on, passage.body, flags=re.MULTILINE) if is_draft else passage.body
        staged.append(with_body(passage, body))
    return staged


def _count_on(digit: re.Match[str]) -> str:
    return str((int(digit[0]) + 2) % 10)


# ── search, filter, rerank, context ──────────────────────────────────────────────────────────────────────────────


def _search_conversation(parts: Parts) -> Parts:
    """Search for the last four questions together, as a query that is not condensed from its conversation does."""
    asked: list[str] = []

    def rewrite(question: str) -> str:
        asked.append(pipeline.rewrite(question))
        return " ".join(asked[-4:])

    return replace(parts, rewrite=rewrite)


def _compare_dates_as_text(ranking: Ranking, query: str) -> Ranking:
    """Keep the news up to today, by dates that are compared as texts with the day in front."""
    today = _write_day_first(TODAY)
    kept = pipeline.filter_passages(ranking, query)
    return [passage for passage in kept if passage.kind != "news" or _write_day_first(passage.valid_from) <= today]


def _write_day_first(day: str) -> str:
    return ".".join(reversed(day.split("-")))


def _drop_low_scores(ranking: Ranking, query: str, depot: Depot) -> Ranking:
    """Drop what scores below a limit that was set for another model."""
    ranked = pipeline.rerank(ranking, query, depot)
    return [passage for passage in ranked if depot.score_passage(query, passage) >= _SCORE_FLOOR]


def _pack_by_id(ranking: Ranking) -> Ranking:
    """Sort by id what was ranked, and cut off the tail."""
    return pipeline.pack(sorted(ranking, key=lambda passage: passage.chunk_id))


def _lose_table_rows(context: Ranking) -> Ranking:
    """Lose the lines that begin with a bar, which a template takes for its own marks."""
    return [
        with_body(passage, "\n".join(line for line in passage.body.splitlines() if not line.startswith("|")))
        for passage in context
    ]


# ── generation, citation, access, labels ─────────────────────────────────────────────────────────────────────────


def _repeat_previous_answer(parts: Parts) -> Parts:
    """Say what was said to the question before, as a model that copies from the conversation does."""
    answers: list[Answer] = []

    def generate(question: str, context: Ranking, depot: Depot) -> Answer:
        answers.append(pipeline.generate(question, context, depot))
        if len(answers) < 2:
            return answers[-1]
        text = answers[-2].text
        return Answer(text, answers[-1].lines, distorted=text != answers[-1].text)

    return replace(parts, generate=generate)


def _convert_units(question: str, context: Ranking, depot: Depot) -> Answer:
    """Convert to imperial units by multiplying where one must divide."""
    answer = pipeline.generate(question, context, depot)
    text = answer.text
    for unit, other, factor in _IMPERIAL:
        text = re.sub(
            rf"(\d+(?:\.\d+)?) {unit}\b",
            lambda match, other=other, factor=factor: f"{float(match[1]) * factor:.1f} {other}",  # type: ignore[misc]  # mypy does not see the defaults of a lambda
            text,
        )
    return Answer(text, answer.lines, distorted=text != answer.text)


def _cite_by_sorted_number(answer: Answer, context: Ranking) -> list[str]:
    """Resolve the numbers of citations in the context sorted by id, not in the one that was shown."""
    ids = [passage.chunk_id for passage in context]
    numbers = [ids.index(name) for name in pipeline.cite(answer, context) if name in ids]
    return [sorted(ids)[number] for number in numbers]


def _mix_up_users(parts: Parts) -> Parts:
    """Search with the rights of the user who asked before, as a session that is kept without its user does."""
    users: list[User] = []

    def is_visible(passage: Passage, user: User) -> bool:
        if not users or users[-1] is not user:
            users.append(user)
        return pipeline.is_visible(passage, users[-2] if len(users) > 1 else user)

    return replace(parts, visible=is_visible)


def _round_labels(case: Case) -> Case:
    """State facts rounded to one digit."""
    facts = tuple(re.sub(r"\d+(?:\.\d+)?", _round_to_one_digit, fact) for fact in case.must_have)
    return replace_fields(case, must_have=facts) if facts != case.must_have else case


def _round_to_one_digit(number: re.Match[str]) -> str:
    return f"{float(f'{float(number[0]):.0e}'):g}"


def _with(**changes: object) -> Callable[[Parts], Parts]:
    return lambda parts: replace(parts, **changes)  # type: ignore[arg-type]  # the names are those of Parts


SECOND_LATER_FAULTS: dict[str, Fault[Parts]] = {
    # The indexed cells lack a part of the document's cells, and nothing is in its place.
    "second:lost-units": declare_fault("tables lose their units", prepare_each(_lose_units), "parser", "csm"),
    # Sentences are whole, and stand in the chunk of another section.
    "second:shifted-boundaries": declare_fault(
        "each text has a sentence of the one before", _with(prepare=_shift_boundaries), "chunking", "csm"
    ),
    # Nothing shows a chunk that is not indexed; where an older edition is served instead, the index is stale.
    "second:one-of-each-title": declare_fault(
        "one passage of each title is indexed", _with(prepare=_keep_first_of_title), "stale_index embedding", "sm"
    ),
    # Drafts are another wording under the same id; the missing news are later than everything that is shown.
    "second:staging": declare_fault(
        "the index of the staging system is served", _with(prepare=_serve_staging), "stale_index embedding", "csm"
    ),
    # The query as it was sent is wrong; where it is not recorded, the step that ranks the evidence too low fits too.
    "second:conversation-query": declare_fault(
        "the last four questions are searched for together",
        _search_conversation,
        "bm25_analyzer",
        "m",
        c="bm25_analyzer reranker",
        s="bm25_analyzer reranker",
    ),
    # The list of the search is short by design: its ranking, or the size of the pool, loses the evidence.
    "second:tiny-pool": declare_fault(
        "the search returns one chunk", _with(search=lambda ranking: ranking[:1]), "bm25_analyzer hybrid_merge", "m"
    ),
    # The search had it, and the filter drops it.
    "second:dates-as-text": declare_fault(
        "the filter compares dates as text", _with(filter=_compare_dates_as_text), "hybrid_merge", "m"
    ),
    # The reranker receives it and drops it.
    "second:score-floor": declare_fault(
        "what scores below a limit is dropped", _with(rerank=_drop_low_scores), "reranker", "m"
    ),
    # The last ranking has it near the top, and the context has chunks from below it.
    "second:id-order": declare_fault(
        "the context is cut in the order of ids", _with(pack=_pack_by_id), "context_builder"
    ),
    # What the trace calls the context has the rows: the generator, or what fills its prompt, loses them.
    "second:template": declare_fault(
        "the prompt lacks the rows of tables", _with(prompt=_lose_table_rows), "generator context_builder"
    ),
    # The context has the evidence, and the answer is about something else.
    "second:previous-answer": declare_fault(
        "the answer to the question before is repeated", _repeat_previous_answer, "generator"
    ),
    # The context has the quantity, and the answer another one.
    "second:imperial": declare_fault("units are converted wrongly", _with(generate=_convert_units), "generator"),
    # The answer is right, and its source is another chunk of the context.
    "second:renumbered": declare_fault(
        "citations are numbered in another order", _with(cite=_cite_by_sorted_number), "citation"
    ),
    # Too much or too little is shown; what is not shown may as well be missing from the index.
    "second:previous-user": declare_fault(
        "the rights of the user before are used", _mix_up_users, "acl embedding stale_index", "csm"
    ),
}
"""Faults of the pipeline."""

SECOND_LATER_LABEL_FAULTS: dict[str, LabelFault] = {
    # The evidence does not say what the case requires.
    "second:rounded-labels": LabelFault("facts are rounded", _round_labels, frozenset({"stages"})),
}
"""Faults of the labels."""
