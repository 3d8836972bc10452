"""Kinds of columns, and numbers that are told of groups, for :func:`madrigal.table`.

For example, what everybody knows of a table that party 1 holds::

    from madrigal.tables import choice, integer

    patients = mg.table("patients", columns={"id": integer(0, 10**6), "ward": choice("a", "b")}, rows=1000, unique="id", owner=1)

A number that is told of groups is :func:`rows`, or a method of an expression, such as :meth:`madrigal.Expr.sum`.
"""

from ._expressions import Told, rows
from ._tables import Groups, Kind, choice, dates, decimals, integer, text, times, truth

__all__ = ["Groups", "Kind", "Told", "choice", "dates", "decimals", "integer", "rows", "text", "times", "truth"]
