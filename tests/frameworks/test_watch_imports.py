"""A hook on a module whose import is under way is called when it is whole, and nothing of that is left after detaching."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.frameworks.watch.session import WatchSession


@pytest.mark.parametrize("hooked", ["zoo_outer", "zoo_inner"])
def test_a_module_that_is_not_whole_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hooked: str) -> None:
    (tmp_path / "zoo_outer.py").write_text("import zoo_inner\nclass Late:\n    pass\nimport zoo_next\n")
    (tmp_path / "zoo_inner.py").write_text("class Late:\n    pass\n")
    (tmp_path / "zoo_next.py").write_text("")
    (tmp_path / "zoo_other.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    session = WatchSession(tmp_path / "script.py")
    session.attach()
    before = list(sys.meta_path)
    seen: list[Any] = []
    session.when_imported("zoo_inner", lambda _module: session.when_imported(hooked, lambda module: seen.append(module.Late)))
    try:
        outer = importlib.import_module("zoo_outer")
        importlib.import_module("zoo_other")
        assert seen == [sys.modules[hooked].Late]
        assert outer.Late
        assert not session.observation.warnings
    finally:
        session.detach()
        for name in ("zoo_outer", "zoo_inner", "zoo_next", "zoo_other"):
            sys.modules.pop(name, None)
    assert len(sys.meta_path) <= len(before)
