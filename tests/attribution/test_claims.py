"""A cause is a claim: one is named alone only where the facts exclude the others.

For each cause a small system has one planted fault, and decoys leave traces that another explanation fits as well. Of a
decoy the sentence must not claim the cause alone, and the other explanation must be among those that are named.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pytest
from tests.attribution.traces import blamed, score

from assay.attribution.cause_sentences import describe_cause, get_claim, name_causes
from assay.metrics.judged.judge_requests import TIED_VOTES
from assay.records.digest import compute_text_digest
from assay.records.findings import ROOT_CAUSES, Attribution, RootCause
from assay.records.golden_set import AnswerFormat, Case, Corpus, CorpusChunk, Evidence, Rubric, User
from assay.records.observations import Chunk, Observation, Stage
from assay.records.scores import ERROR
from assay.scoring.attribution_settings import JUDGE_METRIC, AttributionSettings

WATER = "## Water\nA plot may draw 60 litres of water a day.\nWatering cans hang at the well.\nHoses are not allowed."
SHED = "## Sheds\nA shed may cover 8 square metres of a plot."
KEYS = "## Keys\nA second gate key costs 15 euros."
BEES = "## Bees\nTwo hives are allowed on a corner plot."
COMPOST = "## Compost\nThe heap must stand 50 centimetres from the path."
FENCE = "## Fences\nA hedge may be 120 centimetres high."
TEXTS = {"water": WATER, "shed": SHED, "keys": KEYS, "bees": BEES, "compost": COMPOST, "fence": FENCE}
OTHERS = tuple(TEXTS)[1:]
RIGHT = "A plot may draw 60 litres of water a day."
WRONG = "A plot may draw 45 litres of water a day."
REFUSED = "I could not find that in the rules."
MEMBER = User(tenant="gardens")
IN_FORCE: dict[str, Any] = {"document": "rules", "version": "v2", "tenant": "gardens", "valid_from": "2026-03-01"}


def rules(*more: CorpusChunk, without: Sequence[str] = ()) -> Corpus:
    """The rules of a garden in force, and more chunks, which replace those of the same id."""
    texts_by_id = {
        name: CorpusChunk(name, text=text, text_hash=compute_text_digest(text), section=name, **IN_FORCE)
        for name, text in TEXTS.items()
        if name not in without
    }
    return Corpus(texts_by_id | {chunk.chunk_id: chunk for chunk in more})


def ask(**changes: Any) -> Case:
    fields: dict[str, Any] = {
        "id": "q",
        "question": "How many litres of water may a plot draw a day?",
        "reference": RIGHT,
        "must_have": ("60 litres",),
        "evidence": (Evidence(({"chunk_id": "water"},)),),
        "user": MEMBER,
    }
    return Case(**fields | changes)


def listed(name: str, *ids: str, texts: dict[str, str] | None = None, bare: bool = False) -> Stage:
    """A list of chunks with texts and hashes, those of the rules unless others are given; `bare`: with ids alone."""
    all_texts = TEXTS | (texts or {})
    if bare:
        return Stage(name, tuple(map(Chunk, ids)))
    return Stage(
        name, tuple(Chunk(each, text=all_texts[each], text_hash=compute_text_digest(all_texts[each])) for each in ids)
    )


def got(*stages: Stage, answer: str = WRONG, **changes: Any) -> Observation:
    return Observation("q", "c", stages=stages or None, answer=answer, **changes)


def all_steps(dense: str, bm25: str, merged: str, reranked: str, context: str, **changes: Any) -> Observation:
    """A hybrid search with a reranker, each list a text of ids."""
    lists = {"dense": dense, "bm25": bm25, "merged": merged, "reranked": reranked, "context": context}
    return got(*(listed(name, *ids.split()) for name, ids in lists.items()), **changes)


def shown(*ids: str, texts: dict[str, str] | None = None, bare: bool = False, **changes: Any) -> Observation:
    """A dense search of which everything is shown to the model."""
    return got(*(listed(name, *ids, texts=texts, bare=bare) for name in ("dense", "context")), **changes)


def indexed_as(text: str, **changes: Any) -> Observation:
    """The evidence reached the model with this text."""
    return shown("water", "shed", texts={"water": text}, **changes)


JUDGED = AttributionSettings(calibrated=frozenset((JUDGE_METRIC,)))
WIDE = " ".join(OTHERS)


class World(NamedTuple):
    """A small system with one fault; `fits` are explanations that the same facts allow."""

    name: str
    attribute: Callable[[], Attribution]
    fits: RootCause | None = None


CUT = WATER[: WATER.index(" a day")]
NO_MIDDLE = WATER.replace("A plot may draw 60 litres of water a day.\n", "")
OLD_WATER = CorpusChunk(
    "water-v1",
    text="## Water\nA plot may draw 45 litres of water a day.",
    document="rules",
    version="v1",
    tenant="gardens",
    valid_from="2024-03-01",
    valid_to="2026-02-28",
)
TODAY = "2026-06-01"

PLANTED: dict[RootCause, World] = {
    "parser": World("a line is lost", lambda: blamed(ask(), indexed_as(NO_MIDDLE), rules())),
    "chunking": World("cut inside a line", lambda: blamed(ask(), indexed_as(CUT, answer=REFUSED), rules())),
    "embedding": World(
        "the only search is by vectors and lacks what the index has",
        lambda: blamed(ask(), shown("shed", "keys"), rules(), others=[shown("water")]),
    ),
    "bm25_analyzer": World(
        "absent although it shares the most words",
        lambda: blamed(
            ask(),
            all_steps("shed keys", "shed keys", "shed keys", "shed keys", "shed"),
            rules(),
            others=[shown("water")],
        ),
    ),
    "hybrid_merge": World(
        "first in both searches and gone after",
        lambda: blamed(ask(), all_steps("water shed", "water keys", "shed keys", "shed keys", "shed keys"), rules()),
    ),
    "reranker": World(
        "first before and last after",
        lambda: blamed(
            ask(), all_steps("water shed", "water keys", f"water {WIDE}", f"{WIDE} water", "shed keys"), rules()
        ),
    ),
    "context_builder": World(
        "ranked first and left out",
        lambda: blamed(ask(), all_steps("water shed", "water shed", "water shed", "water shed", "shed"), rules()),
    ),
    "generator": World("another number", lambda: blamed(ask(), shown("water", "shed"), rules())),
    "citation": World(
        "a source that nothing showed",
        lambda: blamed(
            ask(must_cite=("water",)),
            shown("water", "shed", answer=RIGHT, citations=("bees",)),
            rules(),
            {"citation_correctness(by=rules)": score(0.0)},
        ),
    ),
    "acl": World(
        "a chunk of others is shown",
        lambda: blamed(
            ask(),
            shown("water", "vault", texts={"vault": "The vault code is 7711."}, answer=RIGHT),
            rules(CorpusChunk("vault", text="The vault code is 7711.", document="safe", tenant="office")),
        ),
    ),
    "stale_index": World(
        "the version before is shown",
        lambda: blamed(
            ask(),
            shown("water-v1", "shed", texts={"water-v1": str(OLD_WATER.text)}),
            rules(OLD_WATER),
            as_of=TODAY,
        ),
    ),
    "golden_label_issue": World(
        "the labelled chunk is gone", lambda: blamed(ask(), shown("shed"), rules(without=("water",)))
    ),
    "judge_noise": World(
        "the votes were tied",
        lambda: blamed(
            ask(must_have=(), reference=None),
            shown("water", answer=RIGHT),
            rules(),
            {JUDGE_METRIC: (ERROR, 0.0, TIED_VOTES)},
            settings=JUDGED,
        ),
    ),
}

OTHER_WATER = CorpusChunk("well", text=f"## The well\n{WRONG}", **IN_FORCE)
WELL = {"well": str(OTHER_WATER.text)}
MEMBERS_ONLY = CorpusChunk(
    "water", text=WATER, text_hash=compute_text_digest(WATER), section="water", roles=("board",), **IN_FORCE
)
BOARD = User(tenant="gardens", roles=("board",))


ASIDE = (
    "Water: a shed may cover 8 square metres, a second gate key costs 15 euros, two hives are allowed on a corner, "
    "the heap must stand 50 centimetres from the path"
)


def judged(answer: str, value: float, **changes: Any) -> Attribution:
    """What is said of an answer that reached its evidence and that a calibrated judge graded."""
    scores = {JUDGE_METRIC: score(value)}
    return blamed(ask(**changes), shown("water", "shed", answer=answer), rules(), scores, settings=JUDGED)


DECOYS: dict[RootCause, tuple[World, ...]] = {
    "parser": (
        World(
            "whole lines at the end are gone, as where a chunk was cut between lines",
            lambda: blamed(ask(must_have=("hoses",)), indexed_as(WATER.rpartition("\n")[0], answer=REFUSED), rules()),
            "chunking",
        ),
        World("ids alone, and a wrong number", lambda: blamed(ask(), shown("water", "shed", bare=True)), "generator"),
        World(
            "a number misread as one reads pages, with ids alone",
            lambda: blamed(ask(), shown("water", bare=True, answer="A plot may draw 6O litres of water a day.")),
            "generator",
        ),
        World(
            "other words, as in another edition",
            lambda: blamed(ask(), indexed_as(WATER.replace("60 litres", "some litres"), answer=REFUSED), rules()),
            "stale_index",
        ),
        World(
            "the shown text lacks the number, and no corpus says that it should have it",
            lambda: blamed(ask(), indexed_as(NO_MIDDLE)),
            "generator",
        ),
    ),
    "chunking": (
        World(
            "an excerpt, as some systems show",
            lambda: blamed(
                ask(),
                got(*(Stage(name, (Chunk("water", text=CUT),)) for name in ("dense", "context")), answer=REFUSED),
                rules(),
            ),
            "context_builder",
        ),
        World(
            "a text that stops in a sentence, without a corpus",
            lambda: blamed(
                ask(), indexed_as("## Water\nOn every day of the year a plot may draw no more than", answer=REFUSED)
            ),
            "golden_label_issue",
        ),
        World(
            "a right answer cites an id that the corpus does not have, with a part of the text",
            lambda: blamed(
                ask(),
                shown(
                    "rules-7",
                    "shed",
                    texts={"rules-7": "\n".join(WATER.splitlines()[:3])},
                    answer=RIGHT,
                    citations=("rules-7",),
                ),
                rules(),
            ),
            "golden_label_issue",
        ),
        World(
            "a right answer cites a chunk that no label names, with ids alone",
            lambda: blamed(ask(), shown("page-3", "shed", bare=True, answer=RIGHT, citations=("page-3",))),
            "golden_label_issue",
        ),
        World(
            "words of another document stand in it",
            lambda: blamed(
                ask(),
                indexed_as(f"{WATER.partition(chr(10))[0]}\nThe tea room opens on Sundays from two until five."),
                rules(CorpusChunk("tea", text="The tea room opens on Sundays from two until five.", document="tea")),
            ),
            "parser",
        ),
    ),
    "embedding": (
        World(
            "ranked fifth, and three are shown",
            lambda: blamed(ask(), got(listed("dense", *OTHERS[:4], "water"), listed("context", *OTHERS[:3])), rules()),
            "context_builder",
        ),
        World(
            "ids alone, and nothing shows what is indexed",
            lambda: blamed(ask(), shown("shed", "keys", bare=True), rules()),
            "stale_index",
        ),
        World(
            "the keyword search has it low",
            lambda: blamed(
                ask(question="What comes out of the pump?"),
                all_steps("shed keys bees", "shed keys bees fence compost water", "shed keys", "shed keys", "shed"),
                rules(),
            ),
            "hybrid_merge",
        ),
        World(
            "an answer that is right without it",
            lambda: blamed(ask(), shown("shed", "keys", answer=RIGHT), rules(), others=[shown("water")]),
            "golden_label_issue",
        ),
        World(
            "a list that does not tell how it searches, without the evidence",
            lambda: blamed(ask(), got(listed("hits", "shed"), listed("context", "shed"))),
            "bm25_analyzer",
        ),
    ),
    "bm25_analyzer": (
        World(
            "no text shows what is indexed under its id",
            lambda: blamed(
                ask(),
                got(
                    listed("dense", "water", *OTHERS, bare=True),
                    listed("bm25", *OTHERS, bare=True),
                    listed("merged", *OTHERS, bare=True),
                    listed("context", "shed", bare=True),
                ),
                rules(),
            ),
            "hybrid_merge",
        ),
        World(
            "the corpus keeps it for users like this one, and no list has it",
            lambda: blamed(
                ask(user=BOARD),
                got(listed("bm25", "shed", "keys"), listed("dense", "keys"), listed("context", "shed")),
                rules(MEMBERS_ONLY),
            ),
            "acl",
        ),
        World(
            "the only search returns nothing at all",
            lambda: blamed(ask(), got(listed("bm25"), listed("context")), rules()),
            "acl",
        ),
        World(
            "nothing in the run shows it, and no word is shared",
            lambda: blamed(
                ask(question="What comes out of the pump?"),
                got(listed("bm25", "shed"), listed("context", "shed")),
                rules(),
            ),
            "stale_index",
        ),
        World(
            "the only search has it fifth, and three are shown",
            lambda: blamed(
                ask(question="What comes out of the pump?"),
                got(listed("bm25", *OTHERS[:4], "water"), listed("context", *OTHERS[:3])),
                rules(),
            ),
            "context_builder",
        ),
    ),
    "hybrid_merge": (
        World(
            "one of two searches misses it",
            lambda: blamed(ask(), all_steps("water shed", "shed keys", "shed keys", "shed keys", "shed"), rules()),
            "bm25_analyzer",
        ),
        World(
            "the step that joins the searches is not reported",
            lambda: blamed(
                ask(), got(listed("dense", "water", "shed"), listed("bm25", "shed"), listed("context", "shed")), rules()
            ),
            "hybrid_merge",
        ),
        World(
            "a filter drops it, and the query is not known",
            lambda: blamed(
                ask(),
                got(listed("dense", "water", "shed"), listed("topic_filter", "shed"), listed("context", "shed")),
                rules(),
            ),
            "bm25_analyzer",
        ),
        World(
            "the joined list has it low and the reranker that got it lower still",
            lambda: blamed(
                ask(), all_steps(f"water {WIDE}", "water shed", f"{WIDE} water", f"{WIDE} water", "shed"), rules()
            ),
            "hybrid_merge",
        ),
        World(
            "a filter for the rights of the user drops it",
            lambda: blamed(
                ask(),
                got(listed("dense", "water", "shed"), listed("acl_filter", "shed"), listed("context", "shed")),
                rules(),
            ),
            "acl",
        ),
    ),
    "reranker": (
        World(
            "one list alone, which does not tell what ranked it",
            lambda: blamed(ask(), got(listed("retrieved", *OTHERS, "water"), listed("context", *OTHERS[:3])), rules()),
            "context_builder",
        ),
        World(
            "fourth after, and three are shown",
            lambda: blamed(
                ask(),
                all_steps(
                    "shed keys bees water",
                    "shed keys bees water",
                    "shed keys bees water",
                    "shed keys bees water",
                    "shed keys bees",
                ),
                rules(),
            ),
            "context_builder",
        ),
        World(
            "low before and low after",
            lambda: blamed(
                ask(question="What comes out of the pump?"),
                got(
                    listed("retrieved", *OTHERS, "water"),
                    listed("reranked", *OTHERS, "water"),
                    listed("context", "shed"),
                ),
                rules(),
            ),
            "context_builder",
        ),
        World(
            "the query asks for much that the question does not",
            lambda: blamed(
                ask(),
                all_steps(
                    f"water {WIDE}", f"water {WIDE}", f"water {WIDE}", f"{WIDE} water", "shed keys", query_rewrite=ASIDE
                ),
                rules(),
            ),
            "reranker",
        ),
        World(
            "a list of unknown kind without the evidence",
            lambda: blamed(ask(), got(listed("hits", *OTHERS), listed("context", "shed"))),
            "embedding",
        ),
    ),
    "context_builder": (
        World(
            "the context has the text under another id that the corpus knows",
            lambda: blamed(
                ask(),
                got(
                    listed("dense", "water", "pump", texts={"pump": WATER}),
                    listed("context", "pump", texts={"pump": WATER}),
                ),
                rules(CorpusChunk("pump", text=WATER, **IN_FORCE)),
            ),
            "golden_label_issue",
        ),
        World(
            "the context has the whole section with the text in it, under the id of the section",
            lambda: blamed(
                ask(),
                got(
                    listed("dense", "water", "shed"),
                    listed("context", "part-1", "shed", texts={"part-1": f"{WATER}\n{BEES}"}),
                ),
                rules(),
            ),
            "generator",
        ),
        World(
            "the same without a corpus",
            lambda: blamed(
                ask(),
                got(
                    listed("dense", "water", "shed"),
                    listed("context", "part-1", "shed", texts={"part-1": f"{WATER}\n{BEES}"}),
                ),
            ),
            "generator",
        ),
        World(
            "the reranker has it second of two, and one is shown where others show more",
            lambda: blamed(
                ask(),
                all_steps("shed water", "shed water", "shed water", "shed water", "shed"),
                rules(),
                others=[shown("shed", "keys", "bees")] * 3,
            ),
            "reranker",
        ),
        World(
            "second in the only ranking, and one is shown",
            lambda: blamed(ask(), got(listed("dense", "shed", "water"), listed("context", "shed")), rules()),
            "embedding",
        ),
    ),
    "generator": (
        World("ids alone, and no corpus", lambda: blamed(ask(), shown("water", "shed", bare=True)), "parser"),
        World(
            "another passage in force says what the answer says",
            lambda: blamed(ask(), shown("water", "well", texts=WELL), rules(OTHER_WATER)),
            "golden_label_issue",
        ),
        World(
            "the label asks for what its own passage does not say",
            lambda: blamed(
                ask(must_have=("75 litres",), reference="75 litres"), shown("water", "shed", answer=RIGHT), rules()
            ),
            "golden_label_issue",
        ),
        World(
            "a value of the question's own line is answered, another is wanted",
            lambda: blamed(
                ask(must_have=("7 cans",), reference="7 cans"),
                indexed_as(f"{WATER}\nBring 7 cans.", answer=RIGHT),
            ),
            "golden_label_issue",
        ),
        World(
            "a reference that asks for no evidence, and no step is reported",
            lambda: blamed(ask(evidence=()), got()),
            "golden_label_issue",
        ),
    ),
    "citation": (
        World(
            "what is cited says it too, and is not labelled",
            lambda: blamed(
                ask(),
                shown("water", "pump", texts={"pump": RIGHT}, answer=RIGHT, citations=("pump",)),
                rules(CorpusChunk("pump", text=RIGHT, **IN_FORCE)),
            ),
            "golden_label_issue",
        ),
        World(
            "what is cited is named like a piece of the evidence",
            lambda: blamed(ask(), shown("water", "water#2", bare=True, answer=RIGHT, citations=("water#2",))),
            "chunking",
        ),
        World(
            "ids alone: the text may stand under another id",
            lambda: blamed(ask(), shown("water", "shed", bare=True, answer=RIGHT, citations=("shed",)), rules()),
            "context_builder",
        ),
        World(
            "the source that the case requires is nowhere",
            lambda: blamed(
                ask(must_cite=("charter",)),
                shown("water", "shed", answer=RIGHT, citations=("water",)),
                rules(),
                {"citation_correctness(by=rules)": score(0.0)},
            ),
            "golden_label_issue",
        ),
        World(
            "another form than demanded, and badly cited",
            lambda: blamed(
                ask(answer_format=AnswerFormat(pattern="^[{]")),
                shown("water", "shed", answer=RIGHT, citations=("bees",)),
                rules(),
                {"citation_correctness(by=rules)": score(0.0)},
            ),
            "generator",
        ),
    ),
    "acl": (
        World(
            "a chunk of others in the context of another question",
            lambda: blamed(
                ask(),
                got(
                    listed("dense", "water", "shed"),
                    listed("context", "vault", texts={"vault": "The vault code is 7711."}),
                    answer=RIGHT,
                ),
                rules(CorpusChunk("vault", text="The vault code is 7711.", document="safe", tenant="office")),
            ),
            "context_builder",
        ),
        World(
            "denied to a user, and no list of the run shows it to anyone",
            lambda: blamed(ask(), shown("shed", answer="You are not permitted to see this."), rules()),
            "stale_index",
        ),
        World(
            "no list returns anything, for any question",
            lambda: blamed(ask(), got(listed("dense"), listed("context"), answer=REFUSED), rules()),
            "stale_index",
        ),
        World(
            "the corpus keeps it for some, and no list has it",
            lambda: blamed(ask(user=BOARD), shown("shed", "keys"), rules(MEMBERS_ONLY)),
            "embedding",
        ),
        World(
            "no list returns anything to users like this one",
            lambda: blamed(
                ask(),
                got(listed("dense"), listed("context"), answer=REFUSED),
                rules(),
                others=[shown("shed")],
                other_user=BOARD,
            ),
            "embedding",
        ),
    ),
    "stale_index": (
        World(
            "other words than the corpus has",
            lambda: blamed(ask(), indexed_as(WATER.replace("60 litres", "45 litres")), rules()),
            "parser",
        ),
        World(
            "the value stands in an expired chunk of another document",
            lambda: blamed(
                ask(),
                shown("water", "old-fees", texts={"old-fees": WRONG}),
                rules(
                    CorpusChunk(
                        "old-fees",
                        text=WRONG,
                        document="fees",
                        tenant="gardens",
                        valid_from="2020-01-01",
                        valid_to="2021-01-01",
                    )
                ),
                as_of=TODAY,
            ),
            "generator",
        ),
        World(
            "the evidence itself has expired",
            lambda: blamed(
                ask(evidence=(Evidence(({"chunk_id": "water-v1"},)),)),
                shown("water", "shed", answer=RIGHT),
                rules(OLD_WATER),
                as_of=TODAY,
            ),
            "golden_label_issue",
        ),
        World(
            "no trace shows it, and its words find other chunks",
            lambda: blamed(
                ask(),
                got(listed("bm25", "shed"), listed("context", "shed")),
                rules(),
                others=[got(listed("bm25", "shed"), question="How many metres may a plot have?")],
            ),
            "bm25_analyzer",
        ),
        World(
            "two searches miss what the run never shows, and the answer cites other values",
            lambda: blamed(
                ask(),
                got(
                    *(listed(name, "shed", "keys", bare=True) for name in ("dense", "bm25", "context")),
                    citations=("shed",),
                ),
                others=[shown("keys", bare=True)] * 10,
            ),
            "golden_label_issue",
        ),
    ),
    "golden_label_issue": (
        World(
            "an id that hardly differs from one in the list",
            lambda: blamed(
                ask(evidence=(Evidence(({"chunk_id": "rules-2026-waters"},)),)),
                shown("rules-2026-water", "shed", texts={"rules-2026-water": WATER}, answer=REFUSED),
            ),
            "embedding",
        ),
        World(
            "the quote stands in a document of another name",
            lambda: blamed(
                ask(evidence=(Evidence(({"document": "rules", "quote": RIGHT},), quote=RIGHT),)),
                got(
                    *(
                        Stage(name, (Chunk("p1", text=WATER, metadata={"document": "house-rules"}),))
                        for name in ("dense", "context")
                    )
                ),
            ),
            "stale_index",
        ),
        World(
            "answered where no answer was expected, and the context has it",
            lambda: blamed(
                ask(behaviour="abstain", must_have=(), reference=None, evidence=()),
                shown("water", answer=RIGHT),
                rules(),
            ),
            "generator",
        ),
        World(
            "another chunk has what the label wants, by chance or not",
            lambda: blamed(
                ask(evidence=(Evidence(({"chunk_id": "shed"},)),)),
                shown("water", "keys", answer=REFUSED),
                rules(),
                others=[shown("shed")],
            ),
            "golden_label_issue",
        ),
        World(
            "a right answer cites a chunk that no label names",
            lambda: blamed(ask(), shown("page-3", "shed", bare=True, answer=RIGHT, citations=("page-3",))),
            "chunking",
        ),
    ),
    "judge_noise": (
        World(
            "graded bad, and it says two values",
            lambda: judged(f"{RIGHT} Since May it is 45 litres.", 0.0),
            "generator",
        ),
        World("graded bad, and all is there", lambda: judged(RIGHT, 0.0), "generator"),
        World(
            "graded good, and a pattern of the label finds an error in it",
            lambda: judged(
                "It was 45 litres until May, 60 litres now.", 1.0, rubric=Rubric(("60 litres",), ("45 litres",))
            ),
            "golden_label_issue",
        ),
        World(
            "graded bad, and it promises more than is asked",
            lambda: judged(f"{RIGHT} Children pay nothing.", 0.0),
            "generator",
        ),
        World(
            "graded bad, where the case states nothing",
            lambda: judged(WRONG, 0.0, must_have=(), reference=None),
            "generator",
        ),
    ),
}


@pytest.mark.parametrize("cause", [cause for cause in ROOT_CAUSES if cause != "insufficient_trace"])
def test_a_planted_fault_is_said_to_be_what_happened(cause: RootCause) -> None:
    attribution = PLANTED[cause].attribute()
    assert cause == attribution.cause, attribution.evidence
    assert get_claim(attribution) in (("one", "perhaps") if cause == "embedding" else ("one",))
    assert not describe_cause(attribution).startswith(("one of", "most likely"))


@pytest.mark.parametrize(
    ("cause", "world"),
    [pytest.param(cause, world, id=f"{cause}: {world.name}") for cause, worlds in DECOYS.items() for world in worlds],
)
def test_what_another_explanation_fits_as_well_is_not_claimed(cause: RootCause, world: World) -> None:
    attribution = world.attribute()
    assert attribution.cause is not None
    assert (cause, "one") != (name_causes(attribution)[0], get_claim(attribution)), attribution.evidence
    assert world.fits in attribution.named_causes, (attribution.named_causes, attribution.evidence)


def test_every_cause_has_a_planted_fault_and_five_decoys() -> None:
    causes = set(ROOT_CAUSES) - {"insufficient_trace"}
    assert causes == set(PLANTED) == set(DECOYS)
    assert {5} == set(map(len, DECOYS.values()))
