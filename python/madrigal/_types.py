"""Types of secrets, and how arrays of NumPy become elements and back."""

from __future__ import annotations

import re
from typing import Any, Union

import numpy as np


#: Threads that a party computes with: a number, or ``"auto"``.
ThreadsLike = Union[int, str]


class DType:
    """The type of a secret's elements: ``bool``, an integer, or a number with a fixed point.

    A :func:`fixed` number is an integer in steps of 2 ** -fraction: it is added exactly, and a product is rounded down to a step.
    """

    __slots__ = ("bits", "signed", "fraction")

    bits: int
    signed: bool
    fraction: int

    def __init__(self, bits: int, signed: bool, fraction: int = 0) -> None:
        self.bits, self.signed, self.fraction = bits, signed, fraction

    @property
    def name(self) -> str:
        """The name of the type, as programs and the command line have it."""
        if self.bits == 1:
            return "bool"
        letter = "i" if self.signed else "u"
        word = f"{letter}{self.bits}"
        return f"Fixed<{word}, {self.fraction}>" if self.fraction else word

    @property
    def is_bool(self) -> bool:
        """Whether it is ``bool``."""
        return self.bits == 1

    @property
    def is_fixed(self) -> bool:
        """Whether numbers have bits after the point."""
        return self.fraction > 0

    @property
    def is_integer(self) -> bool:
        """Whether it is a type of integers."""
        return not self.is_bool and not self.is_fixed

    @property
    def numpy(self) -> np.dtype[Any]:
        """The type of the arrays that results of this type are."""
        if self.is_bool:
            return np.dtype(np.bool_)
        if self.is_fixed:
            return np.dtype(np.float64)
        if self.bits == 128:
            return np.dtype(object)
        return np.dtype(f"{'i' if self.signed else 'u'}{self.bits // 8}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DType) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        if self.is_fixed:
            return f"fixed({self.bits}, {self.fraction})"
        return self.name


def fixed(bits: int, fraction: int) -> DType:
    """Numbers of ``bits`` bits with a fixed point, ``fraction`` of them after it: 16, 32, 64 or 128 bits."""
    if bits not in (16, 32, 64, 128) or not 0 < fraction < bits - 1:
        raise ValueError(
            f"fixed({bits}, {fraction}): numbers have 16, 32, 64 or 128 bits, one at least after the point, one before it, and a sign"
        )
    return DType(bits, True, fraction)


#: A truth value.
bool_ = DType(1, False)
#: Integers, as NumPy has them.
int8, int16, int32, int64, int128 = (DType(bits, True) for bits in (8, 16, 32, 64, 128))
uint8, uint16, uint32, uint64, uint128 = (DType(bits, False) for bits in (8, 16, 32, 64, 128))

DTypeLike = Union[DType, str, type, "np.dtype[Any]"]

_NAME = re.compile(r"([iu])(8|16|32|64|128)")
_FIXED = re.compile(r"(?:Fixed<i(\d+), ?(\d+)>|fixed\((\d+), ?(\d+)\))")


def as_dtype(given: DTypeLike) -> DType:
    """The type that is meant: a :class:`DType`, its name, or a type of NumPy or Python; floats are ``fixed(64, 16)``."""
    if isinstance(given, DType):
        return given
    if isinstance(given, str):
        if given == "bool":
            return bool_
        if match := _NAME.fullmatch(given):
            return DType(int(match[2]), match[1] == "i")
        if match := _FIXED.fullmatch(given):
            return fixed(int(match[1] or match[3]), int(match[2] or match[4]))
    kind = np.dtype(given)
    if kind.kind == "b":
        return bool_
    if kind.kind in "iu":
        return DType(8 * kind.itemsize, kind.kind == "i")
    if kind.kind == "f":
        return fixed(64, 16)
    raise TypeError(f"{given!r} is no type of secrets: there are bool, integers of 8 to 128 bits, and mg.fixed(bits, fraction)")


def as_array(value: Any, dtype: DType) -> Any:
    """A value as an array of NumPy: lists of integers as integers, however wide they are."""
    if dtype.is_integer and not isinstance(value, np.ndarray) and not hasattr(value, "dtype"):
        array = np.asarray(value)
        if array.dtype.kind in "fO":
            array = np.asarray(value, dtype=object)
            whole = np.frompyfunc(lambda one: one == int(one), 1, 1)(array)
            if not np.all(whole):
                raise ValueError(f"a value of {dtype} has whole numbers; convert it, or take mg.fixed(64, 16)")
            return np.asarray(np.frompyfunc(int, 1, 1)(array), dtype=object)
        return array
    return np.asarray(value)


def to_bytes(array: Any, dtype: DType) -> bytes:
    """The elements of an array as the native module takes them.

    Raises:
        ValueError: a number that the type does not have.
    """
    array = as_array(array, dtype)
    if dtype.is_fixed:
        return np.ascontiguousarray(array, dtype="<f8").tobytes()
    if dtype.is_bool:
        if array.dtype.kind != "b" and not np.isin(array, (0, 1)).all():
            raise ValueError("a value of bool is True or False, 0 or 1")
        return np.ascontiguousarray(array, dtype=np.uint8).tobytes()
    if array.dtype.kind == "f":
        whole = np.floor(array)
        if not np.array_equal(whole, array):
            raise ValueError(f"a value of {dtype} has whole numbers; convert it, or take mg.fixed(64, 16)")
        array = whole.astype(object)
        array = np.frompyfunc(int, 1, 1)(array)
    low, high = (-(1 << (dtype.bits - 1)), (1 << (dtype.bits - 1)) - 1) if dtype.signed else (0, (1 << dtype.bits) - 1)
    if array.size and (array.dtype != dtype.numpy or array.dtype == object):
        least, most = int(array.min()), int(array.max())
        if least < low or most > high:
            raise ValueError(f"a value of {dtype} is from {low} to {high}; there is {least if least < low else most}")
    if dtype.bits == 128:
        mask = (1 << 128) - 1
        return b"".join((int(number) & mask).to_bytes(16, "little") for number in array.ravel())
    return np.ascontiguousarray(array.astype(dtype.numpy, copy=False)).astype(
        dtype.numpy.newbyteorder("<"), copy=False
    ).tobytes()


#: Elements that are converted at a time.
_PIECE = 1 << 16


def fill(values: Any, array: Any, dtype: DType) -> None:
    """Gives the native module the elements of an array, some at a time.

    Raises:
        ValueError: a number that the type does not have.
    """
    array = as_array(array, dtype)
    flat = array.reshape(-1) if array.flags.c_contiguous else array.flat
    for first in range(0, array.size, _PIECE):
        values.push(to_bytes(flat[first : first + _PIECE], dtype))


def from_bytes(data: bytes | bytearray, dtype: DType, shape: tuple[int, ...]) -> Any:
    """The array that elements of the native module are."""
    if dtype.bits == 128 and not dtype.is_fixed:
        numbers = (int.from_bytes(data[at : at + 16], "little", signed=dtype.signed) for at in range(0, len(data), 16))
        array = np.empty(len(data) // 16, dtype=object)
        array[:] = list(numbers)
        return array.reshape(shape)
    if dtype.is_bool:
        return np.frombuffer(data, dtype=np.uint8).astype(np.bool_).reshape(shape)
    array = np.frombuffer(data, dtype=dtype.numpy.newbyteorder("<"))
    return array.astype(dtype.numpy, copy=False).reshape(shape)
