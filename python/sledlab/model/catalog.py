"""Models that an experiment can name: devices, schedulers, power policies, workloads, nodes, networks.

Each kind is a `Catalog`: call it with a name, or take the name as an attribute with underscores
for hyphens. Parameters and their meanings come from their declarations in the simulator.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache as cache_result
from inspect import Parameter, Signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sledlab import _native
from sledlab.errors import Error, unknown
from sledlab.lazy import json, later
from sledlab.model.model_choice import MODELS, split_parts
from sledlab.model.model_choice import ModelChoice as ModelChoice  # noqa: PLC0414 - part of this module for others
from sledlab.model.settings import to_toml, word

if TYPE_CHECKING:
    import builtins
    from collections.abc import Callable, Iterator, Mapping

    from sledlab.model.entries import Entry, ParameterSpec

to_entry = later("sledlab.model.entries:to_entry")

E = TypeVar("E", "_native.Experiment", "_native.ClusterExperiment")
"""An experiment of one store, or of a cluster."""

PRESETS = ("node", "network")
"""Kinds whose names are presets or files, as those of devices are; only clusters have them."""

FILE_KINDS = ("device", *PRESETS)
"""Kinds whose names may be those of files."""

NAMES = {"power": "power policy", "replacement": "replacement policy", "merge": "merge policy"}
"""What sentences call a kind of model, where that is not its key."""

PLURALS = {
    "device": "devices",
    "system": "arrays of devices",
    "hybrid": "hybrids",
    "cache": "caches",
    "scheduler": "schedulers",
    "power": "power policies",
    "merge": "merge policies",
    "replacement": "replacement policies",
    "workload": "workload generators",
    "node": "nodes",
    "network": "networks",
}
"""Plurals of kinds of models in sentences."""


@cache_result
def load_catalog() -> dict[str, Any]:
    """The complete catalog of the simulator."""
    catalog: dict[str, Any] = json.loads(_native.catalog())
    return catalog


def entries(section: str) -> list[Entry]:
    """The entries of a section of the catalog."""
    return [to_entry(item) for item in load_catalog()[section]]


class Catalog:
    """All models of one kind, by name."""

    def __init__(self, kind: str, section: str, none_word: str = "") -> None:
        """All models of a kind, from a section of the catalog; `none_word` is the word for no model."""
        self._kind = kind
        self._section = section
        self._none_word = none_word

    def _check_model(self, name: str, parameters: Mapping[str, Any]) -> None:
        """Refuse unknown names, parameters and values, by checking a valid experiment with this model."""
        require(self._kind, name)
        experiment = _native.Experiment().with_device("mems-g2").with_workload("uniform")
        names = [name, *(value for value in parameters.values() if isinstance(value, str))]
        choice = ModelChoice(self._kind, name, parameters)
        # The duration ends workloads that never end by themselves.
        with_settings(experiment, {self._kind: choice, "replay.duration_s": 1}).with_plugins(names).check()

    def __call__(self, name: str | Path, **parameters: Any) -> ModelChoice:
        """The model called `name`, with some of its parameters set.

        Raises:
            Error: There is no such name or parameter, or a value is out of range.
        """
        self._check_model(str(name), parameters)
        return ModelChoice(self._kind, str(name), parameters)

    def list(self) -> list[Entry]:
        """Every entry with its meaning and parameters."""
        return entries(self._section)

    def show(self, name: str) -> Entry:
        """One entry.

        Raises:
            Error: There is no such name.
        """
        entry = self._find(name)
        if entry is None:
            self._check_model(name, {})
            noun = NAMES.get(self._kind, self._kind)
            raise Error(
                f"`{name}` has parameters, but a name of a {noun} is required", remedy="omit the parameters"
            )
        return entry

    def model_parameters(self, name: str) -> tuple[ParameterSpec, ...]:
        """Return the parameters of a model, with the values of the model as defaults.

        Raises:
            Error: There is no such name.
        """
        return self.show(name).parameters

    def canonical_name(self, word: str) -> str:
        """Return the name of a model as listed, for a name in any case; other words stay as they are.

        Examples:
            >>> device.canonical_name("MEMS-G2:sleds=4"), scheduler.canonical_name("Mine:Lcfs")
            ('mems-g2:sleds=4', 'Mine:Lcfs')
        """
        name, colon, parameters = word.partition(":")
        lower = name.lower()
        return (
            f"{lower}{colon}{parameters}" if self.is_listed(lower) and not _native.is_plugin(word) else word
        )

    def _find(self, name: str) -> Entry | None:
        name = self.canonical_name(name)
        return next((entry for entry in self.list() if name in (entry.name, *entry.aliases)), None)

    def is_listed(self, name: str) -> bool:
        """Whether a name, in lower case, is a listed one, an alias, or the word for no model."""
        entries = load_catalog()[self._section]
        return name == self._none_word or any(
            name in (item["name"], *item.get("aliases", ())) for item in entries
        )

    def __iter__(self) -> Iterator[str]:
        """The names."""
        return (item["name"] for item in load_catalog()[self._section])

    def __getattr__(self, attribute: str) -> Callable[..., ModelChoice]:
        """The model whose name has hyphens where `attribute` has underscores."""
        name = attribute.replace("_", "-")
        entry = None if attribute.startswith("__") else self._find(name)
        if entry is None:
            raise AttributeError(f"no {NAMES.get(self._kind, self._kind)} is called `{name}`")

        def choose(**parameters: Any) -> ModelChoice:
            return self(name, **parameters)

        specs = self.model_parameters(entry.name)
        choose.__name__ = attribute
        choose.__doc__ = f"{entry.meaning}\n\nArgs:\n" + "".join(
            f"    {spec.name}: {spec.meaning}{f' In {spec.unit}.' if spec.unit else ''}\n" for spec in specs
        )
        signature = Signature(
            [Parameter(spec.name, Parameter.KEYWORD_ONLY, default=spec.default) for spec in specs]
        )
        choose.__signature__ = signature  # type: ignore[attr-defined]
        return choose

    def __repr__(self) -> str:
        """The names of all models of the kind."""
        return f"sledlab.{self._kind}: {', '.join(self)}"

    def __dir__(self) -> builtins.list[str]:
        """The names, as attributes."""
        return [*super().__dir__(), *(name.replace("-", "_") for name in self)]


def with_settings(experiment: E, settings: Mapping[str, Any]) -> E:
    """Return an experiment with other models and settings; a value of `None` changes nothing.

    Args:
        experiment: The experiment.
        settings: Models by table, such as `scheduler` or `front`, and values by key, such as `replay.limit`.

    Raises:
        Error: A model, key or value is unknown.

    Examples:
        >>> changed = with_settings(_native.Experiment(), {"device": "mems-g2", "scheduler": "sptf"})
        >>> changed.setting("scheduler.kind")
        'sptf'
    """
    for key, value in settings.items():
        if key not in TABLES:
            experiment = experiment if value is None else experiment.with_setting(key, word(value))
        elif value is not None:
            choice = require(TABLES[key], value)
            experiment = _with_name(experiment, key, choice.name)
            for name, parameter in choice.parameters.items():
                experiment = experiment.with_setting(f"{key}.{name}", to_toml(parameter))
    return experiment


def _with_name(experiment: E, table: str, name: str) -> E:
    if table == "device":
        return experiment.with_device(name)
    if isinstance(experiment, _native.Experiment):
        if table == "workload":
            return experiment.with_workload(name)
    elif TABLES[table] in PRESETS:
        return experiment.with_preset(table, name)
    return experiment.with_setting(f"{table}.{'preset' if table == 'front' else 'kind'}", to_toml(name))


class _DeviceCatalog(Catalog):
    """Devices: presets or files, which share the parameters of their kind."""

    def model_parameters(self, name: str) -> tuple[ParameterSpec, ...]:
        device = json.loads(_native.Experiment().with_device(name).describe_device())
        kind = next((kind for kind in entries("device_kinds") if kind.name == device["kind"]), None)
        return tuple(replace(spec, default=device[spec.name]) for spec in (kind.parameters if kind else ()))


device = _DeviceCatalog("device", "devices")
"""Devices: presets by name, or a device file by path, with parameters changed at will.

Examples:
    >>> import sledlab as sl
    >>> sl.device("mems-g2", active_tips=3200)
    sledlab.device('mems-g2', active_tips=3200)
    >>> sl.device.mems_g2()
    sledlab.device('mems-g2')
"""

scheduler = Catalog("scheduler", "schedulers")
"""Schedulers.

Examples:
    >>> import sledlab as sl
    >>> sl.scheduler("sptf")
    sledlab.scheduler('sptf')
"""

power = Catalog("power", "power_policies")
"""Power policies: when an idle device parks, and when a parked one starts again.

Examples:
    >>> import sledlab as sl
    >>> sl.power("share", eta=4)
    sledlab.power('share', eta=4)
"""


class _ReplacementCatalog(Catalog):
    """Replacement policies: no table of an experiment is theirs, so their check differs."""

    def _check_model(self, name: str, parameters: Mapping[str, Any]) -> None:
        require(self._kind, name)
        name_with_parameters = ":".join([name, *(f"{key}={value}" for key, value in parameters.items())])
        _native.check_replacement(name_with_parameters, [name_with_parameters])


replacement = _ReplacementCatalog("replacement", "replacement_policies")
"""Replacement policies: they choose the key that a full cache evicts.

Examples:
    >>> import sledlab as sl
    >>> sl.replacement("slru", protected_share=0.8)
    sledlab.replacement('slru', protected_share=0.8)
"""

hybrid = Catalog("hybrid", "hybrids", none_word="none")
"""Hybrids: a small fast device in front of a large slow one.

Examples:
    >>> import sledlab as sl
    >>> sl.hybrid("caching-disk", segment_kb=64)
    sledlab.hybrid('caching-disk', segment_kb=64)
"""

workload = Catalog("workload", "workloads")
"""Workload generators, seeded and of any length.

Examples:
    >>> import sledlab as sl
    >>> sl.workload.uniform(read_share=0.5)
    sledlab.workload('uniform', read_share=0.5)
"""


merge = Catalog("merge", "merges")
"""Ways of serving queued requests as one.

Examples:
    >>> import sledlab as sl
    >>> sl.merge("chains", among="neighbors")
    sledlab.merge('chains', among='neighbors')
"""

system = Catalog("system", "systems")
"""Ways of putting devices together: one device alone, concatenation, stripes, mirrors, RAID 5.

Examples:
    >>> import sledlab as sl
    >>> sl.system("raid5", devices=4)
    sledlab.system('raid5', devices=4)
"""

cache = Catalog("cache", "caches")
"""Caches in front of a system: they answer reads of blocks that they hold, and take writes.

Examples:
    >>> import sledlab as sl
    >>> sl.cache("write-back", capacity_blocks=8192)
    sledlab.cache('write-back', capacity_blocks=8192)
"""


class _ClusterCatalog(Catalog):
    """Nodes or networks, which only clusters have: presets, or files by path, with changed parameters."""

    def _check_model(self, name: str, parameters: Mapping[str, Any]) -> None:
        experiment = _native.ClusterExperiment().with_device("ram")
        choice = ModelChoice(self._kind, name, parameters)
        with_settings(experiment, {self._kind: choice}).to_toml(_native.Work("nothing", EMPTY_RECORD))


EMPTY_RECORD = b"""{"work": 1, "job": "nothing", "nodes": 1, "files": {}}
{"phase": "nothing", "nodes": "all"}
"""
"""An empty work record, valid with any node and network: it serves to check these."""

node = _ClusterCatalog("node", "nodes")
"""Nodes of a cluster: a processor, memory and a store.

Examples:
    >>> import sledlab as sl
    >>> sl.node("smart-2003", mhz=1000)
    sledlab.node('smart-2003', mhz=1000)
"""

network = _ClusterCatalog("network", "networks")
"""Networks between nodes.

Examples:
    >>> import sledlab as sl
    >>> sl.network.infiniband_1x(latency_us=10)
    sledlab.network('infiniband-1x', latency_us=10)
"""

CATALOGS: Mapping[str, Catalog] = {
    "device": device,
    "system": system,
    "hybrid": hybrid,
    "cache": cache,
    "scheduler": scheduler,
    "power": power,
    "merge": merge,
    "replacement": replacement,
    "workload": workload,
    "node": node,
    "network": network,
}
"""Every kind of model by its name."""

MODELS.update(CATALOGS)

TABLES: Mapping[str, str] = {**{kind: kind for kind in CATALOGS}, "front": "device", "host": "node"}
"""Tables of an experiment that hold a model, each with the kind of the model."""


def require(kind: str, value: Any) -> ModelChoice:
    """`value` as a chosen model of that kind: `value` itself, or the model of that name.

    Its parameters are checked later, with the experiment that the model goes into: alone they may not
    suffice, as those of a mirror do not without the number of its devices.

    Raises:
        Error: `value` is neither a chosen model of the kind nor a name, or the name is unknown.
    """
    if isinstance(value, ModelChoice) and value.kind == kind:
        return value
    if isinstance(value, (str, Path)):
        if kind == "device" and len(split_parts(str(value))) > 1:
            remedy = "name one device; `sledlab simulate`, `compare`, `power` and `fleet` take systems"
            raise Error(f"`{value}` is a system, not a device", remedy=remedy)
        choice = ModelChoice(kind, str(value))
        name = choice.name.partition(":")[0]
        if kind in FILE_KINDS or _native.is_plugin(choice.name) or CATALOGS[kind].is_listed(name):
            return choice
        raise unknown(NAMES.get(kind, kind), name, list(CATALOGS[kind]))
    raise Error(
        f"expected a {NAMES.get(kind, kind)}, found {value!r}",
        remedy=f"give a name or the result of sledlab.{kind}(...)",
    )
