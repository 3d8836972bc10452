"""NumPy's ufuncs on secrets: operators on elements."""

from __future__ import annotations

import math
from typing import Any, Callable

from .._errors import refuse
from .._secret import UFUNCS, Secret, apply, as_secret, constant, convert, fitted, together, trace_of
from .._types import bool_, fixed
from .base import floats, np


def _two(name: str, operation: str) -> None:
    def operator(a: Any, b: Any) -> Secret:
        x, y = together(trace_of([a, b]), a, b)
        return apply(operation, [x, y])

    UFUNCS[name] = operator


for _name, _operation in {
    "minimum": "min", "maximum": "max", "fmin": "min", "fmax": "max", "equal": "equals", "less": "less",
}.items():
    _two(_name, _operation)


def _no_bools(value: Secret, what: str) -> Secret:
    if value.dtype.is_bool:
        refuse(f"{what} of truth values: NumPy has none; take & | ^ ~, or astype(int) first")
    return value


def add(a: Any, b: Any) -> Secret:
    x, y = together(trace_of([a, b]), a, b)
    return apply("or" if x.dtype.is_bool else "plus", [x, y])


def subtract(a: Any, b: Any) -> Secret:
    x, y = together(trace_of([a, b]), a, b)
    return apply("minus", [_no_bools(x, "a difference"), y])


def multiply(a: Any, b: Any) -> Secret:
    x, y = together(trace_of([a, b]), a, b)
    return apply("and" if x.dtype.is_bool else "times", [x, y])


def divide(a: Any, b: Any) -> Secret:
    trace = trace_of([a, b])
    x, y = together(trace, a, b)
    if not x.dtype.is_fixed:
        # True division, as NumPy has it: integers become numbers with a point.
        x, y = convert(x, fixed(64, 16)), convert(y, fixed(64, 16))
    if isinstance(a, Secret) and not isinstance(b, Secret):
        # A public divisor is a factor.
        with np.errstate(divide="ignore"):
            inverse = 1.0 / np.asarray(b, dtype=np.float64)
        if np.isfinite(inverse).all():
            exact = np.asarray(b, dtype=np.float64)
            powers = np.frexp(exact)[0]
            if np.isin(np.abs(powers), (0.5,)).all() and np.abs(inverse).min(initial=1.0) >= 2.0 ** -x.dtype.fraction:
                return apply("times", [x, constant(trace, inverse, x.dtype)])
    return apply("over", [x, y])


def floor_divide(a: Any, b: Any) -> Secret:
    x, y = together(trace_of([a, b]), a, b)
    if x.dtype.is_fixed:
        return apply("floor", [apply("over", [x, y])])
    quotient = apply("over", [_no_bools(x, "a quotient"), y])
    if not x.dtype.signed:
        return quotient
    # Rust rounds towards zero, NumPy down.
    rest = apply("rest", [x, y])
    zero = constant(x._trace, 0, x.dtype)
    wrong = logical_and(not_equal(rest, 0), apply("xor", [apply("less", [rest, zero]), apply("less", [y, zero])]))
    return apply("select", [*fitted([wrong, apply("minus", [quotient, constant(x._trace, 1, x.dtype)]), quotient])])


def remainder(a: Any, b: Any) -> Secret:
    x, y = together(trace_of([a, b]), a, b)
    if x.dtype.is_fixed:
        return subtract(x, multiply(floor_divide(x, y), y))
    rest = apply("rest", [_no_bools(x, "a remainder"), y])
    if not x.dtype.signed:
        return rest
    zero = constant(x._trace, 0, x.dtype)
    wrong = logical_and(not_equal(rest, 0), apply("xor", [apply("less", [rest, zero]), apply("less", [y, zero])]))
    return apply("select", [*fitted([wrong, apply("plus", [rest, y]), rest])])


def power(a: Any, b: Any) -> Secret:
    if isinstance(b, Secret) or not isinstance(a, Secret):
        refuse("a power with a secret exponent: take np.exp(exponent * np.log(base)) of positive numbers")
    exponent = np.asarray(b)
    if exponent.ndim == 0 and float(exponent) == 0.5:
        return UFUNCS["sqrt"](a)
    if exponent.ndim or float(exponent) != int(exponent):
        refuse("a power is by one whole number, or 0.5; take np.exp(exponent * np.log(base)) of positive numbers")
    number = int(exponent)
    if number < 0:
        return UFUNCS["reciprocal"](power(a, -number))
    result: Secret | None = None
    square = a
    while number:
        if number & 1:
            result = square if result is None else multiply(result, square)
        number >>= 1
        if number:
            square = UFUNCS["square"](square)
    return add(multiply(a, 0), 1) if result is None else result


def matmul(a: Any, b: Any) -> Secret:
    x, y = together(trace_of([a, b]), a, b)
    if not x.ndim or not y.ndim:
        raise ValueError("matmul: a value without axes is no matrix; take *")
    if x.shape[-1] != y.shape[-2 if y.ndim > 1 else 0]:
        raise ValueError(f"matmul: shapes {x.shape} and {y.shape} do not fit")
    return apply("matmul", [x, y])


def _one(name: str, operation: str, floats: bool = False) -> None:
    def operator(a: Secret) -> Secret:
        value = convert(a, fixed(64, 16)) if floats and not a.dtype.is_fixed else a
        return apply(operation, [value])

    UFUNCS[name] = operator


for _name, _operation in {
    "exp": "exp", "log": "ln", "sqrt": "sqrt", "tanh": "tanh",
}.items():
    _one(_name, _operation, floats=True)


def negative(a: Secret) -> Secret:
    return apply("negate", [_no_bools(a, "the negative")])


def absolute(a: Secret) -> Secret:
    return apply("abs", [a]) if a.dtype.signed else a


def square(a: Secret) -> Secret:
    return a if a.dtype.is_bool else apply("square", [a])


def reciprocal(a: Secret) -> Secret:
    if not a.dtype.is_fixed:
        refuse("a reciprocal of whole numbers is 0 or 1 in NumPy: take astype(mg.fixed(64, 16)) first")
    return apply("reciprocal", [a])


def sign(a: Secret) -> Secret:
    if a.dtype.is_fixed:
        return apply("sign", [a])
    _no_bools(a, "the sign")
    more, less = convert(greater(a, 0), a.dtype), convert(UFUNCS["less"](a, 0), a.dtype)
    return apply("minus", [more, less]) if a.dtype.signed else more


def greater(a: Any, b: Any) -> Secret:
    return UFUNCS["less"](b, a)


def logical_not(a: Secret) -> Secret:
    return apply("not", [convert(a, bool_)])


def not_equal(a: Any, b: Any) -> Secret:
    return apply("not", [UFUNCS["equal"](a, b)])


def _bits(name: str, operation: str) -> Callable[[Any, Any], Secret]:
    def operator(a: Any, b: Any) -> Secret:
        x, y = together(trace_of([a, b]), a, b)
        if x.dtype.is_fixed:
            refuse(f"np.{name} of numbers with a fixed point: NumPy has none of floats")
        return apply(operation, [x, y])

    UFUNCS[name] = operator
    return operator


def _truths(name: str, operation: str) -> Callable[[Any, Any], Secret]:
    def operator(a: Any, b: Any) -> Secret:
        trace = trace_of([a, b])
        x, y = (convert(as_secret(trace, one), bool_) for one in (a, b))
        return apply(operation, [x, y])

    UFUNCS[name] = operator
    return operator


bitwise_and, bitwise_or, bitwise_xor = (_bits(f"bitwise_{one}", one) for one in ("and", "or", "xor"))
logical_and, logical_or, logical_xor = (_truths(f"logical_{one}", one) for one in ("and", "or", "xor"))


def invert(a: Secret) -> Secret:
    if a.dtype.is_fixed:
        refuse("~ of numbers with a fixed point: NumPy has none of floats")
    return apply("not", [a])


def _shift(name: str, operation: str) -> None:
    def operator(a: Secret, by: Any) -> Secret:
        if isinstance(by, Secret) or np.ndim(by):
            refuse(f"np.{name} takes one public number of places")
        if not a.dtype.is_integer:
            refuse(f"np.{name} is for integers")
        return apply(operation, [a], [int(by)])

    UFUNCS[name] = operator


_shift("left_shift", "shift_left")
_shift("right_shift", "shift_right")


def floor(a: Secret) -> Secret:
    return apply("floor", [a]) if a.dtype.is_fixed else a


def ceil(a: Secret) -> Secret:
    return negative(floor(negative(a))) if a.dtype.is_fixed else a


def trunc(a: Secret) -> Secret:
    if not a.dtype.is_fixed:
        return a
    whole = apply("floor", [absolute(a)])
    return apply("select", [UFUNCS["less"](a, 0), negative(whole), whole])


def rint(a: Secret) -> Secret:
    """The nearest whole number, of two the even one, as NumPy has it."""
    if not a.dtype.is_fixed:
        return a
    up = floor(add(a, 0.5))
    # A half that was rounded up to an odd number goes down.
    tie = UFUNCS["equal"](subtract(up, a), 0.5)
    half = multiply(up, 0.5)
    odd = not_equal(floor(half), half)
    return apply("select", [logical_and(tie, odd), subtract(up, 1), up])


def _scaled(name: str, operation: str, factor: float) -> None:
    def operator(a: Secret) -> Secret:
        return multiply(UFUNCS[operation](a), factor)

    UFUNCS[name] = operator


_scaled("log2", "log", 1 / math.log(2))
_scaled("log10", "log", 1 / math.log(10))


#: Factors of a polynomial in y^2 that is sin(pi y / 2) / y for y from 0 to 1, within 4e-9.
_WAVE = (1.57079629002, -0.645963359867, 0.0796884805445, -0.00467222792844, 0.000150820566728)


def _wave(a: Secret, ahead: float) -> Secret:
    """The sine of an angle that is ``ahead`` turns further: within 14 steps of the type, however many turns there are."""
    value = floats(a)
    step = 2.0 ** -value.dtype.fraction
    turn = 1 / (2 * math.pi)
    # One constant of the type has too few bits for angles of many turns: the second one has the next bits.
    most = math.floor(turn / step) * step
    rest = multiply(multiply(value, (turn - most) / step), step)
    turns = add(add(multiply(value, most), rest), ahead)
    part = subtract(turns, floor(add(turns, 0.5)))
    size = absolute(part)
    y = multiply(UFUNCS["minimum"](size, subtract(0.5, size)), 4)
    z = square(y)
    sum_of = multiply(z, _WAVE[-1])
    for factor in _WAVE[-2::-1]:
        sum_of = add(sum_of, factor)
        if factor != _WAVE[0]:
            sum_of = multiply(sum_of, z)
    risen = multiply(sum_of, y)
    return apply("select", [UFUNCS["less"](part, 0), negative(risen), risen])


def constant_truth(value: bool) -> Callable[[Secret], Secret]:
    return lambda a: constant(a._trace, np.full(a.shape, value), bool_)


UFUNCS.update(
    add=add, subtract=subtract, multiply=multiply, divide=divide, true_divide=divide, floor_divide=floor_divide,
    remainder=remainder, mod=remainder, power=power, float_power=lambda a, b: power(floats(a), b), matmul=matmul,
    negative=negative, positive=lambda a: a, absolute=absolute, fabs=lambda a: absolute(floats(a)), square=square,
    reciprocal=reciprocal, sign=sign, greater=greater, not_equal=not_equal,
    less_equal=lambda a, b: logical_not(UFUNCS["less"](b, a)), greater_equal=lambda a, b: logical_not(UFUNCS["less"](a, b)),
    logical_not=logical_not, invert=invert, bitwise_not=invert, floor=floor, ceil=ceil, trunc=trunc, rint=rint,
    exp2=lambda a: UFUNCS["exp"](multiply(floats(a), math.log(2))),
    expm1=lambda a: subtract(UFUNCS["exp"](a), 1), log1p=lambda a: UFUNCS["log"](add(floats(a), 1)),
    sin=lambda a: _wave(a, 0.0), cos=lambda a: _wave(a, 0.25), conjugate=lambda a: a, isnan=constant_truth(False), isinf=constant_truth(False), isfinite=constant_truth(True),
    signbit=lambda a: UFUNCS["less"](a, 0), hypot=lambda a, b: UFUNCS["sqrt"](add(square(floats(a)), square(floats(b)))),
    deg2rad=lambda a: multiply(floats(a), math.pi / 180), radians=lambda a: multiply(floats(a), math.pi / 180),
    rad2deg=lambda a: multiply(floats(a), 180 / math.pi), degrees=lambda a: multiply(floats(a), 180 / math.pi),
    heaviside=lambda a, b: apply("select", fitted([UFUNCS["equal"](a, 0), *together(a._trace, as_secret(a._trace, b, a), convert(greater(a, 0), a.dtype))])),
    copysign=lambda a, b: apply("select", fitted([UFUNCS["less"](b, 0), negative(absolute(a)), absolute(a)])),
    clip=lambda a, low, high: UFUNCS["minimum"](UFUNCS["maximum"](a, low), high),
)
