"""The command line: time to `--help`, memory of a long replay, schedulers in Python.

Adds its rows to ``results.json``, which the Rust benchmarks write first.
"""

import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RESULTS = Path(__file__).parent / "results.json"
EXAMPLES = Path(__file__).parents[2] / "examples"
REQUESTS = 100_000_000
BLOCKS = ("--set", "workload.blocks=1")
SLEDLAB = [sys.executable, "-m", "sledlab"]


def help_s() -> float:
    """Return the median wall-clock time of `sledlab --help`, in seconds."""

    def measure_once() -> float:
        start_s = time.perf_counter()
        subprocess.run([*SLEDLAB, "--help"], check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - start_s

    return statistics.median(measure_once() for _ in range(7))


def replay_mb_and_rate() -> tuple[float, float]:
    """Return the peak memory in MB of a replay of `REQUESTS` generated requests, and million requests/s."""
    limit_options = ["--limit", str(REQUESTS), "--json"]
    command = [*SLEDLAB, "simulate", "--device", "mems-g2", "--workload", "uniform", *BLOCKS, *limit_options]
    completed = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    # The largest of all children so far: `--help`, which ran before, needs less. Linux reports KiB.
    peak_kib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return peak_kib * 1024 / 1e6, REQUESTS / json.loads(completed.stdout)["wall_s"] / 1e6


def scheduler_rate(name: str) -> float:
    """Return million requests/s of a replay in which about six requests wait, under a scheduler."""
    workload_options = [
        "--workload",
        "uniform",
        *BLOCKS,
        "--set",
        "workload.mean_interarrival_ms=0.6",
        "--limit",
        "200000",
    ]
    command = [*SLEDLAB, "simulate", "--device", "mems-g2", *workload_options, "--scheduler", name, "--json"]

    def measure_once() -> float:
        completed = subprocess.run(command, check=True, stdout=subprocess.PIPE, cwd=EXAMPLES)
        return 0.2 / json.loads(completed.stdout)["wall_s"]

    return statistics.median(measure_once() for _ in range(5))


def comparison_s() -> float:
    """Return the time of a comparison of all schedulers at 8 loads, up to twice the best maximum rate."""
    workload_options = [
        "--workload",
        "uniform",
        *BLOCKS,
        "--limit",
        "100000",
        "--speedup",
        "0.6,1,1.3,1.6,2,2.6,3.9,5.2",
    ]
    with tempfile.TemporaryDirectory() as out:
        command = [
            *SLEDLAB,
            "compare",
            "--device",
            "mems-g2",
            *workload_options,
            "--parallel",
            "2",
            "--out",
            out,
        ]
        start_s = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - start_s


def grid_s() -> float:
    """Return the time of a study of a caching disk: 5 sizes, 7 segment sizes, a million requests each."""
    workload_options = [
        "--workload",
        "cello",
        "--set",
        "workload.requests=1000000",
        "--set",
        "workload.rate_per_s=25.2",
    ]
    grid_options = ["--mems-mb", "64,128,256,512,3072", "--segment-kb", "4..256", "--price-ratio", "none"]
    with tempfile.TemporaryDirectory() as out:
        other_options = ["--configuration", "mcd-all", "--parallel", "2", "--out", out]
        command = [*SLEDLAB, "hybrid", *workload_options, *grid_options, *other_options]
        start_s = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - start_s


def main() -> None:
    """Measure, print, and add the rows to the results."""
    help_time_s = help_s()
    peak_mb, rate = replay_mb_and_rate()
    rust_rate, python_rate = scheduler_rate("sstf"), scheduler_rate("sstf:Sstf")
    replay_name = "100 million generated requests"
    comparison_name = "race of all schedulers, 8 loads of 100,000 requests, 2 cores"
    grid_name = "caching disk, 5 sizes in 7 segments, a million requests each, 2 cores"
    rows = [
        {"what": "sledlab --help", "value": help_time_s, "unit": "s", "target": "0.3"},
        {"what": f"{replay_name}, peak memory", "value": peak_mb, "unit": "MB", "target": "150"},
        {"what": replay_name, "value": rate, "unit": "million requests/s", "target": ""},
        {"what": comparison_name, "value": comparison_s(), "unit": "s", "target": "180"},
        {"what": grid_name, "value": grid_s(), "unit": "s", "target": "120"},
        {"what": "SSTF written in Rust", "value": rust_rate, "unit": "million requests/s", "target": ""},
        {"what": "SSTF written in Python", "value": python_rate, "unit": "million requests/s", "target": ""},
        {"what": "SSTF, Rust over Python", "value": rust_rate / python_rate, "unit": "times", "target": ""},
    ]
    for row in rows:
        target = f"(target {row['target']})" if row["target"] else ""
        print(f"{row['what']:<44} {row['value']:>12.2f} {row['unit']} {target}")
    results = json.loads(RESULTS.read_text())
    names = {row["what"] for row in rows}
    results["rows"] = [row for row in results["rows"] if row["what"] not in names] + rows
    RESULTS.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
