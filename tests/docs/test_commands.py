"""Every `assay …` command in the documentation is valid: the command, its options and their values exist."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from tests.docs.pages import PAGES, ROOT, iter_blocks, iter_commands
from typer.core import TyperGroup
from typer.main import get_command

from assay.cli.app import build_app, spread

INLINE = re.compile(r"`assay ([a-z][^`]*)`")
COMMANDS = [
    pytest.param(words, id=f"{page.relative_to(ROOT)}: {' '.join(words)[:60]}")
    for page in PAGES
    for block in iter_blocks(page)
    if block.kind in ("sh", "bash", "yaml")
    for words in iter_commands(block.text)
]


whole_command_line = cache(lambda: get_command(build_app()))  # parsing leaves nothing in it


def parse_words(words: list[str]) -> None:
    """Read the words as the command line does, without running anything."""
    command, words = whole_command_line(), spread(words)
    while isinstance(command, TyperGroup) and not words[0].startswith("-"):  # `assay judge` is one, and a command too
        command, words = command.commands[words[0]], words[1:]
    command.make_context("assay", words)


@pytest.mark.slow
@pytest.mark.parametrize("words", COMMANDS)
def test_a_command_of_the_documentation_parses(words: list[str]) -> None:
    parse_words(words)


def test_an_unknown_option_is_refused() -> None:
    with pytest.raises(Exception, match="--golden-set"):
        parse_words(["score", "--golden-set", "golden.jsonl"])


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_command_named_in_a_sentence_exists(page: Path) -> None:
    """Of `assay golden check` in a sentence, the command must exist; of its options, each one."""
    for text in INLINE.findall(page.read_text(encoding="utf-8")):
        command = whole_command_line()
        for word in text.split():
            if word.startswith("--"):
                assert any(word in option.opts for option in command.params), text
            elif isinstance(command, TyperGroup) and word.islower():
                assert word in command.commands, text
                command = command.commands[word]
