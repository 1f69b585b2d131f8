"""Claims on cost and performance, and on arrays (sections 3, 6.5 and 7; figure 7)."""

from __future__ import annotations

from collections.abc import Mapping

from ..claims import Judgment, judge_criterion, judge_printed
from ..markdown import table
from ..runs import ComparisonRun
from ..simulator import parameters
from ..wording import figure
from .names import ALL, CELLO, DISK, HPLAJW, MEMS, TITLES, TPCC, TPCD, WORKLOADS
from .systems import ARRAYS, COST, MIRROR, Systems

NVRAM_BLOCKS = 524_288
"""256 MB: the NVRAM that the money for the MEMS buys where a byte of both costs the same."""

MAX_PRICE = 10.0
"""Highest price of MEMS, as a multiple of that of disk for a byte (section 1)."""

MEMS_MB = 256.0
MIN_PERFORMANCE_SHARE = 0.5
"""Share of the performance of MEMS that counts as most of it."""


def relative_responses(runs: Systems, workload: str) -> dict[float, float | None]:
    """Mean response with NVRAM over that with MEMS of the same price, by ratio of prices."""
    base = runs.mean(workload, ALL)
    measured = {}
    for blocks, row in runs.seed_means(COST, workload).items():
        ratio = round(NVRAM_BLOCKS / float(blocks), 1)
        measured[ratio] = None if row.saturated else row.mean_ms / base
    return dict(sorted(measured.items()))


def _response_text(value: float | None) -> str:
    return "overload" if value is None else figure(value)


def _crossing(values: Mapping[float, float | None]) -> tuple[float, float] | None:
    """The two ratios of prices between which both are equally fast; overload counts as slowest."""
    ratios = list(values)
    above = [value is None or value > 1 for value in values.values()]
    for first, second, is_above, is_next in zip(ratios, ratios[1:], above, above[1:], strict=False):
        if not is_above and is_next:
            return first, second
    return None


def _is_rising(values: Mapping[float, float | None]) -> bool:
    numbers = [float("inf") if value is None else value for value in values.values()]
    return numbers == sorted(numbers)


def w_43(runs: Systems) -> Judgment:
    """NVRAM of the same price."""
    details, right, dearer = [], {}, []
    for workload in (TPCC, CELLO, HPLAJW):
        values = relative_responses(runs, workload)
        crossing = _crossing(values)
        right[workload] = crossing is not None and _is_rising(values)
        # A disk with NVRAM that is overloaded has no response time; MEMS is the better cache there.
        dearer += [value for ratio, value in values.items() if ratio > 1 and value is not None]
        each = ", ".join(f"{_response_text(value)} at {ratio:g}" for ratio, value in values.items())
        between = f"crosses 1 between {crossing[0]:g} and {crossing[1]:g}" if crossing else "does not cross 1"
        details.append(f"{TITLES[workload]} {each}, {between}")
    return judge_printed(dearer, direction=all(right.values())).with_numbers(
        details=details, better=sum(value > 1 for value in dearer), compared=len(dearer)
    )


def w_44(runs: Systems) -> Judgment:
    """The one workload for which MEMS is always worse."""
    values = {workload: relative_responses(runs, workload) for workload in (TPCD, TPCC)}
    worse = {
        workload: all(value is not None and value < 1 for value in measured.values())
        for workload, measured in values.items()
    }
    details = "; ".join(
        f"{TITLES[workload]} "
        + ", ".join(f"{_response_text(value)} at {ratio:g}" for ratio, value in measured.items())
        for workload, measured in values.items()
    )
    return judge_criterion(worse[TPCD] and (not worse[TPCC]), worse[TPCD]).with_numbers(details=details)


def w_47(runs: Systems) -> Judgment:
    """MEMS in place of a disk, and as its cache."""
    stable = [workload for workload in WORKLOADS if not runs.is_overloaded(workload, DISK)]
    alone = {workload: runs.speedup(workload, MEMS, DISK) for workload in stable}
    cached = {workload: runs.speedup(workload, ALL, DISK) for workload in stable}
    details = ", ".join(
        f"{TITLES[workload]} {figure(alone[workload])} and {figure(cached[workload])} times"
        for workload in stable
    )
    ordered = all(alone[workload] > cached[workload] for workload in stable)
    right = ordered and min(alone.values()) > 1
    return judge_printed(alone.values(), cached.values(), direction=right).with_numbers(details=details)


def _mirrors(runs: Systems, workload: str) -> dict[str, ComparisonRun]:
    return runs.rows(MIRROR, workload)


def w_48(runs: Systems) -> Judgment:
    """Disks mirrored on MEMS."""
    details, gains, maximum = [], [], []
    for workload in (CELLO, HPLAJW):
        rows = _mirrors(runs, workload)
        times = {name: row.mean_ms for name, row in rows.items()}
        # In prices of a disk: two disks, compared with one disk and MEMS of the same capacity.
        worth = times["disks"] / times["hybrid"] * 2 / (1 + MAX_PRICE)
        share = times["MEMS"] / times["hybrid"]
        gains.append(worth)
        maximum.append(share >= MIN_PERFORMANCE_SHARE)
        details.append(
            f"{TITLES[workload]} {times['disks']:.2f} ms on two disks, {times['hybrid']:.2f} ms on a disk "
            f"and MEMS, {times['MEMS']:.2f} ms on two MEMS devices, so {100 * share:.0f} % of the "
            f"performance of MEMS and {worth:.1f} times as much for the money as disks"
        )
    return judge_printed(gains, direction=min(gains) > 1, holds=all(maximum)).with_numbers(
        max_price=MAX_PRICE, details=details
    )


def w_55(runs: Systems) -> Judgment:
    """Arrays under TPCC."""
    rows = runs.rows(ARRAYS)
    details, right = [], []
    for kind, devices in (("stripe", 3), ("raid5", 4)):
        measured = {name: rows[f"{kind} of {name}"] for name in ("disks", "MCD", "MEMS")}
        text = {
            name: "overload" if row.saturated else f"{row.mean_ms:.2f} ms" for name, row in measured.items()
        }
        right.append(
            not measured["MCD"].saturated
            and (measured["disks"].saturated or measured["MCD"].mean_ms < measured["disks"].mean_ms)
        )
        details.append(f"{kind} of {devices}: disks {text['disks']}, MCD {text['MCD']}, MEMS {text['MEMS']}")
    disk_mb = parameters("atlas-10k-50mb")["capacity_blocks"] * 512 / 2**20
    price = 1 + MAX_PRICE * MEMS_MB / disk_mb
    return judge_criterion(all(right) and price < MAX_PRICE, any(right)).with_numbers(
        details=details, max_price=MAX_PRICE, price=price
    )


def curves(runs: Systems) -> str:
    """Figure 7 as a table."""
    values = {workload: relative_responses(runs, workload) for workload in WORKLOADS}
    ratios = list(values[CELLO])
    rows = [
        [f"{ratio:g}", *(_response_text(values[workload][ratio]) for workload in WORKLOADS)]
        for ratio in ratios
    ]
    return table(["price of NVRAM over MEMS", *(TITLES[workload] for workload in WORKLOADS)], rows, words=0)
