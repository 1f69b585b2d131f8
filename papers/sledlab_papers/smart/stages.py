"""Claims on scan, join and sort (section 5.1; figures 4 to 7, tables 3 and 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from sledlab.reproduction.verdicts import NumberTable

from ..claims import Judgment, judge_criterion, judge_fitted, judge_printed
from ..wording import format_number, format_rows, number_table
from .device_tables import device_table
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
    PART_NAMES,
    SAMPLING,
    SORT_4,
    SORT_16,
    Stage,
    published_ratio,
    published_time,
)

REDISTRIBUTION = "re-distribution"

QUICK_FALL = 0.5
"""Part of a time that is left at most, with twice the nodes or on MEMS, if the time falls quickly."""


def is_falling(values: Sequence[float]) -> bool:
    """Whether each value is below the previous one."""
    return all(value < previous for previous, value in pairwise(values))


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
    judgment = judge_criterion(all_fall and are_near, all_fall).with_tables(
        device_table("Time of the scan, s", "nodes", by_size(sizes, times)),
        device_table("Speed-up over that of nodes", "nodes", {"4 to 32": efficiencies.values()}, "{:.2f}"),
    )
    return judgment.with_numbers(least=min(efficiencies.values()), most=max(efficiencies.values()))


def by_size(
    sizes: Sequence[int], values_by_device: Mapping[str, Sequence[object]]
) -> dict[str, tuple[object, ...]]:
    """Values of all devices by number of nodes, from values of all sizes by device."""
    return {
        str(size): values
        for size, values in zip(sizes, zip(*values_by_device.values(), strict=True), strict=True)
    }


def c_11(runs: SmartRuns) -> Judgment:
    """Elapsed times of the scan, device by device."""
    sizes = runs.sizes("scan")
    times_s = {n: [runs.job_time_s("scan", n, device) for device in DEVICES] for n in sizes}
    return judge_criterion(all(map(is_falling, times_s.values()))).with_numbers(
        nodes=sizes[-1], details=format_rows("{:figure}", times_s[sizes[-1]])
    )


def c_12(runs: SmartRuns) -> Judgment:
    """The share of I/O in every scan; nodes also wait for the client's link, which is in no component."""
    shares = [
        runs.total("store", "scan", n, device) / runs.job_time_s("scan", n, device)
        for n in runs.sizes("scan")
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
    is_falling_by_device = all(is_falling(column) for column in zip(*times.values(), strict=True))
    halves_with_nodes = all(
        many_s < QUICK_FALL * few_s for seconds in times.values() for few_s, many_s in pairwise(seconds)
    )
    halves_on_mems = all(
        mems_s < QUICK_FALL * disk_s
        for device in MEMS
        for disk_s, mems_s in zip(times[DISK], times[device], strict=True)
    )
    all_fall = is_falling_by_device and all(map(is_falling, times.values()))
    judgment = judge_criterion(all_fall and halves_with_nodes and halves_on_mems, all_fall)
    return judgment.with_tables(
        device_table("I/O of the nested loop, s", "nodes", by_size(sizes, times))
    ).with_numbers(first=times[DISK][0], last=times[G3][-1])


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
        ratio=ratio,
        comm=network_s,
        store=store_s,
        over_printed=store_s / published_time(HASH_4, G2, "store").seconds,
    )


def c_21(runs: SmartRuns) -> Judgment:
    """On 16 nodes; direction only at most, since communication follows from the fit on 4 nodes."""
    ratio, network_s, store_s = _network_over_hash(runs, G3, JOIN_16, HASH_16)
    return judge_printed([ratio], direction_holds=ratio > 1, rest_holds=False).with_numbers(
        ratio=ratio, comm=network_s, store=store_s
    )


def c_22(runs: SmartRuns) -> Judgment:
    """On the disk, by size; direction only at most, since the communication is fitted (C-20)."""
    ratios = {
        n: runs.stage(Stage("join", "hash", n), DISK).part("store")
        / runs.stage(Stage("join", "re-distribution", n), DISK).part("network")
        for n in runs.sizes("join")
    }
    ends = min(ratios), max(ratios)
    return judge_printed(
        ratios.values(), direction_holds=min(ratios.values()) > 1, rest_holds=False
    ).with_numbers(
        sizes=ends,
        ratios=[ratios[n] for n in ends],
        least=min(ratios.values()),
        most=max(ratios.values()),
    )


def network_limited_sizes(runs: SmartRuns, device: str) -> list[int]:
    """Numbers of nodes of the join at which the network limits a stage."""
    return [
        n
        for n in runs.sizes("join")
        if any(row.largest_part == "network" for row in runs.stages("join", n, device).values())
    ]


def c_23(runs: SmartRuns) -> Judgment:
    """The largest component of re-distribution, the only stage with communication."""
    return _judge_redistribution(runs)


def c_52(runs: SmartRuns) -> Judgment:
    """The same of a join that hashes instead of looping."""
    return _judge_redistribution(runs, runs.variant_place(f"{JOIN}{HASH_SUFFIX}"))


def _judge_redistribution(runs: SmartRuns, place: str = "") -> Judgment:
    """Devices on which the network is the largest component of re-distribution at some size.

    Direction only at most: the cycles of packing are fitted to a communication that exceeds the I/O on 4
    nodes of G2.
    """
    sizes = runs.sizes("join")
    parts_by_device = {
        device: [runs.stages("join", n, device, place=place)[REDISTRIBUTION].largest_part for n in sizes]
        for device in DEVICES
    }
    limited_devices = [device for device, parts in parts_by_device.items() if "network" in parts]
    judgment = judge_criterion(holds=False, direction_holds=limited_devices == list(MEMS)).with_tables(
        _part_table(REDISTRIBUTION, sizes, parts_by_device)
    )
    return judgment.with_numbers(details=", ".join(NAMES[device] for device in limited_devices) or "none")


def _part_table(
    subject: str, sizes: Sequence[int], parts_by_device: Mapping[str, Sequence[str]]
) -> NumberTable:
    """The largest component of a stage, by number of nodes and device."""
    words = {device: [PART_NAMES[part] for part in parts] for device, parts in parts_by_device.items()}
    return device_table(f"Largest component, {subject}", "nodes", by_size(sizes, words), "{}")


def _judge_ratio(runs: SmartRuns, stage: Stage, device: str, other_part: str) -> Judgment:
    """A ratio that the software of a request is fitted to, with four others."""
    ratio, printed = runs.disk_ratio(stage, device), published_ratio(stage, device)
    parts, devices = ("store", other_part), (DISK, device)
    ours_s = {part: [runs.stage(stage, each).part(part) for each in devices] for part in parts}
    published_s = {part: [published_time(stage, each, part).seconds for each in devices] for part in parts}
    apart, published_apart = (
        max(times[other_part]) / min(times[other_part]) - 1 for times in (ours_s, published_s)
    )
    rows = [
        [f"{PART_NAMES[part]}, {origin}", *map(format_number, times[part])]
        for part in parts
        for origin, times in (("published", published_s), ("simulated", ours_s))
    ]
    columns = f"component | {NAMES[DISK]} | {NAMES[device]}"
    judgment = judge_printed(
        [ratio], direction_holds=ratio > 1, rest_holds=apart <= published_apart
    ).with_tables(number_table(f"Times of {stage.phase} on {stage.nodes} nodes, s", columns, rows))
    return judgment.with_numbers(
        ratio=ratio,
        difference=ratio / printed - 1,
        other=PART_NAMES[other_part],
        off=apart,
        published_off=published_apart,
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
    rows = {device: runs.stage(SAMPLING, device) for device in (DISK, G3)}
    disk_ratio, mems_ratio = (row.part("store") / row.part("network") for row in rows.values())
    ratio_falls = disk_ratio > mems_ratio
    return judge_criterion(all(are_io_bound) and ratio_falls, ratio_falls).with_numbers(
        bound=sum(are_io_bound),
        of=len(are_io_bound),
        disk=disk_ratio,
        mems=mems_ratio,
        over_printed=rows[DISK].part("network") / published_time(SAMPLING, DISK, "network").seconds,
    )


def c_30(runs: SmartRuns) -> Judgment:
    """Compute and communication of every stage of a sort between devices."""
    spreads = {
        f"{PART_NAMES[part]} of {phase}, {n} nodes": relative_spread(runs, Stage("sort", phase, n), part)
        for n in runs.sizes("sort")
        for phase, row in runs.stages("sort", n, DISK).items()
        for part in ("compute", "network")
        if row.part(part) > 0
    }
    case, worst = max(spreads.items(), key=lambda each: each[1])
    return judge_fitted(worst <= 0.07).with_numbers(worst=worst, case=case)
