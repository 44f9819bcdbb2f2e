"""A tiny set of rubrics, and a judge that answers from a table: for metrics that ask, without files or calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from assay.metrics.judged.judge_requests import Rubrics
from assay.metrics.judged.vote_folding import Ruling, fold_votes
from assay.records.verdicts import ItemVerdict, JudgeRequest, JudgeRubric, RubricLabel, Verdict

JUDGE = "sha256:judge"


def _rubric(
    name: str, inputs: tuple[str, ...], labels: Mapping[str, float], quotes: tuple[str, ...] = ()
) -> JudgeRubric:
    return JudgeRubric(
        name,
        "1",
        "en",
        "Decide.",
        inputs,
        tuple(RubricLabel(label, label, value) for label, value in labels.items()),
        per_item=inputs[0] in ("claims", "citations", "facts"),
        quotes=quotes,
        hash=f"sha256:{name}",
    )


_FOUND = {"supported": 1.0, "contradicted": 0.0, "not_found": 0.0}
RUBRICS: Rubrics = {
    (rubric.name, "en"): rubric
    for rubric in (
        _rubric("support", ("claims", "question", "context"), _FOUND, ("supported", "contradicted")),
        _rubric("citation_support", ("citations", "question", "context"), {**_FOUND, "partly_supported": 0.5}),
        _rubric("correctness", ("answer", "question", "reference"), {"correct": 1.0, "partly": 0.5, "incorrect": 0.0}),
        _rubric("relevance", ("answer", "question"), {"relevant": 1.0, "partly": 0.5, "irrelevant": 0.0}),
        _rubric("completeness", ("facts", "question", "answer"), {"stated": 1.0, "partly_stated": 0.5, "missing": 0.0}),
    )
}

LabelFunction = Callable[[JudgeRequest, str], str]
"""A judge as a function from a request and an item's id to a label; `!reason` leaves the request unscored."""


def make_verdict(request: JudgeRequest, says: LabelFunction, sample: int = 0) -> Verdict:
    """What the judge says to one request."""
    labels = {item: says(request, item) for item in request.items}
    refusal = next((label[1:] for label in labels.values() if label.startswith("!")), None)
    items = () if refusal else tuple(ItemVerdict(item, label) for item, label in labels.items())
    return Verdict(request.digest, JUDGE, sample, request.rubric, items, refusal)


def make_verdict_store(requests: Iterable[JudgeRequest], says: LabelFunction) -> dict[str, list[Verdict]]:
    """A store with one sample for every request."""
    return {request.digest: [make_verdict(request, says)] for request in requests}


def label_by_text(table: Mapping[str, str]) -> LabelFunction:
    """A judge that labels an entry by the first text of the table that its own text holds; `""` is for the rest."""

    def says(request: JudgeRequest, item: str) -> str:
        key = next(iter(request.inputs))
        entries = request.inputs[key] if isinstance(request.inputs[key], list) else []
        text = next((entry["text"] + entry.get("source", "") for entry in entries if entry["id"] == item), "")
        return next(label for part, label in table.items() if part in text)

    return says


def make_ruling_judge(says: LabelFunction) -> Callable[[JudgeRequest], Ruling | None]:
    """A judge's answer to a request, folded."""
    return lambda request: fold_votes([make_verdict(request, says)], RUBRICS[request.rubric, "en"])
