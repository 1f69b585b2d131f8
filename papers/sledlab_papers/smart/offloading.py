"""Processing at storage nodes compared with processing at a host and on a cluster of plain computers."""

from __future__ import annotations

from ..claims import Judgment, judge_range
from ..markdown import table
from ..wording import cells, number_table
from .future_work_plan import (
    CLOCK_MHZ,
    CLUSTER_CLOCKS_MHZ,
    COMPUTERS,
    FASTER,
    HOST,
    PLAIN_CLUSTERS,
    STORES_PER_COMPUTER,
    read_replays,
    time_ratio,
)
from .plan import SmartRuns
from .published_times import NAMES

HOSTS = (HOST, f"{HOST}-infiniband", f"{HOST}-fast")
FAST_HOST_TITLE = f"host of {CLOCK_MHZ / 1000:g} GHz, InfiniBand"


def offload_ratios(runs: SmartRuns, place: str) -> list[tuple[str, str, float]]:
    """Time of each job at the host over that at the nodes, on each device."""
    rows = read_replays(runs, place)
    return [
        (
            job,
            device,
            time_ratio(
                rows.first(job=job, device=device, at="host"), rows.first(job=job, device=device, at="nodes")
            ),
        )
        for job in rows.distinct("job")
        for device in rows.distinct("device")
    ]


def cluster_ratios(runs: SmartRuns, place: str) -> list[tuple[str, str, float]]:
    """Time of each job on a cluster of plain computers over that at the nodes, on each device."""
    nodes, computers = read_replays(runs, HOST), read_replays(runs, place)
    return [
        (
            job,
            device,
            time_ratio(
                computers.first(job=job, device=device), nodes.first(job=job, device=device, at="nodes")
            ),
        )
        for job in nodes.distinct("job")
        for device in nodes.distinct("device")
    ]


def c_49(runs: SmartRuns) -> Judgment:
    """Over what the paper leaves open: the network and the host, and the clock of plain computers."""
    hosts = [[ratio for *_, ratio in offload_ratios(runs, place)] for place in HOSTS]
    clusters = [[ratio for *_, ratio in cluster_ratios(runs, each.place)] for each in PLAIN_CLUSTERS]
    cluster_titles = [f"{COMPUTERS} computers of {mhz:,} MHz" for mhz in CLUSTER_CLOCKS_MHZ]
    titles = ("host", "host, InfiniBand", FAST_HOST_TITLE, *cluster_titles)
    rows = [
        cells("{} | {:.2f} | {:.2f}", title, min(case), max(case))
        for title, case in zip(titles, (*hosts, *clusters), strict=True)
    ]
    jobs = read_replays(runs, HOST).distinct("job")
    are_faster = [ratio > 1 for case in (*hosts, *clusters) for ratio in case]
    holds_somewhere = all(ratio > 1 for case in (hosts[0], clusters[0]) for ratio in case)
    judgment = judge_range(
        all(are_faster), holds_somewhere, direction_holds=all(ratio > 1 for ratio in hosts[0])
    ).with_tables(number_table("Time over that at the nodes", "where | least | most", rows))
    return judgment.with_numbers(
        jobs=", ".join(f"`{job}`" for job in jobs),
        nodes=", ".join(map(str, read_replays(runs, HOST).distinct("nodes"))),
        slower=_slower_at_nodes(runs),
        base=f"{min(hosts[0]):.2f} to {max(hosts[0]):.2f}",
        times=FASTER,
        computers=COMPUTERS,
        stores=STORES_PER_COMPUTER,
    )


def _slower_at_nodes(runs: SmartRuns) -> str:
    """Jobs and devices that take longer at the nodes than at some host or cluster."""
    cases = [
        *(case for place in HOSTS for case in offload_ratios(runs, place)),
        *(case for each in PLAIN_CLUSTERS for case in cluster_ratios(runs, each.place)),
    ]
    slower = dict.fromkeys(f"`{job}` on {NAMES[device]}" for job, device, ratio in cases if ratio <= 1)
    return ", ".join(slower) or "no case"


def host_table(runs: SmartRuns) -> str:
    """Jobs at nodes, at a host and on a cluster of plain computers, and the ratios of their times."""
    host_replays = read_replays(runs, HOST)
    cases = [
        *(offload_ratios(runs, place) for place in HOSTS),
        *(cluster_ratios(runs, each.place) for each in PLAIN_CLUSTERS),
    ]
    ratios = [{(job, device): ratio for job, device, ratio in case} for case in cases]
    rows = [
        cells(
            f"`{{}}` | {{}} | {{:figure}} | {{:figure}}{' | {:.2f}' * len(ratios)}",
            job,
            NAMES[device],
            host_replays.first(job=job, device=device, at="nodes").elapsed_s,
            host_replays.first(job=job, device=device, at="host").elapsed_s,
            *(case[job, device] for case in ratios),
        )
        for job, device in ratios[0]
    ]
    clusters = " | ".join(f"{COMPUTERS} computers of {mhz:,} MHz" for mhz in CLUSTER_CLOCKS_MHZ)
    ratio_titles = f"times as long | InfiniBand | {FAST_HOST_TITLE} | {clusters}"
    head = f"job | store | at nodes (s) | at a host (s) | {ratio_titles}"
    return table(head, rows, 2)
