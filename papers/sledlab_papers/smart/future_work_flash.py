"""Flash in a node of today, and the MEMS device that would equal it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..markdown import table
from ..wording import cells, format_rows
from .future_work_plan import (
    FLASH_PAGE,
    FORCE,
    LARGE_PAGE,
    LAYOUTS,
    PROGRAM_US,
    SLEDS,
    TODAY,
    TODAY_MEMS,
    Replay,
    ReplaySelection,
    read_replays,
    time_ratio,
)
from .plan import SmartRuns

ORDER, SCATTERED, LARGE = range(3)


@dataclass(frozen=True)
class TodayStore:
    """A store in a node of today: scans of pages in each of `LAYOUTS`, and a sort with pages in order."""

    name: str
    scans: tuple[Replay, ...]
    sort: Replay

    @property
    def rates(self) -> list[float]:
        """MB/s that each node reads in each scan."""
        first_scan = self.scans[ORDER]
        read_mb = first_scan.requests * FLASH_PAGE * 1024 / 1e6 / first_scan.nodes
        return [read_mb / scan.elapsed_s for scan in self.scans]


def _store(name: str, selections: Sequence[ReplaySelection], **columns: str) -> TodayStore:
    """A store, from its results in each layout."""
    scans = tuple(each.first(job="scan", **columns) for each in selections)
    return TodayStore(name, scans, selections[ORDER].first(job="sort", **columns))


def flash_store(runs: SmartRuns) -> TodayStore:
    """Flash with the values of its data sheet."""
    return _store("flash", [read_replays(runs, f"{TODAY}{layout}") for layout, *_ in LAYOUTS])


def single_sled_stores(runs: SmartRuns) -> list[TodayStore]:
    """One sled, of the paper and faster."""
    selections = [read_replays(runs, f"{TODAY_MEMS}{layout}") for layout, *_ in LAYOUTS]
    pushed_selections = [read_replays(runs, f"{TODAY_MEMS}-pushed{layout}") for layout, *_ in LAYOUTS]
    (fastest_device,) = pushed_selections[ORDER].distinct("device")
    return [
        *(
            _store(_sled_name(device), selections, device=device)
            for device in selections[ORDER].distinct("device")
        ),
        _store(f"{_sled_name(fastest_device)}, {FORCE} times the force", pushed_selections),
    ]


def sled_array_stores(runs: SmartRuns) -> list[TodayStore]:
    """Sleds side by side."""
    return [
        _store(
            f"{sleds} G3 sleds",
            [read_replays(runs, f"{TODAY}-sleds-{sleds}{layout}") for layout, *_ in LAYOUTS],
        )
        for sleds in SLEDS
    ]


def _sled_name(device: str) -> str:
    """A G3 sled in words."""
    parameters = dict(word.split("=") for word in device.split()[1:])
    parts = [f"{float(parameters['active_tips']):,.0f} tips at once"] if "active_tips" in parameters else []
    if "tip_rate_kbit_s" in parameters:
        parts.append(f"{float(parameters['tip_rate_kbit_s']) / 1000:g} Mbit/s each")
    return ", ".join(["a G3 sled", *parts])


def today_table(runs: SmartRuns) -> str:
    """A table of stores in the same node, flash first."""
    rows = [
        cells(
            "{} | {:figure} | {:figure} | {:figure} | {:,.0f} | {:.2f}",
            store.name,
            *store.rates,
            1000 * store.sort.elapsed_s,
            store.scans[ORDER].store_j,
        )
        for store in (flash_store(runs), *single_sled_stores(runs), *sled_array_stores(runs))
    ]
    header = (
        f"store | pages of {FLASH_PAGE} KB in order (MB/s) | scattered (MB/s) | of {LARGE_PAGE:,} KB (MB/s)"
    )
    return table(f"{header} | sort (ms) | stores, first scan (J)", rows)


def _first_as_fast(stores: list[TodayStore], reference: TodayStore, layout: int) -> str:
    """The first of some stores that is at least as fast as `reference`, in words."""
    return next(
        (each.name for each in stores if each.rates[layout] >= reference.rates[layout]), "none of them"
    )


def today_sentences(runs: SmartRuns) -> dict[str, str]:
    """The numbers of the text's sentences."""
    single_sleds, arrays, flash = single_sled_stores(runs), sled_array_stores(runs), flash_store(runs)
    programs = read_replays(runs, f"{TODAY}-programs").first(job="sort")
    return {
        "flash_rates": format_rows("{:,.0f}", [(rate,) for rate in flash.rates]),
        "sled_rates": format_rows("{:,.0f}", [(rate,) for rate in single_sleds[0].rates]),
        "behind": format_rows(
            "{:.1f}", [(a / b,) for a, b in zip(flash.rates, single_sleds[0].rates, strict=True)]
        ),
        "best_rates": format_rows(
            "{:,.0f}", [(max(sled.rates[i] for sled in single_sleds[:-1]),) for i in range(3)]
        ),
        "force": str(FORCE),
        "pushed_scattered": f"{single_sleds[-1].rates[SCATTERED]:,.0f}",
        "enough": format_rows(
            "{}", [(_first_as_fast([*single_sleds, *arrays], flash, layout),) for layout in range(3)], "; "
        ),
        "needed": f"{FLASH_PAGE * 1024 / flash.rates[SCATTERED]:,.1f}",
        "sled_us": f"{FLASH_PAGE * 1024 / single_sleds[0].rates[SCATTERED]:,.0f}",
        "sleds_sort": _first_with_similar_sort(arrays, flash),
        "programs": f"{time_ratio(programs, flash.sort):.1f}",
        "program_us": str(PROGRAM_US),
    }


def _first_with_similar_sort(stores: list[TodayStore], flash: TodayStore) -> str:
    """The first of some stores on which a sort takes at most 2 % longer, in words."""
    return next((each.name for each in stores if time_ratio(each.sort, flash.sort) <= 1.02), "none of them")
