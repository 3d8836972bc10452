"""Kinds of columns, and numbers that are told of groups, for :func:`madrigal.table`.

For example, what everybody knows of a table that party 1 holds::

    from madrigal.tables import choice, integer

    patients = mg.table("patients", columns={"id": integer(0, 10**6), "ward": choice("a", "b")}, rows=1000, unique="id", owner=1)

A number that is told of groups is :func:`rows`, or a method of an expression, such as :meth:`madrigal.Expr.sum`. Of the rows around each,
:meth:`Told.over` tells it, and :func:`row_number`, :func:`rank` and :func:`dense_rank`.
"""

from ._expressions import Over, Told, dense_rank, rank, row_number, rows
from ._tables import Groups, Kind, choice, dates, decimals, integer, text, times, truth

__all__ = [
    "Groups", "Kind", "Over", "Told", "choice", "dates", "decimals", "dense_rank", "integer", "rank", "row_number", "rows", "text", "times", "truth",
]
