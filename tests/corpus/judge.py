"""Runs `diagnose` on the corpus and holds its answer against `expected.toml`. Used by the test and by the figures."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from harness.paths import ROOT
from harness.process.environment import for_script

FOLDER = Path(__file__).parent
# How far from the line to mend a finding may point.
NEAR = 3
_TIMEOUT_S = 300


@dataclass(frozen=True)
class Case:
    """A script with the codes that name its fault and the lines at which it can be mended; both empty for a healthy one.

    `held_out`: nothing was tuned on it.
    """

    path: Path
    codes: tuple[str, ...]
    lines: tuple[int, ...]
    held_out: bool = False

    @property
    def name(self) -> str:
        """`torch/moons`."""
        return f"{self.path.parent.name}/{self.path.stem}"

    @property
    def healthy(self) -> bool:
        return not self.codes


@dataclass(frozen=True)
class Answer:
    """What `diagnose` said. `watched_s`: wall time of the watched child, imports included; `plain_s`: of the script alone, if measured."""

    case: Case
    code: str | None
    line: int | None
    message: str
    more: tuple[str, ...]
    verdict: str
    watched_s: float | None
    plain_s: float | None = None

    @property
    def right(self) -> bool:
        """The right fault named first, or silence on a healthy script."""
        if self.case.healthy:
            return self.code is None and self.verdict in {"clean", "no verdict"}
        return self.code in self.case.codes

    @property
    def right_line(self) -> bool:
        """The right fault, at a line within `NEAR` of one that mends it."""
        return self.right and self.line is not None and any(abs(self.line - line) <= NEAR for line in self.case.lines)

    def row(self) -> dict[str, Any]:
        """As JSON."""
        found = asdict(self)
        case = found.pop("case")
        return {"script": self.case.name, "held_out": self.case.held_out, "expected": list(case["codes"]), "lines": list(case["lines"]),
                "right": self.right, "right_line": self.right_line, **found}


def folders() -> list[Path]:
    """The folders that say what is expected of their scripts."""
    return sorted(path.parent for path in FOLDER.glob("*/expected.toml"))


def cases(folder: Path) -> Iterator[Case]:
    """The scripts of a folder, in order of their names."""
    expected = tomllib.loads((folder / "expected.toml").read_text(encoding="utf-8"))
    for name, entry in sorted(expected.items()):
        unknown = set(entry) - {"codes", "line", "healthy", "held_out"}
        if unknown or bool(entry.get("healthy")) == bool(entry.get("codes")):
            raise ValueError(f"{folder.name}/expected.toml, [{name}]: either healthy = true, or codes and line; {sorted(unknown)}")
        lines = entry.get("line", [])
        yield Case(folder / f"{name}.py", tuple(entry.get("codes", ())), tuple([lines] if isinstance(lines, int) else lines),
                   bool(entry.get("held_out")))


@contextlib.contextmanager
def _workplace() -> Iterator[Path]:
    """A folder of its own for what a script writes, with the project's assets in reach."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        (Path(name) / "assets").symlink_to(ROOT / "assets")
        yield Path(name)


def diagnose(case: Case, *, details: bool = False) -> tuple[Answer, dict[str, Any]]:
    """The answer, and the whole record that `diagnose --json` gave (empty where it gave none)."""
    options = ["--details"] if details else []
    command = [sys.executable, "-m", "harness", "diagnose", "--json", *options, str(case.path)]
    with _workplace() as folder:
        done = subprocess.run(command, cwd=folder, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, check=False,
                              timeout=_TIMEOUT_S)
    try:
        record: dict[str, Any] = json.loads(done.stdout)
    except json.JSONDecodeError:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        return Answer(case, None, None, said[-1] if said else "", (), f"exit {done.returncode}", None), {}
    first = record["first"] or {}
    finding = first.get("finding") or {}
    site = finding.get("site") or {}
    return Answer(case, first.get("code"), site.get("line"), finding.get("message", ""), tuple(more["code"] for more in record["more"]),
                  record["verdict"], record["seconds"]), record


def plain_seconds(case: Case) -> float:
    """Wall time of the script by itself, in seconds, with the environment that it has under watch."""
    framework = "tensorflow" if "keras" in case.path.parent.name else "torch"
    variables = os.environ | for_script(framework, quiet=True, offline=True)
    begun = time.perf_counter()
    with _workplace() as folder:
        subprocess.run([sys.executable, str(case.path)], cwd=folder, env=variables, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       check=False, timeout=_TIMEOUT_S)
    return time.perf_counter() - begun
