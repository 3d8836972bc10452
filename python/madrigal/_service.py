"""Clients of a service: servers that stay up, run by different organisations, and compute on shares."""

from __future__ import annotations

import atexit
import os
import weakref
from typing import Any, Mapping, Sequence

import numpy as np

from . import _native
from ._calls import Steps, Waiter, raised
from ._errors import ServiceError
from ._kinds import Kind, all_rows, find, kind_of, one_row
from ._progress import ProgressLike, listening
from ._receipts import Batch, Outputs, ServerState, Submitted, finished

#: Name of a client that gives none.
_ANONYMOUS = "anonymous"


def _path(path: str | os.PathLike[str] | None) -> str | None:
    return None if path is None else os.fspath(path)


class Submission:
    """A submission that all servers have accepted, as :meth:`Service.submit` gives it. It has no secrets."""

    def __init__(self, service: Service, native: _native.Submitted) -> None:
        self._service, self._native = service, native

    @property
    def id(self) -> str:
        """Name of the submission, 64 hexadecimal digits. Who knows it can ask what became of the submission."""
        return self._native.id

    @property
    def kind(self) -> str:
        """Name of the kind."""
        return self._native.kind

    @property
    def client(self) -> str:
        """Name of the client."""
        return self._native.client

    @property
    def receipt(self) -> bytes:
        """Receipts of all servers with their signatures, as JSON. With them :meth:`Service.submission` comes back to the submission."""
        return self._native.to_bytes()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the receipts to a file, which is whole or, after a crash, the one that was there.

        Raises:
            ServiceError: the file cannot be written.
        """
        with raised():
            self._native.save(os.fspath(path))

    def _status(self) -> Steps[list[ServerState]]:
        native, asked = self._service._native, self._native
        states = yield lambda done: native.status(asked, done)
        return [ServerState(server, *one) for server, one in zip(native.servers, states)]

    def status(self) -> list[ServerState]:
        """Where it stands at each server, in their order.

        Raises:
            ServiceError: a server that is away or refuses.
        """
        return Waiter(None, "").now(self._status())

    async def status_async(self) -> list[ServerState]:
        """Asks as :meth:`status` does, beside other tasks of an event loop."""
        return await Waiter(None, "").later(self._status())

    def _wait(self) -> Steps[Outputs]:
        native, asked = self._service._native, self._native
        return finished((yield lambda done: native.wait(asked, done)))

    def wait(self, timeout: float | None = None) -> Outputs:
        """Waits for the job, checks the receipts of all servers, and puts the outputs together that are for the submitter.

        Args:
            timeout: Seconds; without it, it waits for as long as the job takes.

        Returns:
            Arrays by the outputs' names; none where all outputs are for others.

        Raises:
            ServiceTimeout: the job is not done in time; the submission stays.
            ServiceError: a server that is away or refuses, a submission that has failed or expired, servers that do not agree.
        """
        return Waiter(timeout, "the job is not done").now(self._wait())

    async def wait_async(self, timeout: float | None = None) -> Outputs:
        """Waits as :meth:`wait` does, beside other tasks of an event loop."""
        return await Waiter(timeout, "the job is not done").later(self._wait())

    def __repr__(self) -> str:
        return f"<submission {self.id[:16]} to {self.kind} by {self.client}>"


class Batches:
    """Jobs of a kind, one after the other as they are done: for ``for`` and for ``async for``.

    Attributes:
        after: Number of the batch that came last; who keeps it goes on behind it another time.
    """

    def __init__(self, service: Service, kind: str, after: int, timeout: float | None) -> None:
        self._service, self._kind, self.after, self._timeout = service, kind, after, timeout

    def _next(self) -> Steps[Batch]:
        native = self._service._native
        outputs = finished((yield lambda done: native.after(self._kind, self.after, done)))
        self.after = outputs.batch
        return Batch(outputs.batch, outputs, outputs.receipt)

    def _waiter(self) -> Waiter:
        return Waiter(self._timeout, f"no batch of {self._kind} after {self.after} is done")

    def __iter__(self) -> Batches:
        return self

    def __next__(self) -> Batch:
        return self._waiter().now(self._next())

    def __aiter__(self) -> Batches:
        return self

    async def __anext__(self) -> Batch:
        return await self._waiter().later(self._next())


class Service:
    """A service of servers that stay up, as :func:`service` makes it, for a client of it.

    It may be used by several threads and event loops at once. It connects when something is first asked of it, and connections that are lost are made
    again. Waiting threads let others go on, and Ctrl-C ends a call within a second.
    """

    def __init__(self, path: str, client: str | None, timeout: float | None, connections: int) -> None:
        with raised():
            self._native = _native.Service(path, client, timeout, connections)
        self._client = client
        self._known: tuple[Kind, ...] | None = None
        self._closed = False
        _open.add(self)

    @property
    def servers(self) -> list[str]:
        """Names of the servers, in their order."""
        return self._native.servers

    @property
    def client(self) -> str:
        """Name under which submissions are made unless another one is given."""
        return self._client or self._native.client or _ANONYMOUS

    def close(self) -> None:
        """Ends all connections. What was submitted stays; calls that wait in other threads end with :class:`ServiceError`."""
        self._closed = True
        self._native.close()

    def __enter__(self) -> Service:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Service:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def _kinds(self) -> Steps[tuple[Kind, ...]]:
        if self._known is None:
            self._known = tuple(kind_of(parts) for parts in (yield self._native.kinds))
        return self._known

    def kinds(self) -> list[Kind]:
        """The kinds of jobs and requests that all servers have, with inputs, shapes, types and who gets what.

        Raises:
            ServiceError: a server is away, is another one than the list says, or does not agree with the others.
        """
        return list(Waiter(None, "").now(self._kinds()))

    async def kinds_async(self) -> list[Kind]:
        """Asks as :meth:`kinds` does, beside other tasks of an event loop."""
        return list(await Waiter(None, "").later(self._kinds()))

    def _submit(self, kind: str, values: Mapping[str, Any], client: str | None, pending: Any, receipt: Any) -> Steps[Submission]:
        given = one_row(find((yield from self._kinds()), kind), values)
        name, files = client or self.client, (_path(pending), _path(receipt))
        begun = [given]
        # Values are taken once, and are gone from here when they are.
        native = yield lambda done: self._native.submit(kind, begun.pop(), name, *files, done)
        return Submission(self, native)

    def submit(
        self,
        kind: str,
        inputs: Mapping[str, Any] | None = None,
        /,
        *,
        pending: str | os.PathLike[str] | None = None,
        receipt: str | os.PathLike[str] | None = None,
        client: str | None = None,
        **values: Any,
    ) -> Submission:
        """Cuts values up, gives each server its share, and returns when all servers have signed that they have it on disk.

        Args:
            kind: Name of the kind.
            inputs: Values by the names of the inputs, for names that are also arguments here.
            pending: File that lets the submission go on as the same one after a crash: it is written before anything is sent, and removed when all servers have
                accepted and ``receipt`` is written. The same call goes on with it; other values are refused. It has the seed of the shares: it is for its owner's
                eyes, and with what one server got it gives the values away.
            receipt: File for the receipts. Without it, a crash after the call's end leaves no sign that the submission was made, and it is made twice.
            client: Name of the client; the service's unless it is given.
            values: Values of the inputs: numbers, lists, arrays of NumPy of the kind's types and shapes. Where a submission is one row of a batch, the row's axis
                of length 1 may be left out.

        Raises:
            ValueError: a value of another shape, or one that the type does not have.
            TypeError: inputs that are missing, or that the kind does not have.
            ServiceError: a server that is away, refuses, or does not keep to the protocol; a file.
        """
        steps = self._submit(kind, {**(inputs or {}), **values}, client, pending, receipt)
        return Waiter(None, "").now(steps)

    async def submit_async(
        self,
        kind: str,
        inputs: Mapping[str, Any] | None = None,
        /,
        *,
        pending: str | os.PathLike[str] | None = None,
        receipt: str | os.PathLike[str] | None = None,
        client: str | None = None,
        **values: Any,
    ) -> Submission:
        """Submits as :meth:`submit` does, beside other tasks of an event loop. Who cancels the task does not take the submission back: servers that have
        it keep it, and it counts if all have."""
        steps = self._submit(kind, {**(inputs or {}), **values}, client, pending, receipt)
        return await Waiter(None, "").later(steps)

    def submission(self, receipt: bytes | str | os.PathLike[str]) -> Submission:
        """The submission that receipts are of: a file's, or bytes of :attr:`Submission.receipt`.

        Raises:
            ServiceError: a file that cannot be read, or receipts that servers of this service have not signed.
        """
        with raised():
            if isinstance(receipt, (bytes, bytearray)):
                return Submission(self, self._native.load(None, bytes(receipt)))
            return Submission(self, self._native.load(os.fspath(receipt), None))

    def _many(
        self, kind: str, values: Mapping[str, Any], at_once: int, client: str | None, clients: Sequence[str] | None, waiter: Waiter
    ) -> Steps[Submitted]:
        if at_once < 1:
            raise ValueError("at_once is a number of submissions, 1 or more")
        given, count = all_rows(find((yield from self._kinds()), kind), values)
        names = None if clients is None else [str(name) for name in clients]
        waiter.units, waiter.total = "submissions", count
        # Servers know whoever has a key or a token by one name.
        numbered = not self._native.known
        begun = [given]
        accepted, failures, reasons = yield lambda done: self._native.many(
            kind, begun.pop(), count, client or self.client, names, numbered, at_once, done
        )
        errors = [ServiceError(*reason) for reason in reasons]
        return Submitted(accepted, tuple((place, errors[reason]) for place, reason in failures))

    def submit_many(
        self,
        kind: str,
        inputs: Mapping[str, Any],
        /,
        *,
        at_once: int = 1000,
        client: str | None = None,
        clients: Sequence[str] | None = None,
        progress: ProgressLike = None,
    ) -> Submitted:
        """Makes a submission of each place along the first axes of arrays, ``at_once`` of them side by side.

        They have no pending files: what is interrupted may have been accepted in part, and who makes it anew counts it twice. Where that matters, submit
        one by one.

        Args:
            kind: Name of the kind.
            inputs: Arrays by the names of the inputs, with as many places along their first axes.
            at_once: Submissions that are under way at once, 1 at least.
            client: Name of the client, to which each submission's place is appended (``office-0``) unless the servers know the client by a key or a token.
            clients: Names of the clients instead, one for each submission.
            progress: Whether progress is shown, or a function that is told of it as :class:`Progress`; on terminals and in notebooks it is shown.

        Raises:
            ServiceError: the servers are away, or have no such kind. Failures of single submissions are in what is returned.
        """
        with listening(kind, progress, "many submissions", native=False) as ear:
            waiter = Waiter(None, "", ear)
            return waiter.now(self._many(kind, inputs, at_once, client, clients, waiter))

    async def submit_many_async(
        self,
        kind: str,
        inputs: Mapping[str, Any],
        /,
        *,
        at_once: int = 1000,
        client: str | None = None,
        clients: Sequence[str] | None = None,
        progress: ProgressLike = None,
    ) -> Submitted:
        """Submits as :meth:`submit_many` does, beside other tasks of an event loop."""
        with listening(kind, progress, "many submissions", native=False) as ear:
            waiter = Waiter(None, "", ear)
            return await waiter.later(self._many(kind, inputs, at_once, client, clients, waiter))

    def outputs(self, kind: str, *, after: int = 0, timeout: float | None = None) -> Batches:
        """Jobs of a kind behind a batch, for one who gets their outputs and brings nothing: :class:`Batch` after :class:`Batch`, without an end.

        Args:
            kind: Name of the kind.
            after: Number of a batch; behind 0 comes the first that the servers still have.
            timeout: Seconds to wait for each batch, after which :class:`ServiceTimeout` is raised; without it, it waits for as long as it takes.

        Raises:
            ServiceError: while it is iterated: a server is away or refuses, or servers do not agree.
        """
        if after < 0:
            raise ValueError("after is the number of a batch, 0 or more")
        return Batches(self, kind, after, timeout)

    def _requests(self, kind: str, blocks: Any, waiter: Waiter) -> Steps[Any]:
        array = np.asarray(blocks)
        if array.dtype != np.uint8:
            raise TypeError(f"blocks are an array of numpy.uint8, not of {array.dtype}")
        if array.ndim != 2 or array.shape[1] != 16:
            raise ValueError(f"blocks have shape (n, 16), not {array.shape}")
        waiter.units, waiter.total = "requests", len(array)
        data = array.tobytes()
        answers = yield lambda done: self._native.requests(kind, data, done)
        return np.frombuffer(answers, dtype=np.uint8).reshape(array.shape)

    def requests(self, kind: str, blocks: Any, *, progress: ProgressLike = False) -> Any:
        """Has three servers encrypt blocks under their key, of a kind such as ``requests = "aes-128"``. No server sees a block or its encryption.

        Blocks whose answers are lost are sent again, until no answer has come for the service's ``timeout``.

        Args:
            kind: Name of the kind.
            blocks: Array of ``numpy.uint8`` with shape ``(n, 16)``.
            progress: Whether progress is shown, or a function that is told of it.

        Returns:
            Array of ``numpy.uint8`` with shape ``(n, 16)``: the answers, in the order of the blocks.

        Raises:
            ServiceError: a server that is away or refuses, servers that give different answers, a kind that takes no such requests.
        """
        with listening(kind, progress, "requests", native=False) as ear:
            waiter = Waiter(None, "", ear)
            return waiter.now(self._requests(kind, blocks, waiter))

    async def requests_async(self, kind: str, blocks: Any, *, progress: ProgressLike = False) -> Any:
        """Asks as :meth:`requests` does, beside other tasks of an event loop."""
        with listening(kind, progress, "requests", native=False) as ear:
            waiter = Waiter(None, "", ear)
            return await waiter.later(self._requests(kind, blocks, waiter))

    def __repr__(self) -> str:
        return f"<service of {', '.join(self.servers)}{', closed' if self._closed else ''}>"


#: Services that are to be closed before the interpreter ends: threads that call it must not outlive it.
_open: weakref.WeakSet[Service] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for one in list(_open):
        one.close()


def service(
    config: str | os.PathLike[str], *, client: str | None = None, timeout: float | None = None, connections: int = 1
) -> Service:
    """A service, for a client of it.

    Args:
        config: File that lists the servers, ``service-client.toml``, with the client's key or token if it has one.
        client: Name of the client: 1 to 64 letters, digits, ``-``, ``_`` or ``.``. Who has a key or a token gives the name that the servers have for it.
            The file's unless it is given; without both, ``anonymous``.
        timeout: Seconds for which a server that is away or busy is asked again; 60 unless it is given. A server that owes an answer and says nothing for as
            long, or for 30 s, is away.
        connections: Connections to each server, side by side; four carry many submissions faster.

    Raises:
        ServiceError: the file, or one that it names, cannot be read or says something else than it should.
        ValueError: a name or a time that is none.
    """
    if connections < 1:
        raise ValueError("connections is a number, 1 or more")
    return Service(os.fspath(config), client, timeout, int(connections))
