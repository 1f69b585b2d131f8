"""What a fleet of 1,000 generated volumes costs: two workers against one, memory of workers, time a request.

    python benches/fleet.py                      # up to 10^6 requests
    python benches/fleet.py --requests 1e8       # up to 10^8: an hour on a machine that does nothing else

Each fleet runs in a process of its own. Writes ``benches/fleet.json`` and, of several sizes,
``docs/images/fleet-cost.png``.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Any

from sledlab.show import plots

RESULTS = Path(__file__).parent / "fleet.json"
FIGURE = Path(__file__).parents[1] / "docs" / "images" / "fleet-cost.png"

DEVICE = "mems-g2"
SMALLEST = 10**6

FEW = 10
"""Requests of a volume where little but the volume itself costs anything."""

WORKERS = 1000
ENORMOUS = 10**10

RUN = """
import json, resource, sys, time
import sledlab as sl
from sledlab.show.progress import quietly
place, device, jobs, out = sys.argv[1:]
begun = time.perf_counter()
with quietly():
    found = sl.fleet(place, [device], jobs=int(jobs), out=out)
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


def ran(volumes: int, requests: int, jobs: int) -> dict[str, Any]:
    """A fleet, alone in a process: seconds, memory, and a hash of its tables."""
    place = f"cloud:volumes={volumes},requests={requests},footprint_gb=0.2"
    with tempfile.TemporaryDirectory() as directory:
        command = [sys.executable, "-c", RUN, place, DEVICE, str(jobs), f"{directory}/fleet"]
        told = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
        tables = sorted(Path(directory, "fleet").glob("*.csv"))
        digest = sha256(b"".join(each.read_bytes() for each in tables)).hexdigest()
    return {**json.loads(told), "sha256": digest}


def drawn(costs: dict[int, tuple[float, float]], volumes: int) -> None:
    """The processor time of a request against the size of the fleet."""
    names = ("all", "without what a volume costs by itself")
    lines = zip(*costs.values(), strict=True)
    with plots.style():
        figure, axes = plots.single(2.6)
        for name, colour, values in zip(names, (plots.SKY, plots.BLUE), lines, strict=True):
            axes.plot(list(costs), values, marker="o", color=colour, label=name)
        axes.set_xscale("log")
        axes.legend(frameon=False)
        most = max(value for both in costs.values() for value in both)
        plots.scale(axes, 1.1 * most, "µs a request", f"requests of {volumes:,} volumes")
        figure.savefig(FIGURE, dpi=150)


def rows_of(
    volumes: int, alone_s: float, one: dict[int, dict[str, Any]], two: dict[str, Any]
) -> tuple[list[dict[str, Any]], dict[int, tuple[float, float]]]:
    """What is told, and what a request costs with and without what its volume does."""
    costs = {
        size: (1e6 * each["cpu_s"] / size, 1e6 * (each["cpu_s"] - alone_s) / size)
        for size, each in one.items()
    }
    largest = max(one)
    what = f"{volumes:,} volumes, {largest:.0e} requests"
    rows: list[tuple[str, float, str]] = [
        (f"{what}: two workers against one", one[largest]["wall_s"] / two["wall_s"], "x"),
        (f"{what}: memory of a worker of two", two["memory_mb"][1], "MB"),
        (f"{what}: memory of the process that leads them", two["memory_mb"][0], "MB"),
        ("a volume by itself", 1e3 * alone_s / volumes, "ms"),
    ]
    for size, (whole, rest) in costs.items():
        rows += [(f"{size:.0e} requests", whole, "us a request")]
        rows += [(f"{size:.0e} requests, without volumes by themselves", rest, "us a request")]
    enormous_s = costs[largest][0] / 1e6 * ENORMOUS / WORKERS
    rows += [(f"{ENORMOUS:.0e} requests on {WORKERS:,} workers at the cost of the largest", enormous_s, "s")]
    return [{"what": what, "value": value, "unit": unit} for what, value, unit in rows], costs


def main() -> None:
    """Measures, prints, and writes the results."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--requests", type=float, default=SMALLEST, help="of the largest fleet")
    parser.add_argument("--volumes", type=int, default=1000)
    said = parser.parse_args()
    sizes = [SMALLEST]
    while sizes[-1] * 10 <= said.requests:
        sizes.append(sizes[-1] * 10)
    alone = ran(said.volumes, FEW * said.volumes, 1)
    one = {size: ran(said.volumes, size, 1) for size in sizes}
    two = ran(said.volumes, sizes[-1], 2)
    if two["sha256"] != one[sizes[-1]]["sha256"]:
        sys.exit("one worker and two give different tables")
    rows, costs = rows_of(said.volumes, alone["cpu_s"], one, two)
    for row in rows:
        print(f"{row['what']:<70} {row['value']:>9.2f} {row['unit']}")
    machine = f"{platform.machine()}, {os.cpu_count()} logical cores"
    RESULTS.write_text(json.dumps({"machine": machine, "rows": rows}, indent=2) + "\n")
    if len(costs) > 1:
        drawn(costs, said.volumes)


if __name__ == "__main__":
    main()
