"""The command `pericope`."""

from __future__ import annotations

import signal
import sys

from pericope import _native


def main() -> None:
    """Runs the command with this process's arguments, and ends with its status."""
    # An interrupt ends the command at once, as where it is a program of its own. Commands that go on after one say so.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_native.main(["pericope", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
