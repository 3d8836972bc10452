"""Programs: recorded from a function, simulated, explained, run and saved."""

from __future__ import annotations

import functools
import json
import os
from typing import Any, Callable, Iterable, Mapping, Sequence, Union

import numpy as np

from . import _native
from . import _told
from ._errors import ProgramError, RunError, UnmetError, place
from ._progress import ProgressLike, listening, log_end, logger
from ._secret import Secret, as_secret, constant
from ._told import Explanation, WhoSaw
from ._trace import Trace, converted
from ._types import DType, DTypeLike, ThreadsLike, as_dtype, fill, from_bytes


class Client:
    """Somebody who brings values or gets some, and computes nothing, by its name."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"client({self.name!r})"


#: Lengths that programs are recorded for to find how all numbers follow from them.
_PRIMES = [7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97]


def client(name: str) -> Client:
    """A client: somebody who brings values or gets some, and computes nothing."""
    return Client(name)


Holder = Union[int, Client]
Length = Union[int, str]


def _who(holder: Holder) -> int | str:
    return holder.name if isinstance(holder, Client) else int(holder)


class Builder:
    """A program while it is recorded: what the decorated function gets as its first argument."""

    def __init__(self, trace: Trace, lengths: Mapping[str, int]) -> None:
        self._trace, self._lengths = trace, lengths

    @property
    def parties(self) -> int:
        """Number of parties that compute."""
        return self._trace.parties

    def input(self, name: str, owner: Holder, shape: Sequence[Length] | Length = (), dtype: DTypeLike = float) -> Secret:
        """A secret that a party, or a client, brings along.

        Args:
            name: Name by which values are given.
            owner: Number of the party, or :func:`client`.
            shape: Lengths of the axes; a name is a dimension, whose length is that of the value that is given.
            dtype: Type of the elements: :func:`fixed`, ``bool``, a type of NumPy's integers.
        """
        axes = (shape,) if isinstance(shape, (int, str)) else tuple(shape)
        lengths = [self._lengths[one] if isinstance(one, str) else int(one) for one in axes]
        return Secret(self._trace, self._trace.call("input", name, _who(owner), as_dtype(dtype).name, lengths))

    def noise(
        self,
        epsilon: float,
        delta: float = 1e-9,
        each: int = 1,
        shape: Sequence[Length] | Length = (),
        dtype: DTypeLike = np.int64,
    ) -> Secret:
        """Discrete Laplace noise that nobody knows, which the parties draw together: a count to which it is added, and that is then
        revealed, is differentially private. It is done in protocols R and A+B, or B.

        Args:
            epsilon: Bound of what the sum tells: two counts that differ by ``each`` give any sum with chances that differ by a factor of
                ``exp(epsilon)`` at most.
            delta: Chance with which that does not hold; of several elements the sum of theirs counts.
            each: The most by which one person changes the count; of several counts, all of them together.
            shape: Lengths of the axes, as of an input.
            dtype: Type of the elements: integers with a sign.
        """
        axes = (shape,) if isinstance(shape, (int, str)) else tuple(shape)
        lengths = [self._lengths[one] if isinstance(one, str) else int(one) for one in axes]
        return Secret(self._trace, self._trace.call("noise", as_dtype(dtype).name, lengths, epsilon, delta, each))

    def constant(self, value: Any, dtype: DTypeLike | None = None) -> Secret:
        """A public array as a value of the program."""
        if dtype is None:
            return as_secret(self._trace, value)
        return constant(self._trace, value, as_dtype(dtype))

    def reveal(self, name: str, value: Any, to: Holder | Iterable[Holder] | None = None) -> None:
        """Opens a value under a name: to all parties, to one, or to some, clients among them."""
        secret = as_secret(self._trace, value)
        if to is None:
            everyone: list[int | str] = list(range(self.parties))
        else:
            everyone = [_who(one) for one in ([to] if isinstance(to, (int, Client)) else to)]
        self._trace.call("open", name, secret._tensor, everyone)

    def require(self, condition: Secret, name: str | None = None) -> None:
        """Requires that a condition holds in all of its elements: else nothing is opened, and the run ends with
        :class:`UnmetError`, which names the requirement and the inputs that it depends on. All learn whether it holds."""
        self._trace.call("require", name, condition._tensor)


class Result(Mapping[str, Any]):
    """Outputs of a run by name, as arrays of NumPy, and its statistics."""

    def __init__(self, outputs: dict[str, Any], stats: dict[str, Any], seen: Callable[[], WhoSaw] | None = None) -> None:
        self._outputs, self.stats, self._seen = outputs, stats, seen

    @property
    def who_saw(self) -> WhoSaw:
        """Who saw what: inputs, outputs, and what all learned."""
        if self._seen is None:
            raise AttributeError("of this run it is not told who saw what")
        return self._seen()

    def _repr_html_(self) -> str:
        return _told.result(self._outputs, self.stats)

    def __getitem__(self, name: str) -> Any:
        return self._outputs[name]

    def __iter__(self) -> Any:
        return iter(self._outputs)

    def __len__(self) -> int:
        return len(self._outputs)

    def __repr__(self) -> str:
        return f"Result({self._outputs!r})"


def _array(parts: tuple[str, list[int], bytearray]) -> Any:
    dtype, shape, data = parts
    array = from_bytes(data, as_dtype(dtype), tuple(shape))
    return array if array.ndim else array[()]


def everyone(owner: str) -> bool:
    """All owners of inputs: who brings everything that a program asks for."""
    return True


class Bound:
    """A program whose lengths are all known."""

    #: Steps of a query, with the rows that each gives.
    _steps: Sequence[tuple[str, int]] = ()

    def __init__(self, native: Any, name: str, lengths: Sequence[tuple[str, int]] = ()) -> None:
        self._native, self.name, self._lengths = native, name, list(lengths)

    @property
    def digest(self) -> str:
        """Digest of what the program means, which parties compare."""
        return str(self._native.digest)

    def _given(self, values: Mapping[str, Any], brings: Callable[[str], bool]) -> list[tuple[str, _native.Values]]:
        """Inputs as the native module takes them; those of whom ``brings`` says so must be there."""
        given = []
        known = {port[0]: port for port in self._native.inputs}
        for name in values:
            if name not in known:
                raise TypeError(f"{self.name} has no input {name!r}; it has {', '.join(known)}")
        for name, (_, owner, dtype, shape) in known.items():
            if name not in values:
                if brings(owner):
                    raise TypeError(f"{self.name} needs {name}=...: {dtype}{shape} of {owner}")
                continue
            found = list(np.shape(values[name]))
            if found != shape:
                raise ValueError(f"{name} has shape {found}; {self.name} takes {dtype}{shape}")
            try:
                elements = _native.Values(dtype, shape)
                fill(elements, values[name], as_dtype(dtype))
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from None
            given.append((name, elements))
        return given

    def _perform(
        self, what: str, words: Sequence[str], given: Any, progress: ProgressLike = False, told: str | None = None
    ) -> tuple[list[Any], str]:
        with listening(self.name, progress, told or what) as ear:
            try:
                done: tuple[list[Any], str] = self._native.perform(
                    what, self.name, list(words), given, ear, ear.terminal, list(self._steps)
                )
                return done
            except _native.RunError as error:
                text, status = error.args
                raise (UnmetError if status == 6 else RunError)(text, status) from None

    def _run(self, words: Sequence[str], given: Any, progress: ProgressLike, who: str) -> Result:
        told = f"run by {who}, digest {self.digest[:16]}"
        return self._result(self._perform("run", words, given, progress, told), True)

    def _result(self, done: tuple[list[Any], str], local: bool) -> Result:
        """What a run gives, as the native module tells it."""
        outputs, figures = done
        stats: dict[str, Any] = json.loads(figures)
        log_end(self.name, stats)
        seen = functools.partial(self._saw, stats.get("mix"), stats.get("transport"), local)
        return Result({name: _array(parts) for name, parts in outputs}, stats, seen)

    def _saw(self, protocol: str | None, transport: str | None, local: bool, lengths: bool = True) -> WhoSaw:
        return WhoSaw(self._native.seen(protocol, transport, local, lengths))

    def who_sees(self, *, protocol: str | None = None) -> WhoSaw:
        """Who will see what: who brings which input, who learns which output, and what all learn."""
        return self._saw(protocol, None, False)

    def simulate(self, **inputs: Any) -> dict[str, Any]:
        """Computes in the clear what the program means, from all inputs."""
        given = self._given(inputs, everyone)
        try:
            outputs, overflows = self._native.simulate(given)
        except _native.RunError as error:
            text, status = error.args
            raise (UnmetError if status == 6 else RunError)(text, status) from None
        for overflow in overflows:
            logger.warning("%s: %s", self.name, overflow)
        names = [port[0] for port in self._native.outputs]
        return {name: _array(parts) for name, parts in zip(names, outputs)}

    def run_local(
        self,
        *,
        protocol: str | None = None,
        threads: ThreadsLike = "auto",
        network: str | None = None,
        progress: ProgressLike = None,
        **inputs: Any,
    ) -> Result:
        """Runs the program as all of its parties in this process, by the real protocols."""
        words = ["--local", str(self._native.parties), "--json", "--threads", str(threads)]
        words += ["--mix", protocol] if protocol else []
        words += ["--network", network] if network else []
        return self._run(words, self._given(inputs, everyone), progress, f"{self._native.parties} parties here")

    def explain(
        self, *, network: str | None = None, protocol: str | None = None, threads: ThreadsLike = "auto"
    ) -> Explanation:
        """What the program costs, operation by operation, before it runs: for parties of so many threads each, ``"auto"`` for as
        many as a machine like this one has cores."""
        words = (["--network", network] if network else []) + (["--mix", protocol] if protocol else [])
        words += ["--threads", str(threads)]
        text = self._perform("explain", words, None)[1]
        figures = json.loads(self._perform("explain", [*words, "--json"], None)[1])
        return Explanation(text, figures)

    def check(self, *, protocol: str | None = None, progress: ProgressLike = None) -> str:
        """Runs all parties here in every mix of protocols with random inputs, and compares them with the meaning in the clear."""
        words = ["--mix", protocol] if protocol else []
        return self._perform("check", words, None, progress)[1]

    def to_bytes(self) -> bytes:
        """The program as a file has it."""
        return bytes(self._native.to_bytes())


class Runnable:
    """A program whose dimensions get their lengths from the arrays that it is run on."""

    name: str
    dimensions: tuple[str, ...]
    _inputs: dict[str, tuple[Length, ...]]

    def bind(self, **lengths: int) -> Bound:
        """The program with these lengths for its dimensions."""
        missing = [name for name in self.dimensions if name not in lengths]
        strange = [name for name in lengths if name not in self.dimensions]
        if missing or strange:
            known = f"the dimensions {', '.join(self.dimensions)}" if self.dimensions else "no dimensions"
            problem = f"no length for {', '.join(missing)}" if missing else f"a length for {', '.join(strange)}"
            raise TypeError(f"{self.name} has {known}: there is {problem}")
        return self._bind({name: int(length) for name, length in lengths.items()})

    def _bind(self, lengths: dict[str, int]) -> Bound:
        raise NotImplementedError

    def _bound(self, inputs: Mapping[str, Any], lengths: Mapping[str, int]) -> Bound:
        """Binds by the shapes of inputs, and by lengths that are given."""
        found = dict(lengths)
        for name, value in inputs.items():
            axes = self._inputs.get(name)
            if axes is None:
                raise TypeError(f"{self.name} has no input {name!r}; it has {', '.join(self._inputs)}")
            shape = np.shape(value)
            if len(shape) != len(axes):
                raise ValueError(f"{name} has shape {shape}; {self.name} takes {axes}")
            for axis, length in zip(axes, shape):
                if isinstance(axis, str) and found.setdefault(axis, length) != length:
                    raise ValueError(f"{name} has shape {shape}; {self.name} takes {axes}, and {axis} is {found[axis]} elsewhere")
        return self.bind(**found)

    def _split(self, values: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, int]]:
        lengths = {name: int(value) for name, value in values.items() if name in self.dimensions and name not in self._inputs}
        return {name: value for name, value in values.items() if name not in lengths}, lengths

    def simulate(self, **inputs: Any) -> dict[str, Any]:
        """Computes in the clear what the program means, from all inputs."""
        values, lengths = self._split(inputs)
        return self._bound(values, lengths).simulate(**values)

    def run_local(
        self,
        *,
        protocol: str | None = None,
        threads: ThreadsLike = "auto",
        network: str | None = None,
        progress: ProgressLike = None,
        **inputs: Any,
    ) -> Result:
        """Runs the program as all of its parties in this process, by the real protocols.

        Args:
            protocol: Mix of sharings, as ``"A+B"`` or ``"R"``; the program's own where none is given.
            threads: Threads that each party computes with; ``"auto"`` is as many as this machine has cores for, which the parties
                share.
            network: Network between the parties, as ``"wan"`` or ``"20ms,100Mbps"``.
            progress: Whether progress is shown, or a function that is told of it as :class:`Progress`; on terminals and in notebooks
                it is shown.
            inputs: Values of all inputs, and lengths of dimensions that no input has.
        """
        values, lengths = self._split(inputs)
        bound = self._bound(values, lengths)
        return bound.run_local(protocol=protocol, threads=threads, network=network, progress=progress, **values)

    def explain(
        self, *, network: str | None = None, protocol: str | None = None, threads: ThreadsLike = "auto", **lengths: int
    ) -> Explanation:
        """What the program costs, operation by operation, for these lengths of its dimensions; ``threads`` are as for
        :meth:`Bound.explain`."""
        return self.bind(**lengths).explain(network=network, protocol=protocol, threads=threads)

    def check(self, *, protocol: str | None = None, progress: ProgressLike = None, **lengths: int) -> str:
        """Runs all parties here in every mix of protocols with random inputs, and compares them with the meaning in the clear."""
        return self.bind(**lengths).check(protocol=protocol, progress=progress)

    def who_sees(self, *, protocol: str | None = None, **lengths: int) -> WhoSaw:
        """Who will see what: who brings which input, who learns which output and whether requirements are met, and what all learn.

        It does not depend on lengths: where some are not given, the table has no types.
        """
        some = {name: _PRIMES[at % len(_PRIMES)] for at, name in enumerate(self.dimensions)}
        bound = self.bind(**{**some, **lengths})
        return bound._saw(protocol, None, False, all(name in lengths for name in self.dimensions))


class Program(Runnable):
    """A function that records a program, as :func:`program` makes it."""

    def __init__(self, function: Callable[..., Any], parties: int, protocol: str | None, name: str) -> None:
        self._function, self._parties, self._protocol, self.name = function, parties, protocol, name
        self._known: dict[tuple[tuple[str, int], ...], Bound] = {}
        functools.update_wrapper(self, function)
        self._inputs = self._ask()

    def _ask(self) -> dict[str, tuple[Length, ...]]:
        """The shapes of the inputs as the function names them, with some lengths for dimensions."""
        asked: dict[str, tuple[Length, ...]] = {}

        class Asking(dict[str, int]):
            def __missing__(self, name: str) -> int:
                # Different lengths, so that what does not fit is noticed.
                self[name] = (7, 11, 13, 17, 19, 23)[len(self) % 6] + 20 * (len(self) // 6)
                return self[name]

        class Probe(Builder):
            def input(self, name: str, owner: Holder, shape: Sequence[Length] | Length = (), dtype: DTypeLike = float) -> Secret:
                asked[name] = (shape,) if isinstance(shape, (int, str)) else tuple(shape)
                return super().input(name, owner, shape, dtype)

        lengths = Asking()
        self._function(Probe(Trace(self._parties, self._protocol), lengths))
        self.dimensions = tuple(lengths)
        return asked

    def _bind(self, lengths: dict[str, int]) -> Bound:
        key = tuple(sorted(lengths.items()))
        if key not in self._known:
            trace = Trace(self._parties, self._protocol, bool(self.dimensions))
            self._function(Builder(trace, lengths))
            with converted():
                self._known[key] = Bound(trace.recorder.finish(), self.name, key)
        return self._known[key]

    def save(self, path: str | os.PathLike[str], **lengths: int) -> None:
        """Writes the program to a file, which :func:`load` and the command line take.

        The file is for any lengths of the dimensions, unless they are given. What is computed must not depend on them in another
        way than through the arrays' shapes: a function that decides by ``len(x)`` what it does is saved with lengths.
        """
        data = self.bind(**lengths).to_bytes() if lengths or not self.dimensions else self._general().to_bytes()
        with open(path, "wb") as file:
            file.write(data)

    def _general(self) -> Any:
        """The program for any lengths, found from some."""
        names = list(self.dimensions)
        samples = []
        for at in range(_native.ProgramFile.choices(len(names))):
            lengths = [_PRIMES[(at + (3 * at + 7) * place) % len(_PRIMES)] for place in range(len(names))]
            trace = Trace(self._parties, self._protocol, True)
            self._function(Builder(trace, dict(zip(names, lengths))))
            with converted():
                samples.append((lengths, trace.recorder.finish()))
        try:
            return _native.ProgramFile.general(names, samples)
        except ValueError as error:
            asked = ", ".join(f"{name}=..." for name in names)
            raise ValueError(f"{self.name}: {error}, as in {self.name}.save(path, {asked})") from None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(f"{self.name} is a program: call {self.name}.simulate, .run_local, .explain or .save")

    def __repr__(self) -> str:
        shapes = ", ".join(f"{name}{list(axes)}" for name, axes in self._inputs.items())
        return f"<program {self.name} of {self._parties} parties: {shapes}>"




class Loaded(Runnable):
    """A program from a file."""

    def __init__(self, file: Any, name: str) -> None:
        self._file, self.name = file, name
        self.dimensions = tuple(file.dimensions)
        self._inputs = {
            port: tuple(int(axis) if axis.isdigit() else axis for axis in axes) for port, _, axes in file.inputs
        }

    def _bind(self, lengths: dict[str, int]) -> Bound:
        try:
            return Bound(self._file.bind(list(lengths.items())), self.name, sorted(lengths.items()))
        except ValueError as error:
            raise ValueError(f"{self.name}: {error}") from None

    def __repr__(self) -> str:
        return f"<program {self.name} from a file>"


def program(function: Callable[..., Any] | None = None, *, parties: int = 2, protocol: str | None = None, name: str | None = None) -> Any:
    """Makes a program of a function that records it.

    The function gets a :class:`Builder` and says what the program takes, computes and reveals. It is called when the program
    is made, and again for each new set of lengths; it must do the same each time.

    Args:
        function: The function, where the decorator is used without arguments.
        parties: Number of parties that compute.
        protocol: Mix of sharings that the program is run in unless a run says otherwise, as ``"A+B"``.
        name: Name of the program; that of the function unless it is given.
    """

    def decorate(function: Callable[..., Any]) -> Program:
        return Program(function, parties, protocol, name or function.__name__)

    return decorate if function is None else decorate(function)


def load(path: str | os.PathLike[str]) -> Loaded:
    """Reads a program from a file."""
    with open(path, "rb") as file:
        read = _native.ProgramFile(file.read())
    name = os.path.splitext(os.path.basename(os.fspath(path)))[0]
    return Loaded(read, name)
