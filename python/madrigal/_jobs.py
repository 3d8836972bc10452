"""Work that threads of the native module do, waited for by threads and by event loops."""

from __future__ import annotations

import contextvars
import threading
import time
from concurrent.futures import Future, InvalidStateError, wait
from typing import TYPE_CHECKING, Any, Callable, Coroutine, TypeVar

from ._errors import MadrigalError, ProgramError, RunError, ServiceError, UnmetError

if TYPE_CHECKING:
    # To import it takes half as long as NumPy does: those who run something wait for it, and not those who import the package.
    import asyncio

T = TypeVar("T")

#: Seconds within which parties that were told to leave, or to stop, have done so.
GRACE = 10.0
#: Seconds that an interrupted call waits for that.
HASTE = 0.5


def error_of(parts: tuple[Any, ...]) -> MadrigalError:
    """The exception that the native module tells as a tuple."""
    if parts[0] == "program":
        _, text, file, line = parts
        return ProgramError(text, file, line)
    if parts[0] == "service":
        _, text, status, server = parts
        return ServiceError(text, status, server)
    _, text, status, echo = parts
    error = (UnmetError if status == 6 else RunError)(text, status)
    error.echo = echo
    return error


def future() -> tuple[Future[Any], Callable[[Any, Any], None]]:
    """A future, and what the native module calls with its results or its error."""
    made: Future[Any] = Future()

    def done(results: Any, error: Any) -> None:
        try:
            if error is None:
                made.set_result(results)
            else:
                made.set_exception(error_of(error))
        except InvalidStateError:
            pass  # Whoever waited has given up.

    return made, done


def result(job: Future[T], stop: Callable[[], None], look: Callable[[], None] = lambda: None) -> T:
    """Waits for a job on this thread, and looks ten times a second; an interrupt, or what ``look`` raises, stops it first."""
    try:
        # Without a limit, some systems let no interrupt through.
        while not wait([job], timeout=0.1).done:
            look()
        look()
    except BaseException:
        stop()
        # What computes or plans goes on for a while, and sends nothing any more.
        wait([job], timeout=HASTE)
        raise
    return job.result()


async def outcome(job: Future[T], stop: Callable[[], None], look: Callable[[], None] = lambda: None) -> T:
    """Waits for a job beside other tasks of the event loop, and looks ten times a second; if this task is cancelled, or ``look``
    raises something, it is stopped."""
    import asyncio

    waited = asyncio.wrap_future(job)
    try:
        while not waited.done():
            await asyncio.wait([waited], timeout=0.1)
            look()
    except BaseException:
        stop()
        # Nobody asks for its error any more.
        waited.cancel()
        raise
    return await waited


def over(session: Any, grace: float = GRACE) -> None:
    """Waits until a session's threads are gone, which were told to leave; after a while they are stopped."""
    until = time.monotonic() + grace
    while not session.is_over():
        if time.monotonic() > until:
            session.stop()
            return
        time.sleep(0.002)


async def over_async(session: Any) -> None:
    """Waits as :func:`over` does, beside other tasks."""
    import asyncio

    until = time.monotonic() + GRACE
    while not session.is_over():
        if time.monotonic() > until:
            session.stop()
            return
        await asyncio.sleep(0.002)


def blocking(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Runs a coroutine to its end: in an event loop of its own, and where this thread has one at work already, as in notebooks,
    on another thread."""
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work())
    task: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = Future()
    job: Future[T] = Future()

    async def main() -> T:
        current = asyncio.current_task()
        assert current is not None
        task.set_result((asyncio.get_running_loop(), current))
        return await work()

    def run() -> None:
        try:
            job.set_result(asyncio.run(main()))
        except BaseException as error:  # It is raised where it is waited for.
            job.set_exception(error)

    def stop() -> None:
        loop, current = task.result()
        try:
            loop.call_soon_threadsafe(current.cancel)
        except RuntimeError:
            pass  # It has just ended.

    thread = threading.Thread(target=contextvars.copy_context().run, args=(run,), name="madrigal stages", daemon=True)
    thread.start()
    try:
        return result(job, stop)
    finally:
        thread.join(HASTE)
