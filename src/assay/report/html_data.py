"""The records that the HTML report is written from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from assay.finding import Attribution, Comparison
from assay.graders.catalog import CATALOG
from assay.model import Case, Scoring
from assay.report.explain import Explanation
from assay.report.figures import Graders
from assay.verdict import Verdict

DETAIL_MB = 25.0
ClaimState = Literal["supported", "contradicted", "unsupported", "unknown"]


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim of an answer in its own words, and how a scorer (`rules` or `judge`) labelled it."""

    text: str
    state: ClaimState
    by: str
    reasoning: str = ""
    quote: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class CaseView:
    """One case in one configuration: its explanation, the claims of its answer, the judge's recorded votes."""

    found: Explanation
    claims: tuple[Claim, ...] = ()
    verdicts: tuple[Verdict, ...] = ()


@dataclass(frozen=True, slots=True)
class CaseDetail:
    """A case in full: its index in the golden set (`place`), and its view in each configuration."""

    place: int
    views: Mapping[str, CaseView]


@dataclass(frozen=True, slots=True)
class StepTime:
    """How long one step took under one configuration, in milliseconds, over `n` cases."""

    config: str
    step: str
    p50: float
    p95: float
    n: int


@dataclass(frozen=True, slots=True)
class HtmlData:
    """Everything the page shows.

    `details` come in order of importance and are included until they take up `detail_mb` megabytes of JSON;
    `attributions` are by configuration and case id; `explain` holds the arguments after
    `assay explain CASE --config CONFIG`, a command that the page shows for the cases that are not included in full.
    """

    scoring: Scoring
    cases: Sequence[Case]
    details: Iterable[CaseDetail] = ()
    attributions: Mapping[str, Mapping[str, Attribution]] = field(default_factory=dict)
    comparison: Comparison | None = None
    timings: Sequence[StepTime] = ()
    date: str = ""
    owner: str = ""
    explain: str = ""
    detail_mb: float = DETAIL_MB
    show_forbidden: bool = False
    graders: Graders = field(default_factory=lambda: CATALOG)
