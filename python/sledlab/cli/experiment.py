"""`sledlab experiment`: list, show and run experiments that come with sledlab, by name."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from sledlab.cli.completion import experiment_or_file, items
from sledlab.cli.group import SuggestingGroup
from sledlab.cli.options import json_option, option, show_json, show_table
from sledlab.errors import unknown
from sledlab.lazy import tomllib
from sledlab.model.experiment import experiment as known
from sledlab.model.experiment import heading, names, study_of, text_of
from sledlab.model.settings import to_toml
from sledlab.show import terminal
from sledlab.studies import LIST

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from click.shell_completion import CompletionItem


SINGLE = ("simulate", "smart replay", "device seek-map")
"""Commands for experiments that sweep nothing."""


@click.group(cls=SuggestingGroup)
def experiment() -> None:
    """List, show and run experiments that come with sledlab, by name.

    Their names do wherever the file of an experiment or a study is expected: what exists, has an ending or a
    directory in its name is a file, any other word a name.

    \b
    Examples:
      sledlab experiment list
      sledlab experiment show paper-002-figure-2
      sledlab experiment run paper-001-buffer --limit 1000 --out buffer
      sledlab compare paper-002-figure-4 --limit 2000 --speedups 1 --seeds 1
    """


@experiment.command("list")
@json_option
def experiment_list(*, as_json: bool) -> None:
    """All experiments: what each shows, and the study that runs it."""
    found = known.list()
    if as_json:
        show_json([{"name": each.name, "meaning": each.meaning, "study": each.study} for each in found])
        return
    show_table(("name", "study", "meaning"), [(each.name, each.study, each.meaning) for each in found])


@experiment.command("show")
@click.argument("name", shell_complete=experiment_or_file)
@option("--toml", "as_toml", is_flag=True, help="Print the file, with its comments and sources.")
@json_option
def experiment_show(name: str, *, as_toml: bool, as_json: bool) -> None:
    """What an experiment shows, which study runs it, and its file: NAME is a name or a file."""
    text = text_of(name)
    if as_toml:
        terminal.say_file(text)
        return
    tables = tomllib.loads(text)
    if as_json:
        entry = asdict(known.show(name)) if name in names() else {"name": name, "meaning": ""}
        show_json({**{key: entry[key] for key in ("name", "meaning")}, "study": study_of(tables), **tables})
        return
    terminal.say(f"{name}: {heading(text)}\n")
    show_table(("key", "value"), list(_flat(tables)))
    terminal.say(f"Run it: sledlab experiment run {name} --out DIR")


def _flat(tables: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    """All keys of a document with their values, in order."""
    for key, value in tables.items():
        at = f"{path}.{key}" if path else key
        if isinstance(value, dict) and value and not (path == "study.vary" or path.startswith("study.vary.")):
            yield from _flat(value, at)
        else:
            yield at, to_toml(value)


class _Run(click.Group):
    """Runs an experiment: its name stands where groups have the name of a command."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of the study that runs an experiment, bound to that experiment."""
        return None if ctx.resilient_parsing and cmd_name not in names() else bound(ctx, cmd_name)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The names of all experiments, and options."""
        return [*items(names(), incomplete), *super().shell_complete(ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes, in place of a list of commands, how to see the options of a study."""
        with formatter.section("Options of a study"):
            formatter.write_text("sledlab experiment run NAME --help")


@experiment.group("run", cls=_Run, subcommand_metavar="NAME [OPTIONS OF ITS STUDY]...")
def experiment_run() -> None:
    """Run an experiment: NAME is a name (sledlab experiment list) or a file.

    All options of the study that runs it may follow; they win over what the experiment says.

    \b
    Examples:
      sledlab experiment run paper-000-figure-4
      sledlab experiment run paper-001-buffer --limit 1000 --out buffer
      sledlab experiment run why-not-an-ssd --limit 500 --json
    """


def bound(ctx: click.Context, name: str) -> click.Command:
    """The command that runs an experiment, without the argument that names it.

    Raises:
        Error: There is no such experiment.
    """
    runner = command_of(ctx, study_of(tomllib.loads(text_of(name))))
    argument = next(each for each in runner.params if isinstance(each, click.Argument))

    def run(**said: Any) -> Any:
        assert runner.callback is not None
        return runner.callback(**{str(argument.name): name}, **said)

    params = [each for each in runner.params if each is not argument]
    return click.Command(name, callback=run, params=params, help=runner.help)


def command_of(ctx: click.Context, study: str) -> click.Command:
    """The command for experiments of a study, found by its words, so that no other command is imported.

    Raises:
        Error: There is no such study.
    """
    listed = next((each for each in LIST if each.folder == study.replace("-", "_")), None)
    if listed is None and study not in SINGLE:
        raise unknown("study", study, [each.folder.replace("_", "-") for each in LIST])
    words = study.split()
    if listed is not None and listed.under:
        # A study that options of another study's command choose has no command of its own.
        words = [listed.under] if study == "side-by-side" else [listed.under, study]
    command = ctx.find_root().command
    for word in words:
        assert isinstance(command, click.Group)
        found = command.get_command(ctx, word)
        assert found is not None, f"there is no command `{word}`"
        command = found
    return command
