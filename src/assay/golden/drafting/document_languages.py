"""In which languages documents are that the templates do not know, as they are declared or as their words tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from assay.golden.drafting_prompts import LANGUAGE_NAMES
from assay.records.counts import format_count
from assay.records.golden_set import Corpus, CorpusChunk
from assay.text.languages import guess_language, guess_other_language, is_read_language

KNOWN_LANGUAGES = "the templates know English and Vietnamese"
_OTHER = "a language that was not recognised"


def find_other_language(chunks: Sequence[CorpusChunk]) -> str | None:
    """Return the code of the language of a document that is in neither English nor Vietnamese, "" where only that is
    known; None for any other document.

    A chunk is in the language that its metadata declares, unless its words are English or Vietnamese.
    """
    texts = [chunk for chunk in chunks if chunk.text]
    codes = [_find_code(chunk) for chunk in texts]
    foreign = [code for code in codes if code is not None]
    if not texts or len(foreign) < len(texts):
        return None
    return Counter(filter(None, foreign)).most_common(1)[0][0] if any(foreign) else ""


def _find_code(chunk: CorpusChunk) -> str | None:
    if guess_language(chunk.text or "") is not None:
        return None
    declared = chunk.metadata.get("language")
    if isinstance(declared, str) and not is_read_language(declared):
        return declared.replace("_", "-").partition("-")[0].casefold()
    return guess_other_language(chunk.text or "")


def count_other_languages(corpus: Corpus) -> dict[str, int]:
    """Return how many documents are in which language that the templates do not know, by code, the most first."""
    by_document: dict[str, list[CorpusChunk]] = {}
    for chunk in corpus.chunks.values():
        by_document.setdefault(chunk.document or chunk.chunk_id, []).append(chunk)
    codes = map(find_other_language, by_document.values())
    return dict(Counter(code for code in codes if code is not None).most_common())


def name_language(code: str) -> str:
    """Return the name of a language, the code itself where it has none here.

    >>> name_language("de"), name_language("xh"), name_language("")
    ('German', 'xh', 'a language that was not recognised')
    """
    return LANGUAGE_NAMES.get(code, code) or _OTHER


def describe_other_languages(counts: Iterable[tuple[str, int]]) -> str:
    """Return how many documents are in which language, and what the templates know; "" without such documents.

    >>> describe_other_languages([("de", 6), ("", 1)])
    '6 documents are in German, 1 in a language that was not recognised: the templates know English and Vietnamese'
    """
    parts = [f"{count} in {name_language(code)}" for code, count in counts]
    if not parts:
        return ""
    number, _, rest = parts[0].partition(" ")
    first = f"{format_count(int(number), 'document is', 'documents are')} {rest}"
    return f"{', '.join([first, *parts[1:]])}: {KNOWN_LANGUAGES}"
