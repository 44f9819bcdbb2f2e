"""The second judgement: a request whose texts hold orders is judged again without them (ADR 0044).

An item whose label is lower without the orders is *disputed*: it has no label, and its case needs review. A label that
rules confirm almost word by word stands.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import structs

from assay.metrics.judged.vote_folding import DISPUTED, ItemRuling, Ruling
from assay.records.verdicts import JudgeRequest
from assay.text.claims.claim_support import score_support
from assay.text.claims.passages import IndexedSources
from assay.text.safety.planted_orders import REMOVED, OrderSpan, find_orders, replace_spans
from assay.text.segmentation import segment_sentences
from assay.text.tokens import DocumentFrequencies, collect_word_keys

ITEM_INPUTS = ("claims", "citations", "facts")
"""The inputs that hold the items of a request."""
TRUSTED_INPUTS = frozenset({"reference", "facts"})
"""Inputs of the golden set, which are not searched for orders: who writes them need not deceive the judge."""
_NO_RARITY = DocumentFrequencies(0, {})
_SAID_ELSEWHERE = 0.7  # z from which on another text says a sentence too; its score is then 0.5
_LONG_WORD, _SHORT_WORDS = 4, 3  # letters of a word that relates two texts alone, and how many shorter ones do
_QUESTION_MARKS = ("?", "？", "؟")


class CaseTexts(NamedTuple):
    """What else is known of a case: texts of the golden set, the answer, and the sources of the answer."""

    trusted: str = ""
    answer: str = ""
    sources: str = ""


def find_second_requests(request: JudgeRequest, ruling: Ruling, lowest: float, texts: CaseTexts) -> list[JudgeRequest]:
    """Return the requests that ask again, without orders, about the items with a label above the `lowest` value.

    Nothing if no text of the request holds an order that is taken out. If an order to a judge is, each item is asked
    about alone, and of the texts with such an order only the sentences about the same thing are shown.
    """
    rewarded = [item.id for item in ruling.items if item.value is not None and item.value > lowest]
    if not rewarded or not any(find_orders(text) for text in _searched_texts(request)):
        return []
    key = next((name for name in ITEM_INPUTS if name in request.inputs), None)
    whole = _RequestWithoutOrders(request, key, rewarded if key is not None else request.items, texts)
    second = whole.make_request()
    if second.inputs == _select_items(request, key, rewarded).inputs:
        return []
    if key is None or not whole.has_order_to_judge or len(rewarded) == 1:
        return [second]
    return [_RequestWithoutOrders(request, key, [item_id], texts).make_request() for item_id in rewarded]


def settle_disputes(request: JudgeRequest, ruling: Ruling, second: Mapping[str, ItemRuling]) -> Ruling:
    """Return a ruling whose items are unscored where their label is lower, or missing, in the second judgement.

    `second` holds the second rulings of the items that were asked again.
    """
    items = tuple(_settle_item(request, item, second.get(item.id)) for item in ruling.items)
    return structs.replace(ruling, items=items)


def _settle_item(request: JudgeRequest, item: ItemRuling, second: ItemRuling | None) -> ItemRuling:
    if second is None or item.value is None:
        return item
    if second.label is None:
        return ItemRuling(item.id, unscored=second.unscored)
    if second.value is not None and second.value >= item.value:
        return item
    return item if is_found_by_rules(request, item.id) else ItemRuling(item.id, unscored=DISPUTED)


def is_found_by_rules(request: JudgeRequest, item_id: str) -> bool:
    """Return whether the sources of a request hold an item almost word by word: claims in the context, facts in the
    answer."""
    key = next((name for name in ITEM_INPUTS if name in request.inputs), None)
    if key is None:
        return False
    entry = next(entry for entry in request.inputs[key] if entry["id"] == item_id)
    if key == "facts":
        sources = [("answer", str(request.inputs.get("answer", "")))]
    else:
        named = entry.get("source")
        sources = [(e["id"], e["text"]) for e in request.inputs.get("context", ()) if named in (None, e["id"])]
    return score_support(entry["text"], IndexedSources(sources, _NO_RARITY)).verdict == "supported"


def _searched_texts(request: JudgeRequest) -> list[str]:
    """Return the texts of a request that may hold orders of others."""
    texts: list[str] = []
    for key, value in request.inputs.items():
        if key not in TRUSTED_INPUTS:
            texts += [value] if isinstance(value, str) else [entry["text"] for entry in value or ()]
    return texts


def _select_items(request: JudgeRequest, key: str | None, items: Sequence[str]) -> JudgeRequest:
    if key is None:
        return request
    entries = [entry for entry in request.inputs[key] if entry["id"] in items]
    return structs.replace(request, inputs={**request.inputs, key: entries}, items=tuple(items))


class _RequestWithoutOrders:
    """A request about some of its items, of whose texts orders are taken out."""

    def __init__(self, request: JudgeRequest, key: str | None, items: Sequence[str], texts: CaseTexts) -> None:
        self._request, self._key, self._texts = _select_items(request, key, items), key, texts
        self.has_order_to_judge = False
        question = str(request.inputs.get("question") or "")
        subject = _join_texts(self._request.inputs[key]) if key is not None else texts.trusted
        self._subject_words = _content_words(f"{subject}\n{question.rpartition(chr(10))[2]}")
        self._question_words = _content_words(question.rpartition("\n")[2])
        self._known_words = self._subject_words | _content_words(f"{texts.trusted}\n{texts.sources}")

    def make_request(self) -> JudgeRequest:
        """Return the request; the same one if nothing is taken out."""
        inputs = {name: self._shorten_input(name, value) for name, value in self._request.inputs.items()}
        return structs.replace(self._request, inputs=inputs)

    def _shorten_input(self, name: str, value: Any) -> Any:
        if value is None or name in TRUSTED_INPUTS:
            return value
        if name == "question":
            return self._shorten_question(value)
        if isinstance(value, str):
            return self._shorten_text(value, self._texts.sources, self._known_words)
        is_item = name == self._key
        elsewhere = self._texts.sources if is_item else self._texts.answer
        words = None if is_item else self._subject_words
        return [{**entry, "text": self._shorten_text(entry["text"], elsewhere, words)} for entry in value]

    def _shorten_question(self, question: str) -> str:
        """Return the question; of the earlier turns of the conversation everything is taken out that is next to an
        order to a judge and about something else."""
        history, line_break, last_turn = question.rpartition("\n")
        orders = [
            order
            for order in find_orders(last_turn)
            if order.kind == "strong"
            or (order.kind == "weak" and not last_turn[order.start : order.end].rstrip().endswith(_QUESTION_MARKS))
        ]
        kept_turn = self._replace_orders(last_turn, orders)
        return self._shorten_text(history, "", self._subject_words) + line_break + kept_turn

    def _shorten_text(self, text: str, elsewhere: str, words: Collection[str] | None) -> str:
        """Return a text without its orders to a judge, except for those that other texts say too.

        With `words`, plain orders that share none of them are taken out; next to an order to a judge, so is every other
        sentence that shares none. A text of nothing but plain orders stays: it instructs its reader.
        """
        orders = find_orders(text)
        removed = [
            order for order in orders if order.kind != "plain" and not self._is_corroborated(text, order, elsewhere)
        ]
        if words is not None:
            unrelated = [order for order in orders if order.kind == "plain"]
            if removed:
                unrelated = [OrderSpan(start, end, "plain") for start, end in segment_sentences(text)]
            removed += [
                order
                for order in unrelated
                if not _shares_words(text[order.start : order.end], words)
                and not any(other.start < order.end and order.start < other.end for other in removed)
            ]
        shortened = self._replace_orders(text, sorted(removed))
        is_all = not shortened.replace(REMOVED, "").strip()
        return text if is_all and all(order.kind == "plain" for order in removed) else shortened

    def _replace_orders(self, text: str, orders: Sequence[OrderSpan]) -> str:
        self.has_order_to_judge |= any(order.kind != "plain" for order in orders)
        return replace_spans(text, [(order.start, order.end) for order in orders])

    def _is_corroborated(self, text: str, order: OrderSpan, elsewhere: str) -> bool:
        """Whether the golden set says an order too; or the other side does, sources or answer, and it is weak or about
        the question. A quoted order is about what the sentence is about that quotes it."""
        sentence = text[order.start : order.end]
        if _is_said_by(sentence, self._texts.trusted):
            return True
        is_on_topic = order.kind == "weak" or _shares_words(_get_sentences_around(text, order), self._question_words)
        return is_on_topic and _is_said_by(sentence, elsewhere)


def _get_sentences_around(text: str, order: OrderSpan) -> str:
    """Return the sentences of a text of which an order is a part."""
    sentences = [span for span in segment_sentences(text) if span[0] < order.end and order.start < span[1]]
    return text[min(sentences)[0] : max(last for _, last in sentences)] if sentences else text[order.start : order.end]


def _join_texts(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "\n".join(entry["text"] for entry in value or ())


def _is_said_by(sentence: str, text: str) -> bool:
    if not text:
        return False
    return score_support(sentence, IndexedSources([("text", text)], _NO_RARITY)).z >= _SAID_ELSEWHERE


def _content_words(text: str) -> set[str]:
    return {word for word in collect_word_keys(text) if len(word) > 1 or not word.isascii()}


def _shares_words(sentence: str, words: Collection[str]) -> bool:
    """Return whether a sentence shares a longer word, or some shorter ones, with others."""
    shared = _content_words(sentence) & set(words)
    return len(shared) >= _SHORT_WORDS or any(len(word) >= _LONG_WORD or not word.isascii() for word in shared)
