"""`make bench`: reproduction over seeds, times and memory, as JSON. Figures only; the tests assert behaviour.

    python -m tests.bench --output build/bench.json            everything (some hours on 2 cores)
    python -m tests.bench --part list --part ratio              some of it
    python -m tests.bench --part reproduction --only bug03 --only "bug04 torch" --seeds 20
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness import errors
from harness.catalog.load import everything
from harness.paths import ROOT
from harness.process.environment import cores, for_script
from harness.runs import availability
from harness.runs.batch import run_many
from harness.runs.execute import prepare
from tests import overhead
from tests.corpus import figures, zoo

LIMIT_S = 180  # plain scripts have no harness around them that would end them


def seconds(command: list[str], environment: dict[str, str] | None = None) -> float | None:
    """Wall time of a command, in seconds; None if it had to be ended. Its output is thrown away, its status does not matter."""
    begun = time.perf_counter()
    try:
        subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False,
                       timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        return None
    return time.perf_counter() - begun


def chosen(options: argparse.Namespace) -> list[tuple[Any, Any]]:
    """The specimens and scripts that can run here, of those that `--only` names (`bug03`, `bug03 torch`, `torch`)."""
    pairs = [(bug, script) for bug in everything() for script in bug.file.scripts if availability.obstacle(script) is None]
    wanted = [set(text.split()) for text in options.only or []]
    return [(bug, script) for bug, script in pairs if not wanted or any(names <= {bug.id, script.framework} for names in wanted)]


def list_time(_options: argparse.Namespace) -> dict[str, Any]:
    """`python -m harness list`, cold interpreter each time."""
    taken = [taken for _ in range(20) if (taken := seconds([sys.executable, "-m", "harness", "list"])) is not None]
    return {"median_s": statistics.median(taken), "max_s": max(taken), "runs": len(taken)}


def ratio(options: argparse.Namespace) -> dict[str, Any]:
    """`run bugNN` against plain `python broken.py`, in turns, with the same environment variables."""
    found = {}
    for bug, script in chosen(options):
        variables = for_script(script.framework, quiet=True, offline=True)
        pairs, ended = [], 0
        for _ in range(options.repeats):
            plain = seconds([sys.executable, str(bug.path(script.framework, "broken"))], variables)
            harness = seconds([sys.executable, "-m", "harness", "run", bug.id, "--framework", script.framework], variables)
            if plain is None or harness is None:
                ended += 1
            else:
                pairs.append((plain, harness))
        found[f"{bug.id} {script.framework}"] = {"pairs": len(pairs), "pairs_ended_after_limit": ended} | ({
            "plain_s": statistics.median(plain for plain, _ in pairs), "run_s": statistics.median(run for _, run in pairs),
            "ratio": statistics.median(run / plain for plain, run in pairs)} if pairs else {})
        print(bug.id, script.framework, found[f"{bug.id} {script.framework}"], file=sys.stderr, flush=True)
    return found


def reproduction(options: argparse.Namespace) -> dict[str, Any]:
    """Broken shows its evidence and fixed learns, over seeds; own time (without imports) and peak memory beside it."""
    jobs = [prepare(bug, variant, framework=script.framework, seed=seed)
            for bug, script in chosen(options) for variant in ("broken", "fixed") for seed in range(options.seeds)]
    rows: dict[str, dict[str, Any]] = defaultdict(lambda: {"held": 0, "runs": 0, "own_s": [], "missed": [], "facts": defaultdict(list)})
    for finished in run_many(jobs, workers=cores()):
        row = rows[f"{finished.job.bug.id} {finished.job.framework} {finished.job.variant}"]
        row["runs"] += 1
        if finished.report is None:
            row["missed"].append(finished.error)
            continue
        report = finished.report
        row["held"] += report.verdict.holds
        if not report.verdict.holds:
            row["missed"].append({"seed": report.parameters["seed"],
                                  "checks": [f"{c.fact} {c.measured}, wanted {c.wanted}" for p in report.verdict.proofs
                                             for c in p.checks if not c.holds]})
        row["own_s"].append(report.own_s)
        for name in ("loss.last_mean", "evaluation.accuracy", "memory.resident_peak_bytes"):
            if isinstance(report.facts.get(name), int | float):
                row["facts"][name].append(report.facts[name])
        print(f"{finished.job.name} seed {report.parameters['seed']}: {report.verdict.word}", file=sys.stderr, flush=True)
    return {name: {"held": row["held"], "runs": row["runs"], "missed": row["missed"], "own_s": spread(row["own_s"]),
                   **{fact: spread(values) for fact, values in row["facts"].items()}} for name, row in rows.items()}


def spread(values: list[float]) -> dict[str, float] | None:
    """Least, median and most of some figures."""
    return {"min": min(values), "median": statistics.median(values), "max": max(values)} if values else None


def everything_once(_options: argparse.Namespace) -> dict[str, Any]:
    """`run --all`: all broken and fixed scripts, wall time in seconds."""
    begun = time.perf_counter()
    done = subprocess.run([sys.executable, "-m", "harness", "run", "--all", "--json"], cwd=ROOT, capture_output=True, check=False)
    document = json.loads(done.stdout)
    return {"wall_s": time.perf_counter() - begun, "held": document["held"], "total": document["total"],
            "exit_code_is_documented": done.returncode in (errors.OK, errors.NOT_SHOWN, errors.CHILD_DIED)}


def diagnosis(options: argparse.Namespace) -> dict[str, Any]:
    """The diagnosis on the zoo, at most five seeds of each script."""
    return zoo.measure(chosen(options), min(5, options.seeds))


def corpus(_options: argparse.Namespace) -> dict[str, Any]:
    """The diagnosis on the corpus of users' scripts: right fault, right line, false alarms."""
    return figures.document(figures.measure())


def watching(options: argparse.Namespace) -> dict[str, Any]:
    """Whole runs under watch, and after it has detached, against plain ones."""
    return overhead.measure(repeats=min(3, options.repeats))


PARTS: dict[str, Callable[[argparse.Namespace], dict[str, Any]]] = {
    "list": list_time, "ratio": ratio, "all": everything_once, "reproduction": reproduction, "diagnosis": diagnosis, "corpus": corpus,
    "overhead": watching}


def main() -> None:
    """Measure the parts asked for; what is measured is written at once, so that an interrupted bench keeps it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "bench.json")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=5, help="of each pair of runs that are compared")
    parser.add_argument("--only", action="append", help="a specimen, a framework, or both; may be repeated; default: all")
    parser.add_argument("--part", action="append", choices=PARTS, help="a part to measure; may be repeated; default: all")
    options = parser.parse_args()
    options.output.parent.mkdir(parents=True, exist_ok=True)
    document: dict[str, Any] = {
        "date": time.strftime("%Y-%m-%d"), "python": platform.python_version(), "cores": cores(), "machine": os.uname().machine,
        "versions": {name: availability.version(name) for name in ("torch", "transformers", "tensorflow", "tf-keras", "datasets", "numpy")}}
    for name in options.part or PARTS:
        document[name] = PARTS[name](options)
        options.output.write_text(json.dumps(document, indent=2) + "\n")
        print(json.dumps({name: document[name]}, indent=2), flush=True)


if __name__ == "__main__":
    main()
