"""`sledlab device`: seek-map and import."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sledlab import _native
from sledlab.cli.completion import model_completer
from sledlab.cli.group import SuggestingGroup
from sledlab.cli.options import (
    SETTINGS,
    json_option,
    option,
    options,
    show_json,
    static_option,
)
from sledlab.display import find_presentation
from sledlab.errors import Error
from sledlab.files import atomic_write, check_writable
from sledlab.lazy import later
from sledlab.model.experiment import experiment_file, is_name, read_toml_text
from sledlab.model.settings import document
from sledlab.show import terminal
from sledlab.toml_text import parse_toml

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager

    from sledlab.model.error_location import add_location
else:
    add_location = later("sledlab.model.error_location:add_location")

compute = later("sledlab.studies.seek_map:compute")
require = later("sledlab.model.catalog:require")
writer = later("sledlab.studies.seek_map:writer")


@click.group(cls=SuggestingGroup)
def device() -> None:
    """Compute seek times of a device, or import a device of DiskSim."""


def device_experiment(name: str, settings: Mapping[str, str]) -> _native.Experiment:
    """Return an experiment with a device, or the experiment of that name or file, with changed settings."""
    experiment = (
        _read_experiment(name)
        if is_experiment(name)
        else _native.Experiment().with_device(require("device", name).name)
    )
    for key, value in settings.items():
        if not key.startswith("device."):
            raise Error(
                f"`--set {key}={value}` does not change a device", remedy="write --set device.key=value"
            )
        experiment = experiment.with_setting(key, value)
    return experiment


def device_error_location(name: str, settings: Mapping[str, str]) -> AbstractContextManager[None]:
    """Add file and line to errors about values of a device file or an experiment."""
    return add_location(name if is_experiment(name) else None, {"device": name}, settings)


def _read_experiment(path: str) -> _native.Experiment:
    """The experiment of a file, or of that name, without its table `[study]`."""
    text = read_toml_text(path)
    tables = parse_toml(text, path)
    if tables.pop("study", None) is not None:
        text = document(tables)
    return _native.Experiment(text, path)


def is_experiment(name: str) -> bool:
    """Whether a name is that of an experiment, or of its file: one that has a table `[device]`."""
    try:
        text = (
            experiment_file(name).read_text(encoding="utf-8")
            if name.endswith(".toml") or is_name(name)
            else ""
        )
        return "\n[device]" in f"\n{text}"
    except (OSError, UnicodeDecodeError):
        return False


@device.command("seek-map")
@click.argument("name", shell_complete=model_completer("device"))
@options(SETTINGS)
@option(
    "--from", "start", metavar="X,Y", default="0,0", show_default=True, help="Start, in bits from the center."
)
@option("--downwards", is_flag=True, help="The sled starts moving towards negative y.")
@option("--save", metavar="FILE", help="Write the map: .png, .svg, .html, .csv or .npz.")
@static_option
@json_option
def device_seek_map(
    name: str, settings: Mapping[str, str], start: str, save: str | None, *, downwards: bool, as_json: bool
) -> None:
    """Compute seek times from one place to all others.

    The table shows the regions that the sled reaches within a time. NAME is a preset, a device file or an
    experiment.
    """
    try:
        x_bit, y_bit = (int(part) for part in start.split(","))
    except ValueError:
        raise Error(
            f"`--from {start}` is not a position", remedy="write --from X,Y in bits, such as 0,0"
        ) from None
    write = writer(Path(save)) if save is not None else None
    if save is not None:
        check_writable(Path(save))
    with device_error_location(name, settings):
        seek_map = compute(device_experiment(name, settings), name, x_bit, y_bit, -1 if downwards else 1)
    if write:
        write(seek_map)
    if as_json:
        show_json(seek_map.to_dict())
        return
    find_presentation(seek_map).show(seek_map)
    if save is not None:
        terminal.say(f"wrote {save}")


@device.command("import")
@click.argument("file")
@option("--name", metavar="N", help="Device to import, if the file has several.")
@option("--save", metavar="FILE", help="Device file to write  [default: standard output]")
def device_import(file: str, name: str | None, save: str | None) -> None:
    """Convert a device of DiskSim to a device file.

    FILE is a .parv file, or a .specs (MEMS) or .diskspecs (disk) file. Files that FILE names, such as the
    model of a disk and its seek times, must be in the directory of FILE. All faults are reported in one
    run. `sledlab init disksim` writes an example.
    """
    if save is not None:
        check_writable(Path(save))
    toml, remarks = _native.import_device(Path(file).read_bytes(), file, name)
    for remark in remarks:
        terminal.tell(f"note: {remark}")
    if save is not None:
        with atomic_write(Path(save)) as draft:
            draft.write_text(toml, encoding="utf-8")
        terminal.say(f"wrote {save}")
    else:
        terminal.say_file(toml)
