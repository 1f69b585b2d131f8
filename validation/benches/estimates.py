"""Estimates of the time of studies, compared with the time that each study took.

Each command runs twice: first with few requests where it has a limit, which generates and caches traces and
data, then for the measurement. The estimate is that on standard error, of all steps of a study together; the
time is that of the whole command, which writes no report. Prints a table with the load average before each
study, and writes ``estimates.json``.
"""

import os
import re
import subprocess
import sys
import time
from itertools import pairwise

from result_files import write

MEMS = ("--device", "mems-g2")
UNIFORM = ("--workload", "uniform")
SEEDS = ("--seed", "1..3")
GRID = ("--vary", "device.active_tips=640,1280,3200", "--vary", "device.spring_factor=0,0.4,0.75")
DEVICES = ("--device", "mems-g2,atlas-10k,ssd-tlc")
CLUSTER = ("--device", "mems-g3,hp-c2490a", "--node-count", "2,4,8,16,32")

STUDIES: dict[str, tuple[str, ...]] = {
    "schedulers over three loads": ("compare", *MEMS, *UNIFORM, "--limit", "900000", "--speedup", "1,2,4"),
    "two schedulers, ten seeds": (
        *("compare", *MEMS, *UNIFORM, "--limit", "3000000", "--scheduler", "fcfs,sptf"),
        *("--speedup", "1,1.5", "--seed", "1..10"),
    ),
    "grid of two settings": (
        *("compare", *MEMS, *UNIFORM, *GRID, "--limit", "600000", "--scheduler", "sptf", *SEEDS),
    ),
    "three devices": ("compare", *DEVICES, *UNIFORM, *SEEDS, "--limit", "3000000", "--speedup", "0.1,0.2,1"),
    "a recorded trace": ("compare", *MEMS, "--trace", "sample:kv-a", "--speedup", "1,2,4,8,16"),
    "power policies": ("power", *MEMS, *UNIFORM, *SEEDS, "--limit", "300000"),
    "power policies of a disk": ("power", "--device", "mobile-disk", *UNIFORM, "--limit", "1000000"),
    "hybrids": ("hybrid", *UNIFORM, "--limit", "60000", *SEEDS),
    "a fleet of 200 volumes": ("fleet", "cloud:volumes=200,hours=1", *DEVICES, "--placement", "one-each"),
    "a sort on clusters": ("smart", "--job", "sort,join,scan,q1", "--job-set", "scale_factor=0.2", *CLUSTER),
}
"""Command of each study."""

ESTIMATE = re.compile(
    r"^[\w ]+: ([\d,]+) runs, about ([\d.]+) (s|min|hours) on \d+ processors?$", re.MULTILINE
)
SECONDS = {"s": 1, "min": 60, "hours": 3600}


def run(command: tuple[str, ...]) -> tuple[str, float]:
    """Run a study; return what it prints on standard error, and its time in seconds."""
    start_s = time.monotonic()
    completed = subprocess.run(
        [sys.executable, "-m", "sledlab", *command],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    return completed.stderr, time.monotonic() - start_s


def measure(name: str, command: tuple[str, ...]) -> dict[str, str | int]:
    """Return the row of a study."""
    run(tuple("100" if before == "--limit" else word for before, word in pairwise(("", *command))))
    messages, measured_s = run(command)
    steps = ESTIMATE.findall(messages)
    if not steps:
        raise SystemExit(f"{name}: no estimate in {measured_s:.0f} s: {messages}")
    estimated_s = sum(float(number) * SECONDS[unit] for _, number, unit in steps)
    return {
        "study": name,
        "runs": sum(int(runs.replace(",", "")) for runs, _, _ in steps),
        "estimated (s)": round(estimated_s),
        "measured (s)": round(measured_s),
        "estimated / measured": f"{estimated_s / measured_s:.2f}",
    }


def main() -> None:
    """Measure all studies, or those named on the command line."""
    rows, loads = [], []
    for name in sys.argv[1:] or STUDIES:
        loads.append(round(os.getloadavg()[0], 1))
        rows.append(measure(name, STUDIES[name]))
        print(f"load {loads[-1]}", *rows[-1].values(), sep="  ", flush=True)
    if len(rows) == len(STUDIES):
        write("estimates", {"load_averages": loads, "rows": rows})


if __name__ == "__main__":
    main()
