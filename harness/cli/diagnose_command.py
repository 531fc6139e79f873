"""`diagnose`: walk the pipeline of a specimen, a script or a notebook, and name the first cause."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from harness.catalog.schema import Variant
    from harness.checks.tensor_facts import Site
    from harness.diagnosis.record import Diagnosis

_EXAMPLES = """\b
Examples:
  python -m harness diagnose bug02
  python -m harness diagnose bug02 --fixed
  python -m harness diagnose train.py --epochs 3        (what follows is the script's)
  python -m harness diagnose --json train.py > diagnosis.json
  python -m harness diagnose --format html --output report.html notebook.ipynb

Exit codes: 0 nothing found, 1 a fault was found, 2 bad input, no training
or no verdict, 3 no such specimen, 4 it timed out or died before a verdict."""
_SPECIMEN = re.compile(r"(?:bug)?\d{1,2}(?:_\w+)?", re.IGNORECASE)
_TAIL_BYTES = 4000


@click.command("diagnose", epilog=_EXAMPLES, context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--fixed", is_flag=True, help="A specimen's fixed script instead of the broken one.")
@click.option("-p", "pairs", multiple=True, metavar="NAME=VALUE", help="Set a parameter of a specimen; may be repeated.")
@click.option("--framework", help="tensorflow (tf) or torch, for a specimen.")
@click.option("--device", help="cpu, xla, lazy or cuda, for a specimen.")
@click.option("--timeout", type=click.FloatRange(0, min_open=True), default=180.0, show_default=True, metavar="S",
              help="Seconds for everything, imports included.")
@click.option("--watch", type=click.FloatRange(0, min_open=True), default=20.0, show_default=True, metavar="S",
              help="Seconds of training to watch.")
@click.option("--format", "form", type=click.Choice(["text", "json", "markdown", "html"]), default="text", help="Form of the report.")
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option("--output", type=click.Path(dir_okay=False, writable=True, path_type=Path), help="Write the report to a file.")
@click.option("--details", is_flag=True, help="Every check with its state and reason; with JSON the whole observation too.")
@click.option("--verbose", is_flag=True, help="Show the script's own output and the frameworks' logs.")
@click.argument("target")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def command(ctx: click.Context, *, target: str, arguments: tuple[str, ...], pairs: tuple[str, ...], fixed: bool, framework: str | None,
            device: str | None, timeout: float, watch: float, form: str, as_json: bool, output: Path | None, details: bool,
            verbose: bool) -> int:
    """Walk the pipeline of a specimen, a script or a notebook, and name the first cause."""
    if arguments and _SPECIMEN.fullmatch(target) and not Path(target).is_file():
        # A specimen's script takes no arguments of its own, so what follows its id are options of this command.
        before = sys.argv[sys.argv.index("diagnose") + 1:sys.argv.index(target)] if target in sys.argv and "diagnose" in sys.argv else []
        again = command.make_context("diagnose", [*before, *arguments, target], parent=ctx.parent)
        if again.params["arguments"] or again.params["target"] != target:  # an unknown option was taken for the target
            ctx.fail(f"specimens take no arguments: {' '.join(arguments)}")
        return int(command.invoke(again))

    from harness.diagnosis import subject
    from harness.diagnosis.diagnose import Options, diagnose

    form = "json" if as_json else form
    variant: Variant = "fixed" if fixed else "broken"
    options = Options(seconds=watch, timeout_s=timeout, verbose=verbose, keep_observation=details and form == "json")
    tail = bytearray()

    def keep(data: bytes, _is_error: bool) -> None:
        tail.extend(data)
        del tail[:-_TAIL_BYTES]
        if verbose:
            sys.stderr.buffer.write(data)
            sys.stderr.flush()

    with subject.resolve(target, arguments, variant=variant, framework=framework, pairs=pairs, device=device) as found, \
            _Progress(target) as progress:
        diagnosis = diagnose(found, options, keep, on_training=progress.again)
    text = _render(diagnosis, form, details)
    if output:
        output.write_text(text, encoding="utf-8")
        click.echo(f"written: {output}", err=True)
    else:
        click.echo(text, nl=False)
    return {"found": 1, "clean": 0}.get(diagnosis.verdict, 2)


def _render(diagnosis: Diagnosis, form: str, details: bool) -> str:
    if form == "json":
        from harness.runs.report import to_json

        return to_json(diagnosis).decode() + "\n"
    if form == "text":
        from harness.report import diagnosis_text

        return diagnosis_text.render(diagnosis, details=details)
    from harness.report import diagnosis_markup

    return diagnosis_markup.markdown(diagnosis) if form == "markdown" else diagnosis_markup.page(diagnosis)


class _Progress:
    """A spinner on a terminal, one line in a log."""

    def __init__(self, target: str) -> None:
        self._target = target

    def __enter__(self) -> _Progress:
        self._status = None
        text = f"watching {self._target} ..."
        if sys.stderr.isatty():
            from rich.console import Console

            self._status = Console(stderr=True).status(text)
            self._status.start()
        else:
            click.echo(text, err=True)
        return self

    def again(self, training: Site) -> None:
        """The script is run once more for another of its trainings."""
        text = f"nothing found yet; watching the training at line {training.line} of {self._target} ..."
        if self._status:
            self._status.update(text)
        else:
            click.echo(text, err=True)

    def __exit__(self, *_: object) -> None:
        if self._status:
            self._status.stop()
