"""Build or serve the site with MkDocs, and say which translations lag."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from harness.errors import MissingRequirement, SiteError
from harness.notebooks import store
from harness.paths import BUGS, ROOT, SOLUTIONS
from harness.site import prose

CONFIG = ROOT / "mkdocs.yml"
OUTPUT = ROOT / "site"
_STAMP = ROOT / "build" / "site.stamp"
_INPUTS = (CONFIG, prose.DOCS, BUGS, SOLUTIONS, ROOT / "harness")


def build(say: Callable[[str], None], *, force: bool = False) -> bool:
    """Build the site into `site/`; False where nothing had changed since the last time.

    Raises `SiteError` where MkDocs has a warning or an error, `MissingRequirement` where it is not installed.
    """
    python = _python()
    stamp = _stamp()
    if not force and (OUTPUT / "index.html").exists() and _STAMP.exists() and _STAMP.read_text() == stamp:
        return False
    _STAMP.unlink(missing_ok=True)
    status = _run(_command(python, "build"), say)
    if status:
        raise SiteError(f"mkdocs ended with status {status}; its messages are above (the same by hand: mkdocs build --strict)")
    _STAMP.parent.mkdir(exist_ok=True)
    _STAMP.write_text(stamp)
    return True


def serve(address: str) -> int:
    """Serve the site on an address and build it again at every change, until interrupted; the status of MkDocs."""
    with subprocess.Popen([*_command(_python(), "serve"), "--dev-addr", address], env=_environment(), cwd=ROOT) as process:
        return process.wait()


def report() -> list[str]:
    """A line for each translation that lags behind its English page or is missing."""
    return [f"{state}: {prose.path(name, language).relative_to(ROOT)}" for (name, language), state in sorted(prose.states().items())
            if state != "current"]


def _python() -> str:
    """This interpreter, once it is sure that MkDocs and what the site needs of it are there."""
    for name in ("mkdocs", "material", "mkdocs_static_i18n"):
        if importlib.util.find_spec(name) is None:
            raise MissingRequirement(f"the site needs {name.replace('_', '-')}; make docs installs it")
    return sys.executable


def _command(python: str, what: str) -> list[str]:
    return [python, "-m", "mkdocs", what, "--config-file", str(CONFIG), *(["--strict", "--clean"] if what == "build" else [])]


def _environment() -> dict[str, str]:
    return {**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT)}


def _run(command: list[str], say: Callable[[str], None]) -> int:
    with subprocess.Popen(command, env=_environment(), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            say(line.rstrip())
        return process.wait()


def _files() -> Iterator[Path]:
    for place in _INPUTS:
        if place.is_file():
            yield place
        else:
            yield from (path for path in sorted(place.rglob("*")) if path.is_file() and "__pycache__" not in path.parts)


def _stamp() -> str:
    """What the site is made of: every file of it, and the surroundings of what was executed."""
    digest = hashlib.sha256(store.surroundings())
    for path in _files():
        digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
