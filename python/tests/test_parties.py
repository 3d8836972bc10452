"""Real parties over TLS, in one process: results, errors that name who is at fault, interrupts, nothing left behind."""

from __future__ import annotations

import asyncio
import gc
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import madrigal as mg

PROGRAM = os.environ.get("MADRIGAL") or shutil.which("madrigal") or str(
    pathlib.Path(__file__).parents[2] / "target/debug/madrigal"
)


@mg.program(parties=2)
def gap(p: mg.Builder) -> None:
    pay = p.input("pay", owner=0, shape=("n",))
    rate = p.input("rate", owner=1, shape=("n",))
    p.reveal("total", np.sum(pay * rate))
    p.reveal("most", np.max(pay), to=1)


def keys(folder: pathlib.Path, parties: int) -> None:
    """Keys of parties on this machine, ``p0`` and so on, and their list."""
    if not os.path.exists(PROGRAM):
        pytest.skip("the program madrigal, which makes keys, is not built")
    text = ""
    for party in range(parties):
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
        line = [PROGRAM, "keygen", "--out", f"p{party}", "--address", f"127.0.0.1:{port}"]
        text += subprocess.run(line, cwd=folder, check=True, capture_output=True, text=True).stdout
    (folder / "parties.toml").write_text(text)


@pytest.fixture
def roster(tmp_path: pathlib.Path) -> pathlib.Path:
    keys(tmp_path, 2)
    return tmp_path


def party(roster: pathlib.Path, me: int) -> mg.Connection:
    return mg.connect(roster / "parties.toml", me, identity=roster / f"p{me}", connect_timeout=20)


def test_parties_compute_and_learn_what_is_theirs(roster: pathlib.Path) -> None:
    with ThreadPoolExecutor() as pool, party(roster, 0) as ada, party(roster, 1) as ben:
        one = pool.submit(ada.run, gap, pay=[1.5, 2.0, -4.0])
        two = pool.submit(ben.run, gap, rate=[2.0, 4.0, 0.5])
        assert dict(one.result()) == {"total": 9.0}
        assert dict(two.result()) == {"total": 9.0, "most": 2.0}


def test_parties_in_an_event_loop(roster: pathlib.Path) -> None:
    async def both() -> list[mg.Result]:
        ada, ben = party(roster, 0), party(roster, 1)
        return await asyncio.gather(ada.run_async(gap, pay=[3.0]), ben.run_async(gap, rate=[0.5]))

    assert [one["total"] for one in asyncio.run(both())] == [1.5, 1.5]


def test_parties_with_other_programs_say_so(roster: pathlib.Path) -> None:
    with ThreadPoolExecutor() as pool:
        one = pool.submit(party(roster, 0).run, gap, pay=[1.5, 2.0])
        two = pool.submit(party(roster, 1).run, gap, rate=[2.0])
        for failed in (one, two):
            with pytest.raises(mg.RunError, match="party") as caught:
                failed.result()
            assert caught.value.status == 5


def test_a_party_that_does_not_come_is_named(roster: pathlib.Path) -> None:
    alone = mg.connect(roster / "parties.toml", 0, identity=roster / "p0", connect_timeout=1)
    with pytest.raises(mg.RunError, match="party 1|p1") as caught:
        alone.run(gap, pay=[1.0])
    assert caught.value.status == 4
    assert gap.simulate(pay=[1.0], rate=[2.0])["total"] == 2.0


def test_ctrl_c_ends_a_run(roster: pathlib.Path) -> None:
    alone = mg.connect(roster / "parties.toml", 0, identity=roster / "p0", connect_timeout=60)
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        alone.run(gap, pay=[1.0])
    assert time.monotonic() - began < 2.0
    assert gap.run_local(pay=[1.0], rate=[2.0])["total"] == 2.0


def test_nothing_is_left_of_many_runs() -> None:
    def left() -> tuple[int, int]:
        return len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))

    def settled(most: tuple[int, int]) -> tuple[int, int]:
        # A thread that has ended may be listed for a moment.
        until = time.monotonic() + 5
        while any(now > then for now, then in zip(left(), most)) and time.monotonic() < until:
            time.sleep(0.01)
        return left()

    gap.run_local(pay=[1.0], rate=[2.0])
    gc.collect()  # Connections of other tests.
    time.sleep(0.1)
    before = left()
    for _ in range(int(os.environ.get("MADRIGAL_RUNS", "10"))):
        gap.run_local(pay=[1.0], rate=[2.0])
    assert settled(before) <= before
