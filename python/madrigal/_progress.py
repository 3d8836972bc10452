"""What happens while parties compute: progress for people, messages for logs."""

from __future__ import annotations

import html
import logging
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Callable, Iterator, Mapping, Union

from ._errors import RunError
from ._html import count, plain, seconds, size

logger = logging.getLogger("madrigal")

#: Seconds between two lines of progress where neither a terminal nor a notebook shows it.
_LINES = 1.0


@dataclass(frozen=True)
class Progress:
    """How far a computation is, of the party that is furthest behind.

    Attributes:
        phase: ``setup``, whose units are correlations, ``online``, whose units are operations, or a name of what is being done.
        done: Units that are done.
        total: Units in all; 0 where that is not known.
    """

    phase: str
    done: int
    total: int

    @property
    def fraction(self) -> float:
        """Part that is done, from 0 to 1."""
        return min(self.done / self.total, 1.0) if self.total else 0.0


#: ``True`` shows progress, ``False`` does not, ``None`` does on a terminal and in a notebook; a function is called with
#: :class:`Progress`, some ten times a second at most, by the thread that waits. What it raises ends the computation.
ProgressLike = Union[bool, None, Callable[[Progress], object]]


def _notebook() -> Any:
    """IPython's display module if this is a notebook; IPython is not loaded for that."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    if shell is None or not hasattr(shell, "kernel"):
        return None
    return sys.modules.get("IPython.display")


class _Display:
    """Bars in a notebook: one display, which comes with the first progress, is updated, and is empty at the end."""

    def __init__(self, display: Any) -> None:
        self._display = display
        self._handle: Any = None
        self._bars: dict[str, Progress] = {}

    def __call__(self, progress: Progress) -> None:
        self._bars[progress.phase] = progress
        if len(self._bars) > 2:
            del self._bars[next(iter(self._bars))]
        rows = "".join(self._row(one) for one in self._bars.values())
        content = self._display.HTML(f'<div style="font-family:monospace">{rows}</div>')
        if self._handle is None:
            self._handle = self._display.display(content, display_id=True)
        else:
            self._handle.update(content)

    @staticmethod
    def _row(one: Progress) -> str:
        name = html.escape(plain(one.phase, 60))
        bar = f'<progress max="{max(one.total, 1)}" value="{one.done}" style="vertical-align:middle"></progress>'
        return f"<div>{name} {bar} {count(one.done)} of {count(one.total)}</div>"

    def close(self) -> None:
        if self._handle is not None:
            self._handle.update(self._display.HTML(""))


class _Line:
    """A line on a terminal that is written again and again, of runs in a session, which draws no bars of its own."""

    def __call__(self, progress: Progress) -> None:
        full = round(30 * progress.fraction)
        bar = "█" * full + "░" * (30 - full)
        told = f"{plain(progress.phase, 20):>7} {bar} {count(progress.done)} of {count(progress.total)}"
        print(f"\r{told[:79]}\x1b[K", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


class _Lines:
    """Lines of text on standard error, one a second."""

    def __init__(self, name: str) -> None:
        self._name, self._last, self._phase = name, 0.0, ""

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if progress.phase == self._phase and now - self._last < _LINES and progress.done < progress.total:
            return
        self._phase, self._last = progress.phase, now
        told = f"{plain(self._name)}: {plain(progress.phase)} {progress.fraction:.0%}"
        print(told, file=sys.stderr, flush=True)

    def close(self) -> None:
        return None


class _Function:
    """The user's function."""

    def __init__(self, function: Callable[[Progress], object]) -> None:
        self._function = function

    def __call__(self, progress: Progress) -> None:
        self._function(progress)

    def close(self) -> None:
        return None


class Ear:
    """Hears what the native module tells, and hands it on to logs and to whoever is shown progress.

    Attributes:
        terminal: Whether the native module draws its own bars.
    """

    def __init__(self, name: str, progress: ProgressLike, native: bool) -> None:
        self.name = name
        self._agreed = False
        self._shown: _Display | _Line | _Lines | _Function | None = None
        self.terminal = False
        if callable(progress):
            self._shown = _Function(progress)
        elif progress is not False:
            notebook = _notebook()
            if notebook is not None:
                self._shown = _Display(notebook)
            elif _is_terminal():
                self.terminal = native
                self._shown = None if native else _Line()
            elif progress is True:
                self._shown = _Lines(name)

    def __call__(self, kind: str, text: str, done: int, total: int, warning: bool) -> None:
        if kind == "progress":
            if self._shown is not None:
                self._shown(Progress(text, done, total))
        elif kind == "said":
            logger.log(logging.WARNING if warning else logging.INFO, "%s: %s", self.name, plain(text, 2000))
        elif kind == "met":
            logger.info("%s: the parties have met", self.name)
        elif kind == "begins":
            if not self._agreed:
                logger.info("%s: the parties agree on what they compute", self.name)
            self._agreed = True
            logger.info("%s: %s begins", self.name, text)

    def close(self) -> None:
        """Takes away what is shown."""
        if self._shown is not None:
            self._shown.close()


def _is_terminal() -> bool:
    # Where standard error has been put elsewhere, bars would go past that.
    ours = sys.stderr is sys.__stderr__ and sys.stderr is not None
    return ours and sys.stderr.isatty()


@contextmanager
def listening(name: str, progress: ProgressLike, what: str, native: bool = True) -> Iterator[Ear]:
    """Hears a computation from its beginning to its end, which the log tells; ``native`` if the native module can draw bars."""
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        raise TypeError(f"progress is True, False or a function, not {progress!r}")
    ear = Ear(name, progress, native)
    logger.info("%s: %s", name, what)
    try:
        yield ear
    except RunError as error:
        # The error itself goes to whoever called.
        logger.info("%s: ends without a result, status %d", name, error.status)
        raise
    except KeyboardInterrupt:
        logger.info("%s: interrupted", name)
        raise
    finally:
        ear.close()


def log_end(name: str, stats: Mapping[str, Any]) -> None:
    """Logs what each party here spent."""
    if not logger.isEnabledFor(logging.INFO):
        return
    for party in stats.get("parties") or []:
        if not isinstance(party, Mapping) or "total_seconds" not in party:
            continue
        setup, online = (size(party.get(phase, {}).get("bytes_sent")) for phase in ("setup", "online"))
        spent = f"sent {setup} in setup and {online} online" if setup and online else f"sent {size(party.get('wire_bytes_sent'))}"
        logger.info("%s: party %s done in %s, %s", name, party.get("party"), seconds(party["total_seconds"]), spent)
