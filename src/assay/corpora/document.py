"""A document as read from a folder: its Markdown text, where it came from, and what its front matter says."""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class Document(Struct, frozen=True):
    """One document: `text` is Markdown, in which a form feed ends a page; `line` is the line its text begins at.

    `fields` are those of its front matter: `document`, `version`, `title`, `tenant`, `roles`, `valid_from`, `valid_to`,
    `position`, `position_scope`; any other field goes to the metadata of its chunks.
    """

    path: str
    name: str
    text: str
    fields: dict[str, Any] = {}
    line: int = 1
