"""Secrets: arrays whose elements nobody sees, with the operators and functions of NumPy's arrays."""

from __future__ import annotations

from typing import Any, Callable, Iterator, Sequence, Union

import numpy
from numpy.lib.stride_tricks import as_strided

from ._errors import refuse
from ._trace import Trace
from ._types import DType, DTypeLike, as_dtype, bool_, fixed, int64, to_bytes, uint32

#: NumPy, whose types do not know secrets.
np: Any = numpy

#: NumPy's functions on secrets, by the function; filled by `_numpy`.
FUNCTIONS: dict[Any, Callable[..., Any]] = {}
#: NumPy's ufuncs on secrets, by name; filled by `_numpy`.
UFUNCS: dict[str, Callable[..., "Secret"]] = {}

Axis = Union[None, int, Sequence[int]]


class Secret:
    """An array of secrets of a program: what is done to it is recorded, and computed when the program is run.

    It behaves as an array of NumPy: operators, broadcasting, indexing by public numbers, methods, and NumPy's own functions
    (``np.sum``, ``np.where``, ``np.concatenate``, ...). Integers wrap around at their width. What would have Python look at the
    elements (``if secret:``, ``for x in secret:``) is refused with the line and what to write in its place.
    """

    __slots__ = ("_trace", "_tensor", "shape", "dtype")
    __array_priority__ = 1000
    __hash__ = None  # type: ignore[assignment]

    shape: tuple[int, ...]
    dtype: DType

    def __init__(self, trace: Trace, tensor: Any) -> None:
        self._trace, self._tensor = trace, tensor
        self.shape = tuple(tensor.shape)
        self.dtype = as_dtype(tensor.dtype) if "Fixed" not in tensor.dtype else _fixed_of(tensor.dtype)

    # What it is

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def T(self) -> Secret:
        """The axes in reverse order."""
        return self.transpose()

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a secret without axes")
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<secret {self.dtype}{list(self.shape)}>"

    # What Python may not ask

    def __bool__(self) -> bool:
        refuse(
            "`if`, `while`, `and`, `or`, `not` and `in` look at a secret, which nobody may see: choose with np.where(condition, a, b), "
            "combine conditions with & | ~, or compute both branches with mg.cond(condition, one, other)"
        )

    def __iter__(self) -> Iterator[Secret]:
        refuse(
            "a loop over a secret array unrolls it: write array operations, mg.map(function, array) for each row, or index it "
            "in `for i in range(len(array))` if it is to be unrolled"
        )

    def __int__(self) -> int:
        refuse("a secret has no number that Python could use: reveal it, or compute with it as it is")

    __float__ = __complex__ = __index__ = __int__

    def __array__(self, *_: Any, **__: Any) -> Any:
        refuse("this would make a public array of a secret: no function of NumPy that looks at elements can take it")

    # NumPy's protocols

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        kwargs = {key: value for key, value in kwargs.items() if value is not None and value is not True}
        if method == "reduce":
            function = {"add": np.sum, "multiply": np.prod, "maximum": np.max, "minimum": np.min,
                        "logical_and": np.all, "logical_or": np.any}.get(ufunc.__name__)
            if function is not None:
                kwargs.setdefault("axis", 0)
                return FUNCTIONS[function](*inputs, **kwargs)
        if method == "accumulate" and ufunc.__name__ == "add":
            return FUNCTIONS[np.cumsum](*inputs, **({"axis": 0} | kwargs))
        if method == "outer" and ufunc.__name__ in UFUNCS:
            a, b = (as_secret(self._trace, one, like=self) for one in inputs)
            return UFUNCS[ufunc.__name__](a.reshape(a.shape + (1,) * b.ndim), b)
        if method != "__call__":
            refuse(f"np.{ufunc.__name__}.{method} is not for secrets")
        if "out" in kwargs or "where" in kwargs:
            refuse(f"np.{ufunc.__name__} with out= or where=: secrets are never changed in place; take the result")
        found = UFUNCS.get(ufunc.__name__)
        if found is None:
            refuse(f"np.{ufunc.__name__} is not for secrets; docs/PYTHON.md lists what is")
        kwargs.pop("casting", None)
        return found(*inputs, **kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        found = FUNCTIONS.get(function)
        if found is None:
            refuse(f"np.{function.__name__} is not for secrets; docs/PYTHON.md lists what is")
        return found(*args, **kwargs)

    # Operators

    def __add__(self, other: Any) -> Secret: return UFUNCS["add"](self, other)
    def __radd__(self, other: Any) -> Secret: return UFUNCS["add"](other, self)
    def __sub__(self, other: Any) -> Secret: return UFUNCS["subtract"](self, other)
    def __rsub__(self, other: Any) -> Secret: return UFUNCS["subtract"](other, self)
    def __mul__(self, other: Any) -> Secret: return UFUNCS["multiply"](self, other)
    def __rmul__(self, other: Any) -> Secret: return UFUNCS["multiply"](other, self)
    def __truediv__(self, other: Any) -> Secret: return UFUNCS["divide"](self, other)
    def __rtruediv__(self, other: Any) -> Secret: return UFUNCS["divide"](other, self)
    def __floordiv__(self, other: Any) -> Secret: return UFUNCS["floor_divide"](self, other)
    def __rfloordiv__(self, other: Any) -> Secret: return UFUNCS["floor_divide"](other, self)
    def __mod__(self, other: Any) -> Secret: return UFUNCS["remainder"](self, other)
    def __rmod__(self, other: Any) -> Secret: return UFUNCS["remainder"](other, self)
    def __pow__(self, other: Any) -> Secret: return UFUNCS["power"](self, other)
    def __matmul__(self, other: Any) -> Secret: return UFUNCS["matmul"](self, other)
    def __rmatmul__(self, other: Any) -> Secret: return UFUNCS["matmul"](other, self)
    def __and__(self, other: Any) -> Secret: return UFUNCS["bitwise_and"](self, other)
    def __rand__(self, other: Any) -> Secret: return UFUNCS["bitwise_and"](other, self)
    def __or__(self, other: Any) -> Secret: return UFUNCS["bitwise_or"](self, other)
    def __ror__(self, other: Any) -> Secret: return UFUNCS["bitwise_or"](other, self)
    def __xor__(self, other: Any) -> Secret: return UFUNCS["bitwise_xor"](self, other)
    def __rxor__(self, other: Any) -> Secret: return UFUNCS["bitwise_xor"](other, self)
    def __lshift__(self, other: Any) -> Secret: return UFUNCS["left_shift"](self, other)
    def __rshift__(self, other: Any) -> Secret: return UFUNCS["right_shift"](self, other)
    def __neg__(self) -> Secret: return UFUNCS["negative"](self)
    def __pos__(self) -> Secret: return self
    def __abs__(self) -> Secret: return UFUNCS["absolute"](self)
    def __invert__(self) -> Secret: return UFUNCS["invert"](self)
    def __lt__(self, other: Any) -> Secret: return UFUNCS["less"](self, other)
    def __le__(self, other: Any) -> Secret: return UFUNCS["less_equal"](self, other)
    def __gt__(self, other: Any) -> Secret: return UFUNCS["greater"](self, other)
    def __ge__(self, other: Any) -> Secret: return UFUNCS["greater_equal"](self, other)
    def __eq__(self, other: Any) -> Secret: return UFUNCS["equal"](self, other)  # type: ignore[override]
    def __ne__(self, other: Any) -> Secret: return UFUNCS["not_equal"](self, other)  # type: ignore[override]
    def __round__(self, digits: int = 0) -> Any: return FUNCTIONS[np.round](self, digits)

    # Moving elements

    def __getitem__(self, key: Any) -> Secret:
        keys = key if isinstance(key, tuple) else (key,)
        if any(isinstance(one, Secret) for one in keys):
            refuse(
                "an index that is a secret: look entries up with mg.look_up(table, places), or choose with np.where; "
                "a mask changes how many elements there are, which all would see"
            )
        if all(one is None or one is Ellipsis or isinstance(one, (int, np.integer, slice)) for one in keys):
            return self._viewed(lambda shadow: shadow[key])
        return self.moved(lambda places: places[key])

    def __setitem__(self, key: Any, value: Any) -> None:
        refuse("secrets are never changed in place: take np.where(public mask, value, array), or np.concatenate of parts")

    def _viewed(self, look: Callable[[Any], Any]) -> Secret:
        """What a function that gives views of arrays shows, and copies nothing."""
        strides, step = [], 1
        for length in reversed(self.shape):
            strides.append(step)
            step *= max(length, 1)
        one = np.zeros(1, dtype=np.int8)
        # No element of it is read: only where the view's elements would lie.
        shadow = as_strided(one, self.shape, strides[::-1], writeable=False)
        seen = look(shadow)
        if not isinstance(seen, np.ndarray):
            # A single element, which NumPy reads: its place by the same key of an array that has places.
            return self.moved(look)
        if seen.size == 0:
            return self._op("view", 0, list(seen.shape), [0] * seen.ndim)
        start = shadow.__array_interface__["data"][0]
        offset = seen.__array_interface__["data"][0] - start
        if seen.shape == self.shape and offset == 0 and seen.strides == shadow.strides:
            return self
        return self._op("view", offset, list(seen.shape), list(seen.strides))

    def _op(self, method: str, *arguments: Any) -> Secret:
        return Secret(self._trace, self._trace.call(method, self._tensor, *arguments))

    def moved(self, move: Callable[[Any], Any]) -> Secret:
        """The elements that a function of NumPy picks of an array of this shape: it must move elements, and nothing else."""
        places = np.asarray(move(np.arange(self.size, dtype=np.int64).reshape(self.shape)))
        if places.size == 0:
            return self._op("view", 0, list(places.shape), [0] * places.ndim)
        steps = []
        for axis, length in enumerate(places.shape):
            first = [0] * places.ndim
            if length > 1:
                first[axis] = 1
                steps.append(int(places[tuple(first)] - places[(0,) * places.ndim]))
            else:
                steps.append(0)
        offset = int(places[(0,) * places.ndim])
        grid = sum(
            (np.arange(length).reshape([-1 if axis == other else 1 for other in range(places.ndim)]) * step
             for axis, (length, step) in enumerate(zip(places.shape, steps))),
            np.int64(offset),
        )
        if np.array_equal(np.broadcast_to(grid, places.shape), places):
            return self._op("view", offset, list(places.shape), steps)
        flat = self.reshape(-1)
        picked = apply("pick", [flat], [0, *places.ravel().tolist()])
        return picked.reshape(places.shape)

    def reshape(self, *shape: Any, order: str = "C") -> Secret:
        """The elements in another shape; one length may be -1."""
        axes = shape[0] if len(shape) == 1 and not isinstance(shape[0], (int, np.integer)) else shape
        axes = [int(length) for length in axes]
        if order != "C":
            return self.moved(lambda places: np.reshape(places, axes, order=order))
        if -1 in axes:
            known = int(np.prod([length for length in axes if length != -1], dtype=np.int64))
            if known == 0 or self.size % known:
                raise ValueError(f"cannot reshape a secret of shape {self.shape} into {tuple(axes)}")
            axes[axes.index(-1)] = self.size // known
        if tuple(axes) == self.shape:
            return self
        if int(np.prod(axes, dtype=np.int64)) != self.size:
            raise ValueError(f"cannot reshape a secret of shape {self.shape} into {tuple(axes)}")
        return apply("reshape", [self], axes)

    def transpose(self, *axes: Any) -> Secret:
        """The axes in another order, in reverse unless it is said."""
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else (axes or None)
        return self._viewed(lambda shadow: np.transpose(shadow, order))

    def astype(self, dtype: DTypeLike, copy: bool = True) -> Secret:
        """The same numbers as another type: integers as NumPy casts them; numbers with a fixed point rounded towards zero."""
        return convert(self, as_dtype(dtype))

    def to(self, sharing: str) -> Secret:
        """Holds the value in a sharing: A, B, R, Y, Y2, alpha or beta."""
        return apply("to", [self], text=sharing)


def _method(name: str, function: Any) -> None:
    def method(self: Secret, *args: Any, **kwargs: Any) -> Any:
        return FUNCTIONS[function](self, *args, **kwargs)

    method.__name__ = name
    method.__doc__ = f"As ``np.{name}`` of this array."
    setattr(Secret, name, method)


for _name in (
    "sum prod mean var std min max argmin argmax all any cumsum cumprod dot clip ravel squeeze swapaxes repeat take diagonal "
    "trace round argsort ptp".split()
):
    _method(_name, getattr(np, _name))
setattr(Secret, "flatten", lambda self, order="C": self.reshape(-1) if order == "C" else FUNCTIONS[np.ravel](self, order))
setattr(Secret, "copy", lambda self, order="C": self)


def _fixed_of(name: str) -> DType:
    """The type of numbers with a fixed point by its name, also where it has no bit left before the point."""
    bits, fraction = name.removeprefix("Fixed<i").removesuffix(">").split(",")
    return DType(int(bits), True, int(fraction))


def trace_of(values: Sequence[Any]) -> Trace:
    """The program that secrets among values belong to."""
    for value in values:
        if isinstance(value, Secret):
            return value._trace
    raise TypeError("none of these values is a secret")


def apply_all(name: str, values: Sequence[Secret], numbers: Sequence[int] = (), text: str = "") -> list[Secret]:
    """Records an operation of the native module on secrets."""
    trace = trace_of(values)
    made = trace.op(name, [value._tensor for value in values], numbers, text)
    return [Secret(trace, tensor) for tensor in made]


def apply(name: str, values: Sequence[Secret], numbers: Sequence[int] = (), text: str = "") -> Secret:
    """Records an operation with one result."""
    return apply_all(name, values, numbers, text)[0]


def constant(trace: Trace, value: Any, dtype: DType) -> Secret:
    """A public array as a value of a program."""
    array = np.asarray(value)
    return Secret(trace, trace.call("constant", dtype.name, list(array.shape), to_bytes(array, dtype)))


def type_of_public(value: Any) -> DType:
    """The type that a public value has by itself."""
    array = np.asarray(value)
    if array.dtype.kind == "f":
        return fixed(64, 16)
    if array.dtype.kind == "O":
        return int64
    return as_dtype(array.dtype)


def as_secret(trace: Trace, value: Any, like: Secret | None = None) -> Secret:
    """A value as one of the program: a secret as it is, a public one of the type of ``like`` where that can hold it."""
    if isinstance(value, Secret):
        return value
    if isinstance(value, (list, tuple)) and any(isinstance(one, Secret) for one in value):
        made: Secret = FUNCTIONS[np.stack]([as_secret(trace, one, like) for one in value])
        return made
    array = np.asarray(value)
    if like is None:
        return constant(trace, array, type_of_public(array))
    dtype = like.dtype
    if dtype.is_bool and array.dtype.kind != "b":
        dtype = type_of_public(array)
    elif dtype.is_integer and array.dtype.kind == "f":
        if array.size and not np.array_equal(np.floor(array), array):
            refuse(f"a number with digits after the point beside a secret of {dtype}: take astype(mg.fixed(64, 16)) of the secret first")
    return constant(trace, array, dtype)


def convert(value: Secret, to: DType) -> Secret:
    """A secret as another type."""
    own = value.dtype
    if own == to:
        return value
    if to.is_bool:
        return UFUNCS["not_equal"](value, 0)
    if own.is_bool:
        whole = apply("cast", [value], text=DType(to.bits, to.signed).name)
        return apply("extend", [whole], [to.fraction]) if to.is_fixed else whole
    if own.is_fixed and to.is_fixed:
        if to.bits > own.bits:
            value = apply("cast", [value], text=DType(to.bits, True, own.fraction).name)
        if to.fraction > own.fraction:
            value = apply("extend", [value], [to.fraction - own.fraction])
        elif to.fraction < own.fraction:
            value = apply("truncate", [value], [own.fraction - to.fraction])
        return value if value.dtype == to else apply("cast", [value], text=to.name)
    if own.is_fixed:
        # Towards zero, as NumPy casts floats.
        negative = UFUNCS["less"](value, 0)
        magnitude = apply("truncate", [UFUNCS["absolute"](value)], [own.fraction])
        signed = apply("select", [negative, apply("negate", [magnitude]), magnitude])
        return signed if signed.dtype == to else apply("cast", [signed], text=to.name)
    if to.is_fixed:
        wide = DType(to.bits, True)
        whole = value if own == wide else apply("cast", [value], text=wide.name)
        return apply("extend", [whole], [to.fraction])
    return apply("cast", [value], text=to.name)


def together(trace: Trace, a: Any, b: Any) -> tuple[Secret, Secret]:
    """Two values as secrets of one type, as NumPy would have them meet."""
    like = a if isinstance(a, Secret) else b
    a, b = as_secret(trace, a, like), as_secret(trace, b, like)
    if a.dtype == b.dtype:
        return a, b
    if a.dtype.is_fixed and b.dtype.is_fixed:
        refuse(f"numbers of {a.dtype} and of {b.dtype}: convert one of them with astype")
    if a.dtype.is_fixed:
        return a, convert(b, a.dtype)
    if b.dtype.is_fixed:
        return convert(a, b.dtype), b
    if a.dtype.is_bool:
        return convert(a, b.dtype), b
    if b.dtype.is_bool:
        return a, convert(b, a.dtype)
    bits = max(a.dtype.bits, b.dtype.bits)
    if a.dtype.signed != b.dtype.signed:
        unsigned = a.dtype if not a.dtype.signed else b.dtype
        if unsigned.bits >= bits:
            bits = 2 * unsigned.bits
        if bits > 128:
            refuse(f"integers of {a.dtype} and of {b.dtype}: no type has all of both; convert one of them with astype")
    common = DType(bits, a.dtype.signed or b.dtype.signed)
    return convert(a, common), convert(b, common)


def fitted(values: Sequence[Secret]) -> list[Secret]:
    """Values broadcast to one shape."""
    shape = np.broadcast_shapes(*(value.shape for value in values))
    return [value if value.shape == shape else apply("broadcast_to", [value], shape) for value in values]


PLACE = uint32
BOOL = bool_
