"""Outcomes of submissions and jobs of a service, and the servers' receipts of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Mapping, NamedTuple

from ._errors import ServiceError
from ._program import _array


@dataclass(frozen=True)
class ServerState:
    """Where a submission stands at one server.

    Attributes:
        server: Name of the server.
        state: ``"unknown"``, ``"receiving"``, ``"accepted"`` (it waits for a batch), ``"held"`` (no batch begins now: a server's policy lets none, or inputs that another kind is to hold are not there), ``"running"``, ``"counted"``, ``"failed"`` or ``"expired"``.
        batch: Number of its batch, once it is in one.
        reason: Reason of a failure, or why no batch begins.
    """

    server: str
    state: str
    batch: int | None = None
    reason: str | None = None


@dataclass(frozen=True)
class JobReceipt:
    """A job as all servers have signed for it. Whoever has the list of servers can check it.

    Attributes:
        kind: Name of the kind.
        program: Digest of its program, 64 hexadecimal digits.
        batch: Number of the batch.
        submissions: Number of submissions in it.
        recipients: Those who get outputs, in words.
        time: End of the job at server 0, in seconds since 1970.
        signed: Of each server its name, the bytes that it has signed, and its signature.
        held: Submissions that the servers held and that the job computed with: of each the kind that holds it, the number of that kind's batch,
            and the submission's name.
    """

    kind: str
    program: str
    batch: int
    submissions: int
    recipients: tuple[str, ...]
    time: int
    signed: tuple[tuple[str, bytes, bytes], ...] = field(repr=False)
    held: tuple[tuple[str, int, str], ...] = ()


class Outputs(dict[str, Any]):
    """Outputs of a job that are for this client, by name: arrays of NumPy, and numbers where the program gives one.

    Attributes:
        receipt: The job as all servers have signed for it.
    """

    receipt: JobReceipt

    def __init__(self, outputs: Mapping[str, Any], receipt: JobReceipt) -> None:
        super().__init__(outputs)
        self.receipt = receipt

    @property
    def batch(self) -> int:
        """Number of the batch."""
        return self.receipt.batch


class Batch(NamedTuple):
    """A batch whose job is done."""

    #: Number of the batch, counted from 1.
    batch: int
    #: Outputs that are for this client.
    outputs: Outputs
    #: The job as all servers have signed for it.
    receipt: JobReceipt


@dataclass(frozen=True)
class Submitted:
    """Outcome of many submissions.

    Attributes:
        accepted: Number of submissions that all servers have accepted.
        failures: Of each of the others its place in the arrays, and the error. Where a server was lost it may count all the same.
    """

    accepted: int
    failures: tuple[tuple[int, ServiceError], ...]


def finished(told: tuple[Any, ...]) -> Outputs:
    outputs, (kind, program, batch, submissions, recipients, ended, signed, held) = told
    receipt = JobReceipt(kind, program, batch, submissions, tuple(recipients), ended, tuple(signed), tuple(held))
    return Outputs({name: _array(parts) for name, parts in outputs}, receipt)
