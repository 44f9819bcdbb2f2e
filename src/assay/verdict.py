"""What is asked of a judge, what it said, and what people said: append-only facts beside the observations.

A judge only ever chooses labels from a closed set; code turns labels into numbers.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any, Literal

from msgspec import Struct

from assay.digest import digest
from assay.model import Count, NonNegative

UNSCORED = Literal[
    "judge_parse",
    "off_menu",
    "quote",
    "refused",
    "truncated",
    "canary",
    "budget",
    "deadline",
    "quorum",
    "tie",
    "provider",
    "too_long",
]
"""Why a judge gave no usable verdict."""


class RubricLabel(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One label that a judge may choose: its anchor, and the number that code makes of it (None: it has none)."""

    name: str
    meaning: str
    value: float | None = None
    examples: tuple[str, ...] = ()


class JudgeRubric(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A versioned question to a judge in one language. `inputs` are the keys that a request must give.

    What is labelled is one thing (`answer`) or, with `per_item`, each entry of the first input: its ids are the items
    of the request. An input is a text, null (not known), or a list of entries {id, text}, with {source: id of another
    input's entry} where one belongs to the other. `quotes`: labels that need a verbatim quote, taken from the inputs
    in `sources`: an entry is named by its id, a text by the name of the input.
    """

    name: str
    version: str
    language: str
    task: str
    inputs: tuple[str, ...]
    labels: tuple[RubricLabel, ...]
    per_item: bool = False
    quotes: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    hash: str = ""

    def value(self, label: str) -> float | None:
        """Return the number of a label of this rubric. Raises KeyError for any other."""
        return {each.name: each.value for each in self.labels}[label]


class JudgeRequest(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, dict=True):
    """One question to a judge, independent of the judge: rubric, inputs and the ids to label. `digest` identifies it.

    `labels` and `quotes` are the closed set and the demand for quotes: the schema of the reply. `inputs` never hold a
    configuration's name, a retrieval score or, where sources alone decide, the reference.
    """

    rubric: str
    version: str
    rubric_hash: str
    language: str
    inputs: dict[str, Any]
    items: tuple[str, ...]
    labels: tuple[str, ...]
    quotes: tuple[str, ...] = ()

    @cached_property
    def digest(self) -> str:
        """The identity of everything that is asked."""
        return digest(self)


class JudgeIdentity(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Everything of a judge that can change a verdict. `endpoint` is an alias, never an address with a secret."""

    protocol: str
    endpoint: str
    model: str
    family: str = ""
    parameters: dict[str, Any] = {}
    parser: str = "1"

    @property
    def digest(self) -> str:
        """The identity of the judge in the verdict book."""
        return digest(self)


class ItemVerdict(Struct, frozen=True, omit_defaults=True):
    """The label of one id, with the reasoning that came before it, and a verbatim quote of a named source."""

    id: str
    label: str
    reasoning: str = ""
    quote: str | None = None
    source: str | None = None


class JudgeUsage(Struct, frozen=True, omit_defaults=True):
    """What one verdict cost, all its attempts together."""

    prompt_tokens: Count = 0
    completion_tokens: Count = 0
    cost_usd: NonNegative | None = None
    latency_ms: NonNegative = 0.0
    attempts: Count = 1


class Verdict(Struct, frozen=True, omit_defaults=True):
    """One recorded sample of a judge: either `items` with a label for every id asked, or `unscored` with its reason.

    `request` and `judge` are digests; `sample` tells repeated votes apart; `flags` name what a guard noticed
    (`injection`, `repaired`, `length` …); `rendered` is the digest of the bytes sent, `raw` the reply, both redacted.
    `votes` is how many were to be taken when this one was: a few, or 0 for more than one only where it leaves doubt.
    """

    request: str
    judge: str
    sample: Count
    rubric: str
    items: tuple[ItemVerdict, ...] = ()
    unscored: str | None = None
    message: str = ""
    model: str | None = None
    flags: tuple[str, ...] = ()
    usage: JudgeUsage = JudgeUsage()
    rendered: str = ""
    raw: str = ""
    at: str | None = None
    votes: Count = 1


class Standing(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a judge said where the right answer is known, when it last judged for a book.

    `controls` are items that no judge may pass (shuffled context, another question's answer, changed numbers, an empty
    answer) and `controls_mean` the mean of their numbers; `anchors` are the frozen items of drift with the share that
    was labelled as expected, `at` the given time. They are asked again on later days, `rounds` times so far; `drift`
    says where the last answers lie outside what the first ones allow. An `invalid` or drifted judge warns wherever it
    is used, and may not gate. `second` is the digest of the judge that was asked about what this one left in doubt.
    """

    judge: str
    controls: Count = 0
    controls_mean: float | None = None
    anchors: Count = 0
    anchors_right: float | None = None
    invalid: bool = False
    reasons: tuple[str, ...] = ()
    at: str | None = None
    rounds: Count = 1
    drift: tuple[str, ...] = ()
    second: str = ""

    @property
    def may_gate(self) -> bool:
        """Whether nothing speaks against letting the judge's numbers decide."""
        return not self.invalid and not self.drift


class Anchor(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A claim with passages of which the label under the rubric `support` is known: it never changes, judges may."""

    id: str
    language: str
    question: str
    context: tuple[str, ...]
    claim: str
    label: str


class Label(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a person (or another tool, as a second opinion) said of one case: a label of a rubric, or a number.

    `item` is the claim, citation or fact where the metric has several in a case, with its text in `text`; `answer_hash`
    binds the label to the answer that was read.
    """

    case_id: str
    metric: str
    rater: str
    label: str | None = None
    value: float | None = None
    config_id: str | None = None
    item: str | None = None
    text: str = ""
    answer_hash: str | None = None
    at: str | None = None
    source: str = "person"
    note: str = ""


class Rate(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A share of `n` labelled items with its 95% interval."""

    value: float
    low: float
    high: float
    n: Count


class Calibration(Struct, frozen=True, forbid_unknown_fields=True):
    """One instrument held against people for one metric, named with its instrument: `faithfulness(by=judge)`.

    `judge` is the digest of the judge (of the rules instrument: its version), `rubric_hash` what `rubrics_hash` says of
    the rubric it was asked with; for any other judge or rubric it says nothing. `sensitivity` is the share of what
    people passed that the instrument passed, `specificity` the share of what they failed that it failed; None without
    such items. `reasons` say why it may not gate. `platt` maps the rules instrument's raw number to a probability:
    `slope`, `intercept`. `anchors` is the share of the anchors that the judge labelled as expected then: where it is
    outside that interval later, another judge answers under its name.
    """

    metric: str
    judge: str
    rubric_hash: str
    golden: str
    labels: str
    n: Count
    raters: Count
    sensitivity: Rate | None = None
    specificity: Rate | None = None
    may_gate: bool = False
    reasons: tuple[str, ...] = ()
    platt: dict[str, float] | None = None
    anchors: Rate | None = None

    def counts_for(self, judge: str, rubric_hash: str) -> bool:
        """Return whether this was measured on the very judge and rubric."""
        return (self.judge, self.rubric_hash) == (judge, rubric_hash)


def rubrics_hash(rubrics: Iterable[JudgeRubric], name: str) -> str:
    """Return the identity of a rubric in all its languages: what a calibration is bound to; "" where there is none.

    >>> rubrics_hash([], "support")
    ''
    """
    hashes = sorted({each.hash for each in rubrics if each.name == name})
    return digest(hashes) if hashes else ""
