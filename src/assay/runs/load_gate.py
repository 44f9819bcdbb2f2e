"""Loads the gate of a request, after the metrics that its rules may name."""

from __future__ import annotations

from assay.gates.gate_files import load_requested_gate
from assay.judging.rubric_files import use_rubrics
from assay.records.release_gates import Gate
from assay.records.requests import ScoreRequest
from assay.runs.load_plugins import load_remembered_metrics


def load_gate(request: ScoreRequest) -> Gate | None:
    """Return the gate of a request, None if it names none."""
    load_remembered_metrics(request)
    if request.verdicts.rubrics:  # the shipped ones make no metrics
        use_rubrics(request.verdicts.rubrics)
    return load_requested_gate(request.gate)
