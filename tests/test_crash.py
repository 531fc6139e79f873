"""Where native code crashed: read from a real crash, and from the stack that triton and TensorFlow left behind."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness.process import crash
from harness.process.crash import Crash
from harness.runs import availability

SCRIPT = """\
import ctypes


def copy(address):
    return ctypes.string_at(address)


copy(0)
"""

# Of `import tensorflow; import triton`, triton 3.7.1 beside tensorflow 2.21.0, Python 3.11; the paths are shortened.
LOADING = f"""\
Import in "/work/train.py", line 1, <module>
Import in "/work/train.py", line 3, load
Fatal Python error: Segmentation fault

Current thread 0x00007f504820a040 (most recent call first):
  File "<frozen importlib._bootstrap>", line 241 in _call_with_frames_removed
  File "<frozen importlib._bootstrap_external>", line 1233 in create_module
  File "<frozen importlib._bootstrap>", line 573 in module_from_spec
  File "<frozen importlib._bootstrap>", line 676 in _load_unlocked
  File "<frozen importlib._bootstrap>", line 1149 in _find_and_load_unlocked
  File "<frozen importlib._bootstrap>", line 1178 in _find_and_load
  File "{Path(crash.__file__).parents[1]}/child.py", line 52 in _timed
  File "/env/lib/python3.11/site-packages/triton/knobs.py", line 15 in <module>
  File "<frozen importlib._bootstrap>", line 241 in _call_with_frames_removed
  File "<frozen importlib._bootstrap_external>", line 940 in exec_module
  ...

Extension modules: numpy._core._multiarray_umath (total: 1)
"""


def test_the_line_of_a_real_crash(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    root = Path(crash.__file__).parents[2]
    code = (f"import sys; sys.path.insert(0, {str(root)!r}); from pathlib import Path; from harness.process import crash; "
            f"notes = crash.Notes(Path({str(tmp_path)!r})); exec(compile(Path({str(script)!r}).read_text(), {str(script)!r}, 'exec'))")
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -signal.SIGSEGV
    assert crash.read(tmp_path, script) == Crash(line=5, function="copy")


def test_the_last_lines_of_its_stderr(tmp_path: Path) -> None:
    (tmp_path / crash.NOISE).write_bytes(b"early\n" * 9999 + b"\xff" + b"".join(b"line %d\n" % n for n in range(30)))
    lines = crash.read(tmp_path).said.splitlines()
    assert (lines[0], lines[-1], len(lines)) == ("line 10", "line 29", 20)


def test_a_package_whose_library_was_being_loaded(tmp_path: Path) -> None:
    (tmp_path / "crash.log").write_text(LOADING)
    assert crash.read(tmp_path, Path("/work/train.py")) == Crash(line=3, function="load", loading="triton")
    (tmp_path / "crash.log").write_text(LOADING.replace("create_module", "_call"))
    assert crash.read(tmp_path, Path("/work/train.py")) == Crash()


def test_nothing_written_says_nothing(tmp_path: Path) -> None:
    assert str(crash.read(tmp_path, tmp_path / "train.py")) == ""


@pytest.mark.parametrize(("tensorflow", "triton", "clashes"), [
    ("2.21.0", "3.7.1", True), ("2.20.0", "3.9.0", True), ("2.21.0", "3.6.0", False),
    ("2.19.1", "3.7.1", False), ("2.21.0", None, False), (None, "3.7.1", False)])
def test_what_is_known_to_crash(tensorflow: str | None, triton: str | None, clashes: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(availability, "version", {"tensorflow": tensorflow, "triton": triton}.get)
    said = availability.explained(Crash(line=3, loading="triton"))
    assert said.startswith(" at line 3, while a native library of triton was being loaded; ")
    assert ("pip uninstall triton" in said) == clashes
    assert (availability.clash() is not None) == clashes
