"""The options of a run, declared once.

Each field of the classes below declares a Python keyword, a command-line option and, in most cases, a key
of an experiment. The `Option` in its annotation gives meaning, default and key. Studies inherit these classes
and add their own options (PEP 692: `**options: Unpack[SimulateOptions]`).
`sledlab.runs.keywords.accept_options` checks the keywords of a function and lists them in its signature.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict, get_args, get_type_hints

from sledlab.errors import Error
from sledlab.model.catalog import ModelChoice
from sledlab.model.choices import texts
from sledlab.runs.parsing import (
    count,
    items,
    names,
    number,
    numbers,
    seeds,
    settings,
    whole,
    whole_numbers,
    words,
)

Models = ModelChoice | str

Devices = Sequence[Models | Path] | Models | Path
"""One device or several."""

ModelList = Sequence[Models] | Models
"""One model or several."""

Numbers = Sequence[float] | float
"""One number or several."""

Seeds = Sequence[int] | int | str
"""One seed or several; as text also `1..10`."""

LIST_OPTIONS: Mapping[str, str] = {
    **dict.fromkeys(
        ("source", "device", "trace", "workload", "speedup", "seed"), "`sledlab compare` takes several"
    ),
    "scheduler": "`sledlab compare` takes several for one device and one source of requests",
    "power": "`sledlab power` takes several",
    "network": "`sledlab smart` takes several",
}
"""Options of which some study takes several values, and the remedy for several values elsewhere."""


def several_values(name: str, number: int, flag: str = "") -> Error:
    """Return the error about several values of an option that takes one.

    Args:
        name: The option.
        number: The number of values.
        flag: How the message names the option. Default: its name.
    """
    remedy = "; ".join(["give one", *([LIST_OPTIONS[name]] if name in LIST_OPTIONS else [])])
    return Error(f"`{flag or name}` takes one value here, not {number}", remedy=remedy)


PARSERS: Mapping[Any, Callable[[str], Any]] = {
    int: whole,
    float: number,
    bool: bool,
    Numbers: numbers,
    ModelList: words,
    Devices: names,
    Seeds: whole_numbers,
}
"""Functions that read a value of a type on the command line; values of other types are text."""


@dataclass(frozen=True)
class Option:
    """The declaration of an option.

    Attributes:
        meaning: Its meaning, in one line.
        metavar: Word that stands for its value in help.
        default: Its default, in words.
        key: The key of an experiment that it sets; `None` where the function handles the option itself.
        flag: Its name on the command line, where that is not the keyword with hyphens.
        read: Reads its value from text on the command line, or from a list of texts if it can be repeated.
            Default: the function in `PARSERS` for its type, or `items`.
        parse: Checks the value of an axis of a study, whether Python, the command line or a study file gives
            it, and returns the value that the plan of the study uses. `None`: the value as given.
        repeated: Whether it can be given several times.
        required: Whether it must be given.
        python_only: Whether only Python has it: its value cannot be written as text.
        advanced: Whether `--help` omits it; `--help-all` shows it.
    """

    meaning: str
    metavar: str = "N"
    default: str = ""
    key: str | None = None
    flag: str | None = None
    read: Callable[[Any], Any] = str
    parse: Callable[[Any], Any] | None = None
    repeated: bool = False
    required: bool = False
    python_only: bool = False
    advanced: bool = False


class ReplayOptions(TypedDict, total=False):
    """Options of the replay: how requests arrive, and how many."""

    replay: Annotated[
        str,
        Option(
            "Arrivals: open | gaps | closed:N[:TIME]",
            "MODE",
            "open",
            key="replay.mode",
        ),
    ]
    warmup: Annotated[
        int,
        Option(
            "Exclude the first N reads, writes, flushes and trims from statistics.",
            key="replay.warmup",
            read=count,
            advanced=True,
        ),
    ]
    limit: Annotated[int, Option("Stop after N reads and writes; 0 for all.", key="replay.limit", read=count)]
    operations: Annotated[
        int,
        Option(
            "Stop after N reads, writes, flushes and trims; 0 for all.",
            key="replay.operations",
            read=count,
            advanced=True,
        ),
    ]
    duration_s: Annotated[
        float,
        Option(
            "Stop issuing requests after S simulated seconds.",
            "S",
            key="replay.duration_s",
            flag="duration",
            advanced=True,
        ),
    ]
    outside: Annotated[
        Literal["reject", "wrap", "clip", "scale"],
        Option(
            "Requests past the end: reject | wrap | clip | scale.", "HOW", key="replay.outside", advanced=True
        ),
    ]


class SeedOptions(TypedDict, total=False):
    """The option for the seed of a run."""

    seed: Annotated[int, Option("Seed of all random numbers", default="1", key="seed", advanced=True)]


class SettingOptions(TypedDict, total=False):
    """The option for any setting that has no option of its own."""

    settings: Annotated[
        Mapping[str, Any],
        Option(
            "Other setting: device.active_tips=3200; repeatable.",
            "KEY=VALUE",
            flag="set",
            read=settings,
            repeated=True,
        ),
    ]


class SeedSettingOptions(SeedOptions, SettingOptions, total=False):
    """Options of every command that runs experiments with one seed: the seed, and any other setting."""


class SourceOptions(ReplayOptions, SeedSettingOptions, total=False):
    """Options of the replay, the seed and settings."""


class PluginOptions(TypedDict, total=False):
    """The option that allows plug-ins that only a file names."""

    allow_plugins: Annotated[
        bool, Option("Allow plug-ins and jobs that the file names. They run arbitrary code.", advanced=True)
    ]


class SchedulerOptions(TypedDict, total=False):
    """The option for the scheduler."""

    scheduler: Annotated[
        Models, Option("Scheduler (sledlab list scheduler)", "NAME", "fcfs", key="scheduler.kind")
    ]


class PowerPolicyOptions(TypedDict, total=False):
    """The option for the power policy."""

    power: Annotated[
        Models,
        Option(
            "Power policy (sledlab list power)",
            "POLICY",
            "device's",
            key="power.kind",
        ),
    ]


class MergeOptions(TypedDict, total=False):
    """The option for merging queued requests."""

    merge: Annotated[
        Models,
        Option(
            "Merging of queued requests (sledlab list merge)",
            "HOW",
            "none",
            key="merge.kind",
            advanced=True,
        ),
    ]


class EnergyOptions(PowerPolicyOptions, MergeOptions, total=False):
    """Options that save energy: the power policy and merging."""


class SystemOptions(TypedDict, total=False):
    """Options for the system that the device is a part of: cache, array, hybrid."""

    cache: Annotated[
        Models,
        Option(
            "Cache in front of the system (sledlab list cache)",
            "KIND",
            "none",
            key="cache.kind",
            advanced=True,
        ),
    ]
    system: Annotated[
        Models,
        Option("Array of devices (sledlab list system)", "KIND", "single", key="system.kind", advanced=True),
    ]
    hybrid: Annotated[
        Models,
        Option(
            "Fast device in front (sledlab list hybrid)",
            "KIND",
            "none",
            key="hybrid.kind",
            advanced=True,
        ),
    ]
    front: Annotated[
        Models, Option("Front device of a hybrid", "NAME|FILE", "mems-g2", key="front.preset", advanced=True)
    ]


class StorageOptions(EnergyOptions, SystemOptions, total=False):
    """Options for everything around the device but the scheduler."""


class ExperimentOptions(SourceOptions, SchedulerOptions, StorageOptions, total=False):
    """Options that make an experiment of a device and a source, but for the speed-up."""


class SpeedupOptions(TypedDict, total=False):
    """The option for the speed-up."""

    speedup: Annotated[float, Option("Replay S times as fast.", "S", key="replay.speedup")]


class SimulateOptions(ExperimentOptions, SpeedupOptions, PluginOptions, total=False):
    """Options of a single run."""


class NodeOptions(TypedDict, total=False):
    """Options for the nodes and the host of a cluster, but for their stores."""

    node: Annotated[
        Models | Path,
        Option("Node preset (sledlab list node) or file.", "NAME|FILE", "smart-2003", key="node.preset"),
    ]
    host: Annotated[
        Models | Path,
        Option("Host for --at host.", "NAME|FILE", "as the nodes", key="host.preset", advanced=True),
    ]


class NetworkOptions(NodeOptions, total=False):
    """Options for nodes, host and network of a cluster, but for its stores."""

    network: Annotated[
        Models | Path,
        Option("Network (sledlab list network) or file.", "NAME|FILE", "fast-ethernet", key="network.preset"),
    ]
    at: Annotated[
        Literal["nodes", "host"],
        Option("Where jobs run: nodes | host.", "WHERE", "nodes", key="cluster.at", advanced=True),
    ]


class NodeStoreOptions(SchedulerOptions, MergeOptions, SystemOptions, SeedSettingOptions, total=False):
    """Options for the stores of a cluster, but for the device."""

    power: Annotated[
        Models, Option("Power policy of stores (sledlab list power)", "POLICY", "never", key="power.kind")
    ]


class ClusterOptions(NetworkOptions, NodeStoreOptions, PluginOptions, total=False):
    """Options of the replay of a work record."""

    threads: Annotated[int, Option("Maximum number of threads", default="all processors")]


class PriceOptions(TypedDict, total=False):
    """The option for prices of devices, energy and time."""

    price: Annotated[
        Sequence[str | Path] | str | Path,
        Option(
            "Price in USD (mems-g3=50, kwh=0.2, years=5) or file of prices.",
            "NAME=USD,FILE",
            read=words,
            parse=texts,
            advanced=True,
        ),
    ]


class SeedListOptions(TypedDict, total=False):
    """The option for runs repeated with several seeds."""

    seed: Annotated[Seeds, Option("Seeds; several for workloads only.", "N,N|A..B", "1", parse=seeds)]


class ExecutorOptions(TypedDict, total=False):
    """Options for where the runs of a study execute, and where results of earlier runs are found."""

    parallel: Annotated[int, Option("Runs at the same time", default="all processors")]
    cluster: Annotated[
        Any,
        Option(
            "Dask cluster: address or file of its scheduler.",
            "ADDRESS|FILE",
            "$SLEDLAB_CLUSTER",
            advanced=True,
        ),
    ]
    send_trace: Annotated[
        bool, Option("Send traces to workers that have none, up to 1 GB each.", advanced=True)
    ]
    share: Annotated[
        str, Option("Run part K of N of the runs that are missing in --out.", "K/N", advanced=True)
    ]
    reuse: Annotated[
        Sequence[str | Path] | str | Path,
        Option("Reuse runs of another --out; can be repeated.", "DIR", repeated=True, advanced=True),
    ]
    executor: Annotated[
        Any, Option("Run in an executor, such as mpi4py's MPIPoolExecutor.", "EXECUTOR", python_only=True)
    ]


class StudyOptions(
    ReplayOptions, SettingOptions, SeedListOptions, ExecutorOptions, PluginOptions, total=False
):
    """Options of every study."""


@cache
def declared_options(options_class: type) -> Mapping[str, Option]:
    """The options that a class declares, by keyword; inherited ones first."""
    options_by_name = {}
    for name, hint in get_type_hints(options_class, include_extras=True).items():
        value_type, *annotations = get_args(hint)
        option = next(annotation for annotation in annotations if isinstance(annotation, Option))
        if option.read is str:
            option = replace(option, read=items if option.repeated else PARSERS.get(value_type, str))
        options_by_name[name] = option
    return options_by_name
