#!/usr/bin/env python3
"""Writes cases.tsv: what numpy makes of shapes, for the tests of tensors. `python3 cases.py > cases.tsv`

A line has the operator, its public arguments, the operands' shapes, and the result's shape and elements, or `error`
where numpy refuses. Operands are not written: element i of operand k is `(3 i i + 7 i + 11 k + 5) mod 41 - 20`.
"""

import random
import sys

import numpy as np

rng = random.Random(20)
seen = set()


def operand(k, shape):
    i = np.arange(int(np.prod(shape, dtype=np.int64)), dtype=np.int64)
    return ((3 * i * i + 7 * i + 11 * k + 5) % 41 - 20).reshape(shape)


def numbers(values):
    return ",".join(str(int(value)) for value in values)


def case(operator, arguments, shapes, compute):
    key = (operator, str(arguments), str(shapes))
    if key in seen:
        return
    seen.add(key)
    operands = [operand(k, shape) for k, shape in enumerate(shapes)]
    try:
        result = np.asarray(compute(*operands))
    except (ValueError, IndexError, TypeError):
        result = None
    fields = [operator, numbers(arguments), ";".join(numbers(shape) for shape in shapes)]
    if result is None:
        fields += ["error", ""]
    else:
        fields += [numbers(result.shape), numbers(result.flatten())]
    sys.stdout.write("\t".join(fields) + "\n")


def shape(least=0, most=3, longest=4):
    return [rng.randint(1, longest) for _ in range(rng.randint(least, most))]


def alike(base):
    """A shape that broadcasts with another one, mostly."""
    other = [1 if rng.random() < 0.3 else length for length in base]
    other = other[rng.randint(0, len(other)) :] if rng.random() < 0.5 else other
    if rng.random() < 0.2 and other:
        other[rng.randrange(len(other))] = rng.randint(1, 4)
    return other if rng.random() < 0.9 else shape(1, 1) + other


BINARY = {
    "plus": np.add,
    "minus": np.subtract,
    "times": np.multiply,
    "less": np.less,
    "equals": np.equal,
    "min": np.minimum,
    "max": np.maximum,
}
ALONG = {"sum": np.sum, "least": np.min, "greatest": np.max, "prefix_sums": np.cumsum}


def windows(x, size, stride, dilation):
    reach = [(s - 1) * d + 1 for s, d in zip(size, dilation)]
    whole = np.lib.stride_tricks.sliding_window_view(x, reach, axis=(-2, -1))
    whole = whole[..., :: stride[0], :: stride[1], :: dilation[0], :: dilation[1]]
    return np.moveaxis(whole, (-2, -1), (0, 1))


def convolve(x, w, groups, stride, dilation, padding):
    if x.ndim != 4 or w.ndim != 4:
        raise ValueError("four axes each")
    x = np.pad(x, [(0, 0), (0, 0), (padding[0], padding[1]), (padding[2], padding[3])])
    if x.shape[1] % groups or w.shape[0] % groups or w.shape[1] != x.shape[1] // groups:
        raise ValueError("channels")
    parts = []
    for group in range(groups):
        channels = w.shape[1]
        own = x[:, group * channels : (group + 1) * channels]
        # [y, x, images, channels, rows, columns]
        seen_by = windows(own, w.shape[2:], stride, dilation)
        count = w.shape[0] // groups
        filters = w[group * count : (group + 1) * count]
        parts.append(np.einsum("yxncij,fcyx->nfij", seen_by, filters))
    return np.concatenate(parts, axis=1)


for _ in range(90):
    base = shape(0, 4, 3)
    name = rng.choice(list(BINARY))
    case(name, [], [base, alike(base)], BINARY[name])
for _ in range(30):
    base = shape(0, 3, 3)
    case("select", [], [alike(base), base, alike(base)], lambda c, a, b: np.where(c < 0, a, b))
for _ in range(90):
    m, k, n = (rng.randint(1, 4) for _ in range(3))
    outer = shape(0, 2, 3)
    left, right = outer + [m, k], alike(outer) + [k, n]
    if rng.random() < 0.25:
        left = [k]
    if rng.random() < 0.25:
        right = [k]
    if rng.random() < 0.15:
        right = right[:-1] + [right[-1] + 1] if len(right) == 1 else right[:-2] + [k + 1, n]
    case("matmul", [], [left, right], np.matmul)
for _ in range(60):
    base = shape(1, 4, 4)
    axis = rng.randint(0, len(base) - (rng.random() < 0.9))
    name = rng.choice(list(ALONG))
    case(name, [axis], [base], lambda x, f=ALONG[name], axis=axis: f(x, axis=axis))
for _ in range(40):
    base = shape(0, 4, 4)
    to = [length for length in base if length > 1]
    rng.shuffle(to)
    if len(to) > 1 and rng.random() < 0.5:
        to = [to[0] * to[1]] + to[2:]
    if rng.random() < 0.15:
        to = to + [2]
    case("reshape", to, [base], lambda x, to=to: np.reshape(x, to))
for _ in range(40):
    base = shape(1, 4, 3)
    order = list(range(len(base)))
    rng.shuffle(order)
    if rng.random() < 0.15:
        order[0] = order[-1]
    case("permute", order, [base], lambda x, order=order: np.transpose(x, order))
for _ in range(20):
    base = shape(1, 3)
    case("expand", [axis := rng.randint(0, len(base) + 1)], [base], lambda x, a=axis: np.expand_dims(x, a))
for _ in range(40):
    base = shape(0, 3, 3)
    to = alike(shape(0, 1) + base)
    case("broadcast_to", to, [base], lambda x, to=to: np.broadcast_to(x, to))
for _ in range(40):
    base = shape(1, 3, 5)
    axis = rng.randrange(len(base))
    start = rng.randint(0, base[axis])
    end = rng.randint(start, base[axis])
    index = tuple([slice(None)] * axis + [slice(start, end)])
    if end > start:
        case("slice", [axis, start, end], [base], lambda x, index=index: x[index])
    place = rng.randint(0, base[axis] - (rng.random() < 0.8))
    case("at", [axis, place], [base], lambda x, p=place, a=axis: np.take(x, p, axis=a))
    places = [rng.randint(0, base[axis] - (rng.random() < 0.95)) for _ in range(rng.randint(1, 4))]
    case("pick", [axis, *places], [base], lambda x, p=places, a=axis: np.take(x, p, axis=a))
    case("reverse", [axis], [base], lambda x, a=axis: np.flip(x, a))
for _ in range(40):
    base = shape(1, 3)
    axis = rng.randrange(len(base))
    parts = [list(base) for _ in range(rng.randint(1, 3))]
    for part in parts:
        part[axis] = rng.randint(1, 4)
    if rng.random() < 0.15:
        wrong = rng.choice(parts)
        wrong[rng.randrange(len(base))] += 1
    case("concat", [axis], parts, lambda *xs, a=axis: np.concatenate(xs, axis=a))
for _ in range(30):
    base = shape(1, 3)
    axis, before, after = rng.randrange(len(base)), rng.randint(0, 2), rng.randint(0, 2)
    wide = [(0, 0)] * len(base)
    wide[axis] = (before, after)
    case(
        "pad",
        [axis, before, after],
        [base],
        lambda x, wide=wide: np.pad(x, wide, constant_values=-7),
    )
for _ in range(30):
    base = shape(0, 2, 2) + [rng.randint(2, 5), rng.randint(2, 5)]
    size, stride, dilation = ([rng.randint(1, 2) for _ in range(2)] for _ in range(3))
    case(
        "windows",
        size + stride + dilation,
        [base],
        lambda x, s=size, t=stride, d=dilation: windows(x, s, t, d),
    )
for _ in range(50):
    groups = rng.choice([1, 1, 2])
    channels, filters = groups * rng.randint(1, 2), groups * rng.randint(1, 2)
    image = [rng.randint(1, 2), channels, rng.randint(2, 5), rng.randint(2, 5)]
    window = [filters, channels // groups, rng.randint(1, 3), rng.randint(1, 3)]
    if rng.random() < 0.1:
        window[1] += 1
    stride, dilation = ([rng.randint(1, 2) for _ in range(2)] for _ in range(2))
    padding = [rng.randint(0, 1) for _ in range(4)]
    case(
        "convolve",
        [groups] + stride + dilation + padding,
        [image, window],
        lambda x, w, g=groups, s=stride, d=dilation, p=padding: convolve(x, w, g, s, d, p),
    )
