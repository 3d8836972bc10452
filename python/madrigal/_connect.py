"""One real party among others on their machines."""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from concurrent.futures import Future
from contextlib import AbstractContextManager
from typing import Any, Callable, overload

from ._errors import RunError
from ._jobs import GRACE, HASTE, blocking, future, outcome, over, result
from ._lists import OfParty
from ._models import Inference, Model, load_model, words_of_party
from ._program import Bound, Result, Runnable
from ._progress import Ear, ProgressLike, listening, logger
from ._psi import Asked, Matches
from ._stages import Staged, StagedResult, _session
from ._types import ThreadsLike


class Connection:
    """A party of ``parties.toml``, as :func:`connect` makes it.

    It meets the others with its first run, and does one run after the other in the same session until it is closed; all parties
    run the same, in the same order. A run that fails between the parties ends the session, since nobody can know how far the
    others have come: later runs say so, and :func:`connect` begins another one. Inputs that do not fit, and requirements that they
    do not meet, end nothing.
    """

    def __init__(self, roster: str, me: int, words: list[str], threads: ThreadsLike) -> None:
        self.me, self.threads = me, threads
        self._words = ["--party", str(me), "--parties", roster, *words, "--json", "--threads", str(threads)]
        self._held: Any = None
        self._closed = False
        self._lock = threading.Lock()
        _open.add(self)

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leaves the session, once runs that were begun are done; after ten seconds they are ended. The other parties see that this
        one has left."""
        self._leave(GRACE)

    def _leave(self, grace: float) -> None:
        with self._lock:
            self._closed = True
            held, self._held = self._held, None
        if held is not None:
            held.close()
            over(held, grace)

    def _session(self) -> Any:
        with self._lock:
            if self._closed:
                raise RunError("the connection is closed: connect again", 2)
            if self._held is None:
                self._held = _session(self._words)
            return self._held

    def _begin(self, program: Runnable | Bound, protocol: str | None, inputs: dict[str, Any]) -> tuple[Bound, Future[Any], Any]:
        """Begins the run of a program; gives the program, its future and its session."""
        lengths: dict[str, int] = {}
        if isinstance(program, Runnable):
            inputs, lengths = program._split(inputs)
            program = program._bound(inputs, lengths)
        given = program._given(inputs, lambda owner: owner == f"party {self.me}")
        session = self._session()
        logger.info("%s: digest %s", program.name, program.digest[:16])
        job, done = future()
        session.run(program._native, program.name, self._for_run(protocol), program._lengths, given, done)
        return program, job, session

    def _begin_model(self, model: Model, data: Any, how: dict[str, Any]) -> tuple[Future[Any], Any]:
        """Begins the run of a network; gives its future and its session."""
        words, arrays = words_of_party(model, data, **how)
        session = self._session()
        job, done = future()
        session.infer([*self._words, *words], arrays, done)
        return job, session

    def _listening(self, name: str, progress: ProgressLike) -> AbstractContextManager[Ear]:
        return listening(name, progress, f"run by party {self.me}", native=False)

    def _for_run(self, protocol: str | None) -> list[str]:
        return [*self._words, *(["--mix", protocol] if protocol else [])]

    @overload
    def run(self, program: Staged, *, protocol: str | None = None, **inputs: Any) -> StagedResult: ...
    @overload
    def run(
        self, program: Runnable | Bound | Model, *, protocol: str | None = None, progress: ProgressLike = None, **inputs: Any
    ) -> Result: ...
    def run(
        self,
        program: Runnable | Bound | Staged | Model,
        *,
        protocol: str | None = None,
        progress: ProgressLike = None,
        **inputs: Any,
    ) -> Result | StagedResult:
        """Runs a program, stages or a network as this party with its own inputs; gives the outputs that it learns.

        Dimensions that none of this party's inputs has are given by name, as ``n=1000``; so are the arguments of stages. Of a network
        the inputs are the arguments of :meth:`infer`. ``progress`` is as for :meth:`Program.run_local`; what a function raises ends
        the run, and with it the session.

        Raises:
            RunError: a party that is lost, silent or other than it should be, by its number; :class:`UnmetError` where the
                program's requirements do not hold.
        """
        if isinstance(program, Staged):
            staged = program
            return blocking(lambda: self._run_stages(staged, protocol, inputs))
        if isinstance(program, Model):
            return self.infer(program, protocol=protocol, progress=progress, **inputs)
        with self._listening(program.name, progress) as ear:
            bound, job, session = self._begin(program, protocol, inputs)
            return bound._result(result(job, session.stop, _hearing(ear, session)), False)

    @overload
    async def run_async(self, program: Staged, *, protocol: str | None = None, **inputs: Any) -> StagedResult: ...
    @overload
    async def run_async(
        self, program: Runnable | Bound | Model, *, protocol: str | None = None, progress: ProgressLike = None, **inputs: Any
    ) -> Result: ...
    async def run_async(
        self,
        program: Runnable | Bound | Staged | Model,
        *,
        protocol: str | None = None,
        progress: ProgressLike = None,
        **inputs: Any,
    ) -> Result | StagedResult:
        """Runs as :meth:`run` does, beside other tasks of an event loop. Cancelling the task ends the run, and with it the session."""
        if isinstance(program, Staged):
            return await self._run_stages(program, protocol, inputs)
        if isinstance(program, Model):
            return await self.infer_async(program, protocol=protocol, progress=progress, **inputs)
        with self._listening(program.name, progress) as ear:
            bound, job, session = self._begin(program, protocol, inputs)
            return bound._result(await outcome(job, session.stop, _hearing(ear, session)), False)

    def infer(self, model: Model | str | os.PathLike[str], data: Any = None, *, progress: ProgressLike = None, **how: Any) -> Inference:
        """Computes a network as this party, in the same session as other runs. Party 0 owns the model; party 1 brings the data.

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
        own = model if isinstance(model, Model) else load_model(model)
        with self._listening(own.name, progress) as ear:
            job, session = self._begin_model(own, data, how)
            return own.inference(result(job, session.stop, _hearing(ear, session)))

    async def infer_async(
        self, model: Model | str | os.PathLike[str], data: Any = None, *, progress: ProgressLike = None, **how: Any
    ) -> Inference:
        """Computes a network as :meth:`infer` does, beside other tasks of an event loop."""
        own = model if isinstance(model, Model) else load_model(model)
        with self._listening(own.name, progress) as ear:
            job, session = self._begin_model(own, data, how)
            return own.inference(await outcome(job, session.stop, _hearing(ear, session)))

    def _asked(self, data: Any, column: OfParty, how: dict[str, Any]) -> Asked:
        return Asked({self.me: data}, column, **how)

    def _begin_psi(self, asked: Asked, words: list[str]) -> tuple[Future[Any], Any]:
        """Begins to match lists; gives the future and the session."""
        session = self._session()
        job, done = future()
        session.psi([*self._words, *asked.flags(words)], asked.shares, done)
        return job, session

    def psi(self, data: Any, column: OfParty = None, *, progress: ProgressLike = None, **how: Any) -> Matches:
        """Matches a list with those of the other parties, in the same session as other runs; gives what this party learns.

        Args:
            data: This party's list, as for :func:`psi`.
            column: Column of the keys.
            progress: As for :meth:`run`.
            how: ``find``, ``to``, ``security``, ``normal`` and so on, as for :func:`psi`. These four, ``empty``, ``places``, ``noise``, ``delta`` and the
                numbers of keys and of their columns are the same at both parties; all else is each party's own.

        Raises:
            RunError: lists that cannot be matched, a party that is lost, silent or other than it should be. What is wrong with arguments, or a file
                that is not there, ends nothing.
        """
        asked = self._asked(data, column, how)
        with self._listening(asked.name, progress) as ear, asked.words() as words:
            job, session = self._begin_psi(asked, words)
            return asked.matches(result(job, session.stop, _hearing(ear, session)))[0]

    async def psi_async(self, data: Any, column: OfParty = None, *, progress: ProgressLike = None, **how: Any) -> Matches:
        """Matches a list as :meth:`psi` does, beside other tasks of an event loop."""
        asked = self._asked(data, column, how)
        with self._listening(asked.name, progress) as ear, asked.words() as words:
            job, session = self._begin_psi(asked, words)
            return asked.matches(await outcome(job, session.stop, _hearing(ear, session)))[0]

    async def _run_stages(self, staged: Staged, protocol: str | None, inputs: dict[str, Any]) -> StagedResult:
        staged._split(inputs)  # What is wrong here ends nothing.
        return await staged._run_party(self._session(), self._for_run(protocol), self.me, inputs)

    def __repr__(self) -> str:
        return f"<party {self.me}, {'closed' if self._closed else 'in a session' if self._held else 'not yet in a session'}>"


#: Connections that are to be closed before the interpreter ends: threads that call it must not outlive it.
_open: weakref.WeakSet[Connection] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for connection in list(_open):
        connection._leave(HASTE)


def _hearing(ear: Ear, session: Any) -> Callable[[], None]:
    """Hands on what a session has told since the last time."""

    def look() -> None:
        for told in session.heard():
            ear(*told)

    return look


def connect(
    parties: str | os.PathLike[str],
    me: int,
    *,
    identity: str | os.PathLike[str] | None = None,
    session: str | None = None,
    connect_timeout: float | None = None,
    threads: ThreadsLike = "auto",
) -> Connection:
    """Takes a party's place among those of a list, for one session with the others.

    Args:
        parties: The file that lists all parties, as ``madrigal keygen`` prints their sections.
        me: Number of this party in it.
        identity: Base name of the files with its key; its name in the list unless it is given.
        session: Name of the session, the same at all parties.
        connect_timeout: Seconds to wait for the other parties, when they meet and, if it is more than 10, when one begins a run
            that the others have not begun; 30 unless it is given.
        threads: Threads that the party computes with; ``"auto"`` is as many as its machine has cores for. Parties may have different
            numbers: what they do together is planned for the least of them.
    """
    words: list[str] = []
    words += ["--identity", os.fspath(identity)] if identity is not None else []
    words += ["--session", session] if session is not None else []
    words += ["--connect-timeout", f"{connect_timeout}s"] if connect_timeout is not None else []
    return Connection(os.fspath(parties), me, words, threads)
