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

RESULTS = Path(__file__).parent / "fleet.json"
FIGURE = Path(__file__).parents[1] / "docs" / "images" / "fleet-cost.png"

DEVICE = "mems-g2"
SMALLEST = 10**6

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


def drawn(costs: dict[int, float]) -> None:
    """The processor time of a request against the size of the fleet."""
    from sledlab.show import plots

    with plots.style():
        figure, axes = plots.single(2.6)
        axes.plot(list(costs), list(costs.values()), marker="o", color=plots.BLUE)
        axes.set_xscale("log")
        plots.scale(axes, 1.3 * max(costs.values()), "µs a request", "requests of the fleet")
        figure.savefig(FIGURE, dpi=150)


def main() -> None:
    """Measures, prints, and writes the results."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--requests", type=float, default=SMALLEST, help="of the largest fleet")
    parser.add_argument("--volumes", type=int, default=1000)
    said = parser.parse_args()
    sizes = [SMALLEST]
    while sizes[-1] * 10 <= said.requests:
        sizes.append(sizes[-1] * 10)
    one = {size: ran(said.volumes, size, 1) for size in sizes}
    costs = {size: 1e6 * each["cpu_s"] / each["requests"] for size, each in one.items()}
    largest = sizes[-1]
    two = ran(said.volumes, largest, 2)
    if two["sha256"] != one[largest]["sha256"]:
        sys.exit("one worker and two give different tables")
    what = f"{said.volumes:,} volumes, {largest:.0e} requests"
    rows = [
        {
            "what": f"{what}: two workers against one",
            "value": one[largest]["wall_s"] / two["wall_s"],
            "unit": "x",
        },
        {"what": f"{what}: memory of a worker of two", "value": two["memory_mb"][1], "unit": "MB"},
        {
            "what": f"{what}: memory of the process that leads them",
            "value": two["memory_mb"][0],
            "unit": "MB",
        },
        *(
            {"what": f"{size:.0e} requests", "value": cost, "unit": "us a request"}
            for size, cost in costs.items()
        ),
        {
            "what": "1e+10 requests on 1,000 workers, at the cost of the largest fleet",
            "value": costs[largest] * 1e10 / 1e6 / 1000,
            "unit": "s",
        },
    ]
    for row in rows:
        print(f"{row['what']:<70} {row['value']:>9.2f} {row['unit']}")
    machine = f"{platform.machine()}, {os.cpu_count()} logical cores"
    RESULTS.write_text(json.dumps({"machine": machine, "rows": rows}, indent=2) + "\n")
    if len(costs) > 1:
        drawn(costs)


if __name__ == "__main__":
    main()
