"""Targets of stand-ins: numbers published of their originals, and values that had to be chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from sledlab.studies.calibration.statistics import RUNS

if TYPE_CHECKING:
    from collections.abc import Mapping

TOLERANCE = 0.03
"""Largest relative deviation from a published number."""


@dataclass(frozen=True)
class Target:
    """The target of a statistic.

    Attributes:
        value: The target value, in the unit of the statistic.
        source: Where it was published (`docs/papers.md` has the papers), or why it was chosen.
        kind: A `published` number, a `choice` such as a value measured on `AJW`, the `least` or `most` value
            that published words allow, or a published number that is `unfitted`: it is shown, and the
            stand-in does not meet it by design.
        tolerance: Largest relative deviation from a published number.
        fitted: Whether open parameters were chosen to meet the target: then meeting it is no evidence.
    """

    value: float
    source: str
    kind: Literal["published", "choice", "least", "most", "unfitted"] = "published"
    tolerance: float = TOLERANCE
    fitted: bool = False


@dataclass(frozen=True)
class Calibration:
    """A stand-in: a generator, parameters over its defaults, and targets by key of a statistic.

    Attributes:
        workload: Name of the generator.
        original: The trace that it stands in for.
        parameters: Parameters that differ from the generator's defaults.
        targets: Targets by key of `STATISTICS` or `TARGETED_STATISTICS`.
        runs: Simulations of it, by key of `RUNS`.
    """

    workload: str
    original: str
    parameters: Mapping[str, float]
    targets: Mapping[str, Target]
    runs: tuple[str, ...] = ()


AJW: Mapping[str, float] = {
    "requests": 44_519,
    "span": 603_065,
    "rate": 0.07,
    "reads": 29.29,
    "mean_size": 5.78,
    "small_writes": 29.05,
    "touched": 26.0,
    "sequential": 1.26,
    "with_gap": 7.26,
    "in_streams": 6.79,
    "mergeable": 0.17,
    "dispersion_1": 20.0,
    "dispersion_10": 63.4,
    "hits_64": 90.1,
    "hits_256": 90.1,
    "hits_512": 90.1,
    "written_reads": 14.6,
}
"""Statistics of `ajw.1week.srt`, distributed with DiskSim 4.0: a public week of the workstation hplajw."""

_HOUR = "Hong 2006, section 4"
_TABLE = "Wang 2005, table 2"
_WEEK = "a choice: as in ajw"

_CELLO = {
    "reads": Target(28.7, _TABLE),
    "mean_size": Target(7.2, _TABLE),
    "small_writes": Target(52, "Wang 2005, section 6.1"),
    "sequential": Target(7.4, _TABLE),
    "with_gap": Target(7.4, _TABLE),
    "dispersion_1": Target(20, _WEEK, "choice"),
    "dispersion_10": Target(63, _WEEK, "choice"),
}
_HPLAJW = {
    "reads": Target(60.3, _TABLE),
    "mean_size": Target(7.6, _TABLE),
    "sequential": Target(14.3, _TABLE),
    "with_gap": Target(14.3, _TABLE),
    "in_streams": Target(50, "Hong 2006: highly sequential", "least"),
    "dispersion_1": Target(20, "Hong 2006: burstier than cello", "least"),
}

_ENERGIES = "Lin, section 5.3"
_CHOICE = "a choice"


def _table_targets(
    run: str, startups: float, response_ms: float, joules: tuple[float, float, float], servicing: float
) -> dict[str, Target]:
    """Targets of a table of Lin; `servicing` is the tolerance where the sled's model matters most."""
    return {
        f"startups, {run}": Target(startups, f"{_ENERGIES}, derived", fitted=True),
        f"response, {run}": Target(response_ms, _ENERGIES, tolerance=0.1, fitted=True),
        f"servicing, {run}": Target(joules[0], _ENERGIES, tolerance=servicing),
        f"startup, {run}": Target(joules[1], _ENERGIES, fitted=True),
        f"inactive, {run}": Target(joules[2], _ENERGIES, fitted=True),
    }


_SNAKE = {
    "requests": Target(87_000, f"{_ENERGIES}, derived", fitted=True),
    "span": Target(42_500, f"{_ENERGIES}, derived", fitted=True),
    "reads": Target(45, _CHOICE, "choice"),
    "mean_size": Target(8, "Lin, section 4.2"),
    "eight": Target(75, _CHOICE, "choice"),
    "small": Target(15, _CHOICE, "choice"),
    "mergeable": Target(27, "a choice: 60 % of reads", "choice"),
    "metadata": Target(72, "Hong 2006, section 5.3.3"),
    **_table_targets("G3, 10x", 37_645, 1.524451, (10.817354, 1.882250, 211.532886), 0.25),
    **_table_targets("G3, 100x", 4_951, 129.842917, (9.880290, 0.247550, 19.863575), 0.35),
    # Lin has almost 50 %: this target comes from Hong 2006.
    "idle": Target(55, "Hong 2006, section 5.1", "unfitted"),
}

_NO_GAIN = "Wang 2005, section 6.3: no gain up to 512 MiB"
_ZERO_SOURCE = "Wang 2005, table 2: 0"

_TPCD = {
    "requests": Target(238_971, _TABLE),
    "span": Target(7 * 3600, _TABLE),
    "rate": Target(9.48, f"{_TABLE}, derived"),
    "reads": Target(100, _TABLE),
    "mean_size": Target(39.9, _TABLE),
    "touched": Target(1242, _TABLE),
    "sequential": Target(72.7, _TABLE),
    "with_gap": Target(72.7, _TABLE),
    **{key: Target(5, _NO_GAIN, "most", fitted=True) for key in ("hits_64", "hits_256", "hits_512")},
}
_TPCC = {
    "requests": Target(1_246_763, _TABLE),
    "span": Target(2.5 * 3600, _TABLE),
    "rate": Target(138.5, f"{_TABLE}, derived"),
    "reads": Target(52.1, _TABLE),
    "mean_size": Target(8, _TABLE),
    "touched": Target(1006, _TABLE),
    # A share that the decimals of the table round to zero.
    "sequential": Target(0.05, _ZERO_SOURCE, "most"),
    "with_gap": Target(0.05, _ZERO_SOURCE, "most"),
    "dispersion_1": Target(4, _CHOICE, "choice"),
}

CALIBRATIONS: dict[str, Calibration] = {
    "cello": Calibration(
        "cello",
        "one hour of a news server, as in Hong 2006",
        {},
        {
            "requests": Target(33.0 * 3600, _HOUR),
            "span": Target(3600, _HOUR),
            "rate": Target(33.0, _HOUR),
            **_CELLO,
        },
    ),
    "cello-12h": Calibration(
        "cello",
        "twelve hours of a news server, as in Wang 2005",
        # Few and heavy bursts, fitted to how much faster than a disk Wang 2005 found a MEMS caching disk.
        {"requests": 1_088_407, "rate_per_s": 25.2, "burst_share": 0.0049},
        {
            "requests": Target(1_088_407, _TABLE),
            "span": Target(12 * 3600, _TABLE),
            "rate": Target(25.2, _TABLE),
            **_CELLO,
            "touched": Target(775, _TABLE),
        },
    ),
    "hplajw": Calibration(
        "hplajw",
        "one hour of a workstation, as in Hong 2006",
        {},
        {
            "requests": Target(20.9 * 3600, _HOUR),
            "span": Target(3600, _HOUR),
            "rate": Target(20.9, _HOUR),
            **_HPLAJW,
            "touched": Target(28.7, "a choice: blocks of 4 KiB that ajw touches", "choice"),
        },
    ),
    "hplajw-2h": Calibration(
        "hplajw",
        "two hours of a workstation, as in Wang 2005",
        {
            "requests": 308_788,
            "rate_per_s": 42.9,
            "busy_share": 0.227,
            "new_write_share": 0.0505,
            "address_space_gb": 3.2,
        },
        {
            "requests": Target(308_788, _TABLE),
            "span": Target(2 * 3600, _TABLE),
            "rate": Target(42.9, _TABLE),
            **_HPLAJW,
            "touched": Target(376, _TABLE),
        },
    ),
    "snake": Calibration(
        "snake",
        "one disk of a file server during a day, as in Hong 2006 and Lin",
        {},
        _SNAKE,
        tuple(RUNS),
    ),
    # The look-ups, and the buffer pool below, are fitted to responses that Wang 2005 printed.
    "tpcd": Calibration(
        "tpcd",
        "seven hours of a database for decisions, as in Wang 2005",
        {"probe_share": 0.13},
        _TPCD,
    ),
    "tpcc": Calibration(
        "tpcc",
        "two and a half hours of a database for transactions, as in Wang 2005",
        {"host_cache_requests": 8500, "new_write_share": 0.0416},
        _TPCC,
    ),
}
"""All stand-ins: the hours of Hong 2006, the traces of Wang 2005, the day of Lin."""
