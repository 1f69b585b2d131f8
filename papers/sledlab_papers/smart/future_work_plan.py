"""Experiments on the future work of Chiu 2004, and beyond it."""

from __future__ import annotations

from dataclasses import dataclass

from ..runs import PlannedExperiment
from .plan import SmartRuns, read_rows

HOST, QUERIES, FAILURE, SCHEDULING, HYBRID, MIXED, SINGLE, CHIP, TODAY, TODAY_MEMS = (
    f"chiu2004-{name}"
    for name in (
        "host",
        "queries",
        "failure",
        "scheduling",
        "hybrid",
        "mixed",
        "single-stores",
        "chip",
        "today",
        "today-mems",
    )
)

REQUEST_US = 1335
"""Software time of a request in us, as in the files of these experiments."""
SMALL_PAGE, FLASH_PAGE = 8, 16
"""Pages in KB, of `smart-2003` and of `csd-arm`."""
SLEDS = (8, 16, 32, 64)
"""Numbers of sleds in a node of today, besides one."""
FASTER = 8
"""Clock factor of a fast host, equal to the number of nodes, and of a chip's fast processor."""
CLOCK_MHZ = 500 * FASTER
"""Clock of the fast processor: `smart-2003` has 500 MHz."""
REBUILD_MB_S = 0.2
"""Rate of a rebuild; assumption: slow enough that a disk, which reads scattered pages, keeps up."""
PROGRAM_US = 800
"""Time to program flash: 1,600 us for a page on each of two planes; data sheet as in chiu2004-today.toml."""


def set_options(**values: object) -> tuple[str, ...]:
    """Options that set keys; `__` is the dot in them."""
    return tuple(
        part for key, value in values.items() for part in ("--set", f"{key.replace('__', '.')}={value}")
    )


def planned_variant(name: str, suffix: str, title: str, *options: str) -> PlannedExperiment:
    """An experiment with options that differ from its file."""
    return PlannedExperiment(name, options, suffix, f"`{name}`, {title}")


INFINIBAND = ("--network", "infiniband-1x")
FASTER_HOST = set_options(host__mhz=CLOCK_MHZ)
NO_SOFTWARE = set_options(node__request_us=0)
SCATTERED_OPTIONS = set_options(node__extent_kb=FLASH_PAGE)
LARGE_PAGE = 1024
"""Page in KB; assumption: large enough that the rate of the medium counts."""
LARGE_PAGE_OPTIONS = set_options(node__page_kb=LARGE_PAGE)

HOSTS = (
    PlannedExperiment(HOST),
    planned_variant(HOST, "-infiniband", "InfiniBand", *INFINIBAND),
    planned_variant(
        HOST, "-fast", f"InfiniBand and a host of {CLOCK_MHZ / 1000:g} GHz", *INFINIBAND, *FASTER_HOST
    ),
    planned_variant(
        HOST,
        "-sizes",
        "scans on more nodes",
        *("--job", "scan", "--job-set", "scale_factor=0.1", "--node-count", "4,8,16,32", "--at", "nodes"),
    ),
)

COMPUTERS, STORES_PER_COMPUTER = 2, 4
"""Plain computers with as many stores together as the eight nodes of `chiu2004-host`; assumption."""
CLUSTER_CLOCKS_MHZ = (500, 500 * STORES_PER_COMPUTER)
"""Clocks of a plain computer: that of a node, and as many cycles as its share of the nodes; assumption."""


def cluster_options(mhz: int) -> tuple[str, ...]:
    """Options of a cluster of plain computers: striped stores, read ahead on all, memory of as many nodes."""
    return (
        *("--at", "nodes", "--node-count", str(COMPUTERS)),
        *("--job-set", "scale_factor=0.1"),
        *("--job-set", f"transactions_per_node={10_000 * STORES_PER_COMPUTER}"),
        *set_options(
            system__kind="stripe",
            system__devices=STORES_PER_COMPUTER,
            system__unit_blocks=16,  # a page of 8 KB
            node__mhz=mhz,
            node__memory_mb=64 * STORES_PER_COMPUTER,  # 64 MB: Chiu 2004, section 5
            node__prefetch_pages=2 * STORES_PER_COMPUTER,
        ),
    )


PLAIN_CLUSTERS = tuple(
    planned_variant(
        HOST, f"-cluster-{mhz}", f"{COMPUTERS} plain computers of {mhz:,} MHz", *cluster_options(mhz)
    )
    for mhz in CLUSTER_CLOCKS_MHZ
)

FAILURES = (
    planned_variant(
        FAILURE, "-none", "no copies", *set_options(cluster__redundancy="none", cluster__failed="[]")
    ),
    planned_variant(FAILURE, "-whole", "all nodes there", *set_options(cluster__failed="[]")),
    PlannedExperiment(FAILURE),
    planned_variant(
        FAILURE, "-rebuild", "rebuilt meanwhile", *set_options(cluster__rebuild_mb_s=REBUILD_MB_S)
    ),
    planned_variant(FAILURE, "-mirror", "mirrored", *set_options(cluster__redundancy="mirror")),
)

FCFS = ("--scheduler", "fcfs")
ORDERS = (
    planned_variant(SCHEDULING, "-none", "one page at a time", *FCFS, *set_options(node__prefetch_pages=0)),
    planned_variant(SCHEDULING, "-fcfs", "in order", *FCFS),
    PlannedExperiment(SCHEDULING),
    planned_variant(SCHEDULING, "-fcfs-device", "in order, inside the device", *FCFS, *NO_SOFTWARE),
    planned_variant(SCHEDULING, "-device", "inside the device", *NO_SOFTWARE),
)

STORES = (PlannedExperiment(SINGLE), PlannedExperiment(HYBRID), PlannedExperiment(MIXED))

CHIPS = (
    planned_variant(CHIP, "-node", "the node of Chiu 2004", *set_options(node__request_us=REQUEST_US)),
    PlannedExperiment(CHIP),
    planned_variant(
        CHIP, "-fast", f"a processor of {CLOCK_MHZ / 1000:g} GHz", *set_options(node__mhz=CLOCK_MHZ)
    ),
)

FLASH = (
    PlannedExperiment(TODAY),
    planned_variant(TODAY, "-scattered", "scattered pages", *SCATTERED_OPTIONS),
    planned_variant(TODAY, "-large", "large pages", "--job", "scan", *LARGE_PAGE_OPTIONS),
    planned_variant(
        TODAY,
        "-programs",
        "every access a program",
        *("--device", f"ram:access_us={PROGRAM_US}:bus_mb_s=166:idle_mw=0.5:active_mw=50"),
    ),
)
SPTF = ("--scheduler", "sptf")
LAYOUTS = (
    ("", "pages in order", ()),
    ("-scattered", "scattered pages", (*SCATTERED_OPTIONS, *SPTF)),
    ("-large", "large pages", ("--job", "scan", *LARGE_PAGE_OPTIONS)),
)
"""Layouts and sizes of pages: endings of directories, titles, options."""

FORCE = 16
"""Factor of force on a sled that is 4 times as fast in a quarter of the time; springs are scaled to match."""
FASTER_SLED_OPTIONS = (
    *("--device", "mems-g3:active_tips=6400:tip_rate_kbit_s=4000"),
    *set_options(
        device__acceleration_x_m_s2=FORCE * 1033.2,  # 1033.2 m/s2: Chiu 2004, table 1
        device__acceleration_y_m_s2=FORCE * 1033.2,
        device__resonant_hz=4 * 1108,  # 1,108 Hz: resonance of mems-g3
    ),
)
SLEDS_TODAY = (
    *(planned_variant(TODAY_MEMS, suffix, title, *options) for suffix, title, options in LAYOUTS),
    *(
        planned_variant(TODAY_MEMS, f"-pushed{suffix}", f"pushed, {title}", *FASTER_SLED_OPTIONS, *options)
        for suffix, title, options in LAYOUTS
    ),
    *(
        planned_variant(
            TODAY,
            f"-sleds-{sleds}{suffix}",
            f"{sleds} sleds, {title}",
            *("--device", "mems-g3", *set_options(system__devices=sleds), *options),
        )
        for sleds in SLEDS
        for suffix, title, options in LAYOUTS
    ),
)

FUTURE_EXPERIMENTS = (
    *HOSTS,
    *PLAIN_CLUSTERS,
    PlannedExperiment(QUERIES),
    *FAILURES,
    *ORDERS,
    *STORES,
    *CHIPS,
    *FLASH,
    *SLEDS_TODAY,
)
"""All experiments beyond the paper's own."""


@dataclass(frozen=True)
class Replay:
    """A replay: its time in s, and the share of it that each component twice as fast would save."""

    job: str
    nodes: int
    device: str
    network: str
    at: str
    elapsed_s: float
    saved_compute: float
    saved_store: float
    saved_network: float
    bottleneck: str
    requests: int
    sent_bytes: int
    energy_j: float
    store_j: float


@dataclass(frozen=True)
class ReplaySelection:
    """The replays of one experiment, selected by some of their columns."""

    rows: tuple[Replay, ...]

    def filter(self, **values: object) -> ReplaySelection:
        """The replays whose columns have these values."""
        return ReplaySelection(
            tuple(
                row for row in self.rows if all(getattr(row, key) == value for key, value in values.items())
            )
        )

    def first(self, **values: object) -> Replay:
        """The first replay with these values."""
        return self.filter(**values).rows[0]

    def distinct(self, column: str) -> list[str]:
        """Distinct values of a column, in the order of the experiment."""
        return list(dict.fromkeys(str(getattr(row, column)) for row in self.rows))


def read_replays(runs: SmartRuns, place: str) -> ReplaySelection:
    """The replays of an experiment."""
    return ReplaySelection(read_rows(runs.directory / place / "runs.csv", Replay, has_device_settings=True))


def time_ratio(a: Replay, b: Replay) -> float:
    """Time of the first replay over that of the second."""
    return a.elapsed_s / b.elapsed_s
