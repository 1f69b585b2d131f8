"""A recorded database on a MEMS sled: FCFS against SPTF, as recorded and faster.

Run it with `make demo`, or `python examples/demo.py DIRECTORY` where sledlab is installed.
"""

import os
import sys
from pathlib import Path

import sledlab as sl
from rich.console import Console
from rich.progress import track
from rich.table import Table
from sledlab import comparison, plots, report, wording

TRACE = Path(os.path.relpath(__file__)).parent.parent / "sample" / "traces" / "oltp-bank-a.csv.zst"
SPEEDUPS = (1, 2, 3, 3.5, 4, 5, 6, 8)
SCHEDULERS = ("fcfs", "sptf")


def main(directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    trace = sl.read_trace(TRACE)
    plan = [(speedup, scheduler) for speedup in SPEEDUPS for scheduler in SCHEDULERS]
    runs = [
        sl.simulate(trace, "mems-g2", scheduler=scheduler, speedup=speedup, requests=False)
        for speedup, scheduler in track(plan, "replaying", transient=True)
    ]
    show(runs)
    page = report.write_comparison(runs, directory / "report.html")
    picture = plots.comparison(runs, lambda run: run.response_time.mean, "mean response time (ms)")
    picture.savefig(directory / "response.png", dpi=160)
    one = runs[plan.index((3, "sptf"))].report(directory / "sptf-at-3-times.html")
    print(f"\nreport: {page}\none run in detail: {one}")


def show(runs: list[sl.Result]) -> None:
    table = Table(title=wording.title(runs[0]), title_justify="left")
    for name in comparison.HEAD:
        table.add_column(name, justify="left" if name == "scheduler" else "right")
    for row in comparison.rows(runs):
        table.add_row(*row, end_section=row[1].startswith("SPTF"))
    console = Console(width=None if sys.stdout.isatty() else 110, highlight=False)
    console.print(table)
    console.print("times in ms; queue: mean requests waiting; * the queue kept growing")
    console.print(f"\n{comparison.verdict(runs)}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo"))
