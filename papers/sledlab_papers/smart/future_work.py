"""Future work of Chiu 2004, and experiments beyond it: two claims, and the tables of the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import exp, log

from ..claims import Judgment, judge_definition
from ..markdown import table
from ..templates import TEMPLATES, fill
from ..wording import cells, format_number, format_rows
from .future_work_flash import today_sentences, today_table
from .future_work_plan import (
    CHIP,
    CLOCK_MHZ,
    FAILURE,
    FASTER,
    FUTURE_EXPERIMENTS,
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
    read_replays,
    time_ratio,
)
from .offloading import host_table
from .plan import SmartRuns
from .published_times import DISK, G3, NAMES

__all__ = ["FUTURE_EXPERIMENTS", "c_50", "c_51", "page_texts"]

COMPONENT_NAMES = {"compute": "processor", "store": "store", "network": "network"}
SIZES = f"{HOST}-sizes"
EXACT_G3 = "mems-g3"


def c_50(runs: SmartRuns) -> Judgment:
    """A scan sends the client equally much on any number of nodes; a host needs all data sent."""
    sizes = read_replays(runs, SIZES)
    sent_bytes = {row.sent_bytes for row in sizes.rows}
    host = read_replays(runs, HOST)
    host_bytes = host.first(job="scan", at="host").sent_bytes
    sort_bytes = host.first(job="sort", at="nodes").sent_bytes
    share = max(sent_bytes) / host_bytes
    # Limit 2 %: 1 % of the tuples match, drawn by a predicate that hits nearly as many.
    return judge_definition(len(sent_bytes) == 1 and share < 0.02).with_numbers(
        minimum=min(sent_bytes) / 1e6,
        share=share,
        data=host_bytes / 1e6,
        sorting=sort_bytes / 1e6,
    )


def c_51(runs: SmartRuns) -> Judgment:
    """Each option that was built has an experiment with replays of both devices, or of those it combines."""
    selections = {
        "full queries": read_replays(runs, QUERIES),
        "availability": read_replays(runs, FAILURE),
        "scheduling inside the device": read_replays(runs, SCHEDULING),
        "hybrid nodes": read_replays(runs, HYBRID),
        "disk and MEMS nodes mixed": read_replays(runs, MIXED),
        "an integrated chip": read_replays(runs, CHIP),
        "nodes of today": read_replays(runs, TODAY),
    }
    have_run = [
        len(rows.rows) > 0 and all(row.elapsed_s > 0 for row in rows.rows) for rows in selections.values()
    ]
    return judge_definition(all(have_run)).with_numbers(
        options=", ".join(selections),
        queries=len(selections["full queries"].distinct("job")),
    )


def page_texts(runs: SmartRuns) -> dict[str, str]:
    """Tables and numbers by their place in the text, and the text itself."""
    tables = {
        "beyond_host": host_table(runs),
        "beyond_queries": query_table(runs),
        "beyond_failure": failure_table(runs),
        "beyond_scheduling": scheduling_table(runs),
        "beyond_hybrid": hybrid_table(runs),
        "beyond_chip": chip_table(runs),
        "beyond_today": today_table(runs),
    }
    return {**tables, "beyond": fill(TEMPLATES, "smart/future_work.md", **tables, **sentence_texts(runs))}


def sentence_texts(runs: SmartRuns) -> dict[str, str]:
    """The numbers in the sentences of the text."""
    return {
        "clock": f"{CLOCK_MHZ / 1000:g}",
        "faster": str(FASTER),
        "rebuild": f"{REBUILD_MB_S:g}",
        **_query_sentences(runs),
        **_failure_sentences(runs),
        **_scheduling_sentences(runs),
        **_hybrid_sentences(runs),
        **_chip_sentences(runs),
        **today_sentences(runs),
    }


def _disk_and_sled_pairs(runs: SmartRuns) -> Iterator[tuple[Replay, Replay]]:
    """Replays of each query on each number of nodes: with disks and with sleds."""
    rows = read_replays(runs, QUERIES)
    for on_disk in rows.filter(device=DISK).rows:
        yield on_disk, rows.first(job=on_disk.job, nodes=on_disk.nodes, device=G3)


def query_table(runs: SmartRuns) -> str:
    """Numbers of queries by bottleneck with disks, and those whose bottleneck is another one with MEMS."""
    rows = read_replays(runs, QUERIES)
    count_rows = []
    for nodes in rows.distinct("nodes"):
        for device in rows.distinct("device"):
            counts = Counter(row.bottleneck for row in rows.filter(nodes=int(nodes), device=device).rows)
            count_rows.append(
                cells(
                    "{} | {} | {} | {} | {}",
                    nodes,
                    NAMES[device],
                    *(counts[part] for part in COMPONENT_NAMES),
                )
            )
    changed_rows = [
        cells(
            "`{}` | {} | {:figure} | {:figure} | {:.1f} | {} | {:%0} | {:%0} | {:%0}",
            sled_replay.job,
            sled_replay.nodes,
            disk_replay.elapsed_s,
            sled_replay.elapsed_s,
            time_ratio(disk_replay, sled_replay),
            COMPONENT_NAMES[sled_replay.bottleneck],
            sled_replay.saved_compute,
            sled_replay.saved_store,
            sled_replay.saved_network,
        )
        for disk_replay, sled_replay in _changed_bottlenecks(runs)
    ]
    count_table = table("nodes | store | bottleneck processor | store | network", count_rows, 2)
    header = (
        "query | nodes | disk (s) | G3 (s) | times as fast | bottleneck | processor × 2 (%) | store × 2 (%)"
    )
    return f"{count_table}\n{table(f'{header} | network × 2 (%)', changed_rows)}"


def _changed_bottlenecks(runs: SmartRuns) -> list[tuple[Replay, Replay]]:
    """Queries whose bottleneck is the store with disks, and another component with sleds."""
    return [
        (disk_replay, sled_replay)
        for disk_replay, sled_replay in _disk_and_sled_pairs(runs)
        if disk_replay.bottleneck == "store" != sled_replay.bottleneck
    ]


def _query_sentences(runs: SmartRuns) -> dict[str, str]:
    ratios_by_nodes = {
        str(nodes): [
            time_ratio(disk_replay, sled_replay)
            for disk_replay, sled_replay in _disk_and_sled_pairs(runs)
            if disk_replay.nodes == int(nodes)
        ]
        for nodes in read_replays(runs, QUERIES).distinct("nodes")
    }
    means = {nodes: exp(sum(map(log, each)) / len(each)) for nodes, each in ratios_by_nodes.items()}
    pairs = list(_disk_and_sled_pairs(runs))
    min_pair = min(pairs, key=lambda pair: time_ratio(*pair))
    changed_counts = Counter(sled_replay.nodes for _, sled_replay in _changed_bottlenecks(runs))
    counts_by_bottleneck = Counter(
        COMPONENT_NAMES[sled_replay.bottleneck] for _, sled_replay in _changed_bottlenecks(runs)
    )
    return {
        "on_disks": f"{sum(disk_replay.bottleneck == 'store' for disk_replay, _ in pairs)} of {len(pairs)}",
        "smallest_gain_query": min_pair[0].job,
        "smallest_gain_bottleneck": COMPONENT_NAMES[min_pair[1].bottleneck],
        "all_queries": str(len(read_replays(runs, QUERIES).distinct("job"))),
        "gains": format_rows(
            "{:.1f} to {:.1f} times as fast on {} nodes (geometric mean {:.1f})",
            ((min(ratios), max(ratios), nodes, means[nodes]) for nodes, ratios in ratios_by_nodes.items()),
            " and ",
        ),
        "changed": format_rows(
            "{} of {} on {} nodes",
            ((changed_counts[int(n)], len(ratios), n) for n, ratios in ratios_by_nodes.items()),
            " and ",
        ),
        "changed_to": format_rows("the {} ({})", counts_by_bottleneck.items(), " and ") or "nothing",
    }


def failure_table(runs: SmartRuns) -> str:
    """Jobs with copies and without, with a failed node, and with one that is rebuilt."""
    cases = [
        read_replays(runs, f"{FAILURE}{suffix}") for suffix in ("-none", "-whole", "", "-rebuild", "-mirror")
    ]
    rows = []
    for row in cases[0].rows:
        variants = [case.first(job=row.job, device=row.device) for case in cases]
        first_cells = cells("`{}` | {} | {:figure}", row.job, NAMES[row.device], row.elapsed_s)
        rows.append([*first_cells, *(f"{time_ratio(each, row):.2f}" for each in variants[1:])])
    header = (
        "job | store | no copies (s) | chained | one failed | and rebuilt meanwhile | mirrored, one failed"
    )
    return table(header, rows, 2)


def _failure_sentences(runs: SmartRuns) -> dict[str, str]:
    no_copies, copies_kept, chained, mirror = (
        read_replays(runs, f"{FAILURE}{suffix}") for suffix in ("-none", "-whole", "", "-mirror")
    )
    rebuild_scan = read_replays(runs, f"{FAILURE}-rebuild").first(job="scan", device=DISK)
    nodes = no_copies.rows[0].nodes
    scans = {
        name: case.first(job="scan", device=DISK) for name, case in (("chained", chained), ("mirror", mirror))
    }
    plain_scan = no_copies.first(job="scan", device=DISK)
    copy_ratios = [
        time_ratio(row, no_copies.first(job="sort", device=row.device))
        for row in copies_kept.filter(job="sort").rows
    ]
    return {
        "fair": f"{nodes / (nodes - 1):.2f}",
        "chained_scan": f"{time_ratio(scans['chained'], plain_scan):.2f}",
        "mirror_scan": f"{time_ratio(scans['mirror'], plain_scan):.2f}",
        "rebuild_scan": f"{time_ratio(rebuild_scan, plain_scan):.2f}",
        "disk_mb_s": f"{plain_scan.requests * SMALL_PAGE * 1024 / 1e6 / nodes / plain_scan.elapsed_s:.1f}",
        "copies": f"{min(copy_ratios):.2f} to {max(copy_ratios):.2f}",
    }


def scheduling_table(runs: SmartRuns) -> str:
    """One page at a time, eight in order, the nearest of eight first; with and without request software."""
    cases = [
        read_replays(runs, f"{SCHEDULING}{suffix}")
        for suffix in ("-none", "-fcfs", "", "-fcfs-device", "-device")
    ]
    rows = []
    for row in cases[0].rows:
        _, fcfs, sptf, fcfs_inside, sptf_inside = (
            case.first(job=row.job, device=row.device) for case in cases
        )
        seconds = [each.elapsed_s for each in (row, fcfs, sptf)]
        gains = (time_ratio(fcfs, sptf), time_ratio(fcfs_inside, sptf_inside))
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


def _scheduling_sentences(runs: SmartRuns) -> dict[str, str]:
    def gain(job: str, device: str, old_suffix: str, new_suffix: str) -> str:
        cases = (read_replays(runs, f"{SCHEDULING}{suffix}") for suffix in (old_suffix, new_suffix))
        old_replay, new_replay = (case.first(job=job, device=device) for case in cases)
        return f"{time_ratio(old_replay, new_replay):.2f}"

    return {
        "ahead_disk": gain("scan", DISK, "-none", "-fcfs"),
        "ahead_g3": gain("scan", G3, "-none", "-fcfs"),
        "scan_disk": gain("scan", DISK, "-fcfs", ""),
        "sort_disk": gain("sort", DISK, "-fcfs", ""),
        "scan_g3": gain("scan", G3, "-fcfs", ""),
        "scan_g3_inside": gain("scan", G3, "-fcfs-device", "-device"),
        "sort_g3_inside": gain("sort", G3, "-fcfs-device", "-device"),
    }


def hybrid_table(runs: SmartRuns) -> str:
    """Jobs on disks, on disks behind sleds, on sleds; a join on both."""
    single_stores, hybrid_stores, mixed_stores = (
        read_replays(runs, place) for place in (SINGLE, HYBRID, MIXED)
    )
    rows = []
    for row in hybrid_stores.rows:
        disk_replay, sled_replay = (single_stores.first(job=row.job, device=device) for device in (DISK, G3))
        mixed_rows = mixed_stores.filter(job=row.job, device=DISK).rows
        mixed_text = format_number(mixed_rows[0].elapsed_s) if mixed_rows else "–"
        first_cells = cells(
            "`{}` | {:figure} | {:figure} | {:figure}",
            row.job,
            *(r.elapsed_s for r in (disk_replay, row, sled_replay)),
        )
        rows.append([*first_cells, mixed_text])
    header = "job | disks (s) | disks behind sleds (s) | sleds (s) | orders on disks, line items on sleds (s)"
    return table(header, rows)


def _hybrid_sentences(runs: SmartRuns) -> dict[str, str]:
    single_stores, hybrid_stores, mixed_stores = (
        read_replays(runs, place) for place in (SINGLE, HYBRID, MIXED)
    )
    gains = {
        job: time_ratio(single_stores.first(job=job, device=DISK), hybrid_stores.first(job=job))
        for job in hybrid_stores.distinct("job")
    }
    disk_join = single_stores.first(job="join", device=DISK)
    return {
        **{f"hybrid_{job}": f"{gain:.1f}" for job, gain in gains.items()},
        "mixed_gain": f"{time_ratio(disk_join, mixed_stores.first(device=DISK)):.2f}",
        "sleds_gain": f"{time_ratio(disk_join, single_stores.first(job='join', device=G3)):.1f}",
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
        read_replays(runs, f"{CHIP}{suffix}").first(job=job, device=device, network=net)
        for suffix, device, net in STEPS
    ]


def chip_table(runs: SmartRuns) -> str:
    """From node to chip, step by step."""
    rows = []
    for job in read_replays(runs, CHIP).distinct("job"):
        steps = _steps(runs, job)
        seconds = [step.elapsed_s for step in steps]
        first_cells = cells("`{}` | {:figure} | {:figure} | {:figure} | {:figure}", job, *seconds[:4])
        chip_replay, fast_replay = steps[3:]
        last_cells = cells(
            "{:.1f} | {} | {:figure} | {}",
            time_ratio(steps[0], chip_replay),
            COMPONENT_NAMES[chip_replay.bottleneck],
            fast_replay.elapsed_s,
            COMPONENT_NAMES[fast_replay.bottleneck],
        )
        rows.append([*first_cells, *last_cells])
    header = "job | node (s) | no software of a request (s) | no commands, no bus (s) | InfiniBand (s)"
    return table(f"{header} | times as fast | bottleneck | {CLOCK_MHZ / 1000:g} GHz (s) | bottleneck", rows)


def _chip_sentences(runs: SmartRuns) -> dict[str, str]:
    jobs = read_replays(runs, CHIP).distinct("job")
    gains = [time_ratio(_steps(runs, job)[0], _steps(runs, job)[3]) for job in jobs]
    fast_gains = [time_ratio(_steps(runs, job)[3], _steps(runs, job)[4]) for job in jobs]
    bottlenecks = [COMPONENT_NAMES[_steps(runs, job)[3].bottleneck] for job in jobs]
    fast_bottlenecks = Counter(COMPONENT_NAMES[_steps(runs, job)[4].bottleneck] for job in jobs)
    largest_gain_job = max(jobs, key=lambda job: time_ratio(*_steps(runs, job)[3:]))
    return {
        "chip_gain": f"{min(gains):.1f} to {max(gains):.1f}",
        "chip_bottlenecks": format_rows("`{}` by the {}", zip(jobs, bottlenecks, strict=True)),
        "chip_after": format_rows("the {} ({} of them)", fast_bottlenecks.items(), " and "),
        "chip_largest": largest_gain_job,
        "chip_fast": f"{min(fast_gains):.2f} to {max(fast_gains):.1f}",
    }
