"""Evidence that only some users may see, and that no list shows to one of them: access, the index, or neither."""

from __future__ import annotations

import pytest
from msgspec import structs

from assay import api
from assay.attribution.attribute_run import attribute_run
from assay.attribution.rules.denied_evidence import name_access
from assay.formats.run_files.run_folder import read_sent_users
from assay.metrics.cases.access_rules import Access
from assay.records.findings import Attribution
from assay.records.golden_set import Behaviour, Case, Corpus, CorpusChunk, Evidence, GoldenSet, User
from assay.records.observations import Chunk, Observation, Stage

OPEN = {
    "opening": "The museum opens at ten on weekdays.",
    "ticket": "A ticket for adults costs 13 euros.",
    "cloak": "Bags go into the lockers of the cloakroom.",
    "cafe": "The cafe of the museum serves soup at noon.",
}
KEPT = {
    "vault": "The vault of the museum opens with the word Saffron.",
    "loans": "The loan of the bronze horse ends in May 2029.",
    "guards": "Guards of the museum change every four hours.",
}
QUESTIONS = {
    "vault": ("With which word does the vault of the museum open?", "Saffron"),
    "loans": ("When does the loan of the bronze horse end?", "May 2029"),
    "guards": ("How often do guards of the museum change?", "four hours"),
}
CURATOR = User(roles=("curator",))


def make_corpus() -> Corpus:
    chunks = {name: CorpusChunk(name, text=text) for name, text in OPEN.items()}
    chunks |= {name: CorpusChunk(name, text=text, roles=("curator",)) for name, text in KEPT.items()}
    return Corpus(chunks)


def ask(name: str, user: User | None = CURATOR) -> Case:
    question, fact = QUESTIONS[name]
    return Case(name, question, must_have=(fact,), evidence=(Evidence(({"chunk_id": name},)),), user=user)


def observe(name: str, *stages: tuple[str, tuple[str, ...]], answer: str = "") -> Observation:
    texts = OPEN | KEPT
    lists = [Stage(stage, tuple(Chunk(each, text=texts[each]) for each in ids)) for stage, ids in stages]
    answer = answer or "I could not find that in the documents."
    return Observation(name, "c", question=QUESTIONS[name][0], stages=tuple(lists), answer=answer)


FOUND = ("opening", "cafe", "ticket")


def miss(name: str) -> Observation:
    """Only open chunks are found, and the answer says that it does not know."""
    return observe(name, ("bm25", FOUND), ("context", FOUND))


def attribute(
    cases: list[Case], observations: list[Observation], *, is_user_sent: bool | None = None
) -> dict[str, Attribution]:
    scored = api.score(GoldenSet(tuple(cases)), observations, corpus=make_corpus())
    if is_user_sent is not None:
        scored.run.attribution = structs.replace(scored.run.attribution, sent_users={"c": is_user_sent})
    return attribute_run(scored.run, "c")


@pytest.mark.parametrize(
    ("is_user_sent", "subcause", "said"),
    [
        (None, "access_denied", "nothing records whether the target was given the user"),
        (True, "access_denied", "the settings of the target send the user"),
        (False, "user_not_sent", "the settings of the target send no user"),
    ],
)
def test_chunks_that_only_some_may_see_and_none_of_them_is_shown_are_denied(
    is_user_sent: bool | None, subcause: str, said: str
) -> None:
    attribution = attribute([ask("vault"), ask("loans")], [miss("vault"), miss("loans")], is_user_sent=is_user_sent)
    for name in ("vault", "loans"):
        assert ("acl", subcause, "medium") == (
            attribution[name].cause,
            attribution[name].subcause,
            attribution[name].confidence,
        )
        assert ("access_fault", "access_denied") == (attribution[name].verdict, attribution[name].subtype)
        assert any(said in fact for fact in attribution[name].evidence)
        assert f"only users with the role curator may see {name}" in attribution[name].evidence[1]
        assert "acl" not in attribution[name].also
        assert attribution[name].also


def test_chunks_that_the_corpus_does_not_have_accuse_no_access() -> None:
    """Cut differently, the chunks of the index have other ids: nobody knows who may see those that are listed."""
    parts = Stage("bm25", tuple(Chunk(f"{name}/1", text=(OPEN | KEPT)[name][:20]) for name in ("opening", "vault")))
    traces = [structs.replace(miss(name), stages=(parts, structs.replace(parts, name="context"))) for name in QUESTIONS]
    for attribution in attribute([ask(name) for name in QUESTIONS], traces).values():
        assert "acl" != attribution.cause and "access_fault" != attribution.verdict


def test_one_chunk_alone_makes_access_a_candidate() -> None:
    attribution = attribute([ask("vault")], [miss("vault")])["vault"]
    assert "acl" != attribution.cause
    assert "acl" == attribution.also[0]
    assert "low" == attribution.confidence


def test_a_target_that_is_not_given_the_user_needs_no_second_chunk() -> None:
    attribution = attribute([ask("vault")], [miss("vault")], is_user_sent=False)["vault"]
    assert ("acl", "user_not_sent") == (attribution.cause, attribution.subcause)
    assert attribution.fix.startswith("send the user with each question")


def test_what_users_with_the_same_rights_are_shown_is_not_denied() -> None:
    shown = ("guards", "opening")
    observation = observe(
        "guards", ("bm25", shown), ("context", shown), answer="Guards of the museum change every four hours."
    )
    cases = [ask("vault"), ask("loans"), ask("guards")]
    attribution = attribute(cases, [miss("vault"), miss("loans"), observation], is_user_sent=True)
    assert "pass" == attribution["guards"].verdict
    for name in ("vault", "loans"):
        assert "acl" not in (attribution[name].cause, *attribution[name].also)


def test_without_a_user_it_is_right_to_withhold_what_is_kept_for_some() -> None:
    attribution = attribute([ask("vault", None), ask("loans", None)], [miss("vault"), miss("loans")])["vault"]
    assert "acl" != attribution.cause
    assert any("the case names no user who may see it" in fact for fact in attribution.evidence)


@pytest.mark.parametrize(
    ("name", "passed_on", "expected"),
    [
        ("permissions", FOUND, ("acl", "access_denied", "high")),
        ("filter", FOUND, ("acl", "access_denied", "medium")),  # drops what is kept for some, and nothing else
        ("filter", FOUND[:1], ("hybrid_merge", "filtered_out", "medium")),
    ],
)
def test_a_filter_that_drops_what_the_user_may_see_is_one_of_access(
    name: str, passed_on: tuple[str, ...], expected: tuple[str, str, str]
) -> None:
    trace = observe("vault", ("bm25", ("vault", *FOUND)), (name, passed_on), ("context", passed_on))
    attribution = attribute([ask("vault")], [trace])["vault"]
    assert expected == (attribution.cause, attribution.subcause, attribution.confidence)
    assert name == attribution.stage


def test_the_settings_of_a_run_tell_whether_the_user_is_sent() -> None:
    asked = {"type": "http", "url": "https://rag.example", "body": {"q": "{{question}}"}, "identity": {}}
    in_body = asked | {"body": {"q": "{{question}}", "who": "{{user.id}}"}}
    in_header = {"type": "mcp", "url": "https://rag.example", "identity": {"x-role": "user.roles"}}
    targets = {"a": asked, "b": in_body, "c": in_header, "d": {"type": "recorded"}, "e": {"type": "command"}}
    assert {"a": False, "b": True, "c": True, "e": True} == read_sent_users({"targets": targets})
    assert {} == read_sent_users({})


def test_who_may_see_a_chunk_is_said_in_words() -> None:
    assert "tenant lyon" == name_access(Access(tenant="lyon"))
    assert "users with a role of cook, nurse" == name_access(Access(roles=frozenset(("nurse", "cook"))))


@pytest.mark.parametrize(
    ("behaviour", "answer", "cause", "said"),
    [
        ("permission_denied", "I could not find that in the documents.", "insufficient_trace", "no list shows what"),
        ("abstain", "You do not have permission to see that.", "generator", "permission denied where abstain"),
    ],
)
def test_a_refusal_of_another_kind_is_named_and_nothing_more_is_said_than_the_trace_shows(
    behaviour: Behaviour, answer: str, cause: str, said: str
) -> None:
    forbidden = ({"chunk_id": "vault"},) if behaviour == "permission_denied" else ()
    case = structs.replace(ask("vault", User()), behaviour=behaviour, must_have=(), evidence=(), forbidden=forbidden)
    trace = observe("vault", ("bm25", FOUND), ("context", FOUND), answer=answer)
    attribution = attribute([case], [trace])["vault"]
    assert ("refusal_fault", "wrong_refusal", cause) == (attribution.verdict, attribution.subtype, attribution.cause)
    assert said in " ".join(attribution.evidence)
    assert "cannot be told apart" not in " ".join(attribution.evidence)
    if cause == "insufficient_trace":
        assert "record the list before it is filtered by access" == attribution.fix
