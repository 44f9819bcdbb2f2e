"""Anchors of rubrics: items with a known label, which show whether a judge gives the highest label and the lowest.

Controls deserve the lowest label, so a judge that gives nothing else passes all of them: an anchor with the highest
label finds it out ([ADR 210]).
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import takewhile
from math import fsum
from typing import Any, NamedTuple

from msgspec import structs

from assay.metrics.judged.judge_requests import ENGLISH, WHOLE_ANSWER_ITEM, Rubrics, make_request
from assay.records.verdicts import DriftAnchor, JudgeRequest, JudgeRubric, RubricAnchor, UncontrolledLabel

Anchor = DriftAnchor | RubricAnchor
Anchors = dict[str, tuple[Anchor, JudgeRequest]]
"""Anchors with their requests, by the digest of the request."""

LEAST_GAP = 0.5
"""How far apart the values must be that a judge gives to anchors with the highest and with the lowest label, on the
scale from the lowest to the highest: half of it."""
FEWEST_WRONG = 2
"""Wrong labels on the anchors of a rubric that make a judge invalid: no single slip decides."""
LEAST_RIGHT_SHARE = 0.5
"""The share of right labels that a rubric without numbers needs; who always gives the same label has less."""
LOWEST = "lowest"
"""The place of the label that every control deserves."""
_ID_LETTERS = {"context": "p", "claims": "c", "citations": "c", "facts": "f"}


def build_rubric_anchors(rubrics: Rubrics) -> Anchors:
    """Return the anchors that rubrics list, with their requests."""
    by_digest: Anchors = {}
    for rubric in rubrics.values():
        for anchor in rubric.anchors:
            request = build_rubric_anchor(anchor, rubric)
            by_digest[request.digest] = anchor, request
    return by_digest


def build_rubric_anchor(anchor: RubricAnchor, rubric: JudgeRubric) -> JudgeRequest:
    """Return the request that asks one anchor."""
    inputs = {name: _build_input(name, anchor.inputs[name]) for name in rubric.inputs}
    item = inputs[rubric.inputs[0]][0]["id"] if rubric.per_item else WHOLE_ANSWER_ITEM
    return make_request(rubric, inputs, (item,))


MOST_REPEATS = 4
"""How often an anchor is asked again at most where the answers to it leave a doubt."""


def iterate_repeats(request: JudgeRequest) -> Iterator[JudgeRequest]:
    """Yield the requests by which an anchor is asked again, in their order."""
    for number in range(1, MOST_REPEATS + 1):
        yield repeat_anchor(request, number)


def list_asked_repeats(request: JudgeRequest, answers: Container[str]) -> list[JudgeRequest]:
    """Return the first repeats of an anchor, up to one that has no answer: they are asked in their order."""
    return list(takewhile(lambda repeat: repeat.digest in answers, iterate_repeats(request)))


def repeat_anchor(request: JudgeRequest, number: int) -> JudgeRequest:
    """Return the request of an anchor under another id of its item, which no judge sees: it is asked the same again.

    The answer to it is another verdict, so that the votes of later days keep their numbers.
    """
    (item,) = request.items
    renamed = f"{item}.{number}"
    inputs = {name: _rename_entry(value, item, renamed) for name, value in request.inputs.items()}
    return structs.replace(request, inputs=inputs, items=(renamed,))


def _rename_entry(value: Any, item: str, renamed: str) -> Any:
    if not isinstance(value, (list, tuple)):
        return value
    return [{**entry, "id": renamed} if entry.get("id") == item else entry for entry in value]


def _build_input(name: str, value: str | tuple[str, ...] | None) -> Any:
    """Return an input as a metric offers it: a text, or entries with ids."""
    if not isinstance(value, tuple):
        return value
    if name == "history":
        return [{"role": "user", "text": text} for text in value]
    entries = [{"id": f"{_ID_LETTERS[name]}{number}", "text": text} for number, text in enumerate(value, 1)]
    return [{**entry, "source": "p1"} for entry in entries] if name == "citations" else entries


def select_anchors(anchors: Anchors, asked: Iterable[JudgeRequest], fallback: str) -> Anchors:
    """Return the anchors of the rubrics, and so in the languages, of which a run asks anything.

    If none of these has an anchor, those of the rubric `fallback` show at least whether the judge reads: in the
    languages of what is asked, else in English.
    """
    requests = list(asked)
    hashes = {request.rubric_hash for request in requests}
    selected = {digest: pair for digest, pair in anchors.items() if pair[1].rubric_hash in hashes}
    if selected or not requests:
        return selected
    reading = {digest: pair for digest, pair in anchors.items() if pair[1].rubric == fallback}
    languages = {request.language for request in requests} & {request.language for _, request in reading.values()}
    languages = languages or {ENGLISH}
    return {digest: pair for digest, pair in reading.items() if pair[1].language in languages}


def find_uncontrolled(
    rubrics: Iterable[JudgeRubric], anchors: Anchors, controlled: Iterable[str]
) -> tuple[UncontrolledLabel, ...]:
    """Return which labels of these rubrics nothing with a known answer deserves.

    `controlled` are the hashes of the rubrics of which there are controls: they deserve the lowest label. Where labels
    have no numbers, anchors with two different labels tell a judge from one that always gives the same.
    """
    low_hashes = set(controlled)
    labels_of: dict[str, set[str]] = {}
    for anchor, request in anchors.values():
        labels_of.setdefault(request.rubric_hash, set()).add(anchor.label)
    uncontrolled = []
    for rubric in rubrics:
        labels = labels_of.get(rubric.hash, set())
        places = {find_place(label, rubric) for label in labels}
        if rubric.value_range is None:
            missing = ["any"] if len(labels) < 2 else []
        else:
            missing = ["highest"] if "highest" not in places else []
            missing += ["lowest"] if "lowest" not in places and rubric.hash not in low_hashes else []
        name = f"{rubric.name}.{rubric.language}"
        uncontrolled += [UncontrolledLabel(name, rubric.hash, each) for each in missing]
    return tuple(sorted(uncontrolled))


def find_place(label: str, rubric: JudgeRubric) -> str:
    """Return whether the number of a label is the "highest" of its rubric, the "lowest" or between; "" without one."""
    return find_place_of_value(rubric.get_label_value(label), rubric)


def find_place_of_value(value: float | None, rubric: JudgeRubric) -> str:
    """Return whether a number is the "highest" of a rubric, the "lowest" or "between"; "" without one."""
    value_range = rubric.value_range
    if value is None or value_range is None:
        return ""
    return {value_range[1]: "highest", value_range[0]: LOWEST}.get(value, "between")


def is_worth_the_same(label: str, deserved: str, rubric: JudgeRubric) -> bool:
    """Return whether a label counts as much as the right one: "contradicted" and "not_found" are both worth nothing.

    Labels without a number must be the same.
    """
    value = rubric.get_label_value(deserved)
    return label == deserved if value is None else rubric.get_label_value(label) == value


class LabelledAnchor(NamedTuple):
    """The label that a judge gave to an anchor, and the one that it deserves."""

    label: str
    deserved: str
    rubric: JudgeRubric

    @property
    def is_right(self) -> bool:
        """Whether the label counts as much as the deserved one."""
        return is_worth_the_same(self.label, self.deserved, self.rubric)

    @property
    def error(self) -> float:
        """How far the label is from the deserved one, as a share of the scale; without numbers 0 or 1."""
        deserved, given = (self.rubric.get_label_value(label) for label in (self.deserved, self.label))
        if deserved is None or given is None or self.rubric.value_range is None:
            return float(not self.is_right)
        low, high = self.rubric.value_range
        return abs(given - deserved) / (high - low)

    @property
    def group(self) -> tuple[str, str]:
        """The rubric with the deserved label, or what it is worth: of these anchors the errors are counted together."""
        value = self.rubric.get_label_value(self.deserved)
        return self.rubric.name, self.deserved if value is None else f"{value:g}"


def describe_failed_rubric(name: str, labelled: Sequence[LabelledAnchor]) -> str:
    """Return how the labels on the anchors of a rubric show that a judge cannot use it; "" if they do not.

    The labels on the highest and on the lowest anchors must lie half of the scale apart; without numbers, half of the
    labels must be right. Fewer than two wrong labels decide nothing.
    """
    wrong = [anchor for anchor in labelled if not anchor.is_right]
    if len(wrong) < FEWEST_WRONG:
        return ""
    valued = [anchor for anchor in labelled if anchor.rubric.value_range is not None]
    if not valued:
        right = len(labelled) - len(wrong)
        if right >= LEAST_RIGHT_SHARE * len(labelled):
            return ""
        return f"anchors of {name}: {right} of {len(labelled)} labelled as they deserve (expected half of them)"
    high = [_rate(anchor) for anchor in valued if find_place(anchor.deserved, anchor.rubric) == "highest"]
    low = [_rate(anchor) for anchor in valued if find_place(anchor.deserved, anchor.rubric) == "lowest"]
    high_mean = fsum(high) / len(high) if high else 1.0
    low_mean = fsum(low) / len(low) if low else 0.0
    if high_mean - low_mean >= LEAST_GAP:
        return ""
    counts = f"{high.count(1.0)} of {len(high)} that deserve the highest label got it"
    counts += f", {low.count(0.0)} of {len(low)} the lowest" if low else ""
    return f"anchors of {name}: {counts} (got means {high_mean - low_mean:.2f} apart; expected {LEAST_GAP})"


def _rate(anchor: LabelledAnchor) -> float:
    """Return the value of the label given, from 0 for the lowest of its rubric to 1 for the highest."""
    assert anchor.rubric.value_range is not None
    low, high = anchor.rubric.value_range
    value = anchor.rubric.get_label_value(anchor.label)
    return ((low if value is None else value) - low) / (high - low)
