"""The program ``madrigal``: as ``python -m madrigal``, and as the command that the package installs."""

from __future__ import annotations

import signal
import sys


def main() -> int:
    """Does what the arguments of this process say, and gives the exit status."""
    from . import _native

    # The program handles signals itself; one that whoever started it has ignored stays ignored.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    return _native.main(sys.argv[1:], [sys.executable, "-m", "madrigal"])


if __name__ == "__main__":
    sys.exit(main())
