"""What `golden health` tells of a set; `reason` of a part says why it, or some of it, cannot be told."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

LeakSource = Literal["prompt", "corpus"]


class HealthSystem(Struct, frozen=True):
    """A system of which there is a run: a configuration with its versions, by its last run; `cases` it answered."""

    run: str
    configuration: str
    cases: int
    passed: int


class Saturation(Struct, frozen=True):
    """Cases that all systems pass, and cases that none passes: neither tells systems apart."""

    compared: int
    all_pass: tuple[str, ...] = ()
    none_pass: tuple[str, ...] = ()
    reason: str = ""


class CaseDiscrimination(Struct, frozen=True):
    """How a case agrees with the others: the correlation, over systems, of passing it and of the share of the rest."""

    case_id: str
    correlation: float


class Discrimination(Struct, frozen=True):
    """The correlations of all cases that tell systems apart, lowest first.

    `contrary` are those that mostly disagree with the rest, and `contrary_by_chance` is how many cases would if passing
    one had nothing to do with the others.
    """

    cases: tuple[CaseDiscrimination, ...] = ()
    contrary: tuple[str, ...] = ()
    contrary_by_chance: float | None = None
    reason: str = ""


class LabelSuspicion(Struct, frozen=True):
    """A case whose label may be wrong: the better systems fail it although other scores call their answers good."""

    case_id: str
    part: Literal["answer", "evidence"]
    systems: tuple[str, ...]
    because: str


class TextLeak(Struct, frozen=True):
    """Words of a case in a prompt or in the corpus: `part` of the case, and the file or chunk."""

    case_id: str
    part: Literal["question", "reference"]
    source: LeakSource
    where: str


class SliceInformation(Struct, frozen=True):
    """A slice: how many of its cases tell systems apart, and how many of the next cases it should get."""

    slice: str
    cases: int
    telling: int
    next_cases: int


class DetectionPower(Struct, frozen=True):
    """What the set can see: the smallest difference in the share of passed cases that is detected 4 times in 5 by
    McNemar's exact test at 5%, which is what a comparison of two systems uses.

    `detectable` is for pairs that differ on as many cases as the median pair of systems, `detectable_after` with 20
    more like these; `cases_needed` to see a difference of .05. None where it cannot be told, or no difference is
    detected so often.
    """

    cases: int
    pairs: int
    detectable: float | None = None
    detectable_after: float | None = None
    cases_needed: int | None = None
    slices: tuple[SliceInformation, ...] = ()
    kinds_missing: dict[str, int] = {}
    reason: str = ""


class SetAge(Struct, frozen=True):
    """How the labels stand to the corpus; None where it cannot be told."""

    verified_at: str | None = None
    days_since_verified: int | None = None
    evidence_units: int | None = None
    missing_evidence: tuple[str, ...] = ()
    expired_evidence: tuple[str, ...] = ()
    unasked_documents: tuple[str, ...] = ()
    corpus_version: str | None = None
    index_versions: tuple[str, ...] = ()
    reason: str = ""


class SetHealth(Struct, frozen=True):
    """The health of a golden set over the runs that there are."""

    golden: str
    digest: str
    cases: int
    systems: tuple[HealthSystem, ...]
    saturation: Saturation
    discrimination: Discrimination
    suspicions: tuple[LabelSuspicion, ...]
    suspicions_reason: str
    leaks: tuple[TextLeak, ...]
    leaks_reason: str
    power: DetectionPower
    age: SetAge
    notes: tuple[str, ...] = ()

    @property
    def faults(self) -> int:
        """How many findings make the set unfit: words of cases in prompts, and labels that the corpus does not have."""
        in_prompts = sum(leak.source == "prompt" for leak in self.leaks)
        return in_prompts + len(self.age.missing_evidence)

    @property
    def doubts(self) -> int:
        """How many findings are for a person to look at."""
        in_corpus = sum(leak.source == "corpus" for leak in self.leaks)
        contrary, expired = self.discrimination.contrary, self.age.expired_evidence
        return in_corpus + len(contrary) + len(self.suspicions) + len(expired)
