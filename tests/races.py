"""Comparisons of schedulers for tests: short ones, and one with known results."""

import dataclasses

import sledlab as sl
from sledlab.studies.compare.tables import Comparison
from sledlab.studies.races import rows as race_rows
from sledlab.study.measure import RunFigures, SystemRun

NAMES = [
    *("fcfs", "c-scan", "scan", "sstf", "sdf", "sptf", "asptf", "wstf", "gsptf", "zsptf:grid=40x4"),
    *("zfcfs", "ztsptf", "zsptf-pyramid", "p-sptf", "p-sstf", "pa-sptf", "p-alpha"),
    *("zscan-psptf", "zpsptf", "pzsptf"),
]


def race(**changes) -> Comparison:
    options = {"scheduler": ["fcfs", "sptf"], "speedup": [1, 1.4], "limit": 1500, "parallel": 1, **changes}
    return sl.compare(options.pop("source", sl.workload("uniform")), "mems-g2", **options)


DEFAULT_RESULTS = {
    field.name: {"counts": {}, "idle_periods": None, "saturated": False}.get(field.name, 0.5)
    for field in dataclasses.fields(RunFigures)
}


def measured_run(**changes) -> RunFigures:
    return RunFigures(**{**DEFAULT_RESULTS, **changes})


def synthetic_comparison(names=NAMES, speedups=(1, 2, 4, 6, 8), seeds=(1, 2, 3)) -> Comparison:
    """A comparison of schedulers that serve at most 1,300 requests a second, each next one 50 more."""
    pairs = []
    for index, name in enumerate(names):
        for speedup in speedups:
            for seed in seeds:
                max_iops, rate_iops = 1300 + 50 * index, 300 * speedup * (1 + 0.001 * seed)
                is_saturated = rate_iops > max_iops
                mean_ms = (
                    5000 * rate_iops / max_iops
                    if is_saturated
                    else 1 / (1 - rate_iops / max_iops) * (1 + 0.02 * seed)
                )
                row = measured_run(
                    requests=100,
                    arrival_rate_iops=rate_iops,
                    throughput_iops=min(rate_iops, max_iops),
                    mean_ms=mean_ms,
                    mean_ci95_ms=0.1 * mean_ms,
                    scv=1 + ((index * 5 + 3) % 7) * rate_iops / 1000,
                    p99_ms=4 * mean_ms,
                    max_ms=8 * mean_ms,
                    energy_j=0.05,
                    positioning_ms=700 / max_iops,
                    queue_time_ms=mean_ms - 0.5,
                    saturated=is_saturated,
                )
                competitor = race_rows.Competitor({"scheduler": name}, float(speedup), {})
                timing = {"decision_ns": 100.0, "wall_s": 0.1}
                pairs.append((race_rows.RaceRun(competitor, seed, row), SystemRun(row, timing)))
    config = {"trace": {"file": "hours/cello.srt"}, "device": {"name": "mems-g2"}, "replay": {}}
    return Comparison(*race_rows.build_tables(pairs), config, {"scheduler": names}, "seed = 1\n")
