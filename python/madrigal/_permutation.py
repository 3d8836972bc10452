"""Orders of rows that nobody knows, as values."""

from __future__ import annotations

from typing import Any

from ._errors import refuse
from ._secret import Secret, as_secret, trace_of
from ._trace import Trace


class Permutation:
    """An order of rows that nobody knows: applied to columns, also to later ones, inverted, and put behind another one.

    It is made by :func:`permutation` or :func:`random_permutation`, and by no array, whatever stands in it. Three parties move rows in
    ``R``, two in protocols with ``B``.
    """

    def __init__(self, trace: Trace, inner: Any) -> None:
        self._trace = trace
        self._inner = inner

    def __len__(self) -> int:
        rows: int = self._inner.rows
        return rows

    def __repr__(self) -> str:
        return f"<Permutation of {len(self)} rows>"

    def apply(self, *columns: Any) -> tuple[Secret, ...]:
        """Columns of one axis in this order: one operation, whatever their number."""
        arrays = [as_secret(self._trace, one) for one in columns]
        if any(one.shape != (len(self),) for one in arrays):
            shapes = ", ".join(str(one.shape) for one in arrays)
            raise ValueError(f"apply: columns must have {len(self)} rows and one axis: {shapes}")
        made = self._trace.call("permuted", self._inner, [one._tensor for one in arrays])
        return tuple(Secret(self._trace, one) for one in made)

    def inverse(self) -> Permutation:
        """The order that undoes this one."""
        return Permutation(self._trace, self._trace.call("inverted", self._inner))

    def then(self, other: Permutation) -> Permutation:
        """This order first, and then the other one, of as many rows."""
        if not isinstance(other, Permutation):
            refuse("a permutation is put behind a permutation")
        if len(self) != len(other):
            raise ValueError(f"then: permutations of {len(self)} rows and of {len(other)}")
        return Permutation(self._trace, self._trace.call("composed", self._inner, other._inner))

    def places(self) -> Secret:
        """The place to which each row goes, as a secret of ``uint32``."""
        return Secret(self._trace, self._trace.call("places", self._inner))


def permutation(*keys: Any, descending: Any = False) -> Permutation:
    """The order into which :func:`sort_by` would bring rows with these keys, the most significant one first.

    ``descending`` says of all or of each whether its greatest elements come first.
    """
    if not keys:
        raise ValueError("permutation: a key to sort by is missing")
    trace = trace_of(keys)
    directions = [*descending] if isinstance(descending, (tuple, list)) else [descending] * len(keys)
    if len(directions) != len(keys):
        raise ValueError(f"permutation: {len(directions)} directions for {len(keys)} keys")
    arrays = [as_secret(trace, one) for one in keys]
    if any(one.shape != arrays[0].shape or one.ndim != 1 for one in arrays):
        raise ValueError("permutation: keys must have one shape, of one axis: " + ", ".join(str(one.shape) for one in arrays))
    made = trace.call("permutation_of", [one._tensor for one in arrays], [bool(one) for one in directions])
    return Permutation(trace, made)


def random_permutation(like: Secret) -> Permutation:
    """An order of as many rows as a column has, drawn at random. ``simulate`` leaves rows in theirs."""
    if not isinstance(like, Secret) or like.ndim != 1:
        raise ValueError("random_permutation: a column tells how many rows there are: a secret of one axis")
    return Permutation(like._trace, like._trace.call("random_permutation", like.shape[0]))


__all__ = ["Permutation", "permutation", "random_permutation"]
