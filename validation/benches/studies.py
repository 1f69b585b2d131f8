"""Times of studies of smart storage with cached records.

Each command runs twice: first to generate and cache data and records, then for the measurement. Writes
``studies.json``.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from result_files import write_rows

EXPERIMENTS = Path(__file__).parents[2] / "papers" / "experiments"

LARGE = ("--job-set", "scale_factor=1")
SIZE = ("size", "--until", "network", "--node-count", "4..1024", "--device", "mems-g3,hp-c2490a", *LARGE)
QUERIES = ("--query", "tpch", "--node-count", "4,8,16,32,64", "--device", "mems-g2", *LARGE)
PAPER = tuple((str(EXPERIMENTS / f"chiu2004-figure-{number}.toml"),) for number in (4, 5, 7, 9, 11))

STUDIES = {
    "size of a sort, scale factor 1, 4 to 1,024 nodes, two devices": ((*SIZE, "--job", "sort"),),
    "size of a join, scale factor 1, 4 to 1,024 nodes, two devices": ((*SIZE, "--job", "join"),),
    "all queries of TPC-H, scale factor 1, 4 to 64 nodes": (QUERIES,),
    "the five experiments of Chiu 2004": PAPER,
}
"""Options of `sledlab smart` for each command of a study."""


def run(options: tuple[str, ...]) -> None:
    """Run a study with output to a temporary directory."""
    with tempfile.TemporaryDirectory() as directory:
        command = [sys.executable, "-m", "sledlab", "smart", *options, "--out", f"{directory}/study"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def seconds(commands: tuple[tuple[str, ...], ...]) -> float:
    """Return the time of studies with cached data and records, in seconds."""
    for options in commands:
        run(options)
    start_s = time.perf_counter()
    for options in commands:
        run(options)
    return time.perf_counter() - start_s


def main() -> None:
    """Measure, print and write the results."""
    rows = []
    for label, commands in STUDIES.items():
        study_s = seconds(commands)
        rows.append({"what": label, "value": study_s, "unit": "s"})
    write_rows("studies", rows)


if __name__ == "__main__":
    main()
