"""Functions of networks that NumPy does not have."""

from __future__ import annotations

from typing import Any

from ._numpy.base import floats, np
from ._secret import Secret, apply


def where(condition: Any, one: Any, other: Any) -> Any:
    """``one`` where the condition holds, else ``other``: ``np.where``."""
    return np.where(condition, one, other)


def sigmoid(value: Secret) -> Secret:
    """1 / (1 + exp(-x)), within one step of the type."""
    return apply("sigmoid", [floats(value)])


def erf(value: Secret) -> Secret:
    """The error function, within one step of the type."""
    return apply("erf", [floats(value)])


def gelu(value: Secret) -> Secret:
    """x (1 + erf(x / sqrt(2))) / 2."""
    return apply("gelu", [floats(value)])


def silu(value: Secret) -> Secret:
    """x sigmoid(x)."""
    return apply("silu", [floats(value)])


def softplus(value: Secret) -> Secret:
    """log(1 + exp(x))."""
    return apply("softplus", [floats(value)])


def relu(value: Secret) -> Secret:
    """x where it is above 0, else 0."""
    return apply("relu", [value])


def softmax(value: Secret, axis: int = -1) -> Secret:
    """exp(x) divided by its sum along an axis."""
    value = floats(value)
    return apply("softmax", [value], [axis % value.ndim])
