"""Power failures of emulated devices: lost writes, which flushes must prevent.

Writes ``benches/power.json``. Measures `FAILURES` failures over NBD on all kinds of systems, comparing all
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
    printed = subprocess.run([*command, str(failures)], check=True, stdout=subprocess.PIPE, text=True).stdout
    shown: dict[str, dict[str, float]] = json.loads(printed)
    return shown


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

    def row(what: str, value: float, unit: str = "", target: str = "") -> None:
        rows.append({"what": what, "value": value, "unit": unit, "target": target})

    shown = fail_over_nbd(int(sys.argv[1]) if len(sys.argv) > 1 else FAILURES)
    row("power failures over the wire", sum(each["failures"] for each in shown.values()), "", "2000")
    row("blocks read back and compared with the model", sum(each["blocks"] for each in shown.values()))
    for group, name in NAMES.items():
        each = shown[group]
        row(f"{name}: systems", each["systems"])
        row(f"{name}: failures", each["failures"])
        row(f"{name}: with requests in flight", each["struck"])
        row(f"{name}: that left something older than was written", each["restored"])
        row(f"{name}: that lost something acknowledged", each["lost"], "", "0" if group == "durable" else "")
    least = shown["never_flushed"]["least_lost_share"] * 100
    row(f"{NAMES['never_flushed']}: fewest of a system that lost something", least, "%", "20")
    for journal, synchronous, target in PRAGMAS:
        found = commits.fail(journal, synchronous, DATABASES)
        name = f"SQLite on ext4, {journal}, synchronous={synchronous}"
        row(f"{name}: power failures", len(found))
        row(
            f"{name}: that lost an acknowledged commit",
            sum(each.lost_commits > 0 for each in found),
            "",
            target,
        )
        row(f"{name}: commits lost", sum(each.lost_commits for each in found))
        row(f"{name}: databases gone or in disorder", sum(not each.sound for each in found))
    write_rows("power", rows)


if __name__ == "__main__":
    main()
