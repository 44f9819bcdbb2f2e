"""Columns through the Arrow C stream interface, without a package: pyarrow, Polars, pandas and DuckDB read it.

Format and life cycle are those of the Arrow C data interface: a consumer calls `release` of what it was given; until
then the buffers are kept. A column holds texts (`u`) or numbers (`g`), each with nulls.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np

STREAM_NAME = b"arrow_array_stream"
_NULLABLE = 2  # ARROW_FLAG_NULLABLE

_unreleased: dict[int, list[Any]] = {}
"""What consumers have not released yet, by the number in its `private_data`."""
_numbers = count(1)


class _Schema(ctypes.Structure):
    """`struct ArrowSchema`."""


class _Array(ctypes.Structure):
    """`struct ArrowArray`."""


class _Stream(ctypes.Structure):
    """`struct ArrowArrayStream`."""


_ReleaseSchema = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Schema))
_ReleaseArray = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Array))
_GetSchema = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Schema))
_GetNext = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Array))
_GetError = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(_Stream))
_ReleaseStream = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Stream))
_DestroyCapsule = ctypes.CFUNCTYPE(None, ctypes.c_void_p)

_Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(_Schema))),
    ("dictionary", ctypes.POINTER(_Schema)),
    ("release", _ReleaseSchema),
    ("private_data", ctypes.c_void_p),
]
_Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
    ("dictionary", ctypes.POINTER(_Array)),
    ("release", _ReleaseArray),
    ("private_data", ctypes.c_void_p),
]
_Stream._fields_ = [
    ("get_schema", _GetSchema),
    ("get_next", _GetNext),
    ("get_last_error", _GetError),
    ("release", _ReleaseStream),
    ("private_data", ctypes.c_void_p),
]


_streams: dict[int, _Stream] = {}
"""The structures that capsules point to, by address: a consumer may move the contents and leave the structure."""


class ArrowTable:
    """Columns of equal length, with `__arrow_c_stream__`: `pyarrow.table(…)`, `polars.DataFrame(…)`."""

    def __init__(self, columns: Mapping[str, Sequence[Any]]) -> None:
        self.columns = {name: list(values) for name, values in columns.items()}

    def __len__(self) -> int:
        return max(map(len, self.columns.values()), default=0)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return a capsule with a stream of one batch. Another schema than that of the columns cannot be requested."""
        stream = _Stream()
        _keep(stream, [self.columns, [False]])
        _streams[ctypes.addressof(stream)] = stream
        stream.get_schema, stream.get_next = _GET_SCHEMA, _GET_NEXT
        stream.get_last_error, stream.release = _GET_LAST_ERROR, _RELEASE_STREAM
        new_capsule = ctypes.pythonapi.PyCapsule_New
        new_capsule.restype = ctypes.py_object
        new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, _DestroyCapsule]
        capsule: object = new_capsule(ctypes.addressof(stream), STREAM_NAME, _DESTROY_CAPSULE)
        return capsule


def _keep(structure: Any, objects: list[Any]) -> None:
    """Keep objects until the consumer releases the structure."""
    number = next(_numbers)
    _unreleased[number] = objects
    structure.private_data = number


def _is_text(values: Sequence[Any]) -> bool:
    return any(isinstance(value, str) for value in values) or all(value is None for value in values)


def _fill_schema(schema: Any, format_: bytes, name: str, children: Sequence[Any] = ()) -> None:
    pointers = (ctypes.POINTER(_Schema) * len(children))(*(ctypes.pointer(child) for child in children))
    encoded = name.encode()
    _keep(schema, [encoded, pointers, children])
    schema.format, schema.name, schema.metadata = format_, encoded, None
    schema.flags, schema.n_children = _NULLABLE if not children else 0, len(children)
    schema.children = ctypes.cast(pointers, ctypes.POINTER(ctypes.POINTER(_Schema)))
    schema.dictionary = ctypes.POINTER(_Schema)()
    schema.release = _RELEASE_SCHEMA


def _fill_array(array: Any, length: int, nulls: int, buffers: Sequence[Any], children: Sequence[Any] = ()) -> None:
    """`buffers` are numpy arrays, or None for a buffer that is not needed."""
    addresses = (ctypes.c_void_p * len(buffers))(*(None if b is None else b.ctypes.data for b in buffers))
    pointers = (ctypes.POINTER(_Array) * len(children))(*(ctypes.pointer(child) for child in children))
    _keep(array, [addresses, buffers, pointers, children])
    array.length, array.null_count, array.offset = length, nulls, 0
    array.n_buffers, array.n_children = len(buffers), len(children)
    array.buffers = ctypes.cast(addresses, ctypes.POINTER(ctypes.c_void_p))
    array.children = ctypes.cast(pointers, ctypes.POINTER(ctypes.POINTER(_Array)))
    array.dictionary = ctypes.POINTER(_Array)()
    array.release = _RELEASE_ARRAY


def _build_array(values: Sequence[Any]) -> Any:
    array = _Array()
    present = np.array([value is not None for value in values], dtype=np.bool_)
    validity = np.packbits(present, bitorder="little") if len(values) else np.zeros(1, dtype=np.uint8)
    nulls = len(values) - int(present.sum())
    if _is_text(values):
        encoded = [b"" if value is None else value.encode("utf-8", "surrogatepass") for value in values]
        offsets = np.zeros(len(values) + 1, dtype=np.int32)
        offsets[1:] = np.cumsum([len(text) for text in encoded])
        data = np.frombuffer(b"".join(encoded) or b"\0", dtype=np.uint8)
        _fill_array(array, len(values), nulls, [validity, offsets, data])
    else:
        numbers = np.array([0.0 if value is None else value for value in values], dtype=np.float64)
        _fill_array(array, len(values), nulls, [validity, numbers])
    return array


# ── what consumers call ──────────────────────────────────────────────────────────────────────────────────────────────


def _get_schema(stream: Any, schema: Any) -> int:
    columns = _unreleased[stream.contents.private_data][0]
    children = []
    for name, values in columns.items():
        child = _Schema()
        _fill_schema(child, b"u" if _is_text(values) else b"g", name)
        children.append(child)
    _fill_schema(schema.contents, b"+s", "", children)
    return 0


def _get_next(stream: Any, array: Any) -> int:
    columns, is_finished = _unreleased[stream.contents.private_data]
    if is_finished[0]:
        array.contents.release = _ReleaseArray()  # the end of the stream is an array that is released
        return 0
    is_finished[0] = True
    children = [_build_array(values) for values in columns.values()]
    length = max(map(len, columns.values()), default=0)
    _fill_array(array.contents, length, 0, [None], children)
    return 0


def _get_last_error(_: Any) -> None:
    return None


def _release_schema(schema: Any) -> None:
    _release_children(schema.contents)
    schema.contents.release = _ReleaseSchema()


def _release_array(array: Any) -> None:
    _release_children(array.contents)
    array.contents.release = _ReleaseArray()


def _release_children(structure: Any) -> None:
    for index in range(structure.n_children):
        child = structure.children[index]
        if child.contents.release:
            child.contents.release(child)
    _unreleased.pop(structure.private_data, None)


def _release_stream(stream: Any) -> None:
    structure = stream.contents
    _unreleased.pop(structure.private_data, None)
    structure.release = _ReleaseStream()


def _destroy_capsule(capsule: int) -> None:
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p]
    address = get_pointer(capsule, STREAM_NAME)
    stream = _streams.pop(address)
    if stream.release:
        stream.release(ctypes.pointer(stream))


_GET_SCHEMA, _GET_NEXT, _GET_LAST_ERROR = _GetSchema(_get_schema), _GetNext(_get_next), _GetError(_get_last_error)
_RELEASE_SCHEMA, _RELEASE_ARRAY = _ReleaseSchema(_release_schema), _ReleaseArray(_release_array)
_RELEASE_STREAM, _DESTROY_CAPSULE = _ReleaseStream(_release_stream), _DestroyCapsule(_destroy_capsule)
