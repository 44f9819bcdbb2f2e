"""How well labels are found again after re-chunking: `python -m benchmarks.relink`.

The handbook's documents, the depot's articles and, where `ASSAY_TEST_DATA` names them, web pages (WiCE) and news (QAGS)
are chunked in one way, labelled by statements whose span in the document is known, and chunked again four other ways.
A link is right if the new chunk has the whole span. Half of the documents, chosen by the digest of their names, is
reported apart: the rules were made without looking at it.

A label holds a quote, or only the chunk and a reference that has lost every fifth word of the statement. Where the new
chunks cut the statement in two, no right link exists: then only a link that is not applied is right.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from assay.golden.relinking import Relinker
from assay.records.golden_set import Case, Corpus, CorpusChunk, Evidence, GoldenSet
from assay.stats.intervals import wilson_interval
from assay.text.statements import list_statements
from benchmarks.depot.documents import build_corpus as build_depot

HANDBOOK = Path("examples/handbook/docs")
MAX_DOCUMENTS = 60
MAX_STATEMENTS = 6
FEWEST_WORDS = 5
_WORD = re.compile(r"[^\W_]+")
Span = tuple[int, int]
Chunker = Callable[[str], list[Span]]


class Source(NamedTuple):
    """A document under its name, and the collection that it is of."""

    collection: str
    name: str
    text: str


class Outcome(NamedTuple):
    """What became of one label: its collection, chunking, whether it has a quote, and whether it was held back."""

    collection: str
    chunking: str
    has_quote: bool
    is_untouched: bool
    outcome: str


# ── documents ────────────────────────────────────────────────────────────────────────────────────────────────────────


def load_sources() -> list[Source]:
    """Return the documents of all collections that are here."""
    sources = [Source("handbook", path.stem, _body(path)) for path in sorted(HANDBOOK.glob("*.md"))]
    depot: dict[str, list[str]] = {}
    for chunk in build_depot().chunks.values():
        depot.setdefault(chunk.document or chunk.chunk_id, []).append(chunk.text or "")
    sources += [Source("depot", name, "\n\n".join(texts)) for name, texts in sorted(depot.items())]
    folder = os.environ.get("ASSAY_TEST_DATA")
    if folder is not None:
        sources += _load_pages(Path(folder, "wice/claim-dev.jsonl"), Path(folder, "qags/cnndm.jsonl"))
    return sources


def _body(path: Path) -> str:
    return path.read_text(encoding="utf-8").split("---\n", 2)[2]


def _load_pages(wice: Path, qags: Path) -> Iterator[Source]:
    pages = [json.loads(line)["evidence"] for line in wice.read_text(encoding="utf-8").splitlines()]
    for number, sentences in enumerate(pages[:MAX_DOCUMENTS]):
        yield Source("wice", f"wice-{number}", "\n".join(sentences))
    articles = dict.fromkeys(json.loads(line)["article"] for line in qags.read_text(encoding="utf-8").splitlines())
    for number, article in enumerate(list(articles)[:MAX_DOCUMENTS]):
        yield Source("qags", f"qags-{number}", article)


# ── chunkings: each returns spans of the document ────────────────────────────────────────────────────────────────────


def cut_sections(text: str) -> list[Span]:
    """Cut at headings and, without them, every five paragraphs: the chunking that is labelled."""
    starts = [match.start() for match in re.finditer(r"^#{1,3} ", text, re.MULTILINE)]
    if len(starts) < 2:
        starts = [match.end() for match in re.finditer(r"\n+", text)][4::5]
    bounds = sorted({0, *starts, len(text)})
    return list(pairwise(bounds))


def cut_by_size(text: str) -> list[Span]:
    """Cut every 450 characters, at the next space: sentences are cut in two."""
    return _cut_at_spaces(text, 450, 450)


def cut_with_overlap(text: str) -> list[Span]:
    """Cut windows of 900 characters, one every 500."""
    return _cut_at_spaces(text, 900, 500)


def _cut_at_spaces(text: str, size: int, step: int) -> list[Span]:
    def at_space(position: int) -> int:
        space = re.compile(r"\s").search(text, min(position, len(text)))
        return space.start() if space else len(text)

    spans = []
    start = 0
    while start < len(text):
        spans.append((start, at_space(start + size)))
        if spans[-1][1] >= len(text):
            break
        start = at_space(start + step)
    return spans


def cut_paragraph_pairs(text: str) -> list[Span]:
    """Join two sections or paragraphs each: other headings."""
    bounds = sorted({0, *(match.end() for match in re.finditer(r"\n\n+", text)), len(text)})
    spans = list(pairwise(bounds))
    return [(pair[0][0], pair[-1][1]) for pair in (spans[at : at + 2] for at in range(0, len(spans), 2)) if pair]


def cut_sentence_windows(text: str) -> list[Span]:
    """Take windows of three statements, one after every second."""
    spans = [(statement.start, statement.end) for statement in list_statements(text)]
    windows = [spans[at : at + 3] for at in range(0, len(spans), 2)]
    return [(window[0][0], window[-1][1]) for window in windows if window]


CHUNKINGS: dict[str, Chunker] = {
    "size": cut_by_size,
    "overlap": cut_with_overlap,
    "headings": cut_paragraph_pairs,
    "windows": cut_sentence_windows,
}
FLATTENED = ("size", "windows")
"""Chunkings whose texts lose line ends and marks of emphasis, as another parser would return them."""


# ── labels and links ─────────────────────────────────────────────────────────────────────────────────────────────────


def make_corpus(sources: list[Source], chunker: Chunker, name: str) -> tuple[Corpus, dict[str, Span]]:
    """Return the chunks of all documents, with ids that another chunking never has, and the span of each."""
    chunks, spans = {}, {}
    for source in sources:
        for number, (start, end) in enumerate(chunker(source.text)):
            text = source.text[start:end]
            if name in FLATTENED:
                text = " ".join(re.sub(r"\*\*|`", "", text).split())
            if text.strip():
                chunk_id = f"{source.name}:{name}:{number}"
                chunks[chunk_id] = CorpusChunk(chunk_id, text=text, document=source.name)
                spans[chunk_id] = (start, end)
    return Corpus(chunks), spans


def make_labels(sources: list[Source], spans: dict[str, Span]) -> dict[str, tuple[Source, Span, Case]]:
    """Return some statements of each document as cases: twice each, with a quote and with a reference alone."""
    labels = {}
    for source in sources:
        statements = [item for item in list_statements(source.text) if len(item.text.split()) >= FEWEST_WORDS]
        step = max(1, len(statements) // MAX_STATEMENTS)
        for number, statement in enumerate(statements[::step][:MAX_STATEMENTS]):
            span = (statement.start, statement.end)
            names = [
                name
                for name, (a, b) in spans.items()
                if name.startswith(f"{source.name}:") and a <= span[0] and span[1] <= b
            ]
            if not names:
                continue
            words = statement.text.split()
            reference = " ".join(word for at, word in enumerate(words) if at % 5 != 3)
            for has_quote in (True, False):
                quote = source.text[span[0] : span[1]] if has_quote else None
                case_id = f"{source.name}/{number}/{'quote' if has_quote else 'reference'}"
                unit = Evidence(({"chunk_id": names[0]},), quote=quote)
                labels[case_id] = source, span, Case(case_id, "What is said?", reference=reference, evidence=(unit,))
    return labels


def measure(sources: list[Source]) -> list[Outcome]:
    """Return what became of every label under every other chunking."""
    old, old_spans = make_corpus(sources, cut_sections, "sections")
    labels = make_labels(sources, old_spans)
    golden = GoldenSet(tuple(case for _, _, case in labels.values()))
    outcomes = []
    for name, chunker in CHUNKINGS.items():
        new, spans = make_corpus(sources, chunker, name)
        for label in Relinker(old, new).propose(golden).labels:
            source, span, _ = labels[label.case]
            right = {
                chunk_id
                for chunk_id, (start, end) in spans.items()
                if chunk_id.startswith(f"{source.name}:") and start <= span[0] and span[1] <= end
            }
            # A statement that stands twice in a document is right wherever all its words stand.
            words = list_words(source.text[span[0] : span[1]])
            right |= {
                chunk_id
                for chunk_id, chunk in new.chunks.items()
                if chunk.document == source.name and words in list_words(chunk.text or "")
            }
            outcomes.append(
                Outcome(
                    source.collection,
                    name,
                    label.case.endswith("quote"),
                    is_untouched(source.name),
                    judge(label.is_applied, set(label.new), right),
                )
            )
    return outcomes


def list_words(text: str) -> str:
    """Return the words of a text in one line, each with a space on both sides, without Assay's own rules.

    >>> list_words("**Two** days, e.g.")
    ' two days e g '
    """
    return " " + " ".join(_WORD.findall(text.casefold())) + " "


def judge(is_applied: bool, linked: set[str], right: set[str]) -> str:
    """Return whether a link is right, wrong, shown for review, or rightly not applied because no chunk has the span."""
    if is_applied:
        return "right" if linked and linked <= right else "wrong"
    return "review" if right else "rightly held"


def is_untouched(name: str) -> bool:
    """Return whether a document was left out while the rules were made."""
    return hashlib.sha256(name.encode()).digest()[0] % 2 == 1


def describe(outcomes: list[Outcome]) -> str:
    """Return precision of applied links and recall of labels that can be linked, with counts and 95% intervals."""
    counts = Counter(outcome.outcome for outcome in outcomes)
    applied, possible = counts["right"] + counts["wrong"], counts["right"] + counts["wrong"] + counts["review"]
    parts = []
    for title, right, total in (("precision", counts["right"], applied), ("recall", counts["right"], possible)):
        bounds = wilson_interval(right, total) if total else None
        low, high = (bounds.low, bounds.high) if bounds is not None else (0.0, 1.0)
        parts.append(f"{title} {right / total if total else 0:.3f} [{low:.3f}, {high:.3f}] of {total}")
    return f"{parts[0]}; {parts[1]}; wrong {counts['wrong']}; rightly held {counts['rightly held']}"


def main() -> None:
    """Print the figures by collection, chunking and kind of label."""
    outcomes = measure(load_sources())
    for has_quote in (True, False):
        chosen = [outcome for outcome in outcomes if outcome.has_quote is has_quote]
        print("labels with a quote" if has_quote else "labels without a quote")
        for half in (False, True):
            rows = [outcome for outcome in chosen if outcome.is_untouched is half]
            print(f"  {'untouched' if half else 'developed on'}: {describe(rows)}")
        for field in ("collection", "chunking"):
            for value in dict.fromkeys(getattr(outcome, field) for outcome in chosen):
                rows = [outcome for outcome in chosen if getattr(outcome, field) == value]
                print(f"    {field} {value}: {describe(rows)}")


if __name__ == "__main__":
    main()
