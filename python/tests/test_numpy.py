"""NumPy's functions on secrets against NumPy, on random shapes, empty ones too; the table of docs/PYTHON.md."""

from __future__ import annotations

import os
import pathlib
from typing import Any

import numpy as np
import pytest

import madrigal as mg
from cases import CASES, Case

ROUNDS = int(os.environ.get("MADRIGAL_ROUNDS", "4"))


def arrays(case: Case, kind: str, ndim: int, random: np.random.Generator) -> list[Any]:
    shape = tuple(int(length) for length in random.integers(1, 5, ndim))
    if case.name == "gradient":
        shape = (5,)
    made: list[Any] = []
    for _ in range(case.arrays):
        if kind == "b":
            made.append(random.integers(0, 2, shape).astype(bool))
        elif kind == "i":
            made.append(random.integers(1 if case.positive else -4, 5, shape).astype(np.int64))
        else:
            # In steps of 2^-16, so that both sides begin with the same numbers.
            numbers = np.round(random.uniform(0.25 if case.positive else -4, 4, shape) * 65536) / 65536
            made.append(numbers)
    return made


def dtype(array: Any) -> Any:
    return mg.fixed(64, 16) if array.dtype.kind == "f" else array.dtype


def on_secrets(case: Case, given: list[Any]) -> Any:
    public: list[Any] = []

    @mg.program(parties=2)
    def tried(p: mg.Builder) -> None:
        values = [
            p.input(f"x{at}", owner=at % 2, shape=array.shape, dtype=dtype(array)) for at, array in enumerate(given)
        ]
        result = case.call(*values)
        if isinstance(result, mg.Secret):
            p.reveal("result", result)
        else:
            public.append(result)

    if public:
        return public[-1]
    return tried.simulate(**{f"x{at}": array for at, array in enumerate(given)})["result"]


def outcome(case: Case, kind: str, ndim: int, random: np.random.Generator) -> str:
    given = arrays(case, kind, ndim, random)
    try:
        expected = case.call(*given)
    except (ValueError, IndexError, TypeError):
        # NumPy has no result for such arrays: that says nothing about ours.
        return "none"
    try:
        found = on_secrets(case, given)
    except mg.SecretError:
        return "refused"
    assert np.shape(found) == np.shape(expected), (case.name, given, found, expected)
    scale = max(1.0, float(np.max(np.abs(np.asarray(expected, dtype=np.float64)), initial=0.0)))
    np.testing.assert_allclose(
        np.asarray(found, dtype=np.float64), np.asarray(expected, dtype=np.float64), rtol=0, atol=case.error * scale, err_msg=case.name
    )
    return "as numpy"


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_functions_do_what_numpy_does(case: Case) -> None:
    seed = int(os.environ.get("MADRIGAL_SEED", "1"))
    print(f"seed: MADRIGAL_SEED={seed}")
    random = np.random.default_rng(seed)
    for _ in range(ROUNDS):
        for kind in case.kinds:
            for ndim in case.ndim:
                outcome(case, kind, ndim, random)


def some_outcome(case: Case, ndim: int, random: np.random.Generator) -> str:
    """The outcome for the first arrays that NumPy has a result for."""
    outcomes = (outcome(case, case.kinds[0], ndim, random) for _ in range(50))
    return next(one for one in outcomes if one != "none")


def test_a_hundred_functions_are_as_numpys() -> None:
    random = np.random.default_rng(2)
    outcomes = {case.name: some_outcome(case, case.ndim[0], random) for case in CASES}
    alike = [name for name, one in outcomes.items() if one == "as numpy"]
    print(len(outcomes), len(alike), [name for name, one in outcomes.items() if one != "as numpy"])
    assert len(outcomes) >= 150
    assert len(alike) >= 100


PAGE = pathlib.Path(__file__).parents[2] / "docs/PYTHON.md"


def kind_of(case: Case, random: np.random.Generator) -> str:
    """Whether a function is as NumPy's, refused with what to do, or missing."""
    try:
        if some_outcome(case, case.ndim[-1], random) == "as numpy":
            return "as NumPy"
    except mg.ProgramError:
        pass
    given = arrays(case, case.kinds[0], case.ndim[-1], random)
    try:
        on_secrets(case, given)
    except mg.SecretError as error:
        return "missing" if "docs/PYTHON.md lists what is" in str(error) else "refused"
    return "as NumPy"


def test_the_table_of_functions_is_current() -> None:
    random = np.random.default_rng(5)
    found: dict[str, list[str]] = {"as NumPy": [], "refused": [], "missing": []}
    for case in CASES:
        found[kind_of(case, random)].append(f"`{case.name}`")
    assert len(CASES) >= 150 and len(found["as NumPy"]) >= 100
    rows = [f"| {kind} | {len(names)} | {', '.join(names)} |\n" for kind, names in found.items()]
    table = "| | | functions and methods |\n|---|---|---|\n" + "".join(rows)
    page = PAGE.read_text()
    before, rest = page.split("<!-- begin functions -->\n")
    after = rest.split("<!-- end -->")[1]
    made = f"{before}<!-- begin functions -->\n{table}<!-- end -->{after}"
    if os.environ.get("MADRIGAL_REFERENCE") == "write":
        PAGE.write_text(made)
    assert page == made, "MADRIGAL_REFERENCE=write cargo xtask python -k table writes it again"


def test_the_examples_of_the_pages_run(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for page in (PAGE, PAGE.parents[1] / "python/README.md", PAGE.parents[1] / "README.md"):
        blocks = page.read_text().split("```python\n")[1:]
        assert blocks, page
        for block in blocks:
            exec(compile(block.split("```")[0], str(page), "exec"), {"__name__": "__main__"})
