"""`run`: run a specimen, or many, and judge by evidence."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from harness.catalog.schema import Variant
    from harness.runs.batch import Finished
    from harness.runs.execute import Job

_EXAMPLES = """\b
Examples:
  python -m harness run bug03
  python -m harness run bug03 --fixed
  python -m harness run bug03 -p checkpoint=minilm -p steps=60
  python -m harness run bug04 --framework tf
  python -m harness run bug06 --device cuda
  python -m harness run bug02 --seeds 5
  python -m harness run --all --json > runs.json

The evidence and the exit code say whether it happened: 0 the symptom showed (or
the fixed script learnt), 1 it did not, 2 bad input, 3 no such specimen, 4 the
child timed out or died, 130 interrupted."""


@click.command("run", epilog=_EXAMPLES)
@click.argument("bug", required=False)
@click.option("--all", "run_all", is_flag=True, help="Every specimen that can run here, broken and fixed, in each framework.")
@click.option("--fixed", is_flag=True, help="Run the fixed script instead of the broken one.")
@click.option("-p", "pairs", multiple=True, metavar="NAME=VALUE", help="Set a parameter of the script; may be repeated.")
@click.option("--framework", help="tensorflow (tf) or torch; default: the specimen's first that can run here.")
@click.option("--device", help="The same as -p device=...: cpu, xla, lazy or cuda.")
@click.option("--seeds", type=click.IntRange(1, 1000), metavar="N", help="Run N seeds, from the script's own (or -p seed=) upwards.")
@click.option("--jobs", type=click.IntRange(1, 64), help="Runs side by side with --all or --seeds; default: one per core.")
@click.option("--timeout", type=click.FloatRange(0, min_open=True), metavar="S", help="Seconds a run may take; default: by its budget.")
@click.option("--verbose", is_flag=True, help="Show the frameworks' own warnings and logs too.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON document on stdout; everything else goes to stderr.")
def command(bug: str | None, run_all: bool, fixed: bool, pairs: tuple[str, ...], framework: str | None, device: str | None,
            seeds: int | None, jobs: int | None, timeout: float | None, verbose: bool, as_json: bool) -> int:
    """Run a specimen and judge it by its evidence."""
    from harness.catalog.load import find
    from harness.errors import BadParameter
    from harness.runs.execute import prepare

    if run_all == (bug is not None):
        raise BadParameter("name one specimen, or give --all (python -m harness list shows them)")
    if run_all:
        if pairs or device:
            raise BadParameter("-p and --device belong to one specimen; leave them out with --all")
        return _many(_everything(framework, fixed, seeds or 1), jobs, timeout, verbose, as_json)
    assert bug is not None
    variant: Variant = "fixed" if fixed else "broken"
    job = prepare(find(bug), variant, framework=framework, pairs=pairs, device=device)
    if seeds is None:
        return _one(job, timeout, verbose, as_json)
    first = int(job.parameters.get("seed", 0))
    several = [prepare(find(bug), variant, framework=framework, pairs=pairs, device=device, seed=first + n) for n in range(seeds)]
    return _many(several, jobs, timeout, verbose, as_json)


def _one(job: Job, timeout: float | None, verbose: bool, as_json: bool) -> int:
    from harness.cli.live import LiveView
    from harness.report import text
    from harness.runs.execute import execute
    from harness.runs.report import to_json

    total = job.parameters.get("steps")
    with LiveView(job.name, int(total) if total is not None else None, to_stderr=as_json) as view:
        report = execute(job, quiet=not verbose, timeout_s=timeout, on_output=view.output, on_start=view.watch)
    if as_json:
        click.echo(to_json(report))
    else:
        click.echo(text.run(report))
        if report.verdict.word == "shown":
            click.echo(f"  the cause:  python -m harness show {report.bug} --cause")
            click.echo(f"  the fix:    python -m harness run {report.bug} --fixed"
                       + ("" if job.framework == job.bug.frameworks[0] else f" --framework {job.framework}"))
    return report.exit_code


def _everything(framework: str | None, fixed: bool, seeds: int) -> list[Job]:
    from harness.catalog.load import SHORT_NAMES, everything
    from harness.errors import BadParameter, MissingRequirement
    from harness.runs import availability
    from harness.runs.execute import prepare

    wanted = SHORT_NAMES.get(framework, framework) if framework else None
    if wanted not in (None, "torch", "tensorflow"):
        raise BadParameter(f"--framework {framework}: there are tensorflow (tf) and torch")
    variants: tuple[Variant, ...] = ("fixed",) if fixed else ("broken", "fixed")
    found = []
    for bug in everything():
        for script in bug.file.scripts:
            if wanted not in (None, script.framework):
                continue
            why = availability.obstacle(script)
            if why:
                click.echo(f"{bug.id} ({script.framework}) left out: {why}", err=True)
                continue
            for variant in variants:
                first = int(bug.defaults(script.framework, variant).get("seed", 0))
                found += [prepare(bug, variant, framework=script.framework, seed=first + number if seeds > 1 else None)
                          for number in range(seeds)]
    if not found:
        raise MissingRequirement("no specimen can run here; python -m harness doctor says why")
    return found


def _many(jobs: list[Job], workers: int | None, timeout: float | None, verbose: bool, as_json: bool) -> int:
    from harness import errors
    from harness.process.environment import cores
    from harness.runs.batch import run_many
    from harness.runs.report import to_json

    results: list[Finished] = []
    for finished in run_many(jobs, workers=workers or cores(), timeout_s=timeout, quiet=not verbose):
        results.append(finished)
        click.echo(_line(finished, len(results), len(jobs)), err=as_json)
        if verbose or (finished.error is not None):
            click.echo(finished.output, err=True, nl=False)
        sys.stdout.flush()
    reports = [result.report for result in results if result.report]
    held = sum(report.verdict.holds for report in reports)
    if as_json:
        click.echo(to_json({"format": 1, "runs": reports, "died": [{"run": r.job.name, "why": r.error} for r in results if r.error],
                            "held": held, "total": len(jobs)}))
    click.echo(f"{held} of {len(jobs)} runs gave what they should", err=as_json)
    if len(reports) < len(jobs):
        return errors.CHILD_DIED
    return errors.OK if held == len(jobs) else errors.NOT_SHOWN


def _line(finished: Finished, number: int, total: int) -> str:
    job = finished.job
    name = f"[{number}/{total}] {job.bug.id} {job.variant:<6} {job.framework:<10} seed {job.parameters.get('seed', '-')}"
    if finished.report is None:
        return f"{name}  DIED  {finished.error}"
    report = finished.report
    known = [loss for loss in report.losses if loss is not None]
    tail = f"loss {known[0]:.2f} -> {known[-1]:.2f}" if known else ""
    if report.exception:
        tail = f"{report.exception.type} ({report.exception.stage})"
    if not report.verdict.holds:
        missed = next((check for proof in report.verdict.proofs for check in proof.checks if not check.holds), None)
        tail += f"  missed: {missed.fact} {missed.measured}, wanted {missed.wanted}" if missed else "  missed"
    return f"{name}  {report.verdict.word:<9}  {report.own_s:5.1f} s  {tail}"
