"""Drafted questions are what people would ask, and every restricted document has a question about who may see it."""

from assay.golden.drafting.corpus_words import CorpusWords
from assay.golden.drafting.question_templates import ask_about_row
from assay.golden.drafting.template_drafts import draft_candidates
from assay.records.golden_set import Corpus, CorpusChunk
from assay.text.statements import Statement


def ask(kind: str, name: str, *texts: str) -> list[str]:
    """Return the questions about the length of a row, in a corpus with some texts."""
    words = CorpusWords([CorpusChunk(str(number), text=text) for number, text in enumerate(texts)])
    row = Statement("row", f"| {name} | 6 m |", 0, 0, header=(kind, "Length"), cells=(name, "6 m"))
    return [asked.question for asked in ask_about_row(row, "Vehicles", "en", words)]


def draft(*chunks: CorpusChunk) -> list[tuple[str, str, str]]:
    """Return kind, question and expected behaviour of the candidates of a corpus."""
    candidates = draft_candidates(Corpus({chunk.chunk_id: chunk for chunk in chunks}))
    return [(candidate.kind, candidate.case.question, candidate.case.behaviour) for candidate in candidates]


def test_a_common_noun_has_its_article_or_its_kind() -> None:
    assert ask("Vehicle", "Car", "A car is let in.") == ["What is the length of a car?"]
    assert ask("Vehicle", "Cars", "All cars are let in.") == ["What is the length of cars?"]
    assert ask("Vehicle", "Car") == ["What is the length of the vehicle “Car”?"]
    assert ask("Item", "Car") == []
    assert ask("Item", "Small cabin") == ["What is the length of small cabin?"]


def test_a_question_does_not_end_in_the_middle() -> None:
    chunk = CorpusChunk("pay:1", "Salaries are paid on the 25th of each month.", document="pay", section="Pay")
    assert not [question for _, question, _ in draft(chunk) if "25th" in question]


def test_a_restricted_document_without_other_questions_is_asked_about_by_both_twins() -> None:
    text = (
        "## Winter bonus\n\nDeckhands receive a bonus that their manager proposes. It is agreed with the works council."
    )
    restricted = CorpusChunk("bonus:1", text, document="bonus", section="Pay > Winter bonus", roles=("payroll",))
    other = CorpusChunk("lost:1", "Lost items are kept for 60 days.", document="lost", section="Lost property")
    question = "What do the documents say about “Winter bonus”?"
    access = [row for row in draft(restricted, other) if row[0] == "access"]
    assert access == [("access", question, "answer"), ("access", question, "permission_denied")]
    open_to_all = CorpusChunk("bonus:1", text, document="bonus", section="Pay > Winter bonus")
    assert not [row for row in draft(open_to_all, other) if row[0] == "access"]
