"""The environment a script runs in: quiet frameworks, no network where none is needed, its share of the cores."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path

_QUIET = {
    "TF_CPP_MIN_LOG_LEVEL": "1",  # warnings go to where noise goes: an allocator's complaint is all that there is before some crashes
    "TRANSFORMERS_VERBOSITY": "error",
    "TRANSFORMERS_NO_ADVISORY_WARNINGS": "1",
    "DATASETS_VERBOSITY": "error",
    "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "TQDM_DISABLE": "1",
    "PYTHONWARNINGS": "ignore",
    "TOKENIZERS_PARALLELISM": "false",
}


def cores() -> int:
    """Cores this process may run on: by its affinity, and by its container's quota where there is one."""
    found = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, math.ceil(min(found, _quota())))


def _quota(file: Path = Path("/sys/fs/cgroup/cpu.max")) -> float:
    """Cores' worth of time that a container (cgroup v2) grants; infinite where nothing says so."""
    try:
        granted, period = file.read_text().split()
        return int(granted) / int(period)
    except (OSError, ValueError, ZeroDivisionError):
        return math.inf


def for_script(framework: str, *, quiet: bool, offline: bool, jobs: int = 1, base: Mapping[str, str] | None = None) -> dict[str, str]:
    """Environment variables for one of `jobs` children that run side by side. What the user has set is kept."""
    found = dict(os.environ if base is None else base)
    share = str(max(1, cores() // jobs))
    wanted = {
        "PYTHONUNBUFFERED": "1",
        "TF_USE_LEGACY_KERAS": "1",
        "TF_ENABLE_ONEDNN_OPTS": "0",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "OMP_NUM_THREADS": share,
        "TF_NUM_INTRAOP_THREADS": share,
        "TF_NUM_INTEROP_THREADS": share,
    }
    if "OMP_WAIT_POLICY" not in found:
        # Threads that wait by spinning keep the ones they wait for off the cores: with two more processes on two cores, a step of a
        # small transformer took 40 times as long. Without any spinning it takes half as long again on a quiet machine.
        wanted["GOMP_SPINCOUNT"] = "1000"
    if framework == "torch":
        # Halves the import where TensorFlow is installed beside PyTorch; the other way round it would break `datasets`.
        wanted["USE_TF"] = "0"
    if offline:
        wanted["HF_HUB_OFFLINE"] = "1"
    if quiet:
        wanted |= _QUIET
    for name, value in wanted.items():
        found.setdefault(name, value)
    return found
