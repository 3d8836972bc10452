"""Trained networks in ONNX files: computed on data that nobody shows, checked, compared, calibrated, explained."""

from __future__ import annotations

import io
import json
import os
from typing import Any, Iterable, Mapping, Sequence, Union

import numpy as np

from . import _native
from ._errors import RunError, UnmetError
from ._program import Client, Result
from ._progress import ProgressLike, listening, log_end, logger
from ._told import Calibration, Comparison, ModelExplanation, ModelInfo, WhoSaw
from ._types import DType, ThreadsLike

#: Data for a network: an array; a mapping from the inputs' names, or a tuple, where there are several; or the paths of files.
Data = Any
#: Numbers with a fixed point: ``"64.16"``, ``(64, 16)`` or ``mg.fixed(64, 16)``.
NumbersLike = Union[str, "tuple[int, int]", DType]
Path = Union[str, "os.PathLike[str]"]


class Inference(Result):
    """Results of a network by the names of its outputs, as arrays of NumPy, and statistics."""

    @property
    def result(self) -> Any:
        """The only result.

        Raises:
            ValueError: there are several, or none: this party learns none.
        """
        if len(self) != 1:
            names = ", ".join(self) or "none here"
            raise ValueError(f"the results are {names}: take one by its name")
        return next(iter(self.values()))

    def __repr__(self) -> str:
        return f"Inference({self._outputs!r})"


def _numbers(numbers: NumbersLike) -> str:
    if isinstance(numbers, DType):
        if not numbers.is_fixed:
            raise TypeError(f"a network's numbers have a fixed point, as mg.fixed(64, 16); {numbers!r} has none")
        return f"{numbers.bits}.{numbers.fraction}"
    if isinstance(numbers, tuple):
        bits, fraction = numbers
        return f"{int(bits)}.{int(fraction)}"
    return str(numbers)


def _to(to: int | str | Client | Iterable[int | Client]) -> str:
    if isinstance(to, str):
        return to
    if isinstance(to, (int, Client)):
        to = [to]
    return ",".join(one.name if isinstance(one, Client) else str(int(one)) for one in to)


def _words(**flags: Any) -> list[str]:
    """Flags of the command line: what is none is left out."""
    words: list[str] = []
    for name, value in flags.items():
        if value is None or value is False:
            continue
        flag = "--" + name.replace("_", "-")
        words += [flag] if value is True else [f"{flag}={value}"]
    return words


def _sizes(dims: Mapping[str, int] | None, shapes: Mapping[str, Sequence[int]] | None, memory: int | str | None) -> list[str]:
    words = [f"--dim={name}={int(size)}" for name, size in (dims or {}).items()]
    words += [f"--shape={name}={','.join(str(int(one)) for one in sizes)}" for name, sizes in (shapes or {}).items()]
    return words + _words(file_memory=memory)


def _array(value: Any) -> bytes:
    """An array as ``numpy.save`` writes it, which is how the command line takes data."""
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"a network takes arrays of numbers, not of {array.dtype}")
    file = io.BytesIO()
    np.save(file, np.ascontiguousarray(array).reshape(array.shape), allow_pickle=False)
    return file.getvalue()


def _is_path(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike))


class Model:
    """A network in a file, as :func:`load_model` makes it. The file is read again for each thing that is done with it.

    Attributes:
        path: The file.
        inputs: Axes of each input by its name: numbers, and names where the model leaves a size open; none where it tells none.
        opset: Version of ONNX's operators that the model uses.
        producer: Program that wrote the model.
    """

    def __init__(self, path: Path, memory: int | str | None = None) -> None:
        self.path, self._memory = os.fspath(path), memory
        self.name = os.path.basename(self.path)
        words = [*_sizes(None, None, memory), "--", self.path]
        opset, producer, inputs = _call(_native.model_ports, words)
        self.opset: int = opset
        self.producer: str = producer
        self.inputs: dict[str, tuple[int | str, ...] | None] = {
            name: None if axes is None else tuple(int(axis) if axis.isdigit() else axis for axis in axes) for name, axes in inputs
        }

    def __repr__(self) -> str:
        inputs = ", ".join(f"{name}{'' if axes is None else list(axes)}" for name, axes in self.inputs.items())
        return f"<model {self.name}: {inputs}>"

    def _given(self, x: Data) -> tuple[list[str], list[bytes] | None]:
        """Data as flags, or as arrays."""
        if isinstance(x, Mapping):
            strange = [name for name in x if name not in self.inputs]
            missing = [name for name in self.inputs if name not in x]
            if strange or missing:
                problem = f"no input {', '.join(map(repr, strange))}" if strange else f"no data for {', '.join(map(repr, missing))}"
                raise TypeError(f"{self.name} takes {', '.join(map(repr, self.inputs))}: there is {problem}")
            x = tuple(x[name] for name in self.inputs)
        if _is_path(x):
            x = (x,)
        if isinstance(x, (tuple, list)) and x and all(_is_path(one) for one in x):
            return [f"--input={os.fspath(one)}" for one in x], None
        return [], [_array(one) for one in (x if isinstance(x, tuple) else (x,))]

    def infer(
        self,
        x: Data,
        *,
        parties: int = 2,
        protocol: str | None = None,
        to: int | str | Client | Iterable[int | Client] = 1,
        numbers: NumbersLike | None = None,
        public_model: bool = False,
        check_range: bool = False,
        dishonest_majority: bool = False,
        dims: Mapping[str, int] | None = None,
        shapes: Mapping[str, Sequence[int]] | None = None,
        threads: ThreadsLike = "auto",
        network: str | None = None,
        transport: str | None = None,
        report: Path | None = None,
        progress: ProgressLike = None,
    ) -> Inference:
        """Computes the network as all parties in this process, by the real protocols: party 0 has the model, party 1 the data.

        Args:
            x: Data: an array whose first axis is the batch; a mapping by the inputs' names, or a tuple, where there are several; or
                paths of files (.npy, .csv, .png).
            parties: Number of parties.
            protocol: Mix of sharings, as ``"A+B"`` or ``"R"``; what is fastest by an estimate where none is given.
            to: Who gets the results: a party, several, or ``"all"``.
            numbers: How numbers are kept: those of the model's file, or else ``"64.16"``.
            public_model: All parties know the weights.
            check_range: Check whether a number left its range on the way; all learn that one bit.
            dishonest_majority: Choose only among mixes in which all parties but one may be corrupted.
            dims: Sizes of dimensions that the model gives a name.
            shapes: Shapes of inputs whose sizes the model leaves open.
            threads: Threads that each party computes with; ``"auto"`` is as many as this machine has cores for, which the parties
                share.
            network: Network between the parties, as ``"wan"`` or ``"20ms,100Mbps"``.
            transport: ``"tcp"``, ``"tls"`` or ``"memory"``.
            report: File for a page that tells of the run.
            progress: Whether progress is shown, or a function that is told of it; on terminals and in notebooks it is.

        Raises:
            RunError: a model or data that cannot be computed, with the status that the command line would have.
        """
        words = [f"--local={int(parties)}"] + _words(network=network, transport=transport)
        words += self._how(protocol, to, numbers, public_model, check_range, dishonest_majority, dims, shapes, threads, report)
        more, data = self._given(x)
        return self.run_words([*words, *more], data, progress, f"{parties} parties here")

    def _how(
        self,
        protocol: str | None,
        to: int | str | Client | Iterable[int | Client],
        numbers: NumbersLike | None,
        public_model: bool,
        check_range: bool,
        dishonest_majority: bool,
        dims: Mapping[str, int] | None,
        shapes: Mapping[str, Sequence[int]] | None,
        threads: ThreadsLike | None,
        report: Path | None,
    ) -> list[str]:
        words = _words(
            protocol=protocol,
            to=_to(to),
            numbers=None if numbers is None else _numbers(numbers),
            public_model=public_model,
            check_range=check_range,
            dishonest_majority=dishonest_majority,
            threads=threads,
            report=None if report is None else os.fspath(report),
        )
        return words + _sizes(dims, shapes, self._memory)

    def run_words(self, words: Sequence[str], data: Sequence[bytes] | None, progress: ProgressLike, what: str) -> Inference:
        """Computes the network by flags of the command line."""
        words = [f"--model={self.path}", "--json", *words]
        with listening(self.name, progress, what) as ear:
            return self.inference(_call(_native.infer, words, data, ear, ear.terminal))

    def inference(self, made: tuple[list[tuple[str, bytes]] | None, str, str]) -> Inference:
        """What a run gives, as the native module tells it."""
        results, stats, seen = made
        figures: dict[str, Any] = json.loads(stats)
        log_end(self.name, figures)
        arrays = {name: np.load(io.BytesIO(file), allow_pickle=False) for name, file in results or []}
        return Inference(arrays, figures, lambda: WhoSaw(seen))

    def _ask(
        self, what: str, words: Sequence[str], data: Sequence[bytes] | None = None, progress: ProgressLike = False
    ) -> tuple[str, Any]:
        words = [what, *words, *_sizes(None, None, self._memory), "--", self.path]
        with listening(self.name, progress, what) as ear:
            text, figures = _call(_native.model, words, data, ear, ear.terminal)
        return text, None if figures is None else json.loads(figures)

    def check(
        self,
        *,
        batch: int | None = None,
        numbers: NumbersLike | None = None,
        public_model: bool = False,
        dims: Mapping[str, int] | None = None,
        shapes: Mapping[str, Sequence[int]] | None = None,
    ) -> ModelInfo:
        """What the network consists of, once it is known that it can be computed on secrets.

        Raises:
            RunError: all that keeps it from being computed, node by node.
        """
        words = _words(batch=batch, numbers=None if numbers is None else _numbers(numbers), public_model=public_model)
        return ModelInfo(*self._ask("check", [*words, *_sizes(dims, shapes, None)]))

    def explain(
        self,
        *,
        parties: int = 2,
        protocol: str | None = None,
        network: str | None = None,
        batch: int = 1,
        to: int | str | Client | Iterable[int | Client] = 1,
        numbers: NumbersLike | None = None,
        public_model: bool = False,
        check_range: bool = False,
        dishonest_majority: bool = False,
        dims: Mapping[str, int] | None = None,
        shapes: Mapping[str, Sequence[int]] | None = None,
        threads: ThreadsLike = "auto",
    ) -> ModelExplanation:
        """What the network costs on secrets before it runs: in one mix of protocols layer by layer, or in all that are usual."""
        words = _words(parties=int(parties), network=network, batch=int(batch))
        words += self._how(protocol, to, numbers, public_model, check_range, dishonest_majority, dims, shapes, threads, None)
        # Memory is told with the file.
        words = [word for word in words if not word.startswith("--file-memory")]
        return ModelExplanation(*self._ask("explain", words))

    def compare(
        self,
        x: Data,
        *,
        numbers: NumbersLike | None = None,
        dims: Mapping[str, int] | None = None,
        shapes: Mapping[str, Sequence[int]] | None = None,
        plot: Path | None = None,
        progress: ProgressLike = None,
    ) -> Comparison:
        """How far the network with a fixed point is from the network in the clear on sample data, layer by layer.

        Args:
            x: Sample data, as for :meth:`infer`.
            numbers: How numbers are kept.
            dims: Sizes of dimensions that the model gives a name.
            shapes: Shapes of inputs whose sizes the model leaves open.
            plot: File (.svg) for a drawing of the largest error of each layer.
            progress: As for :meth:`infer`.
        """
        more, data = self._given(x)
        words = _words(numbers=None if numbers is None else _numbers(numbers), plot=None if plot is None else os.fspath(plot))
        made = Comparison(*self._ask("compare", [*words, *more, *_sizes(dims, shapes, None)], data, progress))
        for operation in made.overflows:
            logger.warning("%s: a number left its range in %s", self.name, operation)
        return made

    def calibrate(
        self,
        x: Data,
        *,
        spare: int = 4,
        error: float = 0.01,
        output: Path | None = None,
        dims: Mapping[str, int] | None = None,
        shapes: Mapping[str, Sequence[int]] | None = None,
        progress: ProgressLike = None,
    ) -> Calibration:
        """Which numbers with a fixed point suffice for sample data.

        Args:
            x: Sample data, as for :meth:`infer`.
            spare: Bits by which numbers may be greater than in the sample before they leave the range.
            error: How far a result may be from that in the clear, as a part of its output's greatest magnitude.
            output: File for the model with the numbers that are chosen, which :func:`infer` takes then.
            dims: Sizes of dimensions that the model gives a name.
            shapes: Shapes of inputs whose sizes the model leaves open.
            progress: As for :meth:`infer`.
        """
        more, data = self._given(x)
        words = _words(spare=int(spare), error=float(error), output=None if output is None else os.fspath(output))
        return Calibration(*self._ask("calibrate", [*words, *more, *_sizes(dims, shapes, None)], data, progress))

    def strip(self, output: Path, *, batch: int | None = None, dims: Mapping[str, int] | None = None) -> str:
        """Writes the model without its weights, for parties that are to know its architecture alone; tells what stays readable."""
        words = _words(batch=batch, output=os.fspath(output)) + _sizes(dims, None, None)
        return self._ask("strip", words)[0]


def _call(function: Any, words: Sequence[str], *more: Any) -> Any:
    try:
        return function(list(words), *more)
    except _native.RunError as error:
        text, status = error.args
        raise (UnmetError if status == 6 else RunError)(text, status) from None


def load_model(path: Path, *, memory: int | str | None = None) -> Model:
    """Reads a network from an ONNX file.

    Args:
        path: The file.
        memory: Memory that the model may take beside 50 bytes for each byte of its files, as ``"1GiB"``; 256 MiB where none is given.

    Raises:
        RunError: a file that is no model.
    """
    return Model(path, memory)


def infer(model: Model | Path, x: Data, **how: Any) -> Inference:
    """Computes a network as all parties in this process: :meth:`Model.infer` of a model or of its file."""
    return (model if isinstance(model, Model) else load_model(model)).infer(x, **how)


def words_of_party(
    model: Model,
    data: Data | None,
    *,
    batch: int | None = None,
    protocol: str | None = None,
    to: int | str | Client | Iterable[int | Client] = 1,
    numbers: NumbersLike | None = None,
    public_model: bool = False,
    check_range: bool = False,
    dishonest_majority: bool = False,
    dims: Mapping[str, int] | None = None,
    shapes: Mapping[str, Sequence[int]] | None = None,
    report: Path | None = None,
) -> tuple[list[str], list[bytes] | None]:
    """Flags and data of one party."""
    if data is None and batch is None and not dims and not shapes:
        raise TypeError(f"{model.name}: without data it is not known how many inputs are computed at once; give batch=...")
    words = [f"--model={model.path}", *_words(batch=batch)]
    words += model._how(protocol, to, numbers, public_model, check_range, dishonest_majority, dims, shapes, None, report)
    more, arrays = model._given(data) if data is not None else ([], None)
    return [*words, *more], arrays
