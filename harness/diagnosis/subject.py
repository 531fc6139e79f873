"""What is to be diagnosed: a specimen, a script or a notebook, turned into a script file, its arguments and its framework."""

from __future__ import annotations

import ast
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness import script
from harness.catalog.schema import Value, Variant
from harness.errors import ScriptError
from harness.runs.execute import prepare

_SPECIMEN = re.compile(r"(?:bug)?\d{1,2}(?:_\w+)?", re.IGNORECASE)
_CLASSES_OF_TF = re.compile(r"^(TF[A-Z]|create_optimizer|KerasMetricCallback|PushToHubCallback)")


@dataclass(frozen=True)
class Subject:
    """A script to be watched. `shown` is the name for people, `folder` where it runs, `offline` whether the hub stays shut."""

    path: Path
    shown: str
    argv: tuple[str, ...]
    values: dict[str, Value]
    framework: str
    folder: Path
    offline: bool
    rerun_on_cpu: dict[str, Value]


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
            written.write_text(from_notebook(path), encoding="utf-8")
            yield _own(written, target, argv, path.resolve().parent)
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


def from_notebook(path: Path) -> str:
    """The code cells of a notebook as one percent script. Magics and shell lines are left out, since only IPython reads them."""
    import nbformat

    try:
        notebook = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)
    except Exception as error:  # noqa: BLE001 - nbformat raises many kinds for a file that is no notebook
        raise ScriptError(f"{path} is no notebook that nbformat can read ({type(error).__name__}); save it again as .ipynb") from None
    parts = []
    for cell in notebook.cells:
        if cell.cell_type != "code" or cell.source.lstrip().startswith("%%"):
            continue
        lines = [f"# {line}" if line.lstrip().startswith(("%", "!")) else line for line in cell.source.splitlines()]
        tags = cell.metadata.get("tags", [])
        parts.append("\n".join([f"# %% tags={list(tags)!r}" if tags else "# %%", *lines]))
    return "\n\n".join(parts) + "\n"
