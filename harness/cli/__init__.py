"""The command line: parse, call a room, print. Each command is a module of its own, imported only when it is asked for."""

from __future__ import annotations

import importlib
import signal
import sys
from typing import Any

import click

from harness import __version__
from harness.errors import INTERRUPTED, HarnessError

_COMMANDS = {
    "list": "the specimens: id, symptom, frameworks",
    "show": "one specimen: what it shows, its parameters, what proves it",
    "run": "run a specimen and judge it by its evidence",
    "diagnose": "walk the pipeline of a specimen or of any script, and name the first cause",
    "notebook": "a specimen as a notebook: an exercise, or executed as a walkthrough",
    "docs": "build or serve the site, keep its translations in step",
    "doctor": "what is installed here, and which specimens can run",
    "schema": "JSON Schema of a command's --json document",
}
_EXIT_CODES = """\b
Exit codes:
  0    what was asked for happened (the symptom showed, the fix learnt)
  1    it did not
  2    bad input, or something is missing here
  3    no such specimen
  4    the child process timed out or died
  130  interrupted (129, 143: ended by SIGHUP, SIGTERM)"""


class _Lazy(click.Group):
    """Imports a command's module when it is used, so that `list` never pays for `run`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        found = importlib.import_module(f"harness.cli.{name}_command").command
        assert isinstance(found, click.Command)
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and args[0] not in _COMMANDS and not args[0].startswith("-"):
            ctx.fail(f"no command {args[0]!r}; there are {', '.join(_COMMANDS)}")
        return super().resolve_command(ctx, args)


@click.group(cls=_Lazy, epilog=_EXIT_CODES, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="bug-zoo")
def _root() -> None:
    """The Bug Zoo: training failures that can be run, diagnosed and fixed.

    \b
    Examples:
      python -m harness list
      python -m harness run bug03
      python -m harness run bug03 --fixed
      python -m harness run bug02 -p num_labels=5 -p seed=1
    """


class _Terminated(BaseException):
    """SIGTERM or SIGHUP: ends the children on the way out, as Ctrl-C does (whose exception click would turn into its own)."""


def _terminate(number: int, _frame: object) -> None:
    raise _Terminated(128 + number)


def main(args: list[str] | None = None) -> None:
    """Run the command line and exit with its documented code."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _terminate)
    try:
        code = _root.main(args, prog_name="python -m harness", standalone_mode=False)
    except HarnessError as error:
        click.echo(f"error: {error}", err=True)
        code = error.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        code = 2
    except click.ClickException as error:
        click.echo(f"error: {error.format_message()} (try --help)", err=True)
        code = 2
    except _Terminated as ended:
        click.echo("terminated; the child processes were ended", err=True)
        code = ended.args[0]
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted; the child processes were ended", err=True)
        code = INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
        code = 128 + signal.SIGPIPE
    sys.exit(code if isinstance(code, int) else 0)
