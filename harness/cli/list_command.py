"""`list`: the specimens, a line each."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from harness.catalog.load import Bug


@click.command("list", epilog="\b\nExamples:\n  python -m harness list\n  python -m harness list --json | python -m json.tool")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array instead of the table.")
def command(as_json: bool) -> None:
    """The specimens: id, symptom, frameworks."""
    from harness.catalog.load import find, folders
    from harness.errors import CatalogError

    bugs, unreadable = [], []
    for name in folders():
        try:
            bugs.append(find(name))
        except CatalogError as error:
            unreadable.append(error)
    if as_json:
        click.echo(json.dumps([{"id": bug.id, "title": bug.file.title, "symptom": bug.file.symptom, "frameworks": bug.frameworks,
                                "devices": {s.framework: s.devices for s in bug.file.scripts}} for bug in bugs], indent=2))
    else:
        _table(bugs)
    if unreadable:
        # The others are shown all the same; each file that cannot be read is a line.
        raise CatalogError("\nerror: ".join(map(str, unreadable)))


def _table(bugs: list[Bug]) -> None:
    width = max((len(bug.file.title) for bug in bugs), default=0)
    for bug in bugs:
        click.echo(f"{bug.id}  {bug.file.title:<{width}}  {', '.join(bug.frameworks)}")
    click.echo("\npython -m harness show bug03    what it shows, its parameters\npython -m harness run bug03     see it happen", err=False)
