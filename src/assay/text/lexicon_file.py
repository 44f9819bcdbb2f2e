"""Reads the lexicons of refusals: those that are shipped, and the user's own files and folders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from assay.text.refusal_lexicon import LexiconError, LexiconParser, LexiconProblem, RefusalLexicon

MAX_LEXICON_BYTES = 2**20


def load_lexicons(paths: Iterable[str] = ()) -> dict[str, RefusalLexicon]:
    """Return all lexicons by language: the shipped ones, and those of files or folders (`*.yaml`), which replace them.

    Raises LexiconError with everything that is wrong, each with file and line, also for a path that cannot be read.
    """
    lexicons = dict(load_shipped_lexicons())
    problems: list[LexiconProblem] = []
    sources: dict[str, str] = {}
    for path in _list_lexicon_files(paths, problems):
        try:
            lexicon = read_lexicon(path)
        except LexiconError as error:
            problems += error.problems
            continue
        if lexicon.language in sources:
            message = f"a second lexicon of {lexicon.language} (the first is {sources[lexicon.language]}; expected one)"
            problems.append(LexiconProblem(str(path), 1, "language", message))
        sources[lexicon.language] = str(path)
        lexicons[lexicon.language] = lexicon
    if problems:
        raise LexiconError(problems)
    return lexicons


@lru_cache(maxsize=1)
def load_shipped_lexicons() -> dict[str, RefusalLexicon]:
    """Return the shipped lexicons by language; English and Vietnamese come first."""
    folder = files("assay.text").joinpath("lexicons")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".yaml"))
    names.sort(key=lambda name: (name != "en.yaml", name != "vi.yaml"))
    lexicons = {}
    for name in names:
        lexicon = parse_lexicon(folder.joinpath(name).read_text(encoding="utf-8"), name, is_checked=True)
        lexicons[lexicon.language] = lexicon
    return lexicons


def read_lexicon(path: Path) -> RefusalLexicon:
    """Read one file. Raises LexiconError if it cannot be read or used."""
    try:
        data = path.read_bytes()
        if len(data) > MAX_LEXICON_BYTES:
            message = f"too large (got {len(data)} bytes; expected {MAX_LEXICON_BYTES} at most)"
            raise LexiconError([LexiconProblem(str(path), None, "", message)])
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise LexiconError([LexiconProblem(str(path), None, "", f"cannot be read ({error.strerror})")]) from None
    except UnicodeDecodeError as error:
        message = f"not UTF-8 (got byte 0x{data[error.start]:02x} at offset {error.start}; expected UTF-8 text)"
        raise LexiconError([LexiconProblem(str(path), None, "", message)]) from None
    return parse_lexicon(text, str(path))


def parse_lexicon(text: str, name: str, *, is_checked: bool = False) -> RefusalLexicon:
    """Return the lexicon that a YAML text holds; `is_checked` if its patterns are known to be valid.

    Raises LexiconError with everything that is wrong with it.
    """
    import yaml  # only runs that look at answers need it, and then once

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        root = yaml.compose(text, Loader=loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        message = f"invalid YAML: {getattr(error, 'problem', None) or error}"
        raise LexiconError([LexiconProblem(name, mark.line + 1 if mark else None, "", message)]) from None
    builder = _ValueBuilder(name)
    data = builder.build_value(root, "") if root is not None else None
    return LexiconParser(name, builder.lines, is_checked=is_checked).parse_lexicon(data)


class _ValueBuilder:
    """Turns YAML nodes into values; notes the line of each field. Plain whole numbers and truth values are resolved."""

    def __init__(self, name: str) -> None:
        self.lines: dict[str, int] = {}
        self._name = name
        self._seen_nodes: set[int] = set()

    def build_value(self, node: Any, at: str) -> object:
        """Return the value of a node. Raises LexiconError for an alias, and for a key given twice."""
        self.lines[at] = line = node.start_mark.line + 1
        if id(node) in self._seen_nodes:
            raise LexiconError([LexiconProblem(self._name, line, at, "an alias (expected each value written out)")])
        self._seen_nodes.add(id(node))
        if node.id == "mapping":
            return self._build_mapping(node, at)
        if node.id == "sequence":
            return [self.build_value(item, f"{at}[{index}]") for index, item in enumerate(node.value)]
        if node.style in ("'", '"', "|", ">"):
            return node.value
        if node.value in ("true", "false"):
            return node.value == "true"
        return int(node.value) if node.value.isdecimal() else node.value

    def _build_mapping(self, node: Any, at: str) -> dict[str, object]:
        members: dict[str, object] = {}
        for key_node, value_node in node.value:
            key = str(key_node.value)
            field = f"{at}.{key}" if at else key
            if key in members:
                line = key_node.start_mark.line + 1
                raise LexiconError([LexiconProblem(self._name, line, field, "a key given twice (expected it once)")])
            members[key] = self.build_value(value_node, field)
        return members


def _list_lexicon_files(paths: Iterable[str], problems: list[LexiconProblem]) -> Iterator[Path]:
    for name in paths:
        path = Path(name)
        if not path.is_dir():
            yield path
            continue
        in_folder = sorted(path.glob("*.yaml"))
        if not in_folder:
            problems.append(LexiconProblem(name, None, "", "no lexicon in this folder (expected <language>.yaml)"))
        yield from in_folder
