"""Expressions on the columns of tables."""

from __future__ import annotations

import datetime
import decimal
import json
from typing import Any, Iterable, Union

_EPOCH = datetime.date(1970, 1, 1)
_EPOCH_TIME = datetime.datetime(1970, 1, 1)


def number_of(value: Any) -> tuple[int, Any]:
    """A number in units, and the unit as the native module names it: of a float, the digits that Python shows."""
    if isinstance(value, datetime.datetime):
        return (value - _EPOCH_TIME) // datetime.timedelta(microseconds=1), "microsecond"
    if isinstance(value, datetime.date):
        return (value - _EPOCH).days, "day"
    if isinstance(value, float):
        value = decimal.Decimal(repr(value))
    if isinstance(value, decimal.Decimal):
        if not value.is_finite():
            raise ValueError(f"{value} is no number that tables hold")
        sign, digits, exponent = value.as_tuple()
        units = int("".join(map(str, digits)) or "0") * (-1 if sign else 1)
        assert isinstance(exponent, int)
        return (units * 10**exponent, "one") if exponent >= 0 else (units, {"decimal": -exponent})
    return int(value), "one"


def _literal(value: Any) -> dict[str, Any]:
    if value is None:
        return {"value": "null", "unit": "one"}
    # NumPy's truth values are not Python's.
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        return {"value": {"bool": bool(value)}, "unit": "one"}
    if isinstance(value, str):
        return {"value": {"text": value}, "unit": "one"}
    units, unit = number_of(value)
    return {"value": {"number": units}, "unit": unit}


class Expr:
    """What is computed of the columns of each row: made of :func:`col` and :func:`lit` by Python's operators.

    ``&``, ``|`` and ``~`` are *and*, *or* and *not*. Missing values are treated as in SQL.
    """

    __slots__ = ("_node",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, node: Any) -> None:
        self._node = node

    def _json(self) -> str:
        return json.dumps(self._node)

    def _two(self, operator: str, other: Any, turned: bool = False) -> Expr:
        one, two = self._node, as_expr(other)._node
        return Expr({"binary": [operator, two, one] if turned else [operator, one, two]})

    def __add__(self, other: Any) -> Expr:
        return self._two("plus", other)

    def __radd__(self, other: Any) -> Expr:
        return self._two("plus", other, True)

    def __sub__(self, other: Any) -> Expr:
        return self._two("minus", other)

    def __rsub__(self, other: Any) -> Expr:
        return self._two("minus", other, True)

    def __mul__(self, other: Any) -> Expr:
        return self._two("times", other)

    def __rmul__(self, other: Any) -> Expr:
        return self._two("times", other, True)

    def __truediv__(self, other: Any) -> Expr:
        return self._two("over", other)

    def __rtruediv__(self, other: Any) -> Expr:
        return self._two("over", other, True)

    def quotient(self, other: Any) -> Expr:
        """The quotient of integers, cut off towards zero as in SQL (Python's ``//`` rounds down)."""
        return self._two("whole_over", other)

    def remainder(self, other: Any) -> Expr:
        """What :meth:`quotient` leaves, with the sign of the first as in SQL (Python's ``%`` has that of the second)."""
        return self._two("rest", other)

    def __eq__(self, other: Any) -> Expr:  # type: ignore[override]
        return self._two("equal", other)

    def __ne__(self, other: Any) -> Expr:  # type: ignore[override]
        return self._two("differ", other)

    def __lt__(self, other: Any) -> Expr:
        return self._two("less", other)

    def __le__(self, other: Any) -> Expr:
        return self._two("at_most", other)

    def __gt__(self, other: Any) -> Expr:
        return self._two("greater", other)

    def __ge__(self, other: Any) -> Expr:
        return self._two("at_least", other)

    def __and__(self, other: Any) -> Expr:
        return self._two("and", other)

    def __rand__(self, other: Any) -> Expr:
        return self._two("and", other, True)

    def __or__(self, other: Any) -> Expr:
        return self._two("or", other)

    def __ror__(self, other: Any) -> Expr:
        return self._two("or", other, True)

    def __invert__(self) -> Expr:
        return Expr({"not": self._node})

    def __neg__(self) -> Expr:
        return Expr({"negate": self._node})

    def __bool__(self) -> bool:
        raise TypeError("an expression is neither true nor false before it is computed: combine conditions by &, | and ~")

    def is_null(self) -> Expr:
        """Whether the value is missing."""
        return Expr({"is_null": self._node})

    def is_not_null(self) -> Expr:
        """Whether the value is there."""
        return ~self.is_null()

    def fill_null(self, value: Any) -> Expr:
        """The value, or another one where it is missing."""
        return Expr({"coalesce": [self._node, as_expr(value)._node]})

    def is_in(self, values: Iterable[Any]) -> Expr:
        """Whether the value is one of these public ones."""
        return Expr({"among": [self._node, [_literal(value) for value in values]]})

    def is_between(self, least: Any, greatest: Any) -> Expr:
        """Whether the value is from one to another, both included."""
        return self._two("at_least", least)._two("and", self._two("at_most", greatest))

    def like(self, pattern: str) -> Expr:
        """Whether a text is like a pattern: ``%`` stands for any characters, ``_`` for one, one after a backslash for itself."""
        return Expr({"like": [self._node, pattern]})

    def slice(self, start: int, length: int) -> Expr:
        """Characters of a text: from a place, counted from 0, as many."""
        return Expr({"piece": [self._node, start, length]})

    def year(self) -> Expr:
        """The year of a date."""
        return Expr({"part": ["year", self._node]})

    def month(self) -> Expr:
        """The month of a date, 1 to 12."""
        return Expr({"part": ["month", self._node]})

    def day(self) -> Expr:
        """The day of the month of a date, 1 to 31."""
        return Expr({"part": ["day", self._node]})

    def sum(self) -> Told:
        """The sum over a group; missing if there is no value."""
        return Told("sum", self)

    def mean(self) -> Told:
        """The mean over a group."""
        return Told("mean", self)

    def var(self) -> Told:
        """The variance of a sample."""
        return Told("var", self)

    def min(self) -> Told:
        """The least value of a group."""
        return Told("min", self)

    def max(self) -> Told:
        """The greatest value of a group."""
        return Told("max", self)

    def count(self) -> Told:
        """Number of values that are there in a group."""
        return Told("count", self)

    def n_unique(self) -> Told:
        """Number of different values of a group, without missing ones."""
        return Told("n_unique", self)


class Told:
    """A number that is told of each group."""

    __slots__ = ("_function", "_value")

    def __init__(self, function: str, value: Expr | None) -> None:
        self._function, self._value = function, value

    def _parts(self, name: str) -> tuple[str, str, str | None]:
        return name, self._function, None if self._value is None else self._value._json()


ExprLike = Union[Expr, Any]


def as_expr(value: Any) -> Expr:
    """An expression, or a public value as one."""
    return value if isinstance(value, Expr) else lit(value)


def col(name: str) -> Expr:
    """The column of a table, by its name."""
    return Expr({"column": name})


def lit(value: Any) -> Expr:
    """A public value: a number, a text, a truth value, a date, or ``None`` for a missing one. Decimal numbers are exact; of a float
    the digits count that Python shows."""
    return Expr({"literal": _literal(value)})


def rows() -> Told:
    """Number of rows of a group."""
    return Told("rows", None)


def when(condition: Expr, value: Any, *others: Any) -> Expr:
    """The value after the first condition that is true: ``when(a, x, b, y, z)`` is x where a is, else y where b is, else z; missing
    without z."""
    words = [condition, value, *others]
    branches = [[as_expr(one)._node, as_expr(two)._node] for one, two in zip(words[0::2], words[1::2])]
    otherwise = as_expr(words[-1])._node if len(words) % 2 else None
    return Expr({"case": [branches, otherwise]})
