"""`sledlab trace`: info, head, hits, convert, slice, merge, generate, calibrate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sledlab import _native
from sledlab.cli.completion import model_completer, trace_or_file
from sledlab.cli.group import SuggestingGroup
from sledlab.cli.options import (
    NUMBER,
    PLUGINS,
    SETTINGS,
    json_option,
    option,
    options,
    quiet_option,
    seed_option,
    show_json,
    show_table,
    whole_number,
)
from sledlab.cli.trace_files import (
    device_column_option,
    media_only_option,
    open_trace,
    pass_trace,
    reading_option_group,
    show_notes,
    to_option,
    write_requests,
)
from sledlab.cli.trace_hits import hits
from sledlab.errors import Error
from sledlab.files import check_writable
from sledlab.lazy import later
from sledlab.model.ranges import MAX_COUNT
from sledlab.runs.options import Option
from sledlab.runs.parsing import whole_numbers, words
from sledlab.show import figure_files, terminal

if TYPE_CHECKING:
    from sledlab.traces.read import Trace

allowed_plugins = later("sledlab.model.plugins:allowed_plugins")
describe = later("sledlab.model.device:describe")
add_location = later("sledlab.model.error_location:add_location")
figure = later("sledlab.show.wording:figure")
share = later("sledlab.show.wording:share")
trace_info = later("sledlab.cli.trace_info")
run_calibration = later("sledlab.studies.calibration:calibrate")
calibration_summary = later("sledlab.studies.calibration.summary")
reuse_figure = later("sledlab.show.reuse_figure")
table = later("sledlab.traces.table")
Steps = later("sledlab.traces.steps:Steps")
JoinedTraces = later("sledlab.traces.joined:JoinedTraces")


@click.group(cls=SuggestingGroup)
def trace() -> None:
    """Inspect, convert, cut, merge and generate traces, and calibrate generators."""


@trace.command("info")
@click.argument("file", shell_complete=trace_or_file)
@options(
    {
        "cache_mb": Option(
            "Cache sizes, whole numbers in rising order.", "MIB,MIB", "64,256,512", read=whole_numbers
        )
    }
)
@option("--device", metavar="NAME|FILE", help="Count the cylinders of this device that each hour uses.")
@option("--save", metavar="FILE", help="Write a figure of the reuse distances: .svg, .png or .pdf.")
@reading_option_group
@json_option
@pass_trace
def info(
    trace: Trace, *, cache_mb: list[int] | None, device: str | None, save: str | None, as_json: bool
) -> None:
    """Survey a trace: rate, sizes, working set, bursts, reuse."""
    if save is not None:
        figure_files.check_name(save)
        check_writable(Path(save))
    with add_location(None, {"device": device}):
        characteristics = trace.info(cache_mb=cache_mb, device=device)
    trace_info.print_info(trace, characteristics, as_json=as_json)
    if save is not None:
        figure_files.write(reuse_figure.draw(characteristics), save)


trace.add_command(hits)


@trace.command("head")
@click.argument("file", shell_complete=trace_or_file)
@option(
    "-n",
    "--rows",
    "row_count",
    metavar="N",
    type=whole_number(),
    default=10,
    show_default=True,
    help="Number of requests to show.",
)
@reading_option_group
@json_option
@pass_trace
def head(trace: Trace, row_count: int, *, as_json: bool) -> None:
    """Print the first requests of a trace."""
    source = trace.open()
    rows = table.to_rows(_native.limit(source, operations=row_count))
    for row in rows:
        row["device"] = table.device_label(source, row["device"])
    show_notes(source)
    if as_json:
        show_json(rows)
        return
    columns = ("time_us", "op", "offset_bytes", "length_bytes", "device")
    cells = [[f"{row[name]}" for name in columns] for row in rows]
    show_table(columns, cells, right=[name for name in columns if name != "op"])


@trace.command("convert")
@click.argument("file", shell_complete=trace_or_file)
@click.argument("out")
@reading_option_group
@to_option
@device_column_option
@quiet_option
@media_only_option
@pass_trace
def convert(trace: Trace, **output_options: Any) -> None:
    """Write a trace in another format; OUT may end in .gz or .zst."""
    source = trace.open()
    write_requests(source, noted_sources=[source], **output_options)


@trace.command("slice")
@click.argument("file", shell_complete=trace_or_file)
@click.argument("out")
@reading_option_group
@to_option
@option(
    "--from",
    "after",
    metavar="T",
    default="0",
    help="Drop requests before T: seconds from the first request, a time of day (10:30) or a date, in UTC.",
)
@option("--until", "before", metavar="T", help="Drop requests at T or later.")
@option(
    "--keep-times",
    is_flag=True,
    help="Keep times as they are, instead of counting from the start of the window.",
)
@option(
    "--device",
    "devices",
    metavar="NAME",
    multiple=True,
    help="Keep requests to these devices only, named as in sledlab trace info; NAME,NAME or repeatable.",
)
@options(
    {
        "ops": Option(
            "Keep these operations only: reads, writes, trims, flushes.", "OP,OP", flag="only", read=words
        )
    }
)
@option("--range", "block_range", metavar="A:B", help="Keep requests that begin in blocks A to B - 1.")
@option("--scale-addresses", metavar="X", type=NUMBER, help="Multiply every address by X; lengths stay.")
@option(
    "--shift",
    metavar="BLOCKS",
    type=whole_number(-MAX_COUNT),
    help="Add to every address, in blocks; negative moves towards 0.",
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
@option(
    "--repeat",
    metavar="N",
    type=whole_number(),
    default=1,
    help="Replay the remaining requests N times, one after another.",
)
@option("--speedup", metavar="X", type=NUMBER, help="Divide the times between arrivals by X.")
@option("--limit", metavar="N", type=whole_number(), help="Keep the first N of the remaining requests.")
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
    devices: tuple[str, ...],
    ops: list[str] | None,
    device_column: bool,
    media_only: bool,
    allow_plugins: bool | None,
    **steps: Any,
) -> None:
    """Cut, shift, scale and repeat a trace.

    Steps are applied in the order in which the options are listed below.
    """
    with add_location(None, {"device": steps["fit"]}):
        plugins = allowed_plugins({"fit": steps["fit"], "allow_plugins": allow_plugins})
        cut_source = Steps(**steps, devices=devices, ops=ops or (), plugins=plugins).open(trace)
    # Without a column for them, devices are numbered from 0, as is the only device of a trace.
    output_source = (
        cut_source if device_column or not devices else _native.merge([cut_source], join_devices=False)
    )
    write_requests(
        output_source, out, to, noted_sources=[cut_source], device_column=device_column, media_only=media_only
    )


@trace.command("merge")
@click.argument("files", nargs=-1, required=True, shell_complete=trace_or_file)
@option("--save", "out", metavar="FILE", required=True, help="The file to write.")
@reading_option_group
@to_option
@option(
    "--keep-devices",
    is_flag=True,
    help="Devices with equal names in different files are the same device.",
)
@option("--in-sequence", is_flag=True, help="Start each trace after the end of the one before.")
@option("--place", is_flag=True, help="Place the devices one after another on one device.")
@device_column_option
@quiet_option
@media_only_option
def merge(
    files: tuple[str, ...],
    out: str,
    *,
    keep_devices: bool,
    in_sequence: bool,
    place: bool,
    to: str | None,
    device_column: bool,
    media_only: bool,
    **reading: Any,
) -> None:
    """Merge traces in order of arrival.

    Traces whose times are dates keep their distance. Others are taken to be recorded from the same instant
    on.
    """
    if out in files:
        raise Error(f"`{out}` is both input and output", remedy="choose another --save")
    traces = [open_trace(file, dict(reading)) for file in files]
    joined = JoinedTraces(traces, keep_devices=keep_devices, in_sequence=in_sequence)
    source = joined.open()
    if place:
        _, extents, _ = _native.survey(joined.open())
        source = _native.place(source, extents)
    write_requests(
        source, out, to, noted_sources=joined.sources, device_column=device_column, media_only=media_only
    )
    if note := joined.clock_note():
        terminal.tell(f"note: {note}")


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
@option("--limit", metavar="N", type=whole_number(), help="Number of requests.")
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
        plugins = allowed_plugins({"allow_plugins": allow_plugins}, device)
        capacity = describe(_native.Experiment().with_device(device).with_plugins(plugins))["capacity_blocks"]
    lines = [] if limit is None else [f"requests = {limit}"]
    for key, value in settings.items():
        table_name, _, parameter = key.partition(".")
        if table_name != "workload":
            raise Error(
                f"`--set {key}={value}` does not change the workload", remedy="write --set workload.key=value"
            )
        lines.append(f"{parameter} = {value}")
    write_requests(_native.Source.generate(name, "\n".join(lines), seed, capacity, [name]), out, to)


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
    calibration = run_calibration(name, seed)
    if as_json:
        show_json(calibration.to_dict())
    else:
        columns = calibration_summary.HEAD
        show_table(columns, [calibration_summary.cells(row) for row in calibration.rows], right=columns[1:4])
        terminal.say_sentences(calibration_summary.choices(calibration))
        terminal.say_sentences(calibration_summary.answer(calibration))
    return 0 if calibration.passes else 1
