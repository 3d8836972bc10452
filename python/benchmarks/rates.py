"""Python beside Rust: the programs of ``madrigal-lab programs``, and a sum of ten million numbers, on the same values.

Each program is written in Python and saved. In turns, a fresh interpreter runs it by ``run_local``, and the program ``madrigal`` runs
the file with the same values. Two things are compared, by medians: the job alone, from its opening to the last party's finish, as both
tell it, in the middle of three runs in a process (the first one loads code); and everything from the arrays to the outputs of one run,
which for ``madrigal`` includes reading the files and starting the process, and for Python excludes its start and the making of the
arrays. Peak memory is that of the process after one run, beside the memory that the arrays take.

    python python/benchmarks/rates.py --madrigal target/release/madrigal [--only TEXT] [--repeat 5] [--json]

The native module beside the package must be a release build, which ``cargo xtask wheel`` makes and installs.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any, Callable

import numpy as np

import madrigal as mg

Values = dict[str, Any]
Case = tuple[str, str, Any, Callable[[np.random.Generator], Values]]


def words(random: np.random.Generator, shape: Any, dtype: Any = np.uint64) -> Any:
    return random.integers(0, np.iinfo(dtype).max, shape, dtype=dtype, endpoint=True)


def products(parties: int) -> Any:
    @mg.program(parties=parties)
    def products(p: mg.Builder) -> None:
        x = p.input("x", owner=0, shape=(1_000_000,), dtype=np.uint64)
        y = p.input("y", owner=1, shape=(1_000_000,), dtype=np.uint64)
        p.reveal("z", x * y, to=1)

    return products


@mg.program(parties=2)
def matrices(p: mg.Builder) -> None:
    x = p.input("x", owner=0, shape=(1000, 1000), dtype=np.uint64)
    y = p.input("y", owner=1, shape=(1000, 1000), dtype=np.uint64)
    p.reveal("z", x @ y, to=1)


@mg.program(parties=2)
def comparisons(p: mg.Builder) -> None:
    x = p.input("x", owner=0, shape=(100_000,), dtype=np.uint64)
    y = p.input("y", owner=1, shape=(100_000,), dtype=np.uint64)
    p.reveal("z", x < y, to=1)


@mg.program(parties=3)
def matching(p: mg.Builder) -> None:
    table = p.input("table", owner=0, shape=(4096, 4), dtype=np.uint32)
    query = p.input("query", owner=1, shape=(4,), dtype=np.uint32)
    away = np.square(table - query).sum(axis=1)
    p.reveal("place", np.argmin(away), to=1)
    p.reveal("least", np.min(away), to=1)


@mg.program(parties=2)
def chain(p: mg.Builder) -> None:
    x = p.input("x", owner=0, shape=(1,), dtype=np.uint64)
    y = p.input("y", owner=1, shape=(1,), dtype=np.uint64)
    wide = p.input("wide", owner=0, shape=(1_000_000,), dtype=np.uint64)
    broad = p.input("broad", owner=1, shape=(1_000_000,), dtype=np.uint64)
    for _ in range(100):
        x = x * y
    p.reveal("deep", x)
    p.reveal("products", wide * broad)


@mg.program(parties=3)
def total(p: mg.Builder) -> None:
    x = p.input("x", owner=0, shape=(10_000_000,), dtype=np.int64)
    p.reveal("total", np.sum(x))


def two(shape: Any, dtype: Any = np.uint64) -> Callable[[np.random.Generator], Values]:
    return lambda random: {"x": words(random, shape, dtype), "y": words(random, shape, dtype)}


def entries(random: np.random.Generator) -> Values:
    return {
        "table": random.integers(0, 256, (4096, 4), dtype=np.uint32),
        "query": random.integers(0, 256, 4, dtype=np.uint32),
    }


CASES: list[Case] = [
    ("mul/u64/n2", "A+B", products(2), two(1_000_000)),
    ("mul/u64/n3", "A+B", products(3), two(1_000_000)),
    ("matmul/u64/1000/n2", "A+B", matrices, two((1000, 1000))),
    ("lt/u64/n2", "A+B", comparisons, two(100_000)),
    ("biometric/ab/n3/4096", "A+B", matching, entries),
    ("biometric/ay/n3/4096", "A+Y", matching, entries),
    ("biometric/r/n3/4096", "R", matching, entries),
    ("figure1", "A+B", chain, lambda random: {
        **two(1)(random), "wide": words(random, 1_000_000), "broad": words(random, 1_000_000),
    }),
    ("sum/i64/10000000/n3", "R", total, lambda random: {"x": words(random, 10_000_000, np.int64) >> 30}),
]


def job(stats: dict[str, Any]) -> float:
    """Seconds of the job at its slowest party, in the middle of its runs."""
    runs = zip(*([run["total_seconds"] for run in party["runs"]] for party in stats["parties"]))
    return float(statistics.median(max(run) for run in runs))


def child(name: str, folder: str) -> None:
    """One run in this interpreter; prints seconds of the job and of the call, memory before and at most, bytes of the arrays."""
    _, protocol, program, _ = next(case for case in CASES if case[0] == name)
    values = {path.stem: np.load(path) for path in pathlib.Path(folder).glob("*.npy")}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    began = time.perf_counter()
    result = program.run_local(protocol=protocol, **values)
    seconds = time.perf_counter() - began
    most = max(party["peak_rss_bytes"] for party in result.stats["parties"])
    jobs = [job(one.stats) for one in [result, *(program.run_local(protocol=protocol, **values) for _ in range(2))]]
    expected = program.simulate(**values)
    for output, value in result.items():
        assert np.array_equal(value, expected[output]), f"{name}: {output} is wrong"
    held = sum(value.nbytes for value in values.values())
    print(json.dumps([statistics.median(jobs), seconds, before, most, held, list(result)]))


def measure(case: Case, madrigal: str, repeat: int) -> dict[str, Any]:
    name, protocol, program, make = case
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "program.mad")
        program.save(file)
        values = make(np.random.default_rng(1))
        parties = "3" if "n3" in name.split("/") else "2"
        line = [madrigal, "program", "run", file, "--local", parties, "--mix", protocol, "--json", "-q"]
        for value, array in values.items():
            np.save(os.path.join(folder, f"{value}.npy"), array)
            line += ["--input", f"{value}={folder}/{value}.npy"]
        python, rust = [], []
        for _ in range(repeat):
            done = subprocess.run([sys.executable, __file__, "--child", name, folder], check=True, capture_output=True, text=True)
            python.append(json.loads(done.stdout))
            outputs = [item for output in python[-1][5] for item in ("--output", f"{output}={folder}/out-{output}.out")]
            began = time.perf_counter()
            done = subprocess.run([*line, *outputs], check=True, capture_output=True, text=True)
            seconds = time.perf_counter() - began
            most = max(party["peak_rss_bytes"] for party in json.loads(done.stdout)["parties"])
            done = subprocess.run([*line, *outputs, "--repeat", "3"], check=True, capture_output=True, text=True)
            rust.append((job(json.loads(done.stdout)), seconds, most))
    median = statistics.median
    row = {
        "name": name,
        "python_job_seconds": median(one[0] for one in python),
        "python_call_seconds": median(one[1] for one in python),
        "python_start_rss_bytes": median(one[2] for one in python),
        "python_peak_rss_bytes": median(one[3] for one in python),
        "array_bytes": python[0][4],
        "rust_job_seconds": median(one[0] for one in rust),
        "rust_process_seconds": median(one[1] for one in rust),
        "rust_peak_rss_bytes": median(one[2] for one in rust),
    }
    row["rate_of_job"] = row["rust_job_seconds"] / row["python_job_seconds"]
    row["rate_of_all"] = row["rust_process_seconds"] / row["python_call_seconds"]
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--madrigal", default="madrigal", help="the program, a release build")
    parser.add_argument("--only", default="", help="only rows that have this text in their name")
    parser.add_argument("--repeat", type=int, default=5, help="runs of each, of which the medians are told")
    parser.add_argument("--json", action="store_true", help="one object per line for each row")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    flags = parser.parse_args()
    if flags.child:
        child(*flags.child)
        return
    if not flags.json:
        print(f"{'row':22} {'job: Python':>12} {'Rust':>9} {'rate':>5}   {'all: Python':>11} {'Rust':>9} {'rate':>5}   peak: Python, Rust, arrays")
    for case in CASES:
        if flags.only not in case[0]:
            continue
        row = measure(case, flags.madrigal, flags.repeat)
        if flags.json:
            print(json.dumps(row), flush=True)
            continue
        mib = [f"{row[one] / 2**20:.0f}" for one in ("python_peak_rss_bytes", "rust_peak_rss_bytes", "array_bytes")]
        print(
            f"{row['name']:22} {1e3 * row['python_job_seconds']:9.1f} ms {1e3 * row['rust_job_seconds']:6.1f} ms {row['rate_of_job']:5.2f}   "
            f"{1e3 * row['python_call_seconds']:8.1f} ms {1e3 * row['rust_process_seconds']:6.1f} ms {row['rate_of_all']:5.2f}   "
            f"{', '.join(mib)} MiB",
            flush=True,
        )


if __name__ == "__main__":
    main()
