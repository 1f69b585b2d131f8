"""PostgreSQL, cp and SQLite on a sled, a disk and memory: `sledlab serve --device`, once for each program.

Runs `programs.py` on an ext4 file system of each device; writes ``applications.json``, and
the results of every run to ``bench-out/applications.json``. About ten minutes, as root, on a machine
without other load. Needs nbdfuse, postgresql and e2fsprogs.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import polars as pl
from result_files import machine, write, write_runs
from sledlab.show.wording import figure

SLED, DISK, MEMORY = "mems-g2", "atlas-10k", "ram"

WRITE_THROUGH = ("buffers_writes = true", "buffers_writes = false")
"""A changed setting of the disk: writes are durable when they are complete, as a database requires."""

SCALE = 10
"""Time scale: devices run this many times slower, so delays of this machine weigh a tenth."""

REPEATED_PROGRAMS = ("pgbench-4", "sqlite-wal")
"""Programs that run twice on the first device, to show the spread of measurements."""

PRESETS = Path(__file__).parents[2] / "presets" / "devices"

PROGRAM = Path(__file__).with_name("programs.py")
SERVE = [sys.executable, "-m", "sledlab", "serve"]

TITLES = {
    "pgbench-1": "PostgreSQL, 1 client",
    "pgbench-4": "PostgreSQL, 4 clients",
    "cp": "cp of a tree, and sync",
    "sqlite-rollback": "SQLite, rollback journal",
    "sqlite-wal": "SQLite, write-ahead log",
}

FIGURES = {
    "rate": ("commits", "1/s"),
    "latency_ms": ("a commit", "ms"),
    "flush_ms": ("write-ahead log until it is durable", "ms"),
    "longest_ms": ("the longest commit", "ms"),
    "seconds": ("all", "s"),
    "sync_s": ("of that, sync", "s"),
}
"""Figures that programs report, in the device's time."""

DEVICE_FIGURES = {
    "requests": ("requests of the device", ""),
    "response_ms": ("mean response of the device", "ms"),
    "busy": ("device busy", "%"),
    "energy_j": ("energy of the device", "J"),
    "true": ("replies within 2 % of their time", "%"),
}
"""Figures that sledlab reports of the devices."""


HIGH_PRIORITY = ("nice", "-n", "-20")
"""Prefix of commands that gives programs the highest priority below real-time."""


def devices(directory: Path) -> list[str]:
    """Return the values of `--device`: the sled, a file of the changed disk, and memory."""
    disk = directory / f"{DISK}-write-through.toml"
    preset_text = (PRESETS / f"{DISK}.toml").read_text(encoding="utf-8")
    assert WRITE_THROUGH[0] in preset_text
    disk.write_text(preset_text.replace(*WRITE_THROUGH), encoding="utf-8")
    return [SLED, str(disk), MEMORY]


def serve(*options: str, attach: str, program: str, results: str) -> None:
    """Run a program on emulated devices, one after the other."""
    command = [
        *HIGH_PRIORITY,
        *SERVE,
        *options,
        "--attach",
        f"ext4:{attach}",
        "--",
        sys.executable,
        str(PROGRAM),
        program,
        results,
    ]
    completed = subprocess.run(command, check=False, capture_output=True, text=True)
    if completed.returncode:
        raise SystemExit(f"{' '.join(command)}\n{completed.stdout}{completed.stderr}")


def measure_program(
    program: str, device_values: list[str], image: Path, directory: Path
) -> dict[str, dict[str, Any]]:
    """Return the figures of a program and of sledlab, by device."""
    mount, out = directory / "disk", directory / "out"
    with tempfile.NamedTemporaryFile(dir=directory) as results:
        device_options = ("--device", ",".join(device_values), "--data", str(image), "--scratch")
        emulation_options = ("--time-scale", str(SCALE), "--out", str(out), "--replace")
        serve(*device_options, *emulation_options, attach=str(mount), program=program, results=results.name)
        program_figures = [
            json.loads(line) for line in Path(results.name).read_text(encoding="utf-8").splitlines()
        ]
    stems = [Path(name).stem for name in device_values]
    return {
        name: {**each, **read_device_figures(out / name)}
        for name, each in zip(stems, program_figures, strict=True)
    }


def read_device_figures(run_directory: Path) -> dict[str, Any]:
    """Return the figures of a device from the results of a run."""
    summary = json.loads((run_directory / "summary.json").read_text(encoding="utf-8"))
    emulation = json.loads((run_directory / "emulation.json").read_text(encoding="utf-8"))
    assert emulation["closed_loop"]["different"] == 0, run_directory
    requests = pl.read_parquet(run_directory / "requests.parquet")
    return {
        "requests": requests.height,
        "flushes": emulation["server"]["counts"]["flushes"],
        "response_ms": requests["response_ns"].mean() / 1e6,  # type: ignore[operator]
        "busy": summary["utilization"] * 100,
        "energy_j": summary["energy_j"]["total"],
        "true": emulation["within"]["2 %"] * 100,
        "kept_time": emulation["kept_time"],
        "chief_cause": emulation["chief_cause"],
        "host": emulation["server"]["host"],
    }


def program_rows(title: str, figures_by_device: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the table rows of a program."""
    figures = {**FIGURES, **DEVICE_FIGURES}
    first_figures = next(iter(figures_by_device.values()))
    return [
        {
            "what": f"{title}: {label}",
            "unit": unit,
            "values": [each[key] for each in figures_by_device.values()],
        }
        for key, (label, unit) in figures.items()
        if key in first_figures
    ]


def main() -> None:
    """Measure, print and write the results."""
    if os.geteuid() != 0:
        raise SystemExit("a file system needs root")
    rows: list[dict[str, Any]] = []
    raw_results: dict[str, Any] = {"load before": os.getloadavg()}
    with tempfile.TemporaryDirectory() as parent:
        directory = Path(parent)
        # PostgreSQL runs as a user of its own, who must be able to enter the directory.
        directory.chmod(0o755)
        image, mount = directory / "prepared.img", directory / "disk"
        mount.mkdir()
        device_values = devices(directory)
        prepare_options = ("--device", SLED, "--data", str(image), "--untimed")
        serve(*prepare_options, attach=str(mount), program="prepare", results=os.devnull)
        for program, title in TITLES.items():
            print(f"{title} ...", flush=True)
            raw_results[program] = measure_program(program, device_values, image, directory)
            rows += program_rows(title, raw_results[program])
            if program in REPEATED_PROGRAMS:
                second_figures = measure_program(program, [SLED], image, directory)[SLED]
                raw_results[f"{program} again"] = second_figures
                difference_percent = (
                    abs(second_figures["rate"] / raw_results[program][SLED]["rate"] - 1) * 100
                )
                rows.append(
                    {
                        "what": f"{title}: a second reading is off by",
                        "unit": "%",
                        "values": [difference_percent, None, None],
                    }
                )
    raw_results["load after"] = os.getloadavg()
    for row in rows:
        value_texts = "".join(f"{'' if value is None else figure(value):>12}" for value in row["values"])
        print(f"{row['what']:<70}{value_texts} {row['unit']}")
    write("applications", {"machine": machine(), "columns": list(raw_results["cp"]), "rows": rows})
    write_runs("applications", raw_results)


if __name__ == "__main__":
    main()
