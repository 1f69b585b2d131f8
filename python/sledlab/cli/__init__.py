"""The command line: `sledlab simulate`, `compare`, `diff`, `hybrid`, `power`, `smart`, `device` and the rest.

Exit codes: 0 done, 2 invalid input, 1 an internal error; 130 stopped by Ctrl-C, 143 by SIGTERM,
129 by SIGHUP.
"""

from __future__ import annotations

import gc
import sys
import warnings
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import click

from sledlab._native import __version__
from sledlab.cli import errors, streams
from sledlab.cli.group import LazyCommand, LazyGroup, LegibleHelp
from sledlab.errors import Error, InternalError, Notice
from sledlab.lazy import later, load_object
from sledlab.show import terminal
from sledlab.stop_signals import exit_code, stop_on_signals
from sledlab.studies import LIST

if TYPE_CHECKING:
    from collections.abc import Iterator

documentation_address = later("sledlab.cli.setup:address")


def sections() -> dict[str, dict[str, LazyCommand]]:
    """Return all commands by name, by the title of their section in the help."""
    meanings_by_study = {study.name: study.meaning for study in LIST if not study.parent}
    commands_by_study = {
        name: LazyCommand("study:command", meaning) for name, meaning in meanings_by_study.items()
    }
    groups_by_study = {
        "fleet": LazyCommand("fleet:fleet", meanings_by_study["fleet"]),
        "smart": LazyCommand("smart:smart", meanings_by_study["smart"]),
    }
    return {
        "Run": {
            "simulate": LazyCommand("simulate:simulate", "Replay a trace or workload on a device."),
            "compare": commands_by_study.pop("compare"),
            "serve": LazyCommand("serve:serve", "Serve a simulated device as a network block device (NBD)."),
            "view": LazyCommand("view:view", "Open the laboratory: simulations in one page of the browser."),
        },
        "Study": {**commands_by_study, **groups_by_study},
        "Results": {
            "plot": LazyCommand("plot:plot", "Draw the figure of a run or study from its saved results."),
            "explain": LazyCommand("explain:explain", "Explain the response time of one request of a run."),
            "diff": LazyCommand("diff:diff", "Compare two runs request by request."),
            "reproduce": LazyCommand("reproduce:reproduce", "Reproduce figures and claims of the papers."),
        },
        "Models and data": {
            "list": LazyCommand("list:list_command", "List models, jobs, sample traces and experiments."),
            "show": LazyCommand("show:show_command", "Show one of them with its parameters."),
            "device": LazyCommand("device:device", "Compute seek times, import a device of DiskSim."),
            "trace": LazyCommand("trace:trace", "Inspect, convert, cut, merge and generate traces."),
            "check": LazyCommand("check:check", "Test a plug-in class, or a disk against measurements."),
        },
        "Setup": {
            "init": LazyCommand("init:init", "Write an example file to start from."),
            "doctor": LazyCommand("doctor:doctor", "Check the installation: optional packages and programs."),
            "setup": LazyCommand("setup:setup", "Shell completion, man pages, JSON Schemas, documentation."),
        },
    }


SYNONYMS = {
    "race": "compare",
    "replay": "simulate",
    "run": "simulate",
    "sweep": "compare --vary",
    "validate": "check --measured",
}
"""What users may mean by words that other programs have as commands."""


class RootGroup(LazyGroup):
    """The group of all commands."""

    def remedy(self, word: str, known: list[str]) -> str:
        """Return the remedy for an unknown command; a kind of model is an argument of `list` and `show`."""
        if word in load_object("sledlab.cli.kinds:KINDS"):
            return f"`sledlab list {word}` lists all, `sledlab show {word} NAME` shows one"
        suggestion = SYNONYMS.get(word) or " or ".join(self._find_commands(word))
        return f"did you mean `sledlab {suggestion}`?" if suggestion else super().remedy(word, known)

    def _find_commands(self, word: str) -> list[str]:
        """Return the commands of a name within groups, such as `setup docs`."""
        context = click.Context(self)
        commands_by_name = {name: self.get_command(context, name) for name in self.lazy_commands}
        return [
            f"{name} {word}"
            for name, group in commands_by_name.items()
            if isinstance(group, click.Group) and word in group.list_commands(context)
        ]

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the address of the documentation at the end of the help."""
        if address := documentation_address():
            formatter.write_paragraph()
            formatter.write_text(f"Documentation: {address}")


click.Context.formatter_class = LegibleHelp  # for every command, also for those that do not say so


@click.group(
    cls=RootGroup,
    sections=sections(),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(__version__, "-V", "--version", prog_name="sledlab")
def cli() -> None:
    """A laboratory for MEMS storage: replay block traces, see times, energy and the causes of both.

    \b
    Try:  sledlab simulate --device mems-g2 --workload uniform --limit 100000
          sledlab simulate --device mems-g2 --trace sample:oltp-bank-a --out run
          sledlab compare --device mems-g2 --trace sample:oltp-bank-a --out race
    """


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    streams.prepare()
    gc.freeze()  # imported modules stay: no garbage collection needs to look at them, the last one included
    with stop_on_signals():
        code = run(arguments)
    sys.exit(code)


def run(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    words = sys.argv[1:] if arguments is None else arguments
    try:
        with _print_notices():
            code = cli.main(errors.decode_arguments(words), prog_name="sledlab", standalone_mode=False)
        sys.stdout.flush()
    except streams.WriteError as write_error:
        # A reader that closes the pipe of our output (`| head`) is no mistake, and gets no message.
        streams.discard_output()
        return 0 if write_error.reader_closed else _refuse(errors.output_error(write_error.reason), words)
    except click.ClickException as mistake:
        if errors.is_help_request(mistake):
            return _report(mistake.format_message(), mistake.exit_code)
        return _refuse(errors.usage_error(mistake, cli, words), words)
    except (KeyboardInterrupt, click.Abort) as error:
        interrupt = error.__cause__ if isinstance(error, click.Abort) else error
        notes = getattr(interrupt, "__notes__", ())
        return _report(": ".join(["interrupted", *notes]), exit_code(interrupt))
    except UnicodeEncodeError as error:
        return _refuse(errors.encoding_error(error), words)
    except Error as error:
        if not (
            error.place
            and error.place.file in streams.STDOUT
            and error.message.startswith(streams.WRITE_ERROR_PREFIX)
        ):
            return _refuse(error, words)
        return (
            0 if streams.BROKEN_PIPE in error.message else _refuse(errors.output_error(error.message), words)
        )
    except OSError as error:
        return _refuse(errors.system_error(error), words)
    except InternalError as error:
        return _report(f"internal error: {error}", 1)
    return code if isinstance(code, int) else 0


@contextmanager
def _print_notices() -> Iterator[None]:
    """Print a `Notice` as one line without the source line; other warnings are unchanged."""
    default_show = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *location: Any, **options: Any) -> None:
        if issubclass(category, Notice):
            terminal.tell(f"warning: {message}")
        else:
            default_show(message, category, *location, **options)

    with warnings.catch_warnings():
        warnings.simplefilter("always", Notice)
        warnings.showwarning = show
        yield


def _refuse(error: Error, words: list[str]) -> int:
    """Print an error of the user with its remedy, and return the exit code 2."""
    return _report(f"error: {errors.with_remedy(error, cli, words)}", 2)


def _report(message: str, code: int) -> int:
    try:
        sys.stdout.flush()
    except streams.WriteError:  # the message matters more
        streams.discard_output()
    with suppress(OSError):  # after SIGHUP the terminal is gone
        terminal.tell(message)
    return code
