"""NumPy's products of vectors and matrices, and sums that are made of them."""

from __future__ import annotations

from typing import Any, Sequence

from .._errors import refuse
from .._secret import FUNCTIONS, UFUNCS, Axis, Secret, apply, constant
from .base import floats, implements, np
from .shapes import concatenate
from .sums import mean, no_more, quotient, reduced, sum_of


# Products


@implements(np.dot)
def dot(a: Any, b: Any, out: Any = None) -> Secret:
    if not np.ndim(a) or not np.ndim(b):
        return UFUNCS["multiply"](a, b)
    if np.ndim(b) <= 2:
        return UFUNCS["matmul"](a, b)
    return _contracted(a, b, ([-1], [-2]))


FUNCTIONS[np.inner] = lambda a, b: (
    UFUNCS["multiply"](a, b) if not np.ndim(a) or not np.ndim(b) else _contracted(a, b, ([-1], [-1]))
)
FUNCTIONS[np.vdot] = lambda a, b: UFUNCS["matmul"](np.ravel(a), np.ravel(b))
FUNCTIONS[np.outer] = lambda a, b, out=None: UFUNCS["multiply"](np.reshape(a, (-1, 1)), np.reshape(b, (1, -1)))


def _contracted(a: Any, b: Any, axes: Any = 2) -> Secret:
    if isinstance(axes, int):
        axes = (list(range(-axes, 0)), list(range(axes)))
    left, right = ([one] if isinstance(one, int) else list(one) for one in axes)
    left, right = [at % np.ndim(a) for at in left], [at % np.ndim(b) for at in right]
    if [np.shape(a)[at] for at in left] != [np.shape(b)[at] for at in right]:
        raise ValueError(f"tensordot: shapes {np.shape(a)} and {np.shape(b)} do not fit along {axes}")
    rest_a = [at for at in range(np.ndim(a)) if at not in left]
    rest_b = [at for at in range(np.ndim(b)) if at not in right]
    shape_a, shape_b = [np.shape(a)[at] for at in rest_a], [np.shape(b)[at] for at in rest_b]
    inner = int(np.prod([np.shape(a)[at] for at in left], dtype=np.int64))
    x = np.reshape(np.transpose(a, rest_a + left), (int(np.prod(shape_a, dtype=np.int64)), inner))
    y = np.reshape(np.transpose(b, right + rest_b), (inner, int(np.prod(shape_b, dtype=np.int64))))
    return UFUNCS["matmul"](x, y).reshape(shape_a + shape_b)


FUNCTIONS[np.tensordot] = _contracted


@implements(np.einsum)
def einsum(subscripts: str, *operands: Any, **kwargs: Any) -> Secret:
    if not isinstance(subscripts, str) or "..." in subscripts:
        refuse("np.einsum of secrets takes a text of letters, without `...`")
    terms, _, out = subscripts.replace(" ", "").partition("->")
    inputs = terms.split(",")
    if "->" not in subscripts:
        letters = "".join(inputs)
        out = "".join(sorted(letter for letter in set(letters) if letters.count(letter) == 1))
    values, names = list(operands), inputs
    while len(values) > 1:
        later = set("".join(names[2:])) | set(out)
        keep = "".join(dict.fromkeys(letter for letter in names[0] + names[1] if letter in later))
        values[:2] = [_pair(names[0], values[0], names[1], values[1], keep)]
        names[:2] = [keep]
    made: Secret = _single(names[0], values[0], out)
    return made


def _single(names: str, value: Any, out: str) -> Any:
    """Diagonals of letters that come twice, sums of those that do not come out, the order of the others."""
    for letter in dict.fromkeys(names):
        while names.count(letter) > 1:
            first = names.index(letter)
            second = names.index(letter, first + 1)
            value = np.diagonal(value, axis1=first, axis2=second)
            names = names[:first] + names[first + 1 : second] + names[second + 1 :] + letter
    gone = tuple(at for at, letter in enumerate(names) if letter not in out)
    if gone:
        value = reduced(value, "sum", gone, False) if isinstance(value, Secret) else np.sum(value, axis=gone)
        names = "".join(letter for letter in names if letter in out)
    return np.transpose(value, [names.index(letter) for letter in out]) if names != out else value


def _pair(left: str, a: Any, right: str, b: Any, keep: str) -> Any:
    a = _single(left, a, "".join(letter for letter in dict.fromkeys(left) if letter in keep or letter in right))
    b = _single(right, b, "".join(letter for letter in dict.fromkeys(right) if letter in keep or letter in left))
    left = "".join(letter for letter in dict.fromkeys(left) if letter in keep or letter in right)
    right = "".join(letter for letter in dict.fromkeys(right) if letter in keep or letter in left)
    batch = [letter for letter in left if letter in right and letter in keep]
    inner = [letter for letter in left if letter in right and letter not in keep]
    rows, columns = ([letter for letter in names if letter not in batch + inner] for names in (left, right))
    length = dict(zip(left, np.shape(a))) | dict(zip(right, np.shape(b)))

    def size(names: Sequence[str]) -> int:
        return int(np.prod([length[letter] for letter in names], dtype=np.int64))

    x = np.reshape(np.transpose(a, [left.index(one) for one in batch + rows + inner]), (size(batch), size(rows), size(inner)))
    y = np.reshape(np.transpose(b, [right.index(one) for one in batch + inner + columns]), (size(batch), size(inner), size(columns)))
    product = x @ y
    order = batch + rows + columns
    product = np.reshape(product, [length[letter] for letter in order])
    return np.transpose(product, [order.index(letter) for letter in keep])


@implements(np.kron)
def kron(a: Any, b: Any) -> Secret:
    ndim = max(np.ndim(a), np.ndim(b))
    x, y = (np.reshape(one, (1,) * (ndim - np.ndim(one)) + np.shape(one)) for one in (a, b))
    left = np.reshape(x, [length for one in np.shape(x) for length in (one, 1)])
    right = np.reshape(y, [length for one in np.shape(y) for length in (1, one)])
    product = UFUNCS["multiply"](left, right)
    return product.reshape([m * n for m, n in zip(np.shape(x), np.shape(y))])


@implements(np.cross)
def cross(a: Any, b: Any, **kwargs: Any) -> Secret:
    if np.shape(a)[-1] != 3 or np.shape(b)[-1] != 3 or kwargs:
        refuse("np.cross of secrets is of vectors of three numbers along the last axis")
    turn, back = [1, 2, 0], [2, 0, 1]
    return UFUNCS["subtract"](
        UFUNCS["multiply"](a[..., turn], b[..., back]), UFUNCS["multiply"](a[..., back], b[..., turn])
    )


@implements(np.trace)
def trace_(value: Secret, offset: int = 0, axis1: int = 0, axis2: int = 1, **kwargs: Any) -> Secret:
    return sum_of(np.diagonal(value, offset, axis1, axis2), -1)


@implements(np.diag)
def diag(value: Secret, k: int = 0) -> Secret:
    if value.ndim == 2:
        made: Secret = np.diagonal(value, k)
        return made
    places = np.diag(np.arange(1, value.size + 1), k)
    flat = concatenate([np.zeros(1, dtype=value.dtype.numpy), value])
    return flat.moved(lambda _: places)


FUNCTIONS[np.diagflat] = lambda value, k=0: diag(value.reshape(-1), k)


def _masked(name: str) -> None:
    function = getattr(np, name)

    def masked(value: Secret, k: int = 0) -> Secret:
        mask = function(np.ones(value.shape[-2:], dtype=bool), k)
        made: Secret = np.where(mask, value, np.zeros((), dtype=value.dtype.numpy))
        return made

    FUNCTIONS[function] = masked


_masked("tril")
_masked("triu")


@implements(np.convolve)
def convolve(a: Any, v: Any, mode: str = "full") -> Secret:
    if np.shape(v)[0] > np.shape(a)[0]:
        a, v = v, a
    n, m = np.shape(a)[0], np.shape(v)[0]
    padded = np.pad(a, (m - 1, m - 1))
    windows = padded[np.arange(n + m - 1)[:, None] + np.arange(m)]
    full = UFUNCS["matmul"](windows, v[::-1])
    if mode == "full":
        return full
    if mode == "same":
        start = (m - 1) // 2
        return full[start : start + n]
    return full[m - 1 : n]


@implements(np.correlate)
def correlate(a: Any, v: Any, mode: str = "valid") -> Secret:
    return convolve(a, v[::-1], mode)


@implements(np.cov)
def cov(m: Secret, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: int | None = None, **kwargs: Any) -> Secret:
    no_more(kwargs, "cov")
    value = floats(m)
    value = np.atleast_2d(value)
    if not rowvar and value.shape[0] != 1:
        value = value.T
    if y is not None:
        other = np.atleast_2d(floats(y) if isinstance(y, Secret) else y)
        value = concatenate([value, other if rowvar or other.shape[0] == 1 else other.T])
    count = value.shape[1]
    away = UFUNCS["subtract"](value, mean(value, 1, keepdims=True))
    left = count - (ddof if ddof is not None else 0 if bias else 1)
    made: Secret = np.squeeze(quotient(UFUNCS["matmul"](away, away.T), left))
    return made


@implements(np.corrcoef)
def corrcoef(x: Secret, y: Any = None, rowvar: bool = True, **kwargs: Any) -> Secret:
    covariance = cov(x, y, rowvar)
    if not covariance.ndim:
        return constant(covariance._trace, 1.0, covariance.dtype)
    inverse = apply("inverse_sqrt", [np.diagonal(covariance)])
    return UFUNCS["multiply"](UFUNCS["multiply"](covariance, inverse[:, None]), inverse[None, :])


FUNCTIONS[np.linalg.norm] = lambda value, ord=None, axis=None, keepdims=False: _norm(value, ord, axis, keepdims)


def _norm(value: Secret, order: Any, axis: Axis, keepdims: bool) -> Secret:
    value = floats(value)
    if order in (None, 2, "fro") and (order != 2 or value.ndim == 1 or isinstance(axis, int)):
        return UFUNCS["sqrt"](reduced(UFUNCS["square"](value), "sum", axis, keepdims))
    if order == 1 and (value.ndim == 1 or isinstance(axis, int)):
        return reduced(UFUNCS["absolute"](value), "sum", axis, keepdims)
    if order == np.inf and (value.ndim == 1 or isinstance(axis, int)):
        return reduced(UFUNCS["absolute"](value), "greatest", axis, keepdims)
    refuse("np.linalg.norm of secrets has ord None, 2 of vectors, 1 and inf of vectors")
