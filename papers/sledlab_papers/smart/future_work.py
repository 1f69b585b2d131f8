"""Future work of Chiu 2004, and experiments beyond it: three claims, and the tables of the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import exp, log

from ..claims import Judgement, depending, judged
from ..markdown import table
from ..templates import TEMPLATES, fill
from ..wording import cells, each, figure
from .future_work_flash import of_today, today
from .future_work_plan import (
    BEYOND,
    CHIP,
    CLOCK_MHZ,
    FAILURE,
    FASTER,
    HOST,
    HYBRID,
    MIXED,
    QUERIES,
    REBUILD_MB_S,
    SCHEDULING,
    SINGLE,
    SMALL_PAGE,
    TODAY,
    Replay,
    of,
    times,
)
from .plan import SmartRuns
from .published_times import DISK, G3, NAMES

__all__ = ["BEYOND", "c_49", "c_50", "c_51", "places"]

WORDS = {"compute": "processor", "store": "store", "network": "network"}
HOSTS = (HOST, f"{HOST}-infiniband", f"{HOST}-fast")
SIZES = f"{HOST}-sizes"
EXACT_G3 = "mems-g3"


def offloaded(runs: SmartRuns, place: str) -> list[tuple[str, str, float]]:
    """Time of each job at the host over that at the nodes, on each device."""
    rows = of(runs, place)
    return [
        (
            job,
            device,
            times(rows.one(job=job, device=device, at="host"), rows.one(job=job, device=device, at="nodes")),
        )
        for job in rows.each("job")
        for device in rows.each("device")
    ]


def c_49(runs: SmartRuns) -> Judgement:
    """Over what the paper leaves open, the network and the host."""
    ratios = [[ratio for *_, ratio in offloaded(runs, place)] for place in HOSTS]
    faster = [ratio > 1 for case in ratios for ratio in case]
    ranges = [f"{min(case):.3f} to {max(case):.2f}" for case in ratios]
    jobs = of(runs, HOST).each("job")
    return depending(all(faster), all(ratio > 1 for ratio in ratios[0])).saying(
        jobs=", ".join(f"`{job}`" for job in jobs),
        base=ranges[0],
        infiniband=ranges[1],
        fast=ranges[2],
        times=FASTER,
    )


def c_50(runs: SmartRuns) -> Judgement:
    """A scan sends the client equally much on any number of nodes; a host needs all data sent."""
    sizes = of(runs, SIZES)
    sent = {row.sent_bytes for row in sizes.rows}
    host = of(runs, HOST)
    all_of_it = host.one(job="scan", at="host").sent_bytes
    sorting = host.one(job="sort", at="nodes").sent_bytes
    share = max(sent) / all_of_it
    # Limit 2 %: 1 % of the tuples match, drawn by a predicate that hits nearly as many.
    return judged(len(sent) == 1 and share < 0.02).saying(
        nodes=each("{}", (str(size) for size in sizes.each("nodes"))),
        minimum=min(sent) / 1e6,
        maximum=max(sent) / 1e6,
        share=share,
        data=all_of_it / 1e6,
        sorting=sorting / 1e6,
    )


def c_51(runs: SmartRuns) -> Judgement:
    """Each option that was built has an experiment with replays of both devices, or of those it combines."""
    options = {
        "full queries": of(runs, QUERIES),
        "availability": of(runs, FAILURE),
        "scheduling inside the device": of(runs, SCHEDULING),
        "hybrid nodes": of(runs, HYBRID),
        "disk and MEMS nodes mixed": of(runs, MIXED),
        "an integrated chip": of(runs, CHIP),
        "nodes of today": of(runs, TODAY),
    }
    ran = [len(rows.rows) > 0 and all(row.elapsed_s > 0 for row in rows.rows) for rows in options.values()]
    counted = {name: len(rows.rows) for name, rows in options.items()}
    return judged(all(ran), any(ran)).saying(
        options=each("{} ({} replays)", counted.items()), queries=len(options["full queries"].each("job"))
    )


def places(runs: SmartRuns) -> dict[str, str]:
    """Tables and numbers for the places of the text; and the text itself."""
    tables = {
        "beyond_host": host(runs),
        "beyond_queries": queries(runs),
        "beyond_failure": failure(runs),
        "beyond_scheduling": scheduling(runs),
        "beyond_hybrid": hybrid(runs),
        "beyond_chip": chip(runs),
        "beyond_today": today(runs),
    }
    return {**tables, "beyond": fill(TEMPLATES, "smart/beyond.md", **tables, **sentences(runs))}


def sentences(runs: SmartRuns) -> dict[str, str]:
    """The numbers in the sentences of the text."""
    return {
        "clock": f"{CLOCK_MHZ / 1000:g}",
        "faster": str(FASTER),
        "rebuild": f"{REBUILD_MB_S:g}",
        **_of_queries(runs),
        **_of_failure(runs),
        **_of_scheduling(runs),
        **_of_hybrid(runs),
        **_of_chip(runs),
        **of_today(runs),
    }


def host(runs: SmartRuns) -> str:
    """Jobs at nodes and at a host, and the ratio of their times."""
    base = of(runs, HOST)
    ratios = [{(job, device): ratio for job, device, ratio in offloaded(runs, place)} for place in HOSTS]
    rows = [
        cells(
            "`{}` | {} | {:figure} | {:figure} | {:.2f} | {:.2f} | {:.2f}",
            job,
            NAMES[device],
            base.one(job=job, device=device, at="nodes").elapsed_s,
            base.one(job=job, device=device, at="host").elapsed_s,
            *(case[job, device] for case in ratios),
        )
        for job, device in ratios[0]
    ]
    fast = f"InfiniBand, host of {CLOCK_MHZ / 1000:g} GHz"
    return table(f"job | store | at nodes (s) | at a host (s) | times as long | InfiniBand | {fast}", rows, 2)


def _pairs(runs: SmartRuns) -> Iterator[tuple[Replay, Replay]]:
    """Replays of each query on each number of nodes: with disks and with sleds."""
    rows = of(runs, QUERIES)
    for on_disk in rows.where(device=DISK).rows:
        yield on_disk, rows.one(job=on_disk.job, nodes=on_disk.nodes, device=G3)


def queries(runs: SmartRuns) -> str:
    """Numbers of queries by bottleneck with disks, and those whose bottleneck is another one with MEMS."""
    rows = of(runs, QUERIES)
    counted = []
    for nodes in rows.each("nodes"):
        for device in rows.each("device"):
            checked = Counter(row.bottleneck for row in rows.where(nodes=int(nodes), device=device).rows)
            counted.append(
                cells("{} | {} | {} | {} | {}", nodes, NAMES[device], *(checked[part] for part in WORDS))
            )
    changed = [
        cells(
            "`{}` | {} | {:figure} | {:figure} | {:.1f} | {} | {:%0} | {:%0} | {:%0}",
            sled.job,
            sled.nodes,
            disk.elapsed_s,
            sled.elapsed_s,
            times(disk, sled),
            WORDS[sled.bottleneck],
            sled.saved_compute,
            sled.saved_store,
            sled.saved_network,
        )
        for disk, sled in _changed(runs)
    ]
    first = table("nodes | store | bottleneck processor | store | network", counted, 2)
    header = (
        "query | nodes | disk (s) | G3 (s) | times as fast | bottleneck | processor × 2 (%) | store × 2 (%)"
    )
    return f"{first}\n{table(f'{header} | network × 2 (%)', changed)}"


def _changed(runs: SmartRuns) -> list[tuple[Replay, Replay]]:
    """Queries whose bottleneck is the store with disks, and another component with sleds."""
    return [(disk, sled) for disk, sled in _pairs(runs) if disk.bottleneck == "store" != sled.bottleneck]


def _of_queries(runs: SmartRuns) -> dict[str, str]:
    gains = {
        str(nodes): [times(disk, sled) for disk, sled in _pairs(runs) if disk.nodes == int(nodes)]
        for nodes in of(runs, QUERIES).each("nodes")
    }
    means = {nodes: exp(sum(map(log, each)) / len(each)) for nodes, each in gains.items()}
    pairs = list(_pairs(runs))
    minimum = min(pairs, key=lambda pair: times(*pair))
    changed = Counter(sled.nodes for _, sled in _changed(runs))
    parts = Counter(WORDS[sled.bottleneck] for _, sled in _changed(runs))
    return {
        "on_disks": f"{sum(disk.bottleneck == 'store' for disk, _ in pairs)} of {len(pairs)}",
        "smallest_gain_query": minimum[0].job,
        "smallest_gain_bottleneck": WORDS[minimum[1].bottleneck],
        "all_queries": str(len(of(runs, QUERIES).each("job"))),
        "gains": each(
            "{:.1f} to {:.1f} times as fast on {} nodes (geometric mean {:.1f})",
            ((min(all_), max(all_), nodes, means[nodes]) for nodes, all_ in gains.items()),
            " and ",
        ),
        "changed": each(
            "{} of {} on {} nodes", ((changed[int(n)], len(all_), n) for n, all_ in gains.items()), " and "
        ),
        "changed_to": each("the {} ({})", parts.items(), " and ") or "nothing",
    }


def failure(runs: SmartRuns) -> str:
    """Jobs with copies and without, with a failed node, and with one that is rebuilt."""
    cases = [of(runs, f"{FAILURE}{suffix}") for suffix in ("-none", "-whole", "", "-rebuild", "-mirror")]
    rows = []
    for row in cases[0].rows:
        these = [case.one(job=row.job, device=row.device) for case in cases]
        reported = cells("`{}` | {} | {:figure}", row.job, NAMES[row.device], row.elapsed_s)
        rows.append([*reported, *(f"{times(each, row):.2f}" for each in these[1:])])
    header = (
        "job | store | no copies (s) | chained | one failed | and rebuilt meanwhile | mirrored, one failed"
    )
    return table(header, rows, 2)


def _of_failure(runs: SmartRuns) -> dict[str, str]:
    none, full, chained, mirror = (
        of(runs, f"{FAILURE}{suffix}") for suffix in ("-none", "-whole", "", "-mirror")
    )
    rebuilt = of(runs, f"{FAILURE}-rebuild").one(job="scan", device=DISK)
    nodes = none.rows[0].nodes
    scans = {
        name: case.one(job="scan", device=DISK) for name, case in (("chained", chained), ("mirror", mirror))
    }
    plain = none.one(job="scan", device=DISK)
    copies = [times(row, none.one(job="sort", device=row.device)) for row in full.where(job="sort").rows]
    return {
        "fair": f"{nodes / (nodes - 1):.2f}",
        "chained_scan": f"{times(scans['chained'], plain):.2f}",
        "mirror_scan": f"{times(scans['mirror'], plain):.2f}",
        "rebuild_scan": f"{times(rebuilt, plain):.2f}",
        "disk_mb_s": f"{plain.requests * SMALL_PAGE * 1024 / 1e6 / nodes / plain.elapsed_s:.1f}",
        "copies": f"{min(copies):.2f} to {max(copies):.2f}",
    }


def scheduling(runs: SmartRuns) -> str:
    """One page at a time, eight in order, the nearest of eight first; with and without request software."""
    cases = [
        of(runs, f"{SCHEDULING}{suffix}") for suffix in ("-none", "-fcfs", "", "-fcfs-device", "-device")
    ]
    rows = []
    for row in cases[0].rows:
        _, fcfs, sptf, fcfs_inside, sptf_inside = (case.one(job=row.job, device=row.device) for case in cases)
        seconds = [each.elapsed_s for each in (row, fcfs, sptf)]
        gains = (times(fcfs, sptf), times(fcfs_inside, sptf_inside))
        rows.append(
            cells(
                "`{}` | {} | {:figure} | {:figure} | {:figure} | {:.2f} | {:.2f}",
                row.job,
                NAMES[row.device],
                *seconds,
                *gains,
            )
        )
    header = "job | store | one page at a time (s) | eight, FCFS (s) | eight, SPTF (s) | times as fast"
    return table(f"{header} | inside the device", rows, 2)


def _of_scheduling(runs: SmartRuns) -> dict[str, str]:
    def gain(job: str, device: str, before: str, after: str) -> str:
        cases = (of(runs, f"{SCHEDULING}{suffix}") for suffix in (before, after))
        old, new = (case.one(job=job, device=device) for case in cases)
        return f"{times(old, new):.2f}"

    return {
        "ahead_disk": gain("scan", DISK, "-none", "-fcfs"),
        "ahead_g3": gain("scan", G3, "-none", "-fcfs"),
        "scan_disk": gain("scan", DISK, "-fcfs", ""),
        "sort_disk": gain("sort", DISK, "-fcfs", ""),
        "scan_g3": gain("scan", G3, "-fcfs", ""),
        "scan_g3_inside": gain("scan", G3, "-fcfs-device", "-device"),
        "sort_g3_inside": gain("sort", G3, "-fcfs-device", "-device"),
    }


def hybrid(runs: SmartRuns) -> str:
    """Jobs on disks, on disks behind sleds, on sleds; a join on both."""
    single, cached, mixed = (of(runs, place) for place in (SINGLE, HYBRID, MIXED))
    rows = []
    for row in cached.rows:
        disk, sled = (single.one(job=row.job, device=device) for device in (DISK, G3))
        both = mixed.where(job=row.job, device=DISK).rows
        last = figure(both[0].elapsed_s) if both else "–"
        reported = cells(
            "`{}` | {:figure} | {:figure} | {:figure}", row.job, *(r.elapsed_s for r in (disk, row, sled))
        )
        rows.append([*reported, last])
    header = "job | disks (s) | disks behind sleds (s) | sleds (s) | orders on disks, line items on sleds (s)"
    return table(header, rows)


def _of_hybrid(runs: SmartRuns) -> dict[str, str]:
    single, cached, mixed = (of(runs, place) for place in (SINGLE, HYBRID, MIXED))
    gains = {job: times(single.one(job=job, device=DISK), cached.one(job=job)) for job in cached.each("job")}
    disk = single.one(job="join", device=DISK)
    return {
        **{f"hybrid_{job}": f"{gain:.1f}" for job, gain in gains.items()},
        "mixed_gain": f"{times(disk, mixed.one(device=DISK)):.2f}",
        "sleds_gain": f"{times(disk, single.one(job='join', device=G3)):.1f}",
    }


STEPS = (
    ("-node", G3, "fast-ethernet"),
    ("", G3, "fast-ethernet"),
    ("", EXACT_G3, "fast-ethernet"),
    ("", EXACT_G3, "infiniband-1x"),
    ("-fast", EXACT_G3, "infiniband-1x"),
)
"""Steps from the node of the paper to the chip, and to a chip with a faster processor."""


def _steps(runs: SmartRuns, job: str) -> list[Replay]:
    return [
        of(runs, f"{CHIP}{suffix}").one(job=job, device=device, network=net) for suffix, device, net in STEPS
    ]


def chip(runs: SmartRuns) -> str:
    """From node to chip, step by step."""
    rows = []
    for job in of(runs, CHIP).each("job"):
        steps = _steps(runs, job)
        seconds = [step.elapsed_s for step in steps]
        reported = cells("`{}` | {:figure} | {:figure} | {:figure} | {:figure}", job, *seconds[:4])
        chip_, fast = steps[3:]
        last = cells(
            "{:.1f} | {} | {:figure} | {}",
            times(steps[0], chip_),
            WORDS[chip_.bottleneck],
            fast.elapsed_s,
            WORDS[fast.bottleneck],
        )
        rows.append([*reported, *last])
    header = "job | node (s) | no software of a request (s) | no commands, no bus (s) | InfiniBand (s)"
    return table(f"{header} | times as fast | bottleneck | {CLOCK_MHZ / 1000:g} GHz (s) | bottleneck", rows)


def _of_chip(runs: SmartRuns) -> dict[str, str]:
    jobs = of(runs, CHIP).each("job")
    gains = [times(_steps(runs, job)[0], _steps(runs, job)[3]) for job in jobs]
    fast = [times(_steps(runs, job)[3], _steps(runs, job)[4]) for job in jobs]
    checked = [WORDS[_steps(runs, job)[3].bottleneck] for job in jobs]
    after = Counter(WORDS[_steps(runs, job)[4].bottleneck] for job in jobs)
    largest = max(jobs, key=lambda job: times(*_steps(runs, job)[3:]))
    return {
        "chip_gain": f"{min(gains):.1f} to {max(gains):.1f}",
        "chip_bottlenecks": each("`{}` by the {}", zip(jobs, checked, strict=True)),
        "chip_after": each("the {} ({} of them)", after.items(), " and "),
        "chip_largest": largest,
        "chip_fast": f"{min(fast):.2f} to {max(fast):.1f}",
    }
