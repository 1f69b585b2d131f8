"""Claims on scan, join and sort (section 5.1; figures 4 to 7, tables 3 and 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from ..claims import Judgment, judge_criterion, judge_fitted, judge_printed
from ..wording import format_rows
from .plan import HASH_SUFFIX, JOIN, SmartRuns
from .published_times import (
    DEVICES,
    DISK,
    G1,
    G2,
    G3,
    HASH_4,
    HASH_16,
    INTERNAL,
    JOIN_4,
    JOIN_16,
    LOOP,
    MEMS,
    MERGE,
    NAMES,
    SAMPLING,
    SORT_4,
    SORT_16,
    Stage,
    published_ratio,
    published_time,
)

REDISTRIBUTION = "re-distribution"


def is_falling(values: Sequence[float]) -> bool:
    """Whether each value is below the previous one."""
    return all(value < previous for previous, value in pairwise(values))


def seconds_text(times_s: Sequence[float]) -> str:
    """Several times in s, in words."""
    return ", ".join(f"{time_s:,.0f}" if time_s >= 100 else f"{time_s:.3g}" for time_s in times_s)


def c_10(runs: SmartRuns) -> Judgment:
    """Elapsed times of the scan by size."""
    sizes = runs.sizes("scan")
    times = {device: [runs.job_time_s("scan", n, device) for n in sizes] for device in DEVICES}
    # Speed-up from fewest to most nodes, relative to the ratio of their numbers.
    efficiencies = {
        name: seconds[0] / seconds[-1] / (sizes[-1] / sizes[0]) for name, seconds in times.items()
    }
    all_fall = all(map(is_falling, times.values()))
    are_near = all(0.8 <= efficiency <= 1.25 for efficiency in efficiencies.values())
    details = format_rows(
        "{0} {1}", [(NAMES[device], seconds_text(seconds)) for device, seconds in times.items()], "; "
    )
    return judge_criterion(all_fall and are_near, all_fall).with_numbers(
        details=details,
        gains=format_rows(
            "{0} {1:.2f}", [(NAMES[name], efficiency) for name, efficiency in efficiencies.items()]
        ),
    )


def c_11(runs: SmartRuns) -> Judgment:
    """I/O of the scan, device by device."""
    sizes = runs.sizes("scan")
    are_falling = [is_falling([runs.total("store", "scan", n, device) for device in DEVICES]) for n in sizes]
    times_on_most_nodes = [runs.total("store", "scan", sizes[-1], device) for device in DEVICES]
    return judge_criterion(all(are_falling)).with_numbers(
        nodes=sizes[-1], details=seconds_text(times_on_most_nodes)
    )


def c_12(runs: SmartRuns) -> Judgment:
    """The largest component of every scan."""
    sizes = runs.sizes("scan")
    shares = [
        runs.total("store", "scan", n, device)
        / sum(runs.total(part, "scan", n, device) for part in ("compute", "store", "network"))
        for n in sizes
        for device in DEVICES
    ]
    return judge_criterion(min(shares) > 0.5).with_numbers(minimum=min(shares))


def c_13(runs: SmartRuns) -> Judgment:
    """Stages of the join, and the share of I/O in the last one."""
    sizes = runs.sizes("join")
    stages = list(runs.stages("join", sizes[0], DISK))
    last_stage = stages[-1]

    def loop_s(n: int, device: str) -> float:
        return runs.stage(Stage("join", last_stage, n), device).part("store")

    shares = {
        (n, device): loop_s(n, device)
        / sum(
            runs.stage(Stage("join", last_stage, n), device).part(part)
            for part in ("compute", "store", "network")
        )
        for n in sizes
        for device in DEVICES
    }
    max_case = max(shares, key=lambda case: (round(shares[case], 4), loop_s(*case)))
    is_as_published = stages == ["hash", "re-distribution", "nested loop"] and max_case == (sizes[0], DISK)
    return judge_criterion(is_as_published, min(shares.values()) > 0.5).with_numbers(
        stages=", ".join(stages),
        minimum=min(shares.values()),
        disk=shares[sizes[0], DISK],
        mems=shares[sizes[0], G3],
    )


def c_14(runs: SmartRuns) -> Judgment:
    """I/O of the nested loop by size and device."""
    sizes = runs.sizes("join")
    times = {
        device: [runs.stage(Stage("join", "nested loop", n), device).part("store") for n in sizes]
        for device in DEVICES
    }
    are_falling = [is_falling([times[device][i] for device in DEVICES]) for i in range(len(sizes))]
    details = format_rows(
        "{0} {1}", [(NAMES[device], seconds_text(seconds)) for device, seconds in times.items()], "; "
    )
    return judge_criterion(all(are_falling) and all(map(is_falling, times.values()))).with_numbers(
        details=details
    )


def c_15(runs: SmartRuns) -> Judgment:
    """The number that the block of the nested loop is fitted to."""
    ours_s, published_s = runs.stage(LOOP, DISK).part("store"), published_time(LOOP, DISK, "store").seconds
    judgment = judge_fitted(0.5 <= ours_s / published_s <= 2).with_values([ours_s])
    return judgment.with_numbers(ours=ours_s, off=ours_s / published_s - 1)


def _io_numbers(runs: SmartRuns, stage: Stage, device: str) -> dict[str, float]:
    """I/O times of the disk and of a device in s, both over the printed ones, and their ratio."""
    disk_s, device_s = (runs.stage(stage, each).part("store") for each in (DISK, device))
    return {
        "ratio": disk_s / device_s,
        "disk": disk_s,
        "mems": device_s,
        "disk_over_printed": disk_s / published_time(stage, DISK, "store").seconds,
        "mems_over_printed": device_s / published_time(stage, device, "store").seconds,
    }


def _judge_loop(runs: SmartRuns, device: str) -> Judgment:
    numbers = _io_numbers(runs, LOOP, device)
    return judge_printed([numbers["ratio"]], direction_holds=numbers["ratio"] > 1).with_numbers(**numbers)


def c_16(runs: SmartRuns) -> Judgment:
    """Time of the disk over that of G1."""
    return _judge_loop(runs, G1)


def c_17(runs: SmartRuns) -> Judgment:
    """Time of the disk over that of G2."""
    return _judge_loop(runs, G2)


def c_18(runs: SmartRuns) -> Judgment:
    """Time of the disk over that of G3, and the order of all devices."""
    numbers = _io_numbers(runs, LOOP, G3)
    is_ordered = is_falling([runs.stage(LOOP, device).part("store") for device in DEVICES])
    return judge_printed([numbers["ratio"]], direction_holds=is_ordered, rest_holds=is_ordered).with_numbers(
        **numbers
    )


def relative_spread(runs: SmartRuns, stage: Stage, part: str) -> float:
    """Relative spread of a component over devices."""
    times_s = [runs.stage(stage, device).part(part) for device in DEVICES]
    return max(times_s) / min(times_s) - 1


def c_19(runs: SmartRuns) -> Judgment:
    """Computation of the nested loop."""
    spread = relative_spread(runs, LOOP, "compute")
    ours_s = runs.stage(LOOP, DISK).part("compute")
    return judge_fitted(spread <= 0.05).with_values([ours_s]).with_numbers(ours=ours_s, off=spread)


def _network_over_hash(
    runs: SmartRuns, device: str, network_stage: Stage, hash_stage: Stage
) -> tuple[float, ...]:
    network_s, store_s = (
        runs.stage(network_stage, device).part("network"),
        runs.stage(hash_stage, device).part("store"),
    )
    return network_s / store_s, network_s, store_s


def c_20(runs: SmartRuns) -> Judgment:
    """On 4 nodes; direction only at most, since communication is fitted and only the I/O is predicted."""
    ratio, network_s, store_s = _network_over_hash(runs, G2, JOIN_4, HASH_4)
    return judge_printed([ratio], direction_holds=ratio > 1, rest_holds=False).with_numbers(
        ratio=ratio, comm=network_s, store=store_s
    )


def c_21(runs: SmartRuns) -> Judgment:
    """On 16 nodes."""
    ratio, network_s, store_s = _network_over_hash(runs, G3, JOIN_16, HASH_16)
    return judge_printed([ratio], direction_holds=ratio > 1).with_numbers(
        ratio=ratio, comm=network_s, store=store_s
    )


def c_22(runs: SmartRuns) -> Judgment:
    """On the disk, by size."""
    ratios = {
        n: runs.stage(Stage("join", "hash", n), DISK).part("store")
        / runs.stage(Stage("join", "re-distribution", n), DISK).part("network")
        for n in runs.sizes("join")
    }
    return judge_printed(ratios.values(), direction_holds=min(ratios.values()) > 1).with_numbers(
        details=format_rows("{1:.1f} on {0} nodes", ratios.items())
    )


def network_limited_sizes(runs: SmartRuns, device: str) -> list[int]:
    """Numbers of nodes of the join at which the network limits a stage."""
    return [
        n
        for n in runs.sizes("join")
        if any(row.largest_part == "network" for row in runs.stages("join", n, device).values())
    ]


def c_23(runs: SmartRuns) -> Judgment:
    """Numbers of nodes at which the network is the largest component of a stage."""
    sizes_by_device = {device: network_limited_sizes(runs, device) for device in DEVICES}
    are_as_published = [bool(sizes_by_device[device]) for device in MEMS] + [not sizes_by_device[DISK]]
    details = format_rows(
        "{0}: {1}",
        [
            (NAMES[d], f"on {', '.join(map(str, sizes))} nodes" if sizes else "none")
            for d, sizes in sizes_by_device.items()
        ],
        "; ",
    )
    # The cycles of packing are fitted to a communication that exceeds the I/O on 4 nodes of G2.
    return judge_criterion(holds=False, direction_holds=all(are_as_published)).with_numbers(details=details)


def c_52(runs: SmartRuns) -> Judgment:
    """The largest component of a join that hashes instead of looping, and of its re-distribution."""
    place = f"{JOIN}{HASH_SUFFIX}"
    whole_sizes: dict[str, list[int]] = {device: [] for device in DEVICES}
    stage_sizes: dict[str, list[int]] = {device: [] for device in DEVICES}
    for device in DEVICES:
        for n in runs.sizes("join"):
            if runs.largest_part("join", n, device, place=place) == "network":
                whole_sizes[device].append(n)
            if runs.stages("join", n, device, place=place)[REDISTRIBUTION].largest_part == "network":
                stage_sizes[device].append(n)
    # The cycles of packing are fitted to a communication that exceeds the I/O on 4 nodes of G2, as for C-23.
    is_limited = all(stage_sizes[device] for device in MEMS) and not stage_sizes[DISK]
    return judge_criterion(holds=False, direction_holds=is_limited).with_numbers(
        whole=_sizes_text(whole_sizes),
        stage=_sizes_text(stage_sizes),
        limited=sum(bool(stage_sizes[d]) for d in MEMS),
    )


def _sizes_text(sizes: Mapping[str, Sequence[int]]) -> str:
    """Numbers of nodes by device, in words."""
    return format_rows(
        "{0}: {1}",
        [
            (NAMES[device], f"on {', '.join(map(str, node_counts))} nodes" if node_counts else "none")
            for device, node_counts in sizes.items()
        ],
        "; ",
    )


SAME = 0.01
"""Relative difference up to which times of all devices are the same."""


def _judge_ratio(runs: SmartRuns, stage: Stage, device: str, other_part: str) -> Judgment:
    """A ratio that the software of a request is fitted to, with four others."""
    numbers = _io_numbers(runs, stage, device)
    printed = published_ratio(stage, device)
    off = relative_spread(runs, stage, other_part)
    return judge_printed(
        [numbers["ratio"]], direction_holds=numbers["ratio"] > 1 and off <= SAME
    ).with_numbers(
        printed=printed,
        difference=numbers["ratio"] / printed - 1,
        other=runs.stage(stage, device).part(other_part),
        off=off,
        **numbers,
    )


def c_24(runs: SmartRuns) -> Judgment:
    """Re-distribution on 4 nodes."""
    return _judge_ratio(runs, SORT_4, G3, "network")


def c_25(runs: SmartRuns) -> Judgment:
    """Internal sort on 8."""
    return _judge_ratio(runs, INTERNAL, G2, "compute")


def c_26(runs: SmartRuns) -> Judgment:
    """Merge on 4."""
    return _judge_ratio(runs, MERGE, G3, "compute")


def c_27(runs: SmartRuns) -> Judgment:
    """Sampling on 32."""
    return _judge_ratio(runs, SAMPLING, G3, "network")


def c_28(runs: SmartRuns) -> Judgment:
    """Re-distribution on 16."""
    return _judge_ratio(runs, SORT_16, G2, "network")


def c_29(runs: SmartRuns) -> Judgment:
    """The largest component of every sort, and I/O over communication in sampling."""
    are_io_bound = [
        runs.largest_part("sort", n, device) == "store" for n in runs.sizes("sort") for device in DEVICES
    ]

    def io_over_network(device: str) -> float:
        row = runs.stage(SAMPLING, device)
        return row.part("store") / row.part("network")

    disk_ratio, mems_ratio = io_over_network(DISK), io_over_network(G3)
    falls_far = disk_ratio / mems_ratio > 5
    return judge_criterion(all(are_io_bound) and falls_far, falls_far).with_numbers(
        bound=sum(are_io_bound), of=len(are_io_bound), disk=disk_ratio, mems=mems_ratio
    )


def c_30(runs: SmartRuns) -> Judgment:
    """Compute and communication of every stage of a sort between devices."""
    max_spread = 0.0
    for n in runs.sizes("sort"):
        for phase, row in runs.stages("sort", n, DISK).items():
            for part in ("compute", "network"):
                if row.part(part) > 0:
                    max_spread = max(max_spread, relative_spread(runs, Stage("sort", phase, n), part))
    return judge_fitted(max_spread <= 0.07).with_numbers(worst=max_spread)
