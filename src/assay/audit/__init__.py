"""The audit store of production answers: `assay.audit.ingest`, `show`, `verify`, `export` …, as the commands.

Everything is loaded when it is first used, because the store needs the optional extra `audit`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.audit.answer_log_file import AnswerLog, count_dropped, log
    from assay.audit.commands import erase, export, exposure, ingest, show, verify

__all__ = ["AnswerLog", "count_dropped", "erase", "export", "exposure", "ingest", "log", "show", "verify"]

_HOME = dict.fromkeys(__all__, "assay.audit.commands") | dict.fromkeys(
    ("AnswerLog", "count_dropped", "log"), "assay.audit.answer_log_file"
)
_HOME["sample"] = "assay.golden.collect_traffic"  # a room above this one: golden sets


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'assay.audit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
