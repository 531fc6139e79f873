"""`docs`: build the site, serve it while writing, and keep its translations in step."""

from __future__ import annotations

import time

import click

_EXAMPLES = """\b
Examples:
  python -m harness docs build             # everything that changed, into site/
  python -m harness docs serve             # http://127.0.0.1:8000, built again at every change
  python -m harness docs status            # translations that lag or are missing
  python -m harness docs subtitles         # docs/subtitles/bugNN.toml -> bugNN.en-LANG.srt
  python -m harness docs stamp bugs/bug03.md --lang ko    # this translation says what the English page says"""


@click.group(name="docs", epilog=_EXAMPLES)
def command() -> None:
    """Build the site, serve it, and keep its translations in step."""


@command.command()
@click.option("--force", is_flag=True, help="Build even if nothing has changed.")
def build(force: bool) -> int:
    """Execute what changed and build the site into site/."""
    from harness.site import build as site

    begun = time.monotonic()
    made = site.build(lambda line: click.echo(line, err=True), force=force)
    for line in site.report():
        click.echo(line)
    click.echo(f"site/ {'built' if made else 'is up to date'} ({time.monotonic() - begun:.1f} s)")
    return 0


@command.command()
@click.option("--address", default="127.0.0.1:8000", show_default=True, help="Where to listen.")
def serve(address: str) -> int:
    """Serve the site while you write; ends with Ctrl-C."""
    host, colon, port = address.rpartition(":")
    if not (host and colon and port.isdigit()):
        raise click.BadParameter(f"{address!r} is no address such as 127.0.0.1:8000", param_hint="--address")
    from harness.site import build as site

    return site.serve(address)


@command.command()
def status() -> int:
    """List the translations that lag behind their English page or are missing; 1 if there are any."""
    from harness.site import build as site
    from harness.site import prose

    lines = site.report()
    for line in lines:
        click.echo(line)
    states = list(prose.states().values())
    click.echo(f"{len(prose.names())} pages, {len(states)} translations: {states.count('current')} current, "
               f"{states.count('lagging')} lagging, {states.count('missing')} missing")
    return int(bool(lines))


@command.command()
@click.argument("pages", nargs=-1, required=True)
@click.option("--lang", "languages", multiple=True, help="Only this language; may be repeated.")
def stamp(pages: tuple[str, ...], languages: tuple[str, ...]) -> int:
    """Store in translations that they say what their English PAGES (paths under docs/, or `all`) say now."""
    from harness.site import prose
    from harness.site.text import LANGUAGES

    known = prose.names()
    unknown = [name for name in pages if name not in (*known, "all")] + [name for name in languages if name not in LANGUAGES[1:]]
    if unknown:
        raise click.UsageError(f"no page or language {unknown[0]!r}; pages are paths under docs/ such as bugs/bug03.md, "
                               f"languages {', '.join(LANGUAGES[1:])}")
    done = 0
    for name in known if "all" in pages else pages:
        for language in languages or LANGUAGES[1:]:
            if prose.read(name, language) is not None:
                prose.stamp(name, language)
                done += 1
    click.echo(f"stamped {done} translations")
    return 0


@command.command()
def subtitles() -> int:
    """Write the bilingual subtitles (.srt) of every narration."""
    from harness.paths import ROOT
    from harness.site import subtitles as site

    for path in site.write():
        click.echo(f"written: {path.relative_to(ROOT)}")
    return 0
