"""Finds out quickly whether a question has a near golden case, for millions of questions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from assay.audit.incident import MIN_NEAR_SIMILARITY
from assay.records.golden_set import Case, GoldenSet
from assay.text.normalisation import fold_text
from assay.text.tokens import DocumentFrequencies, tokenise_text

MAX_REMEMBERED = 100_000


class GoldenQuestions:
    """The questions of a golden set by their words; answers are those of `find_near_cases`."""

    def __init__(self, golden: GoldenSet) -> None:
        self.golden = golden
        self._by_question: dict[str, list[Case]] = defaultdict(list)
        for case in golden.cases:
            self._by_question[fold_text(case.question).strip()].append(case)
        self._words = [frozenset(tokenise_text(case.question)) for case in golden.cases]
        self._idf = DocumentFrequencies.from_texts(case.question for case in golden.cases)
        self._weights = [self._weigh(words) for words in self._words]
        self._cases_of_word: dict[str, list[int]] = defaultdict(list)
        for number, words in enumerate(self._words):
            for word in sorted(words):
                self._cases_of_word[word].append(number)
        self._remembered: dict[str, bool] = {}

    def find_cases(self, question: str | None) -> Sequence[Case]:
        """Return the golden cases that ask exactly this, apart from case and accents."""
        return self._by_question.get(fold_text(question).strip(), ()) if question else ()

    def has_near_case(self, question: str) -> bool:
        """Return whether some case shares enough rare words with the question."""
        answer = self._remembered.get(question)
        if answer is None:
            if len(self._remembered) >= MAX_REMEMBERED:
                self._remembered.clear()
            answer = self._remembered[question] = self._search(question)
        return answer

    def _search(self, question: str) -> bool:
        words = frozenset(tokenise_text(question))
        shared: dict[int, float] = defaultdict(float)
        for word in words:
            weight = self._idf.idf_weight(word)
            for number in self._cases_of_word.get(word, ()):
                shared[number] += weight
        asked = self._weigh(words)
        for number, weight in shared.items():
            union = asked + self._weights[number] - weight
            if union > 0 and weight / union >= MIN_NEAR_SIMILARITY:
                return True
        return False

    def _weigh(self, words: frozenset[str]) -> float:
        return sum(sorted(self._idf.idf_weight(word) for word in words))
