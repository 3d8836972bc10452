"""Random tables and random queries in SQL, and their results by DuckDB."""

from __future__ import annotations

import datetime
import decimal
import random
from dataclasses import dataclass
from typing import Any

import madrigal as mg
from madrigal.tables import Kind, choice, dates, decimals, integer, text, truth

D = decimal.Decimal
WORDS = ["", "a", "A", "ab", "b", "ba", "abcabc", "x%y", "x_y", "éa", "zzzzzzzzzzzzzzzzz", "it's", "\U0001f600", "PROMO box", "green"]
ASCII = [word for word in WORDS if word.isascii()]
DAYS = [datetime.date(1992, 1, 1), datetime.date(1995, 12, 31), datetime.date(1996, 2, 29), datetime.date(1998, 8, 2), datetime.date(2000, 3, 1)]


@dataclass
class Column:
    """A column: its kind here and in DuckDB, and the values that it may have."""

    kind: Kind
    sql: str
    type: str
    values: list[Any]
    nullable: bool = False


def columns(r: random.Random) -> dict[str, Column]:
    """Columns of a table without its key; which may be missing differs from table to table."""
    small = [-3, -1, 0, 1, 2, 5]
    ends = [-(2**63), 2**63 - 1, 0, -1, 1]
    money = [D("0.00"), D("1.10"), D("-2.05"), D("99999.99"), D("-99999.99"), D("0.01")]
    found = {
        "i": Column(integer(-3, 5), "integer", "int", small),
        "w": Column(integer(), "bigint", "wide", ends),
        "d": Column(decimals(7, 2), "decimal(7,2)", "dec", money),
        "e": Column(decimals(4, 1), "decimal(4,1)", "dec", [D("0.5"), D("-1.5"), D("2.0"), D("999.9")]),
        "s": Column(text(24), "varchar", "text", WORDS),
        "t": Column(text(17, ascii=True), "varchar", "ascii", ASCII),
        "c": Column(choice("red", "green", "blue", "x_y"), "varchar", "ascii", ["red", "green", "blue", "x_y"]),
        "b": Column(truth(), "boolean", "bool", [True, False]),
        "y": Column(dates(), "date", "date", DAYS),
    }
    for column in found.values():
        if r.random() < 0.4:
            column.nullable, column.kind = True, column.kind.nullable()
    return found


@dataclass
class Table:
    """A table in the clear, with what it is here."""

    name: str
    columns: dict[str, Column]
    rows: dict[str, list[Any]]
    frame: mg.Frame


def table(r: random.Random, name: str, owner: int, unique: bool) -> Table:
    """A table of no rows, one or some: with a key ``k``, each once if it is unique."""
    own = columns(r)
    # Tables of more than 32 rows are found in by sorting, shorter ones by comparing all; a table of more than four times as many rows
    # has the other's rows between its own.
    count = r.choice([0, 1, 2, 5, 9, 14, 36] if unique else [0, 1, 2, 5, 9, 14, 14, 150])
    keys = r.sample(range(-4, 60), count) if unique else [r.choice([-4, 0, 1, 2, 3, 7, 29, 41]) for _ in range(count)]
    named = {"k": Column(integer(-4, 1000), "integer", "int", [])} | own
    rows: dict[str, list[Any]] = {"k": keys}
    for column_name, column in own.items():
        empty = column.nullable and r.random() < 0.1
        pick = [None if column.nullable and (empty or r.random() < 0.25) else r.choice(column.values) for _ in range(count)]
        rows[column_name] = pick
    renamed = {f"{name}_{column}": kind for column, kind in named.items()}
    data = {f"{name}_{column}": values for column, values in rows.items()}
    size = {"at_most": count + r.randrange(4)} if r.random() < 0.4 else {}
    frame = mg.table(
        name, owner=owner, data=data, columns={column: kind.kind for column, kind in renamed.items()},
        unique=f"{name}_k" if unique else (), **size,
    )
    return Table(name, renamed, data, frame)


class Queries:
    """Queries at random on tables ``a`` (keys many times), ``b`` and ``c`` (keys once)."""

    def __init__(self, r: random.Random) -> None:
        self.r = r
        self.tables = [table(r, "a", 0, False), table(r, "b", 1, True), table(r, "c", 2, True)]

    def of(self, type: str, scope: list[Table]) -> str | None:
        """A column of a type."""
        types = {"number": ("int", "dec"), "text": ("text", "ascii")}.get(type, (type,))
        found = [name for one in scope for name, column in one.columns.items() if column.type in types]
        return self.r.choice(found) if found else None

    def number(self, scope: list[Table], depth: int = 2) -> str:
        """An expression that is a number."""
        r, pick = self.r, self.r.randrange(9 if depth else 3)
        if pick == 0:
            return r.choice(["0", "1", "-2", "3", "0.05", "1.10", "-0.5"])
        if pick < 3:
            return self.of("number", scope) or "1"
        if pick < 6:
            return f"({self.number(scope, depth - 1)} {r.choice('+-*')} {self.number(scope, depth - 1)})"
        if pick == 6:
            return f"case when {self.condition(scope, depth - 1)} then {self.number(scope, depth - 1)} else {self.number(scope, depth - 1)} end"
        if pick == 7:
            return f"coalesce({self.number(scope, depth - 1)}, {self.number(scope, depth - 1)})"
        if r.random() < 0.3:
            return f"round({self.of('dec', scope)}, {r.randrange(3)})"
        return f"extract({r.choice(['year', 'month', 'day'])} from {self.of('date', scope)})"

    def text(self, scope: list[Table]) -> str:
        """An expression that is a text."""
        pick = self.r.randrange(4)
        if pick == 0:
            return f"substring({self.of('ascii', scope)}, {self.r.randrange(1, 4)}, {self.r.randrange(1, 5)})"
        return self.of("text", scope) or "'a'"

    def literal(self) -> str:
        """A text that is public."""
        return "'" + self.r.choice(WORDS).replace("'", "''") + "'"

    def condition(self, scope: list[Table], depth: int = 2) -> str:
        """A condition on a row."""
        r, pick = self.r, self.r.randrange(14 if depth else 10)
        sign = r.choice(["=", "<>", "<", "<=", ">", ">="])
        if pick < 3:
            return f"{self.number(scope, 1)} {sign} {self.number(scope, 1)}"
        if pick == 3:
            return f"{self.of('wide', scope)} {sign} {r.choice(['0', '-1', '9223372036854775807', '-9223372036854775808'])}"
        if pick == 4:
            return f"{self.text(scope)} {sign} {r.choice([self.literal(), self.text(scope)])}"
        if pick == 5:
            pattern = r.choice(["%a%", "a%", "%a", "%b%a%", "", "%", "PROMO%", "x\\%y", "gr%n", "%aaa%"])
            escape = " escape '\\'" if "\\" in pattern else ""
            return f"{self.of('text', scope)} {r.choice(['', 'not '])}like '{pattern}'{escape}"
        if pick == 6:
            return f"{self.of('date', scope)} {sign} date '{r.choice(DAYS)}'"
        if pick == 7:
            values = ", ".join(r.sample(["-3", "0", "1", "2", "5", "100"], 3) + (["null"] if r.random() < 0.1 else []))
            return f"{self.of('int', scope)} {r.choice(['', 'not '])}in ({values})"
        if pick == 8:
            values = ", ".join(self.literal() for _ in range(3))
            return f"{self.of('text', scope)} {r.choice(['', 'not '])}in ({values})"
        if pick == 9:
            one = self.of(r.choice(["number", "text", "date", "bool"]), scope)
            return f"{one} is {r.choice(['', 'not '])}null"
        if pick < 12:
            return f"({self.condition(scope, depth - 1)} {r.choice(['and', 'or'])} {self.condition(scope, depth - 1)})"
        if pick == 12:
            return f"not ({self.condition(scope, depth - 1)})"
        return f"{self.of('bool', scope)}"

    def subquery(self, scope: list[Table]) -> str:
        """A condition with a subquery."""
        r = self.r
        inner = [r.choice([one for one in self.tables if one not in scope] or [self.tables[0]])]
        name, own = inner[0].name, scope[0]
        if inner[0] in scope:
            return self.condition(scope)
        where = f" and {self.condition(inner, 1)}" if r.random() < 0.5 else ""
        pick = r.randrange(6)
        if pick == 0:
            return f"{r.choice(['', 'not '])}exists (select 1 from {name} where {name}_k = {own.name}_k{where})"
        if pick == 1:
            return f"{own.name}_k in (select {name}_k from {name} where true{where})"
        if pick == 2:
            return f"{own.name}_k not in (select {name}_{r.choice('ki')} from {name} where true{where})"
        if pick == 3:
            sign = r.choice(["<>", "<", ">", "<=", ">="])
            return (
                f"{r.choice(['', 'not '])}exists (select 1 from {name} where {name}_k = {own.name}_k"
                f" and {name}_i {sign} {own.name}_i{where})"
            )
        function = r.choice(["min", "max", "sum", "count"])
        if pick == 4:
            return f"{self.number(scope, 0)} {r.choice('<>=')} (select {function}({name}_i) from {name} where true{where})"
        return f"{self.number(scope, 0)} {r.choice('<>=')} (select {function}({name}_i) from {name} where {name}_k = {own.name}_k{where})"

    def told(self, scope: list[Table]) -> str:
        """A number that is told of groups."""
        r, pick = self.r, self.r.randrange(10)
        if pick == 8:
            place = r.choice(["0", "0.25", "0.5", "0.9", "1"])
            value = f"cast({self.of('number', scope)} as double)"  # DuckDB rounds quantiles of decimals.
            return r.choice([f"median({value})", f"percentile_cont({place}) within group (order by {value})"])
        if pick == 9:
            return r.choice([f"stddev({self.of('dec', scope)})", f"count(distinct {self.of(r.choice(['int', 'text', 'date']), scope)})"])
        if pick == 0:
            return "count(*)"
        if pick == 1:
            return f"count({self.of(r.choice(['number', 'text']), scope)})"
        if pick < 4:
            return f"sum({self.number(scope, 1)})"
        if pick == 4:
            return f"avg({self.of('number', scope)})"
        if pick == 5:
            return f"{r.choice(['min', 'max'])}({self.of(r.choice(['number', 'text', 'date', 'wide']), scope)})"
        if pick == 6:
            return f"sum(case when {self.condition(scope, 1)} then 1 else 0 end)"
        return f"{r.choice(['min', 'max'])}({self.number(scope, 1)})"

    def window(self, scope: list[Table]) -> str:
        """A number that is told of the rows around each, which no order of equal rows changes."""
        r = self.r
        partition = [self.of(r.choice(["int", "text", "bool", "date"]), scope) for _ in range(r.randrange(3))]
        words = f"partition by {', '.join(map(str, partition))}" if partition else ""
        order = f"order by {self.of(r.choice(['int', 'dec', 'text', 'date', 'wide']), scope)} {r.choice(['asc', 'desc'])} nulls {r.choice(['first', 'last'])}"
        pick = r.randrange(4)
        if pick == 0:
            return f"{r.choice(['rank', 'dense_rank'])}() over ({words} {order})"
        told = r.choice([
            "count(*)", f"count({self.of('text', scope)})", f"sum({self.of('number', scope)})", f"avg({self.of('int', scope)})",
            f"min({self.of(r.choice(['number', 'text', 'date', 'wide']), scope)})", f"max({self.of(r.choice(['number', 'wide']), scope)})",
        ])
        if pick == 1:
            return f"{told} over ({words})"
        if pick == 2:
            return f"{told} over ({words} {order})"
        # Keys decide the order of rows, where they are one each.
        keys = ", ".join(f"{one.name}_k" for one in scope)
        frame = r.choice(["", "rows between 2 preceding and current row", "rows between 1 preceding and 2 following", "rows between current row and unbounded following"])
        value = self.of(r.choice(["number", "text", "date"]), scope)
        moving = r.choice([f"{told}", f"first_value({value})", f"last_value({value})"])
        function = r.choice([f"row_number() over ({words} order by {keys})", f"lag({value}, {r.randrange(4)}) over ({words} order by {keys})",
                             f"lead({value}) over ({words} order by {keys})", f"{moving} over ({words} order by {keys} {frame})"])
        return f"{told} over ({words})" if any(one.name == "a" for one in scope) else function

    def rows(self) -> tuple[str, list[Table]]:
        """Tables, joined, and conditions."""
        r = self.r
        a, b, c = self.tables
        scope = [a]
        words = "a"
        if r.random() < 0.6:
            words += f" {r.choice(['', 'left '])}join b on a_k = b_k" + (f" and {self.condition([b], 1)}" if r.random() < 0.2 else "")
            scope.append(b)
            if r.random() < 0.4:
                words += f" {r.choice(['', 'left '])}join c on {r.choice(['a_i', 'b_i', 'a_k'])} = c_k"
                scope.append(c)
        elif r.random() < 0.3:
            words, scope = r.choice([("a join b on a_i = b_i", [a, b]), ("a left join b on a_b = b_b and a_i = b_i", [a, b]), ("b full join c on b_i = c_i", [b, c])])
        elif r.random() < 0.3:
            words, scope = r.choice([("b left join a on b_k = a_k", [b, a]), ("b full join c on b_k = c_k", [b, c]), ("b join c on b_i = c_k", [b, c])])
        conditions = []
        if r.random() < 0.6:
            conditions.append(self.condition(scope))
        if r.random() < 0.35:
            conditions.append(self.subquery(scope))
        return words + (f" where {' and '.join(conditions)}" if conditions else ""), scope

    def value(self, scope: list[Table]) -> str:
        """A value of a row."""
        pick = self.r.randrange(5)
        if pick < 2:
            return self.number(scope)
        if pick == 2:
            return self.text(scope)
        if pick == 3:
            return self.of(self.r.choice(["date", "wide", "bool", "text"]), scope) or "1"
        return self.condition(scope, 1)

    def query(self) -> str:
        """A query. Where rows are limited, all columns are in the order, so that the result is one."""
        r = self.r
        if r.random() < 0.04:
            one, other = r.sample(self.tables, 2)
            picked = r.sample(["i", "s", "c", "b", "y", "e"], r.randrange(1, 3))
            sides = [f"select {', '.join(f'{side.name}_{name}' for name in picked)} from {side.name}" for side in (one, other)]
            return f" {r.choice(['intersect', 'except'])} ".join(sides)
        words, scope = self.rows()
        pick = r.randrange(10)
        if pick < 3:
            count = r.randrange(1, 4)
            values = [f"{self.window(scope) if r.random() < 0.25 else self.value(scope)} as o{number}" for number in range(count)]
            made = f"select {r.choice(['', '', 'distinct '])}{', '.join(values)} from {words}"
        elif pick < 5:
            count = r.randrange(1, 4)
            values = [f"{self.told(scope)} as o{number}" for number in range(count)]
            made = f"select {', '.join(values)} from {words}"
            if r.random() < 0.15:
                made += f" having count(*) > {r.randrange(4)}"
            return made
        else:
            keys = [r.choice([self.of(r.choice(["int", "text", "date", "bool", "ascii"]), scope), f"extract(year from {self.of('date', scope)})"]) for _ in range(r.randrange(1, 4))]
            count = r.randrange(0, 4)
            values = [f"{key} as g{number}" for number, key in enumerate(keys)]
            values += [f"{self.told(scope)} as o{number}" for number in range(count)]
            if r.random() < 0.15:
                values.append(f"count(distinct {self.of(r.choice(['int', 'text']), scope)}) as n")
            made = f"select {', '.join(values)} from {words} group by {', '.join(str(key) for key in keys)}"
            if r.random() < 0.2:
                made += f" having {r.choice([self.told(scope), 'count(*)'])} {r.choice('<>')} {r.randrange(3)}"
            if r.random() < 0.3:
                names = [value.rsplit(' as ', 1)[1] for value in values]
                order = ", ".join(f"{name} {r.choice(['asc', 'desc'])} nulls {r.choice(['first', 'last'])}" for name in names)
                made += f" order by {order} limit {r.choice([0, 1, 3, 100])}{r.choice(['', '', ' offset 1', ' offset 40'])}"
            return made
        if r.random() < 0.3:
            names = [f"o{number}" for number in range(count)]
            order = ", ".join(f"{name} {r.choice(['asc', 'desc'])} nulls {r.choice(['first', 'last'])}" for name in names)
            made += f" order by {order} limit {r.choice([0, 1, 3, 100])}"
        return made

    def load(self, connection: Any) -> None:
        """The tables in DuckDB."""
        for one in self.tables:
            columns = ", ".join(f"{name} {column.sql}" for name, column in one.columns.items())
            connection.execute(f"create or replace table {one.name} ({columns})")
            rows = list(zip(*one.rows.values()))
            if rows:
                marks = ", ".join("?" * len(one.columns))
                connection.executemany(f"insert into {one.name} values ({marks})", rows)

    def pairs(self) -> int:
        """The most rows that a join of two tables has, with those that have no partner."""
        a, b, c = (len(next(iter(one.rows.values()))) for one in self.tables)
        return max(a * b, b * c) + a + b + c

    def frames(self) -> dict[str, mg.Frame]:
        """The tables as frames."""
        return {one.name: one.frame for one in self.tables}


def same(one: Any, other: Any) -> bool:
    """Whether a value here is what DuckDB has: quotients have six digits after the point, and the rest is cut off."""
    if one is None or other is None:
        return one is other
    if isinstance(other, float):
        return abs(float(one) - other) <= 2e-6 * max(1.0, abs(other))
    if isinstance(one, (int, decimal.Decimal)) and not isinstance(one, bool) and isinstance(other, (int, decimal.Decimal)):
        return one == other
    return bool(one == other) and type(one) is type(other)


def order(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """A key that sorts rows of any values: quotients are rounded in it, and rows that are equal then come in the order of their exact values."""

    def keys(digits: int) -> tuple[Any, ...]:
        number = (int, float, decimal.Decimal)
        return tuple(
            (value is None, str(type(value) is str), round(float(value), digits) if isinstance(value, number) else str(value)) for value in row
        )

    return keys(3) + keys(12)
