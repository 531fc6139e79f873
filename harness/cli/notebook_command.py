"""`notebook`: a specimen as a notebook to work in or to read."""

from __future__ import annotations

from pathlib import Path

import click

from harness.errors import BadParameter, MissingRequirement

_EXAMPLES = """\b
Examples:
  python -m harness notebook bug03                        # the exercise: bug03-tensorflow-exercise-en.ipynb
  python -m harness notebook bug03 --lang ko
  python -m harness notebook bug03 --walkthrough          # executed: run, diagnosis, cause, fix"""


@click.command(name="notebook", epilog=_EXAMPLES)
@click.argument("bug")
@click.option("--lang", "language", default="en", show_default=True, help="Language of the text: en, zh, it, ru, ko.")
@click.option("--walkthrough", is_flag=True, help="The whole story, executed, instead of the exercise.")
@click.option("--framework", help="torch or tensorflow, where the specimen has both.")
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="File to write; default: a name of its own, here.")
@click.option("--force", is_flag=True, help="Overwrite the file if it is there.")
def command(bug: str, language: str, walkthrough: bool, framework: str | None, output: Path | None, force: bool) -> int:
    """Write a specimen as a notebook (.ipynb)."""
    from harness.catalog.load import find
    from harness.site.text import LANGUAGES

    found = find(bug)
    if language not in LANGUAGES:
        raise BadParameter(f"no language {language!r}; there are {', '.join(LANGUAGES)}")
    name = found.script(framework).framework if framework else found.frameworks[0]
    kind = "walkthrough" if walkthrough else "exercise"
    path = output or Path(f"{found.id}-{name}-{kind}-{language}.ipynb")
    if path.exists() and not force:
        raise BadParameter(f"{path} is already there; give another --output, or --force")
    if not path.parent.is_dir():
        raise BadParameter(f"there is no folder {path.parent}; make it first, or give another --output")
    try:
        import nbformat
        import papermill
    except ImportError as error:
        raise MissingRequirement(f"notebooks need {error.name}; make install-docs installs it") from None
    del papermill  # only asked for: it is used where the notebook is executed

    from harness.site import exercise

    if walkthrough:
        from harness.site.executed import collect

        shown = collect([found], lambda text: click.echo(text, err=True), frameworks=(name,))[found.id, name]
        made = exercise.walkthrough(found, name, language, shown)
    else:
        made = exercise.exercise(found, name, language)
    nbformat.write(made, path)
    click.echo(f"written: {path}")
    return 0
