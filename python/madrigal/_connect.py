"""One real party among others on their machines."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from ._models import Inference, Model, infer_as_party
from ._program import Bound, Result, Runnable
from ._progress import ProgressLike


class Connection:
    """A party of ``parties.toml``, as :func:`connect` makes it. Each run meets the other parties anew."""

    def __init__(self, roster: str, me: int, words: list[str]) -> None:
        self._roster, self.me, self._words = roster, me, words

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def _party(self) -> list[str]:
        return ["--party", str(self.me), "--parties", self._roster, *self._words]

    def run(
        self,
        program: Runnable | Bound | Model,
        *,
        protocol: str | None = None,
        threads: int = 1,
        progress: ProgressLike = None,
        **inputs: Any,
    ) -> Result:
        """Runs a program as this party, with its own inputs; gives the outputs that it learns.

        Dimensions that none of this party's inputs has are given by name, as ``n=1000``.

        Raises:
            RunError: a party that is lost, silent or other than it should be, by its number; :class:`UnmetError` where the
                program's requirements do not hold.
        """
        if isinstance(program, Model):
            return self.infer(program, protocol=protocol, threads=threads, progress=progress, **inputs)
        words = [*self._party(), "--json", "--threads", str(threads)]
        words += ["--mix", protocol] if protocol else []
        if isinstance(program, Runnable):
            inputs, lengths = program._split(inputs)
            program = program._bound(inputs, lengths)
        return program.run_party(words, inputs, progress, f"party {self.me}")

    async def run_async(self, program: Runnable | Bound | Model, **arguments: Any) -> Result:
        """Runs a program as :meth:`run` does, beside other tasks of an event loop."""
        return await asyncio.to_thread(self.run, program, **arguments)

    def infer(self, model: Model | str | os.PathLike[str], data: Any = None, *, progress: ProgressLike = None, **how: Any) -> Inference:
        """Computes a network as this party. Party 0 owns the model; party 1 brings the data.

        Args:
            model: The model or its file: at party 0 with its weights; of the others' files the architecture alone is used, which is all
                that :meth:`Model.strip` leaves.
            data: Data of party 1, as for :meth:`Model.infer`.
            progress: As for :meth:`run`.
            how: ``protocol``, ``to``, ``numbers`` and so on, as for :meth:`Model.infer` and the same at all parties; ``batch`` is the
                number of inputs computed at once, which parties without data give.

        Raises:
            RunError: a party that is lost, silent or other than it should be, by its number.
        """
        what = f"inferred by party {self.me}"
        return infer_as_party(self._party(), model, data, progress=progress, what=what, **how)

    async def infer_async(self, model: Model | str | os.PathLike[str], data: Any = None, **how: Any) -> Inference:
        """Computes a network as :meth:`infer` does, beside other tasks of an event loop."""
        return await asyncio.to_thread(self.infer, model, data, **how)


def connect(
    parties: str | os.PathLike[str],
    me: int,
    *,
    identity: str | os.PathLike[str] | None = None,
    session: str | None = None,
    connect_timeout: float | None = None,
) -> Connection:
    """Takes a party's place among those of a list.

    Args:
        parties: The file that lists all parties, as ``madrigal keygen`` prints their sections.
        me: Number of this party in it.
        identity: Base name of the files with its key; its name in the list unless it is given.
        session: Name of the session, the same at all parties.
        connect_timeout: Seconds to wait for the other parties.
    """
    words: list[str] = []
    words += ["--identity", os.fspath(identity)] if identity is not None else []
    words += ["--session", session] if session is not None else []
    words += ["--connect-timeout", f"{connect_timeout}s"] if connect_timeout is not None else []
    return Connection(os.fspath(parties), me, words)
