"""Random programs: equal to NumPy, to the oracle, to their files, and to what all parties compute."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
from typing import Any, Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import madrigal as mg
from test_parties import PROGRAM

PROGRAMS = int(os.environ.get("MADRIGAL_PROGRAMS", "60"))
SHAPE = (3, 4)

#: Steps on two arrays of one shape, whole numbers, which NumPy and the protocols compute modulo 2^64 alike.
STEPS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "constant": lambda x, y: x * 3 - 7,
    "least": lambda x, y: np.minimum(x, y),
    "greatest": lambda x, y: np.maximum(x, y),
    "where": lambda x, y: np.where(x < y, x, y + 1),
    "flip": lambda x, y: np.flip(x, axis=1),
    "roll": lambda x, y: np.roll(x, 1, axis=0),
    "centre": lambda x, y: x - x.sum(axis=0),
    "cumsum": lambda x, y: np.cumsum(x, axis=1),
    "sort": lambda x, y: np.sort(x, axis=0),
    "products": lambda x, y: x @ y.T @ y,
    "rows": lambda x, y: x[[2, 0, 0]] ^ y,
    "shift": lambda x, y: np.right_shift(x, 2) + np.left_shift(y, 1),
    "abs": lambda x, y: np.abs(x) & 1023,
    "sign": lambda x, y: np.sign(x) * y,
    "diagonal": lambda x, y: x + np.diagonal(y).sum(),
    "concatenate": lambda x, y: np.concatenate([y[1:], x[:1]]),
    "remainder": lambda x, y: x % 5 + y // 3,
}

#: The same of fixed numbers that stay small.
FLOATS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, y: (x + y) / 2,
    "subtract": lambda x, y: (x - y) / 2,
    "multiply": lambda x, y: x * y / 4,
    "square": lambda x, y: np.square(x) / 4,
    "mean": lambda x, y: x - x.mean(axis=0),
    "where": lambda x, y: np.maximum(x, y),
    "clip": lambda x, y: np.clip(x, -1, 1),
    "matmul": lambda x, y: x @ y.T @ y / 64,
    "tanh": lambda x, y: np.tanh(x),
    "exp": lambda x, y: np.exp(-np.abs(x)),
    "sqrt": lambda x, y: np.sqrt(np.abs(x) + 1) - 1,
    "sort": lambda x, y: np.sort(x, axis=1),
}


def apply(steps: list[tuple[str, bool]], table: dict[str, Callable[[Any, Any], Any]], x: Any, y: Any) -> Any:
    for name, swap in steps:
        x, y = (table[name](y, x), x) if swap else (table[name](x, y), y)
    return x


def program(steps: list[tuple[str, bool]], table: dict[str, Callable[[Any, Any], Any]], dtype: Any) -> mg.Program:
    @mg.program(parties=2)
    def made(p: mg.Builder) -> None:
        x, y = (p.input(name, party, SHAPE, dtype) for party, name in enumerate("xy"))
        p.reveal("result", apply(steps, table, x, y))

    return made  # type: ignore[no-any-return]


def chosen(table: dict[str, Callable[[Any, Any], Any]]) -> Any:
    return st.lists(st.tuples(st.sampled_from(sorted(table)), st.booleans()), min_size=1, max_size=6)


def tried(count: int) -> Any:
    return settings(max_examples=count, deadline=None, print_blob=True, suppress_health_check=list(HealthCheck))


@tried(PROGRAMS)
@given(steps=chosen(STEPS), seed=st.integers(0, 2**32 - 1))
def test_whole_numbers_are_numpys_and_those_of_all_parties(steps: list[tuple[str, bool]], seed: int) -> None:
    random = np.random.default_rng(seed)
    x, y = (random.integers(-(2**20), 2**20, SHAPE) for _ in range(2))
    with np.errstate(all="ignore"):
        expected = apply(steps, STEPS, x, y)
    made = program(steps, STEPS, np.int64)
    found = made.simulate(x=x, y=y)["result"]
    np.testing.assert_array_equal(found, expected)
    protocol = ("A+B", "B", "A+Y2")[seed % 3]
    np.testing.assert_array_equal(made.run_local(x=x, y=y, protocol=protocol)["result"], expected)


@tried(PROGRAMS)
@given(steps=chosen(FLOATS), seed=st.integers(0, 2**32 - 1))
def test_fixed_numbers_are_numpys_within_their_error(steps: list[tuple[str, bool]], seed: int) -> None:
    random = np.random.default_rng(seed)
    x, y = (np.round(random.uniform(-4, 4, SHAPE) * 65536) / 65536 for _ in range(2))
    expected = apply(steps, FLOATS, x, y)
    made = program(steps, FLOATS, mg.fixed(64, 16))
    found = made.simulate(x=x, y=y)["result"]
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-2)
    if seed % 4 == 0:
        np.testing.assert_array_equal(made.run_local(x=x, y=y)["result"], found)


@tried(max(PROGRAMS // 20, 3))
@given(steps=chosen(STEPS), seed=st.integers(0, 2**32 - 1))
def test_files_are_the_same_program_on_the_command_line(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, bool]], seed: int
) -> None:
    if not os.path.exists(PROGRAM):
        pytest.skip("the program madrigal is not built")
    folder = pathlib.Path(tmp_path_factory.mktemp("files"))
    random = np.random.default_rng(seed)
    x, y = (random.integers(-(2**20), 2**20, SHAPE) for _ in range(2))
    made = program(steps, STEPS, np.int64)
    made.save(folder / "made.mad")
    assert mg.load(folder / "made.mad").bind().digest == made.bind().digest
    np.save(folder / "x.npy", x)
    np.save(folder / "y.npy", y)

    def told(line: str) -> str:
        done = subprocess.run([PROGRAM, "program", *line.split()], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert json.loads(told("info made.mad --json"))["bound"]["digest"] == made.bind().digest
    told("run made.mad --local 2 -q --input x=x.npy --input y=y.npy --output result=result.npy")
    np.testing.assert_array_equal(np.load(folder / "result.npy"), made.simulate(x=x, y=y)["result"])
