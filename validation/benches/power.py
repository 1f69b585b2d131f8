"""Power failures of emulated devices: lost writes, which flushes must prevent.

Writes ``power.json``. Measures `FAILURES` failures over NBD on all kinds of systems, comparing all
blocks with the model after each (the example `power` of the crate sledlab-emulation), and a SQLite database
on ext4. With a number as argument, that many failures over NBD. Needs nbdfuse, and root.
"""

import json
import subprocess
import sys
from typing import Any

import commits
from result_files import write_rows

FAILURES = 2000
DATABASES = 10
"""Failures of a database, for each setting."""


def fail_over_nbd(failures: int) -> dict[str, dict[str, float]]:
    """Return the results of the example, which fails if a block differs from the model."""
    # Not `--release`: with all assertions on; speed does not matter here.
    command = ["cargo", "run", "--quiet", "-p", "sledlab-emulation", "--example", "power", "--"]
    output = subprocess.run([*command, str(failures)], check=True, stdout=subprocess.PIPE, text=True).stdout
    results_by_group: dict[str, dict[str, float]] = json.loads(output)
    return results_by_group


NAMES = {
    "durable": "without a volatile cache",
    "volatile": "behind a volatile cache, with flushes",
    "never_flushed": "behind a volatile cache, without flushes",
}


PRAGMAS = (("WAL", "FULL", "0"), ("DELETE", "EXTRA", "0"), ("DELETE", "FULL", ""), ("WAL", "OFF", "1"))
"""Journals of SQLite, their flush setting, and the failures that may (or must) lose a commit."""


def main() -> None:
    """Measure, print and write the results."""
    rows: list[dict[str, Any]] = []

    def row(label: str, value: float, unit: str = "", target: str = "") -> None:
        rows.append({"what": label, "value": value, "unit": unit, "target": target})

    results_by_group = fail_over_nbd(int(sys.argv[1]) if len(sys.argv) > 1 else FAILURES)
    row(
        "power failures over the wire",
        sum(results["failures"] for results in results_by_group.values()),
        "",
        "2000",
    )
    row(
        "blocks read back and compared with the model",
        sum(results["blocks"] for results in results_by_group.values()),
    )
    for group, name in NAMES.items():
        results = results_by_group[group]
        row(f"{name}: systems", results["systems"])
        row(f"{name}: failures", results["failures"])
        row(f"{name}: with requests in flight", results["struck"])
        row(f"{name}: that left something older than was written", results["restored"])
        row(
            f"{name}: that lost something acknowledged",
            results["lost"],
            "",
            "0" if group == "durable" else "",
        )
    least_lost_percent = results_by_group["never_flushed"]["least_lost_share"] * 100
    row(f"{NAMES['never_flushed']}: fewest of a system that lost something", least_lost_percent, "%", "20")
    for journal, synchronous, target in PRAGMAS:
        states = commits.fail(journal, synchronous, DATABASES)
        name = f"SQLite on ext4, {journal}, synchronous={synchronous}"
        row(f"{name}: power failures", len(states))
        row(
            f"{name}: that lost an acknowledged commit",
            sum(results.lost_commits > 0 for results in states),
            "",
            target,
        )
        row(f"{name}: commits lost", sum(results.lost_commits for results in states))
        row(f"{name}: databases gone or in disorder", sum(not results.is_sound for results in states))
    write_rows("power", rows)


if __name__ == "__main__":
    main()
