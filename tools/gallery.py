"""Write a contact sheet of the figures of every study: `make gallery`, or `python -m tools.gallery [DIR]`.

It runs each study with few requests, and collects the figures of the reports in `gallery/index.html`.
"""

from __future__ import annotations

import html
import re
import subprocess
import sys
from pathlib import Path

from sledlab.show.document import report_style

SMALL = ("--workload", "uniform", "--limit", "400", "--warmup", "0", "--seed", "7")
HYBRID = ("--mems-mb", "64,128", "--segment-kb", "8,16", "--at-mb", "64", "--at-segment-kb", "8")
SWEEP = ("--scheduler", "fcfs,sptf", "--speedup", "1,2", "--vary", "device.active_tips=640,1280")
POWER = ("--power", "never,fixed", "--timeout", "1,40", "--startup", "0.5,1", "--load", "1,2")
SORT = ("--job", "sort", "--job-set", "scale_factor=0.01", "--device", "mems-g3,hp-c2490a")
GOAL = ("--device", "mems-g2,atlas-10k", "--goal", "p99=20ms")
SEEDS = ("--workload", "uniform", "--limit", "300", "--seed", "1..3")

STUDIES: dict[str, tuple[str, ...]] = {
    "run": ("simulate", "--device", "mems-g2", *SMALL),
    "schedulers": ("compare", "--device", "mems-g2", *SMALL, "--speedup", "1,2,4"),
    "seeds": ("compare", "--device", "mems-g2", *SEEDS),
    "sweep": ("compare", "--device", "mems-g2", *SMALL, *SWEEP),
    "devices": ("compare", "--device", "mems-g2,atlas-10k,ssd-tlc", *SMALL, "--speedup", "0.1,1"),
    "power": ("power", "--device", "mems-g2", *SMALL, *POWER),
    "hybrid": ("hybrid", *SMALL, *HYBRID),
    "tune": ("hybrid", "tune", *SMALL, "--budget", "128"),
    "fleet": ("fleet", "cloud:volumes=6,hours=0.05", *GOAL),
    "smart": ("smart", *SORT, "--node-count", "2,4"),
    "size": ("smart", "size", *SORT, "--deadline", "10s"),
    "replay": ("smart", "replay", "sample:sort", "--device", "mems-g2"),
}
"""Commands that write a report, by the name of its directory."""

HEAD = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Gallery · sledlab</title>
<style>
{report_style()}
main {{ max-width: none; }}
section {{ display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 24rem), 1fr));
  gap: 1rem; }}
section figure {{ border: 1px solid var(--faint); padding: .5rem; min-width: 0; }}
code {{ color: var(--quiet); overflow-wrap: anywhere; }}
</style></head><body><main>
<h1>Figures of every study</h1>
"""


def figures(report: str) -> list[str]:
    """Return the figure elements of a static report.

    Examples:
        >>> figures("<p>a</p><figure><svg></svg></figure>")
        ['<figure><svg></svg></figure>']
    """
    return re.findall(r"<figure.*?</figure>", report, re.DOTALL)


def with_own_ids(figure: str, prefix: str) -> str:
    """Return a figure whose SVG ids begin with a prefix, so that figures of several pages share one page."""
    figure_text = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}\1"', figure)
    figure_text = re.sub(r'href="#([^"]+)"', rf'href="#{prefix}\1"', figure_text)
    return re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}\1)", figure_text)


def main() -> int:
    """Write the contact sheet and return the exit code."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "gallery")
    folder.mkdir(exist_ok=True)
    parts = [HEAD]
    for name, command in STUDIES.items():
        print(f"sledlab {' '.join(command)}")
        study_command = (sys.executable, "-m", "sledlab", *command, "--out", name, "--static", "--quiet")
        subprocess.run(study_command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        report = (folder / name / "report.html").read_text("utf-8")
        figure_texts = [with_own_ids(each, f"{name}-{i}-") for i, each in enumerate(figures(report))]
        parts.append(f"<h2>{name}</h2>\n<p><code>{html.escape('sledlab ' + ' '.join(command))}</code></p>\n")
        parts.append(f"<section>{''.join(figure_texts)}</section>\n")
    page_file = folder / "index.html"
    page_file.write_text("".join(parts) + "</main></body></html>\n", "utf-8")
    print(f"gallery: {page_file}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
