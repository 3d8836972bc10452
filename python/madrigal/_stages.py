"""Stages: programs one after another among the same parties, where values that one opens decide what the next one is."""

from __future__ import annotations

import functools
import inspect
import json
import secrets
import warnings
from typing import Any, Awaitable, Callable, Iterable, Mapping, NoReturn, Sequence

import numpy as np

from . import _native
from ._errors import ProgramError, RunError, place
from ._jobs import blocking, future, outcome, over_async
from ._program import Bound, Builder, _array
from ._secret import Secret, as_secret
from ._trace import Trace, converted
from ._types import DType, ThreadsLike, as_dtype


class Kept:
    """A value that a stage keeps for later ones of the same run, as shares: nobody learns it."""

    __slots__ = ("_native",)

    def __init__(self, native: Any) -> None:
        self._native = native

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes."""
        return tuple(self._native.shape)

    @property
    def dtype(self) -> DType:
        """Type of the elements."""
        return as_dtype(self._native.dtype)

    def __repr__(self) -> str:
        return f"Kept({self.dtype.name}{list(self.shape)})"


class _Numbers(dict[str, int]):
    """Lengths of the axes of stages, which have no names."""

    def __missing__(self, name: str) -> NoReturn:
        raise ProgramError(f"{name!r} is no length: in stages, shapes are numbers, such as a parameter of the function", *place())


class Stage(Builder):
    """A program of a run of stages while it is recorded: :meth:`Stages.program` gives it."""

    def __init__(self, stages: Stages, trace: Trace) -> None:
        super().__init__(trace, _Numbers())
        self._stages = stages

    def keep(self, value: Any) -> Kept:
        """Keeps a value for later stages, as shares: there :meth:`kept` gives it.

        What is to be compared later is best kept as it comes of a comparison or another operation on bits; an input that nothing is
        computed of is shared as the mix has arithmetic.
        """
        return Kept(self._trace.call("keep", as_secret(self._trace, value)._tensor))

    def kept(self, value: Kept) -> Secret:
        """A value that an earlier stage of the same run has kept."""
        return Secret(self._trace, self._trace.call("kept", value._native))


class Stages:
    """One party's run of stages, or its meaning in the clear: what the decorated function gets as its first argument.

    What is done next must follow from what all parties know: the function's arguments, and what stages have opened. Parties that go
    on differently all the same learn in what they differ, before anything is computed.
    """

    def __init__(
        self,
        maker: Any,
        run: Any,
        *,
        name: str,
        me: int | None,
        parties: int,
        protocol: str | None,
        inputs: Mapping[str, Any],
        brings: Callable[[str], bool],
        stop: Callable[[], None],
    ) -> None:
        self._maker, self._run, self._name, self._protocol = maker, run, name, protocol
        self._inputs, self._brings, self._stop = inputs, brings, stop
        self._me, self._parties, self._ended, self._over = me, parties, 0, False
        #: Whether a stage was asked for, of which other parties may have heard.
        self._began = False
        self._used: set[str] = set()
        #: Whether something was opened to some of the parties alone, of which results may differ.
        self._private = False

    @property
    def me(self) -> int | None:
        """Number of this party; None where the stages are simulated. What is done next must not depend on it."""
        return self._me

    @property
    def parties(self) -> int:
        """Number of parties that compute."""
        return self._parties

    @property
    def ended(self) -> int:
        """Number of stages that have ended."""
        return self._ended

    def program(self) -> Stage:
        """Begins the program of a stage."""
        trace = Trace(self._parties, self._protocol, maker=self._maker)
        return Stage(self, trace)

    async def run(self, program: Stage, **inputs: Any) -> dict[str, Any]:
        """Runs a program as the next stage; gives what it opened, by name, which is opened to all parties.

        Inputs that are not given here are those that the run was started with, by name.

        Raises:
            ProgramError: an operation that cannot be, with its line; a value that is opened to some of the parties alone.
            RunError: something went wrong between the parties, which ends the run.
        """
        return await self._stage(program, inputs, False)

    async def last(self, program: Stage, **inputs: Any) -> dict[str, Any]:
        """Runs a program as the last stage: it may open values to some of the parties alone, since nothing comes after it that
        they could decide. Gives those that this party learns."""
        return await self._stage(program, inputs, True)

    async def _stage(self, program: Stage, inputs: Mapping[str, Any], last: bool) -> dict[str, Any]:
        if self._over:
            raise RuntimeError(f"the last stage of {self._name} has run: nothing comes after it")
        if program._stages is not self:
            raise ValueError(f"the program is none of these stages of {self._name}: begin it with .program() of the same object")
        with converted():
            native = program._trace.recorder.finish()
        asked = [port[0] for port in native.inputs]
        given = {name: self._inputs[name] for name in asked if name in self._inputs}
        self._used.update(given)
        given.update(inputs)
        of = Bound(native, f"stage {self._ended} of {self._name}")._given(given, self._brings)
        parties = {f"party {party}" for party in range(self._parties)}
        self._private |= any(0 < len(parties & set(to)) < len(parties) for _, to, _, _ in native.outputs)
        self._began, self._over = True, last
        job, done = future()
        self._run.stage(native, of, last, done)
        outputs = await outcome(job, self._stop)
        self._ended += 1
        return {name: _array(parts) for name, parts in outputs}


class StagedResult:
    """What a function of stages returned, and what its stages cost.

    Attributes:
        values: What the function returned at each party of this process.
        stats: Statistics of the run, and of each stage in ``stats["stages"]``, as the command line's ``--json`` has them.
    """

    def __init__(self, values: Sequence[Any], stats: dict[str, Any]) -> None:
        self.values, self.stats = list(values), stats

    @property
    def value(self) -> Any:
        """What the function returned at the first party of this process."""
        return self.values[0]

    def __repr__(self) -> str:
        return f"StagedResult({self.value!r}, {len(self.stats['stages'])} stages)"


class Staged:
    """An asynchronous function of stages, as :func:`stages` makes it."""

    name: str

    def __init__(self, function: Callable[..., Awaitable[Any]], parties: int, protocol: str | None, name: str) -> None:
        if not inspect.iscoroutinefunction(function):
            raise TypeError(f"{name} must be an `async def` function: it awaits its stages")
        self._function, self._parties, self._protocol, self.name = function, parties, protocol, name
        functools.update_wrapper(self, function)
        signature = inspect.signature(function)
        first, *others = signature.parameters.values() if signature.parameters else [None]
        kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        strange = [one.name for one in others if one is not None and one.kind not in kinds]
        taken = [one.name for one in others if one is not None and one.name in ("protocol", "threads", "network")]
        if first is None or strange or taken:
            what = f"not {', '.join(strange + taken)}" if first is not None else "but it has none"
            raise TypeError(f"{name} takes the stages and then parameters by name, {what}")
        self._own = {one.name: one for one in others if one is not None}

    def _split(self, values: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """The function's own arguments, and inputs."""
        own = {name: value for name, value in values.items() if name in self._own}
        missing = [name for name, one in self._own.items() if name not in own and one.default is inspect.Parameter.empty]
        if missing:
            raise TypeError(f"{self.name} needs {', '.join(f'{name}=...' for name in missing)}")
        return own, {name: value for name, value in values.items() if name not in own}

    def _stages(
        self,
        maker: Any,
        run: Any,
        me: int | None,
        inputs: Mapping[str, Any],
        brings: Callable[[str], bool],
        stop: Callable[[], None],
    ) -> Stages:
        return Stages(
            maker, run, name=self.name, me=me, parties=self._parties, protocol=self._protocol, inputs=inputs, brings=brings, stop=stop
        )

    def _check_used(self, inputs: Iterable[str], stages: Sequence[Stages]) -> None:
        used = set[str]().union(*(one._used for one in stages))
        for name in inputs:
            if name not in used:
                warnings.warn(f"no stage of {self.name} has asked for an input {name!r}", stacklevel=2)

    async def _follow(self, stages: Stages, own: Mapping[str, Any]) -> Any:
        try:
            return await self._function(stages, **own)
        finally:
            stages._run.end()

    async def simulate_async(self, **values: Any) -> Any:
        """Computes in the clear what the stages mean, beside other tasks of an event loop."""
        own, inputs = self._split(values)
        maker = _native.Maker(self._parties)
        stages = self._stages(maker, maker.simulate(), None, inputs, lambda owner: True, lambda: None)
        value = await self._follow(stages, own)
        self._check_used(inputs, [stages])
        return value

    def simulate(self, **values: Any) -> Any:
        """Computes in the clear what the stages mean, from all inputs; gives what the function returns."""
        return blocking(lambda: self.simulate_async(**values))

    def run_local(
        self, *, protocol: str | None = None, threads: ThreadsLike = "auto", network: str | None = None, **values: Any
    ) -> StagedResult:
        """Runs the stages as all of their parties in this process, by the real protocols.

        The function runs once for each party, side by side in one event loop; what it returns must be the same at all of them,
        unless the last stage opens values to some alone.

        Args:
            protocol: Mix of sharings of all stages, as ``"A+B"`` or ``"R"``; the decorator's where none is given.
            threads: Threads that each party computes with; ``"auto"`` is as many as this machine has cores for, which the parties
                share.
            network: Network between the parties, as ``"wan"`` or ``"20ms,100Mbps"``.
            values: The function's arguments, and the values of all inputs by their names.
        """
        return blocking(lambda: self.run_local_async(protocol=protocol, threads=threads, network=network, **values))

    async def run_local_async(
        self, *, protocol: str | None = None, threads: ThreadsLike = "auto", network: str | None = None, **values: Any
    ) -> StagedResult:
        """Runs the stages as :meth:`run_local` does, beside other tasks of an event loop. Cancelling the task ends the run."""
        own, inputs = self._split(values)
        words = ["--local", str(self._parties), "--json", "-q", "--threads", str(threads)]
        words += ["--mix", protocol] if protocol else []
        words += ["--network", network] if network else []
        session = _session(words)
        dealing = secrets.randbits(64)
        runs, parties = [], []
        for me in range(self._parties):
            maker = _native.Maker(self._parties)
            runs.append(session.stages(me, self.name, words, maker, dealing))
            # What clients bring is cut up here, at each party in the same way.
            brings = lambda owner, me=me: owner == f"party {me}" or not owner.startswith("party ")  # noqa: E731
            parties.append(self._stages(maker, runs[me], me, inputs, brings, session.stop))
        try:
            returned = await _all([self._follow(one, own) for one in parties], session)
            stats = json.loads(_native.StageRun.report(self.name, words, runs))
        finally:
            session.close()
            await over_async(session)
        if not any(one._private for one in parties):
            self._check_agree(returned)
        self._check_used(inputs, parties)
        return StagedResult(returned, stats)

    def _check_agree(self, returned: Sequence[Any]) -> None:
        for party, value in enumerate(returned):
            if not _same(returned[0], value):
                raise RunError(
                    f"{self.name} returned {returned[0]!r} at party 0 and {value!r} at party {party}: what it returns must follow from"
                    " what all parties know, its arguments and opened values",
                    1,
                )

    async def _run_party(self, session: Any, words: list[str], me: int, values: Mapping[str, Any]) -> StagedResult:
        """Runs the stages as one party of a session that is there."""
        own, inputs = self._split(values)
        maker = _native.Maker(self._parties)
        run = session.stages(0, self.name, words, maker, 0)
        stages = self._stages(maker, run, me, inputs, lambda owner: owner == f"party {me}", session.stop)
        try:
            value = await self._follow(stages, own)
        except BaseException:
            if stages._began:
                session.stop()  # The others cannot know at which stage this party has given up.
            raise
        self._check_used(inputs, [stages])
        return StagedResult([value], json.loads(_native.StageRun.report(self.name, words, [run])))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(f"{self.name} is a function of stages: call {self.name}.simulate or .run_local, or run it as one party")

    def __repr__(self) -> str:
        return f"<stages {self.name} of {self._parties} parties>"


def _session(words: list[str]) -> Any:
    try:
        return _native.Session(words)
    except _native.RunError as error:
        raise RunError(*error.args) from None


async def _all(parties: Sequence[Awaitable[Any]], session: Any) -> list[Any]:
    """What all coroutines return. Where one fails the others end; of several failures the one is raised that explains the others."""
    import asyncio

    tasks = [asyncio.ensure_future(one) for one in parties]
    places = {task: me for me, task in enumerate(tasks)}
    failures: list[BaseException] = []
    pending = set(tasks)
    try:
        while pending:
            done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
            for task in sorted(done, key=places.__getitem__):
                # Parties that wait for it learn that it has left.
                session.leave(places[task])
                error = asyncio.CancelledError() if task.cancelled() else task.exception()
                if error is None:
                    continue
                failures.append(error)
                if not getattr(error, "echo", False):
                    session.stop()
                    for other in pending:
                        other.cancel()
                    pending = set()
                    break
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if failures or any(task.cancelled() for task in tasks):
            session.stop()
    if failures:
        raise next((one for one in failures if not getattr(one, "echo", False)), failures[0])
    return [task.result() for task in tasks]


def _same(one: Any, other: Any) -> bool:
    """Whether two parties returned the same, as far as objects can be compared."""
    if isinstance(one, (np.ndarray, np.generic)) or isinstance(other, (np.ndarray, np.generic)):
        one, other = np.asarray(one), np.asarray(other)
        return bool(one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind == "f"))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return list(one) == list(other) and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(_same, one, other))
    equal: Any = object.__eq__
    if type(one) is type(other) and type(one).__eq__ is equal:
        return True  # Such objects are equal to none but themselves.
    return bool(one == other or (one != one and other != other))


def stages(function: Callable[..., Any] | None = None, *, parties: int = 2, protocol: str | None = None, name: str | None = None) -> Any:
    """Makes stages of an asynchronous function: programs one after another, where plain Python looks at what one has opened.

    The function gets :class:`Stages`, and then its own parameters by name. Whatever else a run is given by name are inputs.

    Args:
        function: The function, where the decorator is used without arguments.
        parties: Number of parties that compute.
        protocol: Mix of sharings that the stages are run in unless a run says otherwise, as ``"A+B"``.
        name: Name of the stages; that of the function unless it is given.
    """

    def decorate(function: Callable[..., Any]) -> Staged:
        return Staged(function, parties, protocol, name or function.__name__)

    return decorate if function is None else decorate(function)
