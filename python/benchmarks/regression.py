"""Logistic regression on columns of two parties: accuracy beside scikit-learn's, time beside SPU's, where these are installed.

One pass of gradient descent in batches of 1,000 rows, with the same steps here and in SPU: party 0 has ten columns, party 1 has ten
others and the outcome. In R a third party computes with them. Fresh processes run one after the other; a time is that of the whole
call, with planning.

    python python/benchmarks/regression.py [--rows 100000] [--mix R,A+B] [--sklearn PYTHON] [--spu PYTHON]

``--sklearn`` and ``--spu`` name interpreters that have scikit-learn, and spu and jax.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from typing import Any

import numpy as np

COLUMNS, BATCH, TESTED = 20, 1000, 20_000


def data(rows: int) -> tuple[Any, Any]:
    """Rows to learn from and, behind them, those to test with."""
    random = np.random.default_rng(5)
    weights = random.normal(size=COLUMNS) * 0.8
    x = random.normal(size=(rows + TESTED, COLUMNS))
    x[:, 3] += 0.5 * x[:, 1]
    y = random.random(len(x)) < 1 / (1 + np.exp(-(x @ weights + 0.3)))
    return x, y.astype(float)


def rate(step: int) -> float:
    return 2.0 / (1 + step / 20) / BATCH


def accuracy(rows: int, weights: Any, offset: Any) -> float:
    x, y = data(rows)
    return float(np.mean((x[rows:] @ weights + offset > 0) == (y[rows:] > 0.5)))


def told(seconds: float, rows: int, weights: Any, offset: Any, **more: float) -> None:
    print(json.dumps({"seconds": seconds, "accuracy": accuracy(rows, np.asarray(weights), np.asarray(offset)), **more}))


def ours(rows: int, mix: str) -> None:
    import madrigal as mg

    @mg.program(parties=3 if mix == "R" else 2, protocol=mix)
    def regression(p: mg.Builder) -> None:
        left = p.input("left", owner=0, shape=(rows, COLUMNS // 2))
        right = p.input("right", owner=1, shape=(rows, COLUMNS // 2))
        y = p.input("y", owner=1, shape=(rows,))
        x = np.concatenate([left, right], axis=1)
        weights, offset = p.constant(np.zeros(COLUMNS)), p.constant(np.zeros(1))
        for step in range(rows // BATCH):
            batch = slice(step * BATCH, (step + 1) * BATCH)
            error = mg.sigmoid(x[batch] @ weights + offset) - y[batch]
            weights = weights - (error @ x[batch]) * rate(step)
            offset = offset - np.sum(error) * rate(step)
        p.reveal("weights", weights)
        p.reveal("offset", offset)

    x, y = data(rows)
    half = COLUMNS // 2
    began = time.perf_counter()
    run = regression.run_local(left=x[:rows, :half], right=x[:rows, half:], y=y[:rows])
    seconds = time.perf_counter() - began
    job = max(party["total_seconds"] for party in run.stats["parties"])
    told(seconds, rows, run["weights"], run["offset"], job_seconds=job)


def sklearn(rows: int) -> None:
    from sklearn.linear_model import LogisticRegression

    x, y = data(rows)
    began = time.perf_counter()
    model = LogisticRegression().fit(x[:rows], y[:rows])
    told(time.perf_counter() - began, rows, model.coef_[0], model.intercept_[0])


def spu(rows: int, kind: str) -> None:
    import jax
    import jax.numpy as jnp
    import spu.libspu as libspu
    import spu.utils.simulation as simulation

    def regression(left: Any, right: Any, y: Any) -> Any:
        x = jnp.concatenate([left, right], axis=1)
        weights, offset = jnp.zeros(COLUMNS), jnp.zeros(1)
        for step in range(rows // BATCH):
            batch = slice(step * BATCH, (step + 1) * BATCH)
            error = jax.nn.sigmoid(x[batch] @ weights + offset) - y[batch]
            weights = weights - (error @ x[batch]) * rate(step)
            offset = offset - jnp.sum(error) * rate(step)
        return weights, offset

    parties, protocol = {"aby3": (3, libspu.ProtocolKind.ABY3), "cheetah": (2, libspu.ProtocolKind.CHEETAH)}[kind]
    setting = libspu.RuntimeConfig(protocol=protocol, field=libspu.FieldType.FM64)
    setting.fxp_fraction_bits = 16
    run = simulation.sim_jax(simulation.Simulator(parties, setting), regression)
    x, y = data(rows)
    half = COLUMNS // 2
    began = time.perf_counter()
    weights, offset = run(x[:rows, :half], x[:rows, half:], y[:rows])
    told(time.perf_counter() - began, rows, weights, offset)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000, help="rows to learn from, a multiple of 1,000")
    parser.add_argument("--mix", default="R,A+B", help="mixes, separated by commas")
    parser.add_argument("--sklearn", help="an interpreter that has scikit-learn")
    parser.add_argument("--spu", help="an interpreter that has spu and jax")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    flags = parser.parse_args()
    if flags.child:
        what, of = flags.child
        {"ours": lambda: ours(flags.rows, of), "sklearn": lambda: sklearn(flags.rows), "spu": lambda: spu(flags.rows, of)}[what]()
        return
    runs = [(sys.executable, "ours", mix) for mix in flags.mix.split(",")]
    runs += [(flags.sklearn, "sklearn", "in the clear")] if flags.sklearn else []
    runs += [(flags.spu, "spu", kind) for kind in ("aby3", "cheetah")] if flags.spu else []
    for interpreter, what, of in runs:
        line = [interpreter, __file__, "--rows", str(flags.rows), "--child", what, of]
        done = subprocess.run(line, check=True, stdout=subprocess.PIPE, text=True)
        figures = json.loads(done.stdout.splitlines()[-1])
        job = f", of which {figures['job_seconds']:.2f} s are the job" if "job_seconds" in figures else ""
        print(f"{what} {of}: {figures['seconds']:.2f} s{job}; {100 * figures['accuracy']:.2f} % right", flush=True)


if __name__ == "__main__":
    main()
