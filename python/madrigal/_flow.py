"""Loops, branches and tables: what Python's own statements cannot do with secrets."""

from __future__ import annotations

from typing import Any, Callable, Sequence

import numpy

from ._errors import refuse
from ._secret import Secret, apply, apply_all, as_secret, convert, fitted, trace_of
from ._trace import Trace
from ._types import bool_, uint32, uint64

#: NumPy, whose types do not know secrets.
np: Any = numpy


def _list(made: Any) -> tuple[list[Any], bool]:
    return (list(made), False) if isinstance(made, (tuple, list)) else ([made], True)


def _body(trace: Trace, arguments: Sequence[tuple[str, Sequence[int]]], function: Callable[..., Any]) -> tuple[Any, bool]:
    """Records a function as a body; gives it, and whether the function gives a single value."""
    with trace.body(len(arguments)) as inner:
        values = [Secret(trace, trace.call("argument", at, dtype, list(shape))) for at, (dtype, shape) in enumerate(arguments)]
        made, single = _list(function(*values))
        results = [as_secret(trace, one)._tensor for one in made]
        body = inner.end(results)
    return body, single


def repeat(count: int, function: Callable[..., Any], *state: Any) -> Any:
    """Calls a function ``count`` times, each time on what it gave before: one operation, however often it runs.

    The function gets the state, and gives as many values of the same types and shapes.
    """
    trace = trace_of(state)
    values = [as_secret(trace, one) for one in state]
    body, single = _body(trace, [(one.dtype.name, one.shape) for one in values], function)
    operands = [one._tensor for one in values] + body.captured
    made = trace.call("with_bodies", "repeat", operands, [count, len(values)], [body])
    results = tuple(Secret(trace, one) for one in made)
    return results[0] if single else results


def map(function: Callable[..., Any], *arrays: Any) -> Any:
    """Calls a function on each row of arrays, side by side: one operation, however many rows there are."""
    trace = trace_of(arrays)
    values = [as_secret(trace, one) for one in arrays]
    counts = {one.shape[0] if one.ndim else None for one in values}
    if len(counts) != 1 or None in counts:
        raise ValueError("map: all arrays must have a first axis of one length")
    (count,) = counts
    body, single = _body(trace, [(one.dtype.name, one.shape[1:]) for one in values], function)
    operands = [one._tensor for one in values] + body.captured
    made = trace.call("with_bodies", "map", operands, [count, len(values)], [body])
    results = tuple(Secret(trace, one) for one in made)
    return results[0] if single else results


def cond(condition: Secret, one: Callable[[], Any], other: Callable[[], Any]) -> Any:
    """What one function gives where a secret condition holds, else what another gives: both are computed, or share their cost.

    Each function gives values of one type and of the condition's shape.
    """
    return match(convert(condition, bool_), [other, one])


def match(index: Secret, branches: Sequence[Callable[[], Any]]) -> Any:
    """What the function of the number that stands in ``index`` gives, element by element; zeros where there is no such function."""
    trace = index._trace
    results: list[list[Any]] = []
    single = True
    for branch in branches:
        made, single = _list(branch())
        results.append([as_secret(trace, value) for value in made])
    if len({len(made) for made in results}) != 1:
        refuse("all branches must give as many values")
    chosen = []
    for values in zip(*results):
        made = values[-1]
        if index.dtype.is_bool:
            made = np.where(index, values[1], values[0])
        else:
            zero = np.zeros((), dtype=made.dtype.numpy)
            made = zero
            for at, value in enumerate(values):
                made = np.where(index == at, value, made)
        chosen.append(made)
    return chosen[0] if single else tuple(chosen)


def sort_by(keys: Any, *values: Any, descending: Any = False) -> tuple[Any, ...]:
    """Arrays in the order of keys along their last axis, equal ones in the order in which they stand: the keys, then the values.

    ``keys`` is a secret or several, the most significant one first; ``descending`` says of all or of each whether its greatest elements come
    first. Three parties (R) sort a million rows in seconds.
    """
    every = [*keys] if isinstance(keys, (tuple, list)) else [keys]
    if not every:
        raise ValueError("sort_by: a key to sort by is missing")
    trace = trace_of([*every, *values])
    directions = [*descending] if isinstance(descending, (tuple, list)) else [descending] * len(every)
    if len(directions) != len(every):
        raise ValueError(f"sort_by: {len(directions)} directions for {len(every)} keys")
    arrays = [as_secret(trace, one) for one in (*every, *values)]
    if any(one.shape != arrays[0].shape or not one.ndim for one in arrays):
        raise ValueError("sort_by: keys and values must have one shape, with an axis: " + ", ".join(str(one.shape) for one in arrays))
    return tuple(apply_all("sort_by", arrays, [int(bool(one)) for one in directions]))


def shuffle(*values: Any) -> tuple[Any, ...]:
    """Arrays along their last axis in an order that nobody knows, the same for all of them; of arrays with more axes each list has its own.

    All orders are equally likely. ``simulate`` leaves values in their order. Three parties shuffle in ``R``, two in protocols with ``B``.
    """
    if not values:
        raise ValueError("shuffle: a value is missing")
    trace = trace_of(values)
    arrays = [as_secret(trace, one) for one in values]
    if any(one.shape != arrays[0].shape or not one.ndim for one in arrays):
        raise ValueError("shuffle: values must have one shape, with an axis: " + ", ".join(str(one.shape) for one in arrays))
    return tuple(apply_all("shuffle", arrays, []))


def look_up(table: Any, places: Secret) -> Secret:
    """Entries of a table, secret or public, at secret places of its first axis; zeros where there is no such place."""
    trace = trace_of([table, places])
    entries = as_secret(trace, table)
    if not places.dtype.is_integer:
        refuse("places are integers")
    index = places if not places.dtype.signed else convert(places, uint64 if places.dtype.bits == 64 else uint32)
    return apply("find_in", [index, entries])


__all__ = ["cond", "look_up", "map", "match", "repeat", "shuffle", "sort_by"]
_ = fitted
