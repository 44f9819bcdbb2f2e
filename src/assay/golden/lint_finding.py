"""The record of a finding of `golden lint`, the table of its rules, and what the rules look at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

from msgspec import Struct

from assay.golden.evidence_chunks import find_unit_chunks
from assay.golden.model_effort import ModelEffort
from assay.records.golden_set import Case, Corpus, CorpusChunk, GoldenSet
from assay.text.normalisation import fold_text
from assay.text.tokens import DocumentFrequencies

FindingLevel = Literal["error", "warning"]


class LintRule(NamedTuple):
    """One rule: its level, what it finds, and what to do about a finding."""

    level: FindingLevel
    description: str
    remedy: str


LINT_RULES: dict[str, LintRule] = {
    "reader": LintRule("warning", "what the reader of golden sets finds doubtful", "see the message"),
    "placeholder": LintRule(
        "error",
        "a case that is still as `assay init` wrote it; it is never scored",
        "replace it with a question of your own, or delete the case",
    ),
    "coverage-gap": LintRule(
        "warning",
        "fewer cases are marked as a kind, by a tag or the expected behaviour, than the coverage targets ask for",
        "tag the cases that are of this kind, or write some",
    ),
    "multi-hop-one-chunk": LintRule(
        "warning",
        "a multi-hop case that names one chunk",
        "label the other chunks that the answer needs, or drop the tag",
    ),
    "multi-hop-untagged": LintRule(
        "warning", "a case that needs several chunks without the tag multi-hop", "add the tag multi-hop"
    ),
    "tag-contradicts": LintRule(
        "error",
        "a tag that contradicts behaviour, user, question or evidence",
        "correct the tag or what it contradicts",
    ),
    "denied-visible": LintRule(
        "error",
        "a permission_denied case whose evidence its user may see",
        "correct the user, the evidence or the access rights in the corpus, or expect an answer",
    ),
    "answer-invisible": LintRule(
        "error", "an answer case whose evidence its user may not see", "correct the user, or expect permission_denied"
    ),
    "abstain-answerable": LintRule(
        "warning",
        "an abstain case whose answer seems to be in the corpus",
        "expect an answer with this evidence, or say in the silenced rule why the chunk does not answer it",
    ),
    "answer-in-question": LintRule(
        "warning", "a question that states what the answer must say", "ask without giving the answer"
    ),
    "keyword-in-incorrect": LintRule(
        "warning",
        "a correct keyword that is part of an incorrect pattern",
        "make the keyword or the pattern more specific",
    ),
    "reference-fails": LintRule(
        "error",
        "a reference that the rules fail by the facts or keywords of its own case, so that right answers fail too",
        "correct the fact or the reference; write the fact as it stands in the reference",
    ),
    "reference-open": LintRule(
        "warning",
        "a reference of which the rules cannot tell whether it states the facts or keywords of its own case",
        "write the fact as it stands in the reference, or expect a judge or a person to decide",
    ),
    "keyword-common": LintRule(
        "warning", "a keyword that most chunks contain, which tells nothing", "use a keyword that only the answer has"
    ),
    "near-duplicate": LintRule(
        "warning", "dependent cases that are not marked as one cluster", "give them one cluster: golden lint --fix"
    ),
    "confusable-id": LintRule("warning", "ids that people confuse", "rename one of the cases"),
    "reference-unsupported": LintRule(
        "warning", "a reference with a fact that its evidence does not have", "correct the reference or the evidence"
    ),
    "reference-underivable": LintRule(
        "warning",
        "a reference that a judge does not find in its evidence (only with --judge or --model)",
        "correct the reference, or label the evidence that states it",
    ),
    "evidence-missing": LintRule(
        "error",
        "evidence that the corpus does not have",
        "if its text moved, golden relink; if its document was deleted, golden freeze --retire",
    ),
    "source-missing": LintRule(
        "warning",
        "a must_cite that is no chunk or document of the corpus",
        "use the ids or documents that the system cites",
    ),
    "evidence-changed": LintRule(
        "error", "a quote or hash that the text of the evidence no longer has", "check the label, then golden relink"
    ),
    "evidence-superseded": LintRule(
        "warning", "evidence of a version that has expired", "name the version in force, or set user.as_of"
    ),
    "validity-gap": LintRule(
        "warning",
        "a document without a version in force on the day before the next one begins",
        "write the first day on which it holds no more into valid_to",
    ),
    "unlabelled-alternative": LintRule(
        "warning",
        "another chunk that states the same fact and is not labelled",
        "add it as an alternative of the unit (any_of), or judge it with a grade",
    ),
    "language-mismatch": LintRule(
        "warning", "a question in another language than its case or locale says", "correct language or locale"
    ),
    "no-owner": LintRule("warning", "a set without an owner", "write owner into the header"),
    "no-version": LintRule("warning", "a set without a version", "write version into the header"),
    "no-changelog": LintRule("warning", "a set without a changelog", "write changelog into the header"),
    "frozen-edited": LintRule(
        "error", "a set that was edited after it was frozen", "undo the edit, or freeze it as a new version"
    ),
    "lineage-contradicts": LintRule(
        "error",
        "a case that the lineage of the set calls retired, or one that it calls added or updated and that is missing",
        "undo the edit, and make the next version with golden freeze --base",
    ),
    "unused-silence": LintRule(
        "warning", "a silenced rule that would find nothing, or does not exist", "delete it from the header"
    ),
}
"""Every rule by its name, in the order of findings of one case."""


class LintFinding(Struct, frozen=True, omit_defaults=True):
    """One finding: the rule, its case (none if it concerns the set), where it is, what is wrong, and the remedy."""

    rule: str
    level: FindingLevel
    message: str
    remedy: str
    case: str = ""
    field: str = ""
    line: int | None = None
    chunks: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()


class LintReport(Struct, frozen=True):
    """The findings of `golden lint`, errors first and housekeeping last; `fixed` are the cases given a cluster.

    `effort` is what a judge was asked, None if none was named; cases without a verdict have no finding by it.
    """

    findings: tuple[LintFinding, ...]
    silenced: int = 0
    fixed: tuple[str, ...] = ()
    effort: ModelEffort | None = None

    @property
    def errors(self) -> int:
        """How many findings are errors."""
        return sum(finding.level == "error" for finding in self.findings)


@dataclass(frozen=True, slots=True)
class SuspectField:
    """What a rule found in a case, before its level, line and remedy are added."""

    rule: str
    field: str
    message: str
    chunks: tuple[str, ...] = ()


def select_counted_cases(cases: Sequence[Case]) -> tuple[Case, ...]:
    """Return the cases that are no variants of others: those that coverage and health count."""
    return tuple(case for case in cases if case.variant_of is None)


@dataclass(frozen=True)
class LintedSet:
    """A golden set with its corpus, and the look-ups that the rules share."""

    golden: GoldenSet
    corpus: Corpus | None = None
    lines: Mapping[str, int | None] = field(default_factory=dict)

    @cached_property
    def counted_cases(self) -> tuple[Case, ...]:
        """The cases without variants of cases, which count in no number (ADR 82)."""
        return select_counted_cases(self.golden.cases)

    @cached_property
    def texts(self) -> dict[str, str]:
        """The texts of the corpus by chunk id; chunks without one are left out."""
        chunks = self.corpus.chunks if self.corpus is not None else {}
        return {chunk_id: chunk.text for chunk_id, chunk in chunks.items() if chunk.text}

    @cached_property
    def folded_texts(self) -> dict[str, str]:
        """The folded texts of the corpus by chunk id."""
        return {chunk_id: fold_text(text) for chunk_id, text in self.texts.items()}

    @cached_property
    def frequencies(self) -> DocumentFrequencies:
        """How many chunks of the corpus have each word."""
        return DocumentFrequencies.from_texts(self.texts.values())

    @cached_property
    def _chunks_of_case(self) -> dict[str, dict[str, int]]:
        return {}

    def labelled_chunks(self, case: Case) -> dict[str, int]:
        """Return the chunks of the corpus that a case's evidence names, with their highest grade."""
        labelled = self._chunks_of_case.get(case.id)
        if labelled is None:
            labelled = self._chunks_of_case[case.id] = {}
            for unit in case.evidence if self.corpus is not None else ():
                for chunk_id in find_unit_chunks(unit.any_of, self.corpus):
                    labelled[chunk_id] = max(unit.grade, labelled.get(chunk_id, 0))
        return labelled

    def evidence_chunks(self, case: Case) -> list[CorpusChunk]:
        """Return the chunks of the corpus that a case's required or background evidence names, of a grade above 0."""
        if self.corpus is None:
            return []
        return [self.corpus.chunks[chunk_id] for chunk_id, grade in self.labelled_chunks(case).items() if grade]
