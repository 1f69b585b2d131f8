"""Requests that reach the simulator through Python: tables in memory, and Parquet files."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from sledlab import _native
from sledlab.traces.columns import PARQUET, is_parquet
from sledlab.traces.read import ParquetFile
from sledlab.traces.reading import ReadingOptions

if TYPE_CHECKING:
    from sledlab.traces.read import Opener


@dataclass(frozen=True)
class OpenStream:
    """An open stream, and the first block after its highest request where that is needed."""

    source: _native.Source | None = None
    highest_end: int | None = None


def open_stream(
    experiment: _native.Experiment, opener: Opener | None
) -> tuple[_native.Experiment, OpenStream]:
    """The experiment, and the stream of its requests where the simulator cannot open that by itself.

    Args:
        experiment: The experiment; a Parquet trace that it names is opened.
        opener: Opens a trace to replay instead of the source that the experiment names.
    """
    if opener is None:
        file, format_name = experiment.setting("trace.file"), experiment.setting("trace.format")
        if file is None or not is_parquet(file, format_name or None):
            return experiment, OpenStream()
        opener = ParquetFile(file, _reading_options(experiment))
        experiment = experiment.with_setting("trace.format", PARQUET)
    devices = experiment.setting("trace.devices")
    highest_end = None
    if experiment.setting("replay.outside") == "scale":
        highest_end = max(_native.survey(open_on_one_device(opener, devices))[1], default=0)
    return experiment, OpenStream(open_on_one_device(opener, devices), highest_end)


def _reading_options(experiment: _native.Experiment) -> ReadingOptions:
    """How an experiment reads its trace."""
    default = ReadingOptions()
    names = [field.name for field in fields(default)]
    values_by_name = {name: experiment.setting(f"trace.{name}") for name in names}
    return ReadingOptions(
        **{name: type(getattr(default, name))(value) for name, value in values_by_name.items() if value}
    )


def open_on_one_device(opener: Opener, devices: str | None) -> _native.Source:
    """Open the requests with the devices of the trace made one, as `devices` (`trace.devices`) says."""
    if devices == "place":
        return _native.place(opener.open(), _native.survey(opener.open())[1])
    if devices == "overlay":
        return _native.overlay(opener.open())
    return opener.open()
