"""NumPy's linear algebra on secrets: square systems by elimination with pivots that nobody sees."""

from __future__ import annotations

from typing import Any

from .._secret import Secret, as_secret, convert, trace_of
from .base import floats, implements, np


def _square(name: str, value: Secret) -> Secret:
    if value.ndim != 2 or value.shape[0] != value.shape[1]:
        raise ValueError(f"np.linalg.{name}: a secret of shape {value.shape} is not one square matrix")
    return floats(value)


def _pivoted(rows: Secret, column: int) -> tuple[Secret, Secret]:
    """Rows from that of the column on, with that of the greatest number in the column first; and where it was, one element of
    all rows being 1."""
    rest = rows[column:]
    place = np.argmax(np.abs(rest[:, column]))
    chosen = (np.arange(rest.shape[0]) == place).astype(rows.dtype)
    first = chosen @ rest
    # The first row goes where the chosen one was.
    moved = rest + chosen[:, None] * (rest[0] - first)
    return np.concatenate([first[None], moved[1:]]), chosen


def _reduced(matrix: Secret, right: Secret) -> Secret:
    """The columns that a square matrix, which elimination makes the identity, takes along."""
    order = matrix.shape[0]
    rows = np.concatenate([matrix, right], axis=1)
    for column in range(order):
        if column + 1 < order:
            rest, _ = _pivoted(rows, column)
            rows = np.concatenate([rows[:column], rest])
        pivot = rows[column] / rows[column, column]
        factors = np.where(np.arange(order) == column, 0.0, rows[:, column])
        reduced = rows - factors[:, None] * pivot
        rows = np.concatenate([reduced[:column], pivot[None], reduced[column + 1 :]])
    taken: Secret = rows[:, order:]
    return taken


@implements(np.linalg.solve)
def solve(a: Any, b: Any) -> Secret:
    trace = trace_of([a, b])
    matrix = _square("solve", as_secret(trace, a, b if isinstance(b, Secret) else None))
    right = convert(as_secret(trace, b, matrix), matrix.dtype)
    if right.ndim not in (1, 2) or right.shape[0] != matrix.shape[0]:
        raise ValueError(f"np.linalg.solve: shapes {matrix.shape} and {right.shape} do not fit")
    if right.ndim == 1:
        return _reduced(matrix, right.reshape(-1, 1)).reshape(-1)
    return _reduced(matrix, right)


@implements(np.linalg.inv)
def inv(a: Secret) -> Secret:
    matrix = _square("inv", a)
    return _reduced(matrix, as_secret(matrix._trace, np.eye(matrix.shape[0]), matrix))


@implements(np.linalg.det)
def det(a: Secret) -> Secret:
    rows = _square("det", a)
    order = rows.shape[0]
    result = as_secret(rows._trace, np.ones(()), rows)
    for column in range(order):
        if column + 1 == order:
            return result * rows[column, column]
        rest, chosen = _pivoted(rows, column)
        # Two rows that change places change the sign; the first stays where it is the greatest.
        result = result * rest[0, column] * (2 * chosen[0] - 1)
        pivot = rest[0] / rest[0, column]
        below = rest[1:] - rest[1:, column][:, None] * pivot
        rows = np.concatenate([rows[:column], rest[:1], below])
    return result
