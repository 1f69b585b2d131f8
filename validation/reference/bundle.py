"""Copy a small part of the reference data into validation/reference: `python -m validation.reference.bundle`.

Only runs of the reference simulator on generated requests are copied: the requests, their response times, and
the device parameters that differ from the preset. Third-party traces and parameter files are never copied.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import reference
from ..sections import disk_open
from . import BUNDLED, REFERENCE, Collection, RecordedRun

RUNS = (
    "mech_G1_f0_r8_light",
    "mech_G2_f1_r8_light",
    "mech_G3_nospring_r8_light",
    "base_G2_f0_rw8_mod",
    "base_G3_f0_mixed",
    "sched_G1_SPTF_OPT",
    "sched_G2_ASPTF_OPT",
    "sched_G2_CYCLE_LBN",
    "sched_G2_ELEVATOR_LBN",
    "sched_G2_FCFS",
    "sched_G2_SDF_EXACT",
    "sched_G2_SPTF_OPT",
    "sched_G2_SSTF_LBN",
    "sched_G3_SPTF_OPT",
    "sweep_G2_idlegap_inact5",
    "sweep_G3_idlegap_inact100",
)
"""Runs on sleds of three generations: motion, overheads, seven schedulers, idle timeouts."""

INDEX_COLUMNS = (
    "run",
    "device",
    "scheduler",
    "trace",
    "mean_response_ms",
    "total_energy_j",
    "uncharged_idle_energy_j",
)
COPIED_PARAMETERS = (
    "command_overhead_ms",
    "block_transfer_ms",
    "inactive_after_ms",
    "startup_ms",
    "spring_factor",
    "seek_function",
    "layout_policy",
    "active_mw",
)
"""Parameters that may differ from sledlab's profile, or that the comparison of energies needs."""

LOADS = ("light", "mixed")
ARRIVALS = ("index", "phase", "arrival_ms", "lbn", "blocks", "rw")
RESPONSES = ("fcfs", "clook_lbn", "sstf_lbn", "sptf_angle_fixed")
"""Schedulers under two loads of the three drives, if the reference has them: `light` has few."""

Rows = Iterable[Mapping[str, str]]


def write(target: Collection = BUNDLED) -> None:
    """Copy the reference runs into a folder, replacing previous ones."""
    for part in ("mems", "disks"):
        shutil.rmtree(target.root / part, ignore_errors=True)
    _write_sled_runs(target)
    for drive in disk_open.DRIVES:
        for load in LOADS:
            _write_open_run(f"{drive}.{load}", target)


def _write_sled_runs(target: Collection) -> None:
    runs = [reference.runs()[name] for name in RUNS]
    _save(target.mems / "index.csv", _csv(INDEX_COLUMNS, (run.row for run in runs)))
    for run in runs:
        _write_run(run, target)
        trace = reference.trace(run.row["trace"], target)
        _save(trace, gzip.decompress(run.trace.read_bytes()))


def _write_run(run: RecordedRun, target: Collection) -> None:
    copied_fields: dict[str, Any] = {
        "device_parameters": {key: run.parameters[key] for key in COPIED_PARAMETERS}
    }
    copied_fields["system"] = {"timeout_weight": run.record["system"].get("timeout_weight")}
    _save(target.mems / "runs" / f"{run.name}.json", (json.dumps(copied_fields, indent=1) + "\n").encode())
    responses_file = run.collection.mems / "runs" / f"{run.name}.csv.gz"
    _save(target.mems / "runs" / responses_file.name, _csv(("id", "response_ms"), _rows(responses_file)))


def _write_open_run(name: str, target: Collection) -> None:
    _save(
        target.open / f"{name}.trace.gz", gzip.decompress((REFERENCE.open / f"{name}.trace.gz").read_bytes())
    )
    rows = _rows(REFERENCE.open / f"{name}.csv.gz")
    responses = [f"{column}_response_us" for column in RESPONSES if f"{column}_response_us" in rows[0]]
    _save(target.open / f"{name}.csv.gz", _csv((*ARRIVALS, *responses), rows))


def _rows(file: Path) -> list[dict[str, str]]:
    with gzip.open(file, "rt", newline="") as lines:
        return list(csv.DictReader(lines))


def _csv(columns: Sequence[str], rows: Rows) -> bytes:
    buffer = io.StringIO()
    table = csv.DictWriter(buffer, columns, extrasaction="ignore", lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return buffer.getvalue().encode()


def _save(file: Path, content: bytes) -> None:
    """Write a file, compressed if its name ends in `.gz`; without time stamps, for reproducible bytes."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(gzip.compress(content, 9, mtime=0) if file.suffix == ".gz" else content)


def main() -> int:
    """Copy the reference runs; exit code 2 if the reference data is missing."""
    if not reference.is_present():
        print(f"cannot copy reference runs: {reference.MISSING_MESSAGE}", file=sys.stderr)
        return 2
    write()
    size_bytes = sum(file.stat().st_size for file in BUNDLED.root.rglob("*") if file.is_file())
    drive_count = len(disk_open.DRIVES)
    print(f"{BUNDLED.root.name}: {len(RUNS)} runs on sleds, {drive_count} drives, {size_bytes / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
