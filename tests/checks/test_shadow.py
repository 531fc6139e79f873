"""A703: files that are imported in place of a library."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from harness.frameworks.watch.session import WatchSession
from tests.checks.made import finding, healthy, judge
from tests.frameworks.watching import run


def watched(folder: Path, script: str, **files: str) -> WatchSession:
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    session = WatchSession(folder / script)
    session.attach()
    error, _ = run(session, (folder / script).read_text(), folder / script)
    session.finish(error)
    return session


@pytest.fixture(autouse=True)
def folder_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As Python does for a script."""
    monkeypatch.syspath_prepend(tmp_path)


@pytest.fixture
def unloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    for name in [name for name in sys.modules if name.partition(".")[0] in ("this", "helper", "asking", "_pyrepl", "antigravity")]:
        monkeypatch.delitem(sys.modules, name)


def test_silent_on_a_healthy_run() -> None:
    assert judge("A703", healthy()) == "clean"


def test_a_module_beside_the_script(tmp_path: Path, unloaded: None) -> None:
    seen = watched(tmp_path, "train.py", train="import this\nprint(this.s)\n", this="x = 1\n").observation
    found = finding("A703", seen)
    assert found.site is not None
    assert (found.site.file, found.site.line) == (str(tmp_path / "this.py"), 1)
    assert "`this`" in found.message
    assert {result.code for result in walk(seen) if result.state == "found"} == {"A703"}


def test_the_script_itself(tmp_path: Path, unloaded: None) -> None:
    seen = watched(tmp_path, "this.py", this="from this import s\n").observation
    assert "this script itself" in finding("A703", seen).message


def test_a_module_of_ones_own_is_none(tmp_path: Path, unloaded: None) -> None:
    for wrong in ("import helper\nprint(helper.s)\n", "import helper\nprint(undefined)\n"):
        seen = watched(tmp_path, "train.py", train=wrong, helper="x = 1\n").observation
        assert seen.exception is not None
        assert judge("A703", seen) == "clean"
    for wrong in ("import this\n1 / 0\n", "exec(compile('1 / 0', __file__, 'exec'))\n"):
        seen = watched(tmp_path, "train.py", train=wrong, this="x = 1\n").observation
        assert judge("A703", seen) == "clean"
