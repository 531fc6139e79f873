"""`diagnose` on scripts that give it nothing to judge: one line that says how far it came, and a code."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from harness.process import launch
from tests.test_cli import call

pytestmark = pytest.mark.long

SCRIPTS = [
    ("x = (\n", 2, r"train\.py:1: not valid Python"),
    ("print('nothing to train')\n", 2, r"ended by itself without training.*the walk came as far as: setup"),
    ("import sys\nsys.exit(0)\n", 2, r"called sys\.exit\(\) without training.*the walk came as far as: setup"),
    ("import time\ntime.sleep(60)\n", 4, r"was ended after 2 s.*the walk came as far as: setup"),
    ("while True:\n    print('x' * 1000)\n", 4, r"was ended after 2 s"),
    ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n", 4, r"was ended by SIGKILL|could be watched"),
]


@pytest.mark.parametrize(("text", "code", "message"), SCRIPTS, ids=[message for *_, message in SCRIPTS])
def test_nothing_to_judge_is_one_line(text: str, code: int, message: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "train.py"
    path.write_text(text)
    assert call("diagnose", "--timeout", "2" if code == 4 else "60", str(path)) == code
    errors = [line for line in capfd.readouterr().err.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1
    assert re.search(message, errors[0])


@pytest.mark.parametrize(("args", "code", "message"), [
    (["gone.py"], 2, r"no such file: gone.py"),
    (["."], 2, r"is a folder"),
    (["bug99"], 3, r"no specimen 'bug99'"),
    (["-p", "seed=1", "README.md"], 2, r"-p and --device are for specimens"),
    (["README.md"], 2, r"README.md:\d+: not valid Python"),
    ([], 2, r"Missing argument 'TARGET'"),
    (["bug04", "--colour", "red"], 2, r"specimens take no arguments: --colour red|[Nn]o such option"),
])
def test_bad_targets(args: list[str], code: int, message: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert call("diagnose", *args) == code
    errors = [line for line in capfd.readouterr().err.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1
    assert re.search(message, errors[0])


def test_a_notebook_that_is_none(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.ipynb").write_text("not json")
    assert call("diagnose", str(tmp_path / "x.ipynb")) == 2
    assert "is no notebook that nbformat can read" in capfd.readouterr().err


def test_a_missing_package_is_named_with_its_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "train.py"
    path.write_text("x = 1\nimport no_such_package_at_all\n")
    assert call("diagnose", "--json", str(path)) == 1
    found = json.loads(capfd.readouterr().out)
    assert found["first"]["finding"]["site"]["line"] == 2
    assert "no_such_package_at_all" in found["first"]["finding"]["message"]


def test_a_crash_of_native_code_is_named_with_its_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "train.py"
    path.write_text("import ctypes\n\n\ndef copy():\n    ctypes.string_at(0)\n\n\ncopy()\n")
    assert call("diagnose", "--json", str(path)) == 1
    found = json.loads(capfd.readouterr().out)
    assert (found["first"]["code"], found["stopped"]) == ("R603", "ended by SIGSEGV")
    assert (found["first"]["finding"]["site"]["line"], found["first"]["finding"]["site"]["source"]) == (5, "ctypes.string_at(0)")
    assert {stage["stage"]: stage["state"] for stage in found["walk"]}["step"] == "not reached"


FULL = """\
import os
os.environ["TF_CPU_ALLOCATOR_USE_BFC"], os.environ["TF_CPU_BFC_MEM_LIMIT_IN_MB"] = "1", "60"
import numpy as np
import tensorflow as tf

kept = []
while True:
    kept.append(tf.constant(np.zeros(10**6, np.int64)))
"""


def test_a_crash_that_an_allocator_complained_before_is_memory(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "train.py"
    path.write_text(FULL)
    assert call("diagnose", "--json", str(path)) == 1
    found = json.loads(capfd.readouterr().out)
    assert (found["first"]["code"], found["stopped"]) == ("R601", "ended by SIGSEGV")
    assert found["first"]["finding"]["site"]["line"] == 8
    assert "7.63 MiB" in found["first"]["finding"]["message"]


KILLED = """\
import os, signal, time


def load():
    time.sleep(5)
    os.kill(os.getpid(), signal.SIGKILL)


load()
"""


def test_an_end_that_the_kernel_counts_is_one_for_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                                         capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "train.py"
    path.write_text(KILLED)
    counts = iter(range(9))
    monkeypatch.setattr(launch, "ended_for_memory", lambda: next(counts))
    assert call("diagnose", "--json", str(path)) == 1
    found = json.loads(capfd.readouterr().out)["first"]
    assert (found["code"], found["finding"]["site"]["line"]) == ("R601", 5)
    monkeypatch.setattr(launch, "ended_for_memory", lambda: 7)
    assert call("diagnose", "--json", str(path)) == 4
    assert "was ended by SIGKILL" in capfd.readouterr().err


def test_arguments_reach_the_script(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "train.py"
    path.write_text("import sys\nraise ValueError('got ' + ' '.join(sys.argv[1:]))\n")
    assert call("diagnose", "--json", str(path), "--epochs", "3", "--json") == 1
    assert "got --epochs 3 --json" in json.loads(capfd.readouterr().out)["first"]["finding"]["message"]
