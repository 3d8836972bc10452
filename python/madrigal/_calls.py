"""Calls of a service's client that the native module does, waited for by threads and by event loops."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from typing import Any, Callable, Generator, TypeVar

from . import _native
from ._errors import ServiceError, ServiceTimeout
from ._jobs import future, outcome, result
from ._progress import Ear

T = TypeVar("T")

#: Begins something of the native module's, which tells the callable what came of it.
Begin = Callable[[Callable[[Any, Any], None]], _native.Call]
#: Things that are begun one after another, and what comes of them in the end. It is the same for threads and for event loops.
Steps = Generator[Begin, Any, T]


class raised(AbstractContextManager[None]):
    """Makes errors that the native module raises at once those of the package."""

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, _native.RunError):
            raise ServiceError(*error.args) from None


class Waiter:
    """Waits for steps: how long, and who is told of progress."""

    def __init__(self, timeout: float | None, what: str, ear: Ear | None = None) -> None:
        if timeout is not None and not timeout >= 0:
            raise ValueError("timeout is a number of seconds, 0 or more")
        self._until = None if timeout is None else time.monotonic() + timeout
        self._late = f"{what} within {timeout} s: ask again, or wait longer"
        self._ear = ear
        #: Name and number of the units of which progress is told.
        self.units, self.total = "", 0

    def _look(self, job: Any, call: _native.Call) -> None:
        if self._ear is not None and self.total:
            self._ear("progress", self.units, call.done(), self.total, False)
        if self._until is not None and time.monotonic() > self._until and not job.done():
            raise ServiceTimeout(self._late, 4, None)

    def now(self, steps: Steps[T]) -> T:
        """Waits on this thread, which looks for interrupts ten times a second."""
        answer = None
        while True:
            try:
                begin = steps.send(answer)
            except StopIteration as end:
                made: T = end.value
                return made
            job, done = future()
            with raised():
                call = begin(done)
            answer = result(job, call.stop, lambda: self._look(job, call))

    async def later(self, steps: Steps[T]) -> T:
        """Waits beside other tasks of an event loop; if this task is cancelled, what was begun is given up."""
        answer = None
        while True:
            try:
                begin = steps.send(answer)
            except StopIteration as end:
                made: T = end.value
                return made
            job, done = future()
            with raised():
                call = begin(done)
            answer = await outcome(job, call.stop, lambda: self._look(job, call))
