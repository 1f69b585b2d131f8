"""`sledlab trace`: info, head, hits, convert, slice, merge, generate, calibrate."""

from __future__ import annotations

from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sledlab import _native
from sledlab.cli.completion import model_completer, trace_or_file
from sledlab.cli.group import SuggestingGroup
from sledlab.cli.options import (
    PLUGINS,
    SETTINGS,
    Count,
    json_option,
    option,
    options,
    quiet_option,
    seed_option,
    show_json,
    show_table,
)
from sledlab.errors import Error
from sledlab.files import check_writable
from sledlab.lazy import later
from sledlab.runs.options import Option
from sledlab.runs.parsing import KIB, MB, size, sizes, whole_numbers, words
from sledlab.show import terminal
from sledlab.traces.columns import WRITABLE_FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable

    from sledlab.traces.read import Trace

allowed_plugins = later("sledlab.model.plugins:allowed_plugins")
describe = later("sledlab.model.device:describe")
add_location = later("sledlab.model.error_location:add_location")
Progress = later("sledlab.show.progress:Progress")
pluralize = later("sledlab.show.wording:pluralize")
figure = later("sledlab.show.wording:figure")
percent = later("sledlab.show.wording:percent")
trace_info = later("sledlab.cli.trace_info")
run_calibration = later("sledlab.studies.calibration:calibrate")
calibration_words = later("sledlab.studies.calibration.summary")
ratios = later("sledlab.traces.hits")
table = later("sledlab.traces.table")
read_trace = later("sledlab.traces.read:read_trace")
Steps = later("sledlab.traces.steps:Steps")

format_option = option("--format", metavar="F", help="Trace format; default: detected from the content.")
sort_option = option(
    "--sort",
    metavar="N",
    type=Count(minimum=0),
    default=0,
    help="Sort requests that are out of order by up to N lines.",
)
to_option = option(
    "--to",
    metavar="F",
    help=f"Format to write: {', '.join(WRITABLE_FORMATS)}; default: from the name of OUT.",
)
device_column_option = option(
    "--device-column", is_flag=True, help="Keep device numbers, as a further column."
)
media_only_option = option("--media-only", is_flag=True, help="Omit trims and flushes.")


@click.group(cls=SuggestingGroup)
def trace() -> None:
    """Inspect, convert, cut, merge and generate traces, and calibrate generators."""


def pass_trace(function: Callable[..., None]) -> Callable[..., None]:
    """Passes a command the trace that FILE, --format and --sort name."""

    @wraps(function)
    def run(file: str, format: str | None, sort: int, **option_values: Any) -> None:
        function(read_trace(file, format, sort_window=sort), **option_values)

    return run


@trace.command("info")
@click.argument("file", shell_complete=trace_or_file)
@format_option
@sort_option
@json_option
@pass_trace
def info(trace: Trace, *, as_json: bool) -> None:
    """Survey a trace: rate, sizes, working set, bursts, reuse."""
    trace_info.print_info(trace, as_json=as_json)


@trace.command("hits")
@click.argument("file", shell_complete=trace_or_file)
@options(
    {
        "replacement": Option(
            "Replacement policies (sledlab list replacement), or all.",
            "P,P,..",
            "all",
            read=words,
        ),
        "cache_mb": Option(
            "Cache sizes.", "MB,MB", "1 to 50 % of the footprint", read=partial(sizes, unit=MB)
        ),
    }
)
@option(
    "--segment-kb",
    metavar="KB",
    default="64",
    show_default=True,
    help="Segment size: unit of loading and eviction.",
)
@format_option
@sort_option
@json_option
@pass_trace
def hits(
    trace: Trace,
    replacement: list[str] | None,
    cache_mb: list[float] | None,
    segment_kb: str,
    *,
    as_json: bool,
) -> None:
    """Compute hit ratios by replacement policy and cache size.

    \b
    Examples:
      sledlab trace hits app.csv --replacement lru,arc,belady --cache-mb 16,64,256
    """
    segment = size(segment_kb, KIB)
    result = ratios.hit_ratios(trace, replacement=replacement or "all", cache_mb=cache_mb, segment_kb=segment)
    if as_json:
        show_json(result.to_dict())
        return
    terminal.say(
        f"{result.segments:,} segments of {segment:g} KB are used, {figure(result.footprint_mb)} MB. "
        "Hits by size of the cache:"
    )
    sizes = dict.fromkeys(row.cache_mb for row in result.rows)
    head = ("policy", *(f"{figure(mb)} MB" for mb in sizes))
    rows = {row.policy: [row.policy] for row in result.rows}
    for row in result.rows:
        rows[row.policy].append(percent(row.hit_ratio))
    show_table(head, rows.values(), right=head[1:])


@trace.command("head")
@click.argument("file", shell_complete=trace_or_file)
@option(
    "-n",
    "--rows",
    metavar="N",
    type=Count(),
    default=10,
    show_default=True,
    help="Number of requests to show.",
)
@format_option
@sort_option
@json_option
@pass_trace
def head(trace: Trace, rows: int, *, as_json: bool) -> None:
    """Print the first requests of a trace."""
    result = table.to_rows(_native.limit(trace.open(), operations=rows))
    if as_json:
        show_json(result)
        return
    head = ("time_us", "op", "offset_bytes", "length_bytes", "device")
    cells = [[f"{row[name]}" for name in head] for row in result]
    show_table(head, cells, right=[name for name in head if name != "op"])


def _write(source: _native.Source, out: str, to: str | None, **selected: bool) -> None:
    """Writes a stream of requests with a progress bar, and prints how many there were."""
    if out != "-":
        check_writable(Path(out))
    with Progress("writing") as progress:
        count = table.write(source, out, to, progress=progress.update, **selected)
    terminal.tell(f"wrote {pluralize(count, 'request')} to {out}")


@trace.command("convert")
@click.argument("file", shell_complete=trace_or_file)
@click.argument("out")
@format_option
@to_option
@sort_option
@device_column_option
@quiet_option
@media_only_option
@pass_trace
def convert(trace: Trace, **where: Any) -> None:
    """Write a trace in another format; OUT may end in .gz or .zst."""
    _write(trace.open(), **where)


@trace.command("slice")
@click.argument("file", shell_complete=trace_or_file)
@click.argument("out")
@format_option
@to_option
@sort_option
@option(
    "--from",
    "from_s",
    metavar="S",
    type=click.FloatRange(min=0),
    default=0.0,
    help="Drop requests that arrive before S.",
)
@option(
    "--until",
    "until_s",
    metavar="S",
    type=click.FloatRange(min=0),
    help="Drop requests that arrive at S or later.",
)
@option(
    "--keep-times",
    is_flag=True,
    help="Keep times as they are, instead of counting from the start of the window.",
)
@options({"devices": Option("Keep requests to devices N only.", "N,N", flag="device", read=whole_numbers)})
@option("--range", "block_range", metavar="A:B", help="Keep requests that begin in blocks A to B - 1.")
@option(
    "--shift", metavar="BLOCKS", type=int, help="Add to every address, in blocks; negative moves towards 0."
)
@option("--place", is_flag=True, help="Place the devices of the trace one after another on one device.")
@option("--fit", metavar="DEVICE", help="Fit addresses to the capacity of a device, according to --outside.")
@option(
    "--outside",
    metavar="HOW",
    default="scale",
    show_default=True,
    help="Addresses past the end, with --fit: wrap | clip | scale.",
)
@option("--speedup", metavar="X", type=float, help="Divide the times between arrivals by X.")
@option("--limit", metavar="N", type=Count(), help="Keep the first N of the remaining requests.")
@options(PLUGINS)
@device_column_option
@quiet_option
@media_only_option
@pass_trace
def cut(
    trace: Trace,
    out: str,
    to: str | None,
    *,
    devices: list[int] | None,
    device_column: bool,
    media_only: bool,
    allow_plugins: bool | None,
    **steps: Any,
) -> None:
    """Cut a trace by time, device and range; shift and scale it.

    Steps are applied in the order in which the options are listed below.
    """
    with add_location(None, {"device": steps["fit"]}):
        allowed = allowed_plugins({"fit": steps["fit"], "allow_plugins": allow_plugins})
        selected = Steps(**steps, devices=devices or (), plugins=allowed).open(trace)
    _write(selected, out, to, device_column=device_column, media_only=media_only)


@trace.command("merge")
@click.argument("files", nargs=-1, required=True, shell_complete=trace_or_file)
@option("--save", "out", metavar="FILE", required=True, help="The file to write.")
@format_option
@to_option
@sort_option
@option("--keep-devices", is_flag=True, help="Equal device numbers in different files are the same device.")
@option("--place", is_flag=True, help="Place the devices one after another on one device.")
@device_column_option
@quiet_option
@media_only_option
def merge(
    files: tuple[str, ...],
    out: str,
    format: str | None,
    sort: int,
    *,
    keep_devices: bool,
    place: bool,
    **where: Any,
) -> None:
    """Merge traces in order of arrival, each as one device."""
    if out in files:
        raise Error(f"`{out}` is both input and output", remedy="choose another --save")
    traces = [read_trace(file, format, sort_window=sort) for file in files]

    def merge_traces() -> _native.Source:
        return _native.merge([trace.open() for trace in traces], keep_devices)

    source = merge_traces()
    if place:
        _, extents, _ = _native.survey(merge_traces())
        source = _native.place(source, extents)
    _write(source, out, **where)


@trace.command("generate")
@click.argument("name", shell_complete=model_completer("workload"))
@click.argument("out")
@option(
    "--device",
    metavar="NAME|FILE",
    default="mems-g2",
    show_default=True,
    help="Device whose capacity the requests cover.",
)
@option("--limit", metavar="N", type=Count(), help="Number of requests.")
@seed_option
@options({**SETTINGS, **PLUGINS})
@quiet_option
@to_option
def generate(
    name: str,
    out: str,
    device: str,
    limit: int | None,
    seed: int,
    settings: dict[str, str],
    to: str | None,
    *,
    allow_plugins: bool | None,
) -> None:
    """Write a generated workload (sledlab list workload) as a trace."""
    with add_location(None, {"device": device}):
        allowed = allowed_plugins({"allow_plugins": allow_plugins}, device)
        capacity = describe(_native.Experiment().with_device(device).with_plugins(allowed))["capacity_blocks"]
    lines = [] if limit is None else [f"requests = {limit}"]
    for key, value in settings.items():
        table, _, parameter = key.partition(".")
        if table != "workload":
            raise Error(
                f"`--set {key}={value}` does not change the workload", remedy="write --set workload.key=value"
            )
        lines.append(f"{parameter} = {value}")
    _write(_native.Source.generate(name, "\n".join(lines), seed, capacity, [name]), out, to)


@trace.command("calibrate")
@click.argument("name")
@seed_option
@json_option
def calibrate(name: str, seed: int, *, as_json: bool) -> int:
    """Compare a generated trace with published statistics.

    The statistics are those of the recorded trace that the generator imitates. NAME is cello, cello-12h,
    hplajw, hplajw-2h, snake, tpcd or tpcc. The exit code is 1 if a published number is missed by more than
    3 %.
    """
    result = run_calibration(name, seed)
    if as_json:
        show_json(result.to_dict())
    else:
        head = calibration_words.HEAD
        show_table(head, [calibration_words.cells(row) for row in result.rows], right=head[1:4])
        terminal.say(calibration_words.choices(result))
        terminal.say(calibration_words.answer(result))
    return 0 if result.passes else 1
