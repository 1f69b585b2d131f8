"""Result files of benchmarks in Python: rows, and the machine on which they were measured."""

import datetime
import json
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

from sledlab import _native

FOLDER = Path(__file__).parent
RUNS = FOLDER.parents[1] / "bench-out"
"""Folder of the raw results of single runs; git ignores it."""


def machine() -> str:
    """Return the processor and its number of cores, in the format of the Rust benchmarks."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return f"{next(models, platform.machine())}, {os.cpu_count()} logical cores"


def write_rows(name: str, rows: list[dict[str, Any]], **further_keys: Any) -> None:
    """Print rows of `what`, `value`, `unit`, optionally `target`, and write them to `NAME.json`.

    `further_keys` are keys of the file, such as the load average during the measurement.
    """
    print(machine(), *(f"{key}: {value}" for key, value in further_keys.items()), sep=", ")
    for row in rows:
        target = f"(target {row['target']})" if row.get("target") else ""
        print(f"{row['what']:<78} {row['value']:>9.2f} {row['unit']} {target}".rstrip())
    write(name, {"machine": machine(), **further_keys, "rows": rows})


def write(name: str, content: dict[str, Any]) -> None:
    """Write the results of a benchmark, and where they are from, to `NAME.json`."""
    (FOLDER / f"{name}.json").write_text(
        to_json({"machine": machine()} | content | origin()), encoding="utf-8"
    )


def origin() -> dict[str, str]:
    """Return the date, the commit and the build of the results."""
    command = ["git", "-C", str(FOLDER), "rev-parse", "--short=8", "HEAD"]
    commit = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    today = f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}"
    return {"date": today, "commit": commit, "profile": _native.BUILD_PROFILE}


def to_json(content: dict[str, Any]) -> str:
    """Return results as JSON with a line for each row, so that version control shows which rows changed."""
    lines = (f"  {json.dumps(key)}: {_value(value)}" for key, value in content.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _value(value: Any) -> str:
    if not (isinstance(value, list) and value and isinstance(value[0], dict)):
        return json.dumps(value)
    rows = ",\n".join(f"    {json.dumps(row)}" for row in value)
    return f"[\n{rows}\n  ]"


def write_runs(name: str, runs: dict[str, Any]) -> None:
    """Write the raw results of single runs to `bench-out/NAME.json`."""
    RUNS.mkdir(exist_ok=True)
    (RUNS / f"{name}.json").write_text(json.dumps(runs, indent=2) + "\n", encoding="utf-8")
