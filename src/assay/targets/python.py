"""A target in this process: a plain or async function that returns an Observation, a dict or the answer as text."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from difflib import get_close_matches
from typing import Any

from assay.calls.interfaces import CallError, TargetCall, TargetOperation
from assay.calls.plugins import import_object
from assay.calls.raised_errors import make_exception_error
from assay.calls.target_kinds import TargetRequest
from assay.calls.templates import encode_user
from assay.formats.foreign.chunk_shapes import are_plainly_texts
from assay.formats.foreign.plain_values import make_plain
from assay.formats.foreign.reply_shapes import RANKING_KEYS, STAGE_KEYS, STAGE_LIST_KEYS
from assay.records.errors import MissingExtraError, Problem, SettingsError, shorten_repr
from assay.records.golden_set import Case
from assay.records.observations import Observation
from assay.records.settings import PythonTargetSettings, ResponseMapping
from assay.targets.reply import read_reply

MAX_NAMED_FOLDERS = 2
"""Folders of the search path that an error names: those before the standard library."""


class CallableTarget:
    """Calls `ask` and `search`. A plain function runs in its own thread, which keeps running after a timeout."""

    def __init__(
        self,
        name: str,
        ask: Callable[..., Any] | None,
        search: Callable[..., Any] | None = None,
        *,
        described: dict[str, Any] | None = None,
        response: ResponseMapping | None = None,
    ) -> None:
        self.name = name
        functions: dict[TargetOperation, Callable[..., Any] | None] = {"search": search, "ask": ask}
        self._functions = {name: function for name, function in functions.items() if function is not None}
        self.operations: tuple[TargetOperation, ...] = tuple(self._functions)
        self._described = described or {"type": "python"}
        self._response = response or ResponseMapping()

    async def identity(self) -> dict[str, Any]:
        """Return the import paths of the functions."""
        return self._described

    async def observe(self, call: TargetCall) -> Observation:
        """Call the function. Raises CallError with code `exception` for any exception of the function."""
        function = self._functions[call.operation]
        try:
            positional, named = _build_arguments(function, call)
            if inspect.iscoroutinefunction(function):
                value = await function(*positional, **named)
            else:
                value = await _run_in_thread(function, positional, named)
                if inspect.isawaitable(value):
                    value = await value
            value = await _collect_parts(value)
        except (CallError, asyncio.CancelledError):
            raise
        except Exception as error:  # the function is not ours: anything that it raises is a failure of the target
            raise make_exception_error(error) from error
        if call.operation == "ask":
            value = _open_pair(value, call)
        return read_reply(make_plain(value), call, self._response)

    async def aclose(self) -> None:
        """Do nothing: there is nothing to close."""


async def _collect_parts(value: Any) -> Any:
    """Return what a generator gives: the text of its parts, as a model that streams returns them, or its only item."""
    if inspect.isasyncgen(value):
        parts = [part async for part in value]
    elif inspect.isgenerator(value):
        parts = await _run_in_thread(list, [value], {})
    else:
        return value
    texts = [part for part in parts if isinstance(part, str)]
    if len(texts) == len(parts):
        return "".join(texts)
    if len(parts) == 1:
        return parts[0]
    other = next(part for part in parts if not isinstance(part, str))
    expected = "expected the parts of the answer as texts, or one dictionary with answer"
    raise CallError("schema", f"a generator of other things than texts (got {shorten_repr(other)}; {expected})")


def _open_pair(value: Any, call: TargetCall) -> Any:
    """Return a pair of an answer and its documents, in either order, as an object; anything else as it is.

    The documents are objects, ids or texts. An object next to the answer has its other members.
    Raises CallError for two texts, of which either could be the answer.
    """
    if type(value) not in (list, tuple) or len(value) != 2:
        return value
    answer, documents = value if isinstance(value[0], str) else reversed(value)
    if not isinstance(answer, str):
        return value
    if isinstance(documents, str) and type(value) is tuple:
        expected = 'expected (answer, [context, …]), or {"answer": …, "contexts": […]}'
        raise CallError(
            "schema", f"two texts, either of which could be the answer (got {shorten_repr(value)}; {expected})"
        )
    if isinstance(documents, Mapping) and "answer" not in documents and not _RANKING_MEMBERS.isdisjoint(documents):
        return {"answer": answer, **documents}
    if not isinstance(documents, (list, tuple)):
        return value
    texts = [document for document in documents if isinstance(document, str)]
    if texts and len(texts) == len(documents) and are_plainly_texts(texts, _list_expected_ids(call.case)):
        call.notices.add("a text and a list of texts are read as the answer and its contexts")
        return {"answer": answer, "contexts": documents}
    return {"answer": answer, "documents": documents}


_RANKING_MEMBERS = frozenset((*RANKING_KEYS, *STAGE_KEYS, *STAGE_LIST_KEYS, "context", "stages"))


def _list_expected_ids(case: Case) -> set[str]:
    """Return the ids of chunks that a case names as evidence."""
    return {str(selector["chunk_id"]) for unit in case.evidence for selector in unit.any_of if "chunk_id" in selector}


_NO_PARAMETER = "has no parameter, so that it would not be told the question (expected one, such as question)"
_GIVEN = ("question", "query", "case", "case_id", "user", "k", "history")
"""The parameters that a function is given by their names."""


def make_python_target(name: str, settings: PythonTargetSettings) -> CallableTarget:
    """Return the target of an import path. Raises SettingsError if it cannot be imported or called."""
    imported = import_target_object(settings.call, name)
    ask, search = imported, None
    if not inspect.isroutine(imported) and (hasattr(imported, "ask") or hasattr(imported, "search")):
        ask, search = getattr(imported, "ask", None), getattr(imported, "search", None)
        if inspect.isclass(imported) and (_needs_instance(imported, "ask") or _needs_instance(imported, "search")):
            raise _target_error(name, f"{settings.call} is a class (expected an instance of it, or a function)")
    if settings.search is not None:
        search = import_target_object(settings.search, name)
    for function in (ask, search):
        if function is not None and not callable(function):
            raise _target_error(name, f"{settings.call} cannot be called (got {type(function).__name__})")
        fault = describe_unfit_parameters(function)
        if fault:
            raise _target_error(name, f"{getattr(function, '__name__', settings.call)} {fault}")
    described = {"type": "python", "call": settings.call, "search": settings.search}
    return CallableTarget(name, ask, search, described=described, response=settings.response)


def _needs_instance(owner: type, method: str) -> bool:
    """Return whether a method of a class takes an instance first, which would be given the question."""
    return inspect.isfunction(inspect.getattr_static(owner, method, None))


def make_target(request: TargetRequest) -> CallableTarget:
    """Make the target of a settings file or of `module:attr` on the command line."""
    return make_python_target(request.name, request.settings)


def _suggest_attribute(error: Exception) -> str:
    """Return a hint at the attribute that was meant; "" for other errors, and where nothing is like it."""
    if not isinstance(error, AttributeError) or not isinstance(error.name, str) or error.obj is None:
        return ""
    names = [name for name in dir(error.obj) if not name.startswith("_")]
    close_matches = get_close_matches(error.name, names, n=1)
    return f" (did you mean {close_matches[0]!r}?)" if close_matches else ""


_EXTRA_BY_MODULE = {"langchain_core": "langchain", "llama_index": "llamaindex", "llama_index.core": "llamaindex"}
"""Modules that only an extra brings and that a system under test imports itself."""


def import_target_object(path: str, name: str) -> Any:
    """Import the object that `module:attr` names. Raises SettingsError if there is none.

    Where the module imports a framework that is not installed and that an extra brings, it is MissingExtraError.
    """
    module_name, colon, attributes = path.partition(":")
    if not colon or not module_name or not attributes:
        raise _target_error(name, f"not an import path (got {path!r}; expected module:attr)")
    try:
        return import_object(path)
    except Exception as error:  # a module may raise anything while it is imported
        if isinstance(error, ModuleNotFoundError) and error.name in _EXTRA_BY_MODULE:
            raise MissingExtraError(path, _EXTRA_BY_MODULE[error.name]) from error
        message = f"{path} cannot be imported: {type(error).__name__}: {error}"
        if isinstance(error, ModuleNotFoundError) and error.name == module_name.partition(".")[0]:
            folders = ", ".join(folder or "." for folder in sys.path[:MAX_NAMED_FOLDERS])
            message += f" (searched {folders} and the installed packages; add its folder to PYTHONPATH)"
        message += _suggest_attribute(error)
        raise _target_error(name, message) from error


def _target_error(name: str, message: str) -> SettingsError:
    return SettingsError([Problem("", None, f"targets.{name}.call", message, "E_TARGET")])


def describe_unfit_parameters(function: object) -> str:
    """Return why a function cannot be asked: it has no parameter, or one that nothing fills; "" where it can.

    >>> describe_unfit_parameters(lambda question, top_k: "yes").partition(" (")[0]
    'needs top_k too, which nothing gives it'
    >>> describe_unfit_parameters(lambda text, user, top_k=5: "yes"), describe_unfit_parameters(lambda *values: "yes")
    ('', '')
    """
    if not callable(function):
        return ""
    try:
        named = inspect.signature(function).parameters
        # What wraps a function may fill its parameters: a connection, a value that is replaced in a test.
        parameters = list(inspect.signature(function, follow_wrapped=False).parameters.values())
    except (TypeError, ValueError):  # a function of C without a signature
        return ""
    if not named or not parameters:
        return _NO_PARAMETER
    first, *others = parameters
    kinds = (first.POSITIONAL_ONLY, first.POSITIONAL_OR_KEYWORD)
    asked = others if first.kind in kinds else parameters
    unfilled = [
        own.name
        for own in asked
        if own.default is own.empty and own.name not in _GIVEN and own.kind in (*kinds, own.KEYWORD_ONLY)
    ]
    expected = f"expected a default, or one of {', '.join(_GIVEN)}"
    return f"needs {' and '.join(unfilled)} too, which nothing gives it ({expected})" if unfilled else ""


def _build_arguments(function: Callable[..., Any], call: TargetCall) -> tuple[list[Any], dict[str, Any]]:
    """Return the arguments for the parameters that a function names; a first one of another name gets the question."""
    case = call.case
    values: dict[str, Any] = {
        "question": case.question,
        "query": case.question,
        "case": case,
        "case_id": case.id,
        "user": encode_user(case),
        "k": call.k,
        "history": case.history,
    }
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return [case.question], {}
    named: dict[str, Any] = {}
    for parameter in parameters:
        if parameter.name in values and parameter.kind != parameter.VAR_KEYWORD:
            named[parameter.name] = values[parameter.name]
    if parameters:
        first = parameters[0]
        is_positional = first.kind in (first.POSITIONAL_ONLY, first.POSITIONAL_OR_KEYWORD)
        if is_positional and first.name not in values:
            return [case.question], named
    positional_only = [
        parameter.name
        for parameter in parameters
        if parameter.kind == parameter.POSITIONAL_ONLY and parameter.name in named
    ]
    return [named.pop(name) for name in positional_only], named


async def _run_in_thread(function: Callable[..., Any], positional: list[Any], named: dict[str, Any]) -> Any:
    """Run a function in a daemon thread: unlike a thread of a pool, one that hangs does not keep the process alive."""
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
        except BaseException as raised:  # noqa: BLE001  # SystemExit must not get lost in the thread
            # A future accepts neither StopIteration nor exceptions that end the process.
            is_plain = isinstance(raised, Exception) and not isinstance(raised, StopIteration)
            error = raised if is_plain else RuntimeError(repr(raised)).with_traceback(raised.__traceback__)
        with suppress(RuntimeError):  # the loop is closed, so nobody waits any more
            loop.call_soon_threadsafe(settle, value, error)

    threading.Thread(target=work, name="assay-target", daemon=True).start()
    return await future
