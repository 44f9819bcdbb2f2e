"""Strict YAML for files that people write: whatever two readers could understand differently is an error.

Only mappings with text keys, lists, texts, `true`, `false`, `null` and plain decimal numbers are read; each value keeps
the line and column at which it stands.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from assay.errors import Problem, SettingsError, shown
from assay.io.lines import open_file
from assay.io.strictjson import pointer

MAX_BYTES = 2**20
MAX_DEPTH = 20

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]{0,99})")
_DECIMAL = re.compile(r"(?=[-+]?\.?[0-9])[-+]?(0|[1-9][0-9]{0,99})?(\.[0-9]{1,99})?([eE][-+]?[0-9]{1,3})?")
_UNCLEAR_NUMBER = re.compile(r"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])*|0[xob][0-9a-f_]+|[-+]?\.(inf|nan)", re.IGNORECASE)
_TAB_INDENT = re.compile(r"[ \t]*\t")


class Place(NamedTuple):
    """Where a value begins, both counted from 1."""

    line: int
    column: int


class Document(NamedTuple):
    """What a file says, and the place of each value by its field (`rules[0].metric`)."""

    data: Any
    places: dict[str, Place]


def read_yaml_file(path: Path | str) -> Document:
    """Read a YAML file; raises InputError where it cannot be read or `read_yaml` refuses it."""
    name = str(path)
    with open_file(Path(path)) as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise SettingsError([Problem(name, None, "", f"too large (expected {MAX_BYTES} bytes at most)", "E_TOO_LARGE")])
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"not UTF-8 (got byte 0x{data[error.start]:02x} at byte offset {error.start}; expected UTF-8 text)"
        raise SettingsError([Problem(name, None, "", message, "E_ENCODING")]) from None
    return read_yaml(text, name)


def read_yaml(text: str, name: str) -> Document:
    """Return the one document of a YAML text; an empty text holds None.

    Raises SettingsError with everything wrong: broken YAML, tabs as indentation, anchors, aliases, tags, more than one
    document, keys given twice or that are not text, nesting beyond 20, and words or numbers that YAML readers
    understand differently (`yes`, `010`, `1_000`, `1:30`, `.nan`).

    >>> read_yaml("rules:\\n  - metric: recall@10\\n", "gate.yaml").places["rules[0].metric"]
    Place(line=2, column=13)
    """
    try:
        _refuse_extras(text, name)
        root = yaml.compose(text, Loader=_LOADER)
    except yaml.YAMLError as error:
        raise SettingsError([_broken(error, text, name)]) from None
    builder = _Builder(name)
    data = builder.value(root, "") if root is not None else None
    if builder.problems:
        raise SettingsError(builder.problems)
    return Document(data, builder.places)


class _Builder:
    """Turns nodes into plain values, keeping places and everything that is wrong."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.places: dict[str, Place] = {}
        self.problems: list[Problem] = []

    def value(self, node: yaml.Node, at: str) -> Any:
        self.places[at] = _place(node.start_mark)
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, at)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, pointer(at, index)) for index, item in enumerate(node.value)]
        assert isinstance(node, yaml.ScalarNode)
        return node.value if node.style in ("'", '"', "|", ">") else self._plain(node, at)

    def _mapping(self, node: yaml.MappingNode, at: str) -> dict[str, Any]:
        members: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                self._refuse(
                    key_node, at, "a key must be a text (got a list or mapping; expected name: value)", "E_KEY"
                )
                continue
            key = str(key_node.value)
            field = pointer(at, key)
            if key in members:
                self._refuse(
                    key_node, field, f"key given twice (got {shown(key)} again; expected it once)", "E_KEY_TWICE"
                )
            members[key] = self.value(value_node, field)
        return members

    def _plain(self, node: yaml.ScalarNode, at: str) -> Any:
        text = str(node.value)
        word = text.lower()
        if word in ("", "~", "null"):
            return None
        if word in ("true", "false"):
            return word == "true"
        if _INTEGER.fullmatch(text):
            return int(text)
        if _DECIMAL.fullmatch(text) and math.isfinite(float(text)):
            return float(text)
        if word in ("yes", "no", "on", "off", "y", "n"):
            self._refuse(
                node, at, f"unclear word (got {text:.40}; expected true, false, or the word in quotes)", "E_BOOL"
            )
        elif _UNCLEAR_NUMBER.fullmatch(text) or _DECIMAL.fullmatch(text):
            message = f"unclear number (got {text:.40}; expected a plain decimal number, or quotes around a text)"
            self._refuse(node, at, message, "E_NUMBER")
        return text

    def _refuse(self, node: yaml.Node, field: str, message: str, code: str) -> None:
        self.problems.append(problem_at(self.name, _place(node.start_mark), field, message, code))


def problem_at(name: str, place: Place, field: str, message: str, code: str) -> Problem:
    """Return a problem that names the column too, which `Problem` has no field for."""
    return Problem(name, place.line, field, f"{message}, at column {place.column}", code)


def _refuse_extras(text: str, name: str) -> None:
    """Look at the events only, so that nothing is expanded or built, and refuse what this reader does not allow."""
    depth = documents = 0
    for event in yaml.parse(text, Loader=_LOADER):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        documents += isinstance(event, yaml.DocumentStartEvent)
        tag = getattr(event, "tag", None)
        refused = ""
        if getattr(event, "anchor", None) is not None:
            refused = "anchors and aliases are not read (expected each value written out)"
        elif tag is not None:
            refused = f"tags are not read (got {shown(tag)}; expected plain values)"
        elif depth > MAX_DEPTH:
            refused = f"nested too deep (expected {MAX_DEPTH} levels at most)"
        elif documents > 1:
            refused = "more than one document (expected one, without ---)"
        if refused:
            raise SettingsError([problem_at(name, _place(event.start_mark), "", refused, "E_YAML")])


def _broken(error: yaml.YAMLError, text: str, name: str) -> Problem:
    mark = getattr(error, "problem_mark", None)
    if mark is None:
        return Problem(name, None, "", f"invalid YAML: {str(error).splitlines()[0]}", "E_YAML")
    lines = text.split("\n")
    line = lines[mark.line] if mark.line < len(lines) else ""
    what = getattr(error, "problem", None) or "not readable"
    if _TAB_INDENT.match(line):
        what = "a tab as indentation (expected spaces)"
    return problem_at(name, _place(mark), "", f"invalid YAML: {what}", "E_YAML")


def _place(mark: Any) -> Place:
    return Place(mark.line + 1, mark.column + 1)
