"""What NumPy's functions on secrets have in common."""

from __future__ import annotations

from typing import Any, Callable, TypeVar

import numpy

from .._secret import FUNCTIONS, Secret, convert
from .._types import fixed

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


def floats(value: Secret) -> Secret:
    """The value itself where it has a fixed point, else as ``fixed(64, 16)``, which ``float`` stands for."""
    return value if value.dtype.is_fixed else convert(value, fixed(64, 16))
