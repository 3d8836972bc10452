"""One session for many runs: programs and stages over TLS, what ends it and what does not, parties that are killed."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Iterator

import numpy as np
import pytest

import madrigal as mg
from test_parties import PROGRAM, gap, keys
from test_stages import endless, halvings, settle, threads

MATRIX = (400, 400)
KILLS = int(os.environ.get("MADRIGAL_KILLS", "5"))


@mg.program(parties=2)
def small(p: mg.Builder) -> None:
    x = p.input("x", owner=0, dtype=np.int64)
    p.require(x > 5, "large enough")
    p.reveal("y", x * p.input("y", owner=1, dtype=np.int64))


@mg.program(parties=2)
def heavy(p: mg.Builder) -> None:
    """A product of matrices that takes a second or two: most of it sends and computes."""
    x, y = (p.input(name, party, MATRIX, np.int64) for party, name in enumerate("xy"))
    p.reveal("first", (x @ y)[0, 0])


def connections(folder: pathlib.Path, parties: int = 2, timeout: float = 20) -> list[mg.Connection]:
    return [mg.connect(folder / "parties.toml", me, identity=folder / f"p{me}", connect_timeout=timeout) for me in range(parties)]


@pytest.fixture
def pair(tmp_path: pathlib.Path) -> Iterator[tuple[mg.Connection, mg.Connection]]:
    keys(tmp_path, 2)
    ada, ben = connections(tmp_path)
    with ada, ben:
        yield ada, ben


def both(one: Callable[[], Any], other: Callable[[], Any]) -> list[Any]:
    """What both do side by side, results or errors."""

    def tried(call: Callable[[], Any]) -> Any:
        try:
            return call()
        except Exception as error:
            return error

    with ThreadPoolExecutor() as pool:
        return list(pool.map(tried, [one, other]))


def sockets() -> set[str]:
    links = (f"/proc/self/fd/{name}" for name in os.listdir("/proc/self/fd"))
    return {os.readlink(link) for link in links if os.path.islink(link) and os.readlink(link).startswith("socket:")}


def test_one_session_does_run_after_run(pair: tuple[mg.Connection, mg.Connection]) -> None:
    ada, ben = pair
    before: set[str] | None = None
    for turn in range(6):
        one, other = both(lambda: ada.run(gap, pay=[1.5, turn]), lambda: ben.run(gap, rate=[2.0, 4.0]))
        assert one["total"] == other["total"] == 3 + 4 * turn and other["most"] == max(turn, 1.5)
        one, other = both(lambda: ada.run(halvings, limit=4, secret=2**turn), lambda: ben.run(halvings, limit=4))
        assert one.value == other.value == max(0, turn - 1)
        assert len(one.stats["stages"]) == one.value + 2
        one, other = both(lambda: ada.run(small, x=6 + turn, protocol="B"), lambda: ben.run(small, y=7, protocol="B"))
        assert dict(one) == dict(other) == {"y": 7 * (6 + turn)}
        assert before in (None, sockets())
        before = sockets()


def test_parties_may_have_different_numbers_of_threads(tmp_path: pathlib.Path) -> None:
    keys(tmp_path, 2)
    numbers: list[int | str] = [3, 2]
    ada, ben = (
        mg.connect(tmp_path / "parties.toml", me, identity=tmp_path / f"p{me}", connect_timeout=20, threads=threads)
        for me, threads in enumerate(numbers)
    )
    with ada, ben:
        one, other = both(lambda: ada.run(gap, pay=[1.5, 2.0]), lambda: ben.run(gap, rate=[2.0, 4.0]))
        assert one["total"] == other["total"] == 11 and one.stats["threads"] == other.stats["threads"] == 2
        one, other = both(lambda: ada.run(halvings, limit=4, secret=9), lambda: ben.run(halvings, limit=4))
        assert one.value == other.value and one.stats["threads"] == other.stats["threads"] == 2
    with pytest.raises(ValueError, match="auto"):
        mg.connect(tmp_path / "parties.toml", 0, identity=tmp_path / "p0", threads=0).run(gap, pay=[1.5, 2.0])
    assert gap.explain(threads=5, n=2).figures["threads"] == 5


def test_stages_of_three_parties_and_many_runs_in_an_event_loop(tmp_path: pathlib.Path) -> None:
    keys(tmp_path, 3)

    @mg.stages(parties=3, protocol="R")
    async def ranked(s: mg.Stages) -> list[int]:
        p = s.program()
        bids = np.stack([p.input(f"bid{party}", party, (), np.int32) for party in range(s.parties)])
        kept = p.keep(bids)
        p.reveal("winner", np.argmax(bids))
        winner = int((await s.run(p))["winner"])
        p = s.program()
        p.reveal("price", np.max(np.delete(p.kept(kept), winner)))
        return [winner, int((await s.last(p))["price"])]

    async def all_of_them() -> None:
        parties = connections(tmp_path, 3)
        for bids in ([3, 9, 4], [5, 1, 2], [-1, -3, -2]):
            runs = (one.run_async(ranked, **{f"bid{one.me}": bids[one.me]}) for one in parties)
            found = [one.value for one in await asyncio.gather(*runs)]
            order = sorted(bids)
            assert found == [[bids.index(order[2]), order[1]]] * 3
            assert ranked.simulate(**{f"bid{party}": bid for party, bid in enumerate(bids)}) == found[0]
        # Runs that wait are done in order.
        ada, ben, eve = parties
        several = [one.run_async(ranked, **{f"bid{one.me}": turn + one.me}) for turn in range(3) for one in parties]
        assert [one.value for one in await asyncio.gather(*several)] == [[2, turn + 1] for turn in range(3) for _ in parties]
        for one in parties:
            one.close()
        with pytest.raises(mg.RunError, match="connect again"):
            await ada.run_async(ranked, bid0=1)

    asyncio.run(all_of_them())


def test_what_goes_wrong_here_alone_or_is_not_met_ends_nothing(pair: tuple[mg.Connection, mg.Connection]) -> None:
    ada, ben = pair
    for wrong in ({}, {"x": [1]}, {"x": 1.5}, {"z": 1}):
        with pytest.raises((TypeError, ValueError)):
            ada.run(small, **wrong)
    with pytest.raises(TypeError, match="needs limit="):
        ada.run(halvings, secret=20)
    with pytest.raises(TypeError, match="stage 0 of halvings needs secret="):
        ada.run(halvings, limit=4)
    for failed in both(lambda: ada.run(small, x=3), lambda: ben.run(small, y=3)):
        assert isinstance(failed, mg.UnmetError) and "large enough" in str(failed)
    one, other = both(lambda: ada.run(small, x=6), lambda: ben.run(small, y=3))
    assert one["y"] == other["y"] == 18
    one, other = both(lambda: ada.run(halvings, limit=4, secret=20), lambda: ben.run(halvings, limit=4))
    assert one.value == other.value == 3


def test_a_run_that_fails_ends_the_session_and_later_runs_say_so(pair: tuple[mg.Connection, mg.Connection]) -> None:
    ada, ben = pair
    assert both(lambda: ada.run(small, x=6), lambda: ben.run(small, y=3))[0]["y"] == 18
    for failed in both(lambda: ada.run(small, x=6), lambda: ben.run(gap, rate=[1.0])):
        assert isinstance(failed, mg.RunError) and failed.status == 5 and "party" in str(failed)
    for me, failed in enumerate(both(lambda: ada.run(small, x=6), lambda: ben.run(halvings, limit=4))):
        assert isinstance(failed, mg.RunError)
        assert "has ended" in str(failed) and f"party {1 - me}" in str(failed) and "connect again" in str(failed)


def test_a_function_that_raises_tells_the_other_party(pair: tuple[mg.Connection, mg.Connection]) -> None:
    ada, ben = pair

    @mg.stages(parties=2)
    async def failing(s: mg.Stages, fail: bool) -> None:
        for _ in range(2):
            p = s.program()
            p.reveal("x", p.input("x", 0, (), np.int64))
            await s.run(p)
            if fail:
                raise LookupError("of the user")

    began = time.monotonic()
    one, other = both(lambda: ada.run(failing, fail=True, x=1), lambda: ben.run(failing, fail=False))
    assert isinstance(one, LookupError)
    assert isinstance(other, mg.RunError) and "party 0" in str(other)
    assert time.monotonic() - began < 5


def test_cancelling_a_run_tells_the_other_party(pair: tuple[mg.Connection, mg.Connection]) -> None:
    ada, ben = pair

    async def cancelled(one: Any, other: Any) -> None:
        task, peer = asyncio.create_task(one), asyncio.create_task(other)
        while not began.is_set():
            await asyncio.sleep(0.01)
        at = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        with pytest.raises(mg.RunError, match="party 0"):
            await peer
        assert time.monotonic() - at < 2

    began = threading.Event()
    asyncio.run(cancelled(ada.run_async(endless, began=began, x=np.arange(100)), ben.run_async(endless, began=began)))


def test_ctrl_c_tells_the_other_party(pair: tuple[mg.Connection, mg.Connection]) -> None:
    ada, ben = pair
    at: list[float] = []

    def interrupt() -> None:
        at.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    with ThreadPoolExecutor() as pool:
        peer = pool.submit(ben.run, heavy, y=np.ones(MATRIX, int))
        threading.Timer(0.5, interrupt).start()
        with pytest.raises(KeyboardInterrupt):
            ada.run(heavy, x=np.ones(MATRIX, int))
        assert time.monotonic() - at[0] < 2  # A second, on a machine that does nothing else.
        with pytest.raises(mg.RunError, match="party 0"):
            peer.result(timeout=5)
    for one in pair:
        with pytest.raises(mg.RunError, match="connect again"):
            one.run(halvings, limit=4, secret=1)


def test_a_party_on_the_command_line_does_the_first_run(tmp_path: pathlib.Path) -> None:
    keys(tmp_path, 2)
    gap.save(tmp_path / "gap.mad")
    np.save(tmp_path / "rate.npy", np.array([2.0, 4.0]))
    line = [PROGRAM, "program", "run", "gap.mad", "--dim", "n=2", "--party", "1", "--parties", "parties.toml", "--identity", "p1"]
    with connections(tmp_path)[0] as ada:
        with subprocess.Popen(
            [*line, "--input", "rate=rate.npy", "--json"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as other:
            assert ada.run(gap, pay=[1.5, 2.0])["total"] == 11.0
            out, error = other.communicate(timeout=20)
        assert other.returncode == 0, error
        assert json.loads(out)["outputs"] == {"total": 11.0, "most": 2.0}
        with pytest.raises(mg.RunError, match="party 1.*it has left the session") as caught:
            ada.run(gap, pay=[1.5, 2.0])
        assert caught.value.status == 4


def test_nothing_is_left_of_many_sessions_and_stages(tmp_path: pathlib.Path) -> None:
    keys(tmp_path, 2)

    def once() -> None:
        ada, ben = connections(tmp_path)
        with ada, ben:
            one, other = both(lambda: ada.run(halvings, limit=4, secret=9), lambda: ben.run(halvings, limit=4))
            assert one.value == other.value == 2
        assert halvings.run_local(limit=4, secret=9).value == halvings.simulate(limit=4, secret=9) == 2

    once()
    gc.collect()
    time.sleep(0.1)
    left = threads(), len(os.listdir("/proc/self/fd"))
    for _ in range(int(os.environ.get("MADRIGAL_RUNS", "10")) // 2):
        once()
    assert settle(left[0]) <= left[0]
    assert len(os.listdir("/proc/self/fd")) <= left[1]


#: Two parties of which one never runs what the other has begun, and nobody closes anything.
LEAVES = """
import sys
sys.path[:0] = sys.argv[2:]
import pathlib, threading, time
from test_sessions import both, connections, small
ada, ben = connections(pathlib.Path(sys.argv[1]))
assert both(lambda: ada.run(small, x=6), lambda: ben.run(small, y=3))[0]["y"] == 18
threading.Thread(target=lambda: ada.run(small, x=6), daemon=True).start()
time.sleep(0.2)
print("end", time.time())
"""


def test_an_interpreter_ends_with_runs_under_way(tmp_path: pathlib.Path) -> None:
    keys(tmp_path, 2)
    folders = [str(pathlib.Path(__file__).parents[1]), str(pathlib.Path(__file__).parent)]
    done = subprocess.run([sys.executable, "-c", LEAVES, str(tmp_path), *folders], capture_output=True, text=True, timeout=60)
    end = time.time() - float(done.stdout.split()[-1])
    assert done.returncode == 0 and end < 3, (end, done.stderr)


#: A party in a process of its own, which computes until it is killed.
PARTY = """
import sys
sys.path[:0] = sys.argv[2:]
import numpy as np
import madrigal as mg
from test_sessions import MATRIX, connections, heavy, small
from test_stages import endless
import pathlib, threading
me = connections(pathlib.Path(sys.argv[1]))[1]
mode = sys.stdin.readline().strip()
print("ready", flush=True)
me.run(small, y=3)
while True:
    if mode == "stages":
        me.run(endless, began=threading.Event())
    else:
        me.run(heavy, y=np.ones(MATRIX, int))
"""


@pytest.mark.skipif(not KILLS, reason="MADRIGAL_KILLS=0")
def test_a_party_that_is_killed_is_named_at_once_and_nothing_is_left(tmp_path: pathlib.Path) -> None:
    keys(tmp_path, 2)
    gap.run_local(pay=[1.0], rate=[2.0])
    gc.collect()
    time.sleep(0.1)
    left = threads(), len(os.listdir("/proc/self/fd"))
    chance = random.Random(KILLS)
    folders = [str(pathlib.Path(__file__).parents[1]), str(pathlib.Path(__file__).parent)]
    waits = []
    for kill in range(KILLS):
        party = [sys.executable, "-c", PARTY, str(tmp_path), *folders]
        with subprocess.Popen(party, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
            assert other.stdin is not None and other.stdout is not None
            mode = ("program", "stages")[kill % 2]
            print(mode, file=other.stdin, flush=True)
            assert other.stdout.readline() == "ready\n"
            killed: list[float] = []

            def end() -> None:
                other.kill()
                killed.append(time.monotonic())

            timer = threading.Timer(chance.uniform(0, 0.5), end)
            with connections(tmp_path)[0] as ada, pytest.raises(mg.RunError, match="party 1") as caught:
                # Who is gone before they have met is waited for as long as the connection says.
                assert ada.run(small, x=6)["y"] == 18
                timer.start()
                while True:
                    if mode == "stages":
                        ada.run(endless, began=threading.Event(), x=np.arange(100))
                    else:
                        ada.run(heavy, x=np.ones(MATRIX, int))
            waits.append(time.monotonic() - killed[0])
            assert caught.value.status == 4, caught.value
            timer.join()
        # A connection that is lost is noticed at once, a party that is silent after 10 s.
        assert waits[-1] < 5, waits
        assert gap.run_local(pay=[1.0], rate=[2.0])["total"] == 2.0
    assert settle(left[0]) <= left[0]
    del caught
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) <= left[1]
    print(f"{KILLS} kills, told after {np.median(waits):.3f} s in the median, {max(waits):.3f} s at most")
