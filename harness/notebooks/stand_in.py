"""What Jupyter gives every notebook, for one that runs as a script: `display` and `get_ipython`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def display(*objects: Any, **_options: Any) -> None:
    """Print what a notebook would show."""
    for each in objects:
        sys.stdout.write(f"{each}\n")


class Shell:
    """Magics and shell lines change nothing of what a notebook trains and are passed over, apart from those that code goes on with: `%cd`,
    and the output of a command that is kept (`files = !ls`).
    """

    def run_line_magic(self, name: str, line: str, *_: Any) -> None:
        """Change the folder; any other magic is passed over. Raises `OSError` where there is no such folder."""
        if name == "cd":
            os.chdir(Path(line.strip() or "~").expanduser())

    def getoutput(self, command: str, *_: Any) -> list[str]:
        """The lines that a command prints."""
        done = subprocess.run(  # noqa: S602 - a notebook's own line, which its shell would run
            command, shell=True, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        return done.stdout.splitlines()

    def __getattr__(self, _name: str) -> Callable[..., None]:
        return lambda *_args, **_options: None


def get_ipython() -> Shell:
    """The shell of a notebook that runs as a script."""
    return Shell()
