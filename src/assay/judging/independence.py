"""Independence of judge and generator: no model judges itself, and judging its own family gives a warning."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

_FAMILIES: tuple[tuple[str, str], ...] = (
    ("gpt", r"gpt|davinci|(?<![a-z0-9])o[1-9](?![0-9a-z])"),
    ("claude", r"claude"),
    ("gemini", r"gemini|gemma|(?<![a-z])palm|(?<![a-z])bison"),
    ("llama", r"llama|vicuna|alpaca"),
    ("qwen", r"qwen|qwq"),
    ("mistral", r"mi[sx]tral|codestral|ministral|magistral|devstral|pixtral"),
    ("deepseek", r"deepseek"),
    ("cohere", r"(?<![a-z])command(?![a-z])|(?<![a-z])c4ai|(?<![a-z])aya(?![a-z])"),
    ("phi", r"(?<![a-z])phi(?![a-z])"),
    ("grok", r"(?<![a-z])grok"),
    ("glm", r"(?<![a-z])(?:chat)?glm(?![a-z])"),
    ("nova", r"(?<![a-z])(?:nova|titan)(?![a-z])"),
    ("granite", r"granite"),
    ("kimi", r"kimi|moonshot"),
    ("jamba", r"jamba"),
    ("yi", r"(?<![a-z])yi(?![a-z])"),
)
_PATTERNS = [(family, re.compile(pattern)) for family, pattern in _FAMILIES]
_SNAPSHOT = re.compile(r"(?:[-@:](?:latest|preview|20\d\d-?\d\d-?\d\d|\d{4}|v\d+(?::\d+)?))+$")
_SNAPSHOT_CHARS = 200  # the end of a name in which a snapshot is looked for
_GENERATOR_KEY = re.compile(r"(^|_|\b)(llm|model|generator|generation|answer_model|chat)(_|\b|$)")
_OTHER_KEY = re.compile(r"embed|rerank|judge|index|corpus|retriev|tokeni|prompt")


class SelfJudging(NamedTuple):
    """Judge and generator are of one kind: `same_model` is refused, `same_family` a warning."""

    kind: Literal["same_model", "same_family"]
    message: str


def find_model_family(model: str) -> str:
    """Return the family of a model id, the first if it names several, empty if it is unknown.

    >>> models = ("openai/gpt-4o-2024-08-06", "deepseek-r1-distill-qwen-7b", "dolphin")
    >>> tuple(map(find_model_family, models))
    ('gpt', 'deepseek', '')
    """
    return next(iter(_families(model)), "")


def find_self_judging(
    judge_model: str, generator_versions: Mapping[str, str | Iterable[str]], family: str = ""
) -> SelfJudging | None:
    """Return whether a judge would judge its own model or family, from the versions that a target reported.

    `family` is the judge's if its id does not name one. None if the families differ or no version names a generator.

    >>> find_self_judging("gpt-4o", {"model": "gpt-4o-2024-08-06"}).kind
    'same_model'
    >>> find_self_judging("gpt-4o", {"embedding_model": "gpt-embed"}) is None
    True
    """
    own = set(_families(judge_model)) | ({family} if family else set())
    related = None
    for key, value in generator_versions.items():
        if _OTHER_KEY.search(key.lower()) or not _GENERATOR_KEY.search(key.lower()):
            continue
        for model in [value] if isinstance(value, str) else value:
            if _strip_snapshot(model) == _strip_snapshot(judge_model):
                message = f"judge {judge_model} would judge itself (the target's {key} is {model})"
                return SelfJudging("same_model", message)
            shared = own & set(_families(model))
            if shared:
                family_name = min(shared)
                message = f"judge {judge_model} is of the family {family_name}, as is the target's {key} {model}"
                related = SelfJudging("same_family", message)
    return related


def _families(model: str) -> list[str]:
    text = model.lower()
    matches = [(pattern.search(text), family) for family, pattern in _PATTERNS]
    by_position = sorted((match.start(), family) for match, family in matches if match)
    return [family for _, family in by_position]


def _strip_snapshot(model: str) -> str:
    """Return a model's id without provider and snapshot."""
    name = model.strip().lower().rpartition("/")[2]
    return name[:-_SNAPSHOT_CHARS] + _SNAPSHOT.sub("", name[-_SNAPSHOT_CHARS:])
