"""The options of a run, declared once.

Each field of the classes below is a keyword of the functions in Python, an option of the command line, and
mostly a key of an experiment: the `Option` beside its type has its meaning, default and key. Studies declare
their options in the same way and inherit these (PEP 692: `**options: Unpack[Simulated]`). Functions with
options check and list them with `sledlab.runs.keywords.takes_options`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict, get_args, get_type_hints

from sledlab.errors import Error
from sledlab.model.catalogue import Chosen
from sledlab.runs.written import count, number, numbers, whole, words

Models = Chosen | str

Devices = Sequence[Models | Path] | Models | Path
"""One device or several."""

Several = Sequence[Models] | Models
"""One model or several."""

Numbers = Sequence[float] | float
"""One number or several."""

READ: Mapping[Any, Callable[[str], Any]] = {
    int: whole,
    float: number,
    bool: bool,
    Numbers: numbers,
    Several: words,
}
"""Functions that read a value of a type on the command line; values of other types are text."""


def items(texts: Sequence[str]) -> list[str] | None:
    """Return the values of a repeated option; `None` if it was not given."""
    return [*texts] or None


def settings(texts: Sequence[str]) -> dict[str, str]:
    """Return settings by key from texts `KEY=VALUE`.

    Raises:
        Error: A text has no `=`, or two texts have the same key.
    """
    found: dict[str, str] = {}
    for key, value in (pair("--set", text) for text in texts):
        if key in found:
            raise Error(f"`--set {key}` is given twice", remedy="keep one of them")
        found[key] = value
    return found


def pair(flag: str, item: str) -> tuple[str, str]:
    """`KEY=VALUE` as a pair.

    Raises:
        Error: `item` has no `=`.
    """
    key, sign, value = item.partition("=")
    if not sign:
        raise Error(f"`{flag} {item}` has no value", remedy=f"write {flag} table.key=value")
    return key.strip(), value.strip()


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
            Default: the function in `READ` for its type, or `items`.
        repeated: Whether it can be given several times.
        required: Whether it must be given.
        python_only: Whether only Python has it: its value cannot be written as text.
    """

    meaning: str
    metavar: str = "N"
    default: str = ""
    key: str | None = None
    flag: str | None = None
    read: Callable[[Any], Any] = str
    repeated: bool = False
    required: bool = False
    python_only: bool = False


class Offered(TypedDict, total=False):
    """Options of the replay: how requests arrive, and how many."""

    replay: Annotated[
        str,
        Option(
            "How requests arrive: open | closed:N | closed:N:TIME, N outstanding",
            "MODE",
            "open",
            key="replay.mode",
        ),
    ]
    warmup: Annotated[
        int,
        Option(
            "Leave the first N operations, flushes and trims included, out of the statistics.",
            key="replay.warmup",
            read=count,
        ),
    ]
    limit: Annotated[
        int, Option("End after N requests, reads and writes; 0 for all.", key="replay.limit", read=count)
    ]
    operations: Annotated[
        int,
        Option(
            "End after N operations, flushes and trims included; 0 for all.",
            key="replay.operations",
            read=count,
        ),
    ]
    duration_s: Annotated[
        float,
        Option("Issue nothing after S simulated seconds.", "S", key="replay.duration_s", flag="duration"),
    ]
    outside: Annotated[
        Literal["reject", "wrap", "clip", "scale"],
        Option("Requests past the end: reject | wrap | clip | scale.", "HOW", key="replay.outside"),
    ]


class Set(TypedDict, total=False):
    """Options of every command that runs an experiment: the seed, and any other setting."""

    seed: Annotated[int, Option("Root of all random numbers", default="1", key="seed")]
    settings: Annotated[
        Mapping[str, Any],
        Option(
            "Any other setting, such as device.active_tips=3200 or workload.read_share=0.7; can be repeated.",
            "KEY=VALUE",
            flag="set",
            read=settings,
            repeated=True,
        ),
    ]


class Replayed(Offered, Set, total=False):
    """Options of the replay, the seed and settings: the same for a run and for every study."""


class Trusted(TypedDict, total=False):
    """The option that allows plug-ins that only a file names."""

    allow_plugins: Annotated[
        bool, Option("Allow plug-ins and jobs that the file names. They run arbitrary code.")
    ]


class Scheduled(TypedDict, total=False):
    """The option for the scheduler."""

    scheduler: Annotated[
        Models, Option("Scheduler (sledlab list scheduler)", "NAME", "fcfs", key="scheduler.kind")
    ]


class Parked(TypedDict, total=False):
    """The option for the power policy."""

    power: Annotated[
        Models,
        Option(
            "When the device parks (sledlab list power)",
            "POLICY",
            "after its own idle_timeout_ms",
            key="power.kind",
        ),
    ]


class Merged(TypedDict, total=False):
    """The option for merging queued requests."""

    merge: Annotated[
        Models, Option("Merge queued requests into one (sledlab list merge)", "HOW", "none", key="merge.kind")
    ]


class Saving(Parked, Merged, total=False):
    """Options that save energy: the power policy and merging."""


class Arranged(TypedDict, total=False):
    """Options for the system that the device is a part of: cache, array, hybrid."""

    cache: Annotated[
        Models,
        Option("A cache in front of the system (sledlab list cache)", "KIND", "none", key="cache.kind"),
    ]
    system: Annotated[
        Models,
        Option("How devices are put together (sledlab list system)", "KIND", "single", key="system.kind"),
    ]
    hybrid: Annotated[
        Models,
        Option(
            "A small fast device in front of the device (sledlab list hybrid)",
            "KIND",
            "none",
            key="hybrid.kind",
        ),
    ]
    front: Annotated[Models, Option("Front device of a hybrid", "NAME|FILE", "mems-g2", key="front.preset")]


class Around(Saving, Arranged, total=False):
    """Options for everything around the device but the scheduler."""


class Composed(Replayed, Scheduled, Around, total=False):
    """Options that make an experiment of a device and a source, but for the speed-up."""


class Paced(TypedDict, total=False):
    """The option for the speed-up."""

    speedup: Annotated[float, Option("Divide the times between arrivals by S.", "S", key="replay.speedup")]


class Simulated(Composed, Paced, Trusted, total=False):
    """Options of a single run."""


class Furnished(TypedDict, total=False):
    """Options for the nodes and the host of a cluster, but for their stores."""

    node: Annotated[
        Models | Path,
        Option("Nodes: a preset (sledlab list node) or a file.", "NAME|FILE", "smart-2003"),
    ]
    host: Annotated[
        Models | Path,
        Option("Host for --at host: a preset of nodes, or a file.", "NAME|FILE", "as the nodes"),
    ]


class Connected(Furnished, total=False):
    """Options for nodes, host and network of a cluster, but for its stores."""

    network: Annotated[
        Models | Path,
        Option("Network: a preset (sledlab list network) or a file.", "NAME|FILE", "fast-ethernet"),
    ]
    at: Annotated[
        Literal["nodes", "host"],
        Option("Where the work is done: nodes | host.", "WHERE", "nodes", key="cluster.at"),
    ]


class Stored(Scheduled, Merged, Arranged, Set, total=False):
    """Options for the stores of a cluster, but for the device."""

    power: Annotated[
        Models, Option("When stores park (sledlab list power)", "POLICY", "never", key="power.kind")
    ]


class Clustered(Connected, Stored, Trusted, total=False):
    """Options of the replay of a work record."""

    threads: Annotated[int, Option("Threads at most", default="all processors")]


class Priced(TypedDict, total=False):
    """Options for prices of devices, energy and time."""

    price: Annotated[
        Sequence[str],
        Option(
            "A price in USD, such as mems-g3=50 or kwh=0.2, or years=5; can be repeated.",
            "NAME=USD",
            repeated=True,
        ),
    ]
    prices: Annotated[
        str | Path, Option("A file of prices.", "FILE", "those of sledlab, with what it says over them")
    ]


class Repeated(TypedDict, total=False):
    """The option for repeated runs with different seeds."""

    seeds: Annotated[int, Option("Repeat with N seeds; workloads only", default="1")]


class Parallel(TypedDict, total=False):
    """Options for where the runs of a study execute, and where results of earlier runs are found."""

    jobs: Annotated[int, Option("Runs at the same time", default="all processors")]
    cluster: Annotated[
        Any,
        Option("Run on a Dask cluster: its scheduler's address or file.", "ADDRESS|FILE", "$SLEDLAB_CLUSTER"),
    ]
    send_trace: Annotated[
        bool, Option("Send traces to workers of the cluster that have none, up to 1 GB each.")
    ]
    share: Annotated[str, Option("Run the Kth of N shares of the points that --out lacks.", "K/N")]
    reuse: Annotated[
        Sequence[str | Path] | str | Path,
        Option("Take points from another --out; can be repeated.", "DIR", repeated=True),
    ]
    executor: Annotated[
        Any, Option("Run in an executor, such as mpi4py's MPIPoolExecutor.", "EXECUTOR", python_only=True)
    ]


class Studied(Replayed, Repeated, Parallel, Trusted, total=False):
    """Options of every study."""


@cache
def declared(said: type) -> Mapping[str, Option]:
    """The options that a class declares, by keyword; inherited ones first."""
    found = {}
    for name, hint in get_type_hints(said, include_extras=True).items():
        kind, *marks = get_args(hint)
        option = next(each for each in marks if isinstance(each, Option))
        if option.read is str:
            option = replace(option, read=items if option.repeated else READ.get(kind, str))
        found[name] = option
    return found
