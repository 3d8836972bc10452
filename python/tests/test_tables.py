"""Tables and queries on them: lazily, in SQL, at random beside DuckDB, and as the docs show them."""

from __future__ import annotations

import contextlib
import datetime
import io
import os
import pathlib
import random
import re
from decimal import Decimal
from typing import Any

import duckdb
import pytest

import madrigal as mg
from madrigal import col, lit, when
from madrigal.tables import choice, dates, decimals, integer, row_number, rows, text, truth
from queries import Queries, order, same

ROOT = pathlib.Path(__file__).parents[2]

#: Sets of random tables, each with three random queries; more of them by MADRIGAL_QUERIES.
SETS = int(os.environ.get("MADRIGAL_QUERIES", "60")) // 3


def rows_of(answer: Any) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in answer]


def test_random_queries_give_what_duckdb_gives() -> None:
    seed = int(os.environ.get("MADRIGAL_SEED", random.randrange(2**32)))
    print(f"seed {seed}: set MADRIGAL_SEED to it to repeat this")
    connection = duckdb.connect()
    asked = run = 0
    for number in range(SETS):
        queries = Queries(random.Random(seed + number))
        queries.load(connection)
        for _ in range(3):
            query = queries.query()
            try:
                wanted = sorted(connection.execute(query).fetchall(), key=order)
            except duckdb.Error:
                continue  # DuckDB finds dates and numbers, say, no equals.
            limit = re.search(r"limit (\d+)( offset \d+)?$", query)
            if limit and len(wanted) > int(limit[1]):
                continue  # DuckDB 2.0.1 gives more rows than the limit now and then.
            try:
                frame = mg.sql(query, pairs=queries.pairs(), **queries.frames())
            except mg.MadrigalError as refused:
                assert "yet" in str(refused) or "one row" in str(refused), (query, refused)
                continue
            answers = [frame.simulate()]
            if number % 15 == 0:
                answers.append(frame.run_local(progress=False))
                run += 1
            for answer in answers:
                found = sorted(rows_of(answer), key=order)
                assert len(found) == len(wanted), (seed + number, query, found, wanted)
                for one, other in zip(found, wanted):
                    assert all(map(same, one, other)), (seed + number, query, one, other)
            asked += 1
    assert asked >= 2 * SETS and run


def claims() -> mg.Frame:
    data = {
        "patient": [3, 7, 7, 9, None, 3],
        "amount": [Decimal("10.50"), Decimal("2.50"), Decimal("1"), Decimal("-0.75"), Decimal("9"), Decimal("0.01")],
        "day": [datetime.date(2026, 1, day) for day in range(1, 7)],
    }
    return mg.table("claims", owner=1, data=data)


def patients() -> mg.Frame:
    data = {"id": [7, 3, 9, 11], "ward": ["surgery", "cardiology", "surgery", "ent"]}
    columns = {"id": integer(0, 99), "ward": choice("cardiology", "ent", "surgery")}
    return mg.table("patients", owner=0, data=data, columns=columns, unique="id")


def test_frames_join_group_and_sort() -> None:
    joined = claims().filter(col("amount") > 0).join(patients(), left_on="patient", right_on="id")
    told = joined.group_by("ward").agg(n=rows(), total=col("amount").sum(), most=col("day").max()).sort("ward")
    wanted = [
        ("cardiology", 2, Decimal("10.51"), datetime.date(2026, 1, 6)),
        ("surgery", 2, Decimal("3.50"), datetime.date(2026, 1, 3)),
    ]
    assert rows_of(told.simulate()) == wanted
    answer = told.run_local(progress=False)
    assert rows_of(answer) == wanted
    assert answer.stats["mix"] == "R" and "party 1" in str(answer.who_saw)
    two = told.run_local(parties=2, protocol="A+B", progress=False)
    assert rows_of(two) == wanted
    explained = told.explain(network="wan")
    steps = explained.figures["steps"]
    assert [one["step"] for one in steps][-2:] == ["sort by ward", "result opened"] and steps[0]["rows"] == 6
    assert all(one["step"] in explained._repr_html_() for one in steps[-2:]) and "together" in str(explained)
    assert told.explain(parties=2, protocol="A+B").figures["mix"] == "A+B"


def test_frames_have_what_polars_has() -> None:
    frame = claims().with_columns(
        big=when(col("amount") >= 9, "yes", "no"), later=col("day") + 30, month=col("day").month(), known=col("patient").is_not_null()
    )
    assert frame.columns == ["patient", "amount", "day", "big", "later", "month", "known"]
    assert frame.schema["big"] == "one of 2 texts"
    first = frame.sort("amount", descending=True).head(2).select("big", "later", "known").simulate()
    assert rows_of(first) == [("yes", datetime.date(2026, 1, 31), True), ("yes", datetime.date(2026, 2, 4), False)]
    assert len(claims().union(claims()).unique().simulate()) == 6
    assert claims().agg(n=col("patient").n_unique(), m=col("amount").mean(), v=lit(2).sum()).simulate()[0] == {
        "n": 3, "m": Decimal("3.710000"), "v": 12,
    }
    anti = patients().join(claims(), left_on="id", right_on="patient", how="anti")
    assert rows_of(anti.select("ward").simulate()) == [("ent",)]
    full = claims().join(patients(), left_on="patient", right_on="id", how="full").agg(n=rows(), named=col("ward").count())
    assert full.simulate()[0] == {"n": 7, "named": 6}
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(col("amount") > 0)
    with pytest.raises(ValueError, match="there is no column \"size\""):
        claims().filter(col("size") > 0)


def test_bounds_and_least_groups_are_kept() -> None:
    by_ward = patients().group_by("ward")
    with pytest.raises(mg.UnmetError, match="at most 2 groups by ward"):
        by_ward.agg(bound=2, n=col("id").sum()).run_local(progress=False)
    assert rows_of(by_ward.agg(at_least=2, n=rows()).run_local(progress=False)) == [("surgery", 2)]
    careful = mg.table("people", data={"ward": ["a", "a", "b"], "pay": [1, 2, 3]}, least_group=2)
    assert rows_of(careful.group_by("ward").agg(pay=col("pay").sum()).simulate()) == [("a", 3)]
    with pytest.raises(mg.MadrigalError, match="groups of 2 rows or more"):
        careful.select("pay").query()


def test_rights_are_checked_before_anything_is_sent() -> None:
    columns = {"key": integer(0, 9).only("join_key"), "pay": integer(0, 99).only("aggregate"), "ward": text(8).only("group"), "no": truth().only("never")}
    table = mg.table("t", columns=columns, rows=3)
    for refused in [
        lambda: table.select("pay").query(),
        lambda: table.group_by("pay").agg(n=rows()),
        lambda: table.filter(col("key") > 3),
        lambda: table.agg(n=col("key").sum()),
        lambda: table.filter(col("no")),
        lambda: table.select("ward").query(),
        lambda: mg.sql("select max(pay + 1) from t where not no", t=table),
    ]:
        with pytest.raises((ValueError, mg.MadrigalError), match="may"):
            refused()
    table.group_by("ward").agg(pay=col("pay").mean()).query()


def test_values_that_a_column_does_not_hold_are_refused_by_their_owner() -> None:
    for kind, value in [(integer(0, 5), 6), (decimals(3, 1), Decimal("0.25")), (text(2), "abc"), (text(4, ascii=True), "é"), (choice("a"), "b"), (dates(), None), (integer(0, 5), "5")]:
        with pytest.raises(ValueError) as error:
            mg.table("t", columns={"x": kind}, data={"x": [value]})
        assert str(value) not in str(error.value) or value not in ("abc", "é", Decimal("0.25"))
    with pytest.raises(ValueError, match="equal in x"):
        mg.table("t", columns={"x": integer(0, 5)}, data={"x": [1, 2, 1]}, unique="x")


def test_what_reviews_found_stays_right() -> None:
    def told(query: str, **tables: mg.Frame) -> list[tuple[Any, ...]]:
        return rows_of(mg.sql(query, **tables).simulate())

    # A missing key has no partner, in short tables too.
    left = mg.table("l", data={"k": [0, 1, None], "v": [1, 2, 3]})
    right = mg.table("r", data={"k": [0, 1], "w": [10, None]}, unique="k")
    assert told("select v, w from l left join r on l.k = r.k order by v", l=left, r=right) == [(1, 10), (2, None), (3, None)]
    # Keys that are compared in another form move along, and order no rows of the other table.
    many = mg.table("m", columns={"x": integer(0, 1000), "v": integer(0, 9)}, data={"x": [row % 2 for row in range(140)], "v": [1] * 140})
    names = {"y": [Decimal(row) for row in range(33)], "name": [f"n{row}" for row in range(33)], "c": [7, 0, *range(2, 33)]}
    few = mg.table("f", columns={"y": decimals(6, 2), "name": text(5), "c": integer(0, 99)}, data=names, unique="y")
    grouped = "select x, name, c, sum(v) as s from m join f on x = y group by x, name, c order by x"
    assert told(grouped, m=many, f=few) == [(0, "n0", 7, 70), (1, "n1", 0, 70)]
    # A quotient that named groups is a number.
    q = mg.table("q", data={"a": [1, 3], "b": [2, 4], "t": [True, False], "n": [None, 3]})
    assert told("select r * 2 as z from (select distinct a * 1.0 / b as r from q) order by z", q=q) == [(Decimal("1.000000"),), (Decimal("1.500000"),)]
    assert told("select b / a as x, nullif(a, n) as y, sum(b) / count(*) as z from q group by a, b, n order by x", q=q) == [(1, None, 4), (2, 1, 2)]
    assert told("select max(t) as x, count(t) as n from q", q=q) == [(True, 2)]
    assert told("select -a as x, cast(a * 100 as tinyint) as y from q order by x", q=q) == [(-3, None), (-1, 100)]
    assert rows_of(q.select(x=(-lit(5)).fill_null(0) + col("a")).sort("x").simulate()) == [(-4,), (-2,)]
    assert rows_of(q.filter(col("a") == None).simulate()) == []  # noqa: E711
    # Rounding by as many digits as a number has.
    long = mg.table("t", data={"x": [Decimal("0.4000000000000000000"), Decimal("0.6")]})
    assert told("select cast(x as int) as y from t order by y", t=long) == [(0,), (1,)]
    one = mg.table("o", data={"x": [Decimal("1.6")]})
    two = mg.table("p", data={"y": [2]}, unique="y")
    assert told("select y from o join p on cast(x as int) = y", o=one, p=two) == [(2,)]
    for refused in [
        "select a from q where not (n in (select n from q as p)) or b = 2",
        "select n from q where n not in (select n from q as p where p.a = q.b)",
        "select count(distinct a, b) from q",
        "select distinct on (a) a, b from q",
        "select 1 where true",
    ]:
        with pytest.raises(mg.MadrigalError, match="yet"):
            mg.sql(refused, q=q)
    with pytest.raises(mg.MadrigalError, match="levels deep"):
        mg.sql("select a from q where " + " or ".join(f"a * a = {number}" for number in range(300)), q=q)


def test_steps_that_several_others_are_made_of_are_computed_once() -> None:
    a = mg.table("a", data={"k": list(range(8)), "v": list(range(8))}, unique="k")
    b = mg.table("b", data={"k": [0, 0, 1, 1, 2, 2, 3, 3], "w": list(range(8)), "g": [0] * 8, "s": [1] * 8})
    for _ in range(4):
        # Any two rows are the same two wherever they are asked for.
        any_two = b.head(2)
        assert len(mg.table("c", data={"k": [0, 1, 2, 3] * 2, "v": [1] * 8}).join(any_two, on="k", pairs=40).run_local(progress=False)) == 4
        top = b.select("w", "k").head(2)
        assert len(top.join(top, on="w", pairs=9).run_local(progress=False)) == 2
        left = a.join(any_two, on="k", how="left").run_local(progress=False)
        assert {row["k"] for row in left} == set(range(8))
        first = b.with_columns(n=row_number().over("g", order_by="s")).filter(col("n") <= 2)
        assert len(mg.table("c", data={"k": [0, 1, 2, 3] * 2}).join(first, on="k", pairs=40).run_local(progress=False)) == 4
    chain = mg.table("t0", data={"k": [1, 1]})
    for number in range(1, 7):
        chain = mg.table(f"t{number}", data={"k": [1, 1]}).join(chain, on="k", pairs=200)
    assert len(chain.query()._query.steps) < 120
    assert len(chain.simulate()) == 2**7


def test_orders_tell_of_what_is_shown_alone() -> None:
    t = mg.table("t", columns={"k": integer(0, 9), "v": integer(0, 99)}, data={"k": [9, 3, 5, 3], "v": [1, 2, 3, 4]})
    names = mg.table("n", data={"id": [3, 5], "name": ["x", "y"]}, unique="id")
    hidden = t.group_by("k").agg(s=col("v").sum()).join(names, left_on="k", right_on="id", how="left").select("s", "name")
    places = [rows_of(hidden.run_local(progress=False)) for _ in range(12)]
    assert all(sorted(one, key=order) == sorted(places[0], key=order) for one in places)
    assert len({tuple(one) for one in places}) > 1
    # An order that is asked for lasts through filters, and no further than it says.
    s = t.sort("v", descending=True)
    kept = s.with_columns(y=col("v") * 2).filter(col("y") < 8).head(2)
    for _ in range(3):
        assert [row["v"] for row in kept.run_local(progress=False)] == [3, 2]
    # A wide column is not looked up where that loses the order.
    wide = mg.table("w", columns={"id": integer(0, 999), "txt": text(64)}, data={"id": list(range(40)), "txt": [f"t{row}" for row in range(40)]}, unique="id")
    facts = mg.table("f", data={"fk": [row % 40 for row in range(400)], "x": list(range(400))})
    found = mg.sql("select txt, x from f join w on fk = id order by 0 - x limit 6", f=facts, w=wide)
    assert rows_of(found.run_local(progress=False)) == [(f"t{x % 40}", x) for x in range(399, 393, -1)]


def test_what_reviews_of_windows_found_stays_right() -> None:
    z = mg.table("z", data={"p": [1, 333333, 1], "q": [3, 1000000, 2], "v": [1, 10, 100]}).with_columns(r=col("p") / col("q"))
    third = z.group_by("r").agg(s=col("v").sum()).filter(col("r") == Decimal("0.333333"))
    assert rows_of(third.simulate()) == [(Decimal("0.333333"), 11)]
    t = mg.table("t", data={"a": [4, 1, 3, 2], "b": [1, 1, 2, 2]})
    for refused in ["select lag(a, 1.5) over (order by a) from t", "select sum(a) over (order by a range between 1 preceding and current row) from t"]:
        with pytest.raises(mg.MadrigalError, match="yet"):
            mg.sql(refused, t=t)
    named = mg.sql('select a as "order 0" from t order by -b, a', t=t)
    assert rows_of(named.simulate()) == [(2,), (3,), (1,), (4,)]
    people = mg.table("p", data={"id": list(range(12)), "pay": [100 * row for row in range(12)]}, least_group=10)
    alone = "select max(s) as m from (select sum(case when id = 5 then pay end) over () as s from p) as q"
    assert rows_of(mg.sql(alone, p=people).simulate()) == [(None,)]
    assert rows_of(mg.sql("select max(s) as m from (select sum(pay) over () as s from p) as q", p=people).simulate()) == [(6600,)]
    with pytest.raises(mg.MadrigalError, match="single rows"):
        mg.sql("select max(f) as m from (select first_value(pay) over (order by pay) as f from p) as q", p=people)
    long = mg.table("l", columns={"x": decimals(38, 6)}, data={"x": [Decimal("99999999999999999999999999999999.123456")]})
    assert long.simulate()[0]["x"] == Decimal("99999999999999999999999999999999.123456")
    with pytest.raises(mg.MadrigalError, match="two tables with different values"):
        t.union(mg.table("t", data={"a": [1, 2, 3, 4], "b": [0, 0, 0, 0]}))
    n = mg.table("n", data={"g": [1, 1, 1], "k": [1, None, None]})
    assert n.group_by("g").pivot("k", [1, None], n=rows()).simulate()[0] == {"g": 1, "1": 1, "null": 2}
    # Rows without any column that is needed.
    for query, wanted in [
        ("select count(*) as n from (select * from t limit 2) as s", [(2,)]),
        ("select count(*) over () as n from t", [(4,)] * 4),
        ("select 1 as o from (select a from t limit 2 offset 1) as s", [(1,)] * 2),
    ]:
        assert rows_of(mg.sql(query, t=t).run_local(progress=False)) == wanted
    assert sorted(rows_of(mg.sql("select row_number() over () as n from t", t=t).run_local(progress=False))) == [(1,), (2,), (3,), (4,)]
    # As many pairs as there can be are enough, whatever is declared.
    assert len(t.join(mg.table("u", data={"b": [1, 1], "c": [5, 6]}), on="b", pairs=2**62).simulate()) == 4
    big = mg.table("big", columns={"k": integer(0, 9)}, rows=2**20)
    with pytest.raises(ValueError, match="the most that can be declared"):
        big.join(mg.table("other", columns={"k": integer(0, 9)}, rows=2**20), on="k", pairs=2**40)
    for name in ["number", "count", "copy"]:
        one = mg.table("one", data={name: [1, 1], "x": [1, 2]})
        assert len(one.join(mg.table("two", data={name: [1, 1], "y": [3, 4]}), on=name, pairs=10).simulate()) == 4
    with pytest.raises(TypeError, match=r"with .over\(...\)"):
        t.with_columns(x=col("a").sum())
    with pytest.raises(TypeError, match="not told of groups"):
        t.agg(x=col("a").sum().over("b"))


def test_small_groups_are_told_of_in_no_way() -> None:
    people = mg.table("p", data={"id": list(range(12)), "pay": [100 * row for row in range(12)]}, least_group=10)
    query = "select sum(pay) filter (where id = 5) as s, max(case when id = 5 then pay end) as m, count(case when id = 5 then 1 end) as c from p"
    assert rows_of(mg.sql(query, p=people).simulate()) == [(None, None, 0)]
    assert rows_of(people.agg(s=col("pay").sum()).simulate()) == [(6600,)]
    with pytest.raises(ValueError, match="whether a bound holds"):
        people.filter(col("id") == 5).bound(0)
    others = mg.table("m", data={"k": [1, 2]})
    with pytest.raises(mg.MadrigalError, match="nothing is told"):
        mg.sql("select k from m where not exists (select 1 from p where id = k and pay <> k)", m=others, p=people)
    # The first rows of a table without an order are any.
    rows_in = mg.table("z", data={"v": list(range(64))})
    first = {rows_of(rows_in.head(1).run_local(progress=False))[0] for _ in range(6)}
    assert len(first) > 1


def test_tables_are_read_from_files(tmp_path: pathlib.Path) -> None:
    folder = ROOT / "examples/tables"
    claims, patients = mg.table(owner=1, path=folder / "claims.csv"), mg.table(owner=0, path=folder / "patients.csv", unique="id")
    assert claims.schema["patient"] == "integer(-128..=127)" and claims.schema["day"] == "date"
    query = "select ward, sum(amount) as total from claims join patients on patient = id group by ward order by ward"
    assert rows_of(mg.sql(query, claims=claims, patients=patients).simulate()) == [("cardiology", Decimal("10.51")), ("surgery", Decimal("2.75"))]
    (tmp_path / "mixed.csv").write_text('a,b\n1,x\n"",true\n2.5,"y, z"\n')
    mixed = mg.table(path=tmp_path / "mixed.csv")
    assert rows_of(mixed.sort("b").simulate()) == [(None, "true"), (Decimal("1.0"), "x"), (Decimal("2.5"), "y, z")]
    (tmp_path / "short.csv").write_text("a,b\n1\n")
    with pytest.raises(mg.MadrigalError, match="line 2: 1 values, and the table has 2 columns"):
        mg.table(path=tmp_path / "short.csv")


def test_the_page_of_tables_does_what_it_says() -> None:
    page = (ROOT / "docs/TABLES.md").read_text()
    for block in re.findall(r"```python\n(.*?)```", page, re.S):
        with contextlib.redirect_stdout(io.StringIO()) as told:
            exec(compile(block, "TABLES.md", "exec"), {})
        assert "cardiology  2       10.51" in told.getvalue()
