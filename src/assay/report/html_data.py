"""What the HTML report is made of: records that workflow collects and the page's islands are written from."""

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
    """One claim of an answer, as it stands there, and what an instrument (`rules` or `judge`) made of it."""

    text: str
    state: ClaimState
    by: str
    reasoning: str = ""
    quote: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class CaseView:
    """One case under one configuration: what explain knows, the claims of its answer, the judge's recorded votes."""

    found: Explanation
    claims: tuple[Claim, ...] = ()
    verdicts: tuple[Verdict, ...] = ()


@dataclass(frozen=True, slots=True)
class CaseDetail:
    """A whole case: its place in the golden set, and what each configuration made of it."""

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
    """Everything the page shows. `details` come in order of weight and are taken until `detail_mb` megabytes of JSON
    are spent; `attributions` are by configuration and case; `explain` are the words after `assay explain CASE --config
    CONFIG` for the cases that are not held whole.
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
