"""The faults of the help desk, with the causes that a reader of a trace may name, and the reason beside each.

They were written when the rules of attribution had learned from the depot's second later faults, in another application
and in mechanisms that no earlier fault has, and are scored once, after the rules are frozen: the *third later* faults.
None declares its cause hidden: "insufficient trace" is right only where the benchmark proves that another fault with
another cause leaves the same trace. Six of the seventeen have two causes, or none that the trace tells.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, zip_longest

from msgspec.structs import replace as replace_fields

from assay.records.golden_set import Case, Evidence, User
from benchmarks.depot.faults import Fault, declare_fault
from benchmarks.depot.labels import LabelFault
from benchmarks.lending import pipeline
from benchmarks.lending.passages import PASSAGES, Passage
from benchmarks.lending.pipeline import Answer, Desk, Ranking, Sentence, Steps

_MARGIN = 34
"""How many characters of a line are legible where the scan cuts the right margin off."""
_LINE = 46


# ── the index ────────────────────────────────────────────────────────────────────────────────────────────────────


def _clip_margin(passage: Passage) -> Passage:
    """Lose the end of each printed line, as a scan of a page that lay askew does."""
    lines = _wrap(passage.body)
    return replace(passage, body="\n".join(line[:_MARGIN] for line in lines))


def _wrap(text: str) -> list[str]:
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) >= _LINE:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def _read_across(passages: Sequence[Passage]) -> Iterator[Passage]:
    """Read the lines of two columns in turn: those of a passage and of the next on its page are mixed."""
    for first, second in zip(passages[::2], passages[1::2], strict=True):
        if first.page != second.page:
            yield from (first, second)
            continue
        pairs = zip_longest(_wrap(first.body), _wrap(second.body), fillvalue="")
        mixed = [line for pair in pairs for line in pair if line]
        half = len(mixed) // 2
        yield replace(first, body=" ".join(mixed[:half]))
        yield replace(second, body=" ".join(mixed[half:]))


def _renumber(passages: Sequence[Passage]) -> Iterator[Passage]:
    """Give each passage of a page the id of the next one, as ids that count positions do after an insertion."""
    for page in dict.fromkeys(passage.page for passage in passages):
        group = [passage for passage in passages if passage.page == page]
        yield from (replace(passage, chunk_id=after.chunk_id) for passage, after in pairwise(group))
        yield replace(group[-1], chunk_id=f"{group[-1].chunk_id[:-1]}9")


def _embed_heading_only(text: str) -> Mapping[str, float]:
    """Embed the heading, as a field mapping that names the wrong field does."""
    return pipeline.embed(text.partition("\n")[0])


def _embed_reversed(text: str) -> Mapping[str, float]:
    """Embed with another model than the query: a text's vector has nothing to do with its words."""
    return pipeline.embed(text[::-1])


# ── searches, fusion, context ────────────────────────────────────────────────────────────────────────────────────


def _correct_words(question: str) -> str:
    """Replace each longer word by the alphabetically next one of the index, as a spell checker with a poor list."""
    vocabulary = sorted({word for passage in PASSAGES for word in re.findall(r"[a-z]{4,}", passage.text.lower())})

    def correct(match: re.Match[str]) -> str:
        later = [word for word in vocabulary if word > match[0]]
        return later[0] if later else match[0]

    return re.sub(r"[a-z-]{4,}", correct, question.lower())


def _fuse_ascending(lists: Sequence[Ranking]) -> Ranking:
    """Sort by the fused score from below, as for distances."""
    ids = dict.fromkeys(passage.chunk_id for passage in pipeline.fuse(lists, limit=2 * pipeline.POOL)[::-1])
    passages = {passage.chunk_id: passage for ranking in lists for passage in ranking}
    return [passages[name] for name in ids][: pipeline.POOL]


def _keep_one_of_page(ranking: Ranking) -> Ranking:
    """Show one passage of each page, the last by id, as a removal of near-duplicates that compares addresses does."""
    by_page: dict[str, Passage] = {}
    for passage in ranking:
        known = by_page.get(passage.page)
        if known is None or passage.chunk_id > known.chunk_id:
            by_page[passage.page] = passage
    return list(by_page.values())[: pipeline.SHOWN]


def _shorten_passages(ranking: Ranking) -> Ranking:
    """Show the first sentence of each passage, as a compressor of prompts does."""
    shown = pipeline.show_best(ranking)
    return [replace(passage, body=pipeline.split_sentences(passage)[0].text) for passage in shown]


def _time_out(query: str, ranking: Ranking) -> Ranking:
    """Find nothing for every third question: the search times out, and an empty list takes its place."""
    return [] if _is_third(query) else ranking


def _is_third(query: str) -> bool:
    return sum(query.encode()) % 3 == 0


# ── answers, citations, access, labels ───────────────────────────────────────────────────────────────────────────


def _swap_values(question: str, context: Ranking, desk: Desk) -> Answer:
    """Give the value of the next sentence of the passage that has one, as a model that mixes up neighbours does."""
    answer = pipeline.compose(question, context, desk)
    text = answer.text
    for sentence in answer.sentences:
        own = re.findall(r"\d+(?:[.,:]\d+)*", sentence.text)
        others = [number for number in _list_numbers(context, sentence) if number not in own]
        if own and others:
            text = text.replace(own[-1], others[0])
    return Answer(text, answer.sentences, distorted=text != answer.text)


def _list_numbers(context: Ranking, sentence: Sentence) -> list[str]:
    bodies = [passage.body for passage in context if passage.chunk_id == sentence.chunk_id]
    return [number for body in bodies for number in re.findall(r"\d+(?:[.,:]\d+)*", body)]


def _remember_last_year(question: str, context: Ranking, desk: Desk) -> Answer:
    """Answer from what the model learned before: numbers are those of another time, in no text."""
    answer = pipeline.compose(question, context, desk)
    text = re.sub(r"(?<!\[)\b\d+(?=[ .:])", lambda match: str(int(match[0]) + 13), answer.text)
    return Answer(text, answer.sentences, distorted=text != answer.text)


def _cite_last_shown(answer: Answer, context: Ranking) -> list[str]:
    """Cite the passage that was shown last, whatever was quoted."""
    return [context[-1].chunk_id] if answer.sentences else []


def _ignore_roles(passage: Passage, user: User) -> bool:
    return passage.branch in (None, user.tenant)


def _inherit_rights(passage: Passage, user: User) -> bool:
    """Take two pages for pages of the staff, in whose folder they were put."""
    is_public = passage.page not in ("charges", "rooms") or "staff" in user.roles
    return is_public and pipeline.is_visible(passage, user)


def _lock_out(steps: Steps) -> Steps:
    """Let the searches see nothing of what every third question may see, as a failed look-up of rights does."""
    asked: list[str] = []

    def rewrite(question: str) -> str:
        asked.append(steps.rewrite(question))
        return asked[-1]

    def is_searched(passage: Passage, user: User) -> bool:
        return not _is_third(asked[-1]) and pipeline.is_visible(passage, user)

    return replace(steps, rewrite=rewrite, keyword_visible=is_searched, vector_visible=is_searched)


def _label_last_year(case: Case) -> Case:
    """Label the edition of the year before, with its values."""
    texts = {
        "q202": ("q201", {"30": "20", "1.60": "1", "18": "15"}),
        "q204": ("q203", {"24": "22", "12": "11", "6": "4"}),
    }
    ids = [str(unit.any_of[0]["chunk_id"]) for unit in case.evidence]
    if not set(ids) & set(texts):
        return case
    older, values = texts[ids[0]]

    def date_back(text: str) -> str:
        return re.sub(r"\d+(?:\.\d+)?", lambda match: values.get(match[0], match[0]), text)

    return replace_fields(
        case,
        evidence=(Evidence(any_of=({"chunk_id": older},)),),
        must_have=tuple(map(date_back, case.must_have)),
        reference=date_back(case.reference or "") or None,
    )


def _with(**changes: object) -> Callable[[Steps], Steps]:
    return lambda steps: replace(steps, **changes)  # type: ignore[arg-type]  # the names are those of Steps


def _prepare_each(change: Callable[[Passage], Passage]) -> Callable[[Steps], Steps]:
    return _with(prepare=lambda passages: [change(passage) for passage in passages])


FAULTS: dict[str, Fault[Steps]] = {
    # The indexed lines lack their ends: lost by the reader of the page, or cut by whatever makes chunks of lines.
    "third:margin": declare_fault("the right margin is cut off", _prepare_each(_clip_margin), "parser chunking"),
    # The words of two passages are there, mixed, in the order of their lines; half of each is in the other.
    "third:columns": declare_fault(
        "two columns are read across", _with(prepare=lambda passages: list(_read_across(passages))), "parser chunking"
    ),
    # The ids are those of another state of the pages: whatever numbers chunks, or an index that was not built again.
    "third:renumbered-ids": declare_fault(
        "ids are those of the passage before",
        _with(prepare=lambda passages: list(_renumber(passages))),
        "chunking stale_index",
    ),
    # The keyword search has the evidence, and the vector search has not.
    "third:heading-vectors": declare_fault(
        "vectors are made of headings", _with(embed_passage=_embed_heading_only), "embedding"
    ),
    "third:other-model": declare_fault(
        "vectors are those of another model", _with(embed_passage=_embed_reversed), "embedding"
    ),
    # Both searches miss it, by a query that the trace may have; without it, one of the searches may be at fault.
    "third:corrected-query": declare_fault(
        "words of the query are corrected to others",
        _with(rewrite=_correct_words),
        "bm25_analyzer",
        c="bm25_analyzer embedding",
        s="bm25_analyzer embedding",
        m="bm25_analyzer embedding",
    ),
    # Both searches have it at the top, and the fused list has it at the bottom.
    "third:ascending": declare_fault("scores are sorted from below", _with(fuse=_fuse_ascending), "hybrid_merge"),
    # The fused list has it at the top, and the context has not.
    "third:one-of-page": declare_fault(
        "one passage of each page is shown", _with(show=_keep_one_of_page), "context_builder"
    ),
    # The context has a part of the text that the stages before have under the same id.
    "third:compressed": declare_fault(
        "passages are shortened to a sentence",
        _with(show=_shorten_passages),
        "context_builder",
        s="context_builder generator",
    ),
    # Empty lists, and the words of an abstention: the two leave the same trace, which tells neither.
    "third:timeout": declare_fault(
        "the searches find nothing for some questions", _with(search=_time_out), "bm25_analyzer embedding"
    ),
    "third:locked-out": declare_fault("some questions may see nothing", _lock_out, "acl"),
    # The context has the value, and the answer another one of it, or of nothing.
    "third:swapped": declare_fault("the value of another sentence is given", _with(compose=_swap_values), "generator"),
    "third:remembered": declare_fault("numbers are those of before", _with(compose=_remember_last_year), "generator"),
    # The answer is right, and its source is another passage of the context.
    "third:last-shown": declare_fault("the last passage is cited", _with(cite=_cite_last_shown), "citation"),
    # What is for staff is in a list that others are shown, although nobody is told it.
    "third:open-vectors": declare_fault("the vector search ignores roles", _with(vector_visible=_ignore_roles), "acl"),
    # Everybody but the staff is denied what is for everybody.
    "third:inherited": declare_fault("public pages have the rights of a folder", _with(visible=_inherit_rights), "acl"),
}
"""Faults of the pipeline."""

LABEL_FAULTS: dict[str, LabelFault] = {
    # The label is an edition that has expired, with its values.
    "third:last-year": LabelFault("the edition of the year before is labelled", _label_last_year),
}
"""Faults of the labels."""
