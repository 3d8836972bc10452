"""The 150 most used functions and methods of NumPy, each with what it is tried on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable

import numpy as np


@dataclass(frozen=True)
class Case:
    """One function with its call; ``kinds`` are the types of arrays that it is tried on: floats, ints, bools."""

    name: str
    call: Callable[..., Any]
    arrays: int = 1
    kinds: str = "fi"
    ndim: tuple[int, ...] = (1, 2)
    same: bool = True
    positive: bool = False
    error: float = 1e-3


def one(name: str, **more: Any) -> Case:
    function: Any = np
    for part in name.split("."):
        function = getattr(function, part)
    return Case(name, function, **more)


def two(name: str, **more: Any) -> Case:
    return one(name, arrays=2, **more)


def regular(x: Any) -> Any:
    """A square matrix made of another, far from those that have no inverse; its greatest numbers are off the diagonal."""
    order = np.shape(x)[0]
    return np.flip(x @ x.T / 8 + np.eye(order), axis=0)


AXIS = {"ndim": (1, 2, 3)}

CASES = [
    # Elements
    two("add"), two("subtract"), two("multiply"), two("divide", kinds="f", positive=True), two("floor_divide", kinds="i", positive=True),
    two("remainder", kinds="i", positive=True), two("mod", kinds="i", positive=True), two("true_divide", kinds="f", positive=True),
    two("maximum"), two("minimum"), two("fmax"), two("fmin"), two("equal", kinds="i"), two("not_equal", kinds="i"),
    two("less"), two("less_equal"), two("greater"), two("greater_equal"),
    two("logical_and", kinds="ib"), two("logical_or", kinds="ib"), two("logical_xor", kinds="ib"), one("logical_not", kinds="ib"),
    two("bitwise_and", kinds="ib"), two("bitwise_or", kinds="ib"), two("bitwise_xor", kinds="ib"), one("invert", kinds="ib"),
    one("negative"), one("positive"), one("abs"), one("absolute"), one("fabs"), one("square"), one("sign"),
    one("sqrt", kinds="f", positive=True), one("exp", kinds="f"), one("log", kinds="f", positive=True, error=2e-3),
    one("log2", kinds="f", positive=True, error=2e-3), one("log10", kinds="f", positive=True, error=2e-3),
    one("log1p", kinds="f", positive=True, error=2e-3), one("expm1", kinds="f"), one("exp2", kinds="f"),
    one("tanh", kinds="f"), one("sin", kinds="f"), one("cos", kinds="f"), one("reciprocal", kinds="f", positive=True, error=4e-3),
    Case("power", lambda x: np.power(x, 3), error=1e-2), one("floor", kinds="f"), one("ceil", kinds="f"), one("trunc", kinds="f"),
    one("rint", kinds="f"), one("round", kinds="f"), one("fix", kinds="f"), two("hypot", kinds="f"), one("isnan", kinds="f"),
    one("isfinite", kinds="f"), one("isinf", kinds="f"), one("deg2rad", kinds="f"), one("rad2deg", kinds="f", error=2e-2),
    two("copysign", kinds="f"), Case("clip", lambda x: np.clip(x, -1, 2)), Case("where", lambda x, y: np.where(x > y, x, y), 2),
    Case("select", lambda x, y: np.select([x > 2, y > 2], [x, y], 1), 2), Case("left_shift", lambda x: np.left_shift(x, 2), kinds="i"),
    Case("right_shift", lambda x: np.right_shift(x, 1), kinds="i"), Case("nan_to_num", np.nan_to_num, kinds="f"),
    two("isclose", kinds="i"), two("array_equal", kinds="i"), two("allclose", kinds="i"), Case("heaviside", lambda x: np.heaviside(x, 0.5), kinds="f"),
    Case("choose", lambda x, y: np.choose(np.ones(x.shape, int), [x, y]), 2),
    # All elements
    Case("sum", np.sum), Case("sum (axis)", lambda x: np.sum(x, axis=-1), **AXIS), Case("sum (axes, keepdims)", lambda x: np.sum(x, axis=(0, 1), keepdims=True), ndim=(2, 3)),
    Case("prod", lambda x: np.prod(x, axis=0), positive=True, error=2e-2), Case("mean", np.mean), Case("mean (axis)", lambda x: np.mean(x, axis=0), **AXIS),
    Case("var", lambda x: np.var(x, axis=0), error=5e-3), Case("std", lambda x: np.std(x, axis=0), error=2e-2), Case("var (ddof)", lambda x: np.var(x, ddof=1), error=5e-3),
    Case("average", lambda x, y: np.average(x, weights=y), 2, kinds="f", positive=True, error=5e-3),
    Case("min", np.min), Case("max", lambda x: np.max(x, axis=0), **AXIS), Case("amin", np.amin), Case("amax", np.amax), Case("ptp", lambda x: np.ptp(x, axis=0)),
    Case("argmin", np.argmin, kinds="i"), Case("argmax", lambda x: np.argmax(x, axis=0), kinds="i", **AXIS), Case("all", np.all, kinds="bi"), Case("any", lambda x: np.any(x, axis=0), kinds="bi"),
    Case("count_nonzero", np.count_nonzero, kinds="bi"), Case("cumsum", lambda x: np.cumsum(x, axis=0)), Case("cumprod", lambda x: np.cumprod(x, axis=0), kinds="i"),
    Case("diff", np.diff), Case("ediff1d", np.ediff1d), Case("gradient", np.gradient, kinds="f", ndim=(1,)),
    Case("nansum", np.nansum, kinds="f"), Case("nanmean", np.nanmean, kinds="f"), Case("nanmax", np.nanmax, kinds="f"), Case("nanmin", np.nanmin, kinds="f"),
    # Products
    Case("dot", np.dot, 2, ndim=(1,)), Case("matmul", lambda x, y: np.matmul(x, y.T), 2, ndim=(2,)), Case("vdot", np.vdot, 2), Case("inner", np.inner, 2),
    Case("outer", np.outer, 2), Case("tensordot", lambda x, y: np.tensordot(x, y, ([0], [0])), 2, ndim=(2, 3)), Case("einsum", lambda x, y: np.einsum("ij,kj->ik", x, y), 2, ndim=(2,)),
    Case("kron", np.kron, 2, ndim=(1, 2)), Case("trace", np.trace, ndim=(2,)), Case("cov", np.cov, kinds="f", ndim=(2,), error=5e-3),
    Case("corrcoef", np.corrcoef, kinds="f", ndim=(2,), error=5e-2), Case("linalg.norm", np.linalg.norm, kinds="f", error=5e-3), Case("convolve", np.convolve, 2, ndim=(1,)),
    Case("correlate", lambda x, y: np.correlate(x, y, "full"), 2, ndim=(1,)),
    Case("linalg.solve", lambda x, y: np.linalg.solve(regular(x), y), 2, kinds="f", ndim=(2,), error=5e-3),
    Case("linalg.inv", lambda x: np.linalg.inv(regular(x)), kinds="f", ndim=(2,), error=5e-3),
    Case("linalg.det", lambda x: np.linalg.det(regular(x)), kinds="f", ndim=(2,), error=5e-3),
    # Order
    Case("sort", np.sort, **AXIS), Case("argsort", lambda x: np.argsort(x, kind="stable"), kinds="i"), Case("median", lambda x: np.median(x, axis=0)),
    Case("percentile", lambda x: np.percentile(x, 30)), Case("quantile", lambda x: np.quantile(x, [0.25, 0.75])), Case("searchsorted", lambda x: np.searchsorted(np.array([-2, 0, 2]), x), kinds="i"),
    Case("histogram", lambda x: np.histogram(x, bins=[-4, -1, 1, 4])[0]), Case("digitize", lambda x: np.digitize(x, [-2, 0, 2]), kinds="i"),
    Case("bincount", lambda x: np.bincount(np.ravel(np.abs(x)), minlength=9), kinds="i"), Case("isin", lambda x: np.isin(x, [1, 2, 3]), kinds="i"),
    Case("interp", lambda x: np.interp(x, [-2, 0, 2], [1.0, 2.0, 4.0]), kinds="f"),
    # Shapes
    Case("reshape", lambda x: np.reshape(x, -1)), Case("ravel", np.ravel), Case("transpose", np.transpose, **AXIS), Case("swapaxes", lambda x: np.swapaxes(x, 0, -1), **AXIS),
    Case("moveaxis", lambda x: np.moveaxis(x, 0, -1), **AXIS), Case("expand_dims", lambda x: np.expand_dims(x, 1)), Case("squeeze", lambda x: np.squeeze(x[None])),
    Case("broadcast_to", lambda x: np.broadcast_to(x, (2,) + x.shape)), Case("atleast_1d", np.atleast_1d), Case("atleast_2d", np.atleast_2d), Case("atleast_3d", np.atleast_3d),
    Case("concatenate", lambda x, y: np.concatenate([x, y]), 2), Case("stack", lambda x, y: np.stack([x, y], axis=-1), 2), Case("vstack", lambda x, y: np.vstack([x, y]), 2),
    Case("hstack", lambda x, y: np.hstack([x, y]), 2), Case("dstack", lambda x, y: np.dstack([x, y]), 2), Case("column_stack", lambda x, y: np.column_stack([x, y]), 2),
    Case("append", np.append, 2), Case("insert", lambda x: np.insert(x, 1, 5)), Case("delete", lambda x: np.delete(x, 0)), Case("split", lambda x: np.array_split(x, 2)[1]),
    Case("hsplit", lambda x: np.hsplit(x, [1])[1]), Case("vsplit", lambda x: np.vsplit(x, [1])[0], ndim=(2, 3)), Case("tile", lambda x: np.tile(x, 2)), Case("repeat", lambda x: np.repeat(x, 2)),
    Case("flip", np.flip), Case("fliplr", np.fliplr, ndim=(2,)), Case("flipud", np.flipud), Case("roll", lambda x: np.roll(x, 1)), Case("rot90", np.rot90, ndim=(2,)),
    Case("take", lambda x: np.take(x, [0, 0])), Case("diagonal", np.diagonal, ndim=(2,)), Case("diag", np.diag), Case("tril", np.tril, ndim=(2,)), Case("triu", np.triu, ndim=(2,)),
    Case("pad", lambda x: np.pad(x, 1)), Case("meshgrid", lambda x, y: np.meshgrid(x, y)[0], 2, ndim=(1,)), Case("zeros_like", np.zeros_like), Case("ones_like", np.ones_like),
    Case("full_like", lambda x: np.full_like(x, 3)), Case("copy", np.copy), Case("shape", np.shape), Case("ndim", np.ndim), Case("size", np.size),
    Case("broadcast_arrays", lambda x: np.broadcast_arrays(x, x[:1])[1]), Case("compress", lambda x: np.compress([True], x, axis=0)), Case("extract", lambda x: np.extract(np.ones(np.shape(x)), x)),
    Case("cross", lambda x, y: np.cross(x[:3], y[:3]) if np.shape(x)[0] >= 3 else x, 2, ndim=(1,)),
    # Indexing and methods
    Case("x[1:]", lambda x: x[1:]), Case("x[::-1]", lambda x: x[::-1]), Case("x[..., 0]", lambda x: x[..., 0]), Case("x[[0, 0]]", lambda x: x[[0, 0]]), Case("x[mask]", lambda x: x[np.arange(np.shape(x)[0]) % 2 == 0]),
    Case("x.sum()", lambda x: x.sum()), Case("x.mean(axis)", lambda x: x.mean(axis=0)), Case("x.reshape", lambda x: x.reshape(-1, 1)), Case("x.T", lambda x: x.T),
    Case("x.astype", lambda x: x.astype(float)), Case("x.min()", lambda x: x.min()), Case("x.cumsum()", lambda x: x.cumsum()), Case("x.clip", lambda x: x.clip(-1, 1)), Case("x.flatten()", lambda x: x.flatten()),
    # Refused, with what to write in place
    Case("unique", np.unique, kinds="i"), Case("nonzero", np.nonzero, kinds="i"), Case("argwhere", np.argwhere, kinds="i"), Case("flatnonzero", np.flatnonzero, kinds="i"),
    Case("setdiff1d", np.setdiff1d, 2, kinds="i"), Case("union1d", np.union1d, 2, kinds="i"), Case("intersect1d", np.intersect1d, 2, kinds="i"),
    Case("apply_along_axis", lambda x: np.apply_along_axis(np.sum, 0, x)), Case("fft.fft", lambda x: np.fft.fft(x), kinds="f"),
]
