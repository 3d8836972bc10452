"""Lists that are matched: files as they are, and values in memory as files that their owner alone can read."""

from __future__ import annotations

import contextlib
import datetime
import decimal
import os
import tempfile
from typing import Any, Iterable, Iterator, Mapping, Sequence, Union

import numpy as np

from ._tables import _columns_of

#: One value for both parties, or each party's by its number.
OfParty = Union[Any, Mapping[int, Any]]
#: Name under which values without columns are written.
_KEY = "key"


def of_party(value: OfParty, party: int) -> Any:
    """The party's own part of what is given."""
    return value.get(party) if isinstance(value, Mapping) else value


def names_of(column: str | Sequence[str] | None) -> list[str]:
    """Columns by their names."""
    names = [] if column is None else [column] if isinstance(column, str) else list(column)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"a column is given by its name, not by {type(name).__name__}")
        if "," in name:
            raise ValueError(f"column {name!r}: give several columns as a list of names; a name with a comma cannot be given")
    return names


def keys_of(column: OfParty, any_of: OfParty, party: int) -> list[list[str]]:
    """The party's keys in the order in which they are tried, each as its columns are named."""
    column, several = of_party(column, party), of_party(any_of, party)
    if several is None:
        names = names_of(column)
        return [names] if names else []
    if column is not None:
        raise TypeError("column and any_of were both given: any_of has all keys, the first of which is that of column")
    if isinstance(several, str) or not several:
        raise TypeError('any_of is a list of keys, tried in order: any_of=["email", "phone", ["first", "last"]], the last of which is two columns together')
    keys = [names_of(key) for key in several]
    if not all(keys):
        raise ValueError("any_of has a key without a column")
    return keys


def _is_missing(value: Any) -> bool:
    return value is None or isinstance(value, float) and value != value or type(value).__name__ in ("NAType", "NaTType")


def _key(value: Any) -> bytes:
    """A key as a CSV file has it."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, (bool, np.bool_)):
        return b"true" if value else b"false"
    if isinstance(value, (int, np.integer)):
        return b"%d" % int(value)
    if isinstance(value, decimal.Decimal) and value.is_finite():
        return format(value, "f").encode()
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return value.isoformat().encode()
    raise TypeError(f"{type(value).__name__} is no key: keys are texts, bytes, whole numbers, decimals and days")


def _number(value: Any) -> bytes:
    """A payload as a CSV file has it, with all digits."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return b"%d" % int(value)
    if isinstance(value, (float, np.floating)):
        value = decimal.Decimal(repr(float(value)))
    if isinstance(value, decimal.Decimal) and value.is_finite():
        return format(value, "f").encode()
    raise TypeError(f"{type(value).__name__} is no number with digits")


def _field(value: Any, is_key: bool) -> bytes:
    # Quotes keep what a text has, and make an empty line of one column a row.
    if _is_missing(value):
        return b'""'
    made = _key(value) if is_key else _number(value)
    return b'"' + made.replace(b'"', b'""') + b'"'


def _values(name: str, values: Any) -> Sequence[Any]:
    """The values of a column in Python's own types."""
    if hasattr(values, "notna"):  # pandas
        values = values.astype(object).where(values.notna(), None)
    if isinstance(values, np.ndarray):
        if values.ndim != 1:
            raise ValueError(f"column {name!r} has {values.ndim} axes: give one value for each row")
        if values.dtype.kind not in "iufbSUO" and values.dtype != np.dtype("M8[D]"):
            raise TypeError(f"column {name!r} has values of type {values.dtype}: make texts, whole numbers or days of them")
    for how in ("tolist", "to_list", "to_pylist"):
        if hasattr(values, how):
            return list(getattr(values, how)())
    if isinstance(values, (str, bytes)) or not isinstance(values, Sequence):
        raise TypeError(f"column {name!r} is of type {type(values).__name__}: give values in an order")
    return values


def _is_column(data: Any) -> bool:
    """Whether data is a list of keys by itself, and not several columns."""
    return isinstance(data, (list, tuple, np.ndarray)) or hasattr(data, "dtype") or hasattr(data, "to_pylist") and not hasattr(data, "to_pydict")


def _write(path: str, data: Any, keys: list[list[str]], payload: str | None) -> tuple[list[list[str]], str | None]:
    """Writes a list; gives the names of its columns in the file."""
    if _is_column(data):
        if payload is not None:
            raise TypeError("a list of keys alone has no payload: give a mapping of columns, or a frame")
        if len(keys) > 1:
            raise TypeError("a list of keys alone has one key for each row: give a mapping of columns, or a frame")
        data, keys = {_KEY: data}, [[_KEY]]
    try:
        columns = _columns_of(data)
    except TypeError:
        raise TypeError(f"{type(data).__name__} is no list: give a path, values in an order, a mapping of columns, or a frame") from None
    if not keys:
        raise TypeError("of several columns it is not known which has the keys: give column=...")
    names = [name for key in keys for name in key]
    wanted = list(dict.fromkeys([*names, *([payload] if payload is not None else [])]))
    for name in wanted:
        if name not in columns:
            raise ValueError(f"there is no column {name!r}: the columns are {', '.join(map(repr, columns))}")
    values = [_values(name, columns[name]) for name in wanted]
    if len({len(one) for one in values}) > 1:
        raise ValueError(f"the columns have different lengths: {', '.join(f'{name!r} {len(one)}' for name, one in zip(wanted, values))}")
    are_keys = [name in names for name in wanted]
    with open(path, "wb") as file:
        # Names count without white space around them, which these may have.
        made = {name: f"column {at}" if name != name.strip() or not name else name for at, name in enumerate(wanted)}
        file.write(b",".join(b'"' + made[name].replace('"', '""').encode() + b'"' for name in wanted) + b"\n")
        row = 0
        try:
            for row, cells in enumerate(zip(*values)):
                file.write(b",".join(map(_field, cells, are_keys)) + b"\n")
        except UnicodeEncodeError:
            raise ValueError(f"row {row}: a text that is no Unicode") from None
        except TypeError as error:
            # The value is not told: it is a secret.
            raise TypeError(f"row {row}: {error}") from None
    return [[made[name] for name in key] for key in keys], None if payload is None else made[payload]


@contextlib.contextmanager
def lists_as_words(
    lists: Mapping[int, Any],
    column: OfParty,
    any_of: OfParty,
    payload: OfParty,
    more: Mapping[str, OfParty],
    folder: str | os.PathLike[str] | None,
) -> Iterator[list[str]]:
    """Flags of parties' lists; what is in memory is in files until it is over."""
    words: list[str] = []
    with contextlib.ExitStack() as stack:
        for party, data in lists.items():
            keys, own = keys_of(column, any_of, party), of_party(payload, party)
            if isinstance(data, (str, os.PathLike)):
                path = os.fspath(data)
                if not keys:
                    raise TypeError("of a file it is not known which column has the keys: give column=...")
            else:
                # The folder is its owner's alone.
                made = tempfile.TemporaryDirectory(prefix="madrigal-", dir=folder, ignore_cleanup_errors=True)
                path = os.path.join(stack.enter_context(made), f"list-{party}.csv")
                keys, own = _write(path, data, keys, own)
            first, *others = [",".join(key) for key in keys]
            words += [f"--input={party}={path}", f"--column={party}={first}", *[f"--or={party}={key}" for key in others]]
            words += [] if own is None else [f"--payload={party}={own}"]
            for flag, value in more.items():
                value = of_party(value, party)
                words += [] if value is None else [f"--{flag}={party}={os.fspath(value) if flag in ('ledger', 'state') else int(value)}"]
        yield words


def all_of(lists: Any) -> dict[int, Any]:
    """The lists of all parties by their numbers."""
    if isinstance(lists, Mapping) and len(lists) > 1 and set(lists) == set(range(len(lists))):
        return {party: lists[party] for party in range(len(lists))}
    if isinstance(lists, (list, tuple)) and len(lists) > 1:
        return dict(enumerate(lists))
    raise TypeError("each of two parties or more has a list: give [list of party 0, list of party 1]")


def questions(find: str | Iterable[str]) -> list[str]:
    """What is asked, by its names."""
    asked = [find] if isinstance(find, str) else list(find)
    if not (len(asked) == 1 and asked[0] in ("rows", "join", "size", "sum", "shares")) and sorted(asked) != ["size", "sum"]:
        raise ValueError(f'find is "rows", "join", "size", "sum", ("size", "sum") or "shares", not {find!r}')
    return asked
