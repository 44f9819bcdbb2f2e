"""Reads the lexicons of refusals: those that are shipped, and the user's own files and folders.

People write YAML. Of each shipped lexicon there is a copy in JSON, written by `python scripts/lexicon_copies.py`, which
holds it checked and folded: most runs read no other YAML, and importing its reader takes as long as scoring ten cases.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, structs

from assay.text.normalisation import fold_text
from assay.text.pattern_cache import compile_pattern
from assay.text.refusals.refusal_lexicon import LexiconError, LexiconParser, LexiconProblem, RefusalLexicon

MAX_LEXICON_BYTES = 2**20
_COPY_DECODER = msgspec.json.Decoder(RefusalLexicon)


def load_lexicons(paths: Iterable[str] = (), shipped: Iterable[str] | None = None) -> dict[str, RefusalLexicon]:
    """Return lexicons by language: shipped ones, and those of files or folders (`*.yaml`), which replace them.

    `shipped`: the shipped languages, all of them by default. Raises LexiconError with everything that is wrong, each
    with file and line, also for a path that cannot be read.
    """
    languages = list_shipped_languages() if shipped is None else shipped
    lexicons = {language: load_shipped_lexicon(language) for language in languages}
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


@cache
def list_shipped_languages() -> tuple[str, ...]:
    """Return the languages of the shipped lexicons; English and Vietnamese come first."""
    names = sorted(entry.name for entry in _shipped_folder().iterdir() if entry.name.endswith(".yaml"))
    names.sort(key=lambda name: (name != "en.yaml", name != "vi.yaml"))
    return tuple(name.removesuffix(".yaml") for name in names)


@cache
def load_shipped_lexicon(language: str) -> RefusalLexicon:
    """Return one shipped lexicon, from its copy in JSON."""
    copy: RefusalLexicon = _COPY_DECODER.decode(_shipped_folder().joinpath(f"{language}.json").read_bytes())
    return copy


def format_copy(lexicon: RefusalLexicon) -> str:
    """Return the copy of a lexicon in JSON that `load_shipped_lexicon` reads."""
    content = structs.asdict(lexicon) | {"rows": list(map(structs.astuple, lexicon.rows))}
    return json.dumps(content, ensure_ascii=False, indent=0, default=sorted) + "\n"


_COMMON_FIELD = compile_pattern(r"^common:\s*\[([^\]]*)\]", re.MULTILINE)


@cache
def read_common_words(language: str) -> frozenset[str]:
    """Return the frequent words of a shipped lexicon, without reading the others of its fields."""
    field = _COMMON_FIELD.search(_read_shipped(language))
    return frozenset(map(fold_text, field[1].split(","))) if field is not None else frozenset()


def _shipped_folder() -> Path:
    return Path(__file__).with_name("lexicons")


def _read_shipped(language: str) -> str:
    return _shipped_folder().joinpath(f"{language}.yaml").read_text(encoding="utf-8")


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


def parse_lexicon(text: str, name: str) -> RefusalLexicon:
    """Return the lexicon that a YAML text holds. Raises LexiconError with everything that is wrong with it."""
    content = read_lexicon_yaml(text, name)
    return LexiconParser(name, content.lines).parse_lexicon(content.data)


class LexiconContent(Struct, frozen=True):
    """What a YAML text holds, and the line of each of its fields."""

    data: object
    lines: Mapping[str, int]


def read_lexicon_yaml(text: str, name: str) -> LexiconContent:
    """Return what a YAML text holds. Raises LexiconError if it is not valid YAML."""
    import yaml  # only runs with lexicons of the user need it

    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # leaves the types of values to `_ValueBuilder`
    try:
        root = yaml.compose(text, Loader=loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        message = f"invalid YAML: {getattr(error, 'problem', None) or error}"
        raise LexiconError([LexiconProblem(name, mark.line + 1 if mark else None, "", message)]) from None
    builder = _ValueBuilder(name)
    data = builder.build_value(root, "") if root is not None else None
    return LexiconContent(data, builder.lines)


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
