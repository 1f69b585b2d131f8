"""The command line: `sledlab simulate`, `compare`, `diff`, `hybrid`, `power`, `device`, `trace` and the rest.

Exit codes: 0 done, 2 the user's mistake, 1 ours, 130 interrupted.
"""

from __future__ import annotations

import os
import sys

import click

from sledlab import __version__
from sledlab.cli.group import LazyGroup
from sledlab.errors import Error, InternalError


@click.group(
    cls=LazyGroup,
    lazy={
        "simulate": ("sledlab.cli.simulate", "simulate", "Replay a trace or workload against a device."),
        "compare": (
            "sledlab.cli.compare",
            "compare",
            "Race schedulers against each other over a range of loads.",
        ),
        "diff": ("sledlab.cli.diff", "diff", "Compare two runs request by request."),
        "hybrid": (
            "sledlab.cli.hybrid",
            "hybrid",
            "Study MEMS in front of a disk; list and show hybrids.",
        ),
        "power": ("sledlab.cli.power", "power", "Study where energy goes; list and show power policies."),
        "device": ("sledlab.cli.device", "device", "List, show, map and import devices."),
        "trace": ("sledlab.cli.trace", "trace", "Inspect, convert, cut, merge and generate traces."),
        "replacement": ("sledlab.cli.catalogue", "replacement", "List and show replacement policies."),
        "scheduler": ("sledlab.cli.catalogue", "scheduler", "List and show schedulers."),
        "validate": ("sledlab.cli.validate", "validate", "Hold models to what was measured on real drives."),
        "workload": ("sledlab.cli.catalogue", "workload", "List, show and calibrate workload generators."),
    },
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(__version__, prog_name="sledlab")
def cli() -> None:
    """A laboratory for MEMS storage: replay block traces, see time, energy and where they went.

    \b
    Try:  sledlab simulate --device mems-g2 --workload uniform --limit 100000
          sledlab simulate --device mems-g2 --trace sample/traces/oltp-bank-a.csv.zst --out run
          sledlab compare --device mems-g2 --trace sample/traces/oltp-bank-a.csv.zst --out race
    """


def main(arguments: list[str] | None = None) -> None:
    """Runs the command line and exits with its code."""
    sys.exit(run(arguments))


def run(arguments: list[str] | None = None) -> int:
    """Runs the command line and returns its exit code."""
    try:
        code = cli.main(arguments, prog_name="sledlab", standalone_mode=False)
        sys.stdout.flush()
    except Error as error:
        if error.place and error.place.file == "<stdout>" and "Broken pipe" in error.message:
            return 0
        return _tell(f"error: {error}", 2)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        return _tell("interrupted", 130)
    except BrokenPipeError:
        # The reader of our output has left (`| head`): nothing is wrong, nothing more to say.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _tell(f"error: {error.filename or 'file'}: {error.strerror or error}", 2)
    except InternalError as error:
        return _tell(f"internal error: {error}", 1)
    return code if isinstance(code, int) else 0


def _tell(text: str, code: int) -> int:
    click.echo(text, err=True)
    return code
