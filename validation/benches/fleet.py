"""The cost of a fleet of 1,000 volumes: two workers compared with one, memory of workers, time of a request.

    python validation/benches/fleet.py                      # 10^6 requests
    python validation/benches/fleet.py --requests 1e8       # 10^8: minutes on a machine without other load

Each fleet runs in a separate process. Writes ``fleet.json`` and, of several sizes,
``docs/images/fleet-cost.png``.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Any

from result_files import write_rows
from sledlab.show import plots

FIGURE = Path(__file__).parents[2] / "docs" / "images" / "fleet-cost.png"

DEVICE = "mems-g2"
SMALLEST = 10**6

HOURS = 24
"""A day: a sled can serve the busiest volume in it; on a slower device requests queue in memory."""

WORKERS = 1000
ENORMOUS = 10**10

RUN_CODE = """
import json, resource, sys, time
import sledlab as sl
from sledlab.show.progress import suppress_progress
place, device, jobs, out = sys.argv[1:]
begun = time.perf_counter()
with suppress_progress():
    found = sl.fleet(place, [device], parallel=int(jobs), out=out)
wall_s = time.perf_counter() - begun
used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(json.dumps({
    "wall_s": wall_s,
    "cpu_s": sum(each.ru_utime + each.ru_stime for each in used),
    "memory_mb": [each.ru_maxrss / 1024 for each in used],
    "requests": found.fleet(device).requests,
    "left": found.fleet(device).left,
}))
"""


def run_fleet(volumes: int, requests: int, jobs: int) -> dict[str, Any]:
    """Run a fleet in a separate process; return seconds, memory, and a hash of its tables."""
    volume_source = f"cloud:volumes={volumes},requests={requests},hours={HOURS},footprint_gb=0.2"
    with tempfile.TemporaryDirectory() as directory:
        command = [sys.executable, "-c", RUN_CODE, volume_source, DEVICE, str(jobs), f"{directory}/fleet"]
        output = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
        tables = sorted(Path(directory, "fleet").glob("*.csv"))
        digest = sha256(b"".join(each.read_bytes() for each in tables)).hexdigest()
    return {**json.loads(output), "sha256": digest}


def draw_costs(costs: dict[int, float]) -> None:
    """Draw the processor time of a request against the size of the fleet."""
    with plots.style():
        figure, axes = plots.single_plot(2.6)
        axes.plot(list(costs), list(costs.values()), marker="o", color=plots.BLUE)
        axes.set_xscale("log")
        plots.scale(axes, 1.3 * max(costs.values()), "µs a request", "requests of the fleet")
        figure.savefig(FIGURE, dpi=150)


def main() -> None:
    """Measure, print and write the results."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--requests", type=float, default=SMALLEST, help="of the largest fleet")
    parser.add_argument("--volumes", type=int, default=1000, help="of the largest fleet")
    arguments = parser.parse_args()
    volumes, largest = arguments.volumes, round(arguments.requests)
    requests_per_volume = largest // volumes
    # A study's own time to start, import and draw is subtracted: that of one volume of the same size.
    one_volume = run_fleet(1, requests_per_volume, 1)
    results_by_volumes = {
        size: run_fleet(size, size * requests_per_volume, 1)
        for size in (volumes // 100, volumes // 10, volumes)
        if size > 1
    }
    two_workers = run_fleet(volumes, largest, 2)
    if two_workers["sha256"] != results_by_volumes[volumes]["sha256"]:
        sys.exit("one worker and two give different tables")
    costs = {
        size * requests_per_volume: 1e6
        * (result["cpu_s"] - one_volume["cpu_s"])
        / ((size - 1) * requests_per_volume)
        for size, result in results_by_volumes.items()
    }
    description = f"{volumes:,} volumes, {largest:.0e} requests"
    enormous_s = costs[largest] / 1e6 * ENORMOUS / WORKERS
    rows = [
        (
            f"{description}: two workers against one",
            results_by_volumes[volumes]["wall_s"] / two_workers["wall_s"],
            "x",
        ),
        (f"{description}: memory of a worker", two_workers["memory_mb"][1], "MB"),
        (f"{description}: memory of the process that leads", two_workers["memory_mb"][0], "MB"),
        *(
            (f"{requests_per_volume:,} requests a volume, {size:.0e} in all", cost, "us a request")
            for size, cost in costs.items()
        ),
        (f"{ENORMOUS:.0e} requests on {WORKERS:,} workers at the last cost", enormous_s, "s"),
    ]
    write_rows("fleet", [{"what": name, "value": value, "unit": unit} for name, value, unit in rows])
    draw_costs(costs)


if __name__ == "__main__":
    main()
