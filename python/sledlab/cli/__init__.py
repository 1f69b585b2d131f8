"""The command line: `sledlab simulate`, `compare`, `diff`, `hybrid`, `power`, `smart`, `device` and the rest.

Exit codes: 0 done, 2 the user's mistake, 1 ours, 130 interrupted.
"""

from __future__ import annotations

import os
import sys

import click

from sledlab._native import __version__
from sledlab.cli.group import Lazy, LazyGroup
from sledlab.errors import Error, InternalError
from sledlab.studies import LIST

STDOUT = ("<stdout>", "/dev/stdout")
"""Standard output, as errors name it."""


def commands() -> dict[str, Lazy]:
    """Every command: runs, studies, kinds of models, and the rest."""
    studies = {each.folder: Lazy("study:command", each.meaning) for each in LIST if not each.under}
    return {
        "simulate": Lazy("simulate:simulate", "Replay a trace or workload against a device."),
        **studies,
        "diff": Lazy("diff:diff", "Compare two runs request by request."),
        "device": Lazy("device:device", "List, show, map and import devices."),
        "trace": Lazy("trace:trace", "Inspect, convert, cut, merge and generate traces."),
        "cache": Lazy("catalogue:command", "List and show caches."),
        "merge": Lazy("catalogue:command", "List and show ways of merging."),
        "replacement": Lazy("catalogue:command", "List and show replacement policies."),
        "job": Lazy("job:job", "List and show jobs that storage nodes run."),
        "network": Lazy("network:network", "List and show networks of clusters."),
        "node": Lazy("network:node", "List and show nodes of clusters."),
        "scheduler": Lazy("catalogue:command", "List and show schedulers."),
        "smart": Lazy("smart:smart", studies["smart"].meaning),
        "system": Lazy("catalogue:command", "List and show ways of putting devices together."),
        "validate": Lazy("validate:validate", "Hold models to what was measured on real drives."),
        "workload": Lazy("workload:workload", "List, show and calibrate workload generators."),
    }


@click.group(
    cls=LazyGroup,
    lazy=commands(),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(__version__, "-V", "--version", prog_name="sledlab")
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
        if error.place and error.place.file in STDOUT and "Broken pipe" in error.message:
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
