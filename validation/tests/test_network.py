"""Exchanges compared with SMPI (SimGrid), and exported schedules with LogGOPSim.

SMPI shares each link among all messages that cross it. Exchanges from half of the nodes to the others, and
matrices that are sparse or skewed, show whether nodes and packets take turns as fairly.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import sledlab as sl

from tests.require import need

BYTES_S = 12_500_000
LATENCY_US = 50
NODES = (3, 4, 8, 12, 16, 32, 48)
MATRICES = ("balanced", "uneven", "skewed", "sparse", "half to half")


def matrix(kind: str, nodes: int) -> np.ndarray:
    """Bytes that each node (row) sends each node (column)."""
    random = np.random.default_rng(nodes)
    row, column = np.indices((nodes, nodes))
    sizes = {
        "balanced": np.full((nodes, nodes), 500_000),
        "uneven": random.integers(100_000, 900_000, (nodes, nodes)),
        "skewed": 1_000_000 // (1 + column) + 20_000,
        "sparse": random.integers(0, 1_000_000, (nodes, nodes)) * (random.random((nodes, nodes)) < 0.3),
        "half to half": np.where((row < nodes // 2) & (column >= nodes // 2), 500_000, 0),
    }
    return np.where(row == column, 0, sizes[kind])


def replay(work: Path, **options: object) -> sl.ClusterResult:
    """Replay a record on nodes and links like those of the other simulators."""
    network = sl.network("fast-ethernet", bandwidth_mbit_s=8e-6 * BYTES_S, latency_us=LATENCY_US)
    node = sl.node("smart-2003", message_cycles=0.0)
    return sl.replay(work, "ram", network=network, node=node, what_if=False, **options)


def write_record(directory: Path, nodes: int, *lines: dict[str, object]) -> Path:
    """Write a record whose lines are all of one phase."""
    header = {"work": 1, "job": "messages", "nodes": nodes, "files": {}}
    path = directory / "messages.work"
    path.write_text("\n".join(map(json.dumps, [header, *({"phase": "messages", **line} for line in lines)])))
    return path


def exchange_steps(sends: np.ndarray) -> list[dict[str, object]]:
    """The steps of an exchange."""
    return [{"node": node, "sends": row.tolist()} for node, row in enumerate(sends)]


@pytest.fixture(scope="module")
def exchange(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The MPI program that exchanges messages."""
    compiler = need("smpicc")
    program = tmp_path_factory.mktemp("smpi") / "exchange"
    source = Path(__file__).with_name("exchange.c")
    subprocess.run([compiler, "-O1", source, "-o", program], check=True)
    return program


@pytest.mark.parametrize("nodes", NODES)
@pytest.mark.parametrize("kind", MATRICES)
def test_exchange_takes_as_long_as_smpi(kind: str, nodes: int, exchange: Path, tmp_path: Path) -> None:
    sends = matrix(kind, nodes)
    smpi_s = run_smpi(exchange, sends, tmp_path)
    for prefetch in (0, 8):
        settings = {"node.prefetch_pages": prefetch}
        replay_s = replay(write_record(tmp_path, nodes, *exchange_steps(sends)), settings=settings).elapsed_s
        print(f"{kind}, {nodes} nodes, prefetch {prefetch}: {replay_s / smpi_s:.4f}")
        assert replay_s == pytest.approx(smpi_s, rel=0.1)


def run_smpi(exchange: Path, sends: np.ndarray, directory: Path) -> float:
    """Return the time of an exchange in s by SMPI with fair links, without TCP and costs of software."""
    platform, hosts, sizes = directory / "platform.xml", directory / "hosts", directory / "matrix"
    link = f'bw="{BYTES_S}Bps" lat="{LATENCY_US / 2}us" sharing_policy="SPLITDUPLEX"'
    platform.write_text(
        '<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">'
        f'<platform version="4.1"><cluster id="c" prefix="n" suffix="" radical="0-{len(sends) - 1}" '
        f'speed="1Gf" {link}/></platform>'
    )
    hosts.write_text("".join(f"n{node}\n" for node in range(len(sends))))
    np.savetxt(sizes, sends, fmt="%d")
    fair_settings = {
        "network/model": "CM02",
        "network/latency-factor": "1",
        "network/bandwidth-factor": "1",
        "network/weight-S": "0",
        "network/TCP-gamma": "1e12",
        "network/crosstraffic": "no",
        "smpi/simulate-computation": "no",
    }
    settings = [f"--cfg={key}:{value}" for key, value in fair_settings.items()]
    command = [need("smpirun"), "-np", str(len(sends)), "-platform", platform, "-hostfile", hosts, *settings]
    completed = subprocess.run([*command, exchange, sizes], check=True, capture_output=True, text=True)
    return float(completed.stdout.splitlines()[-1])


IDLE_STEP = [{"node": 0}]
"""A step without work: a phase begins with one."""

PATTERNS: dict[str, list[dict[str, object]]] = {
    "ring": exchange_steps(np.roll(np.eye(7, dtype=int), 1, axis=1) * 1_000_000),
    "incast": [{"nodes": "all", "sends": {"client": 1_000_000}}],
    "all to all": [{"nodes": "all", "sends": {"each": 100_000}}],
    "half to half": exchange_steps(matrix("half to half", 7)),
    "barrier": [*IDLE_STEP, {"collective": "barrier"}],
    "broadcast": [*IDLE_STEP, {"collective": "broadcast", "bytes": 50_000}],
    "gather": [*IDLE_STEP, {"collective": "gather", "bytes": 1_000}],
}


LOGGOPSIM_NS = {
    "ring": 80_049_920,
    "incast": 560_049_440,
    "all to all": 48_299_520,
    "half to half": 160_049_680,
    "barrier": 150_000,
    "broadcast": 12_099_760,
    "gather": 579_760,
}
"""Times by LogGOPSim, commit 76451de1, of the schedules that sledlab exports; Debian has no package of it."""


@pytest.mark.parametrize("pattern", PATTERNS)
def test_schedule_takes_as_long_in_loggopsim(pattern: str, tmp_path: Path) -> None:
    schedule = tmp_path / "messages.goal"
    replay_s = replay(write_record(tmp_path, 7, *PATTERNS[pattern]), goal=schedule).elapsed_s
    if shutil.which("LogGOPSim") and shutil.which("txt2bin"):
        assert run_loggopsim(schedule) == LOGGOPSIM_NS[pattern]
    assert replay_s == pytest.approx(LOGGOPSIM_NS[pattern] / 1e9, rel=0.01)


def run_loggopsim(schedule: Path) -> int:
    """Return when the last node ends its part of a schedule, in ns."""
    binary = schedule.with_suffix(".bin")
    subprocess.run(["txt2bin", "-i", schedule, "-o", binary], check=True, capture_output=True)
    model = {"L": LATENCY_US * 1000, "o": 0, "g": 0, "G": 1_000_000_000 // BYTES_S, "S": 1 << 30}
    options = [f"-{name}{value}" for name, value in model.items()]
    completed = subprocess.run(
        ["LogGOPSim", "-f", binary, *options], check=True, capture_output=True, text=True
    )
    return max(int(line.split(":")[1]) for line in completed.stdout.splitlines() if line.startswith("Host "))
