"""What is installed and which specimens can run here, found without importing a framework."""

from __future__ import annotations

import ctypes
import functools
import importlib.metadata
import importlib.util
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

from harness.catalog.load import Bug
from harness.catalog.schema import Script
from harness.errors import MissingRequirement
from harness.process.crash import Crash

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


def clash() -> str | None:
    """Two installed packages that crash in one process, with what to do about it; None where there are none.

    TensorFlow's wheels from 2.20 on load their LLVM for every library to see (`RTLD_GLOBAL`); triton's, from 3.7 on, then binds to that one
    instead of its own, and the process ends with SIGSEGV. See tensorflow/tensorflow#124205.
    """
    tensorflow, triton = version("tensorflow"), version("triton")
    if not tensorflow or not triton or Version(tensorflow) < Version("2.20") or Version(triton) < Version("3.7"):
        return None
    return (f"triton {triton} (PyTorch's compiler for GPUs) crashes where it is loaded after tensorflow {tensorflow}; "
            f"pip uninstall triton, or import it before tensorflow")


def explained(crash: Crash) -> str:
    """Where native code crashed, and what to do where that is known; to be put behind "was ended by SIGSEGV"."""
    if crash.loading is None:
        return str(crash)
    known = clash_with(crash.loading)
    return f"{crash}; {known or f'another package that is loaded before it may not go with it, try importing {crash.loading} first'}"


def clash_with(package: str | None) -> str:
    """`clash()` where it is about this package, else nothing."""
    return clash() or "" if package in {"triton", "tensorflow"} else ""


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
