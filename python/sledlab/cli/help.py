"""Help of commands with many options: the frequent ones in groups, all of them with `--help-all`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

GROUPS: Mapping[str, Sequence[str]] = {
    "Input": ("device", "trace", "format", "sort", "workload"),
    "Models": (
        *("scheduler", "power", "merge", "cache", "system", "hybrid", "front"),
        *("node", "host", "network", "at"),
    ),
    "Replay": (
        *("replay", "speedup", "warmup", "limit", "operations", "duration_s", "outside"),
        *("seed", "settings", "allow_plugins"),
    ),
    "Execution": ("parallel", "threads", "cluster", "send_trace", "share", "reuse"),
    "Output": ("out", "save", "replace", "requests", "perfetto", "static", "no_plot", "quiet", "as_json"),
}
"""Titles of groups of options, in the order of the help, and the names of the options of each."""

COMMAND_OPTIONS = "Options"
"""Title of the group of options that only some commands have. It follows the group of inputs."""

SHORT_HELP_GROUPS = {"Models": COMMAND_OPTIONS, "Execution": "Replay"}
"""Groups that are parts of other groups in the short help."""

SHOW_ALL_KEY = "sledlab.cli.help.all"
"""Key in the metadata of a context: whether the help shows all options."""


def _show_all(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        context.meta[SHOW_ALL_KEY] = True
        click.echo(context.get_help(), color=context.color)
        context.exit()


class GroupedHelp(click.Command):
    """A command whose help has groups of options, without the advanced ones."""

    def __init__(self, *args: Any, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        if any(is_advanced(parameter) for parameter in self.params):
            help_all_option = click.Option(
                ["--help-all"],
                is_flag=True,
                is_eager=True,
                expose_value=False,
                callback=_show_all,
                hidden=True,
            )
            self.params.append(help_all_option)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, a section for each group that has some."""
        shows_all = ctx.meta.get(SHOW_ALL_KEY, False)
        hidden_count, help_option = 0, self.get_help_option(ctx)
        records_by_title: dict[str, list[tuple[str, str]]] = {title: [] for title in _group_titles()}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is None or isinstance(parameter, click.Argument):
                continue
            if is_advanced(parameter) and not shows_all:
                hidden_count += 1
                continue
            title = "Output" if parameter is help_option else _group_title(str(parameter.name))
            title = title if shows_all else SHORT_HELP_GROUPS.get(title, title)
            records_by_title[title].append(record)
        for title, records in records_by_title.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)
        if hidden_count:
            formatter.write_text(f"({hidden_count} more options: {ctx.command_path} --help-all)")


def is_advanced(parameter: click.Parameter) -> bool:
    """Return whether only `--help-all` shows an option."""
    return bool(getattr(parameter, "advanced", False))


def _group_titles() -> Iterator[str]:
    first, *others = GROUPS
    yield from (first, COMMAND_OPTIONS, *others)


def _group_title(name: str) -> str:
    return next((title for title, names in GROUPS.items() if name in names), COMMAND_OPTIONS)
