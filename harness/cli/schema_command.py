"""`schema`: JSON Schema of the documents that `--json` prints."""

from __future__ import annotations

import json

import click


@click.command("schema", epilog="\b\nExample:\n  python -m harness schema run")
@click.argument("document", type=click.Choice(["run"]))
def command(document: str) -> None:
    """JSON Schema of a command's --json document."""
    from harness.runs.report import schema

    click.echo(json.dumps(schema(), indent=2))
