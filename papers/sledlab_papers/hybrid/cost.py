"""Claims on cost and performance, and on arrays (sections 3, 6.5 and 7; figure 7)."""

from __future__ import annotations

from collections.abc import Mapping

from sledlab.reproduction.verdicts import NumberTable

from ..claims import Judgment, judge_comparisons, judge_criterion, judge_printed
from ..markdown import table
from ..simulator import parameters
from ..wording import format_number, number_table
from .names import ALL, CELLO, DISK, HPLAJW, MEMS, TITLES, TPCC, TPCD, WORKLOADS
from .systems import ARRAYS, COST, MIRROR, HybridRuns, workload_table

NVRAM_BLOCKS = 524_288
"""256 MB: the NVRAM that the money for the MEMS buys where a byte of both costs the same."""

MIN_PRICE, MAX_PRICE = 5.0, 10.0
"""Prices of MEMS as multiples of that of disk for a byte (section 1)."""

MEMS_MB = 256.0
MIN_PERFORMANCE_SHARE = 0.5
"""Share of the performance of MEMS that counts as most of it."""


def relative_responses(runs: HybridRuns, workload: str) -> dict[float, float | None]:
    """Mean response with NVRAM over that with MEMS of the same price, by ratio of prices."""
    responses = {}
    for blocks, row in runs.seed_means(COST, workload).items():
        ratio = round(NVRAM_BLOCKS / float(blocks), 1)
        change = runs.change_on_same_seeds(row, workload, ALL)
        responses[ratio] = None if row.saturated else 1 + change
    return dict(sorted(responses.items()))


def _response_text(value: float | None) -> str:
    return "overload" if value is None else format_number(value)


def _is_rising(responses: Mapping[float, float | None]) -> bool:
    numbers = [float("inf") if value is None else value for value in responses.values()]
    return numbers == sorted(numbers)


def w_43(runs: HybridRuns) -> Judgment:
    """NVRAM of the same price."""
    responses_by_workload = {
        workload: relative_responses(runs, workload) for workload in (TPCC, CELLO, HPLAJW)
    }
    # A disk with NVRAM that is overloaded has no response time; MEMS is the better cache there.
    are_better = [
        value is None or value > 1
        for responses in responses_by_workload.values()
        for ratio, value in responses.items()
        if ratio > 1
    ]
    are_rising = map(_is_rising, responses_by_workload.values())
    return judge_comparisons(are_better, rest_holds=all(are_rising)).with_tables(
        _response_table(responses_by_workload)
    )


def _response_table(responses_by_workload: Mapping[str, Mapping[float, float | None]]) -> NumberTable:
    """Mean responses with NVRAM over those with MEMS of the same price."""
    ratios = next(iter(responses_by_workload.values()))
    return number_table(
        "Mean response of DISK-RAM over that of MCD ALL",
        " | ".join(["price of RAM over MEMS", *(TITLES[name] for name in responses_by_workload)]),
        (
            [f"{ratio:g}", *(_response_text(each[ratio]) for each in responses_by_workload.values())]
            for ratio in ratios
        ),
    )


def w_44(runs: HybridRuns) -> Judgment:
    """RAM compared with MEMS under TPCC, as printed, and TPCD."""
    responses_by_workload = {workload: relative_responses(runs, workload) for workload in (TPCD, TPCC)}
    are_worse = {
        workload: [value is not None and value < 1 for value in responses.values()]
        for workload, responses in responses_by_workload.items()
    }
    return (
        judge_comparisons(are_worse[TPCC])
        .with_numbers(tpcd=sum(are_worse[TPCD]))
        .with_tables(_response_table(responses_by_workload))
    )


def w_47(runs: HybridRuns) -> Judgment:
    """MEMS in place of a disk, and as its cache."""
    stable_workloads = [workload for workload in WORKLOADS if not runs.is_overloaded(workload, DISK)]
    mems_speedups = {workload: runs.speedup(workload, MEMS, DISK) for workload in stable_workloads}
    caching_speedups = {workload: runs.speedup(workload, ALL, DISK) for workload in stable_workloads}
    overloaded_titles = [TITLES[workload] for workload in WORKLOADS if workload not in stable_workloads]
    details = ", ".join(
        f"{TITLES[workload]} {format_number(mems_speedups[workload])} "
        f"and {format_number(caching_speedups[workload])} times"
        for workload in stable_workloads
    )
    # The others follow from fits: the factors of MCD ALL, and with them the speed of the disk.
    speedup = runs.speedup(TPCD, MEMS, DISK)
    return judge_printed([speedup], direction_holds=speedup > 1).with_numbers(
        details=details, tpcd=speedup, overloaded=", ".join(overloaded_titles) or "none"
    )


def w_48(runs: HybridRuns) -> Judgment:
    """Disks mirrored on MEMS."""
    rows, gains, are_fast_enough = {}, [], []
    for workload in (CELLO, HPLAJW):
        times_ms = {name: mean.mean_ms for name, mean in runs.seed_means(MIRROR, workload).items()}
        # In prices of a disk: two disks, compared with one disk and MEMS of the same capacity.
        performance_per_cost, cheapest = (
            times_ms["disks"] / times_ms["hybrid"] * 2 / (1 + price) for price in (MAX_PRICE, MIN_PRICE)
        )
        mems_share = times_ms["MEMS"] / times_ms["hybrid"]
        gains.append(performance_per_cost)
        are_fast_enough.append(mems_share >= MIN_PERFORMANCE_SHARE)
        rows[workload] = [
            *(f"{times_ms[name]:.2f}" for name in ("disks", "hybrid", "MEMS")),
            f"{100 * mems_share:.0f}",
            f"{performance_per_cost:.1f}",
            f"{cheapest:.1f}",
        ]
    columns = (
        "two disks, ms | disk and MEMS, ms | two MEMS, ms | performance of MEMS, % | "
        f"per cost, times disks | with MEMS at {MIN_PRICE:g} times the price"
    )
    return (
        judge_printed(
            gains,
            direction_holds=min(gains) > 1 or all(are_fast_enough),
            rest_holds=min(gains) > 1 and all(are_fast_enough),
        )
        .with_numbers(max_price=MAX_PRICE, gains=dict(zip(rows, gains, strict=True)))
        .with_tables(workload_table("Mirrors", columns, rows))
    )


def w_55(runs: HybridRuns) -> Judgment:
    """Arrays under TPCC."""
    rows = runs.seed_means(ARRAYS)
    table_rows, are_better = [], []
    for kind, devices in (("stripe", 3), ("raid5", 4)):
        systems = {name: rows[f"{kind} of {name}"] for name in ("disks", "MCD", "MEMS")}
        response_texts = {
            name: "overload" if row.saturated else f"{row.mean_ms:.2f}" for name, row in systems.items()
        }
        are_better.append(
            not systems["MCD"].saturated
            and (systems["disks"].saturated or systems["MCD"].mean_ms < systems["disks"].mean_ms)
        )
        table_rows.append([f"{kind} of {devices}", *response_texts.values()])
    disk_mb = parameters(runs.disk)["capacity_blocks"] * 512 / 2**20
    price = 1 + MAX_PRICE * MEMS_MB / disk_mb
    return (
        judge_criterion(all(are_better) and price < MAX_PRICE, any(are_better))
        .with_numbers(better=sum(are_better), compared=len(are_better), max_price=MAX_PRICE, price=price)
        .with_tables(number_table("Mean response to TPCC, ms", "array | disks | MCD | MEMS", table_rows))
    )


def figure_7(runs: HybridRuns) -> str:
    """Figure 7 as a table."""
    responses = {workload: relative_responses(runs, workload) for workload in WORKLOADS}
    ratios = list(responses[CELLO])
    rows = [
        [f"{ratio:g}", *(_response_text(responses[workload][ratio]) for workload in WORKLOADS)]
        for ratio in ratios
    ]
    return table(
        ["price of NVRAM over MEMS", *(TITLES[workload] for workload in WORKLOADS)], rows, word_columns=0
    )
