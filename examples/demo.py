"""Compare FCFS with SPTF on a recorded database and a MEMS sled, at recorded and higher speed.

Run it with `make demo`, or `python examples/demo.py DIRECTORY` if sledlab is installed.
"""

import os
import sys
from pathlib import Path

import sledlab as sl

TRACE = Path(os.path.relpath(__file__)).parent.parent / "sample" / "traces" / "oltp-bank-a.csv.zst"
SPEEDUPS = (1, 2, 3, 3.5, 4, 5, 6, 8)


def main(directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    study = sl.compare(TRACE, "mems-g2", scheduler=("fcfs", "sptf"), speedup=SPEEDUPS)
    print(study)
    page = study.report(directory / "report.html")
    study.plot("mean_ms").savefig(directory / "response.png", dpi=160)
    one = sl.simulate(TRACE, "mems-g2", scheduler="sptf", speedup=3, requests=False)
    detail = one.report(directory / "sptf-at-3-times.html")
    print(f"\nreport: {page}\none run in detail: {detail}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo"))
