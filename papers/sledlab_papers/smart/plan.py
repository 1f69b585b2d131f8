"""The experiments on smart storage, and their results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import polars

from ..markdown import table
from ..runs import PlannedExperiment, TableReads, mark_value
from ..wording import cells
from .published_times import DISK, DISK_HOST, Stage

PARTS = ("compute", "store", "network")
LETTERS = {"compute": "C", "store": "I", "network": "N"}
"""Abbreviations of components, as in table 5 of the paper."""

SCAN, JOIN, SORT, RULES, CLUSTERS = (f"chiu2004-figure-{number}" for number in (4, 5, 7, 9, 11))
JOB_EXPERIMENTS = {
    "scan": SCAN,
    "join": JOIN,
    "sort": SORT,
    "apriori-cd": RULES,
    "apriori-hd": RULES,
    "mafia": CLUSTERS,
}

UNIVERSES = {25: 5, 50: 0, 100: 0, 200: 0, 500: 0}
"""Numbers of items other than the experiment's 1,000, with the largest set looked for; 0: no limit.

Of 25 items, of which a transaction has 20, all sets of up to twelve are frequent: 17 million are too many.
With those of up to five, computation is the largest component on every device.
"""
UNIVERSE_NODES = 8
CANDIDATE_SUFFIX = "-each"
"""Ending of MAFIA's directory where records are compared with each candidate."""


def universe_suffix(items: int) -> str:
    """Ending of the directory of a number of items."""
    return f"-universe-{items}"


SECTIONS = (2, 4)
"""Sections of the candidates in hybrid distribution, other than as many as fit."""
TENTH_SUFFIX = "-tenth"
"""Ending of the directory of both distributions with a tenth of the transactions."""
TENTH = ("--job-set", "transactions_per_node=10000")
HASH_SUFFIX = "-hash"
"""Ending of the directory of a join that hashes instead of looping over blocks, on a tenth of the data."""


def sections_place(sections: int) -> str:
    """Place of the runs of hybrid distribution with a number of sections."""
    return f"{RULES}-sections-{sections}"


OPEN_CHOICES = (
    PlannedExperiment(RULES, TENTH, TENTH_SUFFIX, f"`{RULES}`, a tenth of the transactions"),
    *(
        PlannedExperiment(
            RULES,
            ("--job", "apriori-hd", *TENTH, "--job-set", f"sections={sections}"),
            f"-sections-{sections}",
            f"`{RULES}`, a tenth of the transactions, {sections} sections",
        )
        for sections in SECTIONS
    ),
    PlannedExperiment(
        JOIN,
        (
            *("--job-set", "method=hash", "--job-set", "scale_factor=0.1"),
            *("--job-set", "lineitem_bytes=167"),
        ),
        HASH_SUFFIX,
        f"`{JOIN}`, hash join, a tenth of the data",
    ),
    *(
        PlannedExperiment(
            RULES,
            tuple(
                f"--job apriori-hd --node-count {UNIVERSE_NODES} --job-set universe={items} "
                f"--job-set largest={largest} --job-set transactions_per_node=100000".split()
            ),
            universe_suffix(items),
            f"`{RULES}`, {items} items",
        )
        for items, largest in UNIVERSES.items()
    ),
    PlannedExperiment(
        CLUSTERS,
        ("--job-set", "records=4281782", "--job-set", "counting=each"),
        CANDIDATE_SUFFIX,
        f"`{CLUSTERS}`, each candidate",
    ),
)
"""Further choices that the paper leaves open."""

PLAN = (*(PlannedExperiment(name) for name in (SCAN, JOIN, SORT, RULES, CLUSTERS)), *OPEN_CHOICES)

T = TypeVar("T")


@dataclass(frozen=True)
class ReplayTimes:
    """A replay: mean times of a node, in s."""

    job: str
    nodes: int
    device: str
    page_kb: float | None
    at: str
    elapsed_s: float
    requests: int
    sent_bytes: int
    energy_j: float


@dataclass(frozen=True)
class StageTimes:
    """A stage of a job: times of the node that works longest, in s."""

    job: str
    nodes: int
    device: str
    page_kb: float | None
    at: str
    phase: str
    elapsed_s: float
    longest_compute_s: float
    longest_store_s: float
    longest_network_s: float

    def part(self, name: str) -> float:
        """Time of a component, in s."""
        return float(getattr(self, f"longest_{name}_s"))

    @property
    def largest_part(self) -> str:
        """The component of the longest time."""
        return max(PARTS, key=self.part)


def read_rows(file: Path, kind: type[T], has_device_settings: bool = False) -> tuple[T, ...]:
    """The rows of a table; devices are named with or without parameters, the disk without its host."""
    TableReads.note(file, (field.name for field in fields(kind)))  # type: ignore[arg-type]
    return _rows(file, kind, has_device_settings)  # type: ignore[arg-type]


@cache
def _rows(file: Path, kind: Any, has_device_settings: bool) -> tuple[Any, ...]:
    names = [field.name for field in fields(kind)]
    rows = polars.read_csv(file, infer_schema_length=None).select(names).to_dicts()
    return tuple(kind(**row | {"device": _device_name(row["device"], has_device_settings)}) for row in rows)


def _device_name(label: str, has_settings: bool) -> str:
    return label.removesuffix(DISK_HOST) if has_settings else label.split(":", maxsplit=1)[0]


@dataclass(frozen=True)
class SmartRuns:
    """The experiments on smart storage."""

    directory: Path
    readings: tuple[str, ...] = ()
    """Endings of directories that are read instead, where they exist, and marks such as `items 25`."""

    def mark_value(self, word: str) -> str:
        """The value after a word in the readings."""
        return mark_value(self.readings, word)

    def replays(self, place: str) -> Sequence[ReplayTimes]:
        """The replays of an experiment."""
        return read_rows(self.directory / place / "runs.csv", ReplayTimes)

    def phases(self, place: str) -> Sequence[StageTimes]:
        """The stages of an experiment."""
        return read_rows(self.directory / place / "phases.csv", StageTimes)

    def place(self, job: str) -> str:
        """The place of the runs of a job."""
        return self.variant_place(JOB_EXPERIMENTS[job])

    def variant_place(self, place: str) -> str:
        """The place of the runs of an experiment in these readings."""
        endings = (each for each in self.readings if (self.directory / f"{place}{each}").exists())
        return f"{place}{next(endings, '')}"

    def sizes(self, job: str) -> list[int]:
        """The numbers of nodes of a job, ascending."""
        return sorted({row.nodes for row in self.replays(self.place(job)) if row.job == job})

    def job_time_s(self, job: str, nodes: int, device: str, page_kb: float | None = None) -> float:
        """Time of a job, in s."""
        times_s = [
            row.elapsed_s
            for row in self.replays(self.place(job))
            if (row.job, row.nodes, row.device, row.page_kb) == (job, nodes, device, page_kb)
        ]
        return times_s[0]

    def stages(
        self, job: str, nodes: int, device: str, page_kb: float | None = None, place: str = ""
    ) -> dict[str, StageTimes]:
        """The stages of a job in order."""
        return {
            row.phase: row
            for row in self.phases(place or self.place(job))
            if (row.job, row.nodes, row.device, row.page_kb) == (job, nodes, device, page_kb)
        }

    def stage(self, stage: Stage, device: str) -> StageTimes:
        """A stage by its name."""
        return self.stages(stage.job, stage.nodes, device)[stage.phase]

    def total(
        self, part: str, job: str, nodes: int, device: str, page_kb: float | None = None, place: str = ""
    ) -> float:
        """Time of a component on the nodes that work longest, summed over stages, in s."""
        return sum(row.part(part) for row in self.stages(job, nodes, device, page_kb, place).values())

    def largest_part(
        self, job: str, nodes: int, device: str, page_kb: float | None = None, place: str = ""
    ) -> str:
        """The component of the longest time over a whole job."""
        return max(PARTS, key=lambda part: self.total(part, job, nodes, device, page_kb, place))

    def disk_ratio(self, stage: Stage, device: str, part: str = "store") -> float:
        """Time of the disk over that of a device, in a stage."""
        return self.stage(stage, DISK).part(part) / self.stage(stage, device).part(part)

    def experiment_table(self, plan: Sequence[PlannedExperiment]) -> str:
        """A table of the experiments that ran."""
        rows = []
        for planned in plan:
            runs = self.replays(planned.place)
            names = list(dict.fromkeys(row.job for row in runs))
            jobs = ", ".join(names) if len(names) < 5 else f"{len(names)} queries"
            nodes = [row.nodes for row in runs]
            requests = sum(row.requests for row in runs)
            rows.append(
                cells(
                    "{} | {} | {} | {} | {:,.1f}",
                    planned.title or f"`{planned.experiment}`",
                    jobs,
                    len(runs),
                    min(nodes) if len(set(nodes)) == 1 else f"{min(nodes)} to {max(nodes)}",
                    requests / 1e6,
                )
            )
        return table("experiment | jobs | replays | nodes | million requests", rows, word_columns=2)
