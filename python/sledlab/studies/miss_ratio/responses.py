"""Caches of several sizes, simulated in front of a device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sledlab.errors import Error
from sledlab.runs.compose import compose
from sledlab.runs.systems import system_label
from sledlab.show.ranking import Ranking
from sledlab.studies.miss_ratio.result import ResponsePoint, every_nth
from sledlab.studies.miss_ratio.sampling import LRU
from sledlab.study.bench import Bench
from sledlab.study.executor.worker_choice import WorkerChoice
from sledlab.study.measure import RunFigures, measure
from sledlab.study.plan import Case, Plan, check_source
from sledlab.traces.columns import BLOCK_BYTES
from sledlab.traces.hits import replacement_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sledlab.runs.compose import ComposedExperiment, Device
    from sledlab.studies.miss_ratio.result import MissRatioCurves
    from sledlab.traces.read import Trace

MAX_LINE_BLOCKS = 64
"""Most blocks of a line of a cache."""

SIMULATED_SIZES = 10
"""Number of sizes that are simulated."""


def usable_policies(policies: Sequence[str]) -> list[str]:
    """Return the policies that a cache can use: neither those that know the future nor classes in Python."""
    names = set(replacement_names())
    return [policy for policy in policies if policy.partition(":")[0] in names]


def default_policies(curves: MissRatioCurves) -> list[str]:
    """Return LRU, and the usable policy with the fewest misses over all sizes if that is another one."""
    ranking = Ranking.of(usable_policies(curves.policies), curves.sum_of_misses)
    return list(dict.fromkeys((LRU, *ranking.rows[:1])))


@dataclass(frozen=True)
class DeviceBehind:
    """A device behind caches that all serve the same trace.

    Attributes:
        name: Name of the device.
        composed: The experiment without a cache.
        line_blocks: Blocks of a line of the cache.
    """

    name: str
    composed: ComposedExperiment
    line_blocks: int

    @classmethod
    def of(cls, trace: Trace, device: Device, segment_kb: float) -> DeviceBehind:
        """Check the experiment.

        Raises:
            Error: The segment is larger than a line can be, or the device or the trace is wrong.
        """
        line_blocks = segment_kb * 1024 / BLOCK_BYTES
        if line_blocks > MAX_LINE_BLOCKS:
            max_kb = MAX_LINE_BLOCKS * BLOCK_BYTES // 1024
            raise Error(
                f"a line of a cache has at most {max_kb} KB, not {segment_kb:g} KB",
                remedy="make the segments smaller, or omit the device",
            )
        composed = compose(trace, device)
        composed.experiment.to_toml()  # a wrong device is an error now, not after the survey of the trace
        check_source(composed.experiment, composed.trace)
        return cls(system_label(str(device)), composed, int(line_blocks))

    def simulate(
        self, sizes: Sequence[tuple[float, int]], policies: Sequence[str], seed: int
    ) -> list[ResponsePoint]:
        """Return the results without a cache, then of each policy with some of the sizes.

        Args:
            sizes: Sizes of the cache in 10^6 bytes, with the segments that each holds.
            policies: Replacement policies; those that a cache cannot use are omitted.
            seed: Seed of all random numbers.

        Raises:
            Error: A run failed.
        """
        cases = [
            Case("responses", (("policy", ""), ("cache_bytes", 0), ("room", 0)), "", (), name="no cache")
        ]
        for policy in usable_policies(policies):
            for mb, room in every_nth(sizes, SIMULATED_SIZES):
                settings = {
                    "cache.kind": "write-back",
                    "cache.capacity_blocks": str(room * self.line_blocks),
                    "cache.line_blocks": str(self.line_blocks),
                    "cache.replacement": policy,
                }
                labels = (("policy", policy), ("cache_bytes", round(mb * 1e6)), ("room", room))
                cases.append(
                    Case("responses", labels, "", tuple(settings.items()), name=f"{policy}, {mb:g} MB")
                )
        experiment, trace, plugins = self.composed.experiment, self.composed.trace, self.composed.plugins
        plan = Plan({"": experiment}, trace, cases, (seed,), {}, plugins=plugins, measure=measure)
        plan.check()
        with Bench(WorkerChoice.from_options({}, has_directory=False), None, RunFigures) as bench:
            runs_by_spec = bench.measure(plan, "simulating caches")
        return [_point(case, runs_by_spec[plan.specs_of(case)[0]].row) for case in cases]


def _point(case: Case, run: RunFigures) -> ResponsePoint:
    names = ("mean_ms", "p99_ms", "read_mean_ms", "write_mean_ms", "utilization", "saturated")
    return ResponsePoint(**dict(case.labels), **{name: getattr(run, name) for name in names})
