"""Elements that move, and values put together and taken apart: NumPy's functions that compute nothing."""

from __future__ import annotations

import functools
from typing import Any, Sequence

from .._errors import refuse
from .._secret import FUNCTIONS, Secret, apply, as_secret, fitted, together, trace_of
from .base import Function, implements, np


# Elements that move


def _move(name: str) -> None:
    function = getattr(np, name)
    FUNCTIONS[function] = lambda value, *args, **kwargs: value.moved(lambda places: function(places, *args, **kwargs))


for _name in (
    "repeat tile roll rot90 flip fliplr flipud diagonal take swapaxes moveaxis rollaxis squeeze expand_dims broadcast_to delete "
    "resize compress extract trim_zeros".split()
):
    if _name not in ("trim_zeros", "extract", "compress"):
        _move(_name)


def _view(name: str) -> None:
    function = getattr(np, name)
    FUNCTIONS[function] = lambda value, *args, **kwargs: value._viewed(lambda shadow: function(shadow, *args, **kwargs))


for _name in ("swapaxes", "moveaxis", "rollaxis", "squeeze", "expand_dims", "broadcast_to", "diagonal", "flip", "fliplr", "flipud"):
    _view(_name)

FUNCTIONS[np.transpose] = lambda value, axes=None: value.transpose(axes)
FUNCTIONS[np.permute_dims if hasattr(np, "permute_dims") else np.transpose] = FUNCTIONS[np.transpose]
if hasattr(np, "matrix_transpose"):
    FUNCTIONS[np.matrix_transpose] = lambda value: np.swapaxes(value, -1, -2)
FUNCTIONS[np.reshape] = lambda value, shape=None, order="C", **kwargs: value.reshape(
    shape if shape is not None else kwargs["newshape"], order=order
)


@implements(np.ravel)
def ravel(value: Secret, order: str = "C") -> Secret:
    return value.reshape(-1, order=order)


@implements(np.compress)
def compress(condition: Any, value: Secret, axis: int | None = None) -> Secret:
    if isinstance(condition, Secret):
        refuse("np.compress by a secret condition: how many there are would be seen; take np.where(condition, array, 0)")
    return value.moved(lambda places: np.compress(condition, places, axis))


FUNCTIONS[np.extract] = lambda condition, value: compress(np.ravel(condition), value)


@implements(np.atleast_1d)
def atleast_1d(*values: Any) -> Any:
    made = [value.reshape(1) if not value.ndim else value for value in values]
    return made[0] if len(made) == 1 else tuple(made)


@implements(np.atleast_2d)
def atleast_2d(*values: Any) -> Any:
    made = [value.reshape((1,) * (2 - value.ndim) + value.shape) for value in values]
    return made[0] if len(made) == 1 else tuple(made)


@implements(np.atleast_3d)
def atleast_3d(*values: Any) -> Any:
    made = [value.moved(np.atleast_3d) for value in values]
    return made[0] if len(made) == 1 else tuple(made)


# Values put together and taken apart


def _alike(values: Sequence[Any]) -> list[Secret]:
    trace = trace_of(values)
    first = next(value for value in values if isinstance(value, Secret))
    made = [as_secret(trace, value, first) for value in values]
    for value in made[1:]:
        made[0], _ = together(trace, made[0], value)
    return [together(trace, made[0], value)[1] for value in made]


@implements(np.concatenate)
def concatenate(values: Sequence[Any], axis: int | None = 0, **_: Any) -> Secret:
    parts = _alike(list(values))
    if axis is None:
        parts, axis = [part.reshape(-1) for part in parts], 0
    ndim = parts[0].ndim
    if any(part.ndim != ndim for part in parts) or not ndim:
        raise ValueError("concatenate: all values must have as many axes, one at least")
    return parts[0] if len(parts) == 1 else apply("concat", parts, [axis % ndim])


@implements(np.stack)
def stack(values: Sequence[Any], axis: int = 0, **_: Any) -> Secret:
    parts = _alike(list(values))
    if len({part.shape for part in parts}) > 1:
        raise ValueError("stack: all values must have one shape")
    return concatenate([np.expand_dims(part, axis) for part in parts], axis % (parts[0].ndim + 1))


@implements(np.vstack)
def vstack(values: Sequence[Any], **_: Any) -> Secret:
    return concatenate([atleast_2d(value) if isinstance(value, Secret) else np.atleast_2d(value) for value in values])


@implements(np.hstack)
def hstack(values: Sequence[Any], **_: Any) -> Secret:
    parts = [np.atleast_1d(value) for value in values]
    return concatenate(parts, 0 if parts[0].ndim == 1 else 1)


@implements(np.dstack)
def dstack(values: Sequence[Any]) -> Secret:
    return concatenate([np.atleast_3d(value) for value in values], 2)


@implements(np.column_stack)
def column_stack(values: Sequence[Any]) -> Secret:
    return concatenate([value if np.ndim(value) > 1 else np.reshape(value, (-1, 1)) for value in values], 1)


@implements(np.append)
def append(value: Any, values: Any, axis: int | None = None) -> Secret:
    return concatenate([np.ravel(value), np.ravel(values)] if axis is None else [value, values], axis or 0)


@implements(np.insert)
def insert(value: Secret, index: Any, values: Any, axis: int | None = None) -> Secret:
    if axis is None:
        value, axis = value.reshape(-1), 0
    if np.ndim(index):
        refuse("np.insert takes one public place")
    at = int(index) % (value.shape[axis] + 1)
    new = as_secret(value._trace, values, value)
    shape = value.shape[:axis] + (-1,) + value.shape[axis + 1 :]
    new = new.reshape(-1) if value.ndim == 1 else np.broadcast_to(new, tuple(1 if one == -1 else one for one in shape))
    head, tail = (np.take(value, range(*span), axis) for span in ((0, at), (at, value.shape[axis])))
    return concatenate([head, new, tail], axis)


def _split(name: str) -> None:
    function = getattr(np, name)

    def split(value: Secret, *args: Any, **kwargs: Any) -> list[Secret]:
        def part(at: int, shadow: Any) -> Any:
            return function(shadow, *args, **kwargs)[at]

        count = len(function(np.zeros(value.shape, dtype=np.int8), *args, **kwargs))
        return [value._viewed(functools.partial(part, at)) for at in range(count)]

    FUNCTIONS[function] = split


for _name in ("split", "array_split", "hsplit", "vsplit", "dsplit"):
    _split(_name)


@implements(np.broadcast_arrays)
def broadcast_arrays(*values: Any, **_: Any) -> tuple[Secret, ...]:
    trace = trace_of(values)
    return tuple(fitted([as_secret(trace, value) for value in values]))


@implements(np.meshgrid)
def meshgrid(*values: Any, indexing: str = "xy", **_: Any) -> tuple[Secret, ...]:
    trace = trace_of(values)
    def grid(at: int, places: Any) -> Any:
        others = [np.zeros(np.size(one), dtype=np.int64) for one in values]
        others[at] = places
        return np.meshgrid(*others, indexing=indexing)[at]

    made = []
    for at, value in enumerate(values):
        own = as_secret(trace, value)
        made.append(own.moved(functools.partial(grid, at)))
    return tuple(made)


def _filled(fill: Any) -> Function:
    def like(value: Secret, *args: Any, **kwargs: Any) -> Any:
        number = args[0] if fill is None else fill
        return np.full(value.shape, number, dtype=value.dtype.numpy)

    return like


FUNCTIONS[np.zeros_like], FUNCTIONS[np.ones_like] = _filled(0), _filled(1)
FUNCTIONS[np.empty_like], FUNCTIONS[np.full_like] = _filled(0), _filled(None)
FUNCTIONS[np.copy] = lambda value, *args, **kwargs: value
FUNCTIONS[np.shape] = lambda value: value.shape
FUNCTIONS[np.ndim] = lambda value: value.ndim
FUNCTIONS[np.size] = lambda value, axis=None: value.size if axis is None else value.shape[axis]
FUNCTIONS[np.real] = FUNCTIONS[np.conj] if np.conj in FUNCTIONS else (lambda value: value)
FUNCTIONS[np.iscomplexobj] = lambda value: False
FUNCTIONS[np.isrealobj] = lambda value: True


@implements(np.pad)
def pad(value: Secret, width: Any, mode: str = "constant", constant_values: Any = 0, **kwargs: Any) -> Secret:
    if mode != "constant":
        return value.moved(lambda places: np.pad(places, width, mode, **kwargs))
    if np.ndim(constant_values):
        refuse("np.pad takes one number to pad with")
    places = np.pad(np.arange(value.size).reshape(value.shape), width, constant_values=value.size)
    flat = concatenate([value.reshape(-1), np.full(1, constant_values, dtype=value.dtype.numpy)])
    return flat.moved(lambda _: places)
