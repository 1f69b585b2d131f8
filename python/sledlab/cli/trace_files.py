"""Options and functions of the commands that read and write trace files."""

from __future__ import annotations

from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab import _native
from sledlab.cli.options import READING, option, options, reading_options
from sledlab.files import check_writable
from sledlab.lazy import later
from sledlab.show import terminal
from sledlab.traces.columns import DEVICE_FIELDS, WRITABLE_FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sledlab.traces.read import Trace

Progress = later("sledlab.show.progress:Progress")
pluralize = later("sledlab.show.wording:pluralize")
table = later("sledlab.traces.table")
format_to_write = later("sledlab.traces.columns:format_to_write")
trace_in_file = later("sledlab.traces.read:trace_in_file")

MAX_LISTED_DEVICES = 20
"""Most devices in a message."""

reading_option_group = options(READING)
to_option = option(
    "--to",
    metavar="F",
    help=f"Format to write: {', '.join(WRITABLE_FORMATS)}; default: from the name of OUT.",
)
device_column_option = option("--device-column", is_flag=True, help="Write the devices, as a further column.")
media_only_option = option("--media-only", is_flag=True, help="Omit trims and flushes.")


def pass_trace(function: Callable[..., None]) -> Callable[..., None]:
    """Pass a command the trace that FILE and the options for reading name."""

    @wraps(function)
    def run(file: str, **option_values: Any) -> None:
        function(open_trace(file, option_values), **option_values)

    return run


def open_trace(file: str, option_values: dict[str, Any]) -> Trace:
    """Open a trace by the options for reading, which are removed from `option_values`."""
    reading = reading_options({name: option_values.pop(name) for name in READING})
    trace: Trace = trace_in_file(file, reading)
    return trace


def show_notes(source: _native.Source) -> None:
    """Print what the reader of a trace omitted and noticed."""
    for note in source.continuation.notes():
        terminal.tell(f"note: {note}")


def write_requests(
    source: _native.Source,
    out: str,
    to: str | None,
    *,
    noted_sources: Sequence[_native.Source] = (),
    **write_options: bool,
) -> None:
    """Write a stream of requests with a progress bar; print how many there were, and notes."""
    if out != "-":
        check_writable(Path(out))
    device_field = DEVICE_FIELDS[format_to_write(out, to)]
    has_devices = write_options.get("device_column") or device_field not in ("column", "absent")
    if has_devices:
        source = _native.number_by_name(source)
    with Progress("writing") as progress:
        request_count = table.write(source, out, to, progress=progress.update, **write_options)
    terminal.tell(f"wrote {pluralize(request_count, 'request')} to {out}")
    for noted_source in noted_sources:
        show_notes(noted_source)
    if has_devices and device_field != "name":
        _show_device_numbers(source)


def _show_device_numbers(source: _native.Source) -> None:
    """Print the numbers that stand for names of devices in a file with numbers only."""
    names = [name.decode(errors="replace") for name in source.continuation.names()]
    pairs = [f"{number} is {name}" for number, name in enumerate(names) if name and name != str(number)]
    if pairs:
        ellipsis = ", ..." if len(pairs) > MAX_LISTED_DEVICES else ""
        terminal.tell(f"note: devices: {', '.join(pairs[:MAX_LISTED_DEVICES])}{ellipsis}")
