"""Stand-ins for traces that are not public, held against what was published of those traces.

A stand-in is a workload generator with a list of targets. Published numbers must be met within
3 %; what had to be chosen because nothing was published is told as a choice.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sledlab import _native
from sledlab.errors import Error

TOLERANCE = 0.03
"""Largest relative deviation from a published number."""

DEVICE = "mems-g2"
"""The device whose capacity the workloads are made for."""

MB = 2**20
"""Bytes: paper 001 gives a disk of 17.9 million sectors as 8.6 GB, so its units are binary."""

OPEN = "Open: "
"""How the meaning of a parameter begins that is a choice."""

Report = Mapping[str, Any]
"""A characterisation, as `Trace.info` gives it."""

Verdict = Literal["pass", "fail", "choice", ""]


@dataclass(frozen=True)
class Statistic:
    """One number of a characterisation.

    Attributes:
        name: What people call it.
        unit: Its unit, empty for a plain number.
        decimals: How many are worth printing.
        of: Takes it out of a characterisation.
    """

    name: str
    unit: str
    decimals: int
    of: Callable[[Report], float]

    def text(self, value: float) -> str:
        """A value as people read it."""
        return f"{value:,.{self.decimals}f}"


def _hits(cache_mb: int) -> Statistic:
    def of(report: Report) -> float:
        found = {row["cache_mb"]: row["hit_ratio"] for row in report["cache_hits"]}
        return 100 * float(found[cache_mb])

    return Statistic(f"LRU hits, {cache_mb} MB", "%", 1, of)


def _dispersion(window_s: int) -> Statistic:
    def of(report: Report) -> float:
        found = {row["window_s"]: row["index"] for row in report["dispersion"]}
        return float(found[window_s])

    return Statistic(f"dispersion at {window_s} s", "", 1, of)


def _sequential(name: str, key: str) -> Statistic:
    return Statistic(name, "%", 2, lambda report: 100 * float(report["sequentiality"][key]))


STATISTICS: dict[str, Statistic] = {
    "requests": Statistic("requests", "", 0, lambda report: report["requests"]),
    "span": Statistic("span", "s", 0, lambda report: report["span_s"]),
    "rate": Statistic("rate", "/s", 2, lambda report: report["rate_per_s"]),
    "reads": Statistic("reads", "%", 2, lambda report: 100 * report["read_share"]),
    "mean_size": Statistic("mean size", "KB", 2, lambda report: report["sizes"]["all"]["mean_kb"]),
    "small_writes": Statistic(
        "writes below 8 KB", "%", 2, lambda report: 100 * report["sizes"]["write"]["below_8kb_share"]
    ),
    "touched": Statistic("data touched", "MB", 0, lambda report: report["working_set"]["all_512_bytes"] / MB),
    "sequential": _sequential("sequential", "one_stream_share"),
    "with_gap": _sequential("sequential or 16 KB further", "with_16kb_gap_share"),
    "in_streams": _sequential("goes on with one of 32 streams", "streams_32_share"),
    "mergeable": _sequential("mergeable read pairs", "mergeable_read_pairs_share"),
    "dispersion_1": _dispersion(1),
    "dispersion_10": _dispersion(10),
    "hits_64": _hits(64),
    "hits_256": _hits(256),
    "hits_512": _hits(512),
}
"""What is compared, in the order of the report."""


@dataclass(frozen=True)
class Target:
    """What a statistic should be.

    Attributes:
        value: The number, in the unit of the statistic.
        source: Where it was published (`docs/papers.md` has the papers), or why it was chosen.
        kind: A `published` number, a `choice`, or what is `least` for words that were published.
    """

    value: float
    source: str
    kind: Literal["published", "choice", "least"] = "published"


@dataclass(frozen=True)
class Calibration:
    """A stand-in: a generator, parameters over its defaults, and targets by key of `STATISTICS`."""

    workload: str
    about: str
    parameters: Mapping[str, float]
    targets: Mapping[str, Target]


_HOUR = "000, section 4"
_TABLE = "001, table 2"
_WEEK = "a choice: as in the public week of hplajw"

_CELLO = {
    "reads": Target(28.7, _TABLE),
    "mean_size": Target(7.2, _TABLE),
    "small_writes": Target(52, "001, section 6.1"),
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
    "in_streams": Target(50, "000: highly sequential", "least"),
    "dispersion_1": Target(20, "000: burstier than cello", "least"),
}

CALIBRATIONS: dict[str, Calibration] = {
    "cello": Calibration(
        "cello",
        "one hour of a news server, as in paper 000",
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
        "twelve hours of a news server, as in paper 001",
        {"requests": 1_088_407, "rate_per_s": 25.2},
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
        "one hour of a workstation, as in paper 000",
        {},
        {
            "requests": Target(20.9 * 3600, _HOUR),
            "span": Target(3600, _HOUR),
            "rate": Target(20.9, _HOUR),
            **_HPLAJW,
        },
    ),
    "hplajw-2h": Calibration(
        "hplajw",
        "two hours of a workstation, as in paper 001",
        {"requests": 308_788, "rate_per_s": 42.9},
        {
            "requests": Target(308_788, _TABLE),
            "span": Target(2 * 3600, _TABLE),
            "rate": Target(42.9, _TABLE),
            **_HPLAJW,
            "touched": Target(376, _TABLE),
        },
    ),
}
"""All stand-ins, the hours of paper 000 and the longer traces of paper 001."""


@dataclass(frozen=True)
class Row:
    """One statistic of a stand-in.

    Attributes:
        statistic: What it is.
        achieved: What the stand-in has.
        target: What it should have, where there is such a thing.
    """

    statistic: Statistic
    achieved: float
    target: Target | None

    @property
    def deviation(self) -> float | None:
        """Relative deviation from the target; none where only the least is known."""
        if self.target is None or self.target.kind == "least":
            return None
        return self.achieved / self.target.value - 1

    @property
    def verdict(self) -> Verdict:
        """`pass` or `fail` for what was published, `choice`, or nothing without a target."""
        if self.target is None:
            return ""
        if self.target.kind == "choice":
            return "choice"
        if self.deviation is None:
            return "pass" if self.achieved >= self.target.value else "fail"
        return "pass" if abs(self.deviation) <= TOLERANCE else "fail"


@dataclass(frozen=True)
class Calibrated:
    """The outcome of a calibration.

    Attributes:
        name: The stand-in.
        seed: The root of its random numbers.
        rows: Every statistic.
        choices: Open parameters of the generator with their values.
    """

    name: str
    seed: int
    rows: tuple[Row, ...]
    choices: Mapping[str, Any] = field(default_factory=dict)

    @property
    def passes(self) -> bool:
        """Whether everything published is met."""
        return all(row.verdict != "fail" for row in self.rows)


def calibration(name: str) -> Calibration:
    """The stand-in called `name`.

    Raises:
        Error: There is none.
    """
    found = CALIBRATIONS.get(name)
    if found is None:
        raise Error(f"no stand-in is called `{name}`", remedy=f"choose one of {', '.join(CALIBRATIONS)}")
    return found


def choices(workload: str) -> dict[str, Any]:
    """The parameters of a generator that are choices, with their defaults."""
    from sledlab import catalogue

    specs = catalogue.workload.show(workload).parameters
    return {spec.name: spec.default for spec in specs if spec.meaning.startswith(OPEN)}


def calibrate(name: str, seed: int = 1) -> Calibrated:
    """Generates a stand-in and compares its statistics with what was published.

    Args:
        name: A key of `CALIBRATIONS`.
        seed: The root of all random numbers.

    Raises:
        Error: There is no such stand-in.

    Example:
        >>> calibrate("cello").passes
        True
    """
    from sledlab.devices import describe

    chosen = calibration(name)
    params = "\n".join(f"{key} = {value}" for key, value in chosen.parameters.items())
    capacity = describe(_native.Experiment().with_device(DEVICE))["capacity_blocks"]
    source = _native.Source.generate(chosen.workload, params, seed, capacity)
    report = json.loads(_native.characterise(source))
    rows = tuple(
        Row(statistic, float(statistic.of(report)), chosen.targets.get(key))
        for key, statistic in STATISTICS.items()
    )
    return Calibrated(name, seed, rows, choices(chosen.workload))
