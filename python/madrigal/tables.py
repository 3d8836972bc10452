"""Kinds of columns, and numbers that are told of groups, for :func:`madrigal.table`::

    from madrigal.tables import choice, integer, rows, text

    patients = mg.table("patients", columns={"id": integer(0, 10**6), "ward": choice("a", "b")}, rows=1000, unique="id", owner=1)
"""

from ._expressions import Told, rows
from ._tables import Groups, Kind, choice, dates, decimals, integer, text, times, truth

__all__ = ["Groups", "Kind", "Told", "choice", "dates", "decimals", "integer", "rows", "text", "times", "truth"]
