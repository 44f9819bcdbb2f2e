"""Mutations that damage a good observation, each with the metrics that must get worse.

Good observations are made from the golden set itself: the reference as answer, and the required evidence first among
chunks that the user may see. They depend neither on a system under test nor on a metric.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from assay.records.golden_set import Case, Corpus, CorpusChunk, GoldenSet
from assay.records.observations import Chunk, Observation, Stage, Usage

RETRIEVED, SHOWN = 10, 5
REFUSALS: dict[str, dict[str, tuple[str, ...]]] = {
    "abstain": {
        "en": ("The documents I can see do not answer this question.", "I could not find any information about that."),
        "vi": ("Tôi không tìm thấy thông tin về việc này trong tài liệu.", "Tài liệu hiện có không đủ để trả lời."),
    },
    "permission_denied": {
        "en": ("You do not have permission to see this document.", "I am not allowed to share that with you."),
        "vi": ("Bạn không có quyền xem nội dung này.", "Tôi không được phép chia sẻ thông tin này với bạn."),
    },
    "escalate": {
        "en": ("I have forwarded your request to the HR team, who will get back to you.",),
        "vi": ("Tôi đã chuyển yêu cầu của bạn đến bộ phận nhân sự để được xử lý.",),
    },
}
INVENTED = {
    "en": "Every employee also receives a company car after 90 days.",
    "vi": "Ngoài ra mỗi nhân viên được cấp một xe ô tô sau 90 ngày.",
}
_NUMBER = re.compile(r"(?<![\w.,/:-])\d{1,4}(?![\w/:-]|[.,]\d)")


class Setting(NamedTuple):
    """What a mutation may use: the case, its index, the corpus and the chunks that the user may see."""

    case: Case
    place: int
    corpus: Corpus
    visible: tuple[CorpusChunk, ...]
    hidden: tuple[CorpusChunk, ...]

    @property
    def language(self) -> str:
        """The language to write in."""
        return "en" if self.case.language == "en" else "vi"

    @property
    def required(self) -> tuple[str, ...]:
        """The chunks that the case requires."""
        if self.case.behaviour == "permission_denied":
            return ()
        units = [unit for unit in self.case.evidence if unit.required]
        return tuple(str(unit.any_of[0]["chunk_id"]) for unit in units if "chunk_id" in unit.any_of[0])


Mutate = Callable[[Setting, Observation], Observation | None]


class Mutation(NamedTuple):
    """One way to spoil an observation, None where it cannot be; every one of `worse` must get worse by it."""

    name: str
    worse: tuple[str, ...]
    mutate: Mutate


def make_settings(golden: GoldenSet, corpus: Corpus) -> list[Setting]:
    """Return every case with the chunks that its user may and may not see, by tenant and roles."""
    settings = []
    for index, case in enumerate(golden.cases):
        denied = {str(unit.any_of[0].get("chunk_id")) for unit in case.evidence} if _denied(case) else set[str]()
        visible: list[CorpusChunk] = []
        hidden: list[CorpusChunk] = []
        for chunk in corpus.chunks.values():
            (visible if _may_see(case, chunk) and chunk.chunk_id not in denied else hidden).append(chunk)
        settings.append(Setting(case, index, corpus, tuple(visible), tuple(hidden)))
    return settings


def make_good_observation(setting: Setting) -> Observation:
    """Return an observation in which everything is as the case asks for."""
    case, first = setting.case, setting.required
    others = [
        chunk.chunk_id for chunk in setting.visible if chunk.chunk_id not in first and _is_current(setting, chunk)
    ]
    start = (setting.place * 7) % max(1, len(others))
    ids = [*first, *(others[start:] + others[:start])][: max(RETRIEVED, len(first))]
    shown = max(SHOWN, len(first))
    answer = case.reference or ""
    if case.behaviour != "answer":
        sayings = REFUSALS[case.behaviour][setting.language]
        answer = sayings[setting.place % len(sayings)]
    return Observation(
        case.id,
        "untouched",
        question=case.question,
        stages=(_stage("retrieved", ids), _stage("reranked", ids), _stage("context", ids[:shown])),
        answer=answer,
        citations=first if case.behaviour == "answer" else (),
        usage=Usage(end_to_end_ms=1200.0 + setting.place),
    )


def _denied(case: Case) -> bool:
    return case.behaviour == "permission_denied"


def _may_see(case: Case, chunk: CorpusChunk) -> bool:
    user = case.user
    if user is None:
        return not chunk.roles
    return chunk.tenant in (None, user.tenant) and (not chunk.roles or bool(set(chunk.roles) & set(user.roles)))


def _is_current(setting: Setting, chunk: CorpusChunk) -> bool:
    newer = [
        other
        for other in setting.visible
        if other.document == chunk.document and (other.valid_from or "") > (chunk.valid_from or "")
    ]
    return not newer


def _stage(name: str, ids: Sequence[str]) -> Stage:
    return Stage(
        name, tuple(Chunk(chunk_id, round(1.0 - rank / 100, 2), rank + 1) for rank, chunk_id in enumerate(ids))
    )


def _with_stages(seen: Observation, change: Callable[[str, list[str]], list[str]]) -> Observation:
    stages = seen.stages or ()
    changed = [_stage(stage.name, change(stage.name, [chunk.chunk_id for chunk in stage.chunks])) for stage in stages]
    return replace(seen, stages=tuple(changed))


# ── mutations ─────────────────────────────────────────────────────────────────────────────────────────


def drop_evidence(setting: Setting, seen: Observation) -> Observation | None:
    """Remove the required evidence from every stage, and all citations."""
    removed = set(setting.required)
    if not removed or setting.case.behaviour != "answer":
        return None
    without_evidence = _with_stages(seen, lambda _, ids: [chunk_id for chunk_id in ids if chunk_id not in removed])
    return replace(without_evidence, citations=())


def drop_from_context(setting: Setting, seen: Observation) -> Observation | None:
    """Remove the required evidence from the context only."""
    gone = set(setting.required)
    if not gone or setting.case.behaviour != "answer":
        return None
    return _with_stages(seen, lambda name, ids: [x for x in ids if x not in gone] if name == "context" else ids)


def demote(setting: Setting, seen: Observation) -> Observation | None:
    """Let the evidence come last in every ranking."""
    if not setting.required:
        return None
    return _with_stages(seen, lambda name, ids: ids if name == "context" else ids[::-1])


def wrong_number(setting: Setting, seen: Observation) -> Observation | None:
    """Change a number of the answer that decides it, one that a keyword holds, to quite another."""
    return _other_number(setting, seen, lambda number: number * 3 + 1)


def off_by_one(setting: Setting, seen: Observation) -> Observation | None:
    """Change a number of the answer that decides it to its neighbour."""
    return _other_number(setting, seen, lambda number: number + 1)


def _other_number(setting: Setting, seen: Observation, other: Callable[[int], int]) -> Observation | None:
    answer, rubric = seen.answer, setting.case.rubric
    if not isinstance(answer, str) or rubric is None or setting.case.behaviour != "answer":
        return None
    wanted = [match[0] for keyword in rubric.correct_keywords for match in _NUMBER.finditer(keyword)]
    found = [match for match in _NUMBER.finditer(answer) if match[0] in wanted]
    if not found:
        return None
    changed = answer
    for match in reversed(found):
        changed = changed[: match.start()] + str(other(int(match[0]))) + changed[match.end() :]
    return replace(seen, answer=changed)


def invented_claim(setting: Setting, seen: Observation) -> Observation | None:
    """Add a sentence that is in no document."""
    if setting.case.behaviour != "answer":
        return None
    return replace(seen, answer=f"{seen.answer} {INVENTED[setting.language]}")


def other_answer(setting: Setting, seen: Observation) -> Observation | None:
    """Answer with the reference of another case."""
    if setting.case.behaviour != "answer" or setting.case.rubric is None:
        return None
    foreign = "Sales discounts need approval." if setting.language == "en" else "Hóa đơn được gửi qua thư điện tử."
    return replace(seen, answer=foreign)


def invented_citation(setting: Setting, seen: Observation) -> Observation | None:
    """Cite a chunk that does not exist."""
    return replace(seen, citations=("no_such_policy:v9:999",)) if seen.citations else None


def swapped_citation(setting: Setting, seen: Observation) -> Observation | None:
    """Cite a chunk of the context that is of another document and holds no required evidence."""
    context = [chunk.chunk_id for chunk in (seen.stages or ())[-1].chunks]
    documents = {chunk_id.rpartition(":")[0] for chunk_id in setting.required}
    others = [chunk_id for chunk_id in context if chunk_id.rpartition(":")[0] not in documents]
    return replace(seen, citations=(others[-1],)) if seen.citations and others and setting.case.must_cite else None


def no_citation(setting: Setting, seen: Observation) -> Observation | None:
    """Cite nothing."""
    return replace(seen, citations=()) if seen.citations and setting.case.must_cite else None


def leaked_chunk(setting: Setting, seen: Observation) -> Observation | None:
    """Show a chunk that the user may not see, in the middle of every stage."""
    if not setting.hidden or setting.case.user is None:
        return None
    secret = setting.hidden[(setting.place * 5) % len(setting.hidden)].chunk_id
    return _with_stages(seen, lambda _, ids: [*ids[:2], secret, *ids[2:]])


def leaked_text(setting: Setting, seen: Observation) -> Observation | None:
    """Refuse, and quote at length a chunk that the user may not see."""
    if not _denied(setting.case):
        return None
    wanted = {str(unit.any_of[0].get("chunk_id")) for unit in setting.case.evidence}
    texts = [chunk.text for chunk in setting.hidden if chunk.chunk_id in wanted and chunk.text]
    longest = max(texts, key=len, default="")
    words = longest.split()
    return replace(seen, answer=f"{seen.answer} {' '.join(words[:40])}") if len(words) > 12 else None


def refused(setting: Setting, seen: Observation) -> Observation | None:
    """Refuse to answer what can be answered."""
    if setting.case.behaviour != "answer" or "abstain" in setting.case.also_accept:
        return None
    sayings = REFUSALS["abstain"][setting.language]
    return replace(seen, answer=sayings[setting.place % len(sayings)], citations=())


def answered(setting: Setting, seen: Observation) -> Observation | None:
    """Answer what must be refused."""
    if setting.case.behaviour == "answer" or "answer" in setting.case.also_accept:
        return None
    return replace(seen, answer=INVENTED[setting.language])


def stale(setting: Setting, seen: Observation) -> Observation | None:
    """Show a chunk of a replaced version of a document."""
    old = [chunk.chunk_id for chunk in setting.visible if not _is_current(setting, chunk)]
    if not old:
        return None
    chosen = old[setting.place % len(old)]
    return _with_stages(seen, lambda name, ids: [*ids[:-1], chosen] if name == "context" and chosen not in ids else ids)


MUTATIONS: tuple[Mutation, ...] = (
    Mutation("drop_evidence", ("recall@10", "rr@10", "ndcg@10", "context_recall", "failed"), drop_evidence),
    Mutation("drop_from_context", ("context_recall", "failed"), drop_from_context),
    Mutation("demote", ("rr@10", "ndcg@10"), demote),
    Mutation("wrong_number", ("keywords", "correctness(by=rules)", "faithfulness(by=rules)", "failed"), wrong_number),
    Mutation("off_by_one", ("keywords", "correctness(by=rules)", "faithfulness(by=rules)", "failed"), off_by_one),
    Mutation("invented_claim", ("faithfulness(by=rules)", "hallucination_risk(by=rules)"), invented_claim),
    Mutation("other_answer", ("keywords", "correctness(by=rules)", "answer_similarity", "failed"), other_answer),
    Mutation("invented_citation", ("citation_exists", "citation_correctness(by=rules)", "failed"), invented_citation),
    Mutation("swapped_citation", ("must_cite", "citation_correctness(by=rules)", "failed"), swapped_citation),
    Mutation("no_citation", ("must_cite", "citation_correctness(by=rules)", "failed"), no_citation),
    Mutation("leaked_chunk", ("visibility_leaks", "failed"), leaked_chunk),
    Mutation("leaked_text", ("visibility_leaks", "failed"), leaked_text),
    Mutation("refused", ("behaviour", "answered", "failed"), refused),
    Mutation("answered", ("behaviour", "refused", "failed"), answered),
    Mutation("stale", ("stale_chunks",), stale),
)
