"""How many wrong citations are found by rules, and how many right ones are accused.

`python -m benchmarks.citations [--half open|untouched] [--list]` lets systems answer questions over contexts of six
chunks, in English and Vietnamese. Each of 30 forms of wrong citing is planted into right answers (the neighbour of the
right chunk, everything that was shown, another chunk of the right document, nothing that exists, …), and answers that
cite rightly in many styles are left alone (marker before or after the full stop, at the end of a paragraph, for two
chunks at once, for a document, by sentence, paraphrased, in another language than the source). The rules were written
while looking at the first half alone: half of the contexts and half of the forms and styles. The other half was run
once they were finished.

A planted form counts as found if `citation_precision` is below 1 on more than half of its answers; an answer that cites
rightly is accused if it is below 1 there.

`paraphrased_citations.yaml` has 40 claims in other words than their source, each cited rightly and for a neighbour: how
many of either `citation_correctness(by=rules)` scores with 1, below 1, or not at all.
"""

# ruff: noqa: E501  # the material reads best with one passage a line

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import yaml

import assay
from assay.records.golden_set import Case, Corpus, CorpusChunk, GoldenSet, User
from assay.records.observations import Chunk, Observation, Sentence, Stage
from assay.records.scores import SCORED
from assay.stats.intervals import wilson_interval

METRIC = "citation_precision"
FAILING_METRIC = "citation_correctness(by=rules)"
"""The metric that fails a case: printed apart, because it must not accuse anybody."""
FORBIDDEN_ID, FORBIDDEN_TEXT = "board:1", "The board meets in private on the second Tuesday and its minutes are sealed."


class Fact(NamedTuple):
    """A chunk, the sentence that an answer says from it, and another wording of that sentence."""

    chunk_id: str
    text: str
    claim: str
    paraphrase: str


class Topic(NamedTuple):
    """A question and the context that was shown for it: the facts that answer it, and chunks that do not."""

    name: str
    question: str
    facts: tuple[Fact, ...]
    others: dict[str, str]
    elsewhere: dict[str, str]  # in the corpus, not shown
    translated: str = ""  # the first claim in another language
    untouched: bool = False

    @property
    def context(self) -> dict[str, str]:
        """The chunks that were shown: every fact is followed by one that does not answer."""
        texts: dict[str, str] = {}
        others = list(self.others.items())
        for number, fact in enumerate(self.facts):
            texts[fact.chunk_id] = fact.text
            texts.update(others[number : number + 1])
        return texts | self.others


TOPICS = (
    Topic(
        "allotments",
        "What must a new plot holder know?",
        (
            Fact(
                "rules:1",
                "Plot holders pay 64 pounds a year for a full plot. Half plots cost 36 pounds. Bills go out in March.",
                "A full plot costs 64 pounds a year.",
                "For a whole plot you are charged 64 pounds annually.",
            ),
            Fact(
                "rules:3",
                "Bonfires may be lit from October to February only, and never after dusk. Ring the warden beforehand.",
                "Bonfires are allowed from October to February only.",
                "You may only burn garden waste on a bonfire between October and February.",
            ),
            Fact(
                "water:2",
                "The standpipes are turned off on 15 November and opened again in the first week of April.",
                "The standpipes are turned off on 15 November.",
                "From 15 November there is no water at the standpipes.",
            ),
        ),
        {
            "rules:2": "Sheds must not exceed two metres in height, and glass greenhouses need the committee's consent.",
            "rules:4": "Hens are welcome, cockerels are not. Up to six hens may be kept on a full plot.",
            "water:1": "Hosepipes must not be left running unattended. Fill cans at the dipping tanks where you can.",
        },
        {"rules:9": "Plots left untended for eight weeks are offered to the next person on the waiting list."},
        "Một lô đầy đủ có giá 64 bảng mỗi năm.",
    ),
    Topic(
        "thư viện",
        "Bạn đọc mới cần biết những gì?",
        (
            Fact(
                "the:1",
                "Thẻ bạn đọc có giá 20.000 đồng và có giá trị trong hai năm. Sinh viên được cấp thẻ miễn phí.",
                "Thẻ bạn đọc có giá 20.000 đồng.",
                "Làm thẻ đọc sách tốn 20.000 đồng.",
            ),
            Fact(
                "muon:1",
                "Mỗi lần được mượn tối đa năm cuốn sách trong ba tuần. Tạp chí chỉ đọc tại chỗ.",
                "Mỗi lần được mượn tối đa năm cuốn sách.",
                "Bạn có thể mượn nhiều nhất năm cuốn sách một lần.",
            ),
            Fact(
                "gio:1",
                "Thư viện mở cửa từ 7 giờ 30 đến 19 giờ, thứ hai đóng cửa để kiểm kê.",
                "Thư viện đóng cửa vào thứ hai.",
                "Thứ hai thư viện không mở cửa vì kiểm kê.",
            ),
        ),
        {
            "the:2": "Mất thẻ phải báo ngay cho quầy thủ thư, thẻ mới được làm trong một buổi.",
            "muon:2": "Sách quá hạn bị phạt 1.000 đồng mỗi ngày, sách mất phải đền theo giá bìa.",
            "gio:2": "Phòng máy tính dành cho người trên mười hai tuổi, mỗi lượt một giờ.",
        },
        {"muon:7": "Sách quý hiếm chỉ được xem trong phòng riêng, có thủ thư đi cùng."},
        "A reader's card costs 20,000 dong.",
    ),
    Topic(
        "observatory",
        "How do visits to the telescope work?",
        (
            Fact(
                "visits:2",
                "Guided tours leave the lower car park at 21:15 on clear Fridays. A tour takes ninety minutes.",
                "Tours leave the lower car park at 21:15 on clear Fridays.",
                "On Fridays with a clear sky, the tour starts at 21:15 from the lower car park.",
            ),
            Fact(
                "dome:1",
                "The main mirror measures 1.8 metres across and was recoated with aluminium in 2019.",
                "The main mirror measures 1.8 metres across.",
                "Its primary mirror has a diameter of 1.8 metres.",
            ),
            Fact(
                "visits:5",
                "Children under eight cannot enter the dome, because the stairs have no rail. They may use the terrace.",
                "Children under eight cannot enter the dome.",
                "The dome is closed to children who are younger than eight.",
            ),
        ),
        {
            "visits:3": "White torches are forbidden after sunset; red ones can be borrowed at the desk for a deposit.",
            "dome:2": "The dome turns on forty rubber wheels, and a full turn takes just under five minutes.",
            "visits:6": "Groups of more than fifteen people book through the school office two weeks ahead.",
        },
        {"dome:8": "The old refractor of 1904 is shown in the foyer next to the chart of the southern sky."},
        "Gương chính có đường kính 1,8 mét.",
        untouched=True,
    ),
    Topic(
        "bến xe",
        "Đi xe khách cần lưu ý điều gì?",
        (
            Fact(
                "ve:1",
                "Vé đã mua được đổi một lần trước giờ chạy bốn tiếng, phí đổi là 10% giá vé.",
                "Phí đổi vé là 10% giá vé.",
                "Khi đổi vé, hành khách trả thêm 10% giá vé.",
            ),
            Fact(
                "hanhly:1",
                "Mỗi hành khách được mang 25 kg hành lý. Hàng dễ vỡ phải gửi riêng tại quầy số 4.",
                "Mỗi hành khách được mang 25 kg hành lý.",
                "Hành lý miễn cước của một khách là 25 kg.",
            ),
            Fact(
                "xe:2",
                "Xe giường nằm đi Đà Lạt khởi hành lúc 22 giờ và đến nơi khoảng 5 giờ sáng.",
                "Xe giường nằm đi Đà Lạt khởi hành lúc 22 giờ.",
                "Chuyến giường nằm lên Đà Lạt rời bến lúc 22 giờ.",
            ),
        ),
        {
            "ve:2": "Trẻ em dưới sáu tuổi không phải mua vé nếu ngồi chung ghế với người lớn.",
            "hanhly:2": "Xe máy được chở theo xe tải đi cùng chuyến, giá tùy quãng đường.",
            "xe:3": "Trên xe có nước uống và chăn, điện thoại xin để chế độ im lặng.",
        },
        {"xe:9": "Bến xe cũ ở đường Lê Lợi ngừng hoạt động từ tháng ba năm ngoái."},
        "The fee for changing a ticket is 10% of its price.",
        untouched=True,
    ),
)


class Reply(NamedTuple):
    """An answer with its citations, as a target reports them."""

    answer: str
    citations: tuple[str, ...] | None = None
    sentences: tuple[Sentence, ...] | None = None


def _mark(text: str, *names: str) -> str:
    """Put the markers of some names before the last full stop of a sentence."""
    return f"{text[:-1]} {''.join(f'[{name}]' for name in names)}."


def _cite(topic: Topic, *name_lists: Sequence[str], paraphrase: bool = False) -> Reply:
    """Return an answer of as many facts as lists of names, each sentence with the markers of its list."""
    facts = zip(topic.facts, name_lists, strict=False)
    texts = [_mark(fact.paraphrase if paraphrase else fact.claim, *names) for fact, names in facts]
    return Reply(" ".join(texts), tuple(dict.fromkeys(name for names in name_lists for name in names)))


def _whole(topic: Topic, *names: str, facts: int = 3) -> Reply:
    """Return an answer that cites some names for the whole of it."""
    return Reply(" ".join(fact.claim for fact in topic.facts[:facts]), names)


def _number(topic: Topic, numbers: Sequence[Sequence[int]], names: Sequence[str]) -> Reply:
    """Return an answer with numbered markers into a list of citations."""
    sentences = [_mark(fact.claim, *map(str, marks)) for fact, marks in zip(topic.facts, numbers, strict=False)]
    return Reply(" ".join(sentences), tuple(names))


def _by_sentence(topic: Topic, *name_lists: Sequence[str]) -> Reply:
    """Return an answer whose citations are reported by sentence."""
    facts = zip(topic.facts, name_lists, strict=False)
    sentences = tuple(Sentence(fact.claim, tuple(names)) for fact, names in facts)
    names = dict.fromkeys(name for sentence in sentences for name in sentence.citations)
    return Reply(" ".join(sentence.text for sentence in sentences), tuple(names), sentences)


def _neighbour(topic: Topic, name: str, step: int = 1) -> str:
    ids = list(topic.context)
    return ids[(ids.index(name) + step) % len(ids)]


def _sibling(topic: Topic, name: str) -> str:
    """Return another chunk of the same document that was shown."""
    document = name.split(":")[0]
    return next(other for other in topic.others if other.startswith(f"{document}:"))


def _ids(topic: Topic) -> tuple[str, str, str]:
    first, second, third = (fact.chunk_id for fact in topic.facts)
    return first, second, third


def _other(topic: Topic, number: int = 0) -> str:
    return list(topic.others)[number]


def _unseen(topic: Topic) -> str:
    return next(iter(topic.elsewhere))


def _place(topic: Topic, *places: int, texts: Sequence[str] = (), named: Sequence[str] | None = None) -> Reply:
    """Return an answer whose markers number the chunks that were shown, as most prompts ask for."""
    sentences = texts or [fact.claim for fact in topic.facts]
    marked = [_mark(text, str(place)) for text, place in zip(sentences, places, strict=False)]
    return Reply(" ".join(marked), None if named is None else tuple(named))


def _places(topic: Topic) -> list[int]:
    """Return the number of each fact's chunk in the context, from 1."""
    return [list(topic.context).index(name) + 1 for name in _ids(topic)]


def _next_places(topic: Topic) -> list[int]:
    return [place % len(topic.context) + 1 for place in _places(topic)]


def _named_at(topic: Topic, places: Sequence[int]) -> list[str]:
    return [list(topic.context)[place - 1] for place in places]


Form = Callable[[Topic], Reply]

WRONG: dict[str, Form] = {
    "next chunk": lambda t: _cite(t, [_neighbour(t, _ids(t)[0])], [_ids(t)[1]]),
    "chunk before": lambda t: _cite(t, [_ids(t)[0]], [_neighbour(t, _ids(t)[1], -1)]),
    "all shifted by one": lambda t: _cite(t, *[[_neighbour(t, name)] for name in _ids(t)]),
    "two swapped": lambda t: _cite(t, [_ids(t)[1]], [_ids(t)[0]]),
    "three in turn": lambda t: _cite(t, [_ids(t)[1]], [_ids(t)[2]], [_ids(t)[0]]),
    "first for all": lambda t: _cite(t, *[[_ids(t)[0]]] * 3),
    "everything for one claim": lambda t: _cite(t, list(t.context)),
    "everything for every claim": lambda t: _cite(t, *[list(t.context)] * 3),
    "everything for the answer": lambda t: _whole(t, *t.context),
    "one too many": lambda t: _cite(t, [_ids(t)[0], _other(t)]),
    "one too many for the answer": lambda t: _whole(t, *_ids(t), _other(t)),
    "sibling of the right chunk": lambda t: _cite(t, [_sibling(t, _ids(t)[0])]),
    "sibling for the answer": lambda t: _whole(t, _sibling(t, _ids(t)[1]), facts=2),
    "paraphrase of the neighbour": lambda t: _cite(t, [_neighbour(t, _ids(t)[0])], paraphrase=True),
    "paraphrases shifted by one": lambda t: _cite(t, *[[_neighbour(t, n)] for n in _ids(t)], paraphrase=True),
    "numbers off by one": lambda t: _number(t, [[2], [3], [1]], _ids(t)),
    "numbers from zero": lambda t: _number(t, [[1], [2], [3]], (_other(t), *_ids(t))),
    "number too many": lambda t: _number(t, [[1, 2], [2]], _ids(t)[:2]),
    "sentences swapped": lambda t: _by_sentence(t, [_ids(t)[1]], [_ids(t)[0]]),
    "sentences with everything": lambda t: _by_sentence(t, list(t.context), list(t.context)),
    "sentence with the next chunk": lambda t: _by_sentence(t, [_ids(t)[0]], [_neighbour(t, _ids(t)[1])]),
    "invented id": lambda t: _cite(t, [_ids(t)[0]], ["manual:77"]),
    "invented id for the answer": lambda t: _whole(t, _ids(t)[0], "annex-C", facts=1),
    "not shown": lambda t: _cite(t, [_ids(t)[0]], [_unseen(t)]),
    "not shown for the answer": lambda t: _whole(t, _unseen(t), facts=1),
    "out of reach": lambda t: _cite(t, [FORBIDDEN_ID], [_ids(t)[1]]),
    "right one and out of reach": lambda t: _cite(t, [_ids(t)[0], FORBIDDEN_ID]),
    "only the unrelated": lambda t: _whole(t, *list(t.others)[:2], facts=2),
    "wrong one at the start": lambda t: Reply(
        f"[{_other(t, 1)}] {t.facts[0].claim} {_mark(t.facts[1].claim, _ids(t)[1])}", (_other(t, 1), _ids(t)[1])
    ),
    "list items shifted": lambda t: Reply(
        "\n".join(f"- {_mark(fact.claim, _neighbour(t, fact.chunk_id))}" for fact in t.facts), None
    ),
    "place of the next chunk": lambda t: _place(t, *_next_places(t)),
    "place of the next chunk for one claim": lambda t: _place(t, _next_places(t)[0]),
    "place of the next chunk, ids reported": lambda t: _place(t, *_next_places(t), named=_named_at(t, _next_places(t))),
    "place of the next chunk for one claim, id reported": lambda t: _place(
        t, _next_places(t)[1], texts=[t.facts[1].claim], named=_named_at(t, [_next_places(t)[1]])
    ),
    "place of the next chunk, all reported": lambda t: _place(t, *_next_places(t)[:2], named=list(t.context)),
    "place of the next chunk, paraphrased": lambda t: _place(
        t, *_next_places(t), texts=[fact.paraphrase for fact in t.facts]
    ),
}

RIGHT: dict[str, Form] = {
    "each its own": lambda t: _cite(t, *[[name] for name in _ids(t)]),
    "one claim": lambda t: _cite(t, [_ids(t)[0]]),
    "after the full stop": lambda t: Reply(" ".join(f"{fact.claim} [{fact.chunk_id}]" for fact in t.facts), _ids(t)),
    "for the answer": lambda t: _whole(t, *_ids(t)),
    "for an answer of one claim": lambda t: _whole(t, _ids(t)[0], facts=1),
    "paraphrases": lambda t: _cite(t, *[[name] for name in _ids(t)], paraphrase=True),
    "paraphrase of one": lambda t: _cite(t, [_ids(t)[0]], paraphrase=True),
    "numbered": lambda t: _number(t, [[1], [2], [3]], _ids(t)),
    "by sentence": lambda t: _by_sentence(t, *[[name] for name in _ids(t)]),
    "list items": lambda t: Reply("\n".join(f"- {_mark(fact.claim, fact.chunk_id)}" for fact in t.facts), None),
    "end of the paragraph": lambda t: Reply(f"{t.facts[0].claim} {_mark(t.facts[1].claim, *_ids(t)[:2])}", _ids(t)[:2]),
    "two sources of one sentence": lambda t: Reply(
        f"{t.facts[0].claim[:-1]}; {t.facts[1].claim[:1].lower()}{t.facts[1].claim[1:-1]} [{'] ['.join(_ids(t)[:2])}].",
        _ids(t)[:2],
    ),
    "the document": lambda t: Reply(_mark(t.facts[0].claim, _ids(t)[0].split(":")[0]), (_ids(t)[0].split(":")[0],)),
    "the documents for the answer": lambda t: _whole(t, *dict.fromkeys(n.split(":")[0] for n in _ids(t))),
    "another language": lambda t: Reply(_mark(t.translated, _ids(t)[0]), (_ids(t)[0],)),
    "bold and a heading": lambda t: Reply(
        f"## {t.question}\n\n**{t.facts[0].claim}** [{_ids(t)[0]}]\n\n{t.facts[1].claim} [{_ids(t)[1]}]", _ids(t)[:2]
    ),
    "verbatim passage": lambda t: Reply(f"{t.facts[0].text} [{_ids(t)[0]}]", (_ids(t)[0],)),
    "quoted": lambda t: Reply(f'"{t.facts[1].text}" [{_ids(t)[1]}]', (_ids(t)[1],)),
    "with a courtesy": lambda t: Reply(f"{_cite(t, [_ids(t)[0]]).answer} Let me know if you need more.", (_ids(t)[0],)),
    "twin chunks": lambda t: Reply(_mark(t.facts[0].claim, _ids(t)[0], "twin"), (_ids(t)[0], "twin")),
    "one of the twins": lambda t: Reply(_mark(t.facts[0].claim, "twin"), ("twin",)),
    "places": lambda t: _place(t, *_places(t)),
    "place of one claim": lambda t: _place(t, _places(t)[0]),
    "places, ids in order of mention": lambda t: _place(
        t, *_places(t)[::-1], texts=[fact.claim for fact in t.facts[::-1]], named=_ids(t)[::-1]
    ),
    "places, ids in order of the context": lambda t: _place(
        t, *_places(t)[::-1], texts=[fact.claim for fact in t.facts[::-1]], named=_ids(t)
    ),
    "place of one claim, id reported": lambda t: _place(t, _places(t)[1], texts=[t.facts[1].claim], named=[_ids(t)[1]]),
    "places, paraphrased": lambda t: _place(t, *_places(t), texts=[fact.paraphrase for fact in t.facts]),
    "half of it cited": lambda t: Reply(f"{_mark(t.facts[0].claim, _ids(t)[0])} {t.facts[1].claim}", (_ids(t)[0],)),
}


def find_untouched(names: Sequence[str]) -> set[str]:
    """Return the names of the half that was not looked at: every second one."""
    return set(names[1::2])


class Answered(NamedTuple):
    """One answer of the material: its form, topic, and half."""

    form: str
    topic: Topic
    reply: Reply
    untouched: bool


def write_material(forms: dict[str, Form]) -> Iterator[Answered]:
    """Yield the answers of some forms over all topics; untouched is what has an untouched form or topic."""
    untouched = find_untouched(list(forms))
    for form, write in forms.items():
        for topic in TOPICS:
            yield Answered(form, topic, write(topic), topic.untouched or form in untouched)


def score_reply(topic: Topic, reply: Reply, metric: str = METRIC) -> float | None:
    """Return the precision of an answer's citations, or another metric of them, None where there is none."""
    context = dict(topic.context)
    if "twin" in reply.answer:
        context["twin"] = topic.facts[0].text
    shown = tuple(Chunk(chunk_id, text=text) for chunk_id, text in context.items())
    open_texts = context | topic.elsewhere
    chunks = {chunk_id: CorpusChunk(chunk_id, text=text) for chunk_id, text in open_texts.items()}
    chunks[FORBIDDEN_ID] = CorpusChunk(FORBIDDEN_ID, text=FORBIDDEN_TEXT, roles=("board",))
    observation = Observation(
        "q",
        "c",
        stages=(Stage("context", shown),),
        answer=reply.answer,
        citations=reply.citations,
        sentences=reply.sentences,
    )
    golden = GoldenSet((Case("q", topic.question, user=User(roles=("public",))),))
    result = assay.score(golden, [observation], metrics=(metric,), corpus=Corpus(chunks))
    column = result.table("c").columns[metric]
    return float(column.values[0]) if column.status[0] == SCORED else None


class ParaphrasedCitation(NamedTuple):
    """A claim in other words than its source, what was shown, and the chunk that it cites."""

    question: str
    context: dict[str, str]
    claim: str
    cited: str
    is_right: bool
    untouched: bool

    def judge(self) -> Literal["right", "wrong", "untold"]:
        """Return what `citation_correctness(by=rules)` makes of the citation."""
        shown = tuple(Chunk(chunk_id, text=text) for chunk_id, text in self.context.items())
        observation = Observation(
            "q", "c", stages=(Stage("context", shown),), answer=_mark(self.claim, self.cited), citations=(self.cited,)
        )
        table = assay.score(GoldenSet((Case("q", self.question),)), [observation], metrics=(FAILING_METRIC,)).table("c")
        column = table.columns[FAILING_METRIC]
        if column.status[0] != SCORED:
            return "untold"
        return "right" if column.values[0] == 1 else "wrong"


def read_paraphrased() -> Iterator[ParaphrasedCitation]:
    """Yield every paraphrased claim twice: with its right citation and with a wrong one."""
    for topic in yaml.safe_load(Path(__file__).with_name("paraphrased_citations.yaml").read_text(encoding="utf-8")):
        for claim in topic["claims"]:
            for kind in ("right", "wrong"):
                yield ParaphrasedCitation(
                    topic["question"],
                    topic["context"],
                    claim["text"],
                    claim[kind],
                    kind == "right",
                    topic.get("untouched", False),
                )


def _print_paraphrased(untouched: bool) -> None:
    name = "untouched" if untouched else "open"
    for is_right in (False, True):
        citations = [item for item in read_paraphrased() if (item.untouched, item.is_right) == (untouched, is_right)]
        counts = Counter(item.judge() for item in citations)
        kind = "right" if is_right else "wrong"
        counts_text = ", ".join(f"{counts[verdict]} {verdict}" for verdict in ("wrong", "untold", "right"))
        print(f"{name:<10} paraphrased, {kind} citing: {counts_text}, of {len(citations)}")


def _print_half(untouched: bool, *, listed: bool) -> None:
    name = "untouched" if untouched else "open"
    by_form: dict[str, list[bool]] = defaultdict(list)
    for item in write_material(WRONG):
        if item.untouched == untouched:
            score = score_reply(item.topic, item.reply)
            is_found = score is not None and score < 1
            by_form[item.form].append(is_found)
            if listed and not is_found:
                print(f"  passes: {item.form} ({item.topic.name}): {score}")
    found = [sum(results) * 2 > len(results) for results in by_form.values()]
    answers = [result for results in by_form.values() for result in results]
    print(
        f"{name:<10} wrong citing  {sum(found)} of {len(found)} forms found, {sum(answers)} of {len(answers)} answers"
    )
    accused, right = 0, 0
    for item in write_material(RIGHT):
        if item.untouched == untouched:
            score = score_reply(item.topic, item.reply)
            right += 1
            accused += score is not None and score < 1
            if listed and score != 1:
                print(f"  not 1: {item.form} ({item.topic.name}): {score}")
    failing = [
        score_reply(item.topic, item.reply, FAILING_METRIC)
        for item in write_material(WRONG)
        if item.untouched == untouched
    ]
    failed_right = [
        score_reply(item.topic, item.reply, FAILING_METRIC)
        for item in write_material(RIGHT)
        if item.untouched == untouched
    ]
    scored = [score for score in failing if score is not None]
    accused_by_failing = sum(score is not None and score < 1 for score in failed_right)
    low, high = wilson_interval(accused, right)[:2]
    share = f"{accused / right:.3f}, 95% {low:.3f} to {high:.3f}"
    print(f"{name:<10} right citing  {accused} of {right} answers accused ({share})")
    print(
        f"{name:<10} {FAILING_METRIC}: {sum(score < 1 for score in scored)} of {len(failing)} wrong answers below 1 "
        f"({len(failing) - len(scored)} unknown), {accused_by_failing} of {right} right ones ({failed_right.count(None)} unknown)"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print both halves."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--half", choices=("open", "untouched"))
    parser.add_argument("--list", action="store_true", help="list what passes or is accused")
    options = parser.parse_args(arguments)
    for untouched in (False, True):
        if options.half in (None, "untouched" if untouched else "open"):
            _print_half(untouched, listed=options.list)
            _print_paraphrased(untouched)


if __name__ == "__main__":
    main()
