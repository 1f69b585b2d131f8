"""Timing accuracy and cost of emulated devices, measured with fio.

Medians of `RUNS` runs each. Writes ``emulation.json``, and the results of every single run to
``bench-out/emulation.json``. With a number as argument, that many runs; about 20 minutes with five.
Needs fio, nbdkit, and root. The delays that clients see are measured by ``client_delay.py``.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import sledlab as sl
from clients import HOGS, hogs
from result_files import write_rows, write_runs

RUNS = 5
REQUESTS = 5000
LOAD_S = 20.0
BUSY_IOPS = 15_000
BUSY_S = 60
"""Long enough for the kernel to throttle a process that uses more than 95 % of a processor."""

SPTF = {"device": "mems-g2", "scheduler": "sptf"}
STRIPE = {**SPTF, "system": sl.system("stripe", devices=8)}
DISK = {"device": "atlas-10k"}

TIMED_SYSTEMS: dict[str, tuple[dict[str, Any], dict[str, Any], tuple[tuple[str, str], ...]]] = {
    "mems-g2 sptf, depth 1": (
        SPTF,
        {"iodepth": 1},
        (("median_us", "1"), ("p90_us", "10"), ("p99_us", "40"), ("2 %", "97"), ("5 %", "99.3")),
    ),
    "mems-g2 sptf, depth 1, 10 times slower": ({**SPTF, "time_scale": 10}, {"iodepth": 1}, (("1 %", "99"),)),
    "8 mems-g2 striped, depth 16, 20 times slower": (
        {**STRIPE, "time_scale": 20},
        {"iodepth": 16},
        (("1 %", "99.9"),),
    ),
    "8 mems-g2 striped, depth 16": (STRIPE, {"iodepth": 16}, (("iops", "8500"), ("2 %", "95"))),
    "atlas-10k, depth 1": (DISK, {"iodepth": 1}, (("1 %", "99"), ("2 %", "99.5"))),
}
"""Systems, options of fio, and the figures to report with their targets."""

UNITS = {"median_us": "us", "p90_us": "us", "p99_us": "us", "iops": "requests/s"}
NAMES = {
    "median_us": "lateness, median",
    "p90_us": "lateness, 90 %",
    "p99_us": "lateness, 99 %",
    "iops": "rate",
    "1 %": "within 1 % of the response",
    "2 %": "within 2 % of the response",
    "5 %": "within 5 % of the response",
}


def fio(connection: dict[str, Any], **job_options: Any) -> dict[str, Any]:
    """Return fio's report on random reads of 4 KB."""
    options = {
        "name": "reads",
        "rw": "randread",
        "bs": "4k",
        "size": "1G",
        "randrepeat": 0,
        **connection,
        **job_options,
    }
    command = ["fio", *(f"--{name}={value}" for name, value in options.items()), "--output-format=json"]
    report = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    job: dict[str, Any] = json.loads(report[report.index("{") :])["jobs"][0]
    return job


def nbd_options(server: sl.Server) -> dict[str, Any]:
    """Return the options with which fio connects to a server."""
    return {"ioengine": "nbd", "uri": server.uri}


def measure_timing(system: dict[str, Any], options: dict[str, Any]) -> dict[str, float]:
    """Return the timing accuracy of one run."""
    with sl.serve(**system) as server:
        fio(nbd_options(server), **options, number_ios=REQUESTS, runtime=LOAD_S, time_based=0)
    emulation = server.emulation
    assert emulation is not None
    assert server.result is not None
    lateness_us = emulation.lateness_us
    closed_loop = emulation.closed_loop
    assert closed_loop is not None
    assert closed_loop.closed, closed_loop
    return {
        "median_us": abs(lateness_us["p50"]),
        "p90_us": lateness_us["p90"],
        "p99_us": lateness_us["p99"],
        "iops": server.result.throughput_iops,
        **{
            name: emulation.on_time_share(share) * 100
            for name, share in (("1 %", 0.01), ("2 %", 0.02), ("5 %", 0.05))
        },
        "stalls": emulation.stalls["count"],
        "host_us": emulation.server["host"]["read_us"],
        "realtime": emulation.server["realtime"],
    }


def idle_s() -> float:
    """Return the processor time of a server in a minute without requests."""
    with (
        sl.serve(**SPTF) as server,
        subprocess.Popen(
            [
                "fio",
                "--name=x",
                "--ioengine=nbd",
                f"--uri={server.uri}",
                "--size=1M",
                "--thinktime=70s",
                "--runtime=60",
                "--time_based",
                "--rw=randread",
                "--bs=4k",
            ],
            stdout=subprocess.DEVNULL,
        ) as client,
    ):
        client.wait()
    assert server.emulation is not None
    cpu_s: float = server.emulation.server["cpu_s"]
    return cpu_s


def longest_gap_ms() -> tuple[float, float]:
    """Return the longest stall in ms of a server under heavy load, and its requests/s."""
    with sl.serve("ram") as server:
        job = fio(nbd_options(server), iodepth=8, rate_iops=BUSY_IOPS, runtime=BUSY_S, time_based=1)
    assert server.emulation is not None
    return server.emulation.stalls["longest_ns"] / 1e6, job["read"]["iops"]


def measure_untimed_ratio(depth: int) -> float:
    """Return requests/s of a server that replies immediately, relative to `nbdkit memory`."""
    with tempfile.TemporaryDirectory() as directory:
        socket = f"{directory}/nbdkit"
        nbdkit = subprocess.Popen(["nbdkit", "-f", "-U", socket, "memory", "3G"])
        while not Path(socket).exists():
            time.sleep(0.01)
        try:
            nbdkit_job = fio(
                {"ioengine": "nbd", "uri": f"nbd+unix:///?socket={socket}"},
                iodepth=depth,
                runtime=5,
                time_based=1,
            )
        finally:
            nbdkit.terminate()
            nbdkit.wait()
    with sl.serve("mems-g2", untimed=True) as server:
        sledlab_job = fio(nbd_options(server), iodepth=depth, runtime=5, time_based=1)
    ratio: float = sledlab_job["read"]["iops"] / nbdkit_job["read"]["iops"]
    return ratio


def main() -> None:
    """Measure, print and write the results."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    rows: list[dict[str, Any]] = []
    raw_results: dict[str, Any] = {"load before": os.getloadavg()}

    def measure_runs(name: str, measure: Callable[[], Any]) -> list[Any]:
        raw_results[name] = [measure() for _ in range(runs)]
        return raw_results[name]

    def row(label: str, value: float, unit: str, target: str = "") -> None:
        rows.append({"what": label, "value": value, "unit": unit, "target": target})

    for name, (system, fio_options, targets) in TIMED_SYSTEMS.items():
        results = measure_runs(
            name, lambda system=system, fio_options=fio_options: measure_timing(system, fio_options)
        )
        for key, target in targets:
            value = statistics.median(each[key] for each in results)
            row(f"{name}: {NAMES[key]}", value, UNITS.get(key, "%"), target)
    with hogs():
        name = f"mems-g2 sptf, depth 1, {HOGS} hogs"
        results = measure_runs(name, lambda: measure_timing(SPTF, {"iodepth": 1}))
    row(f"{name}: {NAMES['2 %']}", statistics.median(each["2 %"] for each in results), "%", "93")
    for depth in (1, 32):
        results = measure_runs(f"untimed, depth {depth}", lambda depth=depth: measure_untimed_ratio(depth))
        row(f"untimed, depth {depth}: times nbdkit memory", statistics.median(results), "", "1.3")
    row("connected for a minute without a request: processor time", idle_s(), "s", "0.1")
    gap_ms, iops = longest_gap_ms()
    row(f"ram for {BUSY_S} s at {iops:,.0f} requests/s: longest gap", gap_ms, "ms", "10")
    raw_results["load after"] = os.getloadavg()
    write_rows("emulation", rows)
    write_runs("emulation", raw_results)


if __name__ == "__main__":
    main()
