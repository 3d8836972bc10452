"""NumPy's functions that sort, count and look up."""

from __future__ import annotations

from typing import Any, Sequence

from .._errors import refuse
from .._secret import FUNCTIONS, UFUNCS, Axis, Secret, apply, apply_all, as_secret, constant, convert, together, trace_of
from .._types import bool_, int64, uint32
from .base import floats, implements, np
from .choices import clip
from .shapes import concatenate
from .sums import any_of, merge_axes, no_more, sum_of


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
    no_more(kwargs | {"out": out}, "quantile")
    merged, shape, kept = merge_axes(floats(value), axis)
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
    return sum_of(before, -1)


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
        return sum_of(one_hot, 1)
    return sum_of(np.where(one_hot, weights, 0), 1)


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
    counts = sum_of(at_least, 1)
    over = sum_of(last)
    return UFUNCS["subtract"](counts, concatenate([counts[1:], over.reshape(1)])), edges


@implements(np.interp)
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Secret:
    if isinstance(xp, Secret) or left is not None or right is not None or period is not None:
        refuse("np.interp of secrets takes public xp, and no left, right or period")
    points, values = np.asarray(xp, dtype=np.float64), fp
    if isinstance(fp, Secret):
        refuse("np.interp takes public fp")
    slopes = np.diff(np.asarray(values, dtype=np.float64)) / np.diff(points)
    x = floats(x)
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
