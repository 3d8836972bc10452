"""Stages: equal to their meaning in the clear and to NumPy, in scripts and in running event loops; errors with their lines."""

from __future__ import annotations

import asyncio
import inspect
import itertools
import os
import signal
import threading
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import madrigal as mg
from test_random import SHAPE, STEPS, apply

STAGED = int(os.environ.get("MADRIGAL_STAGED", "15"))
#: Mixes that so many parties can run.
MIXES = {2: ["A+B", "B", "A+Y2", "A+B+Y2"], 3: ["A+B", "R", "B"], 5: ["A+B", "B"]}


@mg.stages(parties=2)
async def halvings(s: mg.Stages, limit: int) -> int:
    """How often a secret can be halved until it is below a limit."""
    p = s.program()
    kept = p.keep(p.input("secret", owner=0, dtype=np.uint32))
    assert await s.run(p) == {}
    for times in itertools.count():
        p = s.program()
        secret = p.kept(kept)
        p.reveal("below", secret < limit)
        kept = p.keep(secret >> 1)
        if (await s.run(p))["below"]:
            return times
    raise AssertionError


@mg.stages(parties=2)
async def endless(s: mg.Stages, began: threading.Event) -> None:
    p = s.program()
    kept = p.keep(p.input("x", owner=0, shape=100, dtype=np.int64))
    await s.run(p)
    while True:
        p = s.program()
        kept = p.keep(np.sort(p.kept(kept)))
        await s.run(p)
        began.set()


def test_stages_are_what_they_mean_and_say_what_they_cost() -> None:
    assert halvings.simulate(limit=4, secret=20) == 3
    done = halvings.run_local(limit=4, secret=20)
    assert done.value == 3 and done.values == [3, 3]
    stats = done.stats
    assert len(stats["stages"]) == 5 and len(stats["parties"]) == 2 and stats["program"] == "halvings"
    sent = [stage["parties"][1]["online"]["bytes_sent"] for stage in stats["stages"]]
    assert sum(sent) == stats["parties"][1]["online"]["bytes_sent"] > 0


async def walk(s: Any, keep: bool, paths: list[list[list[tuple[str, bool]]]], extra: Any) -> list[Any]:
    """Steps on two arrays, of which each stage opens a bit that decides the next one's; the oracle runs with arrays and ``s`` None."""
    opened: list[Any] = []
    x, y = extra["x0"], extra["y0"]
    for number, choices in enumerate(paths):
        steps = choices[int(opened[-1]["bit"]) if opened else 0]
        if s is None:
            x, y = apply(steps, STEPS, x, y) ^ extra["later"] * (number == 1), x
            opened.append({"bit": x.sum() & 1 == 1, "some": x[0]})
            continue
        p = s.program()
        if number == 0:
            one, other = p.input("x0", 0, SHAPE, np.int64), p.input("y0", s.parties - 1, SHAPE, np.int64)
        else:
            one, other = p.kept(x), p.kept(y)
        made = apply(steps, STEPS, one, other)
        if number == 1:
            made = made ^ p.input("later", 1, SHAPE, np.int64)
        p.reveal("bit", (made.sum() & 1) == 1)
        p.reveal("some", made[0])
        x, y = p.keep(made), p.keep(one)
        opened.append(await s.run(p))
    return opened


@settings(max_examples=STAGED, deadline=None, print_blob=True, suppress_health_check=list(HealthCheck))
@given(
    parties=st.sampled_from([2, 3, 5]),
    paths=st.lists(
        st.lists(st.lists(st.tuples(st.sampled_from(sorted(STEPS)), st.booleans()), min_size=1, max_size=3), min_size=2, max_size=2),
        min_size=1,
        max_size=4,
    ),
    seed=st.integers(0, 2**32 - 1),
)
def test_random_stages_are_numpys_and_those_of_all_parties(
    parties: int, paths: list[list[list[tuple[str, bool]]]], seed: int
) -> None:
    random = np.random.default_rng(seed)
    values = {name: random.integers(-(2**20), 2**20, SHAPE) for name in ("x0", "y0", "later")}

    @mg.stages(parties=parties)
    async def made(s: mg.Stages) -> list[Any]:
        return await walk(s, True, paths, dict.fromkeys(values))

    with np.errstate(all="ignore"):
        expected = asyncio.run(walk(None, True, paths, values))
    inputs = values if len(paths) > 1 else {name: values[name] for name in ("x0", "y0")}
    mix = MIXES[parties][seed % len(MIXES[parties])]
    for found in [made.simulate(**inputs), made.run_local(protocol=mix, **inputs).value]:
        assert len(found) == len(expected)
        for stage, wanted in zip(found, expected):
            assert bool(stage["bit"]) == bool(wanted["bit"])
            np.testing.assert_array_equal(stage["some"], wanted["some"])


@pytest.mark.parametrize(("parties", "mix"), [(n, mix) for n, mixes in MIXES.items() for mix in mixes])
def test_values_are_kept_in_every_mix(parties: int, mix: str) -> None:
    @mg.stages(parties=parties, protocol=mix)
    async def made(s: mg.Stages) -> Any:
        p = s.program()
        x, f = p.input("x", parties - 1, 3, np.int16), p.input("f", 0, (), mg.fixed(64, 16))
        kept = p.keep(x), p.keep(x < 0), p.keep(f * f), p.keep(x.sum())
        assert [one.shape for one in kept] == [(3,), (3,), (), ()] and kept[1].dtype == mg.bool_
        await s.run(p)
        p = s.program()
        a, b, c, d = map(p.kept, kept)
        p.reveal("all", np.where(b, -a, a))
        p.reveal("c", c)
        p.reveal("d", d)
        return await s.last(p)

    values: dict[str, Any] = {"x": [-(2**15) + 1, 5, -7], "f": -1.5}
    for found in [made.simulate(**values), made.run_local(**values).value]:
        np.testing.assert_array_equal(found["all"], [2**15 - 1, 5, 7])
        assert (found["c"], found["d"]) == (2.25, sum(values["x"]))


def test_the_last_stage_may_tell_some_alone() -> None:
    @mg.stages(parties=3)
    async def made(s: mg.Stages) -> Any:
        p = s.program()
        x = p.input("x", 0, (), np.int64)
        p.reveal("own", x + 1, to=2)
        p.reveal("all", x)
        found = await s.last(p)
        with pytest.raises(RuntimeError, match="nothing comes after it"):
            await s.run(s.program())
        return found

    assert made.simulate(x=4) == {"own": 5, "all": 4}
    assert made.run_local(x=4).values == [{"all": 4}, {"all": 4}, {"own": 5, "all": 4}]


def test_inputs_are_given_by_name_once_or_with_their_stage() -> None:
    @mg.stages(parties=2)
    async def made(s: mg.Stages, mine: list[int]) -> int:
        total = 0
        for number in range(2):
            p = s.program()
            p.reveal("sum", p.input("a", 0, (), np.int64) + p.input("b", 1, (), np.int64))
            total += int((await s.run(p, b=mine[number]))["sum"])
        return total

    assert made.run_local(mine=[1, 2], a=10).value == made.simulate(mine=[1, 2], a=10) == 23
    with pytest.raises(TypeError, match="needs mine="):
        made.run_local(a=10)
    with pytest.raises(TypeError, match="stage 0 of made needs a=...: i64.* of party 0"):
        made.run_local(mine=[1, 2])
    with pytest.warns(UserWarning, match="no stage of made has asked for an input 'c'"):
        made.run_local(mine=[1, 2], a=10, c=1)


def test_clients_bring_values_to_stages_of_this_process() -> None:
    @mg.stages(parties=3)
    async def made(s: mg.Stages) -> int:
        p = s.program()
        x = p.input("x", mg.client("ann"), (2,), np.int64) + p.input("y", 1, (), np.int64)
        p.reveal("sum", x.sum())
        p.reveal("hers", x, to=mg.client("ann"))
        kept = p.keep(x)
        opened = await s.run(p)
        assert set(opened) == {"sum"}  # What clients learn decides nothing.
        p = s.program()
        p.reveal("first", p.kept(kept)[0] + opened["sum"])
        return int((await s.run(p))["first"])

    for protocol in ("A+B", "R", "B"):
        assert made.run_local(protocol=protocol, x=[3, 4], y=10).value == made.simulate(x=[3, 4], y=10) == 13 + 27
    with pytest.raises(TypeError, match="needs x=..."):
        made.run_local(y=10)


def line_of(function: Any, text: str) -> int:
    lines, first = inspect.getsourcelines(function)
    return first + next(at for at, line in enumerate(lines) if text in line)


async def wrong(s: mg.Stages, how: str, seen: list[Any]) -> Any:
    p = s.program()
    x = p.input("x", 0, (), np.int64)
    kept = p.keep(x)
    if how == "early":
        s.program().kept(kept)  # early
    if how == "length":
        p.input("y", 0, ("n",), np.int64)  # length
    if how == "foreign":
        seen.append(kept)
        s.program().kept(seen[0])  # foreign
    if how == "some":
        p.reveal("x", x, to=1)  # some
    if how == "unmet":
        p.require(x > 5, "large enough")
    if how == "other program" and s.me == 1:
        x = x * 3
    p.reveal("y", x + 1)
    if how == "less" and s.me == 1:
        return None
    if how == "fails" and s.me == 1:
        raise LookupError("of the user")
    await s.run(p)
    return s.me if how == "returns" else 0


@pytest.mark.parametrize(
    ("how", "error", "text"),
    [
        ("early", mg.ProgramError, "kept"),
        ("length", mg.ProgramError, "'n' is no length"),
        ("foreign", mg.ProgramError, "kept|run"),
        ("some", mg.ProgramError, "opened to party 1 alone"),
        ("unmet", mg.UnmetError, "large enough"),
        ("other program", mg.RunError, "party [01] runs another program: operation 2 is linear"),
        ("less", mg.RunError, "party 1"),
        ("fails", LookupError, "of the user"),
        ("returns", mg.RunError, "wrong returned 0 at party 0 and 1 at party 1"),
    ],
)
def test_what_cannot_be_is_an_error(how: str, error: type[Exception], text: str) -> None:
    made = mg.stages(wrong)
    began = time.monotonic()
    with pytest.raises(error, match=text) as caught:
        made.run_local(how=how, seen=[], x=3)
    assert time.monotonic() - began < 5
    if isinstance(caught.value, mg.ProgramError):
        assert caught.value.file == __file__ and caught.value.line == line_of(wrong, f"# {how}")


def test_what_is_not_met_can_be_met_by_the_next_stage() -> None:
    @mg.stages(parties=2)
    async def made(s: mg.Stages, tries: list[int]) -> int:
        for number, value in enumerate(tries):
            p = s.program()
            x = p.input("x", 0, (), np.int64)
            p.require(x > 5, "large enough")
            try:
                await s.run(p, x=value)
                return number
            except mg.UnmetError:
                continue
        return -1

    assert made.run_local(tries=[1, 2, 9, 10]).value == made.simulate(tries=[1, 2, 9, 10]) == 2


def test_functions_that_are_none_of_stages_are_refused() -> None:
    with pytest.raises(TypeError, match="async def"):
        mg.stages(lambda s: None)

    async def nothing() -> None: ...
    async def options(s: mg.Stages, threads: int) -> None: ...
    async def many(s: mg.Stages, *values: int) -> None: ...

    for function in (nothing, options, many):
        with pytest.raises(TypeError, match="parameters by name"):
            mg.stages(function)
    with pytest.raises(TypeError, match="simulate"):
        halvings(limit=4)


def test_stages_in_a_running_event_loop() -> None:
    async def notebook() -> None:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0.001)

        beside = asyncio.create_task(tick())
        found = await asyncio.gather(*(halvings.run_local_async(limit=4, secret=2**k) for k in (4, 6, 8)))
        assert [one.value for one in found] == [3, 5, 7]
        assert await halvings.simulate_async(limit=4, secret=20) == 3
        beside.cancel()
        assert ticks > 10
        # A call that does not await, as cells of notebooks have it.
        assert halvings.run_local(limit=4, secret=20).value == halvings.simulate(limit=4, secret=20) == 3

    asyncio.run(notebook())


def threads() -> int:
    return len(os.listdir("/proc/self/task"))


def settle(most: int) -> int:
    """Number of threads, once no more than these are there; a while later in any case."""
    until = time.monotonic() + 5
    while threads() > most and time.monotonic() < until:
        time.sleep(0.01)
    return threads()


def test_cancelling_the_task_ends_the_run() -> None:
    halvings.run_local(limit=4, secret=20)
    before = threads()

    async def cancelled() -> float:
        task = asyncio.create_task(endless.run_local_async(began=(began := threading.Event()), x=np.arange(100)))
        while not began.is_set():
            await asyncio.sleep(0.01)
        at = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return time.monotonic() - at

    assert asyncio.run(cancelled()) < 2
    assert settle(before) <= before
    assert halvings.run_local(limit=4, secret=20).value == 3


@pytest.mark.parametrize("in_loop", [False, True])
def test_ctrl_c_ends_stages(in_loop: bool) -> None:
    before = threads()
    began = threading.Event()
    at: list[float] = []

    def interrupt() -> None:
        began.wait()
        at.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    async def notebook() -> None:
        # As a notebook's kernel has it: its loop does not handle the signal.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        endless.run_local(began=began, x=np.arange(100))

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        if in_loop:
            asyncio.run(notebook())
        else:
            endless.run_local(began=began, x=np.arange(100))
    assert time.monotonic() - at[0] < 2  # A second, on a machine that does nothing else.
    assert settle(before) <= before
    assert halvings.run_local(limit=4, secret=20).value == 3
