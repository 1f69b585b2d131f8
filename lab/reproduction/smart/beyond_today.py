"""Flash in a node of today, and what MEMS would have to be there."""

from __future__ import annotations

from dataclasses import dataclass

from ...markdown import table
from ...words import cells
from .beyond_plan import FLASH_PAGE, PROGRAM_US, SLEDS, TODAY, TODAY_MEMS, Replay, of, times
from .plan import SmartRuns

SCATTERED = "-scattered"


@dataclass(frozen=True)
class Store:
    """A store in a node of today: scans of pages in order and of scattered ones, and a sort where it was run."""

    name: str
    in_order: Replay
    scattered: Replay
    sort: Replay | None = None

    @property
    def rates(self) -> tuple[float, float]:
        """MB/s that each node reads in a scan, in order and scattered."""
        return rate(self.in_order), rate(self.scattered)


def rate(scan: Replay) -> float:
    """MB/s that each node reads."""
    return scan.requests * FLASH_PAGE * 1024 / 1e6 / scan.nodes / scan.elapsed_s


def flash(runs: SmartRuns) -> Store:
    """Flash as its data sheet has it."""
    rows = of(runs, TODAY)
    scattered = of(runs, f"{TODAY}{SCATTERED}").one(job="scan")
    return Store("flash", rows.one(job="scan"), scattered, rows.one(job="sort"))


def single(runs: SmartRuns) -> list[Store]:
    """One sled, as it was and faster."""
    in_order, scattered = of(runs, TODAY_MEMS), of(runs, f"{TODAY_MEMS}{SCATTERED}")
    return [
        Store(
            _name(device),
            in_order.one(job="scan", device=device),
            scattered.one(job="scan", device=device),
            in_order.one(job="sort", device=device),
        )
        for device in in_order.each("device")
    ]


def several(runs: SmartRuns) -> list[Store]:
    """Sleds side by side."""
    found = []
    for sleds in SLEDS:
        in_order, scattered = (of(runs, f"{TODAY}-sleds-{sleds}{suffix}") for suffix in ("", SCATTERED))
        sort = in_order.one(job="sort")
        found.append(Store(f"{sleds} G3 sleds", in_order.one(job="scan"), scattered.one(job="scan"), sort))
    return found


def _name(device: str) -> str:
    """A G3 sled in words."""
    said = dict(word.split("=") for word in device.split()[1:])
    words = [f"{float(said['active_tips']):,.0f} tips at once"] if "active_tips" in said else []
    if "tip_rate_kbit_s" in said:
        words.append(f"{float(said['tip_rate_kbit_s']) / 1000:g} Mbit/s each")
    return ", ".join(["a G3 sled", *words])


def today(runs: SmartRuns) -> str:
    """Stores in the same node, flash first."""
    rows = []
    for store in (flash(runs), *single(runs), *several(runs)):
        scans = (store.in_order, store.scattered)
        seconds = [1000 * scan.elapsed_s for scan in scans]
        sort = f"{1000 * store.sort.elapsed_s:,.0f}" if store.sort else "–"
        told = cells(
            "{} | {:figure} | {:figure} | {:figure} | {:figure}", store.name, *_between(seconds, store.rates)
        )
        rows.append([*told, sort, *cells("{:.2f}", store.in_order.store_j)])
    header = "store | scan, pages in order (ms) | MB/s a node | scattered (ms) | MB/s a node | sort (ms)"
    return table(f"{header} | stores, first scan (J)", rows)


def _between(a: list[float], b: tuple[float, float]) -> list[float]:
    return [each for pair in zip(a, b, strict=True) for each in pair]


def _first(stores: list[Store], against: Store, scattered: bool) -> str:
    """The first of some stores that is at least as fast as another."""
    ours = against.rates[scattered]
    return next((store.name for store in stores if store.rates[scattered] >= ours), "none of them")


def of_today(runs: SmartRuns) -> dict[str, str]:
    """The numbers of the text's sentences."""
    one, sleds, ours = single(runs), several(runs), flash(runs)
    programs = of(runs, f"{TODAY}-programs").one(job="sort")
    assert ours.sort
    return {
        "flash_order": f"{ours.rates[0]:,.0f}",
        "flash_scattered": f"{ours.rates[1]:,.0f}",
        "sled_order": f"{one[0].rates[0]:,.0f}",
        "sled_scattered": f"{one[0].rates[1]:,.0f}",
        "behind_order": f"{ours.rates[0] / one[0].rates[0]:.1f}",
        "behind_scattered": f"{ours.rates[1] / one[0].rates[1]:,.0f}",
        "best_sled": one[-1].name,
        "best_sled_scattered": f"{one[-1].rates[1]:,.0f}",
        "enough_order": _first(one, ours, scattered=False),
        "enough_scattered": _first(one, ours, scattered=True),
        "sleds_order": _first(sleds, ours, scattered=False),
        "sleds_scattered": _first(sleds, ours, scattered=True),
        "programs": f"{times(programs, ours.sort):.1f}",
        "program_us": str(PROGRAM_US),
    }
