"""The diagnosis on the zoo itself: the right code and stage on every broken script, silence on every fixed one."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from typing import Any

from harness.catalog.load import Bug
from harness.catalog.schema import Script
from harness.diagnosis import subject
from harness.diagnosis.diagnose import Options, diagnose
from harness.errors import HarnessError


def measure(pairs: Iterable[tuple[Bug, Script]], seeds: int) -> dict[str, Any]:
    """Each script, broken and fixed, on `seeds` seeds: how often the answer was right, and the answers that were not."""
    rows: dict[str, dict[str, Any]] = {}
    for bug, script in pairs:
        for variant in ("broken", "fixed"):
            row = rows[f"{bug.id} {script.framework} {variant}"] = {
                "wanted": script.check if variant == "broken" else "clean",
                "right": 0, "runs": 0, "others": [], "seconds": [], "without_imports_s": []}
            for seed in range(seeds):
                got, seconds, imports = _answer(bug, script, variant, seed)
                row["runs"] += 1
                row["right"] += got == row["wanted"]
                row["seconds"].append(seconds)
                row["without_imports_s"].append(round(seconds - imports, 1))
                if got != row["wanted"]:
                    row["others"].append({"seed": seed, "said": got})
                print(f"{bug.id} {script.framework} {variant} seed {seed}: {got}, wanted {row['wanted']}", file=sys.stderr, flush=True)
    return rows


def _answer(bug: Bug, script: Script, variant: Any, seed: int) -> tuple[str, float, float]:
    """Code or verdict, and two wall times of the child in seconds: all of it, and its imports."""
    try:
        with subject.resolve(bug.id, (), variant=variant, framework=script.framework, pairs=(f"seed={seed}",), device=None) as found:
            answer = diagnose(found, Options())
    except HarnessError as error:
        return f"error: {error}", math.nan, math.nan
    return answer.first.code if answer.first else answer.verdict, round(answer.seconds, 1), answer.imports_s
