"""Strict YAML for files that people write: everything that two parsers could read differently is an error.

Only mappings with text keys, lists, texts, `true`, `false`, `null` and plain decimal numbers are read. The line and
column of each value are kept for error messages.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from assay.formats.file_io import open_file
from assay.formats.strict_json import join_field
from assay.records.errors import Problem, SettingsError, shorten_repr
from assay.text.late_pattern import LatePattern

if TYPE_CHECKING:
    import yaml

MAX_YAML_BYTES = 2**20
MAX_YAML_DEPTH = 20

_INTEGER = LatePattern(r"[-+]?(0|[1-9][0-9]{0,99})")
_DECIMAL = LatePattern(r"(?=[-+]?\.?[0-9])[-+]?(0|[1-9][0-9]{0,99})?(\.[0-9]{1,99})?([eE][-+]?[0-9]{1,3})?")
_UNCLEAR_NUMBER = LatePattern(r"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])*|0[xob][0-9a-f_]+|[-+]?\.(inf|nan)", re.IGNORECASE)
_TAB_INDENT = LatePattern(r"[ \t]*\t")


UNKNOWN_FIELD_CODE = "E_UNKNOWN_FIELD"
"""The code of a problem that is the name of a key, not its value."""


class YamlPosition(Struct, frozen=True):
    """The line and column at which a value begins, both counted from 1."""

    line: int
    column: int


class YamlDocument(Struct, frozen=True):
    """The content of a file, and the positions of each value and of its key by its field (`rules[0].metric`)."""

    data: Any
    positions: dict[str, YamlPosition]
    key_positions: dict[str, YamlPosition]

    def find_position(self, field: str, code: str) -> YamlPosition:
        """Return where a problem is: at the key if nobody knows it, else at the value, or at the nearest parent.

        `code` is that of the problem.
        """
        if code == UNKNOWN_FIELD_CODE and field in self.key_positions:
            return self.key_positions[field]
        nearest = field
        while nearest and nearest not in self.positions:
            nearest = nearest[: max(nearest.rfind("."), nearest.rfind("["), 0)]
        return self.positions.get(nearest, YamlPosition(1, 1))


def read_yaml_file(path: Path | str, *, yes_is_text: bool = False) -> YamlDocument:
    """Read a YAML file. Raises InputError if it cannot be read, and SettingsError for what `read_yaml` refuses."""
    name = str(path)
    with open_file(Path(path)) as file:
        data = file.read(MAX_YAML_BYTES + 1)
    if len(data) > MAX_YAML_BYTES:
        raise SettingsError(
            [Problem(name, None, "", f"too large (expected {MAX_YAML_BYTES} bytes at most)", "E_TOO_LARGE")]
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"not UTF-8 (got byte 0x{data[error.start]:02x} at byte offset {error.start}; expected UTF-8 text)"
        raise SettingsError([Problem(name, None, "", message, "E_ENCODING")]) from None
    return read_yaml(text, name, yes_is_text=yes_is_text)


def read_yaml(text: str, name: str, *, yes_is_text: bool = False) -> YamlDocument:
    """Return the one document of a YAML text; the data of an empty text is None.

    `yes_is_text` is for a file that a known parser of YAML 1.2 reads: `yes`, `no`, `on` and `off` are texts to it.

    Raises SettingsError with everything that is wrong: broken YAML, tabs as indentation, anchors, aliases, tags, more
    than one document, keys that are duplicates or not text, nesting beyond 20, and words or numbers that YAML parsers
    read differently (`yes`, `010`, `1_000`, `1:30`, `.nan`).

    >>> read_yaml("rules:\\n  - metric: recall@10\\n", "gate.yaml").positions["rules[0].metric"]
    YamlPosition(line=2, column=13)
    """
    import yaml  # importing it takes as long as scoring ten cases, and most runs read no YAML

    try:
        _check_events(text, name)
        root = yaml.compose(text, Loader=_find_loader())
    except yaml.YAMLError as error:
        raise SettingsError([_syntax_problem(error, text, name)]) from None
    builder = _Builder(name, yes_is_text)
    data = builder.build_value(root, "") if root is not None else None
    if builder.problems:
        raise SettingsError(builder.problems)
    return YamlDocument(data, builder.places, builder.key_places)


class _Builder:
    """Turns nodes into plain values; collects their positions and everything that is wrong."""

    def __init__(self, name: str, yes_is_text: bool) -> None:
        self.name, self._yes_is_text = name, yes_is_text
        self.places: dict[str, YamlPosition] = {}
        self.key_places: dict[str, YamlPosition] = {}
        self.problems: list[Problem] = []

    def build_value(self, node: Any, at: str) -> Any:
        self.places[at] = _position(node.start_mark)
        if node.id == "mapping":
            return self._build_mapping(node, at)
        if node.id == "sequence":
            return [self.build_value(item, join_field(at, index)) for index, item in enumerate(node.value)]
        if "\0" in node.value:
            self._refuse(node, at, f"a NUL character (got {shorten_repr(node.value)}; expected text)", "E_TEXT")
        return node.value if node.style in ("'", '"', "|", ">") else self._resolve_plain(node, at)

    def _build_mapping(self, node: Any, at: str) -> dict[str, Any]:
        members: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if key_node.id != "scalar":
                self._refuse(
                    key_node, at, "a key must be a text (got a list or mapping; expected name: value)", "E_KEY"
                )
                continue
            key = str(key_node.value)
            field = join_field(at, key)
            if key in members:
                self._refuse(
                    key_node, field, f"key given twice (got {shorten_repr(key)} again; expected it once)", "E_KEY_TWICE"
                )
            self.key_places[field] = _position(key_node.start_mark)
            members[key] = self.build_value(value_node, field)
        return members

    def _resolve_plain(self, node: Any, at: str) -> Any:
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
        if word in ("yes", "no", "on", "off", "y", "n") and not self._yes_is_text:
            self._refuse(
                node, at, f"unclear word (got {text:.40}; expected true, false, or the word in quotes)", "E_BOOL"
            )
        elif _UNCLEAR_NUMBER.fullmatch(text) or _DECIMAL.fullmatch(text):
            message = f"unclear number (got {text:.40}; expected a plain decimal number, or quotes around a text)"
            self._refuse(node, at, message, "E_NUMBER")
        return text

    def _refuse(self, node: Any, field: str, message: str, code: str) -> None:
        self.problems.append(build_yaml_problem(self.name, _position(node.start_mark), field, message, code))


def build_yaml_problem(name: str, position: YamlPosition, field: str, message: str, code: str) -> Problem:
    """Return a problem whose message also names the column, because `Problem` has no field for it."""
    return Problem(name, position.line, field, f"{message}, at column {position.column}", code)


def _find_loader() -> Any:
    """Return the loader that is written in C if there is one."""
    import yaml

    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _check_events(text: str, name: str) -> None:
    """Refuse what this reader does not allow, from the parser's events alone: nothing is expanded or built yet."""
    import yaml

    depth = documents = 0
    for event in yaml.parse(text, Loader=_find_loader()):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        documents += isinstance(event, yaml.DocumentStartEvent)
        tag = getattr(event, "tag", None)
        refused = ""
        if getattr(event, "anchor", None) is not None:
            refused = "anchors and aliases are not read (expected each value written out)"
        elif tag is not None:
            refused = f"tags are not read (got {shorten_repr(tag)}; expected plain values)"
        elif depth > MAX_YAML_DEPTH:
            refused = f"nested too deep (expected {MAX_YAML_DEPTH} levels at most)"
        elif documents > 1:
            refused = "more than one document (expected one, without ---)"
        if refused:
            raise SettingsError([build_yaml_problem(name, _position(event.start_mark), "", refused, "E_YAML")])


def _syntax_problem(error: yaml.YAMLError, text: str, name: str) -> Problem:
    mark = getattr(error, "problem_mark", None)
    if mark is None:
        return Problem(name, None, "", f"invalid YAML: {str(error).splitlines()[0]}", "E_YAML")
    lines = text.split("\n")
    line = lines[mark.line] if mark.line < len(lines) else ""
    fault = getattr(error, "problem", None) or "not readable"
    if _TAB_INDENT.match(line):
        fault = "a tab as indentation (expected spaces)"
    return build_yaml_problem(name, _position(mark), "", f"invalid YAML: {fault}", "E_YAML")


def _position(mark: Any) -> YamlPosition:
    return YamlPosition(mark.line + 1, mark.column + 1)
