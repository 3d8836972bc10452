"""Tables that parties hold, and lazy queries on them."""

from __future__ import annotations

import csv
import datetime
import decimal
import json
import os
from typing import Any, Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from . import _native
from ._errors import MadrigalError
from ._expressions import Expr, Over, Told, as_expr, col, lit, number_of
from ._program import Bound, Client, Holder, _who
from ._told import Explanation


class Kind:
    """What the values of a column are: :func:`integer`, :func:`decimals`, :func:`text`, :func:`choice`, :func:`dates`,
    :func:`times`, :func:`truth`."""

    __slots__ = ("_node", "null", "right")

    def __init__(self, node: Any, null: bool = False, right: str = "shown") -> None:
        self._node, self.null, self.right = node, null, right

    def nullable(self) -> Kind:
        """The same kind, where values may be missing; which are, is a secret."""
        return Kind(self._node, True, self.right)

    def only(self, right: str) -> Kind:
        """The same kind, of which less may be told: ``"never"``, ``"join_key"``, ``"aggregate"``, ``"group"`` or ``"shown"``."""
        return Kind(self._node, self.null, right)

    def __repr__(self) -> str:
        return f"Kind({json.dumps(self._node)}{', nullable' if self.null else ''})"


def _number(unit: Any, least: int, greatest: int) -> Kind:
    return Kind({"number": {"unit": unit, "least": int(least), "greatest": int(greatest)}})


def integer(least: int = -(2**63), greatest: int = 2**63 - 1) -> Kind:
    """Integers within a public range, both ends included: a narrow one saves bytes and time, and is known to all."""
    return _number("one", least, greatest)


def decimals(precision: int, digits: int) -> Kind:
    """Decimal numbers of ``precision`` digits, ``digits`` of them after the point: exact, as in SQL."""
    if not 0 < precision <= 38 or not 0 <= digits <= precision:
        raise ValueError("decimals have 1 to 38 digits, and no more after the point")
    end = 10**precision - 1
    return _number({"decimal": digits} if digits else "one", -end, end)


def text(length: int, *, ascii: bool = False) -> Kind:
    """Texts of at most ``length`` bytes in UTF-8; with one byte for each character if ``ascii``, so that parts of them can be taken."""
    return Kind({"text": {"bytes": int(length), "ascii": ascii}})


def choice(*texts: str) -> Kind:
    """One of several public texts."""
    return Kind({"choice": sorted(set(texts), key=lambda one: one.encode())})


def dates() -> Kind:
    """Dates of the years 1 to 9999."""
    return _number("day", -719_162, 2_932_896)


def times() -> Kind:
    """Times of the years 1 to 9999, to the microsecond, without a time zone."""
    day = 86_400_000_000
    return _number("microsecond", -719_162 * day, 2_932_897 * day - 1)


def truth() -> Kind:
    """True or false."""
    return Kind("bool")


def _cell(cell: str) -> Any:
    """A value of a CSV file, by how it is written."""
    if cell == "":
        return None
    if cell.lower() in ("true", "false"):
        return cell.lower() == "true"
    for made in (int, decimal.Decimal, datetime.date.fromisoformat, datetime.datetime.fromisoformat):
        try:
            return made(cell)
        except (ValueError, decimal.InvalidOperation):
            pass
    return cell


def _read(path: str | os.PathLike[str]) -> Any:
    """The columns of a CSV or Parquet file. Of a CSV file, a column has one kind, or its values are texts."""
    name = os.fspath(path)
    if name.endswith(".parquet"):
        try:
            import polars  # type: ignore[import-not-found, unused-ignore]

            return polars.read_parquet(name)
        except ImportError:
            pass
        try:
            import pyarrow.parquet  # type: ignore[import-not-found, import-untyped, unused-ignore]

            return pyarrow.parquet.read_table(name)
        except ImportError:
            raise MadrigalError(f"{name}: Parquet files are read by polars or pyarrow: install one of them") from None
    if not name.endswith(".csv"):
        raise MadrigalError(f"{name}: tables are files that end in .csv or .parquet")
    with open(name, newline="", encoding="utf-8") as file:
        lines = csv.reader(file)
        names = next(lines, [])
        columns: list[list[str]] = [[] for _ in names]
        for line in lines:
            if not line:
                continue
            if len(line) != len(names):
                raise MadrigalError(f"{name}, line {lines.line_num}: {len(line)} values, and the table has {len(names)} columns")
            for column, cell in zip(columns, line):
                column.append(cell)
    found = {}
    for column_name, cells in zip(names, columns):
        values = [_cell(cell) for cell in cells]
        types = {type(value) for value in values if value is not None}
        alike = len(types) <= 1 or types <= {int, decimal.Decimal} or types <= {datetime.date, datetime.datetime}
        if types == {datetime.date, datetime.datetime}:
            values = [datetime.datetime(*value.timetuple()[:3]) if type(value) is datetime.date else value for value in values]
        found[column_name] = values if alike else [cell or None for cell in cells]
    return found


def _columns_of(data: Any) -> dict[str, list[Any] | Any]:
    """Columns by name, of a mapping or of a frame of pandas, polars or pyarrow."""
    if isinstance(data, Mapping):
        return {str(name): values for name, values in data.items()}
    if hasattr(data, "to_pydict"):  # pyarrow
        return dict(data.to_pydict())
    if hasattr(data, "iter_columns"):  # polars
        return {series.name: series.to_list() for series in data.iter_columns()}
    if hasattr(data, "columns") and hasattr(data, "items"):  # pandas
        return {str(name): values.astype(object).where(values.notna(), None).tolist() for name, values in data.items()}
    raise TypeError(f"{type(data).__name__} is no table: give a mapping of columns, or a frame of polars, pandas or pyarrow")


def _kind_of(name: str, values: Any) -> Kind:
    """The kind of a column by its values: numbers get the range of 8, 16, 32 or 64 bits that holds them, texts a multiple of 8 bytes."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu":
        info = np.iinfo(values.dtype)
        return integer(int(info.min), int(info.max))
    if isinstance(values, np.ndarray) and values.dtype.kind == "b":
        return truth()
    there = [value for value in values if value is not None]
    null = len(there) < len(values)

    def made(kind: Kind) -> Kind:
        return kind.nullable() if null else kind

    if all(isinstance(value, (bool, np.bool_)) for value in there):
        return made(truth())
    if all(isinstance(value, str) for value in there):
        longest = max((len(value.encode()) for value in there), default=0)
        return made(text(-(-max(longest, 1) // 8) * 8, ascii=all(value.isascii() for value in there)))
    if all(isinstance(value, datetime.datetime) for value in there):
        return made(times())
    if all(isinstance(value, datetime.date) for value in there):
        return made(dates())
    if all(isinstance(value, (int, np.integer, float, np.floating, decimal.Decimal)) for value in there):
        parts = [number_of(float(value) if isinstance(value, np.floating) else value) for value in there]
        digits = max((unit["decimal"] if isinstance(unit, dict) else 0 for _, unit in parts), default=0)
        units = [one * 10 ** (digits - (unit["decimal"] if isinstance(unit, dict) else 0)) for one, unit in parts]
        for bits in (8, 16, 32, 64, 127):
            least, greatest = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
            if all(least <= one <= greatest for one in units):
                return made(_number({"decimal": digits} if digits else "one", least, greatest))
    raise TypeError(f"column {name!r} has values of several kinds, or of none that tables hold")


def _encoded(kind: Kind, values: Any) -> Any:
    """A column as the native module takes it."""
    node = kind._node
    if not (isinstance(node, dict) and "number" in node):
        return [None if value is None else bool(value) if node == "bool" else str(value) for value in values]
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu" and values.dtype != np.uint64 and node["number"]["unit"] == "one":
        return values.astype("<i8").tobytes(), b""
    unit = node["number"]["unit"]
    digits = unit["decimal"] if isinstance(unit, dict) else 0
    made: list[int | None] = []
    for value in values:
        if value is None:
            made.append(None)
            continue
        if isinstance(value, (str, bytes, bool, np.bool_)):
            raise ValueError(f"a value is no number, and its column is {kind!r}")
        units, own = number_of(float(value) if isinstance(value, np.floating) else value)
        own_digits = own["decimal"] if isinstance(own, dict) else 0
        if isinstance(own, str) and own != "one" and own != unit or own_digits > digits:
            # The value is not told: it is a secret.
            raise ValueError(f"a value has more digits than its column, or is of another kind: {kind!r}")
        made.append(units * 10 ** (digits - own_digits))
    return made


def _add(data: dict[str, Any], more: Mapping[str, Any]) -> None:
    """Adds the values of tables to those of others."""
    for name, values in more.items():
        known = data.setdefault(name, values)
        if known is not values and known != values:
            raise MadrigalError(f"two tables with different values are named {name!r}: give one of them another name")


class Frame:
    """A table that a query makes of others: written down step by step, checked as it is written, and computed when it is asked for.

    Steps are named as polars names them. :meth:`run_local` computes with all parties in this process, :meth:`simulate` in the clear;
    :meth:`query` is the program that parties run with :func:`madrigal.connect`.
    """

    def __init__(self, native: Any, data: Mapping[str, Any]) -> None:
        self._native, self._data = native, dict(data)

    def _with(self, native: Any, *others: Frame) -> Frame:
        data = dict(self._data)
        for other in others:
            _add(data, other._data)
        return Frame(native, data)

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return [column[0] for column in self._native.columns]

    @property
    def schema(self) -> dict[str, str]:
        """Kinds of the columns in words, by name."""
        return {name: kind + (" or nothing" if null else "") for name, kind, _, null in self._native.columns}

    def filter(self, condition: Expr) -> Frame:
        """Rows for which a condition is true. How many they are stays a secret."""
        return self._with(self._native.filter(condition._json()))

    def _named(self, given: Sequence[str | Expr], named: Mapping[str, Any]) -> str:
        columns: list[Any] = []
        for one in given:
            node = col(one)._node if isinstance(one, str) else one._node
            if not (isinstance(node, dict) and "column" in node):
                raise TypeError("a computed column needs a name: select(total=...)")
            columns.append([node["column"], node])
        for name, value in named.items():
            if isinstance(value, (Told, Over)):
                raise TypeError(f"{name} is told of several rows: with_columns takes it with .over(...), and group_by(...).agg without")
            columns.append([name, as_expr(value)._node])
        return json.dumps(columns)

    def select(self, *columns: str | Expr, **named: Any) -> Frame:
        """These columns alone: some by their names, others computed of the row's columns."""
        return self._with(self._native.select(self._named(columns, named)))

    def with_columns(self, **named: Any) -> Frame:
        """The columns, and others computed of them: of the row's columns alone, or by :meth:`Told.over` of the rows around each."""
        shared: dict[Any, list[Any]] = {}
        for name, value in named.items():
            if isinstance(value, Over):
                function, node, places, reach = value._function
                shared.setdefault(value._shared, []).append((f"{name}\x00", function, node, places, reach))
        native = self._native
        for (partition, order), functions in shared.items():
            native = native.window(list(partition), list(order), functions)
        made = {name: col(f"{name}\x00") if isinstance(value, Over) else value for name, value in named.items()}
        told = self._with(native.with_columns(self._named((), made)))
        hidden = {function[0] for functions in shared.values() for function in functions}
        return told.drop(*hidden) if hidden else told

    def rename(self, names: Mapping[str, str]) -> Frame:
        """The columns with other names."""
        return self.select(**{names.get(name, name): col(name) for name in self.columns})

    def drop(self, *names: str) -> Frame:
        """All columns but these."""
        return self.select(*[name for name in self.columns if name not in names])

    def join(
        self,
        other: Frame,
        on: str | Sequence[str] | None = None,
        *,
        left_on: str | Sequence[str] | None = None,
        right_on: str | Sequence[str] | None = None,
        how: str = "inner",
        pairs: int | None = None,
    ) -> Frame:
        """Rows with rows of another table that are equal in some columns. One of both tables must have each key once: by ``unique``
        of :func:`table`, or by grouping; or the number of pairs of rows is declared. Semi- and anti-joins need no such thing.

        Args:
            other: The other table.
            on: Columns that both have; or ``left_on`` and ``right_on``.
            how: ``inner``, ``left``, ``full``, ``semi`` or ``anti``.
            pairs: Where both tables may have a key many times: the most rows that the join has. If there are more, the run ends with
                :class:`UnmetError`, and all learn that.
        """
        own, others = (on, on) if on is not None else (left_on, right_on)
        if own is None or others is None:
            raise TypeError("a join needs on=..., or left_on=... and right_on=...")
        on_pairs = list(zip([own] if isinstance(own, str) else own, [others] if isinstance(others, str) else others, strict=True))
        return self._with(self._native.join(other._native, on_pairs, how, pairs), other)

    def beside(self, other: Frame) -> Frame:
        """Every row with the only row of another table, such as a total."""
        return self._with(self._native.beside(other._native), other)

    def group_by(self, *keys: str) -> Groups:
        """Groups of rows that are equal in some columns; without any, all rows are one."""
        return Groups(self, keys)

    def agg(self, **told: Told) -> Frame:
        """Numbers that are told of all rows together."""
        return Groups(self, ())._told(told)

    def unique(self) -> Frame:
        """Rows that differ: of equal ones one."""
        return self.group_by(*self.columns).agg()

    def sort(self, *names: str, descending: bool | Sequence[bool] = False, nulls_first: bool = False) -> Frame:
        """Rows in order. Rows that are equal in all of these columns come in an order that nobody knows."""
        down = [descending] * len(names) if isinstance(descending, bool) else list(descending)
        keys = [(name, bool(one), nulls_first) for name, one in zip(names, down, strict=True)]
        return self._with(self._native.sort(keys))

    def head(self, rows: int) -> Frame:
        """The first rows of sorted ones, or any of others."""
        return self.slice(0, rows)

    def slice(self, offset: int, length: int | None = None) -> Frame:
        """Rows of sorted ones from a place on, counted from 0; any of others."""
        return self._with(self._native.slice(offset, length))

    def bound(self, rows: int) -> Frame:
        """The rows, which are declared to be ``rows`` at most: what follows takes less work. If there are more, the run ends with
        :class:`UnmetError`, and all learn that."""
        return self._with(self._native.bound(rows))

    def union(self, *others: Frame) -> Frame:
        """The rows of this table and of others."""
        return self._with(self._native.union([other._native for other in others]), *others)

    def query(self, *, parties: int = 3, to: Holder | Iterable[Holder] | None = None, protocol: str | None = None) -> Query:
        """The query as a program of ``parties`` parties, whose result all of them learn, or those that are named."""
        receivers = range(parties) if to is None else [to] if isinstance(to, (int, Client)) else to
        try:
            native = _native.Query(self._native, parties, [_who(one) for one in receivers])
        except ValueError as error:
            raise MadrigalError(str(error)) from None
        return Query(native, self._data, protocol)

    def simulate(self) -> Answer:
        """Computes in the clear, of all tables."""
        return self.query().answer()

    def run_local(self, *, parties: int = 3, protocol: str | None = None, **how: Any) -> Answer:
        """Computes with all parties in this process, by the real protocols: in R among three unless told otherwise. ``how`` is as for
        :meth:`Bound.run_local`."""
        answer: Answer = self.query(parties=parties, protocol=protocol).run_local(**how)
        return answer

    def explain(self, *, parties: int = 3, protocol: str | None = None, **how: Any) -> Explanation:
        """What the query costs before it runs, step by step. ``how`` is as for :meth:`Bound.explain`."""
        return self.query(parties=parties, protocol=protocol).explain(**how)

    def __repr__(self) -> str:
        return str(self._native).rstrip("\n")


class Groups:
    """Groups of rows, of which something is to be told."""

    def __init__(self, frame: Frame, keys: Sequence[str]) -> None:
        self._frame, self._keys = frame, list(keys)

    def agg(self, *, bound: int | None = None, at_least: int = 1, **told: Told) -> Frame:
        """A row for each group, with these numbers.

        Args:
            bound: The most groups that there are: what follows takes less work. If there are more, the run ends with
                :class:`UnmetError`, and all learn that.
            at_least: Groups of fewer rows are left out before anything is opened.
            told: Numbers by name, as ``total=col("amount").sum()``.
        """
        return self._told(told, bound, at_least)

    def _told(self, told: Mapping[str, Told], bound: int | None = None, at_least: int = 1) -> Frame:
        parts = [self._part(name, one) for name, one in told.items()]
        return self._frame._with(self._frame._native.group(self._keys, parts, bound, at_least))

    @staticmethod
    def _part(name: str, told: Any) -> Any:
        if not isinstance(told, Told) or told._function in ("row_number", "rank", "dense_rank", "lag", "lead", "first", "last"):
            raise TypeError(f"{name} is not told of groups: agg takes numbers such as col(...).sum(), and with_columns those with .over(...)")
        return told._parts(name)


    def pivot(self, on: str, values: Iterable[Any], **told: Told) -> Frame:
        """A row for each group, with columns for public values of another column: each number is told of the rows that have the value. Columns are
        named by the value alone where there is one number, else by the value, a ``_`` and the number's name.

        Args:
            on: The column.
            values: Its values that get columns.
            told: Numbers by name.
        """
        literals = json.dumps([lit(value)._node["literal"] for value in values])
        parts = [self._part(name, one) for name, one in told.items()]
        return self._frame._with(self._frame._native.pivot(self._keys, on, literals, parts))


class Query(Bound):
    """A query as a program: run, explained and told as any other."""

    def __init__(self, native: Any, data: Mapping[str, Any], protocol: str | None) -> None:
        super().__init__(native.computation, "query")
        self._query, self._data, self._protocol = native, dict(data), protocol
        self._steps = native.steps

    def _given(self, values: Mapping[str, Any], brings: Callable[[str], bool]) -> list[tuple[str, Any]]:
        if values:
            raise TypeError("a query takes its values from its tables")
        brought = [owner for _, owner, _, _ in self._native.inputs if brings(owner)]
        given = self._query.inputs(list(self._data.items()))
        names = {name for name, _ in given}
        for name, owner, _, _ in self._native.inputs:
            if owner in brought and name not in names:
                raise TypeError(f"{owner} brings {name}, and no values of this table are given: table(..., data=...)")
        own = {name for name, owner, _, _ in self._native.inputs if owner in brought}
        return [(name, value) for name, value in given if name in own]

    def _result(self, done: tuple[list[Any], str], local: bool) -> Any:
        result = super()._result(done, local)
        outputs = [(name, dtype, list(shape), bytes(data)) for name, (dtype, shape, data) in done[0]]
        return Answer(self._query.answer(outputs), result.stats, result)

    def run_local(self, **how: Any) -> Any:
        """Runs the query as all of its parties in this process: in R among three unless told otherwise."""
        protocol = how.pop("protocol", None) or self._protocol or ("R" if self._native.parties == 3 else None)
        return super().run_local(protocol=protocol, **how)

    def explain(self, *, protocol: str | None = None, **how: Any) -> Explanation:
        """What the query costs before it runs, step by step and operation by operation."""
        return super().explain(protocol=protocol or self._protocol, **how)

    def answer(self) -> Answer:
        """Computes in the clear, of all tables."""
        given = self._given({}, lambda _: True)
        try:
            outputs, _ = self._native.simulate(given)
        except _native.RunError as error:
            from ._errors import RunError, UnmetError

            text, status = error.args
            raise (UnmetError if status == 6 else RunError)(text, status) from None
        ports = self._native.outputs
        named = [(port[0], parts[0], list(parts[1]), bytes(parts[2])) for port, parts in zip(ports, outputs) if parts is not None]
        return Answer(self._query.answer(named), {})

    def __str__(self) -> str:
        lines = []
        for step, rows in self._steps:
            lines.append(f"{rows:>12,} rows  {step}")
        return "\n".join(lines)


def _value(kind: Any, value: Any) -> Any:
    if value is None or not (isinstance(kind, dict) and "number" in kind):
        return value
    unit = kind["number"]["unit"]
    if isinstance(unit, dict):
        # All digits are kept, however many the context of decimals has.
        digits = tuple(map(int, str(abs(value))))
        return decimal.Decimal((int(value < 0), digits, -unit["decimal"]))
    if unit == "day":
        return datetime.date(1970, 1, 1) + datetime.timedelta(days=value)
    if unit == "microsecond":
        return datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=value)
    return value


class Answer(Sequence[Any]):
    """The rows that a query gives: dictionaries, one for each row; columns by :meth:`column`, a frame by :meth:`to_polars` and its
    like. Of a run, ``stats`` are its figures, and ``who_saw`` says who saw what."""

    def __init__(self, columns: list[tuple[str, str, list[Any]]] | None, stats: dict[str, Any], result: Any = None) -> None:
        if columns is None:
            raise MadrigalError("this party does not get the query's result")
        self.stats, self._result = stats, result
        self._columns = {name: [_value(json.loads(kind), value) for value in values] for name, kind, values in columns}

    @property
    def who_saw(self) -> Any:
        """Who saw what: inputs, outputs, and what all learned."""
        if self._result is None:
            raise AttributeError("of a simulation it is not told who saw what")
        return self._result.who_saw

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self._columns)

    def column(self, name: str) -> list[Any]:
        """The values of a column."""
        return self._columns[name]

    def to_dict(self) -> dict[str, list[Any]]:
        """All columns by name."""
        return dict(self._columns)

    def to_arrow(self) -> Any:
        """The rows as a table of pyarrow."""
        import pyarrow  # type: ignore[import-not-found, import-untyped, unused-ignore]

        return pyarrow.table(self._columns)

    def to_pandas(self) -> Any:
        """The rows as a frame of pandas."""
        import pandas  # type: ignore[import-not-found, import-untyped, unused-ignore]

        return pandas.DataFrame(self._columns)

    def to_polars(self) -> Any:
        """The rows as a frame of polars."""
        import polars  # type: ignore[import-not-found, unused-ignore]

        return polars.DataFrame(self._columns)

    def __len__(self) -> int:
        return len(next(iter(self._columns.values()), []))

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        if not -len(self) <= place < len(self):
            raise IndexError(place)
        return {name: values[place] for name, values in self._columns.items()}

    def __iter__(self) -> Iterator[Any]:
        return (self[place] for place in range(len(self)))

    def __repr__(self) -> str:
        shown = [[name, *("" if value is None else str(value) for value in values[:20])] for name, values in self._columns.items()]
        widths = [max(map(len, column)) for column in shown]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in zip(*shown)]
        more = [f"... {len(self) - 20} more rows"] if len(self) > 20 else []
        return "\n".join(lines + more)


def table(
    name: str | None = None,
    *,
    owner: Holder = 0,
    data: Any = None,
    path: str | os.PathLike[str] | None = None,
    columns: Mapping[str, Kind] | None = None,
    rows: int | None = None,
    at_most: int | None = None,
    unique: str | Sequence[str | Sequence[str]] = (),
    least_group: int = 1,
) -> Frame:
    """A table that a party holds.

    Everybody knows its name, owner, columns with their kinds, and number of rows; the values stay with the owner, who alone gives ``data``.

    Args:
        name: The name; that of the file without its ending where it is not given.
        owner: Number of the party, or a :func:`client`.
        data: Values: a mapping of columns, or a frame of polars, pandas or pyarrow; of whoever holds the table.
        path: A file of CSV or Parquet in the place of ``data``.
        columns: Kinds of the columns; those of ``data`` where they are not given, with ranges of whole types.
        rows: Number of rows; that of ``data`` where it is not given.
        at_most: A bound instead, where the number itself is a secret: rows that do not count fill the table up.
        unique: A column, or several such keys (a list of names is one of several columns), that has each value once.
        least_group: Results tell nothing but of groups of this number of rows or more.
    """
    if name is None:
        if path is None:
            raise TypeError("a table needs a name")
        name = os.path.splitext(os.path.basename(os.fspath(path)))[0]
    if path is not None:
        if data is not None:
            raise TypeError("a table has data=... or path=..., not both")
        data = _read(path)
    values = None if data is None else _columns_of(data)
    if columns is None:
        if values is None:
            raise TypeError("a table needs columns=..., or data=... to see them")
        columns = {name: _kind_of(name, column) for name, column in values.items()}
    if rows is None and at_most is None:
        if values is None:
            raise TypeError("a table needs rows=... or at_most=..., or data=... to count them")
        rows = len(next(iter(values.values())))
    described = [
        {"name": column, "kind": kind._node, "nullable": kind.null, "right": kind.right} for column, kind in columns.items()
    ]
    keys = [[unique]] if isinstance(unique, str) else [[key] if isinstance(key, str) else list(key) for key in unique]
    padded = rows is None
    most = at_most if rows is None else rows
    assert most is not None
    public = _native.Table(name, _who(owner), int(most), padded, json.dumps(described), keys, least_group)
    given = {}
    if values is not None:
        missing = [column for column in columns if column not in values]
        if missing:
            raise ValueError(f"table {name!r} has no values for {', '.join(missing)}")
        given[name] = _native.Data(public, [_encoded(kind, values[column]) for column, kind in columns.items()])
    return Frame(public.frame(), given)


def sql(query: str, /, *, pairs: int | None = None, **tables: Frame) -> Frame:
    """A query in SQL on tables by name: ``sql("select ... from claims", claims=claims)``.

    Joins, subqueries, grouping, window functions, ordering, limits and common table expressions are there. Numbers such as 0.05 are exact
    decimals, and the quotient of integers is cut off, as in PostgreSQL.

    Args:
        query: The query.
        pairs: The most rows of a join of tables of which neither has each key once. If there are more, the run ends with :class:`UnmetError`, and
            all learn that.
        tables: The tables.
    """
    try:
        native = _native.sql(query, [(name, frame._native) for name, frame in tables.items()], pairs)
    except ValueError as error:
        raise MadrigalError(str(error)) from None
    data: dict[str, Any] = {}
    for frame in tables.values():
        _add(data, frame._data)
    return Frame(native, data)

