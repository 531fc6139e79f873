"""`list`: the specimens, a line each."""

from __future__ import annotations

import json

import click


@click.command("list", epilog="\b\nExamples:\n  python -m harness list\n  python -m harness list --json | python -m json.tool")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array instead of the table.")
def command(as_json: bool) -> None:
    """The specimens: id, symptom, frameworks."""
    from harness.catalog.load import everything

    bugs = everything()
    if as_json:
        click.echo(json.dumps([{"id": bug.id, "title": bug.file.title, "symptom": bug.file.symptom, "frameworks": bug.frameworks,
                                "devices": {s.framework: s.devices for s in bug.file.scripts}} for bug in bugs], indent=2))
        return
    width = max((len(bug.file.title) for bug in bugs), default=0)
    for bug in bugs:
        click.echo(f"{bug.id}  {bug.file.title:<{width}}  {', '.join(bug.frameworks)}")
    click.echo("\npython -m harness show bug03    what it shows, its parameters\npython -m harness run bug03     see it happen", err=False)
