"""Kinds of a service as its servers tell them, and values in the shapes that they take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping, Sequence

import numpy as np

from . import _native
from ._errors import ServiceError
from ._html import plain
from ._types import DType, as_array, as_dtype, fill

#: Lengths of axes; ``None`` is any.
Axes = tuple["int | None", ...]


@dataclass(frozen=True)
class KindInput:
    """An input of a kind.

    Attributes:
        name: Name by which its value is given.
        dtype: Type of its elements; ``None`` where this version does not know it.
        shape: Lengths of the axes, of which ``None`` is any. Where each submission is one row of a batch, the first is 1, and values may be
            given without it.
    """

    name: str
    dtype: DType | None
    shape: Axes


@dataclass(frozen=True)
class KindOutput:
    """An output of a kind.

    Attributes:
        name: Name of the output.
        dtype: Type of its elements; ``None`` where this version does not know it.
        shape: Lengths of the axes, of which ``None`` is any.
        receivers: Who gets it, in the servers' words.
    """

    name: str
    dtype: DType | None
    shape: Axes
    receivers: str


@dataclass(frozen=True)
class Kind:
    """A kind of jobs or requests, as all servers of a service have it.

    Attributes:
        name: Name by which it is asked for.
        program: Digest of its program, 64 hexadecimal digits.
        requests: Whether it answers requests at once (:meth:`Service.requests`); if not, it computes on submissions.
        request_bytes: Bytes of a request to each server; 0 of a kind that takes submissions.
        answer_bytes: Bytes of each server's answer; 0 of a kind that takes submissions.
        inputs: Values that a submission has.
        outputs: Values that a job gives.
        submitters: Who may submit, in the servers' words.
        anonymous: Whether clients may submit that show neither a key nor a token.
        most_bytes: Most bytes that a submission has for a server.
    """

    name: str
    program: str
    requests: bool
    request_bytes: int
    answer_bytes: int
    inputs: tuple[KindInput, ...]
    outputs: tuple[KindOutput, ...]
    submitters: str
    anonymous: bool
    most_bytes: int


def _typed(text: str) -> DType | None:
    try:
        return as_dtype(text)
    except TypeError:
        return None


def kind_of(parts: tuple[Any, ...]) -> Kind:
    """A kind as the native module tells it."""
    name, program, requests, inputs, outputs, submitters, anonymous, most_bytes = parts
    request_bytes, answer_bytes = requests or (0, 0)
    return Kind(
        name, program, requests is not None, request_bytes, answer_bytes,
        tuple(KindInput(one, _typed(dtype), tuple(shape)) for one, dtype, shape in inputs),
        tuple(KindOutput(one, _typed(dtype), tuple(shape), to) for one, dtype, shape, to in outputs),
        submitters, anonymous, most_bytes,
    )


def find(kinds: Sequence[Kind], name: str) -> Kind:
    """The kind of a name.

    Raises:
        ServiceError: the servers have none.
    """
    for kind in kinds:
        if kind.name == name:
            return kind
    there = ", ".join(f"`{kind.name}`" for kind in kinds) or "none"
    raise ServiceError(f"the servers have no kind `{plain(str(name))}`; they have {there}", 2, None)


def _fits(axes: Sequence[int | None], found: tuple[int, ...]) -> bool:
    return len(axes) == len(found) and all(axis in (None, length) for axis, length in zip(axes, found))


def _words(typed: DType, axes: Sequence[int | None]) -> str:
    return f"{typed.name}[{', '.join('any' if axis is None else str(axis) for axis in axes)}]"


def _array(kind: Kind, port: KindInput, value: Any) -> tuple[Any, DType]:
    if port.dtype is None:
        text = f"kind `{kind.name}`: the type of input `{port.name}` is none that this version knows: use the version that the servers use"
        raise ServiceError(text, 5, None)
    try:
        return as_array(value, port.dtype), port.dtype
    except ValueError as error:
        raise ValueError(f"{port.name}: {error}") from None


def _filled(port: KindInput, array: Any, dtype: DType) -> _native.Values:
    elements = _native.Values(dtype.name, list(array.shape))
    try:
        fill(elements, array, dtype)
    except ValueError as error:
        raise ValueError(f"{port.name}: {error}") from None
    return elements


def _named(kind: Kind, values: Mapping[str, Any]) -> None:
    """Checks that there is a value for each input, and no other."""
    if kind.requests:
        raise ServiceError(f"kind `{kind.name}` is of requests, and not of submissions: use requests()", 2, None)
    known = [port.name for port in kind.inputs]
    for name in values:
        if name not in known:
            raise TypeError(f"kind {kind.name!r} has no input {name!r}; it has {', '.join(known)}")
    for port in kind.inputs:
        if port.name not in values:
            typed = _words(port.dtype, port.shape) if port.dtype is not None else "a value"
            raise TypeError(f"kind {kind.name!r} needs {port.name}=...: {typed}")


def one_row(kind: Kind, values: Mapping[str, Any]) -> list[tuple[str, _native.Values]]:
    """Values of one submission as the native module takes them."""
    _named(kind, values)
    given = []
    for port in kind.inputs:
        array, dtype = _array(kind, port, values[port.name])
        if not _fits(port.shape, array.shape):
            if not (port.shape and port.shape[0] == 1 and _fits(port.shape[1:], array.shape)):
                raise ValueError(f"{port.name} has shape {list(array.shape)}; kind {kind.name!r} takes {_words(dtype, port.shape)}")
            array = array[np.newaxis]
        given.append((port.name, _filled(port, array, dtype)))
    return given


def all_rows(kind: Kind, values: Mapping[str, Any]) -> tuple[list[tuple[str, _native.Values, list[int]]], int]:
    """Values of a submission for each place along their first axes, with the shape that each gets, and how many there are."""
    _named(kind, values)
    given: list[tuple[str, _native.Values, list[int]]] = []
    count = -1
    for port in kind.inputs:
        array, dtype = _array(kind, port, values[port.name])
        one = array.shape[1:]
        if array.ndim and not _fits(port.shape, one) and port.shape and port.shape[0] == 1:
            one = (1, *one)
        if not array.ndim or not _fits(port.shape, one):
            raise ValueError(
                f"{port.name} has shape {list(array.shape)}; kind {kind.name!r} takes {_words(dtype, port.shape)} of each submission, "
                "and the first axis counts submissions"
            )
        if count not in (-1, len(array)):
            raise ValueError(f"{port.name} has {len(array)} places along its first axis, and {given[0][0]} has {count}: give as many to all")
        count = len(array)
        given.append((port.name, _filled(port, array, dtype), list(one)))
    if count < 0:
        raise ValueError(f"kind {kind.name!r} has no inputs by which submissions could be counted")
    return given, count
