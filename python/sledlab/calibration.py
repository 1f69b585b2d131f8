"""Stand-ins for traces that are not public, held against what was published of those traces.

A stand-in is a workload generator with a list of targets. Published numbers must be met within
3 %; what a simulated device made of the trace, within what its target says; what had to be chosen
because nothing was published is told as a choice.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from sledlab import _native
from sledlab.errors import Error

if TYPE_CHECKING:
    from sledlab.result import Result

TOLERANCE = 0.03
"""Largest relative deviation from a published number."""

DEVICE = "mems-g2"
"""The device whose capacity the workloads are characterised for; all fit it."""

MB = 2**20
"""Bytes: paper 001 gives a disk of 17.9 million sectors as 8.6 GB, so its units are binary."""

OPEN = "Open: "
"""How the meaning of a parameter begins that is a choice."""

Report = Mapping[str, Any]
"""A characterisation, as `Trace.info` gives it."""

Verdict = Literal["pass", "fail", "choice", "not fitted", ""]


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
"""What is compared of every stand-in, in the order of the report."""


@dataclass(frozen=True)
class Run:
    """A simulation of the stand-in, in order of arrival.

    Attributes:
        device: The device.
        speedup: Divides the times between arrivals.
        idle_timeout_ms: Idle time before the device parks.
    """

    device: str
    speedup: float
    idle_timeout_ms: float

    def of(self, workload: str, parameters: Mapping[str, float], seed: int) -> Result:
        """Its result."""
        from sledlab.catalogue import Chosen
        from sledlab.simulation import simulate

        source = Chosen("workload", workload, parameters)
        settings = {"device.idle_timeout_ms": self.idle_timeout_ms}
        return simulate(
            source, self.device, speedup=self.speedup, seed=seed, settings=settings, requests=False
        )


RUNS = {
    "G3, 10x": Run("mems-g3", 10, 0),
    "G3, 100x": Run("mems-g3", 100, 0),
    "G2, 10x, parks after 1 s": Run("mems-g2", 10, 1000),
}
"""Simulations whose results were published, by what people call them."""


def _simulated(run: str, name: str, unit: str, decimals: int, of: Callable[[Result], float]) -> Statistic:
    return Statistic(f"{run}: {name}", unit, decimals, lambda report: of(report["runs"][run]))


def _of_table(run: str) -> dict[str, Statistic]:
    """The rows of a table in paper 003."""
    return {
        f"startups, {run}": _simulated(run, "start-ups", "", 0, lambda result: result.startups),
        f"response, {run}": _simulated(run, "response", "ms", 3, lambda result: result.response_time.mean),
        f"servicing, {run}": _simulated(run, "seeks and accesses", "J", 3, _servicing),
        f"startup, {run}": _simulated(run, "start-up", "J", 4, lambda result: result.energy.startup),
        f"inactive, {run}": _simulated(run, "inactive", "J", 2, lambda result: result.energy.inactive),
    }


def _servicing(result: Result) -> float:
    return result.energy.seek + result.energy.access


_PARKS_LATE = "G2, 10x, parks after 1 s"

WHERE_TARGETED: dict[str, Statistic] = {
    "eight": Statistic(
        "of 8 KB",
        "%",
        2,
        lambda report: 100 * sum(row["share"] for row in report["sizes"]["commonest"] if row["kb"] == 8),
    ),
    "small": Statistic("below 8 KB", "%", 2, lambda report: 100 * report["sizes"]["all"]["below_8kb_share"]),
    "metadata": Statistic("metadata", "%", 2, lambda report: 100 * report["metadata_share"]),
    **_of_table("G3, 10x"),
    **_of_table("G3, 100x"),
    "idle": _simulated(
        _PARKS_LATE, "idle share", "%", 1, lambda result: 100 * result.energy.idle / result.energy.total
    ),
}
"""What is compared of a stand-in that has a target for it."""


@dataclass(frozen=True)
class Target:
    """What a statistic should be.

    Attributes:
        value: The number, in the unit of the statistic.
        source: Where it was published (`docs/papers.md` has the papers), or why it was chosen.
        kind: A `published` number, a `choice`, what is `least` or `most` for words that were
            published, or a number that was published and `unfitted`: it is shown, and not met by design.
        tolerance: Largest relative deviation from a published number.
    """

    value: float
    source: str
    kind: Literal["published", "choice", "least", "most", "unfitted"] = "published"
    tolerance: float = TOLERANCE


@dataclass(frozen=True)
class Calibration:
    """A stand-in: a generator, parameters over its defaults, and targets by key of a statistic.

    Attributes:
        workload: The generator.
        about: What it stands in for.
        parameters: Parameters over the defaults.
        targets: What its statistics should be, by key of `STATISTICS` or `WHERE_TARGETED`.
        runs: What is simulated of it, by key of `RUNS`.
    """

    workload: str
    about: str
    parameters: Mapping[str, float]
    targets: Mapping[str, Target]
    runs: tuple[str, ...] = ()


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

_ENERGIES = "003, section 5.3"
_CHOSEN = "a choice"


def _table_targets(
    run: str, startups: float, response_ms: float, joules: tuple[float, float, float], servicing: float
) -> dict[str, Target]:
    """A table of paper 003; `servicing` is the tolerance of what depends on the model of the sled most."""
    return {
        f"startups, {run}": Target(startups, f"{_ENERGIES}, derived"),
        f"response, {run}": Target(response_ms, _ENERGIES, tolerance=0.1),
        f"servicing, {run}": Target(joules[0], _ENERGIES, tolerance=servicing),
        f"startup, {run}": Target(joules[1], _ENERGIES),
        f"inactive, {run}": Target(joules[2], _ENERGIES),
    }


_SNAKE = {
    "requests": Target(87_000, f"{_ENERGIES}, derived"),
    "span": Target(42_500, f"{_ENERGIES}, derived"),
    "reads": Target(45, _CHOSEN, "choice"),
    "mean_size": Target(8, "003, section 4.2"),
    "eight": Target(75, _CHOSEN, "choice"),
    "small": Target(15, _CHOSEN, "choice"),
    "mergeable": Target(27, "a choice: 60 % of reads", "choice"),
    "metadata": Target(72, "000, section 5.3.3"),
    **_table_targets("G3, 10x", 37_645, 1.524451, (10.817354, 1.882250, 211.532886), 0.25),
    **_table_targets("G3, 100x", 4_951, 129.842917, (9.880290, 0.247550, 19.863575), 0.35),
    # Paper 003 has almost 50 %.
    "idle": Target(55, "000, section 5.1", "unfitted"),
}

_NO_GAIN = "001, section 6.3: no gain up to 512 MB"
_NONE = "001, table 2: 0"

_TPCD = {
    "requests": Target(238_971, _TABLE),
    "span": Target(7 * 3600, _TABLE),
    "rate": Target(9.48, f"{_TABLE}, derived"),
    "reads": Target(100, _TABLE),
    "mean_size": Target(39.9, _TABLE),
    "touched": Target(1242, _TABLE),
    "sequential": Target(72.7, _TABLE),
    "with_gap": Target(72.7, _TABLE),
    **{key: Target(5, _NO_GAIN, "most") for key in ("hits_64", "hits_256", "hits_512")},
}
_TPCC = {
    "requests": Target(1_246_763, _TABLE),
    "span": Target(2.5 * 3600, _TABLE),
    "rate": Target(138.5, f"{_TABLE}, derived"),
    "reads": Target(52.1, _TABLE),
    "mean_size": Target(8, _TABLE),
    "touched": Target(1006, _TABLE),
    # What the decimals of the table would round to zero.
    "sequential": Target(0.05, _NONE, "most"),
    "with_gap": Target(0.05, _NONE, "most"),
    "dispersion_1": Target(4, _CHOSEN, "choice"),
    "hits_256": Target(87, "a choice: a disk behind such a cache keeps up", "choice"),
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
        # Few and heavy bursts, fitted to how much faster than a disk paper 001 found a MEMS caching disk.
        {"requests": 1_088_407, "rate_per_s": 25.2, "burst_share": 0.0135},
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
    "snake": Calibration(
        "snake",
        "one disk of a file server during a day, as in papers 000 and 003",
        {},
        _SNAKE,
        tuple(RUNS),
    ),
    "tpcd": Calibration("tpcd", "seven hours of a database for decisions, as in paper 001", {}, _TPCD),
    "tpcc": Calibration(
        "tpcc", "two and a half hours of a database for transactions, as in paper 001", {}, _TPCC
    ),
}
"""All stand-ins: the hours of paper 000, the traces of paper 001, the day of paper 003."""


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
        """Relative deviation from the target; none where only the least or the most is known."""
        if self.target is None or self.target.kind in ("least", "most"):
            return None
        return self.achieved / self.target.value - 1

    @property
    def verdict(self) -> Verdict:
        """`pass` or `fail` for what was published, `choice`, `not fitted`, or nothing without a target."""
        if self.target is None:
            return ""
        if self.target.kind == "choice":
            return "choice"
        if self.target.kind == "unfitted":
            return "not fitted"
        if self.deviation is not None:
            met = abs(self.deviation) <= self.target.tolerance
        elif self.target.kind == "least":
            met = self.achieved >= self.target.value
        else:
            met = self.achieved <= self.target.value
        return "pass" if met else "fail"


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
    report["runs"] = {run: RUNS[run].of(chosen.workload, chosen.parameters, seed) for run in chosen.runs}
    targeted = {key: statistic for key, statistic in WHERE_TARGETED.items() if key in chosen.targets}
    rows = tuple(
        Row(statistic, float(statistic.of(report)), chosen.targets.get(key))
        for key, statistic in {**STATISTICS, **targeted}.items()
    )
    return Calibrated(name, seed, rows, choices(chosen.workload))
