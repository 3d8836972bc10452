"""NumPy's functions on secrets."""

from __future__ import annotations

import functools
from typing import Any, Callable, Sequence, TypeVar

import numpy

from ._errors import refuse
from ._secret import (
    FUNCTIONS,
    UFUNCS,
    Axis,
    Secret,
    apply,
    apply_all,
    as_secret,
    constant,
    convert,
    fitted,
    together,
    trace_of,
)
from ._types import bool_, fixed, int64, uint32, uint64

#: NumPy, whose types do not know secrets.
np: Any = numpy

Function = Callable[..., Any]
AnyFunction = TypeVar("AnyFunction", bound=Function)


def implements(*functions: Any) -> Callable[[AnyFunction], AnyFunction]:
    """Makes a function what NumPy's functions do with secrets."""

    def register(function: AnyFunction) -> AnyFunction:
        for one in functions:
            FUNCTIONS[one] = function
        return function

    return register


def _floats(value: Secret) -> Secret:
    return value if value.dtype.is_fixed else convert(value, fixed(64, 16))


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


# Elements along axes


def _axes(axis: Axis, ndim: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(ndim))
    axes = (axis,) if isinstance(axis, (int, np.integer)) else tuple(axis)
    for one in axes:
        if not -ndim <= one < ndim:
            raise np.exceptions.AxisError(int(one), ndim)
    return tuple(sorted(int(one) % ndim for one in axes))


def _merged(value: Secret, axis: Axis) -> tuple[Secret, tuple[int, ...], tuple[int, ...]]:
    """The value with the axes that go as its last one; the axes that stay, and the shape with those that go of length 1."""
    axes = _axes(axis, value.ndim)
    rest = tuple(at for at in range(value.ndim) if at not in axes)
    kept = tuple(1 if at in axes else length for at, length in enumerate(value.shape))
    shape = tuple(value.shape[at] for at in rest)
    length = int(np.prod([value.shape[at] for at in axes], dtype=np.int64))
    order = rest + axes
    moved = value if order == tuple(range(value.ndim)) else value.transpose(order)
    return moved.reshape(shape + (length,)), shape, kept


def _reduced(value: Secret, operation: str, axis: Axis, keepdims: bool) -> Secret:
    if isinstance(axis, (int, np.integer)) and value.ndim:
        (along,) = _axes(axis, value.ndim)
        made = apply(operation, [value], [along])
        return made.reshape(value.shape[:along] + (1,) + value.shape[along + 1 :]) if keepdims else made
    merged, shape, kept = _merged(value, axis)
    made = apply(operation, [merged], [merged.ndim - 1])
    return made.reshape(kept if keepdims else shape)


def _no_more(kwargs: dict[str, Any], name: str) -> None:
    left = {key: one for key, one in kwargs.items() if one is not None and one is not np._NoValue and key != "dtype"}
    if left:
        refuse(f"np.{name} of secrets has no {', '.join(left)}")


def _sum(value: Secret, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: Any = False, **kwargs: Any) -> Secret:
    _no_more(kwargs | {"out": out}, "sum")
    if dtype is not None:
        value = value.astype(dtype)
    elif value.dtype.is_bool:
        value = convert(value, int64)
    elif value.dtype.is_integer and value.dtype.bits < 64:
        # NumPy adds up in the widest integers of the machine.
        value = convert(value, int64 if value.dtype.signed else uint64)
    return _reduced(value, "sum", axis, keepdims is True)


def _prod(value: Secret, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: Any = False, **kwargs: Any) -> Secret:
    _no_more(kwargs | {"out": out}, "prod")
    if value.dtype.is_bool:
        value = convert(value, int64)
    elif value.dtype.is_integer and value.dtype.bits < 64:
        value = convert(value, int64 if value.dtype.signed else uint64)
    if not value.dtype.is_fixed:
        return _reduced(value, "product", axis, keepdims is True)
    merged, shape, kept = _merged(value, axis)
    while merged.shape[-1] > 1:
        half = merged.shape[-1] // 2
        product = UFUNCS["multiply"](merged[..., :half], merged[..., half : 2 * half])
        merged = concatenate([product, merged[..., 2 * half :]], -1) if merged.shape[-1] % 2 else product
    if not merged.shape[-1]:
        return constant(value._trace, np.ones(kept if keepdims is True else shape), value.dtype)
    return merged.reshape(kept if keepdims is True else shape)


FUNCTIONS[np.sum] = FUNCTIONS[np.nansum] = _sum
FUNCTIONS[np.prod] = FUNCTIONS[np.nanprod] = _prod


def _extreme(operation: str, ufunc: str) -> Function:
    def extreme(value: Secret, axis: Axis = None, out: Any = None, keepdims: Any = False, **kwargs: Any) -> Secret:
        _no_more(kwargs | {"out": out}, operation)
        if value.dtype.is_bool:
            return _reduced(value, "all" if operation == "least" else "any", axis, keepdims is True)
        return _reduced(value, operation, axis, keepdims is True)

    return extreme


for _function in (np.min, np.amin, np.nanmin):
    FUNCTIONS[_function] = _extreme("least", "minimum")
for _function in (np.max, np.amax, np.nanmax):
    FUNCTIONS[_function] = _extreme("greatest", "maximum")


@implements(np.all)
def all_of(value: Secret, axis: Axis = None, out: Any = None, keepdims: Any = False, **kwargs: Any) -> Secret:
    _no_more(kwargs | {"out": out}, "all")
    return _reduced(convert(value, bool_), "all", axis, keepdims is True)


@implements(np.any)
def any_of(value: Secret, axis: Axis = None, out: Any = None, keepdims: Any = False, **kwargs: Any) -> Secret:
    _no_more(kwargs | {"out": out}, "any")
    return _reduced(convert(value, bool_), "any", axis, keepdims is True)


@implements(np.ptp)
def ptp(value: Secret, axis: Axis = None, **kwargs: Any) -> Secret:
    return UFUNCS["subtract"](FUNCTIONS[np.max](value, axis, **kwargs), FUNCTIONS[np.min](value, axis, **kwargs))


@implements(np.count_nonzero)
def count_nonzero(value: Secret, axis: Axis = None, *, keepdims: bool = False) -> Secret:
    return _sum(convert(value, bool_), axis, keepdims=keepdims)


def _count(value: Secret, axis: Axis) -> int:
    return int(np.prod([value.shape[at] for at in _axes(axis, value.ndim)], dtype=np.int64))


@implements(np.mean, np.nanmean)
def mean(value: Secret, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: Any = False, **kwargs: Any) -> Secret:
    _no_more(kwargs | {"out": out}, "mean")
    count = _count(value, axis)
    if not count:
        refuse("a mean of no elements")
    numbers = value.astype(dtype) if dtype is not None else value
    if numbers.dtype.is_fixed:
        return _quotient(_reduced(numbers, "sum", axis, keepdims is True), count)
    total = _sum(numbers, axis, keepdims=keepdims)
    return _quotient(_floats(total), count)


def _quotient(total: Secret, count: int) -> Secret:
    """A number with a fixed point divided by a public whole number, rounded down to a step."""
    if count < 1:
        refuse("a quotient by 0 degrees of freedom: there are too few elements")
    if count == 1 and not total._trace.open_lengths:
        return total
    if count & (count - 1) == 0 and not total._trace.open_lengths:
        by = count.bit_length() - 1
        cut = apply("truncate", [apply("cast", [total], text=_wider(total, by))], [by])
        return cut
    return apply("over", fitted([total, constant(total._trace, count, total.dtype)]))


def _wider(value: Secret, by: int) -> str:
    return f"Fixed<i{value.dtype.bits}, {value.dtype.fraction + by}>"


@implements(np.var, np.nanvar)
def var(value: Secret, axis: Axis = None, dtype: Any = None, out: Any = None, ddof: int = 0, keepdims: Any = False, **kwargs: Any) -> Secret:
    kwargs.pop("correction", None)
    _no_more(kwargs | {"out": out}, "var")
    numbers = _floats(value)
    count = _count(value, axis)
    if count <= ddof:
        refuse(f"a variance of {count} elements with ddof={ddof}")
    away = UFUNCS["subtract"](numbers, mean(numbers, axis, keepdims=True))
    return _quotient(_reduced(UFUNCS["square"](away), "sum", axis, keepdims is True), count - ddof)


@implements(np.std, np.nanstd)
def std(value: Secret, *args: Any, **kwargs: Any) -> Secret:
    return UFUNCS["sqrt"](var(value, *args, **kwargs))


@implements(np.average)
def average(value: Any, axis: Axis = None, weights: Any = None, returned: bool = False, *, keepdims: Any = False) -> Secret:
    if returned:
        refuse("np.average with returned=True")
    if weights is None:
        return mean(value, axis, keepdims=keepdims)
    if np.ndim(weights) == 1 and np.ndim(value) > 1 and axis is not None:
        weights = np.reshape(weights, [-1 if at == axis % np.ndim(value) else 1 for at in range(np.ndim(value))])
    trace = trace_of([value, weights])
    numbers, own = (_floats(as_secret(trace, one)) for one in (value, weights))
    numbers, own = fitted([numbers, own])
    total = _reduced(UFUNCS["multiply"](numbers, own), "sum", axis, keepdims is True)
    return UFUNCS["divide"](total, _reduced(own, "sum", axis, keepdims is True))


def _found(operation: str) -> Function:
    def found(value: Secret, axis: int | None = None, out: Any = None, *, keepdims: Any = False) -> Secret:
        if value.dtype.is_bool:
            value = convert(value, uint32)
        merged, shape, kept = _merged(value, axis)
        if not merged.shape[-1]:
            raise ValueError("the place of an extreme of no elements")
        place = apply_all(operation, [merged])[1]
        return convert(place.reshape(kept if keepdims is True else shape), int64)

    return found


FUNCTIONS[np.argmin] = FUNCTIONS[np.nanargmin] = _found("min_with_place")
FUNCTIONS[np.argmax] = FUNCTIONS[np.nanargmax] = _found("max_with_place")


@implements(np.cumsum, np.nancumsum)
def cumsum(value: Secret, axis: int | None = None, dtype: Any = None, out: Any = None) -> Secret:
    if axis is None:
        value, axis = value.reshape(-1), 0
    if value.dtype.is_bool:
        value = convert(value, int64)
    elif value.dtype.is_integer and value.dtype.bits < 64:
        value = convert(value, int64 if value.dtype.signed else uint64)
    return apply("prefix_sums", [value], [axis % value.ndim])


@implements(np.cumprod)
def cumprod(value: Secret, axis: int | None = None, dtype: Any = None, out: Any = None) -> Secret:
    if axis is None:
        value, axis = value.reshape(-1), 0
    if value.dtype.is_integer and value.dtype.bits < 64:
        value = convert(value, int64 if value.dtype.signed else uint64)
    length, by = value.shape[axis], 1
    moved = np.moveaxis(value, axis, 0)
    while by < length:
        moved = concatenate([moved[:by], UFUNCS["multiply"](moved[by:], moved[:-by])])
        by *= 2
    made: Secret = np.moveaxis(moved, 0, axis)
    return made


@implements(np.diff)
def diff(value: Secret, n: int = 1, axis: int = -1, **kwargs: Any) -> Secret:
    _no_more(kwargs, "diff")
    for _ in range(n):
        moved = np.moveaxis(value, axis, 0)
        value = np.moveaxis(UFUNCS["not_equal" if value.dtype.is_bool else "subtract"](moved[1:], moved[:-1]), 0, axis)
    return value


@implements(np.ediff1d)
def ediff1d(value: Secret, to_end: Any = None, to_begin: Any = None) -> Secret:
    parts = [part for part in (to_begin, diff(value.reshape(-1)), to_end) if part is not None]
    return concatenate([np.ravel(part) for part in parts])


@implements(np.gradient)
def gradient(value: Secret, *spacing: Any, axis: int | None = None, **kwargs: Any) -> Any:
    step = float(spacing[0]) if spacing else 1.0
    value = _floats(value)

    def along(at: int) -> Secret:
        moved = np.moveaxis(value, at, 0)
        inner = UFUNCS["multiply"](UFUNCS["subtract"](moved[2:], moved[:-2]), 0.5 / step)
        first, last = (UFUNCS["multiply"](UFUNCS["subtract"](moved[a], moved[b]), 1 / step) for a, b in ((1, 0), (-1, -2)))
        made: Secret = np.moveaxis(concatenate([first[None], inner, last[None]]), 0, at)
        return made

    axes = range(value.ndim) if axis is None else [axis]
    made = [along(at) for at in axes]
    return made[0] if len(made) == 1 else made


# Choices


@implements(np.where)
def where(condition: Any, *branches: Any) -> Secret:
    if len(branches) != 2:
        refuse("np.where(condition) gives places, whose number all would see: take np.where(condition, a, b)")
    trace = trace_of([condition, *branches])
    if any(isinstance(branch, Secret) for branch in branches):
        a, b = together(trace, *branches)
    else:
        public = np.result_type(*branches)
        a, b = (as_secret(trace, np.asarray(branch, dtype=public)) for branch in branches)
    if not isinstance(condition, Secret):
        a, b = fitted([a, b])
        shape = np.broadcast_shapes(np.shape(condition), a.shape)
        a, b = (np.broadcast_to(one, shape) for one in (a, b))
        both = concatenate([a.reshape(-1), b.reshape(-1)])
        places = np.arange(a.size).reshape(shape)
        return both.moved(lambda _: np.where(condition, places, places + a.size))
    return apply("select", fitted([convert(condition, bool_), a, b]))


@implements(np.select)
def select(conditions: Sequence[Any], choices: Sequence[Any], default: Any = 0) -> Secret:
    made = default
    for condition, choice in reversed(list(zip(conditions, choices))):
        made = np.where(condition, choice, made)
    chosen: Secret = made
    return chosen


@implements(np.choose)
def choose(index: Any, choices: Sequence[Any], out: Any = None, mode: str = "raise") -> Secret:
    made = choices[-1]
    for at in reversed(range(len(choices) - 1)):
        made = np.where(UFUNCS["equal"](index, at) if isinstance(index, Secret) else np.equal(index, at), choices[at], made)
    chosen: Secret = made
    return chosen


@implements(np.clip)
def clip(value: Any, a_min: Any = None, a_max: Any = None, out: Any = None, **kwargs: Any) -> Secret:
    low, high = kwargs.pop("min", a_min), kwargs.pop("max", a_max)
    if low is not None:
        value = UFUNCS["maximum"](value, low)
    return value if high is None else UFUNCS["minimum"](value, high)


@implements(np.round, np.around)
def round_(value: Secret, decimals: int = 0, out: Any = None) -> Secret:
    if not value.dtype.is_fixed:
        return value
    if not decimals:
        return UFUNCS["rint"](value)
    return UFUNCS["divide"](UFUNCS["rint"](UFUNCS["multiply"](value, 10.0**decimals)), 10.0**decimals)


FUNCTIONS[np.fix] = UFUNCS["trunc"]
FUNCTIONS[np.nan_to_num] = lambda value, *args, **kwargs: value


@implements(np.isclose)
def isclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Secret:
    """As NumPy has it, in steps of the type: a tolerance below half a step is none."""
    trace = trace_of([a, b])
    x, y = (_floats(as_secret(trace, one, a if isinstance(a, Secret) else b)) for one in (a, b))
    room = UFUNCS["add"](UFUNCS["multiply"](UFUNCS["absolute"](y), rtol), atol)
    return UFUNCS["less_equal"](UFUNCS["absolute"](UFUNCS["subtract"](x, y)), room)


FUNCTIONS[np.allclose] = lambda *args, **kwargs: all_of(isclose(*args, **kwargs))
FUNCTIONS[np.array_equal] = lambda a, b, **kwargs: (
    all_of(UFUNCS["equal"](a, b)) if np.shape(a) == np.shape(b) else False
)
FUNCTIONS[np.array_equiv] = lambda a, b: all_of(UFUNCS["equal"](a, b))


# Products


@implements(np.dot)
def dot(a: Any, b: Any, out: Any = None) -> Secret:
    if not np.ndim(a) or not np.ndim(b):
        return UFUNCS["multiply"](a, b)
    if np.ndim(b) <= 2:
        return UFUNCS["matmul"](a, b)
    return _contracted(a, b, ([-1], [-2]))


FUNCTIONS[np.inner] = lambda a, b: (
    UFUNCS["multiply"](a, b) if not np.ndim(a) or not np.ndim(b) else _contracted(a, b, ([-1], [-1]))
)
FUNCTIONS[np.vdot] = lambda a, b: UFUNCS["matmul"](np.ravel(a), np.ravel(b))
FUNCTIONS[np.outer] = lambda a, b, out=None: UFUNCS["multiply"](np.reshape(a, (-1, 1)), np.reshape(b, (1, -1)))


def _contracted(a: Any, b: Any, axes: Any = 2) -> Secret:
    if isinstance(axes, int):
        axes = (list(range(-axes, 0)), list(range(axes)))
    left, right = ([one] if isinstance(one, int) else list(one) for one in axes)
    left, right = [at % np.ndim(a) for at in left], [at % np.ndim(b) for at in right]
    if [np.shape(a)[at] for at in left] != [np.shape(b)[at] for at in right]:
        raise ValueError(f"tensordot: shapes {np.shape(a)} and {np.shape(b)} do not fit along {axes}")
    rest_a = [at for at in range(np.ndim(a)) if at not in left]
    rest_b = [at for at in range(np.ndim(b)) if at not in right]
    shape_a, shape_b = [np.shape(a)[at] for at in rest_a], [np.shape(b)[at] for at in rest_b]
    inner = int(np.prod([np.shape(a)[at] for at in left], dtype=np.int64))
    x = np.reshape(np.transpose(a, rest_a + left), (int(np.prod(shape_a, dtype=np.int64)), inner))
    y = np.reshape(np.transpose(b, right + rest_b), (inner, int(np.prod(shape_b, dtype=np.int64))))
    return UFUNCS["matmul"](x, y).reshape(shape_a + shape_b)


FUNCTIONS[np.tensordot] = _contracted


@implements(np.einsum)
def einsum(subscripts: str, *operands: Any, **kwargs: Any) -> Secret:
    if not isinstance(subscripts, str) or "..." in subscripts:
        refuse("np.einsum of secrets takes a text of letters, without `...`")
    terms, _, out = subscripts.replace(" ", "").partition("->")
    inputs = terms.split(",")
    if "->" not in subscripts:
        letters = "".join(inputs)
        out = "".join(sorted(letter for letter in set(letters) if letters.count(letter) == 1))
    values, names = list(operands), inputs
    while len(values) > 1:
        later = set("".join(names[2:])) | set(out)
        keep = "".join(dict.fromkeys(letter for letter in names[0] + names[1] if letter in later))
        values[:2] = [_pair(names[0], values[0], names[1], values[1], keep)]
        names[:2] = [keep]
    made: Secret = _single(names[0], values[0], out)
    return made


def _single(names: str, value: Any, out: str) -> Any:
    """Diagonals of letters that come twice, sums of those that do not come out, the order of the others."""
    for letter in dict.fromkeys(names):
        while names.count(letter) > 1:
            first = names.index(letter)
            second = names.index(letter, first + 1)
            value = np.diagonal(value, axis1=first, axis2=second)
            names = names[:first] + names[first + 1 : second] + names[second + 1 :] + letter
    gone = tuple(at for at, letter in enumerate(names) if letter not in out)
    if gone:
        value = _reduced(value, "sum", gone, False) if isinstance(value, Secret) else np.sum(value, axis=gone)
        names = "".join(letter for letter in names if letter in out)
    return np.transpose(value, [names.index(letter) for letter in out]) if names != out else value


def _pair(left: str, a: Any, right: str, b: Any, keep: str) -> Any:
    a = _single(left, a, "".join(letter for letter in dict.fromkeys(left) if letter in keep or letter in right))
    b = _single(right, b, "".join(letter for letter in dict.fromkeys(right) if letter in keep or letter in left))
    left = "".join(letter for letter in dict.fromkeys(left) if letter in keep or letter in right)
    right = "".join(letter for letter in dict.fromkeys(right) if letter in keep or letter in left)
    batch = [letter for letter in left if letter in right and letter in keep]
    inner = [letter for letter in left if letter in right and letter not in keep]
    rows, columns = ([letter for letter in names if letter not in batch + inner] for names in (left, right))
    length = dict(zip(left, np.shape(a))) | dict(zip(right, np.shape(b)))

    def size(names: Sequence[str]) -> int:
        return int(np.prod([length[letter] for letter in names], dtype=np.int64))

    x = np.reshape(np.transpose(a, [left.index(one) for one in batch + rows + inner]), (size(batch), size(rows), size(inner)))
    y = np.reshape(np.transpose(b, [right.index(one) for one in batch + inner + columns]), (size(batch), size(inner), size(columns)))
    product = x @ y
    order = batch + rows + columns
    product = np.reshape(product, [length[letter] for letter in order])
    return np.transpose(product, [order.index(letter) for letter in keep])


@implements(np.kron)
def kron(a: Any, b: Any) -> Secret:
    ndim = max(np.ndim(a), np.ndim(b))
    x, y = (np.reshape(one, (1,) * (ndim - np.ndim(one)) + np.shape(one)) for one in (a, b))
    left = np.reshape(x, [length for one in np.shape(x) for length in (one, 1)])
    right = np.reshape(y, [length for one in np.shape(y) for length in (1, one)])
    product = UFUNCS["multiply"](left, right)
    return product.reshape([m * n for m, n in zip(np.shape(x), np.shape(y))])


@implements(np.cross)
def cross(a: Any, b: Any, **kwargs: Any) -> Secret:
    if np.shape(a)[-1] != 3 or np.shape(b)[-1] != 3 or kwargs:
        refuse("np.cross of secrets is of vectors of three numbers along the last axis")
    turn, back = [1, 2, 0], [2, 0, 1]
    return UFUNCS["subtract"](
        UFUNCS["multiply"](a[..., turn], b[..., back]), UFUNCS["multiply"](a[..., back], b[..., turn])
    )


@implements(np.trace)
def trace_(value: Secret, offset: int = 0, axis1: int = 0, axis2: int = 1, **kwargs: Any) -> Secret:
    return _sum(np.diagonal(value, offset, axis1, axis2), -1)


@implements(np.diag)
def diag(value: Secret, k: int = 0) -> Secret:
    if value.ndim == 2:
        made: Secret = np.diagonal(value, k)
        return made
    places = np.diag(np.arange(1, value.size + 1), k)
    flat = concatenate([np.zeros(1, dtype=value.dtype.numpy), value])
    return flat.moved(lambda _: places)


FUNCTIONS[np.diagflat] = lambda value, k=0: diag(value.reshape(-1), k)


def _masked(name: str) -> None:
    function = getattr(np, name)

    def masked(value: Secret, k: int = 0) -> Secret:
        mask = function(np.ones(value.shape[-2:], dtype=bool), k)
        made: Secret = np.where(mask, value, np.zeros((), dtype=value.dtype.numpy))
        return made

    FUNCTIONS[function] = masked


_masked("tril")
_masked("triu")


@implements(np.convolve)
def convolve(a: Any, v: Any, mode: str = "full") -> Secret:
    if np.shape(v)[0] > np.shape(a)[0]:
        a, v = v, a
    n, m = np.shape(a)[0], np.shape(v)[0]
    padded = np.pad(a, (m - 1, m - 1))
    windows = padded[np.arange(n + m - 1)[:, None] + np.arange(m)]
    full = UFUNCS["matmul"](windows, v[::-1])
    if mode == "full":
        return full
    if mode == "same":
        start = (m - 1) // 2
        return full[start : start + n]
    return full[m - 1 : n]


@implements(np.correlate)
def correlate(a: Any, v: Any, mode: str = "valid") -> Secret:
    return convolve(a, v[::-1], mode)


@implements(np.cov)
def cov(m: Secret, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: int | None = None, **kwargs: Any) -> Secret:
    _no_more(kwargs, "cov")
    value = _floats(m)
    value = np.atleast_2d(value)
    if not rowvar and value.shape[0] != 1:
        value = value.T
    if y is not None:
        other = np.atleast_2d(_floats(y) if isinstance(y, Secret) else y)
        value = concatenate([value, other if rowvar or other.shape[0] == 1 else other.T])
    count = value.shape[1]
    away = UFUNCS["subtract"](value, mean(value, 1, keepdims=True))
    left = count - (ddof if ddof is not None else 0 if bias else 1)
    made: Secret = np.squeeze(_quotient(UFUNCS["matmul"](away, away.T), left))
    return made


@implements(np.corrcoef)
def corrcoef(x: Secret, y: Any = None, rowvar: bool = True, **kwargs: Any) -> Secret:
    covariance = cov(x, y, rowvar)
    if not covariance.ndim:
        return constant(covariance._trace, 1.0, covariance.dtype)
    inverse = apply("inverse_sqrt", [np.diagonal(covariance)])
    return UFUNCS["multiply"](UFUNCS["multiply"](covariance, inverse[:, None]), inverse[None, :])


FUNCTIONS[np.linalg.norm] = lambda value, ord=None, axis=None, keepdims=False: _norm(value, ord, axis, keepdims)


def _norm(value: Secret, order: Any, axis: Axis, keepdims: bool) -> Secret:
    value = _floats(value)
    if order in (None, 2, "fro") and (order != 2 or value.ndim == 1 or isinstance(axis, int)):
        return UFUNCS["sqrt"](_reduced(UFUNCS["square"](value), "sum", axis, keepdims))
    if order == 1 and (value.ndim == 1 or isinstance(axis, int)):
        return _reduced(UFUNCS["absolute"](value), "sum", axis, keepdims)
    if order == np.inf and (value.ndim == 1 or isinstance(axis, int)):
        return _reduced(UFUNCS["absolute"](value), "greatest", axis, keepdims)
    refuse("np.linalg.norm of secrets has ord None, 2 of vectors, 1 and inf of vectors")


# Order


def _sorted(value: Secret, axis: int | None, others: Sequence[Secret] = ()) -> list[Secret]:
    """The value, and others that go with it, in order along an axis, which is the last one of what is given."""
    moved = [np.moveaxis(one, axis, -1) if axis is not None else one.reshape(-1) for one in (value, *others)]
    keys = convert(moved[0], uint32) if moved[0].dtype.is_bool else moved[0]
    return apply_all("sorted", [keys, *moved[1:]], [0, keys.shape[-1]])


@implements(np.sort)
def sort(value: Secret, axis: int | None = -1, kind: Any = None, order: Any = None, **kwargs: Any) -> Secret:
    made = _sorted(value, axis)[0]
    made = convert(made, bool_) if value.dtype.is_bool else made
    return made if axis is None else np.moveaxis(made, -1, axis)


FUNCTIONS[np.partition] = lambda value, kth, axis=-1, **kwargs: sort(value, axis)
FUNCTIONS[np.sort_complex] = lambda value: sort(value)


def _method_sort(self: Secret, *args: Any, **kwargs: Any) -> None:
    refuse("array.sort() changes the array in place, and secrets never change: take np.sort(array)")


setattr(Secret, "sort", _method_sort)


@implements(np.argsort)
def argsort(value: Secret, axis: int | None = -1, kind: Any = None, order: Any = None, **kwargs: Any) -> Secret:
    """Places in order; equal elements in the order in which they stand."""
    moved = np.moveaxis(value, axis, -1) if axis is not None else value.reshape(-1)
    places = constant(value._trace, np.broadcast_to(np.arange(moved.shape[-1], dtype=np.uint32), moved.shape), uint32)
    keys = moved
    if keys.dtype.is_bool:
        keys = convert(keys, uint32)
    # Keys with their places below them differ, so that equal ones keep their order.
    bits = keys.dtype.bits
    if bits <= 64:
        whole = apply("cast", [keys], text=f"i{bits}") if keys.dtype.is_fixed else keys
        wide = "i128" if whole.dtype.signed else "u128"
        both = apply("shift_left", [apply("cast", [whole], text=wide)], [32])
        both = apply("plus", [both, apply("cast", [places], text=wide)])
        made = apply("cast", [apply_all("sorted", [both], [0, moved.shape[-1]])[0]], text="u32")
    else:
        made = apply_all("sorted", [keys, places], [0, moved.shape[-1]])[1]
    made = convert(made, int64)
    return made if axis is None else np.moveaxis(made, -1, axis)


FUNCTIONS[np.argpartition] = lambda value, kth, axis=-1, **kwargs: argsort(value, axis)


@implements(np.quantile, np.nanquantile)
def quantile(value: Secret, q: Any, axis: Axis = None, out: Any = None, overwrite_input: bool = False, method: str = "linear", keepdims: bool = False, **kwargs: Any) -> Secret:
    _no_more(kwargs | {"out": out}, "quantile")
    merged, shape, kept = _merged(_floats(value), axis)
    count = merged.shape[-1]
    if not count:
        refuse("a quantile of no elements")
    ordered = apply_all("sorted", [merged], [0, count])[0]
    places = np.asarray(q, dtype=np.float64) * (count - 1)
    if not ((places >= 0) & (places <= count - 1)).all():
        raise ValueError("quantiles are from 0 to 1")
    low = np.floor(places).astype(int)
    high = np.minimum(low + 1, count - 1)
    share = {"linear": places - low, "lower": 0 * places, "higher": (places > low) * 1.0,
             "midpoint": (places > low) * 0.5, "nearest": np.round(places) - low}.get(method)
    if share is None:
        refuse(f"np.quantile with method={method!r}; there are linear, lower, higher, midpoint and nearest")
    below, above = ordered[..., low], ordered[..., high]
    made = below if not np.any(share) else UFUNCS["add"](below, UFUNCS["multiply"](UFUNCS["subtract"](above, below), share))
    if np.ndim(q):
        made = np.moveaxis(made, -1, 0)
    return made.reshape(np.shape(q) + (kept if keepdims else shape))


FUNCTIONS[np.percentile] = FUNCTIONS[np.nanpercentile] = lambda value, q, *args, **kwargs: quantile(
    value, np.asarray(q) / 100, *args, **kwargs
)
FUNCTIONS[np.median] = FUNCTIONS[np.nanmedian] = lambda value, axis=None, out=None, overwrite_input=False, keepdims=False: quantile(
    value, 0.5, axis, keepdims=keepdims
)


@implements(np.searchsorted)
def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Secret:
    trace = trace_of([a, v])
    keys, looked = together(trace, a, v)
    before = UFUNCS["less" if side == "left" else "less_equal"](keys, looked.reshape(looked.shape + (1,)))
    return _sum(before, -1)


@implements(np.digitize)
def digitize(x: Any, bins: Any, right: bool = False) -> Secret:
    if not isinstance(bins, Secret) and len(bins) > 1 and bins[0] > bins[-1]:
        refuse("np.digitize with falling bins; give them in rising order")
    return searchsorted(bins, x, side="left" if right else "right")


@implements(np.bincount)
def bincount(x: Secret, weights: Any = None, minlength: int = 0) -> Secret:
    if not minlength:
        refuse("np.bincount of secrets needs minlength: how many counts there are would tell the greatest element")
    one_hot = UFUNCS["equal"](x.reshape(1, -1), np.arange(minlength).reshape(-1, 1))
    if weights is None:
        return _sum(one_hot, 1)
    return _sum(np.where(one_hot, weights, 0), 1)


@implements(np.histogram)
def histogram(a: Secret, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> tuple[Secret, Any]:
    if density or weights is not None:
        refuse("np.histogram of secrets has neither density nor weights")
    if np.ndim(bins) == 0:
        if range is None:
            refuse("np.histogram of secrets needs range=(low, high) or edges: the extremes of the data are secret")
        edges = np.histogram_bin_edges(np.empty(0), bins, range)
    else:
        edges = np.asarray(bins)
    flat = a.reshape(-1)
    at_least = UFUNCS["greater_equal"](flat.reshape(1, -1), edges[:-1].reshape(-1, 1))
    beyond = UFUNCS["greater_equal"](flat, float(edges[-1]) if a.dtype.is_fixed else edges[-1])
    last = UFUNCS["greater"](flat, float(edges[-1]) if a.dtype.is_fixed else edges[-1])
    del beyond
    counts = _sum(at_least, 1)
    over = _sum(last)
    return UFUNCS["subtract"](counts, concatenate([counts[1:], over.reshape(1)])), edges


@implements(np.interp)
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Secret:
    if isinstance(xp, Secret) or left is not None or right is not None or period is not None:
        refuse("np.interp of secrets takes public xp, and no left, right or period")
    points, values = np.asarray(xp, dtype=np.float64), fp
    if isinstance(fp, Secret):
        refuse("np.interp takes public fp")
    slopes = np.diff(np.asarray(values, dtype=np.float64)) / np.diff(points)
    x = _floats(x)
    made = as_secret(x._trace, np.full(x.shape, float(values[0])), x)
    for at, slope in enumerate(slopes):
        part = UFUNCS["subtract"](clip(x, points[at], points[at + 1]), points[at])
        made = UFUNCS["add"](made, UFUNCS["multiply"](part, slope))
    return made


@implements(np.isin)
def isin(element: Any, test_elements: Any, **kwargs: Any) -> Secret:
    trace = trace_of([element, test_elements])
    a, b = together(trace, element, test_elements)
    return any_of(UFUNCS["equal"](a.reshape(a.shape + (1,)), b.reshape(-1)), -1)


if hasattr(np, "in1d"):
    FUNCTIONS[np.in1d] = lambda a, b, **kwargs: isin(np.ravel(a), b)


def _refused(names: str, text: str) -> None:
    for name in names.split():
        function = getattr(np, name, None)
        if function is not None:
            FUNCTIONS[function] = lambda *args, _name=name, **kwargs: refuse(f"np.{_name}: {text}")


_refused("nonzero argwhere flatnonzero", "how many places there are would be seen; take np.where(condition, array, 0), or a count")
_refused("unique unique_values unique_counts", "how many different elements there are would be seen; sort, and compare neighbours")
_refused("setdiff1d union1d intersect1d setxor1d", "how many elements the result has would be seen; take np.isin for a mask")
_refused("put place putmask copyto fill_diagonal put_along_axis", "secrets are never changed in place; take np.where")
_refused("array2string array_repr array_str save savetxt", "a secret has no text; reveal it and print the result")
_refused("trim_zeros", "how many zeros there are would be seen")
_refused("apply_along_axis apply_over_axes vectorize piecewise", "write array operations, or mg.map(function, array)")
