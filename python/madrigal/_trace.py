"""Recording of operations in the native module."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Iterator, Sequence

from . import _native
from ._errors import ProgramError, place


class Trace:
    """A program that is being recorded, and the bodies in it."""

    def __init__(self, parties: int, mix: str | None, open_lengths: bool = False, maker: Any = None) -> None:
        #: Whether lengths are those of this recording alone: then operations must not depend on what numbers they are.
        self.open_lengths = open_lengths
        with converted():
            # A maker makes the programs of a run of stages.
            self._recorders = [_native.Recorder(parties, mix) if maker is None else maker.recorder(mix)]
        self.parties = parties

    @property
    def recorder(self) -> Any:
        """The recorder of the body at hand, or of the program."""
        return self._recorders[-1]

    def call(self, method: str, *arguments: Any) -> Any:
        """Calls the recorder, with the user's line."""
        recorder = self.recorder
        with converted():
            recorder.at(*place())
            return getattr(recorder, method)(*arguments)

    def op(self, name: str, operands: Sequence[Any], numbers: Sequence[int] = (), text: str = "") -> list[Any]:
        """Records an operation."""
        made: list[Any] = self.call("op", name, list(operands), [int(number) for number in numbers], text)
        return made

    @contextmanager
    def body(self, arguments: int) -> Iterator[Any]:
        """Records all that follows as a body with this number of arguments."""
        inner = self.call("begin", arguments)
        self._recorders.append(inner)
        try:
            yield inner
        finally:
            self._recorders.pop()


@contextmanager
def converted() -> Iterator[None]:
    """Has errors of the native module be those of this package."""
    try:
        yield
    except _native.ProgramError as error:
        text, file, line = error.args
        raise ProgramError(text, file, line) from None
