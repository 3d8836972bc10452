"""Lists of two parties, matched: compared with sets, in all forms of lists, on one machine and between parties, and programs that go on."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import io
import os
import pathlib
import random
import re
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any, Callable

import numpy as np
import pytest

import madrigal as mg
from test_parties import keys
from test_sessions import both, connections, sockets

ROOT = pathlib.Path(__file__).parents[2]
SHOP, BANK = ROOT / "examples/lists/shop.csv", ROOT / "examples/lists/bank.csv"
NAMES = {0: "email", 1: "mail"}
#: Texts in which files and flags could get lost.
ODD = ["", " ", "a,b", 'a"b', '"', "two\nlines", "\r\n", "0=x", "ä", "\x00", "--to", "a" * 3000, "'", "\ufeff"]


def drawn() -> random.Random:
    seed = int(os.environ.get("MADRIGAL_SEED", random.randrange(2**32)))
    print(f"seed {seed}: set MADRIGAL_SEED to it to repeat this")
    return random.Random(seed)


def some(rng: random.Random, key: Callable[[int], Any]) -> list[list[Any]]:
    return [[key(rng.randrange(30)) for _ in range(rng.choice([0, 1, 2, rng.randrange(40)]))] for _ in range(2)]


def rows_of(lists: list[list[Any]], me: int) -> list[int]:
    return [row for row, key in enumerate(lists[me]) if key in lists[1 - me] and key not in ("", b"")]


def test_rows_and_sizes_are_those_of_sets(tmp_path: pathlib.Path) -> None:
    rng = drawn()
    kinds: list[Callable[[int], Any]] = [
        lambda n: f"key {n}", lambda n: ODD[n % len(ODD)], lambda n: bytes([n, 255 - n, 34]), lambda n: n - 15, lambda n: 2**70 + n,
        lambda n: datetime.date(2024, 2, 1) + datetime.timedelta(days=n), lambda n: bool(n % 2),
    ]
    for key in kinds:
        lists = some(rng, key)
        to = rng.choice(["all", 0, 1])
        given: list[Any] = [np.array(one) if isinstance(key(0), int) and key(0) < 2**62 else one for one in lists]
        found = mg.psi(given, to=to, spill=tmp_path, threads=1)
        sizes = mg.psi(given, find="size", threads=1)
        common = len((set(lists[0]) & set(lists[1])) - {""})
        for me, one in enumerate(found):
            assert one.party == me and one.keys == tuple(len(set(own) - {""}) for own in lists)
            assert sizes[me].size == common and sizes[me].rows is None
            if to in ("all", me):
                assert one.rows.tolist() == rows_of(lists, me) and one.size == common
            else:
                assert one.rows is None and one.size is None
    # Lists in memory are on the disk no longer than that.
    assert list(tmp_path.iterdir()) == []


def test_malicious_parties_are_asked_for_by_name() -> None:
    lists = [["ann", "bob", "cleo"], ["cleo", "ann", "dan"]]
    found = mg.psi(lists, security="malicious", threads=1)
    assert [one.rows.tolist() for one in found] == [[0, 2], [0, 1]]
    assert {one.stats["security"] for one in found} == {"malicious"}
    with pytest.raises(mg.RunError, match="--security malicious"):
        mg.psi(lists, find="size", security="malicious", threads=1)
    with pytest.raises(ValueError, match="semi-honest, malicious"):
        mg.psi(lists, security="honest", threads=1)


def test_three_parties_and_more_learn_which_rows_all_have() -> None:
    rng = drawn()
    for parties, protocol, most in [(3, None, 40), (3, "B", 6), (4, None, 4)]:
        lists = [[f"key {rng.randrange(most)}" for _ in range(rng.choice([1, most]))] for _ in range(parties)]
        to = rng.choice(["all", [0, 2], 1])
        found = mg.psi(lists, to=to, protocol=protocol, threads=1)
        common = set.intersection(*map(set, lists))
        assert len(found) == parties
        for me, one in enumerate(found):
            assert one.party == me and one.keys == tuple(len(set(own)) for own in lists)
            if to == "all" or me == to or isinstance(to, list) and me in to:
                assert one.rows.tolist() == [row for row, key in enumerate(lists[me]) if key in common] and one.size == len(common)
            else:
                assert one.rows is None and one.size is None
    with pytest.raises(mg.RunError, match="two parties"):
        mg.psi([["a"], ["a"], ["b"]], find="size")
    with pytest.raises(TypeError, match="two parties or more"):
        mg.psi([["a"]])


def test_payloads_and_sums_are_those_of_sets() -> None:
    rng = drawn()
    for places in (0, 2):
        amounts = [[Decimal(rng.randrange(-10**6, 10**6)).scaleb(-places) for _ in range(25)] for _ in range(2)]
        lists = [rng.sample(range(40), 25) for _ in range(2)]
        tables = [{"id": ids, "amount": list(map(int, own)) if places == 0 else own} for ids, own in zip(lists, amounts)]
        own = [dict(zip(*one)) for one in zip(lists, amounts)]
        common = set(lists[0]) & set(lists[1])
        sums = [sum(own[party][key] for key in common) for party in (0, 1)]
        for me in (0, 1):
            found = mg.psi(tables, "id", find="join", to=me, payload={1 - me: "amount"}, places=places)
            assert found[me].rows.tolist() == rows_of(lists, me) and found[1 - me].rows is None
            assert found[me].payloads.tolist() == [own[1 - me][lists[me][row]] for row in rows_of(lists, me)]
            alone = mg.psi(tables, "id", find="sum", payload={me: "amount"}, places=places)[me]
            assert alone.sums == ((sums[0], None) if me == 0 else (None, sums[1])) and alone.size is None
        for one in mg.psi(tables, "id", find=("size", "sum"), payload="amount", places=places):
            assert one.sums == tuple(sums) and one.size == len(common)


def test_programs_go_on_from_shares() -> None:
    rng = drawn()
    lists = [rng.sample(range(60), 30), rng.sample(range(60), 40)]
    amounts = [[rng.randrange(-1000, 1000) for _ in ids] for ids in lists]
    groups = np.array([rng.randrange(3) for _ in lists[0]], np.int64)
    for payloads in ([0, 1], [1], [0], []):
        tables = [{"id": ids, "amount": own} for ids, own in zip(lists, amounts)]
        first, second = mg.psi(tables, "id", find="shares", payload={party: "amount" for party in payloads})
        one, other = first.bins, second.bins
        assert one is not None and other is not None and first.rows is None and first.size is None
        assert (one.receiver, other.rows, one.bins) == (0, None, other.bins)
        assert sorted(row for row in one.rows.tolist() if row >= 0) == list(range(30))
        # Both parties record it from what both know.
        programs = []
        for bins in (one, other):

            @mg.program(parties=2)
            def going_on(p: mg.Builder) -> None:
                asked = bins.ask(p)
                group = p.input("group", 0, (bins.bins,), np.int64)
                p.reveal("groups", np.stack([np.sum(asked.in_both & (group == one)) for one in range(3)]))
                for party, payload in enumerate(asked.payloads):
                    if payload is not None:
                        p.reveal(f"large {party}", np.sum(np.where(payload > 100, payload, 0)))

            programs.append(going_on)
        assert programs[0].bind().digest == programs[1].bind().digest
        again = mg.psi(tables, "id", find="shares", payload={party: "amount" for party in payloads})[1].bins
        assert again is not None and again.run != one.run == other.run and not set(again.inputs) & set(other.inputs)
        by_bin = np.where(one.rows >= 0, groups[one.rows], 7)
        ran = programs[0].run_local(group=by_bin, **one.inputs, **other.inputs)
        common = set(lists[0]) & set(lists[1])
        expected = [sum(groups[lists[0].index(key)] == group for key in common) for group in range(3)]
        assert ran["groups"].tolist() == expected
        for party in payloads:
            own = dict(zip(lists[party], amounts[party]))
            assert ran[f"large {party}"] == sum(own[key] for key in common if own[key] > 100)
        assert set(ran) == {"groups", *(f"large {party}" for party in payloads)}


def test_files_and_forms_of_keys_are_those_of_the_command() -> None:
    ours, theirs = mg.psi([SHOP, str(BANK)], NAMES, normal="lower,trim", payload={1: "amount"}, places=2, find=("size", "sum"))
    assert ours.size == theirs.size == 6 and ours.sums == (None, Decimal("1128.54"))
    assert ours.stats["question"] == "size and sum" and "1128.54" in repr(ours)
    exact = mg.psi([SHOP, BANK], NAMES)[0]
    assert exact.size is not None and exact.size < 6
    # Several columns are one key; rows without a key match nothing unless told otherwise.
    people = {"first": ["Ann", "Bob", None], "last": ["Ash", "Bee", "Cox"]}
    others = {"name": ["ann", "bob"], "family": ["bee", "bee"]}
    found = mg.psi([people, others], {0: ["first", "last"], 1: ["name", "family"]}, normal="lower", bound={1: 50})
    assert found[0].rows.tolist() == [1] and found[1].rows.tolist() == [1] and found[0].keys == (2, 50)
    assert mg.psi([["a", None], [float("nan")]], empty="match")[0].rows.tolist() == [1]
    assert mg.psi([["a", "a"], ["a"]])[0].rows.tolist() == [0, 1]


def test_rows_match_by_the_first_of_several_keys(tmp_path: pathlib.Path) -> None:
    rng = drawn()
    columns = ["mail", " phone", "first", "last"]
    any_of: list[Any] = ["mail", " phone", ["first", "last"]]
    for find in ("rows", "join"):
        tables = [{name: [rng.choice(["", f"{name} {rng.randrange(9)}"]) for _ in range(20)] for name in columns} for _ in range(2)]
        amounts = [{"n": [rng.randrange(100) for _ in range(20)]} for _ in range(2)]
        own = [[(one["mail"][row], one[" phone"][row], one["first"][row] and one["last"][row] and one["first"][row] + one["last"][row]) for row in range(20)] for one in tables]
        expected = []
        for key in own[0]:
            by = [place for place in range(3) if key[place] and any(key[place] == other[place] for other in own[1])][:1]
            expected += [(by[0], sum(n for n, other in zip(amounts[1]["n"], own[1]) if key[by[0]] == other[by[0]]))] if by else [None]
        how: dict[str, Any] = {"find": find, "to": 0, "state": {0: tmp_path / "a", 1: tmp_path / "b"}}
        how |= {"payload": {1: "n"}, "repeated": "sum"} if find == "join" else {}
        found = mg.psi([table | amount for table, amount in zip(tables, amounts)], any_of=any_of, **how)[0]
        rows = [row for row, one in enumerate(expected) if one]
        assert found.rows.tolist() == rows and found.by.tolist() == [one[0] for one in expected if one]
        assert found.payloads is None or found.payloads.tolist() == [one[1] for one in expected if one]
        assert found.stats["parties"][0]["matched_rows_by_key"] == [found.by.tolist().count(place) for place in range(3)]
        # What is kept is gone with the answer.
        assert list(tmp_path.iterdir()) == []


def test_sizes_with_noise_are_near_the_true_ones(tmp_path: pathlib.Path) -> None:
    lists = [[f"key {n}" for n in range(40)], [f"key {n}" for n in range(30, 60)]]
    ledger = tmp_path / "shop.ledger"
    asked = {"find": "size", "noise": 0.25, "ledger": {0: ledger}, "budget": (0.5, 2e-9), "bound": 100}
    for to in ("all", 1):
        found = mg.psi(lists, to=to, **asked)
        noise = found[0].stats["noise"]
        assert (noise["epsilon"], noise["delta"]) == (0.25, 1e-9) and found[0].keys == (100, 100)
        size = found[1].size
        assert isinstance(size, int) and abs(size - 10) <= noise["most"]
        assert found[0].size == (size if to == "all" else None)
    with pytest.raises(mg.RunError, match="epsilons of 0.5 in all"):
        mg.psi(lists, **asked)
    with pytest.raises(mg.RunError, match="give --bound"):
        mg.psi(lists, **{**asked, "bound": None})
    assert mg.psi(lists, find="size", noise=1.0, each=2)[0].stats["noise"]["each"] == 2
    with pytest.raises(mg.RunError, match="without noise"):
        mg.psi(lists, ledger={0: ledger})
    assert ledger.read_text().count("epsilon = 0.25") == 2
    for how, words in [({"find": "sum"}, "sums are told exactly"), ({}, "--size"), ({"find": "size", "delta": 0.5}, "--delta 0.5")]:
        with pytest.raises(mg.RunError, match=words):
            mg.psi(lists, noise=1, **how)


def test_what_cannot_be_matched_says_why(tmp_path: pathlib.Path) -> None:
    for lists, how, kind, words in [
        ([["a"]], {}, TypeError, "two parties"),
        (["a.csv", ["a"]], {}, TypeError, "column="),
        ([{"a": [1]}, ["a"]], {}, TypeError, "column="),
        ([{"a": [1]}, ["a"]], {"column": {0: "b"}}, ValueError, "no column 'b'.*'a'"),
        ([{"a": [1], "b": []}, ["a"]], {"column": ["a", "b"]}, ValueError, "different lengths"),
        ([{"a": {1}}, ["a"]], {"column": "a"}, TypeError, "of type set"),
        ([{1, 2}, ["a"]], {}, TypeError, "set is no list"),
        ([[1.5], ["a"]], {}, TypeError, "row 0: float is no key"),
        ([["a"], ["b", "\ud800"]], {}, ValueError, "row 1: .*Unicode"),
        ([np.zeros((2, 2), int), ["a"]], {}, ValueError, "2 axes"),
        ([["a"], ["a"]], {"payload": "x"}, TypeError, "no payload"),
        ([["a"], ["a"]], {"find": "all"}, ValueError, "find is"),
        ([["a"], ["a"]], {"normal": "upper"}, ValueError, "upper"),
        ([["a"], ["a"]], {"progress": 3}, TypeError, "progress"),
        ([["a"], ["a"]], {"column": "a,b"}, ValueError, "several columns"),
        ([["a"], ["a"]], {"any_of": ["a", "b"]}, TypeError, "one key for each row"),
        ([{"a": [1]}, {"a": [1]}], {"any_of": "a"}, TypeError, "list of keys"),
        ([{"a": [1]}, {"a": [1]}], {"any_of": ["a"], "column": "a"}, TypeError, "both given"),
        ([{"a": [1]}, {"a": [1]}], {"any_of": ["a", []]}, ValueError, "without a column"),
        ([{"a": [1]}, {"a": [1]}], {"any_of": ["a", "a"], "find": "size"}, mg.RunError, "count keys"),
        ([{"a": [1]}, {"a": [1]}], {"any_of": ["a", "a"], "normal": ["exact"] * 3}, mg.RunError, "3 times, and a row has 2 keys"),
        ([["a"], ["a"]], {"state": tmp_path / "both"}, mg.RunError, "another run uses"),
        ([["a"], ["a"]], {"bound": 0}, mg.RunError, "1 different keys"),
        ([["a", "b"], ["a", "b"]], {"most": 1}, mg.RunError, "--most|most"),
        ([["a"], [""]], {"empty": "refuse"}, mg.RunError, "line 2.*no key"),
        ([["a"], ["a"]], {"find": "join"}, mg.RunError, "--to"),
        ([["a"], ["a"]], {"find": "sum"}, mg.RunError, "neither party"),
        ([tmp_path / "none.csv", ["a"]], {"column": "a"}, mg.RunError, "none.csv"),
        ([{"a": [1, 1], "n": [2, 3]}, ["1"]], {"column": "a", "payload": {0: "n"}, "find": "shares"}, mg.RunError, "line 3"),
        ([{"a": [1], "n": [0.125]}, ["1"]], {"column": "a", "payload": {0: "n"}, "find": "shares", "places": 2}, mg.RunError, "2 digits"),
    ]:
        with pytest.raises(kind, match=words):
            mg.psi(lists, **how)
    ledger = {0: tmp_path / "queries"}
    mg.psi([["a"], ["a"]], ledger=ledger, limit=1)
    with pytest.raises(mg.RunError, match="1 queries"):
        mg.psi([["a"], ["a"]], ledger=ledger)


def test_parties_match_lists_in_a_session_that_goes_on(tmp_path: pathlib.Path) -> None:
    keys(tmp_path, 2)
    ada, ben = connections(tmp_path)
    with ada, ben:
        for turn in range(2):
            one, other = both(lambda: ada.psi(SHOP, "email", normal="lower,trim"), lambda: ben.psi(BANK, "mail", normal="lower,trim"))
            assert (one.party, other.party, one.size, len(other.rows)) == (0, 1, 6, 6)
            one, other = both(lambda: ada.psi(["x", "y"], find="size", to=1), lambda: ben.psi(["y"], find="size", to=1))
            assert (one.size, other.size) == (None, 1)
        both(lambda: ada.psi([1], ledger=tmp_path / "queries", limit=1), lambda: ben.psi([1]))
        assert 'with = "p1"' in (tmp_path / "queries").read_text()
        # What is wrong here alone ends nothing.
        for wrong in ({"find": "join"}, {"find": "none"}, {"normal": "upper"}):
            with pytest.raises((ValueError, mg.RunError)):
                ada.psi(["x"], **wrong)
        with pytest.raises(mg.RunError, match="none.csv"):
            ada.psi(tmp_path / "none.csv", "x")
        table = {"key": ["y", "z"], "n": [5, 6]}
        one, other = both(lambda: ada.psi(["x", "y"], find="shares"), lambda: ben.psi(table, "key", find="shares", payload="n"))

        def going_on(bins: mg.Bins) -> mg.Program:
            @mg.program(parties=2)
            def total(p: mg.Builder) -> None:
                p.reveal("total", np.sum(bins.ask(p).payloads[1]))

            return total

        one, other = both(
            lambda: ada.run(going_on(one.bins), **one.bins.inputs), lambda: ben.run(going_on(other.bins), **other.bins.inputs)
        )
        assert one["total"] == other["total"] == 5

        async def beside() -> list[mg.Matches]:
            return await asyncio.gather(ada.psi_async([1, 2]), ben.psi_async([2, 3]))

        assert [found.rows.tolist() for found in asyncio.run(beside())] == [[1], [0]]
        # Different questions are found out, and end the session.
        one, other = both(lambda: ada.psi(["x"]), lambda: ben.psi(["x"], find="size"))
        assert isinstance(one, mg.RunError) and isinstance(other, mg.RunError)
        assert "what is asked of the lists" in str(one) + str(other)
        with pytest.raises(mg.RunError, match="connect again"):
            ada.psi(["x"])


def test_progress_is_told_and_an_interrupt_ends_it(caplog: pytest.LogCaptureFixture) -> None:
    steps: list[mg.Progress] = []
    with caplog.at_level("INFO", "madrigal"):
        mg.psi([np.arange(20_000), np.arange(10_000, 30_000)], progress=steps.append)
    assert any(step.phase == "online" and step.done == step.total for step in steps)
    assert "psi, rows: 2 parties here" in caplog.text and "party 1 done in" in caplog.text
    with pytest.raises(LookupError, match="enough"):
        mg.psi([np.arange(20_000), np.arange(10_000)], progress=lambda _: (_ for _ in ()).throw(LookupError("enough")))
    # Over a slow line there is time to be interrupted.
    many, before = np.arange(300_000), sockets()
    timer = threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGINT))
    began = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        mg.psi([many, many], network="10ms,5Mbps")
    assert time.monotonic() - began < 6
    # Threads that compute end by themselves a little later, and nothing is left.
    until = time.monotonic() + 20
    while not sockets() <= before:
        assert time.monotonic() < until, sockets() - before
        time.sleep(0.05)


def test_the_page_does_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs/PSI.md").read_text()
    begin = page.index("## In Python\n")
    found = [one for one in re.finditer(r"^```python\n(.*?)^```$", page, re.M | re.S) if one.start() > begin]
    assert found
    monkeypatch.chdir(ROOT)
    names: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        for block in found:
            source = "\n" * page.count("\n", 0, block.start(1)) + block[1]
            exec(compile(source, "docs/PSI.md", "exec"), names)  # noqa: S102
