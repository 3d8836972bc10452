"""Lists, matched: which keys both parties have, how many, what goes with them, or shares from which a program goes on; which keys more parties have all."""

from __future__ import annotations

import decimal
import json
import os
from contextlib import AbstractContextManager
from typing import Any, Iterable, Sequence

import numpy as np

from . import _native
from ._html import seconds, size
from ._lists import OfParty, all_of, lists_as_words, questions
from ._models import _call, _to, _words
from ._program import Builder
from ._progress import ProgressLike, listening, logger
from ._secret import Secret
from ._types import ThreadsLike, int64, uint64

#: Name in logs and in progress.
NAME = "psi"


class InBoth:
    """Bins as secrets of a program, as :meth:`Bins.ask` makes them.

    Attributes:
        in_both: Whether the key of each bin is in both lists; false for bins without a key.
        payloads: Each party's payloads, by the party's number, as integers of 64 bits in units of the last of ``places``: 0 for bins whose key
            is not in both lists. Sums of them wrap around at 64 bits, as all integers do. None for a party that has none.
    """

    def __init__(self, in_both: Secret, payloads: tuple[Secret | None, Secret | None]) -> None:
        self.in_both, self.payloads = in_both, payloads


class Bins:
    """One party's inputs of a program that goes on: the keys of the list that is not longer are in bins, and nobody knows which of them match.

    Attributes:
        bins: Number of bins, some of which are empty.
        receiver: Number of the party whose keys are in the bins.
        payloads: Whether each party has payloads.
        rows: Row of the key in each bin, counted from 0, the first where it has several, and -1 for bins without one: at the receiver, who so
            brings other columns of its rows into the order of the bins. None at the other party.
        run: Text that both parties have, and no other run. It is in the inputs' names: bins of different runs do not go together.
        inputs: This party's inputs of a program that asks for them by :meth:`ask`. Secret, as the list is.
    """

    def __init__(self, party: int, parts: tuple[str, int, int, list[bool], bytearray, bytearray, bytearray, bytearray]) -> None:
        run, bins, receiver, payloads, tags, masked, own, rows = parts
        self.run, self.bins, self.receiver = run, bins, receiver
        self.payloads = (payloads[0], payloads[1])
        receives = party == receiver
        self.rows: Any = np.frombuffer(rows, "<i8").astype(np.int64) if receives else None
        given = {"tags_found" if receives else "tags_drawn": tags}
        if payloads[1 - receiver]:
            given["masked_payloads" if receives else "masks"] = masked
        if receives and payloads[receiver]:
            given["own_payloads"] = own
        self.inputs: dict[str, Any] = {self._name(name): np.frombuffer(words, "<u8").astype(np.uint64) for name, words in given.items()}

    def _name(self, name: str) -> str:
        return f"{name}_{self.run[:16]}"

    def ask(self, p: Builder) -> InBoth:
        """Asks for all of the inputs in a program that both parties record, and makes secrets of them."""

        def asked(name: str, receives: bool) -> Secret:
            owner = self.receiver if receives else 1 - self.receiver
            return p.input(self._name(name), owner, (self.bins,), uint64)

        def chosen(numbers: Secret) -> Any:
            return np.where(in_both, numbers, p.constant(np.zeros(self.bins, np.uint64)))

        in_both: Any = asked("tags_found", True) == asked("tags_drawn", False)
        payloads: list[Secret | None] = [None, None]
        if self.payloads[1 - self.receiver]:
            masked, masks = asked("masked_payloads", True), asked("masks", False)
            payloads[1 - self.receiver] = (chosen(masked) - chosen(masks)).astype(int64)
        if self.payloads[self.receiver]:
            payloads[self.receiver] = chosen(asked("own_payloads", True)).astype(int64)
        return InBoth(in_both, (payloads[0], payloads[1]))

    def __repr__(self) -> str:
        return f"<{self.bins} bins with keys of party {self.receiver}>"


class Matches:
    """Outcome of matched lists at one party. Answers that it does not learn, or that were not asked for, are None.

    Attributes:
        party: Number of the party.
        keys: Different keys of all lists, by the parties' numbers, or the bounds that were told in their place.
        rows: Rows of its list with keys that all other lists have, too: their numbers from 0 on, in order, as an array.
        by: With ``any_of``, by which of its keys each of these rows matched: 0 for the first of them, and so on.
        payloads: With ``find="join"``, the other party's payload of each of these rows: an array of integers, or of exact decimals where numbers have
            ``places``.
        size: Number of different keys that are in all lists; with ``noise`` it may be below 0, or more than a list has.
        sums: With ``find="sum"``, the sum of each party's payloads over these keys: integers, or exact decimals.
        bins: With ``find="shares"``, inputs of a program that goes on.
        stats: Figures of the run, as ``madrigal psi --json`` prints them.
    """

    def __init__(self, told: tuple[int, bytearray | None, bytearray | None, bytearray | None, Any], stats: dict[str, Any], places: int) -> None:
        party, rows, by, payloads, bins = told
        figures = next(one for one in stats["parties"] if one["party"] == party)

        def number(text: str | None) -> int | decimal.Decimal | None:
            return None if text is None else decimal.Decimal(text) if places else int(text)

        self.party: int = party
        self.keys: tuple[int, ...] = tuple(stats["keys"])
        self.rows: Any = None if rows is None else np.frombuffer(rows, "<i8").astype(np.int64)
        self.by: Any = None if by is None else np.frombuffer(by, "<i8").astype(np.int64)
        self.payloads: Any = None if payloads is None else _decimals(np.frombuffer(payloads, "<i8").astype(np.int64), places)
        self.size: int | None = figures["matched_keys"]
        self.sums = (number(figures["sum_of_party_0"]), number(figures["sum_of_party_1"]))
        self.bins: Bins | None = None if bins is None else Bins(party, bins)
        self.stats = stats

    def __repr__(self) -> str:
        told = [f"{self.size} keys in {'both' if len(self.keys) == 2 else 'all'}"] if self.size is not None else []
        told += [f"{len(self.rows)} rows"] if self.rows is not None else []
        told += [f"sum of party {party} {sum_}" for party, sum_ in enumerate(self.sums) if sum_ is not None]
        told += [repr(self.bins)] if self.bins is not None else []
        return f"<lists matched, party {self.party}: {', '.join(told) or 'the result is for the other party'}>"


def _decimals(units: Any, places: int) -> Any:
    if not places:
        return units
    # All digits are kept, however many the context of decimals has.
    made = np.empty(len(units), object)
    made[:] = [decimal.Decimal((int(one < 0), tuple(map(int, str(abs(one)))), -places)) for one in units.tolist()]
    return made


class Asked:
    """A question to lists: flags of the command line, and how results are taken."""

    def __init__(
        self,
        lists: dict[int, Any],
        column: OfParty,
        *,
        any_of: OfParty = None,
        find: str | Iterable[str] = "rows",
        to: int | str | Iterable[int] = "all",
        security: str = "semi-honest",
        normal: str | Sequence[str] = "exact",
        payload: OfParty = None,
        places: int = 0,
        repeated: str = "refuse",
        empty: str = "skip",
        bound: OfParty = None,
        ledger: OfParty = None,
        limit: int | None = None,
        budget: float | tuple[float, float] | None = None,
        noise: float | None = None,
        delta: float | None = None,
        each: int | None = None,
        most: int | None = None,
        protocol: str | None = None,
        memory: int = 1024,
        spill: str | os.PathLike[str] | None = None,
        state: OfParty = None,
    ) -> None:
        asked = questions(find)
        self._places = int(places)
        self.shares = asked == ["shares"]
        self._how = _words(
            join=asked == ["join"],
            size="size" in asked,
            sum="sum" in asked,
            to=_to(to),
            security=security,
            places=self._places,
            repeated=repeated,
            empty=empty,
            limit=limit,
            budget=f"{budget[0]},{budget[1]}" if isinstance(budget, tuple) else budget,
            noise=noise,
            delta=delta,
            each=each,
            most=most,
            protocol=protocol,
            memory=int(memory),
            spill=None if spill is None else os.fspath(spill),
        )
        self._how += [f"--normal={form}" for form in ([normal] if isinstance(normal, str) else normal)]
        self._lists, self._column, self._any_of, self._payload, self._spill = lists, column, any_of, payload, spill
        self._more = {"bound": bound, "ledger": ledger, "state": state}
        self.name = f"{NAME}, {' and '.join(asked)}"

    def words(self) -> AbstractContextManager[list[str]]:
        """Flags of the lists; files that were made for them are there until it is over."""
        return lists_as_words(self._lists, self._column, self._any_of, self._payload, self._more, self._spill)

    def flags(self, lists: Sequence[str]) -> list[str]:
        """All flags."""
        return [*self._how, *lists]

    def matches(self, made: tuple[list[Any], str]) -> list[Matches]:
        """Results as the native module tells them."""
        told, report = made
        stats: dict[str, Any] = json.loads(report)
        for party in stats["parties"]:
            spent = size(party["setup"]["bytes_sent"] + party["online"]["bytes_sent"])
            time = seconds(party["seconds_read"] + party["seconds_matching"])
            logger.info("%s: party %s done in %s, sent %s", self.name, party["party"], time, spent)
        return [Matches(one, stats, self._places) for one in told]


def psi(
    lists: Any,
    column: OfParty = None,
    *,
    any_of: OfParty = None,
    find: str | Iterable[str] = "rows",
    to: int | str | Iterable[int] = "all",
        security: str = "semi-honest",
        normal: str | Sequence[str] = "exact",
    payload: OfParty = None,
    places: int = 0,
    repeated: str = "refuse",
    empty: str = "skip",
    bound: OfParty = None,
    ledger: OfParty = None,
    limit: int | None = None,
    budget: float | tuple[float, float] | None = None,
    noise: float | None = None,
    delta: float | None = None,
    each: int | None = None,
    most: int | None = None,
    protocol: str | None = None,
    memory: int = 1024,
    spill: str | os.PathLike[str] | None = None,
    state: OfParty = None,
    threads: ThreadsLike = "auto",
    network: str | None = None,
    transport: str | None = None,
    progress: ProgressLike = None,
) -> tuple[Matches, ...]:
    """Matches lists with all parties in this process, by the real protocols; gives what each of them learns. One of several machines does so
    by :meth:`Connection.psi`. Three parties or more learn which of their rows have keys of all lists, and beside that of each of their own keys which of the others
    have it, and how many keys, not which, others have in common without them.

    Args:
        lists: The parties' lists, party 0's first: paths of files (.csv, .parquet), sequences or arrays of keys, mappings of columns, or frames of
            pandas, polars or pyarrow. Keys are texts, bytes, whole numbers, decimals and days, and match if a CSV file would have the same text.
            What is in memory is written to a file that its owner alone can read, and that is removed in the end.
        column: Column of the keys, or a list of several that are one key together; where parties have other names, each party's by its number, as
            ``{0: "email", 1: "mail"}``. A sequence of keys needs none.
        any_of: In place of ``column`` a list of several keys that each row has, as ``["email", "phone", ["first", "last"]]``, each a column or a list of
            columns that are one key together: a row matches by the first of them that the other list has in the same place. Each party's
            by its number, likewise. For ``find="rows"`` and ``"join"``.
        find: Question, of which three parties or more have the first: ``"rows"``, which of its own rows have keys of all other lists; ``"join"``, that and the other party's payload of
            each; ``"size"``, how many keys are in both lists; ``"sum"``, what their payloads add up to; ``("size", "sum")``; or ``"shares"``:
            nothing, and a program goes on from the :class:`Bins`.
        to: Who learns it: a party, several, or ``"all"``.
        security: Parties against which the lists are protected: ``"semi-honest"``, which follow the protocol, or ``"malicious"``, which do whatever helps
            them, for rows and ``"join"``.
        normal: Form in which keys are compared: ``"exact"``, some of ``"lower,trim"``, or ``"phone:49"``; with ``any_of`` one for all keys, or a list with
            one for each.
        payload: Column of numbers that go with the keys; of one party, as ``{1: "amount"}``.
        places: Digits after the point of these numbers.
        repeated: Payload of a key that several rows have: ``"refuse"``, ``"first"`` or ``"sum"``.
        empty: Rows without a key: ``"skip"``, ``"refuse"`` or ``"match"``.
        bound: Number that others are told in place of the number of different keys; each party's by its number where they differ.
        ledger: File in which each party's queries are counted, by its number.
        limit: Queries that a list may answer in all, for a ledger that does not exist yet.
        budget: Sum of the epsilons that a list may spend in all, likewise; such a ledger refuses what is asked without ``noise`` or ``bound``. A pair has the sum of the deltas,
            too, which is 1e-6 unless said otherwise.
        noise: With ``find="size"``, epsilon of the noise that each party adds to the number, from 1e-9 to 5: what a party learns of the other list is
            (epsilon, delta)-differentially private for one key, but for the list's size (``bound``).
        delta: Chance with which noise may tell of a key, 1e-9 unless said otherwise.
        each: Keys that noise hides at a time, as those of one person; 1 unless said otherwise.
        most: The most different keys that another party's list may have, or be said to have.
        protocol: Protocol in which three parties or more match their lists: ``"R"``, for three parties, safe unless two of them put together what they have, or ``"B"``; if none is
            given, R for three and B for more.
        memory: Memory for digests of a list's keys, in megabytes; beyond it they go to a file.
        spill: Folder for that file, and for those of lists in memory.
        state: Directory of each party's, by its number, in which what was found is kept until it is given back: a run whose line is lost goes on there
            when both parties call for it again with the same lists. For ``find="rows"`` and ``"join"``.
        threads: Threads that each party computes with; ``"auto"`` is as many as this machine has cores for, which the parties share.
        network: Network between the parties, as ``"wan"`` or ``"20ms,100Mbps"``.
        transport: ``"tcp"``, ``"tls"`` or ``"memory"``.
        progress: Whether progress is shown, or a function that is told of it; on terminals and in notebooks it is.

    Raises:
        RunError: lists that cannot be matched, with the text of the command line, which names arguments as its flags.
    """
    given = all_of(lists)
    asked = Asked(
        given, column, any_of=any_of, find=find, to=to, security=security, normal=normal, payload=payload, places=places, repeated=repeated,
        empty=empty, bound=bound, ledger=ledger, limit=limit, budget=budget, noise=noise, delta=delta, each=each, most=most, protocol=protocol, memory=memory, spill=spill, state=state,
    )
    how = _words(local=len(given), json=True, threads=threads, network=network, transport=transport)
    with listening(asked.name, progress, f"{len(given)} parties here") as ear, asked.words() as words:
        return tuple(asked.matches(_call(_native.psi, asked.flags([*how, *words]), asked.shares, ear, ear.terminal)))
