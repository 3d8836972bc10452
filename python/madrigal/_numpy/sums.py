"""NumPy's functions along axes: sums, means, extremes."""

from __future__ import annotations

from typing import Any

from .._errors import refuse
from .._secret import FUNCTIONS, UFUNCS, Axis, Secret, apply, apply_all, as_secret, constant, convert, fitted, trace_of
from .._types import bool_, int64, uint32, uint64
from .base import Function, floats, implements, np
from .shapes import concatenate


# Elements along axes


def _axes(axis: Axis, ndim: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(ndim))
    axes = (axis,) if isinstance(axis, (int, np.integer)) else tuple(axis)
    for one in axes:
        if not -ndim <= one < ndim:
            raise np.exceptions.AxisError(int(one), ndim)
    return tuple(sorted(int(one) % ndim for one in axes))


def merge_axes(value: Secret, axis: Axis) -> tuple[Secret, tuple[int, ...], tuple[int, ...]]:
    """The value with the axes that go as its last one; the axes that stay, and the shape with those that go of length 1."""
    axes = _axes(axis, value.ndim)
    rest = tuple(at for at in range(value.ndim) if at not in axes)
    kept = tuple(1 if at in axes else length for at, length in enumerate(value.shape))
    shape = tuple(value.shape[at] for at in rest)
    length = int(np.prod([value.shape[at] for at in axes], dtype=np.int64))
    order = rest + axes
    moved = value if order == tuple(range(value.ndim)) else value.transpose(order)
    return moved.reshape(shape + (length,)), shape, kept


def reduced(value: Secret, operation: str, axis: Axis, keepdims: bool) -> Secret:
    if isinstance(axis, (int, np.integer)) and value.ndim:
        (along,) = _axes(axis, value.ndim)
        made = apply(operation, [value], [along])
        return made.reshape(value.shape[:along] + (1,) + value.shape[along + 1 :]) if keepdims else made
    merged, shape, kept = merge_axes(value, axis)
    made = apply(operation, [merged], [merged.ndim - 1])
    return made.reshape(kept if keepdims else shape)


def no_more(kwargs: dict[str, Any], name: str) -> None:
    left = {key: one for key, one in kwargs.items() if one is not None and one is not np._NoValue and key != "dtype"}
    if left:
        refuse(f"np.{name} of secrets has no {', '.join(left)}")


def sum_of(value: Secret, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: Any = False, **kwargs: Any) -> Secret:
    no_more(kwargs | {"out": out}, "sum")
    if dtype is not None:
        value = value.astype(dtype)
    elif value.dtype.is_bool:
        value = convert(value, int64)
    elif value.dtype.is_integer and value.dtype.bits < 64:
        # NumPy adds up in the widest integers of the machine.
        value = convert(value, int64 if value.dtype.signed else uint64)
    return reduced(value, "sum", axis, keepdims is True)


def _prod(value: Secret, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: Any = False, **kwargs: Any) -> Secret:
    no_more(kwargs | {"out": out}, "prod")
    if value.dtype.is_bool:
        value = convert(value, int64)
    elif value.dtype.is_integer and value.dtype.bits < 64:
        value = convert(value, int64 if value.dtype.signed else uint64)
    if not value.dtype.is_fixed:
        return reduced(value, "product", axis, keepdims is True)
    merged, shape, kept = merge_axes(value, axis)
    while merged.shape[-1] > 1:
        half = merged.shape[-1] // 2
        product = UFUNCS["multiply"](merged[..., :half], merged[..., half : 2 * half])
        merged = concatenate([product, merged[..., 2 * half :]], -1) if merged.shape[-1] % 2 else product
    if not merged.shape[-1]:
        return constant(value._trace, np.ones(kept if keepdims is True else shape), value.dtype)
    return merged.reshape(kept if keepdims is True else shape)


FUNCTIONS[np.sum] = FUNCTIONS[np.nansum] = sum_of
FUNCTIONS[np.prod] = FUNCTIONS[np.nanprod] = _prod


def _extreme(operation: str, ufunc: str) -> Function:
    def extreme(value: Secret, axis: Axis = None, out: Any = None, keepdims: Any = False, **kwargs: Any) -> Secret:
        no_more(kwargs | {"out": out}, operation)
        if value.dtype.is_bool:
            return reduced(value, "all" if operation == "least" else "any", axis, keepdims is True)
        return reduced(value, operation, axis, keepdims is True)

    return extreme


for _function in (np.min, np.amin, np.nanmin):
    FUNCTIONS[_function] = _extreme("least", "minimum")
for _function in (np.max, np.amax, np.nanmax):
    FUNCTIONS[_function] = _extreme("greatest", "maximum")


@implements(np.all)
def all_of(value: Secret, axis: Axis = None, out: Any = None, keepdims: Any = False, **kwargs: Any) -> Secret:
    no_more(kwargs | {"out": out}, "all")
    return reduced(convert(value, bool_), "all", axis, keepdims is True)


@implements(np.any)
def any_of(value: Secret, axis: Axis = None, out: Any = None, keepdims: Any = False, **kwargs: Any) -> Secret:
    no_more(kwargs | {"out": out}, "any")
    return reduced(convert(value, bool_), "any", axis, keepdims is True)


@implements(np.ptp)
def ptp(value: Secret, axis: Axis = None, **kwargs: Any) -> Secret:
    return UFUNCS["subtract"](FUNCTIONS[np.max](value, axis, **kwargs), FUNCTIONS[np.min](value, axis, **kwargs))


@implements(np.count_nonzero)
def count_nonzero(value: Secret, axis: Axis = None, *, keepdims: bool = False) -> Secret:
    return sum_of(convert(value, bool_), axis, keepdims=keepdims)


def _count(value: Secret, axis: Axis) -> int:
    return int(np.prod([value.shape[at] for at in _axes(axis, value.ndim)], dtype=np.int64))


@implements(np.mean, np.nanmean)
def mean(value: Secret, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: Any = False, **kwargs: Any) -> Secret:
    no_more(kwargs | {"out": out}, "mean")
    count = _count(value, axis)
    if not count:
        refuse("a mean of no elements")
    numbers = value.astype(dtype) if dtype is not None else value
    if numbers.dtype.is_fixed:
        return quotient(reduced(numbers, "sum", axis, keepdims is True), count)
    total = sum_of(numbers, axis, keepdims=keepdims)
    return quotient(floats(total), count)


def quotient(total: Secret, count: int) -> Secret:
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
    no_more(kwargs | {"out": out}, "var")
    numbers = floats(value)
    count = _count(value, axis)
    if count <= ddof:
        refuse(f"a variance of {count} elements with ddof={ddof}")
    away = UFUNCS["subtract"](numbers, mean(numbers, axis, keepdims=True))
    return quotient(reduced(UFUNCS["square"](away), "sum", axis, keepdims is True), count - ddof)


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
    numbers, own = (floats(as_secret(trace, one)) for one in (value, weights))
    numbers, own = fitted([numbers, own])
    total = reduced(UFUNCS["multiply"](numbers, own), "sum", axis, keepdims is True)
    return UFUNCS["divide"](total, reduced(own, "sum", axis, keepdims is True))


def _found(operation: str) -> Function:
    def found(value: Secret, axis: int | None = None, out: Any = None, *, keepdims: Any = False) -> Secret:
        if value.dtype.is_bool:
            value = convert(value, uint32)
        merged, shape, kept = merge_axes(value, axis)
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
    no_more(kwargs, "diff")
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
    value = floats(value)

    def along(at: int) -> Secret:
        moved = np.moveaxis(value, at, 0)
        inner = UFUNCS["multiply"](UFUNCS["subtract"](moved[2:], moved[:-2]), 0.5 / step)
        first, last = (UFUNCS["multiply"](UFUNCS["subtract"](moved[a], moved[b]), 1 / step) for a, b in ((1, 0), (-1, -2)))
        made: Secret = np.moveaxis(concatenate([first[None], inner, last[None]]), 0, at)
        return made

    axes = range(value.ndim) if axis is None else [axis]
    made = [along(at) for at in axes]
    return made[0] if len(made) == 1 else made
