"""The pipeline of the depot: rewrite, BM25 over what the user may see, filter, rerank, token budget, rephrased answer.

Each step is a function in `Parts`, so that a fault replaces one of them. The generator looks for the line of the
context that answers each part of the question, and says it in words of its own with other forms of units.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from assay.records.golden_set import User
from benchmarks.depot.documents import SHEETS, TODAY, Passage, list_passages

POOL, RERANKED, SHOWN, BUDGET = 10, 8, 4, 230
THRESHOLD = 0.5
"""The least share of a question's weighted words that a line must have to answer it."""
_WORD = re.compile(r"[a-z]+-\d+|\d+(?:[.,]\d+)*|[^\W\d_]+")
_STOP_WORDS = (
    "a an and are as at be by can do does for from has have how i in is it its may much many must of on or the there "
    "this to up was what when where which who whom will with long often far one s say says get after any would"
)
_STOP = frozenset(_STOP_WORDS.split())
_PHRASES = (
    ("how heavy", "weight"),
    ("how loud", "noise level"),
    ("how quiet", "noise level"),
    ("water does it move", "rated flow"),
    ("how high", "maximum head"),
    ("lift", "maximum head"),
    ("how strong is the motor", "motor power"),
    ("electricity", "continuous output"),
    ("how long does it run", "run time half load"),
    ("warm", "heat output"),
    ("fuel per hour", "fuel consumption"),
)
"""What people say, and the words of the documents for it."""
_UNITS = (
    ("l/min", "litres per minute"),
    ("l/h", "litres per hour"),
    ("m3/h", "cubic metres per hour"),
    ("kW", "kilowatts"),
    ("kg", "kilograms"),
    ("mm", "millimetres"),
    ("dB", "decibels"),
    ("EUR", "euros"),
    ("NOK", "Norwegian kroner"),
    ("W", "watts"),
    ("l", "litres"),
    ("h", "hours"),
    ("m", "metres"),
)
_SYNONYMS = (
    ("must never", "is not allowed to"),
    ("is due for renewal", "should be renewed"),
    ("is inspected", "gets an inspection"),
    ("is changed", "gets changed"),
    ("are lubricated", "get lubricated"),
    ("is exchanged", "should be exchanged"),
    ("lasts", "holds"),
    ("may be returned", "can be sent back"),
    ("takes place", "is held"),
    ("employs", "gives work to"),
    ("permitted", "allowed"),
    ("forbidden", "not allowed"),
)
ABSTAINED = "I could not find that in the documents."
DENIED = "You do not have permission to see that information."


class Line(NamedTuple):
    """A sentence or table row of a passage, with the names that it is about."""

    chunk_id: str
    title: str
    text: str
    products: tuple[str, ...]


class Answer(NamedTuple):
    """What the generator said, the lines that it rests on, and whether a fault made it say something else."""

    text: str
    lines: tuple[Line, ...] = ()
    distorted: bool = False


@dataclass(frozen=True)
class Indexed:
    """A passage as it is in the index, with its words counted."""

    passage: Passage
    words: Counter[str]


Ranking = list[Passage]


def analyze(text: str) -> list[str]:
    """Return the words of a text in lower case, codes kept whole and plurals folded."""
    return [fold_plural(word) for word in _WORD.findall(text.lower())]


def fold_plural(word: str) -> str:
    """Return a word without the ending of the plural."""
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def name_products(text: str) -> list[str]:
    """Return the products that a text names, by name or code."""
    folded = text.lower()
    return [name for name, (code, _, _) in SHEETS.items() if name.lower() in folded or code.lower() in folded]


def rewrite(question: str) -> str:
    """Return the query: words of the documents in place of those of the user."""
    text = question.lower()
    for phrase, term in _PHRASES:
        text = text.replace(phrase, f"{phrase} {term}")
    return text


def is_visible(passage: Passage, user: User) -> bool:
    """Return whether a user may see a passage."""
    is_role = not passage.roles or bool(set(passage.roles) & set(user.roles))
    return is_role and passage.tenant in (None, user.tenant)


def filter_passages(ranking: Ranking, query: str) -> Ranking:
    """Drop expired editions, and what is about other products than those that the query names."""
    products = set(name_products(query))
    in_force = [passage for passage in ranking if passage.valid_to is None or passage.valid_to > TODAY]
    return [passage for passage in in_force if not products or not passage.products or products & set(passage.products)]


def pack(ranking: Ranking, limit: int = SHOWN, budget: int = BUDGET) -> Ranking:
    """Return the passages that fit into the token budget, best first."""
    context: Ranking = []
    for passage in ranking:
        size = len(passage.text.split())
        if len(context) == limit:
            break
        if size <= budget:
            context.append(passage)
            budget -= size
    return context


def split_lines(passage: Passage) -> list[Line]:
    """Return the sentences and table rows of a passage."""
    title, _, body = passage.text.partition("\n")
    lines = []
    for line in body.splitlines():
        if line.startswith("|"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if len(cells) == 2 and not set(cells[0]) <= set("-") and cells[0] not in ("Property", "Product"):
                products = tuple(name_products(f"{title} {cells[0]}"))
                lines.append(Line(passage.chunk_id, title, f"{cells[0]}: {cells[1]}", products))
        else:
            products = tuple(name_products(f"{title} {line}"))
            lines += [
                Line(passage.chunk_id, title, sentence, products)
                for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z])", line)
                if sentence
            ]
    return lines


def split_question(question: str) -> list[str]:
    """Return the parts of a question that ask for two things; each part keeps the product of the first."""
    parts = re.split(r",? and (?=how|what|when|who|where|which)", question)
    products = name_products(parts[0])
    return [part if name_products(part) or not products else f"{part} {products[0]}" for part in parts]


def rephrase(line: Line) -> str:
    """Return a line in other words, with units spelled out."""
    text = line.text
    name, separator, value = text.partition(": ")
    if separator and line.title.startswith(("List", "Dealer purchase")):
        return f"The {name} is sold at {spell_units(value)}."
    if separator:
        product = line.title.partition(" (")[0]
        return f"For the {product}, the {name[0].lower()}{name[1:]} comes to {spell_units(value)}."
    for phrase, other in _SYNONYMS:
        text = text.replace(phrase, other)
    text = spell_units(text)
    if line.title.startswith("News"):
        first = text[0].lower() if text.split()[0] in ("The", "A", "It", "She") else text[0]
        return f"According to the news, {first}{text[1:]}"
    product = line.title.partition(" (")[0] if line.title.endswith("use") else ""
    return f"{product}: {text}" if product else text


def spell_units(text: str) -> str:
    """Return a text with its units spelled out and its thousands without a mark."""
    for unit, words in _UNITS:
        text = re.sub(rf"(?<=\d) {re.escape(unit)}(?![\w/])", f" {words}", text)
    return re.sub(r"(?<=\d),(?=\d{3}\b)", "", text)


class Lexicon:
    """The weights of words over the index (Robertson and Spärck Jones), and BM25 on them."""

    def __init__(self, entries: Sequence[Indexed], *, weighted: bool = True) -> None:
        self.entries, self.weighted = entries, weighted
        self.counts = Counter(word for entry in entries for word in entry.words)
        self.length = sum(entry.words.total() for entry in entries) / max(len(entries), 1)

    def weigh(self, word: str) -> float:
        """Return the inverse document frequency of a word."""
        count = self.counts[word]
        return math.log(1 + (len(self.entries) - count + 0.5) / (count + 0.5)) if self.weighted else 1.0

    def score(self, words: Iterable[str], entry: Indexed) -> float:
        """Return the BM25 score (k1 1.2, b 0.75) of an entry."""
        total = 0.0
        for word in words:
            count = entry.words[word]
            norm = 1.2 * (0.25 + 0.75 * entry.words.total() / self.length)
            total += self.weigh(word) * count * 2.2 / (count + norm) if count else 0.0
        return total


Analyze = Callable[[str], list[str]]
Rerank = Callable[[Ranking, str, "Depot"], Ranking]
Generate = Callable[[str, Ranking, "Depot"], Answer]
Cite = Callable[[Answer, Ranking], list[str]]


def rerank(ranking: Ranking, query: str, depot: Depot) -> Ranking:
    """Rank by the best line of each passage; at most RERANKED are kept."""
    scores = {passage.chunk_id: depot.score_passage(query, passage) for passage in ranking}
    return sorted(ranking, key=lambda passage: -scores[passage.chunk_id])[:RERANKED]


def generate(question: str, context: Ranking, depot: Depot) -> Answer:
    """Answer each part of the question with the best line of the context, or abstain."""
    lines = depot.choose_lines(question, context)
    if lines is None:
        return Answer(ABSTAINED)
    return Answer(" ".join(dict.fromkeys(map(rephrase, lines))), tuple(lines))


def cite(answer: Answer, context: Ranking) -> list[str]:
    """Return the ids of the passages that the answer rests on."""
    return list(dict.fromkeys(line.chunk_id for line in answer.lines))


@dataclass(frozen=True)
class Parts:
    """The steps of the pipeline; `prepare` makes the passages of the index from those of the documents."""

    prepare: Callable[[Sequence[Passage]], Sequence[Passage]] = list
    analyze: Analyze = analyze
    index_analyze: Analyze | None = None
    weighted: bool = True
    rewrite: Callable[[str], str] = rewrite
    visible: Callable[[Passage, User], bool] = is_visible
    search: Callable[[Ranking], Ranking] = list
    filter: Callable[[Ranking, str], Ranking] = filter_passages
    rerank: Rerank = rerank
    pack: Callable[[Ranking], Ranking] = pack
    prompt: Callable[[Ranking], Ranking] = list
    generate: Generate = generate
    cite: Cite = cite
    threshold: float = THRESHOLD


@dataclass
class Depot:
    """Question answering over the depot."""

    parts: Parts = field(default_factory=Parts)

    def __post_init__(self) -> None:
        counted = self.parts.index_analyze or self.parts.analyze
        self.entries = [
            Indexed(passage, Counter(counted(passage.text))) for passage in self.parts.prepare(list_passages())
        ]
        self.lexicon = Lexicon(self.entries, weighted=self.parts.weighted)
        sound = [Indexed(passage, Counter(analyze(passage.text))) for passage in list_passages()]
        self.reader = Lexicon(sound)

    def ask(self, question: str, user: User) -> tuple[dict[str, Any], bool]:
        """Return the observation without its case, and whether a fault distorted the answer."""
        query = self.parts.rewrite(question)
        visible = [entry for entry in self.entries if self.parts.visible(entry.passage, user)]
        found = self.parts.search(self._search(query, visible))
        kept = self.parts.filter(found, query)
        reranked = self.parts.rerank(kept, query, self)
        context = self.parts.pack(reranked)
        answer = self.parts.generate(question, self.parts.prompt(context), self)
        if answer.text == ABSTAINED and self._is_denied(question, query, user):
            answer = Answer(DENIED)
        stages = {"bm25": found, "filter": kept, "rerank": reranked, "context": context}
        observation = {
            "question": question,
            "query_rewrite": query,
            "stages": [
                {"name": name, "chunks": [_show(passage) for passage in ranking]} for name, ranking in stages.items()
            ],
            "answer": answer.text,
            "citations": self.parts.cite(answer, context) if answer.lines or answer.distorted else [],
        }
        return observation, answer.distorted

    def _search(self, query: str, entries: Sequence[Indexed]) -> Ranking:
        words = dict.fromkeys(word for word in self.parts.analyze(query) if word not in _STOP)
        scores = [(self.lexicon.score(words, entry), entry.passage) for entry in entries]
        ranked = sorted((item for item in scores if item[0] > 0), key=lambda item: -item[0])
        return [passage for _, passage in ranked[:POOL]]

    def _is_denied(self, question: str, query: str, user: User) -> bool:
        hidden = [entry for entry in self.entries if not self.parts.visible(entry.passage, user)]
        found = self.parts.filter(self._search(query, hidden), query)
        return self.choose_lines(question, found[:SHOWN]) is not None

    def score_line(self, part: str, line: Line) -> float:
        """Return the share (0 to 1) of a question's weighted words that a line and its title have."""
        products = name_products(part)
        if products and not set(products) <= set(line.products):
            return 0.0
        named = {word for name in products for word in analyze(f"{name} {SHEETS[name][0]}")}
        words = [word for word in dict.fromkeys(analyze(rewrite(part))) if word not in _STOP and word not in named]
        own = set(analyze(line.text))
        title = set(analyze(line.title))
        weights = {word: self.reader.weigh(word) for word in words}
        total = sum(weight for word, weight in weights.items() if self.reader.counts[word])
        hits = sum(weight if word in own else 0.6 * weight for word, weight in weights.items() if word in own | title)
        return hits / total if total and own & set(words) | title & set(words) else 0.0

    def score_passage(self, query: str, passage: Passage) -> float:
        """Return the score of the best line of a passage for any part of the query."""
        parts = split_question(query)
        return max((self.score_line(part, line) for part in parts for line in split_lines(passage)), default=0.0)

    def choose_lines(self, question: str, context: Ranking) -> list[Line] | None:
        """Return the best line for each part of a question, None if a part has none."""
        lines = [line for passage in context for line in split_lines(passage)]
        chosen = []
        for part in split_question(question):
            best = max(lines, key=lambda line, part=part: self.score_line(part, line), default=None)  # type: ignore[misc]  # mypy does not see the default of a lambda
            if best is None or self.score_line(part, best) < self.parts.threshold:
                return None
            chosen.append(best)
        return chosen


def _show(passage: Passage) -> dict[str, Any]:
    return {"chunk_id": passage.chunk_id, "text": passage.text}


def with_body(passage: Passage, body: str) -> Passage:
    """Return a passage with another body."""
    return replace(passage, body=body)
