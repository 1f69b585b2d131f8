"""Claims on association rules by count and hybrid distribution (section 5.2; figures 8 and 9)."""

from __future__ import annotations

from collections.abc import Mapping

from sledlab.reproduction.verdicts import NumberTable

from ..claims import Judgment, judge_criterion, judge_range
from ..markdown import table
from ..wording import cells, format_number, number_table
from .mining import CLOCK_RATIO, MAX_CLOCK_RATIO, MIN_CLOCK_RATIO, SIZES, mining_part_s, universe_places
from .plan import LETTERS, RULES, SECTIONS, TENTH_SUFFIX, UNIVERSE_NODES, SmartRuns, sections_place
from .published_times import DEVICES, DISK, G3, MEMS, NAMES
from .stages import is_falling

MAX_TOTAL_CHANGE = 0.30
"""Share by which a faster store may shorten a job that is decided by the processor."""

MAX_GROWTH = 0.25
"""Relative difference of response times that still counts as constant."""


TENTH_PLACE = f"{RULES}{TENTH_SUFFIX}"
"""Place of both distributions with as many transactions as hybrid distribution has with real sections."""


def section_places(runs: SmartRuns) -> dict[int, str]:
    """Places of hybrid distribution by number of sections."""
    selected_count = runs.mark_value("sections")
    return {
        sections: sections_place(sections)
        for sections in ([int(selected_count)] if selected_count else SECTIONS)
    }


def rule_times(runs: SmartRuns, device: str) -> dict[str, dict[int, float]]:
    """Times of count distribution, and of hybrid distribution by sections, in s by the number of nodes."""
    jobs = {"CD": ("apriori-cd", TENTH_PLACE)}
    for sections, place in section_places(runs).items():
        jobs[f"HD, {sections}"] = ("apriori-hd", place)
    return {
        name: {
            row.nodes: row.elapsed_s for row in runs.replays(place) if (row.job, row.device) == (job, device)
        }
        for name, (job, place) in jobs.items()
    }


def judged_times(runs: SmartRuns, device: str) -> dict[str, dict[int, float]]:
    """Times of both distributions, and those of count distribution with all transactions."""
    complete_times = {
        row.nodes: row.elapsed_s
        for row in runs.replays(runs.place("apriori-cd"))
        if (row.job, row.device) == ("apriori-cd", device)
    }
    return {"CD, all transactions": complete_times, **rule_times(runs, device)}


def _io_falls_and_reductions(runs: SmartRuns, place: str) -> tuple[bool, list[float]]:
    """Whether I/O falls from device to device, and how much shorter hybrid distribution is on G3.

    There is a reduction for the least, the usual and the greatest plausible ratio of processors.
    """
    parts_by_device = {
        device: {
            p: mining_part_s(runs, p, "apriori-hd", UNIVERSE_NODES, device, place=place) for p in LETTERS
        }
        for device in DEVICES
    }
    io_falls = is_falling([each["store"] for each in parts_by_device.values()])
    times_s = {
        device: [
            sum(parts.values()) + (ratio / CLOCK_RATIO - 1) * parts["compute"]
            for ratio in (MIN_CLOCK_RATIO, CLOCK_RATIO, MAX_CLOCK_RATIO)
        ]
        for device, parts in parts_by_device.items()
    }
    return io_falls, [1 - g3_s / disk_s for g3_s, disk_s in zip(times_s[G3], times_s[DISK], strict=True)]


def c_33(runs: SmartRuns) -> Judgment:
    """I/O by device, and its effect on the total time, by items, sections and ratio of processors."""
    places_by_case = {f"{count} items": place for count, place in universe_places(runs).items()}
    places_by_case |= {f"{count} sections": place for count, place in section_places(runs).items()}
    falls_and_reductions = {
        name: _io_falls_and_reductions(runs, place) for name, place in places_by_case.items()
    }
    all_fall = all(falls for falls, _ in falls_and_reductions.values())
    reductions = [share for _, shares in falls_and_reductions.values() for share in shares]
    judgment = judge_range(
        all_fall and max(reductions) < MAX_TOTAL_CHANGE,
        all_fall and min(reductions) < MAX_TOTAL_CHANGE,
        all_fall,
    )
    # As many sections as fit is one, which is count distribution: no test of hybrid distribution.
    columns = [f"{ratio:g}" for ratio in (MIN_CLOCK_RATIO, CLOCK_RATIO, MAX_CLOCK_RATIO)]
    return judgment.with_numbers(least=min(reductions), most=max(reductions)).with_tables(
        number_table(
            "Time saved from the disk to G3, %, by ratio of processors",
            " | ".join(["case", *columns]),
            [
                cells("{} | {:%0} | {:%0} | {:%0}", name, *shares)
                for name, (_, shares) in falls_and_reductions.items()
            ],
        )
    )


def c_34(runs: SmartRuns) -> Judgment:
    """Response with data that grow with nodes."""
    few, many = SIZES
    growth = {
        (name, device): times[many] / times[few]
        for device in DEVICES
        for name, times in judged_times(runs, device).items()
    }
    flatness = {key: abs(ratio - 1) <= MAX_GROWTH for key, ratio in growth.items()}
    is_cd_flat = all(is_flat for (name, _), is_flat in flatness.items() if name.startswith("CD"))
    judgment = judge_criterion(all(flatness.values()), is_cd_flat).with_tables(
        _range_table(f"Response on {many} nodes over that on {few}", growth)
    )
    return judgment.with_numbers(maximum=max(growth.values()))


def c_35(runs: SmartRuns) -> Judgment:
    """Response on the disk compared with the other devices."""
    disk_times = judged_times(runs, DISK)
    ratios = {
        (name, f"{device}, {nodes}"): disk_times[name][nodes] / times[nodes]
        for device in MEMS
        for name, times in judged_times(runs, device).items()
        for nodes in times
    }
    judgment = judge_criterion(min(ratios.values()) >= 1).with_tables(
        _range_table("Response on the disk over that on a MEMS device", ratios)
    )
    return judgment.with_numbers(minimum=min(ratios.values()), maximum=max(ratios.values()))


def _range_table(title: str, values: Mapping[tuple[str, str], float]) -> NumberTable:
    """The range of values of each distribution, given by distribution and device."""
    by_name: dict[str, list[float]] = {}
    for (name, _), value in values.items():
        by_name.setdefault(name, []).append(value)
    rows = [cells("{} | {:.2f} | {:.2f}", name, min(each), max(each)) for name, each in by_name.items()]
    return number_table(title, "distribution, sections | least | most", rows)


def sections_table(runs: SmartRuns) -> str:
    """Times of count distribution, and of hybrid distribution by sections, with parts on G3."""
    rows = []
    times = {device: rule_times(runs, device) for device in DEVICES}
    places = {
        "CD": ("apriori-cd", TENTH_PLACE),
        **{f"HD, {n}": ("apriori-hd", p) for n, p in section_places(runs).items()},
    }
    for name, (job, place) in places.items():
        for nodes in times[DISK][name]:
            parts = "/".join(
                f"{LETTERS[p]} {format_number(runs.total(p, job, nodes, G3, place=place))}" for p in LETTERS
            )
            rows.append([name, str(nodes), *(format_number(times[d][name][nodes]) for d in DEVICES), parts])
    head = ["distribution, sections", "nodes", *(f"{NAMES[d]} (s)" for d in DEVICES), "parts, G3"]
    return table(head, rows)
