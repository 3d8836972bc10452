"""NumPy's functions that choose and round."""

from __future__ import annotations

from typing import Any, Sequence

from .._errors import refuse
from .._secret import FUNCTIONS, UFUNCS, Secret, apply, as_secret, convert, fitted, together, trace_of
from .._types import bool_
from .base import floats, implements, np
from .shapes import concatenate
from .sums import all_of


# Choices


@implements(np.where)
def where(condition: Any, *branches: Any) -> Secret:
    if len(branches) != 2:
        refuse("np.where(condition) gives places, whose number all would see: take np.where(condition, a, b)")
    trace = trace_of([condition, *branches])
    if any(isinstance(branch, Secret) for branch in branches):
        a, b = together(trace, *branches)
    else:
        public = np.result_type(*branches)
        a, b = (as_secret(trace, np.asarray(branch, dtype=public)) for branch in branches)
    if not isinstance(condition, Secret):
        a, b = fitted([a, b])
        shape = np.broadcast_shapes(np.shape(condition), a.shape)
        a, b = (np.broadcast_to(one, shape) for one in (a, b))
        both = concatenate([a.reshape(-1), b.reshape(-1)])
        places = np.arange(a.size).reshape(shape)
        return both.moved(lambda _: np.where(condition, places, places + a.size))
    return apply("select", fitted([convert(condition, bool_), a, b]))


@implements(np.select)
def select(conditions: Sequence[Any], choices: Sequence[Any], default: Any = 0) -> Secret:
    made = default
    for condition, choice in reversed(list(zip(conditions, choices))):
        made = np.where(condition, choice, made)
    chosen: Secret = made
    return chosen


@implements(np.choose)
def choose(index: Any, choices: Sequence[Any], out: Any = None, mode: str = "raise") -> Secret:
    made = choices[-1]
    for at in reversed(range(len(choices) - 1)):
        made = np.where(UFUNCS["equal"](index, at) if isinstance(index, Secret) else np.equal(index, at), choices[at], made)
    chosen: Secret = made
    return chosen


@implements(np.clip)
def clip(value: Any, a_min: Any = None, a_max: Any = None, out: Any = None, **kwargs: Any) -> Secret:
    low, high = kwargs.pop("min", a_min), kwargs.pop("max", a_max)
    if low is not None:
        value = UFUNCS["maximum"](value, low)
    return value if high is None else UFUNCS["minimum"](value, high)


@implements(np.round, np.around)
def round_(value: Secret, decimals: int = 0, out: Any = None) -> Secret:
    if not value.dtype.is_fixed:
        return value
    if not decimals:
        return UFUNCS["rint"](value)
    return UFUNCS["divide"](UFUNCS["rint"](UFUNCS["multiply"](value, 10.0**decimals)), 10.0**decimals)


FUNCTIONS[np.fix] = UFUNCS["trunc"]
FUNCTIONS[np.nan_to_num] = lambda value, *args, **kwargs: value


@implements(np.isclose)
def isclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Secret:
    """As NumPy has it, in steps of the type: a tolerance below half a step is none."""
    trace = trace_of([a, b])
    x, y = (floats(as_secret(trace, one, a if isinstance(a, Secret) else b)) for one in (a, b))
    room = UFUNCS["add"](UFUNCS["multiply"](UFUNCS["absolute"](y), rtol), atol)
    return UFUNCS["less_equal"](UFUNCS["absolute"](UFUNCS["subtract"](x, y)), room)


FUNCTIONS[np.allclose] = lambda *args, **kwargs: all_of(isclose(*args, **kwargs))
FUNCTIONS[np.array_equal] = lambda a, b, **kwargs: (
    all_of(UFUNCS["equal"](a, b)) if np.shape(a) == np.shape(b) else False
)
FUNCTIONS[np.array_equiv] = lambda a, b: all_of(UFUNCS["equal"](a, b))
