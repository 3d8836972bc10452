"""How many of the tested functions of NumPy other systems have, tried as ours are: on secret arrays, compared with NumPy.

    PYTHON python/benchmarks/peers.py spu|mpyc [--failing]

``PYTHON`` is an interpreter that has the system: spu and jax, or mpyc. In SPU functions are those of ``jax.numpy`` of the same name, in
MPyC those of NumPy on its arrays. Each is tried on the first arrays that NumPy has a result for, within the error that ours may have.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import subprocess
import sys
import types
import warnings
from typing import Any, Callable

import numpy as np

sys.path.append(str(pathlib.Path(__file__).parents[1] / "tests"))

from cases import CASES, Case  # noqa: E402


def arrays(case: Case, random: np.random.Generator) -> list[Any]:
    shape = (5,) if case.name == "gradient" else (3, 4, 2)[: case.ndim[0]]
    if case.name.startswith("linalg") and case.name != "linalg.norm":
        shape = (3, 3)
    kind = case.kinds[0]
    if kind == "b":
        return [random.integers(0, 2, shape).astype(bool) for _ in range(case.arrays)]
    if kind == "i":
        return [random.integers(1 if case.positive else -4, 5, shape) for _ in range(case.arrays)]
    return [np.round(random.uniform(0.25 if case.positive else -4, 4, shape) * 65536) / 65536 for _ in range(case.arrays)]


def spu() -> Callable[[Case, list[Any]], Any]:
    import jax.numpy as jnp
    import spu.libspu as libspu
    import spu.utils.simulation as simulation

    setting = libspu.RuntimeConfig(protocol=libspu.ProtocolKind.ABY3, field=libspu.FieldType.FM64)
    setting.fxp_fraction_bits = 16
    parties = simulation.Simulator(3, setting)

    class Names:
        """``jax.numpy``, whose functions take lists of numbers as NumPy's do."""

        def __init__(self, names: Any) -> None:
            self._names = names

        def __getattr__(self, name: str) -> Any:
            found = getattr(self._names, name)
            if name == "linalg" or not callable(found) or isinstance(found, type):
                return Names(found) if name == "linalg" else found

            def is_list(value: Any) -> bool:
                return isinstance(value, list) and all(isinstance(one, (int, float, bool)) for one in value)

            return lambda *words, **named: found(*(jnp.asarray(word) if is_list(word) else word for word in words), **named)

    names = Names(jnp)

    def theirs(function: Any) -> Any:
        if isinstance(function, types.FunctionType) and function.__module__ == "cases":
            return types.FunctionType(function.__code__, {**function.__globals__, "np": names}, None, function.__defaults__, function.__closure__)
        where = names.linalg if "linalg" in str(getattr(function, "__module__", "")) else names
        return getattr(where, function.__name__)

    return lambda case, given: np.asarray(simulation.sim_jax(parties, theirs(case.call))(*given))


def mpyc() -> Callable[[Case, list[Any]], Any]:
    sys.argv = sys.argv[:1]
    from mpyc.runtime import mpc

    whole, fixed = mpc.SecInt(64), mpc.SecFxp(64, 16)

    async def opened(value: Any) -> Any:
        return await mpc.output(value)

    def run(case: Case, given: list[Any]) -> Any:
        made = [(fixed if one.dtype.kind == "f" else whole).array(one.astype(float if one.dtype.kind == "f" else object)) for one in given]
        result = case.call(*made)
        if isinstance(result, (list, tuple)):
            return np.asarray([mpc.run(opened(one)) for one in result])
        return np.asarray(mpc.run(opened(result)) if hasattr(result, "share") else result)

    return run


def tried(run: Callable[[Case, list[Any]], Any], case: Case, random: np.random.Generator) -> str:
    """``right``, ``something else``, or the reason why there is no result."""
    for _ in range(50):
        given = arrays(case, random)
        try:
            expected = np.asarray(case.call(*given), dtype=np.float64)
            break
        except (ValueError, IndexError, TypeError):
            continue
    try:
        found = np.asarray(run(case, given), dtype=np.float64)
    except Exception as error:  # Whatever keeps it from being computed.
        return f"{type(error).__name__}: {str(error).splitlines()[0][:90] if str(error) else ''}"
    scale = max(1.0, float(np.max(np.abs(expected), initial=0.0)))
    right = found.shape == expected.shape and np.allclose(found, expected, rtol=0, atol=case.error * scale, equal_nan=True)
    return "right" if right else "something else"


def child(system: str, first: int) -> None:
    warnings.simplefilter("ignore")
    run = {"spu": spu, "mpyc": mpyc}[system]()
    for at, case in enumerate(CASES[first:], first):
        told = tried(run, case, np.random.default_rng(at))
        print(json.dumps(["tried", case.name, told]), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("system", choices=["spu", "mpyc"])
    parser.add_argument("--failing", action="store_true", help="list what fails, with the reason")
    parser.add_argument("--first", type=int, help=argparse.SUPPRESS)
    flags = parser.parse_args()
    if flags.first is not None:
        child(flags.system, flags.first)
        return
    outcomes: dict[str, str] = {}
    # A process of its own, and another one after a function that ends it.
    while len(outcomes) < len(CASES):
        line = [sys.executable, __file__, flags.system, "--first", str(len(outcomes))]
        done = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for told in done.stdout.splitlines():
            if told.startswith('["tried"'):
                _, name, how = json.loads(told)
                outcomes[name] = how
        if len(outcomes) < len(CASES):
            outcomes[CASES[len(outcomes)].name] = f"ends the process ({done.returncode})"
    of = {kind: [name for name, how in outcomes.items() if how == kind] for kind in ("right", "something else")}
    missing = len(outcomes) - len(of["right"]) - len(of["something else"])
    print(f"{flags.system}: {len(of['right'])} of {len(CASES)} as NumPy; {len(of['something else'])} give something else, {missing} nothing")
    if flags.failing:
        for name, how in outcomes.items():
            if how != "right":
                print(f"  {name}: {how}")


if __name__ == "__main__":
    main()
