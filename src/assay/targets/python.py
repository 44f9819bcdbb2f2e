"""A function or object in this process: plain or async, returning an Observation, a plain dict or an answer's text."""

from __future__ import annotations

import asyncio
import contextvars
import importlib
import inspect
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from assay.config_model import PythonTarget, Response
from assay.errors import Problem, SettingsError
from assay.model import Observation
from assay.ports import Call, CallError, Operation
from assay.targets.reply import read_reply
from assay.targets.template import user_of

_ARGUMENTS = ("question", "query", "case", "case_id", "user", "k", "history")


class CallableTarget:
    """Calls `ask` and `search`. A plain function runs in a thread of its own, which a timeout leaves behind."""

    def __init__(
        self,
        name: str,
        ask: Callable[..., Any] | None,
        search: Callable[..., Any] | None = None,
        *,
        described: dict[str, Any] | None = None,
        response: Response | None = None,
    ) -> None:
        self.name = name
        functions: dict[Operation, Callable[..., Any] | None] = {"search": search, "ask": ask}
        self._functions = {name: function for name, function in functions.items() if function is not None}
        self.operations: tuple[Operation, ...] = tuple(self._functions)
        self._described = described or {"type": "python"}
        self._response = response or Response()

    async def identity(self) -> dict[str, Any]:
        """Return the import path of what is called."""
        return self._described

    async def observe(self, call: Call) -> Observation:
        """Call the function. Raises CallError, code `exception` where it raises anything."""
        function = self._functions[call.operation]
        try:
            positional, named = _arguments(function, call)
            if inspect.iscoroutinefunction(function):
                value = await function(*positional, **named)
            else:
                value = await _in_thread(function, positional, named)
                if inspect.isawaitable(value):
                    value = await value
        except (CallError, asyncio.CancelledError):
            raise
        except Exception as error:  # whatever a stranger's function raises is the target's failure
            raise CallError("exception", f"{type(error).__name__}: {error}") from error
        return read_reply(value, call, self._response)

    async def aclose(self) -> None:
        """Nothing to give back."""


def from_settings(name: str, settings: PythonTarget) -> CallableTarget:
    """Return the target of an import path. Raises SettingsError where it cannot be imported or called."""
    found = resolve(settings.call, name)
    ask, search = found, None
    if not inspect.isroutine(found) and (hasattr(found, "ask") or hasattr(found, "search")):
        ask, search = getattr(found, "ask", None), getattr(found, "search", None)
    if settings.search is not None:
        search = resolve(settings.search, name)
    for function in (ask, search):
        if function is not None and not callable(function):
            raise _unusable(name, f"{settings.call} cannot be called (got {type(function).__name__})")
    described = {"type": "python", "call": settings.call, "search": settings.search}
    return CallableTarget(name, ask, search, described=described, response=settings.response)


def resolve(path: str, name: str) -> Any:
    """Return what `module:attr` names. Raises SettingsError that says what is missing."""
    module_name, colon, attributes = path.partition(":")
    if not colon or not module_name or not attributes:
        raise _unusable(name, f"not an import path (got {path!r}; expected module:attr)")
    try:
        found: Any = importlib.import_module(module_name)
        for attribute in attributes.split("."):
            found = getattr(found, attribute)
    except Exception as error:  # a module may raise anything while it is imported
        raise _unusable(name, f"{path} cannot be imported: {type(error).__name__}: {error}") from error
    return found


def _unusable(name: str, message: str) -> SettingsError:
    return SettingsError([Problem("", None, f"targets.{name}.call", message, "E_TARGET")])


def _arguments(function: Callable[..., Any], call: Call) -> tuple[list[Any], dict[str, Any]]:
    """Fill the parameters that a function names; a first one of another name is given the question."""
    case = call.case
    known = dict(
        zip(_ARGUMENTS, (case.question, case.question, case, case.id, user_of(case), call.k, case.history), strict=True)
    )
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return [case.question], {}
    named = {each.name: known[each.name] for each in parameters if each.name in known and each.kind != each.VAR_KEYWORD}
    first = parameters[0] if parameters else None
    if (
        first is not None
        and first.name not in known
        and first.kind in (first.POSITIONAL_ONLY, first.POSITIONAL_OR_KEYWORD)
    ):
        return [case.question], named
    positional_only = [each.name for each in parameters if each.kind == each.POSITIONAL_ONLY and each.name in named]
    return [named.pop(each) for each in positional_only], named


async def _in_thread(function: Callable[..., Any], positional: list[Any], named: dict[str, Any]) -> Any:
    """Run in a daemon thread: one that hangs must not keep the process from ending, as a pool's thread would."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()
    context = contextvars.copy_context()

    def settle(value: Any, error: BaseException | None) -> None:
        if not future.done():
            future.set_exception(error) if error is not None else future.set_result(value)

    def work() -> None:
        value: Any = None
        error: BaseException | None = None
        try:
            value = context.run(function, *positional, **named)
        except BaseException as raised:  # noqa: BLE001  # SystemExit must not be lost in the thread
            plain = isinstance(raised, Exception) and not isinstance(raised, StopIteration)  # no future holds that one
            error = raised if plain else RuntimeError(repr(raised))
        with suppress(RuntimeError):  # the loop has closed: nobody waits any more
            loop.call_soon_threadsafe(settle, value, error)

    threading.Thread(target=work, name="assay-target", daemon=True).start()
    return await future
