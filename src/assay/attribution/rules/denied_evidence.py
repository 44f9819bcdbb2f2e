"""Evidence that a user may see and that no list shows: whether access took it, and what is known of who asked.

That a restricted chunk is in no list of a user has two readings: the index lacks it, or access is decided without
knowing who asks. Where the lists of a user have open chunks, and none of those that only users like them may see, the
second is likelier.
"""

from __future__ import annotations

from msgspec import structs

from assay.attribution.cause_finding import RECORD_BEFORE_ACCESS, CauseFinding
from assay.attribution.evidence_trace import list_received
from assay.attribution.index.shown_access import is_kept_for_some
from assay.attribution.losses.step_losses import FILTERED_OUT
from assay.attribution.one_case.case_facts import CaseFacts
from assay.metrics.cases.access_rules import Access, is_visible, read_corpus_access
from assay.records.findings import CauseConfidence, RootCause
from assay.text.late_pattern import LatePattern

USER_NOT_SENT = "user_not_sent"
_ACCESS_FILTER = LatePattern(r"permi|visib|acl|access|role|tenant|right|entitle|authori[sz]")
_ENOUGH_CHUNKS = 2
"""How many chunks of one kind of access, expected for users with the same rights, tell something if none is shown."""
_RECORD_USER = "the user that the target was given, with each output"


def consider_access(case: CaseFacts, unit: int, loss: CauseFinding) -> CauseFinding:
    """Return the finding for a unit that a search did not return, with access as its cause or as a candidate where the
    corpus restricts the unit and no list of the run shows such a chunk to users with these rights."""
    access = find_required_access(case, unit)
    if loss.subcause == FILTERED_OUT:
        return _consider_filter(case, access, loss)
    view, user = case.index_view, case.case.case.user
    if access is None or view is None or loss.cause == "acl":
        return loss
    if any(step.find_rank(unit) is not None for step in case.steps) or view.access.shows_kept(access, user):
        return loss
    if _lists_foreign_chunks(case):
        return loss
    viewers, name = name_access(access), case.get_unit_name(unit)
    if user is None:
        fact = f"the corpus keeps {name} for {viewers}, and the case names no user who may see it"
        return add_access(loss, (fact,))
    facts = [
        f"only {viewers} may see {name}, and no list of users with these rights shows a chunk that only they may see"
    ]
    facts += describe_sent_user(case)
    is_not_sent = case.settings.is_user_sent is False
    if not is_not_sent and view.access.count_expected(access, user) < _ENOUGH_CHUNKS:
        return add_access(loss, tuple(facts))
    also: tuple[RootCause, ...] = (loss.cause, *(cause for cause in loss.also if cause not in (loss.cause, "acl")))
    confidence: CauseConfidence = "medium" if view.access.is_served(user) else "low"
    return CauseFinding(
        "acl",
        loss.stage,
        (*loss.evidence[:1], *facts),
        confidence,
        also[:2],
        USER_NOT_SENT if is_not_sent else "access_denied",
        (_RECORD_USER, RECORD_BEFORE_ACCESS) if case.settings.is_user_sent is None else (RECORD_BEFORE_ACCESS,),
    )


def _lists_foreign_chunks(case: CaseFacts) -> bool:
    """Return whether a list of a case has chunks that the corpus does not have: nobody knows who may see these, and
    after documents were cut differently, each may be a part of what only such users may see."""
    return any(name not in case.corpus_chunks for step in case.steps for name in step.chunk_ids)


def _consider_filter(case: CaseFacts, access: Access | None, loss: CauseFinding) -> CauseFinding:
    """Return access as the cause where the filter that dropped what the user may see decides who may see what: by its
    name, or because everything that it drops is kept for some and nothing that it passes on."""
    position = next(index for index, step in enumerate(case.steps) if step.name == loss.stage)
    after = case.steps[position].chunk_ids
    before = [name for step in list_received(case.steps, position) for name in step.chunk_ids]
    is_named = _ACCESS_FILTER.search(case.steps[position].name.lower()) is not None
    dropped = [name for name in before if name not in after]
    is_filtered_by_access = access is not None and all(map(case.is_kept, dropped)) and not any(map(case.is_kept, after))
    if not is_named and not is_filtered_by_access:
        return loss
    fact = f"{name_access(access)} may see it" if access is not None else "the case expects it to be shown"
    facts = (*loss.evidence, fact if is_named else f"{fact}, and everything that it drops is kept for some users")
    also: tuple[RootCause, ...] = () if is_named and access is not None else ("hybrid_merge",)
    confidence: CauseConfidence = "medium" if also else "high"
    facts = (*facts, *describe_sent_user(case))
    record = (_RECORD_USER,) if case.settings.is_user_sent is None else ()
    return CauseFinding("acl", loss.stage, facts, confidence, also, "access_denied", record=record)


def add_access(loss: CauseFinding, facts: tuple[str, ...]) -> CauseFinding:
    """Return a finding with access as its first candidate, which it then does not exclude."""
    also: tuple[RootCause, ...] = ("acl", *(cause for cause in loss.also if cause != "acl"))
    record = tuple(dict.fromkeys((*loss.record, RECORD_BEFORE_ACCESS)))
    return structs.replace(loss, evidence=(*loss.evidence, *facts), confidence="low", also=also, record=record)


def describe_sent_user(case: CaseFacts) -> list[str]:
    """Return what is known of whether the target was given the user of the case."""
    if case.case.case.user is None:
        return []
    if case.settings.is_user_sent is None:
        return ["nothing records whether the target was given the user of the case"]
    if case.settings.is_user_sent:
        return ["the settings of the target send the user with a question"]
    return ["the settings of the target send no user with a question, so that it does not know who asks"]


def find_required_access(case: CaseFacts, unit: int) -> Access | None:
    """Return who may see a unit of which the corpus restricts every chunk; None if it is open, or if the user of the
    case may see none of its chunks, so that it is right to withhold it."""
    corpus, user = case.case.corpus, case.case.case.user
    names = case.get_covering_chunk_ids(unit)
    if corpus is None or not names:
        return None
    rules = [read_corpus_access(corpus.chunks[name]) for name in names]
    if not all(map(is_kept_for_some, rules)):
        return None
    visible = [rule for rule in rules if user is None or is_visible(rule, user)]
    return visible[0] if visible else None


def name_access(access: Access) -> str:
    """Return who may see a chunk, in words.

    >>> name_access(Access(tenant="north", roles=frozenset({"hr", "boss"})))
    'tenant north with a role of boss, hr'
    """
    roles = ", ".join(sorted(access.roles))
    if access.tenant is None:
        return f"users with the role {roles}" if len(access.roles) == 1 else f"users with a role of {roles}"
    return f"tenant {access.tenant}" + (f" with a role of {roles}" if roles else "")
