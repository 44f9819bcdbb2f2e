"""Findings as text, JSON and HTML.

`assay.report(result, html="report.html", junit="junit.xml")` writes the reports of a result that are named: markdown,
html, json, junit, csv, per_case. The function has the name of this package, which can be called as the function.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class _CallableRoom(ModuleType):
    """This package: calling it calls the function of the Python interface that has its name."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return import_module("assay.api").report(*arguments, **options)

    @property
    def __signature__(self) -> Any:
        """The parameters of the function, for `inspect.signature` and notebooks."""
        return import_module("inspect").signature(import_module("assay.api").report)


sys.modules[__name__].__class__ = _CallableRoom
