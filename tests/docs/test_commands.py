"""Every `assay …` command in the documentation is valid: the command, its options and their values exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from tests.docs.pages import PAGES, ROOT, iter_blocks, iter_commands
from typer.core import TyperGroup, TyperOption
from typer.main import get_command

from assay.cli.app import build_app, spread

INLINE = re.compile(r"`assay ([a-z][^`]*)`")
OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")
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


OWN_OPTIONS_OF_TYPER = {"--install-completion", "--show-completion"}
"""`assay --help` explains them whole, and they are of the terminal rather than of an evaluation."""


def iter_options() -> Iterator[tuple[str, list[str]]]:
    """Yield each option that `--help` shows: the command that has it, and its names, such as `--kind`."""
    commands = [("assay", whole_command_line())]
    while commands:
        name, command = commands.pop()
        for option in command.params:
            if isinstance(option, TyperOption) and not option.hidden:
                yield name, [word for word in (*option.opts, *option.secondary_opts) if word.startswith("--")]
        if isinstance(command, TyperGroup):
            commands.extend((f"{name} {word}", part) for word, part in command.commands.items())


def test_a_page_names_every_option() -> None:
    """An option that only `--help` shows is found by no reader of a how-to. Decision records do not count."""
    pages = [page for page in (ROOT / "docs").rglob("*.md") if "adr" not in page.parts]
    named = set(OPTION.findall("\n".join(page.read_text(encoding="utf-8") for page in pages)))
    options = list(iter_options())
    assert len(options) > 500
    unnamed = [
        f"{command}: {' '.join(words)}"
        for command, words in options
        if not named & set(words) and not OWN_OPTIONS_OF_TYPER & set(words)
    ]
    assert not unnamed, "options that no page under docs/ names:\n" + "\n".join(unnamed)
