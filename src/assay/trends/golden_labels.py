"""Which golden case says what is expected of a production answer: the one that asks the same for such a user.

What a case expects depends on who asks. What both sides state of the user has to agree; what the case leaves open and
the record states decides nothing where it cannot change what is expected: rights that only add to what a user may see
take no answer away, and a tenant matters only to a corpus that has chunks of single tenants (ADR 242).
"""

from __future__ import annotations

from typing import NamedTuple

from assay.records.golden_set import Case, Corpus, User
from assay.trends.near_golden import GoldenQuestions

NO_LABEL = "no golden case asks the same question"
_NO_USER = "the golden cases that ask the same name a user, and the records none"
_OTHER_USER = "the golden cases that ask the same name another {part} of their user than the records"
_OPEN_PART = (
    "the golden cases that ask the same name no {part} of their user, and what they expect may depend on the one that "
    "the records name: the corpus {restricts}"
)
_NO_CORPUS = "that would tell is not given (--corpus)"


class ChunkLimits(NamedTuple):
    """What limits any chunk of a corpus: whom it is for, and the days on which it holds."""

    tenant: bool
    roles: bool
    position: bool
    days: bool


def find_limits(corpus: Corpus | None) -> ChunkLimits | None:
    """Return what limits any chunk of a corpus, None without one.

    >>> from assay.records.golden_set import CorpusChunk
    >>> find_limits(Corpus({"a": CorpusChunk("a", roles=("staff",)), "b": CorpusChunk("b")}))
    ChunkLimits(tenant=False, roles=True, position=False, days=False)
    """
    if corpus is None:
        return None
    chunks = corpus.chunks.values()
    return ChunkLimits(
        any(chunk.tenant is not None for chunk in chunks),
        any(chunk.roles for chunk in chunks),
        any(chunk.position is not None for chunk in chunks),
        any(chunk.valid_from or chunk.valid_to for chunk in chunks),
    )


def find_label(
    golden: GoldenQuestions | None, question: str | None, user: User | None, limits: ChunkLimits | None
) -> tuple[Case | None, str]:
    """Return the golden case that asks the same on behalf of such a user, else None and why there is none."""
    reasons = []
    for case in golden.find_cases(question) if golden is not None else ():
        reason = explain_other_user(case, user, limits)
        if not reason:
            return case, ""
        reasons.append(reason)
    return None, reasons[0] if reasons else NO_LABEL


def explain_other_user(case: Case, user: User | None, limits: ChunkLimits | None) -> str:
    """Return why what a case expects is not known to hold for a user; "" where it holds.

    >>> case = Case("a", "Why?", user=User(roles=("staff",)))
    >>> explain_other_user(case, User(roles=("guest",)), None)
    'the golden cases that ask the same name another role of their user than the records'
    >>> explain_other_user(case, User(tenant="north", roles=("staff",)), None)
    ''
    """
    expected = case.user
    if expected is None:
        return ""
    if user is None:
        return _NO_USER
    is_answerable = case.behaviour == "answer"
    parts = (
        ("tenant", expected.tenant, user.tenant, is_answerable, limits is not None and not limits.tenant),
        ("role", _get_roles(expected), _get_roles(user), is_answerable, limits is not None and not limits.roles),
        # Who stands at a position sees less than who stands at none.
        ("position", _get_place(expected), _get_place(user), False, limits is not None and not limits.position),
    )
    for part, wanted, stated, is_harmless, is_idle in parts:
        if wanted == stated:
            continue
        if wanted is not None:
            return _OTHER_USER.format(part=part)
        if not is_harmless and not is_idle:
            restricts = _NO_CORPUS if limits is None else f"has chunks of a single {part}"
            return _OPEN_PART.format(part=part, restricts=restricts)
    return ""


def _get_roles(user: User) -> frozenset[str] | None:
    return frozenset(user.roles) or None


def _get_place(user: User) -> tuple[float, str | None] | None:
    return None if user.position is None else (user.position, user.position_scope)
