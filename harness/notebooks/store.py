"""What was executed, kept by content: script, values, evidence, assets, library versions and the harness's own observing side."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import json
import os
import platform
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from harness.diagnosis.record import Diagnosis
from harness.notebooks.execute import Executed
from harness.paths import ASSETS, ROOT
from harness.runs.execute import Job
from harness.runs.report import RunReport

T = TypeVar("T")
FOLDER = ROOT / "build" / "executed"
_LIBRARIES = ("torch", "transformers", "tensorflow", "tf-keras", "keras", "datasets", "evaluate", "accelerate", "numpy",
              "ipykernel", "papermill")
# What the harness itself puts into an execution, and into a diagnosis.
_OBSERVING = ("harness/child.py", "harness/evidence", "harness/frameworks/*.py", "harness/notebooks/build.py",
              "harness/notebooks/execute.py",
              "harness/notebooks/kernel.py")
_DIAGNOSING = ("harness/diagnosis", "harness/checks", "harness/frameworks/*.py", "harness/frameworks/watch")


def job_key(job: Job, *, diagnosis: bool = False) -> str:
    """The content key of a job's execution, or of its diagnosis."""
    rules = msgspec.json.encode((job.bug.file.evidence, job.bug.file.learns))
    parts = [job.path.read_bytes(), msgspec.json.encode(sorted(job.values.items())), surroundings()]
    parts += [_sources(_DIAGNOSING)] if diagnosis else [rules, _sources(_OBSERVING)]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def path_of(job: Job, kind: str, key: str) -> Path:
    """Where an execution lies: `kind` is `ipynb`, `run.json` or `diagnosis.json`."""
    return FOLDER / f"{job.bug.id}-{job.framework}-{job.variant}-{key}.{kind}"


def load(job: Job) -> Executed | None:
    """The execution of a job, if one with the same content is kept."""
    import nbformat

    key = job_key(job)
    notebook, report = path_of(job, "ipynb", key), path_of(job, "run.json", key)
    if not (notebook.exists() and report.exists()):
        return None
    return Executed(job, nbformat.read(notebook, as_version=4), decode(report, RunReport))


def save(done: Executed) -> None:
    """Keep an execution; older ones of the same job go."""
    import nbformat

    key = job_key(done.job)
    _forget(done.job, ("ipynb", "run.json"))
    _write(path_of(done.job, "ipynb", key), lambda path: nbformat.write(done.notebook, path))
    _write(path_of(done.job, "run.json", key), lambda path: path.write_text(encode(done.report)))


def load_diagnosis(job: Job) -> Diagnosis | None:
    """The record of a job's diagnosis, if one with the same content is kept."""
    path = path_of(job, "diagnosis.json", job_key(job, diagnosis=True))
    return decode(path, Diagnosis) if path.exists() else None


def save_diagnosis(job: Job, record: Diagnosis) -> None:
    """Keep a diagnosis; older ones of the same job go."""
    _forget(job, ("diagnosis.json",))
    _write(path_of(job, "diagnosis.json", job_key(job, diagnosis=True)), lambda path: path.write_text(encode(record)))


def encode(record: msgspec.Struct) -> str:
    """A record as Python's JSON, which keeps NaN and infinities: a loss may well be one."""
    return json.dumps(msgspec.to_builtins(record))


def decode(path: Path, kind: type[T]) -> T:
    """The inverse of `encode`."""
    return msgspec.convert(json.loads(path.read_text()), kind)


def _forget(job: Job, kinds: Iterable[str]) -> None:
    for kind in kinds:
        for old in FOLDER.glob(f"{job.bug.id}-{job.framework}-{job.variant}-*.{kind}"):
            old.unlink()


def _write(path: Path, write: Callable[[Path], Any]) -> None:
    """All or nothing, so that an interrupted build leaves no half file behind."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + f".{os.getpid()}.part")
    write(part)
    part.replace(path)


@functools.cache
def surroundings() -> bytes:
    """Assets and versions: what a script does depends on them."""
    digest = hashlib.sha256(platform.python_version().encode())
    for name in _LIBRARIES:
        try:
            digest.update(f"{name} {importlib.metadata.version(name)}\n".encode())
        except importlib.metadata.PackageNotFoundError:
            digest.update(f"{name} absent\n".encode())
    for path in sorted(path for path in ASSETS.rglob("*") if path.is_file() and path.suffix in {".py", ".json", ".txt", ".safetensors",
                                                                                               ".jsonl", ".parquet", ".csv"}):
        if ".tune" not in path.parts and "__pycache__" not in path.parts:
            digest.update(str(path.relative_to(ASSETS)).encode() + path.read_bytes())
    return digest.digest()


@functools.cache
def _sources(names: tuple[str, ...]) -> bytes:
    digest = hashlib.sha256()
    for name in names:
        for path in sorted(ROOT.glob(name)):
            for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
                digest.update(file.read_bytes())
    return digest.digest()
