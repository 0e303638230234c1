"""The `pyto` command: its groups, its exit codes and what happens to exceptions."""

from __future__ import annotations

import datetime
import os
import platform
import shlex
import sys
import traceback
from typing import Any

import click

import pyto
from pyto.errors import InternalError, PytoError

EXIT_CODES = """\b
Exit codes:
  0   done
  1   the kernel (or a file it is in) is wrong
  2   the command line is wrong: an option, a path, a name
  3   no compiler, a compiler that failed, an unwritable cache
  4   the arguments do not fit the kernel, or it failed while it ran
  70  a fault of pyto
"""

EXAMPLES = """\b
Examples:
  pyto compile kernel.py -o out
  pyto run kernel.py:rms_norm --dim B=16 --seed 0
  pyto ir kernel.py --list
  pyto doctor
"""


class Lazy(click.Group):
    """Loads a command's module when it is used: `pyto --help` stays quick."""

    COMMANDS = ("compile", "run", "ir", "explain", "doctor")

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.COMMANDS:
            return None
        import importlib

        module = importlib.import_module(f"pyto.cli.{cmd_name}_command")
        command: click.Command = module.command
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        import difflib

        name = args[0] if args else ""
        if name and not name.startswith("-") and name not in self.COMMANDS:
            close = difflib.get_close_matches(name, self.COMMANDS, n=1)
            ctx.fail(f"no command {name!r}" + (f"; did you mean {close[0]!r}?" if close else ""))
        return super().resolve_command(ctx, args)


@click.command(cls=Lazy, context_settings={"help_option_names": ["-h", "--help"]}, epilog=f"{EXIT_CODES}\n\n{EXAMPLES}")
@click.version_option(pyto.__version__, "-V", "--version", message="pyto %(version)s")
@click.option(
    "--debug", is_flag=True, envvar="PYTO_DEBUG", help="Show the Python traceback of an error (also PYTO_DEBUG=1)."
)
@click.pass_context
def cli(ctx: click.Context, debug: bool) -> None:
    """Tile-level Python kernels to Ascend C, and to numbers on any CPU."""
    ctx.obj = {"debug": debug}


def run(args: list[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    sys.exit(main(args))


def main(args: list[str] | None = None) -> int:
    """Run the command line; its exit code."""
    from pyto.cli.console import show_error

    argv = sys.argv[1:] if args is None else args
    debug = "--debug" in argv or os.environ.get("PYTO_DEBUG", "") not in ("", "0")
    try:
        result = cli.main(args=argv, prog_name="pyto", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.Abort:
        return 130
    except click.ClickException as error:
        error.show()
        return 2
    except PytoError as error:
        if debug:
            traceback.print_exc()
        show_error(error)
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        show_error(internal(error, argv))
        if debug:
            traceback.print_exc()
        return InternalError.exit_code


def internal(error: Exception, argv: list[str]) -> InternalError:
    """An unexpected exception as an InternalError, its traceback in a log file."""
    from pyto.build.cache import Cache

    stamp = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
    text = "".join(traceback.format_exception(error))
    head = f"pyto {pyto.__version__}, Python {platform.python_version()}, {platform.platform()}\n"
    head += f"$ pyto {shlex.join(argv)}\n"
    log = Cache().log(f"internal-{stamp}-{os.getpid()}", f"{head}\n{text}")
    return InternalError(f"{type(error).__name__}: {error}", id="internal.unexpected", log=str(log))
