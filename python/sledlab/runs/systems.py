"""Systems in one word: a device, a device in front of it and a cache, such as `atlas-10k+mems-g2:256MiB`."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab._native import Experiment, is_plugin, toml_tables
from sledlab.errors import Error
from sledlab.model.catalog import E, ModelChoice, with_settings
from sledlab.model.choices import by_label, parse_model, several, spell
from sledlab.model.device import describe
from sledlab.model.experiment import read_toml_text
from sledlab.model.model_choice import split_parts
from sledlab.model.settings import document
from sledlab.runs.parsing import MIB, size
from sledlab.toml_text import parse_toml

if TYPE_CHECKING:
    from collections.abc import Mapping

REQUEST_TABLES = ("trace", "workload", "replay")
"""Tables of an experiment that select its requests, which all systems share."""

CACHE = "cache"
"""The word for a write-back cache in the place of a front device."""

CACHING_DISK = "caching-disk"

SEGMENT_KB = 64
"""Segments of the caching disk, in 1024 bytes: the default chunk of lvmcache."""

LINE_BLOCKS = 16
"""Blocks of a line of the cache, by default."""

MIB_BLOCKS = MIB // 512

FORM = "write BACK+FRONT:SIZE or DEVICE+cache:SIZE, such as atlas-10k+mems-g2:256MiB or hdd-20tb+cache:4GiB"
"""The remedy for a word that is no system."""


@dataclass(frozen=True)
class SystemChoice:
    """A device, with a device in front of it, a cache, or both.

    Attributes:
        device: The device; behind the front device, if there is one.
        front: The device in front, which caches segments of the other.
        front_mb: Space used on the front device, in 2^20 bytes; 0 for all.
        cache_mb: Size of a write-back cache in front of all, in 2^20 bytes; `None` for no cache.
    """

    device: ModelChoice
    front: ModelChoice | None = None
    front_mb: float = 0.0
    cache_mb: float | None = None

    def part_settings(self, hybrid: str = CACHING_DISK) -> dict[str, Any]:
        """Return the settings of the front device and of the cache, without those of the device.

        Args:
            hybrid: The kind of hybrid that the user names.

        Raises:
            Error: The front device is smaller than the space used on it.
        """
        settings: dict[str, Any] = {}
        if self.front is not None:
            settings = {**_model_settings("front", self.front), **self._extra_sleds(self.front)}
            settings |= {"hybrid.kind": hybrid, "hybrid.front_mb": self.front_mb}
            settings |= {"hybrid.segment_kb": SEGMENT_KB} if hybrid == CACHING_DISK else {}
        if self.cache_mb is not None:
            lines = max(int(self.cache_mb * MIB_BLOCKS) // LINE_BLOCKS, 1)
            settings |= {"cache.kind": "write-back", "cache.capacity_blocks": lines * LINE_BLOCKS}
        return settings

    def settings(self, hybrid: str = CACHING_DISK) -> dict[str, Any]:
        """Return all settings, as `with_settings` takes them."""
        return {**_model_settings("device", self.device), **self.part_settings(hybrid)}

    def _extra_sleds(self, front: ModelChoice) -> Mapping[str, int]:
        """The number of sleds of a front device that is larger than one sled."""
        if is_plugin(front.name):
            return {}
        device = describe(with_settings(Experiment(), _model_settings("device", front)))
        capacity_mb = device["capacity_blocks"] / MIB_BLOCKS
        if self.front_mb <= capacity_mb:
            return {}
        if "sleds" not in device:
            raise Error(
                f"`{front.name}` holds {capacity_mb:,.0f} MiB, less than {self.front_mb:,.0f} MiB",
                remedy="choose a smaller size, or omit the size to use the entire device",
            )
        return {"front.sleds": ceil(self.front_mb / (capacity_mb / device["sleds"]))}


def _model_settings(table: str, model: ModelChoice) -> dict[str, Any]:
    """A device as settings; parameters given as text are parsed as settings are."""
    return {table: model.name, **{f"{table}.{key}": value for key, value in model.parameters.items()}}


def parse_system(value: Any) -> SystemChoice:
    """Return the system that a word, a chosen device or a file names.

    Raises:
        Error: A part is missing or given twice, or a size is invalid.

    Examples:
        >>> system = parse_system("atlas-10k+mems-g2:256MiB+cache:4MiB")
        >>> system.front, system.front_mb, system.cache_mb
        (sledlab.device('mems-g2'), 256.0, 4.0)
        >>> system.settings()["hybrid.kind"], parse_system("mems-g2:sleds=2").settings()
        ('caching-disk', {'device': 'mems-g2', 'device.sleds': '2'})
    """
    back, *parts = split_parts(value) if isinstance(value, str) else [value]
    if parts and not (back and all(parts)):
        raise Error(f"`{value}`: a part of the system is missing", remedy=FORM)
    front, front_mb, cache_mb = None, 0.0, None
    for part in parts:
        name, part_mb = _split_size(value, part)
        if name != CACHE and front is not None:
            raise Error(f"`{value}` has two front devices", remedy=FORM)
        if name == CACHE and (part_mb is None or cache_mb is not None):
            problem = "a cache has no size" if part_mb is None else "a system has one cache"
            raise Error(f"`{value}`: {problem}", remedy=FORM)
        if name == CACHE:
            cache_mb = part_mb
        else:
            front, front_mb = parse_model("device", name), part_mb or 0.0
    return SystemChoice(parse_model("device", back), front, front_mb, cache_mb)


def _split_size(word: str, part: str) -> tuple[str, float | None]:
    """Return the name in a part, with parameters, and the size behind it, in 2^20 bytes.

    Raises:
        Error: The size is 0, or has no unit.
    """
    name, colon, last = part.rpartition(":")
    if not colon or not last[:1].isdigit():
        return part, None
    part_mb = size(last, MIB)
    if part_mb == 0 or last[-1:].isdigit():
        problem = "has no unit" if part_mb else "is no size"
        raise Error(f"`{word}`: `{last}` {problem}", remedy="write it as 256MiB, 8GB or 0.5GiB")
    return name, part_mb


def parse_systems(value: Any) -> dict[str, Any]:
    """Return the devices and systems that the user names, checked, by label.

    Raises:
        Error: There is none, one is named twice, or a word is no system.
    """
    systems = several(value)
    for each in systems:
        parse_system(each)
    return by_label("device", [system_label(each) for each in systems], systems)


def system_label(system: ModelChoice | str | Path) -> str:
    """Return the name of a device or a system in tables; of files, without directories.

    Examples:
        >>> system_label("lab/disk.toml+lab/flash.toml:8GB"), system_label("mems-g2:sleds=4")
        ('disk+flash:8GB', 'mems-g2:sleds=4')
    """
    labels = []
    for part in split_parts(spell(system) if isinstance(system, ModelChoice) else str(system)):
        name, colon, parameters = part.partition(":")
        labels.append((Path(name).stem if name.endswith(".toml") else name) + colon + parameters)
    return "+".join(labels)


def with_experiment(base: E, name: str) -> E:
    """Return an experiment, of one system or of a cluster, with the system of another in place of its device.

    Settings of `base` take precedence, and the requests are those of `base`.

    Args:
        base: The experiment.
        name: The other experiment: its file, or its name.

    Raises:
        Error: The other experiment does not exist, or a setting is invalid.
    """
    base_tables = toml_tables(base.explicit_toml())
    file_tables = parse_toml(read_toml_text(name), name)
    file_tables = {key: value for key, value in file_tables.items() if key not in ("study", *REQUEST_TABLES)}
    system_tables = toml_tables(Experiment(document(file_tables), name).explicit_toml())
    tables = {**base_tables, **system_tables, "seed": base_tables.get("seed", 1)}
    experiment = type(base)(document(tables)).with_plugins(base.allowed_plugins())
    return with_settings(
        experiment,
        {
            f"{table}.{key}": value
            for table in system_tables.keys() & base_tables.keys() - {"seed"}
            for key, value in as_table(base_tables[table]).items()
            if table != "device" or key not in ("preset", "kind", "file")
        },
    )


def as_table(value: Any) -> Mapping[str, Any]:
    """Return a table of an experiment; a text in its place names the kind."""
    return value if isinstance(value, dict) else {"kind": value}
