"""What goes wrong, and where in the user's source it stands."""

from __future__ import annotations

import os
import sys
from typing import Any, NoReturn

_HERE = os.path.dirname(os.path.abspath(__file__))


class MadrigalError(Exception):
    """Something that went wrong in Madrigal."""


class ProgramError(MadrigalError):
    """A program that cannot be, with the line of the source where it says so.

    Attributes:
        file: File of the source, or the cell of a notebook, as ``In[3]``.
        line: Line in it, counted from 1.
    """

    def __init__(self, text: str, file: str, line: int) -> None:
        super().__init__(f"{file}:{line}: {text}")
        self.file, self.line = file, line


class SecretError(ProgramError, TypeError):
    """A secret where Python wants a value that it can look at."""


class RunError(MadrigalError):
    """A run without a result.

    Attributes:
        status: Exit status that the command line would have: 4 is the network, 5 another party, 6 inputs that the program does not
            allow.
        echo: Whether this only repeats what another party of this process has, which says more.
    """

    def __init__(self, text: str, status: int) -> None:
        super().__init__(text)
        self.status = status
        self.echo = False


class UnmetError(RunError):
    """Inputs that do not meet what the program requires: nothing was opened."""


class ServiceError(RunError):
    """A service that does not give what was asked of it. The text says which server it is, and what to do.

    Attributes:
        status: Exit status that the command line would have: 2 is a wrong argument, 3 a file, 4 a server out of reach, 5 a server that refused or
            servers that do not agree.
        server: Name of the server at fault, as the list of servers has it; ``None`` where it is none, or not one alone.
    """

    def __init__(self, text: str, status: int, server: str | None) -> None:
        super().__init__(text, status)
        self.server = server


class ServiceTimeout(ServiceError, TimeoutError):
    """A service that has not given what was asked of it within the time that was given. To ask again is right."""


def _shown(file: str) -> str:
    """Name of a source: of a notebook's cell the number by which its reader knows it, not the file that Jupyter makes of it."""
    ipython: Any = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    number = getattr(getattr(shell, "compile", None), "_filename_map", {}).get(file)
    return file if number is None else f"In[{number}]"


def place() -> tuple[str, int]:
    """The line of the source outside of this package, and of NumPy, that is being executed."""
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        inside = file.startswith(_HERE) or f"{os.sep}numpy{os.sep}" in file
        if not inside or frame.f_back is None:
            return _shown(file), frame.f_lineno
        frame = frame.f_back
    return "<unknown>", 0


def refuse(text: str) -> NoReturn:
    """Raises an error about a secret, with the user's line."""
    raise SecretError(text, *place())
