"""Requests to a judge, its verdicts, and human labels: append-only facts next to the observations.

A judge only chooses labels from a closed set; code turns labels into numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from typing import Any, Literal

from msgspec import Struct

from assay.records.counts import format_count
from assay.records.digest import compute_digest
from assay.records.golden_set import Count, NonNegative

UnscoredReason = Literal[
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
    "disputed",
    "provider",
    "too_long",
]
"""Why a judge gave no usable verdict."""

ControlKind = Literal[
    "foreign_context", "swapped_answer", "other_number", "empty_answer", "colon_answer", "planted_order"
]
"""What is done to a request so that it deserves the lowest label (`assay.judging.control_questions`)."""


class RubricLabel(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One label that a judge may choose: its meaning, and the number that it stands for (None: no number)."""

    name: str
    meaning: str
    value: float | None = None
    examples: tuple[str, ...] = ()


class RubricAnchor(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a rubric asks about, with the label that it deserves: a judge is asked it to see that it gives this label.

    `inputs` has every input of the rubric: a text, null, or the texts of a list. Of what is labelled item by item there
    is one item; the source cited for it is the first passage.
    """

    label: str
    inputs: dict[str, str | tuple[str, ...] | None]

    def __hash__(self) -> int:
        """Return a hash, although a mapping has none: rubrics are keys of caches."""
        return hash((self.label, frozenset(self.inputs.items())))


class JudgeRubric(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A versioned question to a judge in one language. `inputs` are the keys that a request must provide.

    The judge labels one thing (`answer`) or, with `per_item`, each entry of the first input: the ids of the entries are
    the items of the request. An input is a text, null (unknown), or a list of entries {id, text}; an entry that belongs
    to an entry of another input names its id as {source}. Labels in `quotes` require a verbatim quote from the inputs
    listed in `sources`: an entry is referred to by its id, a text by the name of the input. `controls` are the changes
    of a request after which it deserves the lowest label, and `anchors` are items with a known label; neither is part
    of the question, nor of its `hash`.
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
    controls: tuple[ControlKind, ...] = ()
    anchors: tuple[RubricAnchor, ...] = ()
    hash: str = ""

    def get_label_value(self, label: str) -> float | None:
        """Return the number of a label of this rubric. Raises KeyError for any other."""
        return {rubric_label.name: rubric_label.value for rubric_label in self.labels}[label]

    @property
    def value_range(self) -> tuple[float, float] | None:
        """The lowest and the highest number of its labels; None if they have none, or all the same."""
        values = [label.value for label in self.labels if label.value is not None]
        return (min(values), max(values)) if values and min(values) < max(values) else None


MARKED_SEPARATOR = "\x1e"
"""Stands between the marked sentences of an entry."""


class JudgeRequest(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, dict=True):
    """One question to a judge, independent of the judge: rubric, inputs and the ids to label. `digest` identifies it.

    `labels` is the closed set to choose from and `quotes` the labels that need a quote: together they define the schema
    of the reply. `inputs` never contain the name of a configuration, a retrieval score or, if only the sources may
    decide, the reference.
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
        """The digest of everything that is asked."""
        return compute_digest(self)


class JudgeIdentity(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Everything about a judge that can change a verdict. `endpoint` is an alias, never an address with a secret."""

    protocol: str
    endpoint: str
    model: str
    family: str = ""
    parameters: dict[str, Any] = {}
    parser: str = "1"

    @property
    def digest(self) -> str:
        """The identity of the judge in the verdict store."""
        return compute_digest(self)


class ItemVerdict(Struct, frozen=True, omit_defaults=True):
    """The label of one item, with the reasoning that preceded it and a verbatim quote from a named source."""

    id: str
    label: str
    reasoning: str = ""
    quote: str | None = None
    source: str | None = None


class JudgeUsage(Struct, frozen=True, omit_defaults=True):
    """The cost of one verdict, over all its attempts."""

    prompt_tokens: Count = 0
    completion_tokens: Count = 0
    cost_usd: NonNegative | None = None
    latency_ms: NonNegative = 0.0
    attempts: Count = 1


class Verdict(Struct, frozen=True, omit_defaults=True):
    """One recorded sample of a judge: either `items` with a label for every requested id, or a reason in `unscored`.

    `request` and `judge` are digests; `sample` distinguishes repeated votes. `flags` name what a check noticed
    (`injection`, `repaired`, `length`, …). `rendered` is the digest of the bytes sent, `raw` the reply, both redacted.
    `votes` is the number of votes planned when this one was taken; 0 means more than one only in case of doubt.
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


class VerdictReview(Struct, frozen=True, order=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a person decided on one item of a request that a judge left to review.

    `request` is the digest of the request: of another answer, another context or another wording of the question the
    review says nothing. `case_id` and `config_id` name the answer that was read, for people. `at` is the time that the
    person states, never that of a clock.
    """

    request: str
    item: str
    reviewer: str
    rubric: str
    label: str
    reason: str
    case_id: str = ""
    config_id: str = ""
    at: str | None = None


class RubricControl(Struct, frozen=True, order=True, forbid_unknown_fields=True):
    """One kind of control under one rubric, which is known by its hash; `rubric` is its name for people."""

    rubric: str
    rubric_hash: str
    kind: str

    def __str__(self) -> str:
        return f"{self.rubric} {self.kind}"


def describe_unasked(controls: Iterable[RubricControl], anchors: int = 0) -> str:
    """Return how many kinds of controls and how many anchors a judge was not asked; "" for none.

    >>> shuffled, empty = (RubricControl("support.en", "h", kind) for kind in ("shuffled", "empty_answer"))
    >>> describe_unasked([shuffled, empty, RubricControl("relevance.en", "h", "shuffled")], 20)
    '1 kind of controls of relevance.en, 2 kinds of controls of support.en, 20 anchors'
    """
    kinds = Counter(control.rubric for control in controls)
    parts = [
        f"{format_count(count, 'kind of controls', 'kinds of controls')} of {rubric}"
        for rubric, count in sorted(kinds.items())
    ]
    if anchors:
        parts.append(format_count(anchors, "anchor"))
    return ", ".join(parts)


class UncontrolledLabel(Struct, frozen=True, order=True, forbid_unknown_fields=True):
    """The labels of a rubric that neither a control nor an anchor deserves: a judge that never gives them, or always
    gives the others, goes unnoticed. `labels` is "highest", "lowest", or "any" if its labels have no numbers."""

    rubric: str
    rubric_hash: str
    labels: str

    def __str__(self) -> str:
        return f"{self.labels} label of {self.rubric}"


def describe_uncontrolled(uncontrolled: Iterable[UncontrolledLabel]) -> str:
    """Return the labels that were not controlled: of which rubrics the highest, the lowest, or any.

    >>> describe_uncontrolled([UncontrolledLabel(f"{name}.en", "h", "highest") for name in ("tone", "style")])
    'the highest label of tone.en, style.en'
    """
    rubrics: dict[str, list[str]] = {}
    for entry in uncontrolled:
        rubrics.setdefault(entry.labels, []).append(entry.rubric)
    words = {"highest": "the highest label of", "lowest": "the lowest label of", "any": "the labels of"}
    return "; ".join(f"{words[labels]} {', '.join(rubrics[labels])}" for labels in words if labels in rubrics)


class AnsweredControl(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The answer of a judge to one control: the digest of the request, the mean value of the labels, and the time."""

    control: RubricControl
    request: str
    value: float
    at: str | None = None


class JudgeStatus(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The results of a judge on items with known answers, from when it last judged for a verdict store.

    `controls` counts items that no judge may pass (shuffled context, the answer to another question, changed numbers,
    an empty answer); `controls_mean` is the mean of their numbers. `anchors` counts the fixed items that detect drift,
    `anchors_right` is the share of them labelled as expected at time `at`. Anchors are asked again on later days,
    `rounds` times so far; `drift` lists where the latest answers fall outside the interval of the first ones. The
    verdicts of an `invalid` judge give no numbers, and a drifted one may not gate. `second` is the digest of the
    judge that was asked about the cases that this one left in doubt.

    `answered` are the controls of all runs that count. `unasked` are the kinds of controls that no run had room for so
    far, and `anchors_unasked` the number of anchors without a label, if too few have one to say anything.
    `uncontrolled` are the labels of rubrics that nothing with a known answer deserves. `one_label` has the rubrics
    under which it gave one label to everything with a known answer, more often than slips explain: "lowest", "highest",
    "between", or the label.
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
    answered: tuple[AnsweredControl, ...] = ()
    unasked: tuple[RubricControl, ...] = ()
    anchors_unasked: Count = 0
    uncontrolled: tuple[UncontrolledLabel, ...] = ()
    one_label: dict[str, str] = {}

    @property
    def gaps(self) -> tuple[str, ...]:
        """What the judge has not been asked yet: kinds of controls by rubric, and anchors. Empty if nothing."""
        anchors = (format_count(self.anchors_unasked, "anchor"),) if self.anchors_unasked else ()
        return (*map(str, self.unasked), *anchors)

    def describe_gaps(self) -> str:
        """Return how many kinds of controls and how many anchors it has not been asked yet; "" for none."""
        return describe_unasked(self.unasked, self.anchors_unasked)

    @property
    def may_gate(self) -> bool:
        """Whether the numbers of this judge may decide a gate: it is neither invalid nor drifted."""
        return not self.invalid and not self.drift


class DriftAnchor(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A claim with passages whose label under the rubric `support` is known.

    Anchors never change, so a change in a judge's answers to them reveals a change of the judge.
    """

    id: str
    language: str
    question: str
    context: tuple[str, ...]
    claim: str
    label: str


class Label(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A human label for one case (or that of another tool): a label of a rubric, or a number.

    `item` is the claim, citation or fact if the metric has several in a case, with its text in `text`. `answer_hash`
    binds the label to the answer that was read, `case_hash` to what its case expected. `sample` is the size of the
    random sample of passed answers for which it was read, None for any other label.
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
    case_hash: str | None = None
    sample: int | None = None


class LabelledRate(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A share of `n` labelled items with its 95% interval."""

    value: float
    low: float
    high: float
    n: Count


class VerdictCuts(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Where a probability becomes a verdict: from `accept` on supported, up to `reject` unsupported, else unknown.

    `middle` is the cut that separates pass from fail where there must be one of both. `precision`: the share of right
    verdicts that both sides were chosen for. `accept` or `reject` is None if the labels support no such verdict.
    """

    middle: float
    precision: float
    reject: float | None = None
    accept: float | None = None

    def decide(self, probability: float) -> bool | None:
        """Return whether an item is supported; None where that is unknown.

        >>> cuts = VerdictCuts(middle=0.6, precision=0.9, reject=0.3, accept=0.7)
        >>> [cuts.decide(probability) for probability in (0.7, 0.5, 0.3, 0.2)]
        [True, None, False, False]
        """
        if self.accept is not None and probability >= self.accept:
            return True
        return False if self.reject is not None and probability <= self.reject else None


class Leniency(Struct, frozen=True, forbid_unknown_fields=True):
    """How much more a judge gives than people do, on the mean of the items that both judged, with its 95% interval;
    below 0 it is too strict."""

    value: float
    low: float
    high: float

    @property
    def is_significant(self) -> bool:
        """Whether the judge is too lenient beyond chance."""
        return self.low > 0


class Calibration(Struct, frozen=True, forbid_unknown_fields=True):
    """The calibration of one scorer against human labels for one metric, such as `faithfulness(by=judge)`.

    `judge` is the digest of the judge (for the rules scorer: its version), `rubric_hash` the result of
    `compute_rubrics_hash` for its rubric; the calibration is valid for this judge and rubric only. `sensitivity` is
    the share of items passed by people that the scorer passed too, `specificity` the share of items failed by people
    that it failed too; None if there are no such items. `reasons` say why the scorer may not gate. `platt` maps the
    raw number of the rules scorer to a probability: `slope`, `intercept`. `cuts` turn that into verdicts, which were
    `supported_precision` and `unsupported_precision` right on labels that had no part in choosing them. `corrected` is
    the pass rate that people would have found over all items, estimated; `decided` the share of all items with a
    verdict. `anchors` is the share of anchors that the
    judge labelled as expected at the time: a later share outside that interval means that another model answers
    under the same name. `models` are those that answered by their own word; empty if the endpoint named none.
    `leniency` is how much more a judge gives than people; None for other scorers, and if too few items tell.
    """

    metric: str
    judge: str
    rubric_hash: str
    golden: str
    labels: str
    n: Count
    raters: Count
    sensitivity: LabelledRate | None = None
    specificity: LabelledRate | None = None
    may_gate: bool = False
    reasons: tuple[str, ...] = ()
    platt: dict[str, float] | None = None
    anchors: LabelledRate | None = None
    cuts: VerdictCuts | None = None
    supported_precision: LabelledRate | None = None
    unsupported_precision: LabelledRate | None = None
    corrected: LabelledRate | None = None
    decided: float | None = None
    models: tuple[str, ...] = ()
    leniency: Leniency | None = None

    def applies_to(self, judge: str, rubric_hash: str) -> bool:
        """Return whether this calibration was measured on exactly this judge and rubric."""
        return (self.judge, self.rubric_hash) == (judge, rubric_hash)


def compute_rubrics_hash(rubrics: Iterable[JudgeRubric], rubric_name: str) -> str:
    """Return the digest of a rubric in all its languages, to which a calibration is bound; "" for an unknown rubric.

    >>> compute_rubrics_hash([], "support")
    ''
    """
    hashes = sorted({rubric.hash for rubric in rubrics if rubric.name == rubric_name})
    return compute_digest(hashes) if hashes else ""
