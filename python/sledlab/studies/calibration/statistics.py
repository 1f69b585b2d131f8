"""Statistics of a stand-in that are compared: of its characterization, and of simulations of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sledlab.model.catalog import ModelChoice
from sledlab.runs.execute import simulate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sledlab.runs.result import Result

    Report = Mapping[str, Any]
    """A characterization, as `Trace.info` gives it."""

MIB = 2**20
"""Bytes: Wang 2005 gives a disk of 17.9 million sectors as 8.6 GB, so its units are binary."""


@dataclass(frozen=True)
class Statistic:
    """One number of a characterization.

    Attributes:
        name: Name in the report.
        unit: Its unit, empty for a plain number.
        decimals: Number of decimals to print.
        compute: Function that takes it out of a characterization; None where requests of a kind are absent.
    """

    name: str
    unit: str
    decimals: int
    compute: Callable[[Report], float | None]

    def text(self, value: float | None) -> str:
        """A value as printed in the report; a dash for `None`."""
        return "–" if value is None else f"{value:,.{self.decimals}f}"


def _hits(cache_mb: int) -> Statistic:
    def compute(report: Report) -> float:
        ratios_by_size = {row["cache_mb"]: row["hit_ratio"] for row in report["cache_hits"]}
        return 100 * float(ratios_by_size[cache_mb])

    return Statistic(f"LRU hits, {cache_mb} MiB", "%", 1, compute)


def _dispersion(window_s: int) -> Statistic:
    def compute(report: Report) -> float:
        indices_by_window = {row["window_s"]: row["index"] for row in report["dispersion"]}
        return float(indices_by_window[window_s])

    return Statistic(f"dispersion at {window_s} s", "", 1, compute)


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _sequential(name: str, key: str) -> Statistic:
    return Statistic(name, "%", 2, lambda report: 100 * float(report["sequentiality"][key]))


STATISTICS: dict[str, Statistic] = {
    "requests": Statistic("requests", "", 0, lambda report: report["requests"]),
    "span": Statistic("span", "s", 0, lambda report: report["span_s"]),
    "rate": Statistic("rate", "/s", 2, lambda report: report["rate_per_s"]),
    "reads": Statistic("reads", "%", 2, lambda report: 100 * report["read_share"]),
    "mean_size": Statistic("mean size", "KB", 2, lambda report: report["sizes"]["all"]["mean_kb"]),
    "small_writes": Statistic(
        "writes below 8 KB", "%", 2, lambda report: _percent(report["sizes"]["write"]["below_8kb_share"])
    ),
    "touched": Statistic(
        "data touched", "MiB", 0, lambda report: report["working_set"]["all_512_bytes"] / MIB
    ),
    "sequential": _sequential("sequential", "one_stream_share"),
    "with_gap": _sequential("sequential or 16 KB further", "with_16kb_gap_share"),
    "in_streams": _sequential("continues one of 32 streams", "streams_32_share"),
    "mergeable": _sequential("mergeable read pairs", "mergeable_read_pairs_share"),
    "dispersion_1": _dispersion(1),
    "dispersion_10": _dispersion(10),
    "hits_64": _hits(64),
    "hits_256": _hits(256),
    "hits_512": _hits(512),
    "written_reads": Statistic(
        "reads that hit a cache of writes only",
        "%",
        1,
        lambda report: _percent(report["written_reuse"]["read_share"]),
    ),
}
"""Statistics that are compared for every stand-in, in the order of the report."""


@dataclass(frozen=True)
class StandInRun:
    """A simulation of the stand-in, in order of arrival.

    Attributes:
        device: Name of the device.
        speedup: Divides the times between arrivals.
        idle_timeout_ms: Idle time before the device parks.
    """

    device: str
    speedup: float
    idle_timeout_ms: float

    def run(self, workload: str, parameters: Mapping[str, float], seed: int) -> Result:
        """The result of the simulation."""
        source = ModelChoice("workload", workload, parameters)
        settings = {"device.idle_timeout_ms": self.idle_timeout_ms, "system.start": "parked"}
        return simulate(
            source, self.device, speedup=self.speedup, seed=seed, settings=settings, requests=False
        )


RUNS = {
    "G3, 10x": StandInRun("mems-g3", 10, 0),
    "G3, 100x": StandInRun("mems-g3", 100, 0),
    "G2, 10x, parks after 1 s": StandInRun("mems-g2", 10, 1000),
}
"""Simulations whose results were published, by their names in the report."""


def _run_statistic(
    run: str, name: str, unit: str, decimals: int, select: Callable[[Result], float]
) -> Statistic:
    return Statistic(f"{run}: {name}", unit, decimals, lambda report: select(report["runs"][run]))


def _table_statistics(run: str) -> dict[str, Statistic]:
    """The rows of a table of Lin, for one run."""
    return {
        f"startups, {run}": _run_statistic(run, "start-ups", "", 0, lambda result: result.startups),
        f"response, {run}": _run_statistic(
            run, "response", "ms", 3, lambda result: result.response_time.mean
        ),
        f"servicing, {run}": _run_statistic(run, "seeks and accesses", "J", 3, _service_energy),
        f"startup, {run}": _run_statistic(run, "start-up", "J", 4, lambda result: result.energy.startup),
        f"inactive, {run}": _run_statistic(run, "inactive", "J", 2, lambda result: result.energy.inactive),
    }


def _service_energy(result: Result) -> float:
    return result.energy.seek + result.energy.access


_PARKS_LATE = "G2, 10x, parks after 1 s"

TARGETED_STATISTICS: dict[str, Statistic] = {
    "eight": Statistic(
        "of 8 KB",
        "%",
        2,
        lambda report: 100 * sum(row["share"] for row in report["sizes"]["commonest"] if row["kb"] == 8),
    ),
    "small": Statistic("below 8 KB", "%", 2, lambda report: 100 * report["sizes"]["all"]["below_8kb_share"]),
    "metadata": Statistic("metadata", "%", 2, lambda report: 100 * report["metadata_share"]),
    **_table_statistics("G3, 10x"),
    **_table_statistics("G3, 100x"),
    "idle": _run_statistic(
        _PARKS_LATE, "idle share", "%", 1, lambda result: 100 * result.energy.idle / result.energy.total
    ),
}
"""Statistics that are compared only for stand-ins with a target for them."""
