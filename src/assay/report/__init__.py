"""Findings as text, JSON and HTML.

The function `assay.report` has the name of this package, so that the package can be called as the function.
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


sys.modules[__name__].__class__ = _CallableRoom
