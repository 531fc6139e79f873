"""Write `constraints.txt` and `constraints-v5.txt`: every version that pip resolves `pyproject.toml` to, in fresh environments."""

from __future__ import annotations

import subprocess
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Pinned by hand, because a newer release would bring a CUDA build where a CPU one is wanted, or leave the line that is being held.
STACKS = {
    "constraints.txt": ("torch,tf,test,docs,browser", ["torch==2.13.0", "transformers==4.57.6"]),
    "constraints-v5.txt": ("torch,test", ["torch==2.13.0", "transformers>=5"]),
}


def pin(name: str, extras: str, first: list[str]) -> None:
    """Resolve one stack and write its file."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        pip = [f"{folder}/bin/python", "-m", "pip", "--disable-pip-version-check"]
        subprocess.run([*pip, "install", "--quiet", *first, f"{ROOT}[{extras}]"], check=True)
        freeze = [*pip, "freeze", "--exclude", "bug-zoo", "--exclude", "setuptools"]
        frozen = subprocess.run(freeze, check=True, capture_output=True, text=True)
    lines = [line.replace("+cpu", "") for line in frozen.stdout.splitlines() if "@" not in line]
    (ROOT / name).write_text(f"# Made by tools/pin.py from pyproject.toml [{extras}]; do not edit.\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    for name, (extras, first) in STACKS.items():
        pin(name, extras, first)
