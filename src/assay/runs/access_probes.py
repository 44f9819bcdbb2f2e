"""Probing access rules: every question of a golden set is asked under every other identity that the set names.

The corpus alone determines what each identity may see, whatever the question, so that leaks are all that is scored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from msgspec import structs

from assay.attribution.attribute_run import attribute_run_case
from assay.formats.golden_files import LoadedGolden, compute_golden_digest
from assay.records.counts import format_count
from assay.records.digest import compute_digest
from assay.records.errors import SettingsError
from assay.records.golden_set import BEHAVIOURS, Case, GoldenSet, User
from assay.records.scores import SCORED
from assay.scoring.scored_run import ScoredRun

PROBE_FOLDER = "probes"
LEAK_METRIC = "visibility_leaks"
PROBE_TAG = "probe"


@dataclass(frozen=True, slots=True)
class ProbeLeak:
    """A probe for which a system returned text that its user may not see; `count` is the number of leaks, and
    `reasons` say which chunks they are, why they are forbidden and where they were shown."""

    config: str
    case: str
    count: int
    reasons: tuple[str, ...] = ()


def list_identities(golden: GoldenSet) -> dict[str, User]:
    """Return the users that the cases name, by their digest. Raises SettingsError for fewer than two."""
    identities = {compute_digest(case.user): case.user for case in golden.cases if case.user is not None}
    if len(identities) < 2:
        message = "--probe-identities: the golden set names fewer than two identities (user), so none to swap"
        raise SettingsError(f"{message} (got {len(identities)}; expected cases of two users or more)")
    return identities


def make_probes(loaded: LoadedGolden, chosen: Sequence[Case]) -> LoadedGolden:
    """Return the golden set of probes: each question of the selected cases under each identity that did not ask it.

    Raises SettingsError if the cases name fewer than two identities, because there is none to swap.
    """
    golden = loaded.golden
    identities = list_identities(golden)
    asked_pairs = {(case.question, compute_digest(case.user)) for case in golden.cases}
    cases: dict[tuple[str, str], Case] = {}
    for case in chosen:
        for number, (key, user) in enumerate(identities.items(), 1):
            if (case.question, key) not in asked_pairs:
                cases.setdefault((case.question, key), _make_probe(case, number, user))
    name = f"{golden.name} probes".strip()
    probe_set = structs.replace(golden, cases=tuple(cases.values()), name=name, frozen_digest="")
    return LoadedGolden(probe_set, loaded.format, (), compute_golden_digest(probe_set))


def describe_probes(probes: Sequence[Case]) -> str:
    """Return how many questions probes ask, and as how many users.

    >>> describe_probes([Case("a~2", "Who?", user=User("acme")), Case("b~2", "When?", user=User("acme"))])
    '2 questions, each again as the 1 user of the golden set who did not ask it'
    """
    questions = format_count(len({probe.question for probe in probes}), "question")
    users = len({compute_digest(probe.user) for probe in probes})
    who = "the 1 user" if users == 1 else f"those of {format_count(users, 'user')}"
    return f"{questions}, each again as {who} of the golden set who did not ask it"


def find_leaking_probes(run: ScoredRun) -> list[ProbeLeak]:
    """Return the probes that leaked, those with the most leaks first."""
    leaks_found = []
    for config, result in run.scoring.configs.items():
        column = result.table.columns[LEAK_METRIC]
        for case_id, value, status in zip(result.table.case_ids, column.values, column.status, strict=True):
            if status == SCORED and value > 0:
                leaks_found.append(ProbeLeak(config, case_id, int(value)))
    return sorted(leaks_found, key=lambda leak: -leak.count)


def explain_probe(run: ScoredRun, leak: ProbeLeak) -> ProbeLeak:
    """Return a leaking probe with what its leaks are: which chunk, why it is forbidden, and where it was shown."""
    attribution = attribute_run_case(run, leak.config, leak.case)
    return leak if attribution is None else replace(leak, reasons=attribution.evidence[1:] or attribution.evidence)


def count_checked_probes(run: ScoredRun) -> int:
    """Return how many probes could be checked: without a corpus, only the system itself knows who may see what."""
    return sum(
        int((result.table.columns[LEAK_METRIC].status == SCORED).sum()) for result in run.scoring.configs.values()
    )


def _make_probe(case: Case, number: int, user: User) -> Case:
    return Case(
        id=f"{case.id}~identity-{number}",
        question=case.question,
        behaviour="abstain",  # nothing is expected of the answer; a case that expects one would need evidence
        also_accept=tuple(behaviour for behaviour in BEHAVIOURS if behaviour != "abstain"),
        user=user,
        tags=(PROBE_TAG,),
        history=case.history,
        cluster=case.cluster or case.id,
        language=case.language,
    )
