"""What is installed and which specimens can run here, found without importing a framework."""

from __future__ import annotations

import ctypes
import functools
import importlib.metadata
import importlib.util
from pathlib import Path

from packaging.requirements import Requirement

from harness.catalog.load import Bug
from harness.catalog.schema import Script
from harness.errors import MissingRequirement

FRAMEWORK_PACKAGES = {"torch": ("torch", "transformers", "datasets", "evaluate", "accelerate"),
                      "tensorflow": ("tensorflow", "tf-keras", "transformers", "datasets", "evaluate")}


@functools.cache
def version(package: str) -> str | None:
    """An installed distribution's version, or None."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def obstacle(script: Script) -> str | None:
    """Why a script cannot run here, with what to do about it; None where it can."""
    for package in FRAMEWORK_PACKAGES[script.framework]:
        if version(package) is None:
            extra = "torch" if script.framework == "torch" else "tf"
            return f"{package} is not installed; pip install -c constraints.txt -e '.[{extra}]'"
    for text in script.requires:
        wanted = Requirement(text)
        have = version(wanted.name)
        if have is None:
            return f"{wanted.name} is not installed; pip install '{text}'"
        if not wanted.specifier.contains(have, prereleases=True):
            return f"needs {text}, but {have} is installed; pip install '{text}'"
    return None


def device_obstacle(script: Script, device: str) -> str | None:
    """Why a device cannot be used here; None where it can."""
    if device != "cuda":
        return None
    if script.framework == "torch" and not _torch_has_cuda():
        return "this PyTorch is built without CUDA; install a CUDA build of torch, or use --device cpu"
    if gpus() == 0:
        return "this machine has no CUDA device (or no driver for it); use --device cpu"
    return None


@functools.cache
def gpus() -> int:
    """Number of CUDA devices the driver sees, asked of the driver itself; 0 where there is no driver."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return 0
    count = ctypes.c_int(0)
    if driver.cuInit(0) != 0 or driver.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return 0
    return count.value


def _torch_has_cuda() -> bool:
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        return False
    file = Path(spec.origin).parent / "version.py"
    scope: dict[str, object] = {}
    exec(compile(file.read_text(), str(file), "exec"), scope)  # noqa: S102 - torch's own generated file, a few assignments
    return scope.get("cuda") is not None


def choose(bug: Bug, framework: str | None) -> Script:
    """The script to run: the one asked for, or the first that can run here. Raises `MissingRequirement`, `BadParameter`."""
    if framework is not None:
        script = bug.script(framework)
        why = obstacle(script)
        if why:
            raise MissingRequirement(f"{bug.id} ({script.framework}) cannot run here: {why}")
        return script
    reasons = []
    for script in bug.file.scripts:
        why = obstacle(script)
        if why is None:
            return script
        reasons.append(f"{script.framework}: {why}")
    raise MissingRequirement(f"{bug.id} cannot run here: {' / '.join(reasons)}")
