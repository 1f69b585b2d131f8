"""Experiments on the future work of Chiu 2004, and beyond it."""

from __future__ import annotations

from dataclasses import dataclass

from ..runs import Planned
from .layouts import SCATTERED as READING
from .plan import SmartRuns, rows_of

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


def settings(**details: object) -> tuple[str, ...]:
    """Options that set keys; `__` is the dot in them."""
    return tuple(
        part for key, value in details.items() for part in ("--set", f"{key.replace('__', '.')}={value}")
    )


def planned(name: str, suffix: str, title: str, *options: str) -> Planned:
    """An experiment with options that differ from its file."""
    return Planned(name, options, suffix, f"`{name}`, {title}")


INFINIBAND = ("--network", "infiniband-1x")
FASTER_HOST = settings(host__mhz=CLOCK_MHZ)
NO_SOFTWARE = settings(node__request_us=0)
SCATTERED = settings(node__extent_kb=FLASH_PAGE)
LARGE_PAGE = 1024
"""Page in KB; assumption: large enough that the rate of the medium counts."""
LARGE = settings(node__page_kb=LARGE_PAGE)

HOSTS = (
    Planned(HOST),
    planned(HOST, "-infiniband", "InfiniBand", *INFINIBAND),
    planned(HOST, "-fast", f"InfiniBand and a host of {CLOCK_MHZ / 1000:g} GHz", *INFINIBAND, *FASTER_HOST),
    planned(
        HOST,
        "-sizes",
        "scans on more nodes",
        *("--job", "scan", "--job-set", "scale_factor=0.1", "--node-count", "4,8,16,32", "--at", "nodes"),
    ),
)

FAILURES = (
    planned(FAILURE, "-none", "no copies", *settings(cluster__redundancy="none", cluster__failed="[]")),
    planned(FAILURE, "-whole", "all nodes there", *settings(cluster__failed="[]")),
    Planned(FAILURE),
    planned(FAILURE, "-rebuild", "rebuilt meanwhile", *settings(cluster__rebuild_mb_s=REBUILD_MB_S)),
    planned(FAILURE, "-mirror", "mirrored", *settings(cluster__redundancy="mirror")),
)

FCFS = ("--scheduler", "fcfs")
ORDERS = (
    planned(SCHEDULING, "-none", "one page at a time", *FCFS, *settings(node__prefetch_pages=0)),
    planned(SCHEDULING, "-fcfs", "in order", *FCFS),
    Planned(SCHEDULING),
    planned(SCHEDULING, "-fcfs-device", "in order, inside the device", *FCFS, *NO_SOFTWARE),
    planned(SCHEDULING, "-device", "inside the device", *NO_SOFTWARE),
)

STORES = (Planned(SINGLE), Planned(HYBRID), Planned(MIXED))

CHIPS = (
    planned(CHIP, "-node", "the node of Chiu 2004", *settings(node__request_us=READING.request_us)),
    Planned(CHIP),
    planned(CHIP, "-fast", f"a processor of {CLOCK_MHZ / 1000:g} GHz", *settings(node__mhz=CLOCK_MHZ)),
)

FLASH = (
    Planned(TODAY),
    planned(TODAY, "-scattered", "scattered pages", *SCATTERED),
    planned(TODAY, "-large", "large pages", "--job", "scan", *LARGE),
    planned(
        TODAY,
        "-programs",
        "every access a program",
        *("--device", f"ram:access_us={PROGRAM_US}:bus_mb_s=166:idle_mw=0.5:active_mw=50"),
    ),
)
SPTF = ("--scheduler", "sptf")
LAYOUTS = (
    ("", "pages in order", ()),
    ("-scattered", "scattered pages", (*SCATTERED, *SPTF)),
    ("-large", "large pages", ("--job", "scan", *LARGE)),
)
"""Layouts and sizes of pages: endings of directories, titles, options."""

FORCE = 16
"""Factor of force on a sled that is 4 times as fast in a quarter of the time; springs are scaled to match."""
PUSHED = (
    *("--device", "mems-g3:active_tips=6400:tip_rate_kbit_s=4000"),
    *settings(
        device__acceleration_x_m_s2=FORCE * 1033.2,  # 1033.2 m/s2: Chiu 2004, table 1
        device__acceleration_y_m_s2=FORCE * 1033.2,
        device__resonant_hz=4 * 1108,  # 1,108 Hz: resonance of mems-g3
    ),
)
SLEDS_TODAY = (
    *(planned(TODAY_MEMS, suffix, title, *options) for suffix, title, options in LAYOUTS),
    *(
        planned(TODAY_MEMS, f"-pushed{suffix}", f"pushed, {title}", *PUSHED, *options)
        for suffix, title, options in LAYOUTS
    ),
    *(
        planned(
            TODAY,
            f"-sleds-{sleds}{suffix}",
            f"{sleds} sleds, {title}",
            *("--device", "mems-g3", *settings(system__devices=sleds), *options),
        )
        for sleds in SLEDS
        for suffix, title, options in LAYOUTS
    ),
)

BEYOND = (*HOSTS, Planned(QUERIES), *FAILURES, *ORDERS, *STORES, *CHIPS, *FLASH, *SLEDS_TODAY)
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
class FoundReplays:
    """The replays of one experiment, selected by some of their columns."""

    rows: tuple[Replay, ...]

    def where(self, **details: object) -> FoundReplays:
        """The replays whose columns have these values."""
        return FoundReplays(
            tuple(
                row for row in self.rows if all(getattr(row, key) == value for key, value in details.items())
            )
        )

    def one(self, **details: object) -> Replay:
        """The first replay with these values."""
        return self.where(**details).rows[0]

    def each(self, column: str) -> list[str]:
        """Distinct values of a column, in the order of the experiment."""
        return list(dict.fromkeys(str(getattr(row, column)) for row in self.rows))


def of(runs: SmartRuns, place: str) -> FoundReplays:
    """The replays of an experiment."""
    return FoundReplays(rows_of(runs.directory / place / "runs.csv", Replay, settings=True))


def times(a: Replay, b: Replay) -> float:
    """Time of the first replay over that of the second."""
    return a.elapsed_s / b.elapsed_s
