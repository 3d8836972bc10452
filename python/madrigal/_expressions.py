"""Expressions on the columns of tables."""

from __future__ import annotations

import datetime
import decimal
import fractions
import json
from typing import Any, Iterable, Sequence, Union

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

    def sqrt(self) -> Expr:
        """The square root, with six digits after the point where 128 bits have room for them; missing of a negative number."""
        return Expr({"root": self._node})

    def abs(self) -> Expr:
        """The number without its sign."""
        return when(self < 0, -self, self)

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

    def std(self) -> Told:
        """The standard deviation of a sample: the root of :meth:`var`, with as many of six digits after the point as 128 bits have room for."""
        return Told("std", self)

    def median(self) -> Told:
        """The value in the middle, or the number between the two in the middle."""
        return self.quantile(0.5)

    def quantile(self, place: Any, interpolation: str = "linear") -> Told:
        """The value at a place from 0 (the least) to 1 (the greatest), which has six digits at most.

        Args:
            place: The place.
            interpolation: ``linear`` gives a number between two values in proportion; ``inverted_cdf`` gives the first value that has at least
                this part of all up to it, of texts and dates too.
        """
        part = fractions.Fraction(str(place))
        if interpolation not in ("linear", "inverted_cdf"):
            raise ValueError(f"interpolation is linear or inverted_cdf, and not {interpolation!r}")
        if not 0 <= part <= 1 or part.denominator > 1_000_000:
            raise ValueError(f"a quantile is at a place from 0 to 1 with six digits at most, and not at {place!r}")
        return Told("quantile", self, (part.numerator, part.denominator, interpolation == "linear"))

    def first(self) -> Told:
        """The value of the first row, of the rows around each: it needs :meth:`Told.over`."""
        return Told("first", self)

    def last(self) -> Told:
        """The value of the last row, of the rows around each: it needs :meth:`Told.over`."""
        return Told("last", self)

    def shift(self, places: int = 1) -> Told:
        """The value of the row that is ``places`` before, or after if the number is negative; missing if there is none. It needs :meth:`Told.over`."""
        return Told("lag" if places >= 0 else "lead", self, places=abs(places))


class Told:
    """A number that is told of each group, or of the rows around each by :meth:`over`."""

    __slots__ = ("_function", "_place", "_places", "_value")

    def __init__(self, function: str, value: Expr | None, place: tuple[int, int, bool] | None = None, places: int = 0) -> None:
        self._function, self._value, self._place, self._places = function, value, place, places

    def _json(self) -> str | None:
        return None if self._value is None else self._value._json()

    def _parts(self, name: str) -> tuple[str, str, str | None, tuple[int, int, bool] | None]:
        return name, self._function, self._json(), self._place

    def over(
        self,
        *partition: str,
        order_by: str | Sequence[str] = (),
        descending: bool | Sequence[bool] = False,
        nulls_first: bool = False,
        rows: tuple[int | None, int | None] | None = None,
    ) -> Over:
        """The number for each row, of the rows that are equal to it in some columns: for ``with_columns``.

        Args:
            partition: The columns; without any, all rows are together.
            order_by: Columns that put the rows in order. Rows that are equal in all of them come in an order that nobody knows.
            descending: Whether the greatest come first, for all of these columns or one by one.
            nulls_first: Whether rows without a value come first.
            rows: How many rows before and after it count; ``None`` for all on that side. Without it all rows do: a running total is
                ``col("amount").sum().over("patient", order_by="day", rows=(None, 0))``.
        """
        if rows is not None and any(one is not None and one < 0 for one in rows):
            raise ValueError(f"rows counts rows before and after each, and not {rows!r}")
        names = [order_by] if isinstance(order_by, str) else list(order_by)
        down = [descending] * len(names) if isinstance(descending, bool) else list(descending)
        order = tuple((name, bool(one), nulls_first) for name, one in zip(names, down, strict=True))
        return Over(self, partition, order, rows)


class Over:
    """A number for each row, of those around it: a value of ``with_columns``."""

    __slots__ = ("_function", "_shared", "_value")

    def __init__(
        self,
        told: Told,
        partition: tuple[str, ...],
        order: tuple[tuple[str, bool, bool], ...],
        rows: tuple[int | None, int | None] | None,
    ) -> None:
        self._shared = (partition, order)
        self._function = (told._function, told._json(), told._places, rows)
        if told._place is not None:
            raise TypeError("a quantile is told of groups, and not of the rows around each")


def row_number() -> Told:
    """The row's place among those of :meth:`Told.over`, from 1. Rows that are equal in the order come in one that nobody knows."""
    return Told("row_number", None)


def rank() -> Told:
    """Number of rows that come before among those of :meth:`Told.over`, and 1."""
    return Told("rank", None)


def dense_rank() -> Told:
    """Number of different places before among those of :meth:`Told.over`, and 1."""
    return Told("dense_rank", None)


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
