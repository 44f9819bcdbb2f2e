"""Which production questions become candidates: one of each group of alike ones, of every stratum, doubtful ones first.

The choice follows from the questions and the seed alone. It is made for finding cases, not for estimating rates.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from math import floor
from typing import Any, Literal

from msgspec import Struct

from assay.audit.feedback_signs import is_negative
from assay.audit.privacy import DEFAULT_RULES, RecordRedactor
from assay.records.audit_records import AuditRecord
from assay.records.errors import InputError
from assay.records.golden_set import Case, GoldenSet, User
from assay.scoring.cluster_suggestions import suggest_clusters
from assay.text.languages import guess_language
from assay.text.refusals.behaviour import detect_behaviour

STRATUM_KEYS = ("tenant", "language", "behaviour", "config", "model", "feedback")
DEFAULT_STRATUM_KEYS = ("tenant", "language", "behaviour")
NOT_RECORDED = "not recorded"
_ROUNDING = 1e-9
_SENTENCE_END = re.compile(r"(?<=[.?!…])\s+")


class TrafficQuestion(Struct, frozen=True):
    """A question of production: its record and number in the store, its stratum, and why its answer is doubtful."""

    record: AuditRecord
    sequence: int
    stratum: str
    doubts: tuple[str, ...]


class TrafficPick(Struct, frozen=True):
    """A chosen question: by its doubts or by chance, and how many questions of the traffic it stands for."""

    question: TrafficQuestion
    chosen_by: Literal["doubt", "chance"]
    alike: int


class StratumCount(Struct, frozen=True):
    """A stratum: its questions, the groups of alike ones that the golden set lacks, and how many were chosen."""

    stratum: str
    questions: int
    groups: int
    chosen: int


class TrafficChoice(Struct, frozen=True):
    """The chosen questions, the strata, and how many questions the golden set asks already."""

    picks: tuple[TrafficPick, ...]
    strata: tuple[StratumCount, ...]
    known_questions: int


def read_traffic_question(record: AuditRecord, sequence: int, keys: Sequence[str]) -> TrafficQuestion:
    """Return a question with its stratum by some keys and its doubts. Raises InputError for an unknown key."""
    unknown = [key for key in keys if key not in STRATUM_KEYS]
    if unknown:
        raise InputError(f"--by: no such stratum (got {', '.join(unknown)}; expected {', '.join(STRATUM_KEYS)})")
    behaviour = detect_behaviour(record.answer or "", question=record.question or "").behaviour or "no answer"
    values: dict[str, Any] = {
        "tenant": record.user.tenant if record.user is not None else None,
        "language": guess_language(record.question or "") or _read_locale(record),
        "behaviour": behaviour,
        "config": record.config_id,
        "model": record.model,
        "feedback": "negative" if is_negative(record.feedback) else "other" if record.feedback is not None else None,
    }
    stratum = ", ".join(f"{key}={values[key] or NOT_RECORDED}" for key in keys) or "all"
    return TrafficQuestion(record, sequence, stratum, tuple(_list_doubts(record, behaviour)))


def _read_locale(record: AuditRecord) -> str | None:
    """Return the language of the locale that a record states of its user, such as `de` of `de-AT`."""
    locale = record.user.locale if record.user is not None else None
    return re.split("[-_]", locale)[0].lower() if locale else None


def _list_doubts(record: AuditRecord, behaviour: str) -> list[str]:
    """Return what the record itself says against its answer; nothing is judged."""
    retrieved = record.retrieved_uids
    if retrieved is None and record.stages is not None:
        retrieved = tuple(chunk.chunk_id for stage in record.stages for chunk in stage.chunks)
    doubts = {
        "negative feedback": is_negative(record.feedback) is True,
        "target error": record.error is not None,
        "nothing retrieved": retrieved is not None and not retrieved,
        "refused": behaviour in ("abstain", "permission_denied", "escalate", "clarify"),
        "behaviour unclear": behaviour == "unknown",
        "no citation": behaviour == "answer" and record.citations is not None and not record.citations,
    }
    return [name for name, holds in doubts.items() if holds]


def choose_questions(
    questions: Sequence[TrafficQuestion], golden: GoldenSet, count: int, *, seed: int = 0, doubtful_share: float = 0.5
) -> TrafficChoice:
    """Return up to `count` questions, one of each group of alike ones that the golden set does not ask.

    The strata take turns, the rarest first, so that each is there if `count` allows. Of all picks, a share of
    `doubtful_share` (0 to 1) are those with most doubts of their stratum, as far as there are such, and the others are
    drawn by chance. The order of `questions` does not matter.
    """
    if not 0.0 <= doubtful_share <= 1.0:
        raise InputError(f"a share of doubtful questions of {doubtful_share} (expected 0 to 1)")
    ordered = sorted(questions, key=lambda question: _draw(seed, question.record.id))
    groups, known_questions = _group_alike(ordered, golden)
    by_stratum: dict[str, list[list[TrafficQuestion]]] = {question.stratum: [] for question in ordered}
    for group in groups:
        by_stratum[group[0].stratum].append(group)
    turns = sorted(by_stratum, key=lambda name: (len(by_stratum[name]), name))
    queues = [_StratumQueue(by_stratum[name], doubtful_share, place) for place, name in enumerate(turns)]
    picks: list[TrafficPick] = []
    owed = 0  # picks by doubt that a stratum without doubtful questions left to the others
    while len(picks) < count and any(queue.has_more for queue in queues):
        for queue in queues:
            if queue.has_more and len(picks) < count:
                wants_doubt = queue.wants_doubt()
                picks.append(queue.pick(by_doubt=wants_doubt or owed > 0))
                owed += wants_doubt - (picks[-1].chosen_by == "doubt")
    chosen = Counter(pick.question.stratum for pick in picks)
    sizes = Counter(question.stratum for question in ordered)
    strata = tuple(StratumCount(name, sizes[name], len(by_stratum[name]), chosen[name]) for name in sorted(turns))
    return TrafficChoice(tuple(picks), strata, known_questions)


def _draw(seed: int, record_id: str) -> str:
    return hashlib.sha256(f"{seed}\0{record_id}".encode("utf-8", "surrogatepass")).hexdigest()


def _group_alike(ordered: Sequence[TrafficQuestion], golden: GoldenSet) -> tuple[list[list[TrafficQuestion]], int]:
    """Return the groups of alike questions, the most doubtful of each first, without those that the set asks."""
    cases = [Case(f"g{row}", case.question) for row, case in enumerate(golden.cases)]
    cases += [Case(f"q{row}", strip_personal(question.record.question or "")) for row, question in enumerate(ordered)]
    parent = {case.id: case.id for case in cases}

    def find_leader(name: str) -> str:
        while parent[name] != name:
            parent[name] = parent[parent[name]]
            name = parent[name]
        return name

    for suggestion in suggest_clusters(cases):
        leader = find_leader(suggestion.case_ids[0])
        for name in suggestion.case_ids[1:]:
            parent[find_leader(name)] = leader
    asked = {find_leader(f"g{row}") for row in range(len(golden.cases))}
    groups: dict[str, list[TrafficQuestion]] = {}
    known_questions = 0
    for row, question in enumerate(ordered):
        leader = find_leader(f"q{row}")
        if leader in asked:
            known_questions += 1
        else:
            groups.setdefault(leader, []).append(question)
    return [sorted(group, key=lambda item: -len(item.doubts)) for group in groups.values()], known_questions


def strip_personal(question: str) -> str:
    """Return a question without the sentences that only say who asks: those with something that is or was redacted.

    >>> strip_personal("May I use loose chalk? My mail is [email], thank you.")
    'May I use loose chalk?'
    >>> strip_personal("Is ann@gym.example your address?")
    'Is ann@gym.example your address?'
    """
    kept = [sentence for sentence in _SENTENCE_END.split(question) if not _is_personal(sentence)]
    return " ".join(kept) if any(sentence.endswith("?") for sentence in kept) else question


def _is_personal(sentence: str) -> bool:
    counts: Counter[str] = Counter()
    RecordRedactor().redact_text(sentence, counts)
    return bool(counts) or any(f"[{rule.name}]" in sentence for rule in DEFAULT_RULES)


class _StratumQueue:
    """The groups of one stratum that are not picked yet, and whose turn it is: doubt or chance."""

    def __init__(self, groups: Sequence[list[TrafficQuestion]], doubtful_share: float, place: int) -> None:
        """`place` is that of the stratum: neighbours begin at different points, so that rounds have the share, too."""
        self._by_chance = list(groups)
        self._by_doubt = sorted((group for group in groups if group[0].doubts), key=lambda group: -len(group[0].doubts))
        self._share = doubtful_share
        self._begin = (place * doubtful_share + 1 - doubtful_share) % 1.0
        self._number = 0

    @property
    def has_more(self) -> bool:
        """Whether a group is left."""
        return bool(self._by_chance)

    def wants_doubt(self) -> bool:
        """Return whether the next pick is one by doubt, if the shares of all picks are to be as they were asked for."""
        before = floor(self._share * self._number + self._begin + _ROUNDING)
        return floor(self._share * (self._number + 1) + self._begin + _ROUNDING) > before

    def pick(self, *, by_doubt: bool) -> TrafficPick:
        """Take the most doubtful group if one is wanted and there, else the next one by chance."""
        is_doubt = by_doubt and bool(self._by_doubt)
        group = self._by_doubt[0] if is_doubt else self._by_chance[0]
        self._by_chance.remove(group)
        if group in self._by_doubt:
            self._by_doubt.remove(group)
        self._number += 1
        return TrafficPick(group[0], "doubt" if is_doubt else "chance", len(group))


def make_candidate_case(pick: TrafficPick, record: AuditRecord, answer: str | None) -> Case:
    """Return a case without any label: the question, its user without an id on the day of the question, and where it
    comes from.

    `record` is the record with everything withheld and redacted, and `answer` what a reviewer may see of it.
    """
    question = pick.question
    user, day = record.user, record.at[:10]
    provenance: dict[str, Any] = {
        "kind": "production",
        "drafted_by": "audit sample",
        "asked_at": day,
        "stratum": question.stratum,
        "chosen_by": pick.chosen_by,
        "doubts": list(question.doubts),
        "alike": pick.alike,
    }
    if record.versions:
        provenance["versions"] = dict(record.versions)
    cited = record.citations if record.citations is not None else record.retrieved_uids
    if cited:
        provenance["chunks of the answer, unchecked"] = list(cited)
    if answer:
        provenance["answer of the system, unchecked"] = answer
    return Case(
        f"prod-{hashlib.sha256(question.record.id.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}",
        record.question or "",
        user=User(user.tenant, user.roles, user.position, user.position_scope, user.locale, day) if user else None,
        tags=("production",),
        language=guess_language(record.question or ""),
        metadata={"provenance": provenance},
    )
