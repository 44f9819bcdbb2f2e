"""What a user asks for, as data: one record for a scoring, from the command line or from Python to the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from assay.records.release_gates import Gate

AUTO_SIGNAL = "auto"


class InputOptions(Struct, frozen=True):
    """What is scored: a run folder, or a golden set with recorded outputs; and which of it.

    `run` is `RUN` or `RUN:CONFIG`; it stands for the golden set, outputs, formats and corpus of that folder. `configs`
    are the configurations to score, all of them if it is empty; `only` and `limit` select cases. `golden_name` names a
    golden set that does not name itself (by default its file's name).
    """

    run: str | None = None
    golden: str = ""
    outputs: Sequence[str] = ()
    golden_format: str | None = None
    outputs_format: str | None = None
    corpus: str | None = None
    golden_name: str = ""
    configs: Sequence[str] = ()
    only: Sequence[str] = ()
    limit: int | None = None
    ignore_unknown: bool = False
    allow_torn_tail: bool = False
    strict_outputs: bool = False


class VerdictOptions(Struct, frozen=True):
    """Recorded verdicts to score with: a verdict store or its export, the judge, its rubrics, and a calibration file.

    `judged` adds the metrics with recorded verdicts to those that are named. `entailment_model` is the folder of a
    local model that compares claims with sources.
    """

    store: str | None = None
    judge: str | None = None
    calibration: str | None = None
    rubrics: Sequence[str] = ()
    judged: bool = False
    entailment_model: str | None = None


class GateOptions(Struct, frozen=True):
    """The gate that decides: a file (or, from Python, the rules themselves) or a shipped profile.

    `configs` are the gated configurations, by default those that the gate names. `baseline` is `RUN`, `RUN:CONFIG` or a
    saved baseline; `today`, an ISO date, decides which waivers have expired.
    """

    gate: str | Gate | None = None
    profile: str | None = None
    configs: Sequence[str] = ()
    baseline: str | None = None
    approver: str = ""
    today: str | None = None


class ScoringOptions(Struct, frozen=True):
    """What is computed, and how.

    `metrics` and `by` are names; None stands for the usual ones, and nothing at all for none. `also` are metrics in
    addition to them. `good` (the signal of a
    good answer) and `production_k` (the number of chunks that the system shows its model) are for attribution; None
    stands for those of the run, else for `auto` and for none. `workers` processes give the same numbers as one.
    `missing_as_zero` gives cases without an observation the worst score; None stands for what the run did, else for
    not. `look_again` keeps what is needed to read single cases afterwards. `notices` go into the reports.
    `metric_paths` are the import paths of metrics that a run folder remembers, by name. `lexicons` are files or folders
    with lexicons of refusals for further languages. `internal_stages` are stages whose chunks nobody is shown unless a
    later one passes them on; None stands for those of the run, else for none. `with_variants` counts variants of cases
    like other cases. `labels` are files of what people decided about answers. `sent_users` says of configurations
    whether their target is given the user of a case, where its settings tell. Without `checks` nothing but the metrics
    is measured: no case fails or passes, and of several repeats none is the worst. `unverified` says of configurations
    that answers of theirs are old, and that nothing shows that the target is still the same: a risk of a decision.
    """

    metrics: Sequence[str] | None = None
    by: Sequence[str] | None = None
    missing_as_zero: bool | None = None
    workers: int = 1
    good: str | None = None
    production_k: int | None = None
    look_again: bool = False
    notices: Sequence[str] = ()
    metric_paths: Mapping[str, str] = field(default_factory=dict)
    lexicons: Sequence[str] = ()
    internal_stages: Sequence[str] | None = None
    with_variants: bool = False
    also: Sequence[str] = ()
    labels: Sequence[str] = ()
    sent_users: Mapping[str, bool] = field(default_factory=dict)
    checks: bool = True
    unverified: Mapping[str, str] = field(default_factory=dict)


class ScoreRequest(Struct, frozen=True):
    """Everything that decides about a scoring. It is filled from options or arguments and passed on unchanged.

    A request that names a run folder is completed from the folder's manifest before it is used (`complete_request`).
    """

    inputs: InputOptions = InputOptions()
    verdicts: VerdictOptions = VerdictOptions()
    gate: GateOptions = GateOptions()
    scoring: ScoringOptions = ScoringOptions()


class ReportFiles(Struct, frozen=True):
    """The paths of the reports to write; None for a report that is not wanted. `now` is the ISO time for the reports.

    For the HTML report, `detail_mb` is the size in megabytes up to which whole cases are included, `explain` holds the
    arguments after `assay explain CASE --config CONFIG` for the other cases, and `show_forbidden` includes text that
    the user of a case must not see.
    """

    markdown: str | None = None
    json: str | None = None
    per_case: str | None = None
    legacy_json: str | None = None
    owner: str = ""
    now: str | None = None
    junit: str | None = None
    csv: str | None = None
    raw_csv: bool = False
    html: str | None = None
    detail_mb: float = 25.0
    show_forbidden: bool = False
    explain: str = ""

    def has_any(self) -> bool:
        """Return whether a report is wanted."""
        return any((self.markdown, self.json, self.per_case, self.legacy_json, self.junit, self.csv, self.html))


def date_of_time(now: str | None) -> str | None:
    """Return the day of an ISO time, by which waivers expire.

    >>> date_of_time("2026-03-01T08:00:00Z"), date_of_time(None)
    ('2026-03-01', None)
    """
    return now[:10] if now else None
