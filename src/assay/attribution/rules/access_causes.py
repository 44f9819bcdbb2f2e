"""Detects that an answer leaked, or that access to evidence was denied to a user who may see it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from assay.attribution.cause_finding import RECORD_ID_SEARCH, RECORDS_OF_FAILED_SEARCH, CauseFinding
from assay.attribution.cause_notes import LEAK_IN_CONTEXT, LEAK_RETRIEVED, LEAK_SHOWN
from assay.attribution.cause_terms import GENERATE_STAGE
from assay.attribution.index.index_view import IndexView
from assay.attribution.one_case.case_facts import CaseFacts
from assay.attribution.rules.denied_evidence import describe_sent_user
from assay.metrics.leaks.find_leaks import IN_ANYWHERE, IN_CITATIONS, INJECTION, TOOL_RESULTS, explain_forbidden
from assay.metrics.leaks.obeyed_instructions import find_obeyed_instructions
from assay.records.counts import format_count, join_first
from assay.records.findings import CauseConfidence, RootCause
from assay.records.golden_set import User
from assay.records.observations import CONTEXT_STAGE, Chunk
from assay.text.safety.copied_text import find_canaries


def find_leak(case: CaseFacts) -> CauseFinding | None:
    """Something was shown that the user must not see. Following an injected prompt is the generator's mistake."""
    obeyed = _find_obeyed(case)
    if obeyed is not None:
        return obeyed
    if not case.leaks.count_leaks(IN_ANYWHERE):
        return None
    injected = case.case.case.forbidden_text if INJECTION in case.case.case.tags else ()
    followed = find_canaries(case.answer, injected) if case.answer else []
    if followed and not case.leaks.ids and set(case.leaks.text) <= set(followed):
        fact = "a planted instruction was followed"
        return CauseFinding("generator", GENERATE_STAGE, (fact,), "high", subcause="injection_followed")
    locations = [name for name, ids in case.leaks.ids.items() if ids]
    if case.leaks.text:
        locations.append("the answer")
    count = case.leaks.count_leaks(IN_ANYWHERE)
    shown = format_count(count, "chunk or passage", "chunks or passages")
    secrecy = "that must not be shown" if case.case.case.user is None else "that this user must not see"
    fact = f"{shown} {secrecy}, in {', '.join(locations)}: {_name_leaked(case)}"
    if case.has_foreign_context:
        foreign = "no chunk of the context is in the ranking before it: it may be that of another question"
        facts = (fact, *_explain_leaked(case), foreign)
        return CauseFinding("acl", locations[0], facts, "medium", ("context_builder",), _describe_reach(case))
    confidence: CauseConfidence = "medium" if case.leaks.self_reported else "high"
    return CauseFinding("acl", locations[0], (fact, *_explain_leaked(case)), confidence, subcause=_describe_reach(case))


def is_leak_finding(finding: CauseFinding) -> bool:
    """Return whether a finding is that something leaked, however far it came."""
    return finding.cause == "acl" and finding.subcause in (LEAK_SHOWN, LEAK_IN_CONTEXT, LEAK_RETRIEVED)


def _describe_reach(case: CaseFacts) -> str:
    """Return how far the leak came: to the user, to the context that the model was shown, or only to a list before it.

    Where no answer is reported, the last list is what the user was shown.
    """
    names = [stage.name for stage in case.observation.stages or ()]
    places = {place for place, ids in case.leaks.ids.items() if ids}
    if case.leaks.text or not places <= {*names, TOOL_RESULTS}:
        return LEAK_SHOWN
    context = CONTEXT_STAGE if CONTEXT_STAGE in names else names[-1]
    if places.isdisjoint((context, TOOL_RESULTS)):
        return LEAK_RETRIEVED
    return LEAK_IN_CONTEXT if isinstance(case.observation.answer, str) else LEAK_SHOWN


_MOST_NAMED = 3


def _find_obeyed(case: CaseFacts) -> CauseFinding | None:
    """The answer carries out an instruction of a retrieved chunk, and nothing else was shown that must not be."""
    obeyed = find_obeyed_instructions(case.case, case.observation)
    if not obeyed or case.leaks.ids or not set(case.leaks.text) <= {own.words for own in obeyed}:
        return None
    words = " and ".join(f"“{text}”" for text in list(dict.fromkeys(own.words for own in obeyed))[:_MOST_NAMED])
    names = ", ".join(list(dict.fromkeys(own.chunk_id for own in obeyed))[:_MOST_NAMED])
    fact = f"a planted instruction was followed: the answer says {words}, as {names} demands"
    return CauseFinding("generator", GENERATE_STAGE, (fact,), "high", subcause="injection_followed")


def _name_leaked(case: CaseFacts) -> str:
    """Return the names of what leaked: chunks and fields by their ids, words of the answer by the chunks that have
    them."""
    names: dict[str, None] = {}
    for item in dict.fromkeys(item for items in case.leaks.ids.values() for item in items):
        origins = case.leaks.origins.get(item)
        if origins and names.keys() >= set(origins):
            continue  # it repeats what is named already
        owners = _list_owners(case, case.leaks.sources.get(item, ()))
        names[f"{item} with words of {', '.join(owners)}" if owners and item not in owners else item] = None
    for source in case.leaks.text:
        names |= dict.fromkeys(_list_owners(case, [source]) or ["words of the answer"])
    return join_first(list(names), _MOST_NAMED)


def _explain_leaked(case: CaseFacts) -> Iterator[str]:
    """Yield of the first leaked chunks why they are forbidden and at which ranks they were shown, and that the case
    lists words that were shown; no text of them."""
    shown = {chunk.chunk_id: chunk for stage in case.observation.stages or () for chunk in stage.chunks}
    corpus = case.case.corpus.chunks if case.case.corpus is not None else {}
    leaked = case.leaks.list_leaked()
    names = [name for name in leaked if name in shown or name in corpus]
    for name in names[:_MOST_NAMED]:
        reason = explain_forbidden(case.case, shown.get(name) or Chunk(name))
        places = ", ".join(_list_ranks(case, name)) or _name_other_place(case, name)
        if reason is not None:
            yield f"{name} is forbidden: {reason}" + (f" ({places})" if places else "")
    if any(text in leaked for text in case.case.case.forbidden_text):
        yield "a text was shown that the case lists in forbidden_text"


def _list_ranks(case: CaseFacts, name: str) -> Iterator[str]:
    """Yield the first rank of a chunk in each stage that leaked it."""
    shown_at = "shown at "
    for stage in case.observation.stages or ():
        ids = [chunk.chunk_id for chunk in stage.chunks]
        if name in ids and name in case.leaks.ids.get(stage.name, ()):
            yield f"{shown_at}rank {ids.index(name) + 1} of {stage.name}"
            shown_at = ""


def _name_other_place(case: CaseFacts, name: str) -> str:
    """Return where else than in a stage a chunk leaked: its words in the answer, or a citation; "" for elsewhere."""
    words = "its words are in the answer" if name in _list_owners(case, case.leaks.text) else ""
    cited = "cited by the answer" if name in case.leaks.ids.get(IN_CITATIONS, ()) else ""
    return "; ".join(filter(None, (words, cited)))


def _list_owners(case: CaseFacts, sources: Iterable[str]) -> list[str]:
    """Return the ids of the chunks of the corpus that have one of these texts."""
    return [chunk.chunk_id for source in sources for chunk in case.list_chunks_with_text(source)]


def find_access_denied(case: CaseFacts) -> CauseFinding | None:
    """Access was denied, or nothing was shown, although the user may see what the case needs.

    If the run shows chunks to another user with the same rights, the search failed here and not the access. If no stage
    returned anything in the whole run, the search may be down, so access is only one possible cause.
    """
    if case.good is not False or case.case.accepts("permission_denied"):
        return None
    is_retrieved = any(step.find_rank(unit) is not None for step in case.steps for unit in case.required_units)
    user = case.case.case.user
    is_answerable = case.case.accepts("answer")
    if case.behaviour == "permission_denied" and is_answerable and not is_retrieved and user is not None:
        fact = "permission was denied, and no stage returned what the case needs, which this user may see"
        if not case.required_units:
            fact = "permission was denied, and the case expects an answer for this user"
        facts = (fact, *describe_sent_user(case))
        # Where no trace of the run shows it to anyone, it may not be indexed.
        is_indexed = case.required_units and all(map(case.is_shown_in_run, case.required_units))
        if is_indexed:
            return CauseFinding("acl", _first_stage(case), facts, "high", subcause="access_denied")
        others: tuple[RootCause, ...] = ("stale_index", "embedding")
        return CauseFinding("acl", _first_stage(case), facts, "medium", others, "access_denied", (RECORD_ID_SEARCH,))
    if case.required_units and case.steps and user is not None and not any(step.chunk_ids for step in case.steps):
        return _explain_empty_lists(case, user)
    return None


def _explain_empty_lists(case: CaseFacts, user: User) -> CauseFinding | None:
    """No stage returned anything to a user who may see what the case needs.

    A search by words finds nothing where the words are not those of the index. One by vectors ranks whatever it may
    see: where its list is empty too, it was shown nothing to rank, or failed, and nothing tells these two apart.
    """
    view = case.index_view
    if view is None or not view.returned:
        fact = "no stage returned anything, for this case or any other of the run"
        return CauseFinding(
            "insufficient_trace",
            _first_stage(case),
            (fact,),
            "low",
            ("acl", "stale_index"),
            record=RECORDS_OF_FAILED_SEARCH,
        )
    if not view.access.is_served(user):
        if _is_search_at_fault(case, view):
            return None
        fact = "no stage returned anything for this user, or any other with the same tenant and roles"
        facts = (fact, *describe_sent_user(case))
        return CauseFinding(
            "acl", _first_stage(case), facts, "low", ("bm25_analyzer",), "access_denied", RECORDS_OF_FAILED_SEARCH
        )
    if _is_search_at_fault(case, view):
        return None
    searches = [step for step in case.steps if step.kind in ("dense", "retriever")]
    alone = len([step for step in case.steps if step.kind in ("lexical", "dense", "retriever")]) == 1
    searches = [
        step for step in searches if view.largest_stages.get(step.name) and not (alone and step.kind == "dense")
    ]
    if not searches:
        return None
    fact = f"no stage returned anything, and {searches[0].name} does for other questions of users with these rights"
    also: tuple[RootCause, ...] = ("acl", "embedding", "bm25_analyzer")
    facts = (fact, *describe_sent_user(case))
    return CauseFinding("insufficient_trace", _first_stage(case), facts, "low", also, record=RECORDS_OF_FAILED_SEARCH)


def _is_search_at_fault(case: CaseFacts, view: IndexView) -> bool:
    """Whether no search of the run finds anything by the words that question and evidence share, for any user."""
    shared_words = [
        view.words.find_distinctive_words(case.query, case.get_expected_texts(unit)) for unit in case.required_units
    ]
    return any(shared_words) and not any(words and view.words.is_matched(words) for words in shared_words)


def _first_stage(case: CaseFacts) -> str | None:
    return case.steps[0].name if case.steps else None
