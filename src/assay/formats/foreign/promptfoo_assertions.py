"""The assertions of tests of promptfoo: what they demand of an answer, and by what Assay measures the others.

https://www.promptfoo.dev/docs/configuration/expected-outputs describes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from assay.formats.foreign.rows import ForeignRows, make_question_id
from assay.records.golden_set import AnswerFormat, Case, Rubric
from assay.text.linear_patterns import PatternError, compile_linear

FILE_PREFIX = "file://"
_SAME_TEXT = ("equals", "factuality", "similar", "answer-relevance-reference")
_CONTAINED = ("contains", "icontains", "contains-all", "icontains-all")
_ANY_CONTAINED = ("contains-any", "icontains-any")
_NO_BOOLEAN = ("contains", "icontains", "not-contains", "not-icontains")
"""Assertions that fail in promptfoo where their value is true or false, and not a text or a number."""
_NOT_CONTAINED = ("not-contains", "not-icontains")

LIMITED_METRICS = {"latency": "latency_ms(stat=p95)", "cost": "cost_usd(stat=p95)"}
"""The metric of which an assertion that limits every answer is a rule."""
_RUBRIC, _FUNCTION = "a rubric of your own for a judge", "a metric of your own in Python"
_LIKENESS = "the metric answer_similarity"
_COUNTERPARTS = {
    **dict.fromkeys(("llm-rubric", "g-eval", "model-graded-closedqa", "pi", "search-rubric"), _RUBRIC),
    **dict.fromkeys(("javascript", "python", "ruby", "webhook"), _FUNCTION),
    **dict.fromkeys(("rouge-n", "bleu", "gleu", "meteor", "levenshtein"), _LIKENESS),
    "context-recall": "the metric context_recall, once the evidence is labelled",
    "context-relevance": "the metric context_precision, once the evidence is labelled",
    "context-faithfulness": "the metric faithfulness(by=judge)",
    "answer-relevance": "the metric answer_relevance(by=judge)",
    "starts-with": "answer_format with a pattern",
    **{kind: f"a rule on {metric}" for kind, metric in LIMITED_METRICS.items()},
}
"""What measures in Assay what an assertion of a kind asks, where an import cannot set it up."""


_FIRST_WITH_EXPONENT = 1e21
TEMPLATE = re.compile(r"\{\{ *(\w+) *\}\}")


def fill_template(text: str, variables: Mapping[str, str]) -> str:
    """Return a text with the variables of its test in their places; others stay.

    >>> fill_template("{{ price }} for {{whom}}", {"price": "9 EUR"})
    '9 EUR for {{whom}}'
    """
    return TEMPLATE.sub(lambda place: variables.get(place[1], place[0]), text)


def write_scalar(value: str | float) -> str:
    """Return a value as JavaScript writes it into a text.

    >>> [write_scalar(value) for value in ("no", True, 12, 12.0, 0.5)]
    ['no', 'true', '12', '12', '0.5']
    """
    if isinstance(value, bool):
        return str(value).lower()
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < _FIRST_WITH_EXPONENT
    return str(int(value)) if is_whole else str(value)


@dataclass
class Demands:
    """What the assertions of one test demand: texts by what must be with them, a form, and whether to refuse."""

    references: list[str] = field(default_factory=list)
    must_have: list[str] = field(default_factory=list)
    any_of: list[str] = field(default_factory=list)
    none_of: list[str] = field(default_factory=list)
    pattern: str | None = None
    json_schema: dict[str, Any] | None = None
    words: tuple[int | None, int | None] | None = None
    refuses: bool = False
    limits: dict[str, float] = field(default_factory=dict)
    """The most that an answer may take, by the kind of the assertion."""

    def add_texts(self, kind: str, value: Any, variables: Mapping[str, str]) -> bool:
        """Take the texts of an assertion about texts; False for another kind, and for what has no place in a case.

        That are texts in other files or of unknown variables, a second reference, a second list of alternatives, and
        what is no text to promptfoo.
        """
        if isinstance(value, str) and kind.endswith(("-any", "-all")):
            value = [part.strip() for part in value.split(",")]
        if isinstance(value, bool) and kind in _NO_BOOLEAN:
            return False
        items = value if isinstance(value, list) else [value]
        texts = [write_scalar(item) for item in items if isinstance(item, (str, int, float))]
        texts = [fill_template(text, variables) for text in texts if text != ""]
        kept = {
            **dict.fromkeys(_SAME_TEXT, self.references),
            **dict.fromkeys(_CONTAINED, self.must_have),
            **dict.fromkeys(_ANY_CONTAINED, self.any_of),
            **dict.fromkeys(_NOT_CONTAINED, self.none_of),
        }.get(kind)
        is_elsewhere = any(text.startswith(FILE_PREFIX) or TEMPLATE.search(text) for text in texts)
        is_second = bool(kept) and kind in (*_SAME_TEXT, *_ANY_CONTAINED)
        if kept is None or not texts or is_elsewhere or is_second:
            return False
        kept += texts
        if kind == "equals":
            self.must_have += texts
        return True

    def add_form(self, kind: str, value: Any) -> bool:
        """Take an assertion about the form of the answer or about a refusal; False for another, or a second one."""
        if kind == "is-refusal":
            self.refuses = True
        elif kind == "not-is-refusal":
            return not self.refuses  # an answer is what is expected without it too
        elif kind == "regex" and self.pattern is None and isinstance(value, str) and _is_pattern(value):
            self.pattern = value
        elif kind == "is-json" and self.json_schema is None and (value is None or isinstance(value, dict)):
            self.json_schema = value or {}
        elif kind == "word-count" and self.words is None and _read_word_count(value) is not None:
            self.words = _read_word_count(value)
        else:
            return False
        return True

    def add_limit(self, kind: str, threshold: Any) -> bool:
        """Take the most milliseconds or dollars that an answer may take; False for anything else."""
        if isinstance(threshold, bool) or not isinstance(threshold, (int, float)) or threshold < 0:
            return False
        self.limits[kind] = min(threshold, self.limits.get(kind, threshold))
        return True

    def build_case(self, question: str) -> Case:
        """Return the case of a question with what is demanded of its answer."""
        rubric = Rubric(tuple(self.any_of), tuple(self.none_of)) if self.any_of or self.none_of else None
        fewest, most = self.words or (None, None)
        has_form = not (self.pattern is None and self.json_schema is None and self.words is None)
        form = AnswerFormat(self.pattern, self.json_schema, min_words=fewest, max_words=most) if has_form else None
        return Case(
            make_question_id(question),
            question,
            behaviour="abstain" if self.refuses else "answer",
            reference=self.references[0] if self.references else None,
            must_have=tuple(dict.fromkeys(self.must_have)),
            rubric=rubric,
            answer_format=form,
        )


def _read_word_count(value: Any) -> tuple[int | None, int | None] | None:
    """Return the fewest and the most words that are asked for; None for what is no count.

    >>> _read_word_count(9), _read_word_count({"max": 50}), _read_word_count("{{count}}")
    ((9, 9), (None, 50), None)
    """
    limits = (value.get("min"), value.get("max")) if isinstance(value, Mapping) else (value, value)
    counts = [limit for limit in limits if limit is not None]
    is_count = all(isinstance(limit, int) and not isinstance(limit, bool) and limit >= 0 for limit in counts)
    return limits if counts and is_count else None


def _is_pattern(text: str) -> bool:
    """Return whether a pattern of JavaScript is one that runs in linear time here; others are counted, not imported."""
    try:
        compile_linear(text)
    except PatternError:
        return False
    return True


def read_assertions(assertions: Sequence[Any], variables: Mapping[str, str], foreign: ForeignRows) -> Demands:
    """Return what the assertions demand; the others are counted, as ones with a counterpart or as ignored."""
    demands = Demands()
    for assertion in _open_sets(assertions):
        members = assertion if isinstance(assertion, Mapping) else {}
        kind, value = str(members.get("type", "?")), members.get("value")
        if kind in LIMITED_METRICS and demands.add_limit(kind, members.get("threshold")):
            continue
        if demands.add_texts(kind, value, variables) or demands.add_form(kind, value):
            foreign.ignored.update(f"assert {kind}: {key}" for key in ("weight", "threshold") if key in members)
        else:
            leave_out_assertion(kind, foreign)
    return demands


def _open_sets(assertions: Sequence[Any]) -> Iterator[Any]:
    """Yield assertions with those of a set in the place of it, unless only a share of the set must pass."""
    for assertion in assertions:
        members = assertion if isinstance(assertion, Mapping) else {}
        inner = members.get("assert")
        if members.get("type") == "assert-set" and isinstance(inner, list) and "threshold" not in members:
            yield from inner
        else:
            yield assertion


def leave_out_assertion(kind: str, foreign: ForeignRows, count: int = 1) -> None:
    """Count an assertion that was not imported, with what measures in Assay what it asks."""
    counterpart = _COUNTERPARTS.get(kind.removeprefix("not-"))
    if counterpart is None:
        foreign.ignored[f"assert {kind}"] += count
    else:
        foreign.counterparts[f"assert {kind} ({counterpart})"] += count
