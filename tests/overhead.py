"""What watching costs a whole training run, and what is left of it after `detach`: the same script in turns, with ratios.

    python -m tests.overhead                                      the scripts below, three turns each
    python -m tests.overhead --repeats 3 tests/corpus/torch/moons_v2.py

Each run has a process of its own, with the frameworks imported before the clock starts. *plain*: nothing attached. *watched*: as a
diagnosis watches, its first steps in full and the others in passing, but without experiments and to the very end. *everything*: every step
in full to the very end, which no diagnosis does. *detached*: watched for the first steps, then detached. Given are the seconds of the whole
script and, for PyTorch, of an optimizer step in the second half of the run (its optimizers have a hook for that, set in every kind).
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from harness import script
from harness.catalog.load import everything
from harness.frameworks.watch.session import WatchBudget, WatchSession
from harness.paths import ROOT
from harness.process.environment import for_script
from harness.runs import availability

KINDS = ("plain", "watched", "everything", "detached")
FIRST_STEPS = 20
_ENDLESS = 10**9
_ZOO = (("bug03", "torch"), ("bug04", "torch"), ("bug01", "tensorflow"), ("bug03", "tensorflow"))
_CORPUS = ("torch/finetune_loop", "torch/cells_unet", "torch/moons_v2", "keras/shapes_cnn")


def scripts() -> dict[str, Path]:
    """Some fixed scripts of the zoo and some healthy ones of the corpus, from a step of less than a millisecond to one of a second."""
    found = {f"{bug.id} {framework} fixed": bug.path(framework, "fixed") for bug in everything() for name, framework in _ZOO
             if bug.id == name and availability.obstacle(bug.script(framework)) is None}
    return found | {name: ROOT / "tests" / "corpus" / f"{name}.py" for name in _CORPUS}


def measure(wanted: Sequence[str] = (), repeats: int = 3) -> dict[str, Any]:
    """For each script the medians in seconds and the ratios to a plain run: medians of the ratios within each turn."""
    chosen = {name: ROOT / name for name in wanted} or scripts()
    rows = {}
    for name, path in chosen.items():
        turns = [{kind: _run(path, kind) for kind in KINDS} for _ in range(repeats)]
        rows[name] = row = {}
        for kind in KINDS:
            for what in ("script_s", "step_s"):
                taken = [turn[kind][what] for turn in turns if turn[kind].get(what)]
                if len(taken) == len(turns):
                    row[f"{kind}_{what}"] = round(statistics.median(taken), 5)
                    if kind != "plain":
                        ratios = [turn[kind][what] / turn["plain"][what] for turn in turns]
                        row[f"{kind}_to_plain_{what.removesuffix('_s')}"] = round(statistics.median(ratios), 3)
        row["steps_in_full"] = {kind: turns[0][kind]["steps"] for kind in KINDS[1:]}
        print(name, json.dumps(row), file=sys.stderr, flush=True)
    return rows


def _run(path: Path, kind: str) -> dict[str, Any]:
    text = path.read_text(encoding="utf-8")
    keras = any(f"import {name}" in text or f"from {name}" in text for name in ("tensorflow", "keras", "tf_keras"))
    environment = for_script("tensorflow" if keras else "torch", quiet=True, offline=True)
    command = [sys.executable, "-m", "tests.overhead", "--child", kind, str(path), *(["--keras"] if keras else [])]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True, timeout=600)
    found: dict[str, Any] = json.loads(done.stdout.decode().splitlines()[-1])
    return found


def _child(path: Path, kind: str, *, keras: bool) -> dict[str, Any]:
    """One run in this process."""
    import datasets  # noqa: F401
    import transformers  # noqa: F401
    from torch.optim.optimizer import register_optimizer_step_post_hook

    if keras:
        import tensorflow  # noqa: F401
    ends: list[float] = []
    budget = WatchBudget(seconds=_ENDLESS, probe_seconds=0.0, onward_seconds=_ENDLESS, further_seconds=_ENDLESS)
    if kind == "everything":
        budget = dataclasses.replace(budget, steps=_ENDLESS, slow_seconds=_ENDLESS)
    session = WatchSession(path, budget)
    code = script.compile_with(script.read(path), path, {})
    module = ModuleType("__main__")
    module.__file__ = str(path)
    sys.modules["__main__"] = module
    sys.argv = [str(path)]

    def ended(*_: object) -> None:
        ends.append(time.perf_counter())
        if kind == "detached" and len(ends) == FIRST_STEPS:
            session.detach()

    if kind != "plain":
        session.attach()
    register_optimizer_step_post_hook(ended)
    begun = time.perf_counter()
    exec(code, module.__dict__)
    found: dict[str, Any] = {"script_s": time.perf_counter() - begun, "steps": len(session.observation.steps)}
    late = [b - a for a, b in zip(ends[len(ends) // 2:], ends[len(ends) // 2 + 1:], strict=False)]
    if late:
        found["step_s"] = statistics.median(late)
    if kind != "plain":
        session.detach()
    return found


def main() -> None:
    """Measure, or be the child that is measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scripts", nargs="*")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--child", choices=KINDS, help=argparse.SUPPRESS)
    parser.add_argument("--keras", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print("\n" + json.dumps(_child(Path(options.scripts[0]), options.child, keras=options.keras)), flush=True)
        os._exit(0)
    missing = [name for name in options.scripts if not (ROOT / name).is_file()]
    if missing:
        parser.error(f"no such script under {ROOT}: {', '.join(missing)}")
    print(json.dumps(measure(options.scripts, options.repeats), indent=2))


if __name__ == "__main__":
    main()
