"""What is to be diagnosed: a specimen, a script or a notebook, turned into a script file, its arguments and its framework."""

from __future__ import annotations

import ast
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from harness import script
from harness.catalog.schema import Value, Variant
from harness.diagnosis import notebook
from harness.errors import ScriptError
from harness.runs.execute import prepare

_SPECIMEN = re.compile(r"(?:bug)?\d{1,2}(?:_\w+)?", re.IGNORECASE)
_CLASSES_OF_TF = re.compile(r"^(TF[A-Z]|create_optimizer|KerasMetricCallback|PushToHubCallback)")


@dataclass(frozen=True)
class Subject:
    """A script to be watched. `shown` is the name for people, `folder` where it runs, `offline` whether the hub stays shut,
    `cells` of what was a notebook."""

    path: Path
    shown: str
    argv: tuple[str, ...]
    values: dict[str, Value]
    framework: str
    folder: Path
    offline: bool
    rerun_on_cpu: dict[str, Value]
    cells: notebook.Cells | None = None


@contextmanager
def resolve(target: str, argv: Sequence[str], *, variant: Variant, framework: str | None, pairs: tuple[str, ...],
            device: str | None) -> Iterator[Subject]:
    """The subject that a target names. Raises `ScriptError`, `UnknownBug`, `BadParameter`, `MissingRequirement`."""
    path = Path(target)
    if _SPECIMEN.fullmatch(target) and not path.is_file():
        from harness.catalog.load import find

        job = prepare(find(target), variant, framework=framework, pairs=pairs, device=device)
        cpu: dict[str, Value] = {"device": "cpu"} if job.parameters.get("device", "cpu") != "cpu" else {}
        yield Subject(job.path, job.name, tuple(argv), job.values, job.framework, Path.cwd(), job.offline, cpu)
        return
    if not path.exists():
        raise ScriptError(f"no such file: {target}; give a script, a notebook (.ipynb) or a specimen (python -m harness list)")
    if path.is_dir():
        raise ScriptError(f"{target} is a folder; give the script in it that trains")
    if pairs or device:
        raise ScriptError("-p and --device are for specimens; a script of your own takes its arguments after its name")
    if path.suffix == ".ipynb":
        with tempfile.TemporaryDirectory(prefix="zoo-notebook-") as folder:
            written = Path(folder) / (path.stem + ".py")
            text, cells = notebook.as_script(path)
            written.write_text(text, encoding="utf-8")
            yield replace(_own(written, target, argv, notebook.folder_of(path.resolve(), text)), cells=cells)
        return
    yield _own(path.resolve(), target, argv, Path.cwd())


def _own(path: Path, shown: str, argv: Sequence[str], folder: Path) -> Subject:
    tree = script.parse(script.read(path), shown)
    return Subject(path, shown, tuple(argv), {}, framework_of(tree), folder, offline=False, rerun_on_cpu={})


def framework_of(tree: ast.Module) -> str:
    """`tensorflow`, `torch` or `both`, from the imports of a script (and so which halves of transformers it may need)."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").split(".")[0])
            names |= {"tensorflow" for alias in node.names if _CLASSES_OF_TF.match(alias.name)}
    has_tf = bool(names & {"tensorflow", "keras", "tf_keras"})
    has_torch = bool(names & {"torch", "accelerate", "peft", "lightning", "pytorch_lightning"})
    if has_tf:
        return "both" if has_torch else "tensorflow"
    return "torch"
