"""Times of the phases of a cluster whose nodes do one thing at a time: docs/smart.md, work.md and network.md.

A phase has three parts, each of which ends with its slowest node: nodes read and process pages, then exchange
messages, then receivers write. Pages of `ram` take the same time wherever they lie.
"""

from __future__ import annotations

import heapq
import json
import random
from collections import deque
from collections.abc import Iterator
from itertools import pairwise
from math import ceil
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
import sledlab as sl

from tests.oracles.experiments import generators, random_experiments

BLOCK = 512
FILES = ("a", "b", "c")
NODE = {
    "page_kb": 4,
    "request_us": 3.0,
    "mhz": 100.0,
    "message_cycles": 500.0,
    "byte_cycles": 0.25,
    "cycles.tuple": 10.0,
    "cycles.pack": 20.0,
}
ACCESS_US, STORE_BYTES_PER_US = 10.0, 100.0
LINK_BYTES_PER_US, LATENCY_US = 50.0, 5.0
NETWORKS = {"ideal": "ideal", "fast-ethernet": "switch", "hub": "hub"}
PAGE = 1024 * NODE["page_kb"]
ROUNDING_US = 0.2
"""Up to a nanosecond for each page and message."""


def software_us(messages: int, size: int) -> float:
    return (messages * NODE["message_cycles"] + size * NODE["byte_cycles"]) / NODE["mhz"]


def file_us(size: int) -> float:
    """Time to read or write a file once; its last page has whole blocks."""
    pages = ceil(size / PAGE)
    blocks = ceil(size / BLOCK)
    return pages * (NODE["request_us"] + ACCESS_US) + blocks * BLOCK / STORE_BYTES_PER_US


class Cluster:
    """A work record on a cluster."""

    def __init__(self, files: dict[str, list[int]], block_kb: int, message_kb: int, packet_kb: int) -> None:
        self.files, self.block_pages = files, block_kb // NODE["page_kb"]
        self.message, self.packet = 1024 * message_kb, 1024 * packet_kb

    def reads_us(self, step: dict[str, Any], node: int) -> float:
        total = 0.0
        for read in step.get("reads", ()):
            outer = self.files[read["per_block_of"]][node] if "per_block_of" in read else None
            times = 1 if outer is None else ceil(ceil(outer / PAGE) / self.block_pages)
            total += times * file_us(self.files[read["file"]][node])
        return total

    def phase_us(self, steps: list[dict[str, Any]], network: str) -> float:
        """Time of a phase, given the step of each node."""
        before, after = [], []
        rows = [step.get("sends", [0] * len(steps)) for step in steps]
        for node, step in enumerate(steps):
            operations = step.get("operations", {})
            compute = sum(n * NODE[f"cycles.{kind}"] for kind, n in operations.items()) / NODE["mhz"]
            reads = self.reads_us(step, node)
            writes = sum(file_us(self.files[write["file"]][node]) for write in step.get("writes", ()))
            receives = any(row[node] for row in rows)
            # A receiver that reads nothing processes its messages; all receivers write what they received.
            processes_messages = receives and reads == 0
            before.append(reads + (0 if processes_messages else compute) + (0 if receives else writes))
            after.append((compute if processes_messages else 0) + (writes if receives else 0))
        return max(before) + self.exchange_us(rows, network) + max(after)

    def messages(self, node: int, row: list[int]) -> Iterator[tuple[int, int]]:
        """Receivers and sizes of messages, of each receiver in turn; node i begins with its i-th receiver."""
        queue = deque((to, size) for to, size in enumerate(row) if size and to != node)
        queue.rotate(-(node % max(len(queue), 1)))
        while queue:
            to, left = queue.popleft()
            yield to, min(left, self.message)
            if left > self.message:
                queue.append((to, left - self.message))

    def exchange_us(self, rows: list[list[int]], network: str) -> float:
        """A processor prepares all messages, then handles those received; its port sends meanwhile."""
        processor_us = [0.0] * len(rows)
        prepared: list[deque[tuple[float, int, int]]] = [deque() for _ in rows]
        for node, row in enumerate(rows):
            for to, size in self.messages(node, row):
                processor_us[node] += software_us(1, size)
                prepared[node].append((processor_us[node], to, size))
        port_us, packets = self.send(prepared, network)
        link_us, arrivals = [0.0] * len(rows), []
        for head_us, to, size, is_last in sorted(packets, key=itemgetter(0)):
            begin_us = max(head_us, link_us[to]) if network == "switch" else head_us
            link_us[to] = begin_us + size / LINK_BYTES_PER_US
            arrivals.append((link_us[to], to, size, is_last))
        for arrival_us, to, size, is_last in sorted(arrivals, key=itemgetter(0)):
            processor_us[to] = max(processor_us[to], arrival_us) + software_us(is_last, size)
        return max(processor_us + port_us)

    def send(self, prepared: list[deque[tuple[float, int, int]]], network: str) -> tuple[list[float], list]:
        """Times at which ports are free, and packets `(head_us, to, size, is_last)` at their receivers.

        A port sends a packet of each prepared message in turn; on a hub one packet is in transfer at a time.
        """
        packets, outboxes = [], [deque() for _ in prepared]
        port_us, medium_us = [0.0] * len(prepared), 0.0
        ready = [(messages[0][0], node) for node, messages in enumerate(prepared) if messages]
        heapq.heapify(ready)
        while ready:
            now_us, node = heapq.heappop(ready)
            messages, outbox = prepared[node], outboxes[node]
            while messages and messages[0][0] <= now_us:
                outbox.append(messages.popleft()[1:])
            to, left = outbox.popleft()
            size = min(left, self.packet)
            if left > size:
                outbox.append((to, left - size))
            start_us = max(now_us, medium_us) if network == "hub" else now_us
            port_us[node] = medium_us = start_us + size / LINK_BYTES_PER_US
            packets.append((start_us + LATENCY_US, to, size, left == size))
            if outbox:
                heapq.heappush(ready, (port_us[node], node))
            elif messages:
                heapq.heappush(ready, (max(port_us[node], messages[0][0]), node))
        return port_us, packets


def random_step(generator: random.Random, nodes: int, *, sends: bool) -> dict[str, Any]:
    operations = {"tuple": generator.randrange(500), "pack": generator.randrange(200)}
    outer, inner = generator.sample(FILES, 2)
    loop = [{"file": outer}, {"file": inner, "per_block_of": outer}]
    step: dict[str, Any] = {"operations": operations, "reads": generator.choice([[], loop[:1], loop])}
    if generator.random() < 0.5:
        step["writes"] = [{"file": generator.choice(FILES)}]
    if sends:
        step["sends"] = [generator.choice([0, 8192, generator.randrange(1, 40_000)]) for _ in range(nodes)]
    return step


def phase_times_us(
    lines: list[dict[str, Any]], network: str, directory: Path, **settings: float
) -> list[float]:
    """Times of the phases of a work record, replayed on `ram`."""
    path = directory / "record.work"
    path.write_text("\n".join(map(json.dumps, lines)))
    settings |= {
        "device.access_us": ACCESS_US,
        "device.bus_mb_s": STORE_BYTES_PER_US,
        "cluster.what_if": False,
    }
    settings |= {"network.bandwidth_mbit_s": 8 * LINK_BYTES_PER_US, "network.latency_us": LATENCY_US}
    phases = sl.replay(sl.work(str(path)), "ram", network=network, settings=settings).phases
    ends_s = phases.filter(phases["node"] == 0)["phase_end_s"].to_list()
    return [1e6 * (end - begin) for begin, end in pairwise([0.0, *ends_s])]


@random_experiments(quick=60, slow=1000)
@pytest.mark.parametrize("network", NETWORKS)
def test_phases_take_the_times_of_the_definition(network, seeds, tmp_path):
    for generator in generators(seeds):
        nodes = generator.randint(1, 5)
        files = {name: [generator.randrange(1, 50_000) for _ in range(nodes)] for name in FILES}
        block_kb, message_kb, packet_kb = (generator.choice([4, 8, 16]) for _ in range(3))
        cluster = Cluster(files, block_kb, message_kb, packet_kb)
        lines: list[dict[str, Any]] = [{"work": 1, "job": "random", "nodes": nodes, "files": files}]
        expected_us = []
        for phase in ("first", "second", "third"):
            sends = generator.random() < 0.7
            steps = [random_step(generator, nodes, sends=sends) for _ in range(nodes)]
            lines += [{"phase": phase, "node": node, **step} for node, step in enumerate(steps)]
            expected_us.append(cluster.phase_us(steps, NETWORKS[network]))
        settings = {f"node.{key}": value for key, value in NODE.items()} | {"node.block_kb": block_kb}
        settings |= {"node.message_kb": message_kb, "network.packet_kb": packet_kb}
        times_us = phase_times_us(lines, network, tmp_path, **settings)
        assert times_us == pytest.approx(expected_us, abs=ROUNDING_US), lines


@pytest.mark.parametrize("half", [False, True], ids=["all-to-all", "half-to-half"])
@pytest.mark.parametrize("nodes", [2, 4, 6, 16])
def test_exchanges_keep_all_links_busy(nodes, half, tmp_path):
    size = 10 * PAGE
    senders = range(nodes // 2 if half else nodes)
    receivers = range(nodes // 2, nodes) if half else range(nodes)
    sends = [[size * (to in receivers and to != node) for to in range(nodes)] for node in senders]
    lines: list[dict[str, Any]] = [{"work": 1, "job": "exchange", "nodes": nodes, "files": {}}]
    lines += [{"phase": "exchange", "node": node, "sends": row} for node, row in enumerate(sends)]
    most, total = max(map(sum, sends)), sum(map(sum, sends))
    for network, serial in [("ideal", most), ("fast-ethernet", most), ("hub", total)]:
        settings = {"node.message_cycles": 0, "node.message_kb": NODE["page_kb"]}
        times_us = phase_times_us(lines, network, tmp_path, **settings)
        assert times_us == pytest.approx([serial / LINK_BYTES_PER_US + LATENCY_US])
