"""The entry of the golden-set format table, and the small records shared by readers and builder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, NamedTuple

from msgspec import Meta, Struct

from assay.io.lines import Source
from assay.model import Judgments

if TYPE_CHECKING:
    from assay.io.goldens.builder import Builder

SchemaVersion = Annotated[int, Meta(ge=1)]


class Spot(NamedTuple):
    """Location of a case: its line, or its path inside a JSON document."""

    line: int | None
    at: str = ""

    def __str__(self) -> str:
        return f"line {self.line}" if self.line is not None else self.at


class Header(Struct, frozen=True, forbid_unknown_fields=True):
    """Metadata of a golden set: the first line of a JSONL file, or the members next to `cases` in a document."""

    name: str = ""
    version: str = ""
    split: str = ""
    owner: str = ""
    changelog: tuple[str, ...] = ()
    corpus_version: str = ""
    judgments: Judgments | None = None
    as_of: str | None = None
    schema_version: SchemaVersion | None = None


@dataclass(frozen=True, slots=True)
class Form:
    """One golden-set format: how to recognise it, how to read it, and its own names for the fields of a `Case`.

    `decisive` are members that only rows of this format have. `fields` maps fields of a `Case` to the format's names
    for them, for messages. `needs_question` is False if rows may judge a query whose text is stored elsewhere.
    """

    name: str
    about: str
    read: Callable[[Source, Builder], None]
    decisive: tuple[str, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict)
    judgments: Judgments = "complete"
    needs_question: bool = True
