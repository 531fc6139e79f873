"""`show`: one specimen, its parameters and what proves it."""

from __future__ import annotations

import json
import textwrap

import click


@click.command("show", epilog="\b\nExamples:\n  python -m harness show bug03\n  python -m harness show bug03 --cause\n"
                              "  python -m harness show bug03 --diff")
@click.argument("bug")
@click.option("--framework", help="tensorflow (tf) or torch; default: the specimen's first.")
@click.option("--cause", is_flag=True, help="Also tell the root cause.")
@click.option("--diff", is_flag=True, help="Print the fix as a diff, nothing else.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON document.")
def command(bug: str, framework: str | None, cause: bool, diff: bool, as_json: bool) -> None:
    """One specimen: what it shows, its parameters, what proves it."""
    from harness.catalog.load import find
    from harness.report import text

    found = find(bug)
    entry = found.script(framework) if framework else found.file.scripts[0]
    if diff:
        click.echo(text.diff(found, entry.framework), nl=False)
        return
    defaults = {variant: found.defaults(entry.framework, variant) for variant in ("broken", "fixed")}
    if as_json:
        import msgspec

        document = msgspec.to_builtins(found.file) | {"defaults": defaults}
        if not cause:
            document = {key: value for key, value in document.items() if key not in ("cause", "fault", "stage")}
        click.echo(json.dumps(document, indent=2))
        return
    click.echo(f"{found.id}: {found.file.title}\n")
    click.echo(textwrap.fill(found.file.symptom, 78) + "\n")
    if cause:
        click.echo(textwrap.fill(f"Cause ({found.file.stage}): {found.file.cause}", 78) + "\n")
    click.echo(f"Frameworks: {', '.join(found.frameworks)}; devices with {entry.framework}: {', '.join(entry.devices)}")
    if found.file.see_also:
        click.echo(f"See also: {', '.join(found.file.see_also)}")
    click.echo(f"\nParameters ({entry.framework}; -p name=value):")
    for name, default in defaults["broken"].items():
        parameter = found.file.parameters[name]
        head = f"  {name} = {default}"
        click.echo(textwrap.fill(f"{head:<34} {text.kind(parameter)}. {parameter.help}", 78, subsequent_indent=" " * 35))
    click.echo("\nWhat proves it:")
    for line in text.rules(found.file.evidence, entry.framework):
        click.echo(textwrap.fill(line, 78, subsequent_indent="    "))
    click.echo(f"\npython -m harness run {found.id}" + ("" if cause else f"\npython -m harness show {found.id} --cause"))
