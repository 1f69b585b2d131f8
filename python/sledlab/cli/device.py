"""`sledlab device`: list, show, seek-map, import."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sledlab import _native
from sledlab.cli.catalogue import list_entries, show_parameters
from sledlab.cli.completion import model_of
from sledlab.cli.group import SuggestingGroup
from sledlab.cli.options import (
    PLUGINS,
    SET,
    json_option,
    option,
    options,
    show_json,
    show_table,
    static_option,
)
from sledlab.errors import Error
from sledlab.files import check_writable, drafted
from sledlab.lazy import later, tomllib
from sledlab.model import catalogue
from sledlab.model.experiment import file_of, is_name, text_of
from sledlab.model.settings import document
from sledlab.show import terminal
from sledlab.shown import face_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager

    from sledlab.model.lines import placed
else:
    placed = later("sledlab.model.lines:placed")

allowed_plugins = later("sledlab.model.plugins:allowed_plugins")
describe = later("sledlab.model.device:describe")
kind_of = later("sledlab.model.device:kind_of")
compute = later("sledlab.studies.seek_map:compute")
writer = later("sledlab.studies.seek_map:writer")


@click.group(cls=SuggestingGroup)
def device() -> None:
    """List, show, map and import devices."""


@device.command("list")
@json_option
def device_list(*, as_json: bool) -> None:
    """All devices that come with sledlab."""
    list_entries(catalogue.device.list(), as_json=as_json)


@device.command("show")
@click.argument("name", shell_complete=model_of("device"))
@options({**SET, **PLUGINS})
@option("--toml", "as_toml", is_flag=True, help="Print the device file, with units and sources.")
@json_option
def device_show(
    name: str, settings: Mapping[str, str], *, allow_plugins: bool | None, as_toml: bool, as_json: bool
) -> None:
    """Every parameter of a device: NAME is a preset, a device file or an experiment."""
    if as_toml and not settings:
        text = text_of(name, "device") if name.endswith(".toml") else _native.device_text(name)
        terminal.say_file(text)
        return
    with in_its_file(name, settings):
        allowed = allowed_plugins({"settings": settings, "allow_plugins": allow_plugins}, name)
        values = describe(experiment_of(name, settings).with_plugins(allowed))
    if as_json:
        show_json(values)
        return
    terminal.say(f"{values['name']}: {values['description']}")
    terminal.say(
        f"{values['capacity_blocks']:,} blocks of 512 bytes, {values['capacity_blocks'] * 512 / 1e9:.2f} GB"
    )
    show_parameters(kind_of(values).parameters, values)
    if "zones" in values:
        show_zones(values["zones"], values["seek_table"])


def show_zones(zones: list[dict[str, Any]], seek_table: list[list[float]]) -> None:
    """Prints the lists of a disk: its zones, and how far its seek times reach."""
    plain = [name for name in zones[0] if not isinstance(zones[0][name], list)]
    lists = [name for name in zones[0] if isinstance(zones[0][name], list)]
    rows = [
        (str(number), *(f"{zone[name]:,}" for name in plain), *(f"{len(zone[name]):,}" for name in lists))
        for number, zone in enumerate(zones)
    ]
    head = ("zone", *(name.removesuffix("_sectors").replace("_", " ") for name in (*plain, *lists)))
    terminal.say()
    show_table(head, rows, right=head)
    if seek_table:
        (shortest, least), (longest, most) = seek_table[0], seek_table[-1]
        terminal.say(
            f"\n{len(seek_table)} seek times: {least:g} ms over {shortest:,.0f}, "
            f"{most:g} ms over {longest:,.0f} cylinders"
        )


def experiment_of(name: str, settings: Mapping[str, str]) -> _native.Experiment:
    """An experiment with a device, or the experiment of that name or file, with settings of it changed."""
    experiment = _read(name) if is_experiment(name) else _native.Experiment().with_device(name)
    for key, value in settings.items():
        if not key.startswith("device."):
            raise Error(
                f"`--set {key}={value}` does not change a device", remedy="write --set device.key=value"
            )
        experiment = experiment.with_setting(key, value)
    return experiment


def in_its_file(name: str, settings: Mapping[str, str]) -> AbstractContextManager[None]:
    """Adds file and line to errors about values of a device file or an experiment."""
    return placed(name if is_experiment(name) else None, {"device": name}, settings)


def _read(path: str) -> _native.Experiment:
    """The experiment of a file, or of that name, without its table `[study]`."""
    text = text_of(path)
    with suppress(tomllib.TOMLDecodeError):  # `Experiment` below reports it with its place
        tables = tomllib.loads(text)
        if tables.pop("study", None) is not None:
            text = document(tables)
    return _native.Experiment(text, path)


def is_experiment(name: str) -> bool:
    """Whether a name is that of an experiment, or of its file: one that has a table `[device]`."""
    try:
        text = file_of(name).read_text(encoding="utf-8") if name.endswith(".toml") or is_name(name) else ""
        return "\n[device]" in f"\n{text}"
    except (OSError, UnicodeDecodeError):
        return False


@device.command("seek-map")
@click.argument("name", shell_complete=model_of("device"))
@options(SET)
@option(
    "--from", "start", metavar="X,Y", default="0,0", show_default=True, help="Start, in bits from the centre."
)
@option("--downwards", is_flag=True, help="The sled starts moving towards negative y.")
@option("--out", metavar="FILE", help="Write the map: .png, .svg, .html, .csv or .npz.")
@static_option
@json_option
def device_seek_map(
    name: str, settings: Mapping[str, str], start: str, out: str | None, *, downwards: bool, as_json: bool
) -> None:
    """Seek times from one place to all others, and the regions reached within a time.

    NAME is a preset, a device file or an experiment.
    """
    try:
        x_bit, y_bit = (int(part) for part in start.split(","))
    except ValueError:
        raise Error(
            f"`--from {start}` is not a place", remedy="write --from X,Y in bits, such as 0,0"
        ) from None
    write = writer(Path(out)) if out is not None else None
    if out is not None:
        check_writable(Path(out))
    with in_its_file(name, settings):
        found = compute(experiment_of(name, settings), name, x_bit, y_bit, -1 if downwards else 1)
    if write:
        write(found)
    if as_json:
        show_json(found.to_dict())
        return
    face_of(found).show(found)
    if out is not None:
        terminal.say(f"wrote {out}")


@device.command("import")
@click.argument("file")
@option("--name", metavar="N", help="Device to take from a file that holds several.")
@option("--out", metavar="FILE", help="Device file to write  [default: standard output]")
def device_import(file: str, name: str | None, out: str | None) -> None:
    """Turn a MEMS device or a disk of DiskSim (.specs, .diskspecs, .parv) into a device file.

    Files that FILE names, such as the model of a disk and its seek times, are looked for beside it.
    """
    if out is not None:
        check_writable(Path(out))
    text = Path(file).read_bytes().decode("utf-8", errors="replace")
    toml, remarks = _native.import_device(text, file, name)
    for remark in remarks:
        terminal.tell(f"note: {remark}")
    if out is not None:
        with drafted(Path(out)) as place:
            place.write_text(toml, encoding="utf-8")
        terminal.say(f"wrote {out}")
    else:
        terminal.say_file(toml)
