"""The types of what the Python functions take: what a checker such as mypy can tell of golden sets, targets, outputs.

Rows are objects of any kind, so an element of a list is `Any`; what is wrong with one is told when it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, Protocol

from assay.calls.interfaces import Target
from assay.records.golden_set import Corpus, GoldenSet
from assay.records.verdicts import Label

PathLike = str | Path


class FrameLike(Protocol):
    """A data frame: of pandas, Polars or Arrow."""

    @property
    def columns(self) -> Any:
        """Its columns."""


class AskingTarget(Protocol):
    """An object that answers questions."""

    @property
    def ask(self) -> Callable[..., Any]:
        """The function that takes the question."""


class SearchingTarget(Protocol):
    """An object that finds chunks."""

    @property
    def search(self) -> Callable[..., Any]:
        """The function that takes the question."""


class RunnableTarget(Protocol):
    """A LangChain runnable."""

    @property
    def ainvoke(self) -> Callable[..., Any]:
        """The function that takes the question."""


class QueryTarget(Protocol):
    """A LlamaIndex engine."""

    @property
    def query(self) -> Callable[..., Any]:
        """The function that takes the question."""


class RetrieverTarget(Protocol):
    """A LlamaIndex retriever."""

    @property
    def retrieve(self) -> Callable[..., Any]:
        """The function that takes the question."""


GoldenLike = GoldenSet | PathLike | Iterable[Any] | FrameLike
"""A golden set, its path, or rows: dictionaries, cases, other objects, a data frame, or a dictionary of columns."""
RowsLike = PathLike | Iterable[Any] | FrameLike
"""Outputs: a path, paths, or rows, and what `assay.score` returned."""
CorpusLike = Corpus | PathLike | Iterable[Any] | FrameLike | None
"""A corpus, its path, or rows; None for none."""
TargetLike = (
    Callable[..., Any]
    | AskingTarget
    | SearchingTarget
    | RunnableTarget
    | QueryTarget
    | RetrieverTarget
    | Target
    | PathLike
    | None
)
"""What is asked: a function, an object with `ask` or `search`, a runnable, an engine, or a text as after `--target`."""
LabelsLike = PathLike | Label | Mapping[str, Any] | Iterable[PathLike | Label | Mapping[str, Any]]
"""Files of labels, or labels themselves, one or several."""
AnswerLabelName = Literal["right", "wrong", "unclear", "answer", "abstain", "permission_denied", "escalate", "clarify"]
"""What a person may decide about an answer: whether it is right, or what it does."""
