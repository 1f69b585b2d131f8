"""Options of the command line, made from their declarations, and output that several commands share."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import click

from sledlab.cli.completion import option_completer
from sledlab.errors import Error
from sledlab.lazy import later
from sledlab.model.catalog import ModelChoice
from sledlab.runs.options import (
    LIST_OPTIONS,
    Option,
    PluginOptions,
    SimulateOptions,
    SourceOptions,
    StudyOptions,
    declared_options,
    several_values,
)
from sledlab.runs.parsing import count, names, number
from sledlab.show import table_files, terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from sledlab.display import DisplayedResult
    from sledlab.traces.reading import ReadingOptions

suppress_progress = later("sledlab.show.progress:suppress_progress")
static_figures = later("sledlab.show.document:static_figures")
Columns = later("sledlab.show.columns:Columns")
Trace, File = later("sledlab.traces.read:Trace"), later("sledlab.traces.read:File")
make_reading_options = later("sledlab.traces.reading:ReadingOptions")

F = TypeVar("F", bound="Callable[..., Any]")

DEVICE = Option("Preset (sledlab list device), file, or disk+flash:8GB.", "NAME|FILE")

READING: Mapping[str, Option] = {
    "format": Option("Trace format", "F", "detected from the content", advanced=True),
    "columns": Option(
        "Columns of a table, such as time=epoch_s:s,op=verb,offset=lba:sectors,length=bytes.",
        "MAP",
        advanced=True,
    ),
    "sort": Option("Sort requests that are out of order by up to N lines.", read=count, advanced=True),
    "start": Option(
        "Time 0: first (request) | zero (of the times in the file).", "AT", "first", advanced=True
    ),
    "spread": Option(
        "Distribute requests with equal times over S seconds, the resolution of the times.",
        "S",
        read=number,
        advanced=True,
    ),
    "sector_bytes": Option(
        "Bytes of a sector in the format srt.", "N", "as the trace states", read=count, advanced=True
    ),
}
"""Options for reading a trace."""

SOURCE: Mapping[str, Option] = {
    "trace": Option("Trace file, or sample:NAME (sledlab list trace).", "FILE"),
    **READING,
    "workload": Option("Generated workload (sledlab list workload).", "NAME"),
}
"""Options that name the source of requests: a trace or a workload."""

SETTINGS = {"settings": declared_options(SourceOptions)["settings"]}
"""The option `--set`, for any setting without an option of its own."""

PLUGINS = declared_options(PluginOptions)
"""The option `--allow-plugins`, for commands that read files which may name plug-ins."""

REPLACE = {"replace": Option("Delete existing sledlab results in DIR first.", read=bool, advanced=True)}
"""The option that goes with `--out`."""


class NumberType(click.ParamType[Any]):
    """A number, read and checked by a function of `sledlab.runs.parsing`.

    Args:
        read: Reads the number from a word.
    """

    name = "number"

    def __init__(self, read: Callable[[str], float]) -> None:
        self.read = read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number that a word spells; defaults are numbers already.

        Raises:
            Error: The word is no number, or the number is out of range.
        """
        with name_option(param):
            return self.read(value) if isinstance(value, str) else value


NUMBER = NumberType(number)
"""A number with a fraction."""


def whole_number(minimum: int = 1) -> NumberType:
    """A whole number that may be written as `1e6` or `10k`, from a smallest one accepted."""
    return NumberType(partial(count, minimum=minimum))


@contextmanager
def name_option(parameter: click.Parameter | None) -> Iterator[None]:
    """Name the option in errors about its value."""
    try:
        yield
    except Error as error:
        flag = max(parameter.opts, key=len) if parameter is not None else ""
        raise Error(f"`{flag}`: {error.message}", error.place, error.remedy) from error


class SingleValueOption(click.Option):
    """An option that rejects a second value. `click` would keep the last one without a warning.

    Args:
        takes_list: Whether the value is a list, with commas between its items.
        advanced: Whether `--help` omits it; `--help-all` shows it.
    """

    def __init__(
        self, *args: Any, takes_list: bool = False, advanced: bool = False, **attributes: Any
    ) -> None:
        super().__init__(*args, **attributes)
        self.takes_list = takes_list
        self.advanced = advanced

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Have the parser collect all values."""
        if self.multiple or self.is_flag or self.count:
            super().add_to_parser(parser, ctx)
        else:
            parser.add_option(obj=self, opts=self.opts, dest=self.name, action="append", nargs=self.nargs)

    def consume_value(self, ctx: click.Context, opts: Mapping[str, Any]) -> tuple[Any, Any]:
        """Return the only value.

        Raises:
            Error: There are several values.
        """
        values = None if self.multiple or self.is_flag or self.count else opts.get(str(self.name))
        if values is None:
            return super().consume_value(ctx, opts)
        if len(values) > 1 and not ctx.resilient_parsing:
            raise self._repetition_error(values)
        return super().consume_value(ctx, {**opts, str(self.name): values[-1]})

    def _repetition_error(self, values: Sequence[Any]) -> Error:
        """Return the error about an option that is given several times."""
        flag = max(self.opts, key=len)
        repetition_text = "twice" if len(values) == 2 else f"{len(values)} times"
        remedy = f"use {flag} {','.join(values)}" if self.takes_list else "keep one of them"
        return Error(f"`{flag}` is given {repetition_text}", remedy=remedy)


option = partial(click.option, cls=SingleValueOption)
"""Decorator for an option of a command; all commands use it instead of `click.option`."""

seed_option = option(
    "--seed",
    metavar="N",
    type=whole_number(0),
    default=1,
    show_default=True,
    help="Seed of all random numbers.",
)
json_option = option("--json", "as_json", is_flag=True, help="Print only JSON.")


def _suppress_progress(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value:
        context.with_resource(suppress_progress())


quiet_option = option(
    "-q",
    "--quiet",
    "quiet",
    is_flag=True,
    advanced=True,
    expose_value=False,
    callback=_suppress_progress,
    help="Show no progress.",
)


def _disable_scripts(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value:
        context.with_resource(static_figures())


no_plot_option = option(
    "--no-plot",
    is_flag=True,
    advanced=True,
    help="Print no plot below the tables on a terminal.",
)


def _check_tables(context: click.Context, _parameter: click.Parameter, file: str | None) -> None:
    if file is not None:
        table_files.check_name(file)
        context.meta[TABLES] = file


TABLES = "sledlab.tables"
"""Key of the file of `--save` in the data of a command."""

tables_option = option(
    "--save",
    metavar="FILE",
    expose_value=False,
    callback=_check_tables,
    help="Also write the printed tables as .md or .tex.",
    advanced=True,
)


def save_tables(result: DisplayedResult) -> None:
    """Write the tables of a result into the file of `--save`, if there is one."""
    if file := click.get_current_context().meta.get(TABLES):
        table_files.write(result, file)


static_option = option(
    "--static",
    is_flag=True,
    advanced=True,
    expose_value=False,
    callback=_disable_scripts,
    help="Write static images instead of interactive figures.",
)


def click_option(name: str, declaration: Option) -> click.Option:
    """Return the option of `click` for a declared option."""
    flag = f"--{declaration.flag or name.replace('_', '-')}"
    default = f"  [default: {declaration.default}]" if declaration.default else ""
    takes_list = "," in declaration.metavar

    def read(_context: click.Context, parameter: click.Parameter, value: Any) -> Any:
        if name in LIST_OPTIONS and not takes_list and value is not None and len(items := names(value)) > 1:
            raise several_values(name, len(items), flag)
        # The message about a repeated option names the option with its key.
        with nullcontext() if declaration.repeated else name_option(parameter):
            return None if value is None else declaration.read(value)

    if declaration.read is bool:
        return SingleValueOption(
            [flag, name],
            is_flag=True,
            advanced=declaration.advanced,
            help=declaration.meaning,
            callback=_switch_value,
        )
    return SingleValueOption(
        [flag, name],
        metavar=declaration.metavar,
        multiple=declaration.repeated,
        takes_list=takes_list,
        advanced=declaration.advanced,
        required=declaration.required,
        callback=read,
        help=f"{declaration.meaning}{default}",
        shell_complete=option_completer(name),
    )


def _switch_value(_context: click.Context, _parameter: click.Parameter, value: bool) -> bool | None:
    """`True` for a switch that is set, `None` for one that is not: so that it overrides nothing."""
    return value or None


def options(declarations: Mapping[str, Option]) -> Callable[[F], F]:
    """A decorator that adds several options to a command; help lists them in this order."""

    def decorate(function: F) -> F:
        params = function.__dict__.setdefault("__click_params__", [])
        params.extend(click_option(name, option) for name, option in reversed(list(declarations.items())))
        return function

    return decorate


def sort_options(
    all_options: Mapping[str, Option], *, device: bool | str = True, takes_requests: bool = True
) -> dict[str, Option]:
    """Options in the order of help: device, source, axes of a study, models, replay, settings, and the rest.

    Args:
        all_options: The options of a run or of a study.
        device: Whether the command takes one device; a name is its default device.
        takes_requests: Whether the command takes a trace or a workload.
    """
    run_options, source_options, study_options = map(
        declared_options, (SimulateOptions, SourceOptions, StudyOptions)
    )
    axis_options = {
        name: option for name, option in all_options.items() if name not in {*run_options, *study_options}
    }
    model_names = [name for name in run_options if name not in source_options]
    later_names = [
        *model_names,
        *source_options,
        *(name for name in study_options if name not in source_options),
    ]
    default = device if isinstance(device, str) else ""
    device_option = {"device": replace(DEVICE, default=default)} if device else {}
    request_options = SOURCE if takes_requests else {}
    return {
        **device_option,
        **request_options,
        **axis_options,
        **{name: all_options[name] for name in later_names if name in all_options},
    }


def request_source(option_values: Mapping[str, Any]) -> Any:
    """The trace or the workload that options name; `None` where they name neither, or several.

    Raises:
        Error: The options contradict each other.
    """
    trace, workload = (unwrap_single(option_values.get(name)) for name in ("trace", "workload"))
    reading_flags = [f"--{name.replace('_', '-')}" for name in READING if option_values.get(name)]
    if trace and workload:
        raise Error("both --trace and --workload were given", remedy="keep one of them")
    if reading_flags and not trace:
        raise Error(f"{reading_flags[0]} was given without --trace", remedy="omit it, or name the trace")
    if isinstance(trace, list) or isinstance(workload, list):
        if reading_flags:
            raise Error(f"{reading_flags[0]} applies to a single trace", remedy="omit it, or give one trace")
        return None
    if trace:
        reading = reading_options(option_values)
        return Trace(trace, reading.format, File(trace, reading))
    return ModelChoice("workload", workload) if workload else None


def reading_options(option_values: Mapping[str, Any]) -> ReadingOptions:
    """How a trace is read, by the options in `READING`."""
    fields_by_option = {"sort": "sort_window", "spread": "spread_s"}
    values_by_field = {
        fields_by_option.get(name, name): option_values[name]
        for name in READING
        if option_values.get(name) is not None
    }
    reading: ReadingOptions = make_reading_options(**values_by_field)
    return reading


def unwrap_single(value: Any) -> Any:
    """The only value of a list; any other value as it is."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def show_table(head: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[str] = ()) -> None:
    """Print a table; columns in `right` are aligned to the right, others but the first may be folded."""
    left_columns = {index for index, name in enumerate(head) if name not in right}
    Columns(head, [*rows], left_columns, left_columns - {0}).print(terminal.console())


def show_json(value: Any) -> None:
    """Print plain data as JSON."""
    terminal.say_json(value)
