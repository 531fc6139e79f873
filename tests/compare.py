"""What packages that claim the same say of the zoo's PyTorch scripts, beside this diagnosis. They are no dependencies.

    python3 -m venv scratch && scratch/bin/pip install -e '.[torch]' training-doctor torch-audit traceml-ai
    python -m tests.compare --python scratch/bin/python --output build/compare.json

Each script runs once in a process of its own with the package hooked in the way its documentation gives for a Trainer; bug06, a loop of
its own, can be hooked without an edit by traceml-ai only. What it said is
written down as it said it; `names_the_cause` is whether one of the words in `WORDS` is in there, which is generous.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from harness.catalog.load import everything
from harness.diagnosis import subject
from harness.diagnosis.diagnose import Options, diagnose
from harness.errors import HarnessError
from harness.paths import ROOT
from harness.process.environment import for_script

PACKAGES = ("training-doctor", "torch-audit", "traceml-ai")
# What a statement must mention to count as having named a specimen's cause.
WORDS = {
    "bug01": r"label|no loss", "bug03": r"learning rate", "bug04": r"pad|ragged|length", "bug05": r"tokeniz|column|input_ids",
    "bug06": r"label.*(range|class)|num_labels|out of (range|bounds)", "bug07": r"logit|metric|argmax", "bug08": r"memory|batch size",
}
_TIMEOUT_S = 300


def measure(python: str) -> dict[str, Any]:
    """Every PyTorch script, broken and fixed, under each package and under this diagnosis."""
    rows: dict[str, Any] = {}
    for bug in everything():
        for entry in bug.file.scripts:
            if entry.framework != "torch":
                continue
            for variant in ("broken", "fixed"):
                path = bug.path("torch", variant)
                found = {name: _under(python, name, path) for name in PACKAGES} | {"this": _ours(bug.id, variant)}
                rows[f"{bug.id} {variant}"] = {name: {
                    "said": said, "alarms": len(said),
                    "names_the_cause": variant == "broken" and any(re.search(WORDS[bug.id], text, re.IGNORECASE) for text in said)
                    if name != "this" else said[:1] == [entry.check]} for name, said in found.items()}
                print(bug.id, variant, {name: len(said) for name, said in found.items()}, file=sys.stderr, flush=True)
    names = (*PACKAGES, "this")
    broken, fixed = [key for key in rows if key.endswith("broken")], [key for key in rows if key.endswith("fixed")]
    return {"broken": len(broken), "fixed": len(fixed),
            "cause_named": {name: sum(rows[key][name]["names_the_cause"] for key in broken) for name in names},
            "fixed_with_an_alarm": {name: sum(rows[key][name]["alarms"] > 0 for key in fixed) for name in names}, "rows": rows}


def _ours(bug: str, variant: Any) -> list[str]:
    try:
        with subject.resolve(bug, (), variant=variant, framework="torch", pairs=(), device=None) as found:
            answer = diagnose(found, Options())
    except HarnessError as error:
        return [f"error: {error}"]
    return [result.code for result in (answer.first, *answer.more) if result is not None]


def _under(python: str, package: str, path: Path) -> list[str]:
    """What a package said of one script; its own failures are said too."""
    with tempfile.TemporaryDirectory() as scratch:
        environment = for_script("torch", quiet=True, offline=True) | {"PYTHONPATH": str(ROOT), "TMPDIR": scratch}
        command = [python, str(Path(__file__)), "--child", package, str(path)]
        if package == "traceml-ai":
            command = [str(Path(python).with_name("traceml")), "run", str(path), "--logs-dir", scratch]
        try:
            done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False, timeout=_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            return []
        if package == "traceml-ai":
            return _summaries(Path(scratch))
        lines = [line for line in done.stdout.decode(errors="replace").splitlines() if line.startswith("SAID ")]
        return [str(text) for line in lines for text in json.loads(line.removeprefix("SAID "))]


def _summaries(folder: Path) -> list[str]:
    """The statements of TraceML's `final_summary.json` that are more than information."""
    said = []

    def look(value: Any) -> None:
        if isinstance(value, dict):
            if str(value.get("severity", "info")).lower() in ("warn", "warning", "crit", "critical", "error"):
                said.append(json.dumps({key: part for key, part in value.items() if isinstance(part, str)}))
            for part in value.values():
                look(part)
        elif isinstance(value, list):
            for part in value:
                look(part)

    for path in folder.rglob("final_summary.json"):
        look(json.loads(path.read_text()))
    return list(dict.fromkeys(said))


def _child(package: str, path: str) -> None:
    """One script with a package hooked into `Trainer`; what the package has said is printed at the end, however that comes."""
    import runpy

    import transformers

    said: list[str] = []
    original = transformers.Trainer.__init__
    ends: list[Any] = []

    def __init__(trainer: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        original(trainer, *args, **kwargs)
        if package == "training-doctor":
            from training_doctor.integrations.huggingface import TrainCheckCallback

            callback = TrainCheckCallback(auto_print=False)
            trainer.add_callback(callback)
            ends.append(lambda: [f"{found.severity}: {found.problem}. {found.explanation}" for found in callback.diagnoses])
        else:
            from torch_audit import autopatch

            class Audit(transformers.TrainerCallback):  # type: ignore[misc]
                def on_train_begin(self, *_: Any, model: Any = None, optimizer: Any = None, **__: Any) -> None:
                    auditor = autopatch(model, optimizer=optimizer, every_n_steps=1, reporters=[])
                    ends.append(lambda: [f"{found.severity}: {found.rule_id} {found.message}"
                                         for found in auditor.finish(report=False).findings if "INFO" not in str(found.severity).upper()])

            trainer.add_callback(Audit())

    transformers.Trainer.__init__ = __init__
    try:
        runpy.run_path(path, run_name="__main__")
    except BaseException as error:  # noqa: BLE001 - the script's own failure is not what is asked about
        print(type(error).__name__)
    for end in ends:
        try:
            said += end()
        except Exception as error:  # noqa: BLE001
            print("the package failed:", error)
    print("\nSAID " + json.dumps(list(dict.fromkeys(said))), flush=True)


def main() -> None:
    """Compare, or be the child that is compared."""
    if sys.argv[1:2] == ["--child"]:
        _child(sys.argv[2], sys.argv[3])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", required=True, help="interpreter of an environment that has the packages")
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "compare.json")
    options = parser.parse_args()
    if shutil.which(options.python) is None:
        parser.error(f"no such interpreter: {options.python}; make one as the head of this file says")
    document = measure(options.python)
    options.output.write_text(json.dumps(document, indent=2) + "\n")
    print(json.dumps({key: value for key, value in document.items() if key != "rows"}, indent=2))


if __name__ == "__main__":
    main()
