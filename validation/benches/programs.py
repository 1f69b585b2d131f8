"""Programs that `applications.py` has `sledlab serve` run on file systems of emulated devices.

    python validation/benches/programs.py NAME RESULTS

appends a line of JSON to RESULTS: the figures that the program reports, in the device's time. NAME is
`pgbench-1` or `pgbench-4` (clients), `cp`, `sqlite-rollback` or `sqlite-wal`; `prepare` creates the database
that pgbench runs on.
"""

import json
import os
import random
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

SEED = 1
ROWS = 10
"""pgbench's scale: 100,000 accounts each, 15 MB."""

SECONDS = 3.0
"""Length of a run of pgbench, in the device's time."""

COMMITS = 50
"""Commits of SQLite, one insert each."""

FILES = 300
LARGE_FILES = 4
"""Number of 1 MB files in the copied tree, in addition to small files of 8 KB on average."""

SERVER = {
    "listen_addresses": "",
    "shared_buffers": "128MB",
    "autovacuum": "off",
    "checkpoint_timeout": "1d",
    "track_wal_io_timing": "on",
}
"""Settings of PostgreSQL: no checkpoint and no vacuum in a short run; the others are defaults."""


def scale() -> float:
    """Return the time scale of the device."""
    return float(os.environ["SLEDLAB_TIME_SCALE"])


def disk() -> Path:
    """Return the directory of the device's file system."""
    return Path(os.environ["SLEDLAB_DISK"])


def postgres(program: str, *arguments: str) -> str:
    """Run a program of PostgreSQL as the required user; return its output."""
    program_path = shutil.which(program) or next(
        str(path) for path in sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{program}"), reverse=True)
    )
    command = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", program_path, *arguments]
    completed = subprocess.run(command, cwd="/", check=False, capture_output=True, text=True)
    if completed.returncode:
        raise SystemExit(f"{program}: {completed.stderr}{completed.stdout}")
    return completed.stdout


@contextmanager
def running_postgres(stop: str) -> Iterator[str]:
    """Run a PostgreSQL server on the device; yield the directory of its socket."""
    with tempfile.TemporaryDirectory() as sockets:
        shutil.chown(sockets, "postgres")
        settings = {**SERVER, "unix_socket_directories": sockets}
        options = " ".join(f"-c {name}='{value}'" for name, value in settings.items())
        data = str(disk() / "pg")
        log = f"{sockets}/log"
        postgres("pg_ctl", "-D", data, "-w", "-t", "600", "-l", log, "-o", options, "start")
        try:
            yield sockets
        finally:
            postgres("pg_ctl", "-D", data, "-w", "-t", "600", "-m", stop, "stop")


def prepare() -> dict[str, Any]:
    """Create the database that pgbench uses."""
    (disk() / "pg").mkdir()
    shutil.chown(disk() / "pg", "postgres")
    postgres("initdb", "-D", str(disk() / "pg"), "--no-sync")
    with running_postgres("fast") as sockets:
        postgres("createdb", "-h", sockets, "bench")
        postgres("pgbench", "-h", sockets, "-i", "-q", "-s", str(ROWS), "bench")
    os.sync()
    return {}


def pgbench(clients: int) -> dict[str, Any]:
    """Measure TPC-B-like transactions, each with a commit that waits for the write-ahead log."""
    options = ["-n", "-M", "prepared", "-c", str(clients), "-j", str(clients), f"--random-seed={SEED}"]
    # A checkpoint would write blocks that no client waits for: after an immediate stop, the log has them.
    with running_postgres("immediate") as sockets:
        duration_s = str(round(SECONDS * scale()))
        output = postgres("pgbench", "-h", sockets, *options, "-T", duration_s, "bench")
        sql = "select wal_sync, wal_sync_time from pg_stat_wal"
        syncs, sync_ms = postgres("psql", "-h", sockets, "-At", "-c", sql, "bench").strip().split("|")
    tps = float(re.search(r"tps = ([\d.]+)", output)[1])  # type: ignore[index]
    latency_ms = float(re.search(r"latency average = ([\d.]+)", output)[1])  # type: ignore[index]
    return {
        "rate": tps * scale(),
        "latency_ms": latency_ms / scale(),
        "flush_ms": float(sync_ms) / float(syncs) / scale(),
    }


def copy() -> dict[str, Any]:
    """Copy a tree onto the device, and wait until all of it is durable."""
    rng = random.Random(SEED)
    with tempfile.TemporaryDirectory() as tree:
        for number in range(FILES + LARGE_FILES):
            size = 1 << 20 if number >= FILES else int(rng.expovariate(1 / 8192)) + 1
            folder = Path(tree, f"{number % 20:02}")
            folder.mkdir(exist_ok=True)
            (folder / f"{number}").write_bytes(rng.randbytes(size))
        start_s = time.monotonic()
        subprocess.run(["cp", "-r", tree, disk() / "tree"], check=True)
        copied_s = time.monotonic()
        subprocess.run(["sync", "--file-system", disk()], check=True)
        end_s = time.monotonic()
    return {"seconds": (end_s - start_s) / scale(), "sync_s": (end_s - copied_s) / scale()}


def inserts(journal: str) -> dict[str, Any]:
    """Measure inserts of 100 bytes, with one commit each, which waits until it is durable."""
    latencies_s = []
    with closing(sqlite3.connect(disk() / f"{journal}.db", isolation_level=None)) as database:
        database.execute(f"pragma journal_mode = {journal}").fetchone()
        database.execute("pragma synchronous = full")
        database.execute("create table kept (id integer primary key, what text)")
        for number in range(COMMITS):
            start_s = time.monotonic()
            database.execute("insert into kept values (?, ?)", (number, "x" * 100))
            latencies_s.append((time.monotonic() - start_s) / scale())
    mean_s = statistics.fmean(latencies_s)
    return {"rate": 1 / mean_s, "latency_ms": mean_s * 1e3, "longest_ms": max(latencies_s) * 1e3}


PROGRAMS = {
    "prepare": prepare,
    "pgbench-1": lambda: pgbench(1),
    "pgbench-4": lambda: pgbench(4),
    "cp": copy,
    "sqlite-rollback": lambda: inserts("delete"),
    "sqlite-wal": lambda: inserts("wal"),
}


if __name__ == "__main__":
    NAME, RESULTS = sys.argv[1:]
    with Path(RESULTS).open("a", encoding="utf-8") as RESULT:
        RESULT.write(json.dumps(PROGRAMS[NAME]()) + "\n")
