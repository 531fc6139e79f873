"""Fixtures: a scratch catalogue whose one specimen is plain Python, so that the machinery can be tried without a framework."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from harness import paths
from harness.catalog import load

os.environ.setdefault("GOMP_SPINCOUNT", "1000")  # before PyTorch is loaded, as `harness.process.environment` does for scripts

TOML = """\
format = 1
id = "bug77"
title = "A small thing breaks"
symptom = "It raises."
cause = "Somebody wrote raise."
stage = "setup"
fault = "small-thing"
time_budget_s = 5

[[scripts]]
framework = "torch"
broken = "broken.py"
fixed = "fixed.py"
devices = ["cpu", "cuda"]

[parameters.seed]
type = "int"
min = 0
max = 1000
help = "Seed."

[parameters.rate]
type = "float"
min = 0.0
max = 1.0
help = "A rate."

[parameters.mode]
type = "str"
choices = ["raise", "hang", "die", "exit", "nothing"]
help = "What happens."

[parameters.device]
type = "str"
help = "Where."

[[evidence]]
says = "it raises"
exception = { type = "ValueError", message = "small thing", stage = "setup" }

[[learns]]
says = "nothing is raised"
"""
BROKEN = """\
# %% tags=["parameters"]
seed = 0
rate = 0.5
mode = "raise"
device = "cpu"

# %% [setup] what happens
import os, signal, subprocess, sys, time
print("hello from the script, seed", seed, flush=True)
if mode == "hang":
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    print("grandchild", child.pid, flush=True)
    time.sleep(600)
if mode == "die":
    os.kill(os.getpid(), signal.SIGSEGV)
if mode == "exit":
    os._exit(3)
if mode == "raise":
    raise ValueError(f"a small thing broke, rate {rate}")
"""


@pytest.fixture
def small_zoo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Makes a catalogue of one specimen, `bug77`, and returns its folder; text of its files may be replaced."""

    def make(toml: str = TOML, broken: str = BROKEN, fixed: str | None = None) -> Path:
        folder, solution = tmp_path / "bugs" / "bug77_small", tmp_path / "solutions" / "bug77_small"
        folder.mkdir(parents=True)
        solution.mkdir(parents=True)
        (folder / "bug.toml").write_text(toml)
        (folder / "broken.py").write_text(broken)
        (solution / "fixed.py").write_text(fixed if fixed is not None else broken.replace('mode = "raise"', 'mode = "nothing"'))
        monkeypatch.setattr(paths, "BUGS", tmp_path / "bugs")
        monkeypatch.setattr(paths, "SOLUTIONS", tmp_path / "solutions")
        load.find.cache_clear()
        return folder

    yield make
    load.find.cache_clear()
