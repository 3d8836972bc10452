"""Programs as scripts use them: simulated, run, explained, saved; what is refused, with its line."""

from __future__ import annotations

import inspect
import pathlib
from typing import Any

import numpy as np
import pytest

import madrigal as mg


@mg.program(parties=3)
def gap(p: mg.Builder) -> None:
    pay = p.input("pay", owner=0, shape=("n",), dtype=mg.fixed(64, 16))
    rate = p.input("rate", owner=1, shape=("n",), dtype=mg.fixed(64, 16))
    p.reveal("total", np.sum(pay * rate))
    p.reveal("most", np.max(pay), to=2)


PAY, RATE = np.array([1.5, -2.0, 8.25]), np.array([2.0, 4.0, 0.5])


@pytest.mark.parametrize("protocol", [None, "R", "B", "A+Y"])
def test_a_program_means_what_all_protocols_compute(protocol: str | None) -> None:
    expected = {"total": np.float64(-0.875), "most": np.float64(8.25)}
    assert gap.simulate(pay=PAY, rate=RATE) == expected
    result = gap.run_local(pay=PAY, rate=RATE, protocol=protocol)
    assert dict(result) == expected
    assert result.stats["mix"] == (protocol or "A+B")
    assert result.stats["parties"][0]["online"]["bytes_sent"] > 0


def test_costs_are_told_before_anything_runs() -> None:
    near, far = gap.explain(n=1000, network="lan"), gap.explain(n=1000, network="wan")
    assert "online" in near.text and "<table" in near._repr_html_()
    assert far.figures["network"] == "wan"


def test_files_are_the_same_program(tmp_path: pathlib.Path) -> None:
    gap.save(tmp_path / "gap.mad")
    again = mg.load(tmp_path / "gap.mad")
    for n in (1, 3, 1000):
        assert again.bind(n=n).digest == gap.bind(n=n).digest
    with pytest.raises(TypeError, match="no length for n"):
        again.bind()
    gap.save(tmp_path / "three.mad", n=3)
    assert mg.load(tmp_path / "three.mad").bind().digest == gap.bind(n=3).digest
    assert again.simulate(pay=PAY, rate=RATE)["total"] == -0.875
    assert again.run_local(pay=PAY, rate=RATE)["most"] == 8.25


def test_inputs_that_do_not_fit_are_told() -> None:
    for given, words in [
        ({"pay": PAY}, "needs rate"),
        ({"pay": PAY, "rate": RATE[:2]}, "n is 3"),
        ({"pay": PAY[None], "rate": RATE}, "has shape (1, 3)"),
        ({"pay": PAY, "rate": RATE, "other": 1}, "no input 'other'"),
        ({"pay": PAY, "rate": [1, 2, 1e30]}, "element 2"),
        ({"pay": PAY, "rate": [1, 2, np.nan]}, "element 2"),
    ]:
        with pytest.raises((TypeError, ValueError), match="."):
            try:
                gap.simulate(**given)
            except (TypeError, ValueError) as error:
                assert words in str(error), (words, str(error))
                raise


def refused(body: Any, words: str) -> None:
    """Checks that a program's second line is refused by name, with its place."""
    with pytest.raises(mg.ProgramError) as caught:
        mg.program(parties=2)(body)
    line = inspect.getsourcelines(body)[1] + 2
    assert (caught.value.file, caught.value.line) == (__file__, line), caught.value
    assert words in str(caught.value), caught.value


def test_what_would_look_at_a_secret_is_refused_with_its_line() -> None:
    def branch(p: mg.Builder) -> None:
        x = p.input("x", 0, (3,), int)
        if x.sum() > 3:
            pass

    def loop(p: mg.Builder) -> None:
        x = p.input("x", 0, (3,), int)
        for one in x:
            del one

    def number(p: mg.Builder) -> None:
        x = p.input("x", 0, (), int)
        float(x)

    def shapes(p: mg.Builder) -> None:
        x, y = p.input("x", 0, (3,), int), p.input("y", 1, (4,), int)
        np.matmul(x, y[:3]) + p.constant(np.ones((2, 2), int)) @ x

    def function(p: mg.Builder) -> None:
        x = p.input("x", 0, (3,), float)
        np.tan(x)

    def index(p: mg.Builder) -> None:
        x = p.input("x", 0, (3,), int)
        x[x > 1]

    def changed(p: mg.Builder) -> None:
        x = p.input("x", 0, (3,), int)
        x[0] = 5

    for body, words in [
        (branch, "np.where(condition, a, b)"),
        (loop, "mg.map"),
        (number, "reveal it"),
        (function, "np.tan is not for secrets"),
        (index, "mg.look_up"),
        (changed, "np.where"),
    ]:
        refused(body, words)
    with pytest.raises(ValueError, match="shapes"):
        mg.program(parties=2)(shapes)


def test_requirements_and_clients() -> None:
    @mg.program(parties=2, protocol="A+B")
    def ages(p: mg.Builder) -> None:
        x = p.input("ages", owner=mg.client("clinic"), shape=(3,), dtype=np.uint8)
        p.require(x < 130, "ages are below 130")
        p.reveal("oldest", x.max(), to=mg.client("press"))

    assert ages.run_local(ages=[3, 129, 7])["oldest"] == 129
    with pytest.raises(mg.UnmetError, match="ages are below 130.*client clinic"):
        ages.run_local(ages=[3, 130, 7])
    with pytest.raises(mg.UnmetError):
        ages.simulate(ages=[3, 130, 7])


def test_loops_branches_and_tables() -> None:
    @mg.program(parties=2)
    def flow(p: mg.Builder) -> None:
        x = p.input("x", 0, (4,), np.int64)
        table = p.input("table", 1, (5,), np.int64)
        by = p.input("by", 1, (), np.int64)
        p.reveal("repeated", mg.repeat(3, lambda state: state * 2 + by, x))
        p.reveal("mapped", mg.map(lambda row: row.sum() * by, x.reshape(2, 2)))
        p.reveal("chosen", mg.cond(x > 1, lambda: x * 10, lambda: -x))
        p.reveal("matched", mg.match(x, [lambda: x + 5, lambda: x * 0 + by]))
        p.reveal("found", mg.look_up(table, x))

    x, table = np.array([0, 1, 2, 9]), np.array([7, 8, 9, 10, 11])
    for found in (flow.simulate(x=x, table=table, by=3), flow.run_local(x=x, table=table, by=3)):
        assert found["repeated"].tolist() == (8 * x + 21).tolist()
        assert found["mapped"].tolist() == [3, 33]
        assert found["chosen"].tolist() == [0, -1, 20, 90]
        assert found["matched"].tolist() == [5, 3, 0, 0]
        assert found["found"].tolist() == [7, 8, 9, 0]


@pytest.mark.parametrize("parties, protocol", [(3, "R"), (2, "A+B")])
def test_rows_are_sorted_by_keys(parties: int, protocol: str) -> None:
    @mg.program(parties=parties, protocol=protocol)
    def ranked(p: mg.Builder) -> None:
        won = p.input("won", 0, (9,), bool)
        points = p.input("points", 1, (9,), np.int16)
        name = p.input("name", 0, (9,), np.uint32)
        by_both = mg.sort_by((won, points), name, descending=(True, False))
        p.reveal("won", by_both[0])
        p.reveal("points", by_both[1])
        p.reveal("name", by_both[2])
        p.reveal("last", mg.sort_by(points, name, descending=True)[1])
        p.reveal("sorted", np.sort(points))

    won = np.array([0, 1, 1, 0, 1, 0, 1, 1, 0], dtype=bool)
    points = np.array([5, -7, 32767, 5, -7, -32768, 0, 32767, 5], dtype=np.int16)
    name = np.arange(9, dtype=np.uint32) + 100
    order = np.lexsort((points, ~won))
    given = {"won": won, "points": points, "name": name}
    for found in (ranked.simulate(**given), ranked.run_local(**given)):
        assert found["name"].tolist() == name[order].tolist()
        assert found["won"].tolist() == won[order].tolist()
        assert found["points"].tolist() == points[order].tolist()
        assert found["last"].tolist() == name[np.argsort(-points.astype(int), kind="stable")].tolist()
        assert found["sorted"].tolist() == sorted(points.tolist())


@pytest.mark.parametrize("parties, protocol", [(3, "R"), (2, "A+B")])
def test_rows_are_shuffled_together(parties: int, protocol: str) -> None:
    @mg.program(parties=parties, protocol=protocol)
    def mixed(p: mg.Builder) -> None:
        name = p.input("name", 0, (30,), np.uint32)
        points = p.input("points", 1, (30,), np.int16)
        shuffled = mg.shuffle(name, points)
        p.reveal("name", shuffled[0])
        p.reveal("points", shuffled[1])

    name = np.arange(30, dtype=np.uint32) + 100
    given = {"name": name, "points": (-7 * np.arange(30)).astype(np.int16)}
    assert mixed.simulate(**given)["name"].tolist() == name.tolist()
    found = mixed.run_local(**given)
    assert found["name"].tolist() != name.tolist()
    assert sorted(found["name"].tolist()) == name.tolist()
    assert (found["points"] == -7 * (found["name"].astype(np.int16) - 100)).all()


@pytest.mark.parametrize("parties, protocol", [(3, "R"), (2, "A+B")])
def test_orders_of_rows_are_values(parties: int, protocol: str) -> None:
    shown: list[tuple[int, str]] = []

    @mg.program(parties=parties, protocol=protocol)
    def ordered(p: mg.Builder) -> None:
        ward = p.input("ward", 0, ("n",), np.uint8)
        cost = p.input("cost", 1, ("n",), np.int32)
        order = mg.permutation(ward, cost, descending=(False, True))
        p.reveal("cost", order.apply(cost)[0])
        p.reveal("places", order.places())
        mixed = mg.random_permutation(ward)
        both = order.then(mixed)
        p.reveal("mixed", mixed.apply(cost)[0])
        p.reveal("back", both.inverse().apply(*both.apply(ward, cost))[1])
        shown.append((len(order), repr(order)))

    ward = np.array([3, 1, 3, 0, 1, 3, 2] * 5, dtype=np.uint8)
    cost = (np.arange(35) * 7 % 35 * 10 - 100).astype(np.int32)
    order = np.lexsort((-cost, ward))
    for found in (ordered.simulate(ward=ward, cost=cost), ordered.run_local(ward=ward, cost=cost)):
        assert found["cost"].tolist() == cost[order].tolist()
        assert found["places"].tolist() == np.argsort(order).tolist()
        assert found["back"].tolist() == cost.tolist()
        assert sorted(found["mixed"].tolist()) == sorted(cost.tolist())
    assert found["mixed"].tolist() != cost.tolist()
    assert (35, "<Permutation of 35 rows>") in shown


def test_orders_that_cannot_be_are_told() -> None:
    @mg.program(parties=3)
    def wrong(p: mg.Builder) -> None:
        x, y = p.input("x", 0, (3,), int), p.input("y", 1, (2,), int)
        order = mg.permutation(x)
        with pytest.raises(ValueError, match=r"3 rows and one axis: \(2,\)"):
            order.apply(y)
        with pytest.raises(ValueError, match="of 3 rows and of 2"):
            order.then(mg.permutation(y))
        with pytest.raises(mg.SecretError, match="behind a permutation"):
            order.then(x)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="a key to sort by is missing"):
            mg.permutation()
        with pytest.raises(ValueError, match="2 directions for 1 keys"):
            mg.permutation(x, descending=(True, False))
        with pytest.raises(ValueError, match="one shape, of one axis"):
            mg.permutation(x, y)
        with pytest.raises(ValueError, match="a secret of one axis"):
            mg.random_permutation(3)  # type: ignore[arg-type]
        p.reveal("x", order.places())

    wrong.simulate(x=[1, 2, 3], y=[4, 5])


def test_shuffles_that_cannot_be_are_told() -> None:
    @mg.program(parties=2, protocol="Y2")
    def wrong(p: mg.Builder) -> None:
        x, y = p.input("x", 0, (3,), int), p.input("y", 1, (2,), int)
        with pytest.raises(ValueError, match=r"one shape.*\(3,\), \(2,\)"):
            mg.shuffle(x, y)
        with pytest.raises(ValueError, match="a value is missing"):
            mg.shuffle()
        p.reveal("x", mg.shuffle(x)[0])

    with pytest.raises(mg.MadrigalError, match="R of 3 parties"):
        wrong.run_local(x=[1, 2, 3], y=[4, 5])


def test_sorts_that_cannot_be_are_told() -> None:
    @mg.program(parties=3)
    def wrong(p: mg.Builder) -> None:
        x, y = p.input("x", 0, (3,), int), p.input("y", 1, (2,), int)
        with pytest.raises(ValueError, match=r"one shape.*\(3,\), \(2,\)"):
            mg.sort_by(x, y)
        with pytest.raises(ValueError, match="2 directions for 1 keys"):
            mg.sort_by(x, descending=(True, False))
        with pytest.raises(ValueError, match="a key to sort by is missing"):
            mg.sort_by(())
        p.reveal("x", x)

    wrong.simulate(x=[1, 2, 3], y=[4, 5])


def test_types_keep_every_number() -> None:
    for dtype, numbers in [
        (np.int8, [-128, 127, 0]), (np.uint64, [0, 2**64 - 1, 5]), (mg.int128, [-(2**127), 2**127 - 1, 1]),
        (mg.uint128, [0, 2**128 - 1, 7]), (bool, [True, False, True]), (mg.fixed(16, 6), [-512.0, 511.984375, 0.015625]),
    ]:
        @mg.program(parties=2)
        def same(p: mg.Builder) -> None:
            p.reveal("x", p.input("x", 0, (3,), dtype))

        assert same.simulate(x=numbers)["x"].tolist() == numbers, dtype
        assert same.run_local(x=numbers)["x"].tolist() == numbers, dtype
    for dtype, number in [(np.int8, 128), (np.uint8, -1), (mg.int128, 2**127), (bool, 2), (np.int64, 0.5)]:
        @mg.program(parties=2)
        def one(p: mg.Builder) -> None:
            p.reveal("x", p.input("x", 0, (), dtype))

        with pytest.raises(ValueError, match="x: a value of"):
            one.simulate(x=number)


def test_lengths_that_a_file_cannot_leave_open_are_told(tmp_path: pathlib.Path) -> None:
    @mg.program(parties=2)
    def halves(p: mg.Builder) -> None:
        x = p.input("x", 0, ("n",), int)
        p.reveal("half", x[: len(x) // 2])

    with pytest.raises(ValueError, match=r"view depends on the lengths.*halves.save\(path, n=...\)"):
        halves.save(tmp_path / "halves.mad")
    halves.save(tmp_path / "halves.mad", n=6)
    assert mg.load(tmp_path / "halves.mad").simulate(x=range(6))["half"].tolist() == [0, 1, 2]


def test_files_leave_lengths_open(tmp_path: pathlib.Path) -> None:
    @mg.program(parties=2)
    def table(p: mg.Builder) -> None:
        x = p.input("x", 0, ("rows", "columns"))
        y = p.input("y", 1, ("columns",))
        centred = x - x.mean(axis=0)
        p.reveal("products", centred @ y)
        p.reveal("covariance", centred.T @ centred / 8)
        p.reveal("last", x[::-1, :2])
        p.reveal("spread", x.var(axis=0, ddof=1))
        p.reveal("correlation", np.corrcoef(x[:, 0], x[:, 1])[0, 1])

    table.save(tmp_path / "table.mad")
    again = mg.load(tmp_path / "table.mad")
    random = np.random.default_rng(3)
    for shape in ((5, 2), (6, 3), (3, 40), (17, 2), (16, 4)):
        x, y = random.uniform(-2, 2, shape), random.uniform(-2, 2, shape[1])
        ours, theirs = table.simulate(x=x, y=y), again.simulate(x=x, y=y)
        for name in ours:
            np.testing.assert_array_equal(ours[name], theirs[name])
        assert again.bind(rows=shape[0], columns=shape[1]).digest == table.bind(rows=shape[0], columns=shape[1]).digest
