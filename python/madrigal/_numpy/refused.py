"""NumPy's functions that secrets refuse, with what to write instead."""

from __future__ import annotations

from .._errors import refuse
from .._secret import FUNCTIONS
from .base import np


def _refused(names: str, text: str) -> None:
    for name in names.split():
        function = getattr(np, name, None)
        if function is not None:
            FUNCTIONS[function] = lambda *args, _name=name, **kwargs: refuse(f"np.{_name}: {text}")


_refused("nonzero argwhere flatnonzero", "how many places there are would be seen; take np.where(condition, array, 0), or a count")
_refused("unique unique_values unique_counts", "how many different elements there are would be seen; sort, and compare neighbours")
_refused("setdiff1d union1d intersect1d setxor1d", "how many elements the result has would be seen; take np.isin for a mask")
_refused("put place putmask copyto fill_diagonal put_along_axis", "secrets are never changed in place; take np.where")
_refused("array2string array_repr array_str save savetxt", "a secret has no text; reveal it and print the result")
_refused("trim_zeros", "how many zeros there are would be seen")
_refused("apply_along_axis apply_over_axes vectorize piecewise", "write array operations, or mg.map(function, array)")
