"""A database on an emulated device whose power fails: which of the commits it was told of are still there.

A writer of its own process inserts one row a transaction, and prints its number when SQLite says that it is
committed. Then the power of the device fails; the file system is attached again, and the rows are counted.
Needs libnbd-bin (nbdfuse), e2fsprogs, and root.
"""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

import sledlab as sl

DEVICE = {
    "device": "ram",
    "cache": sl.cache("write-back", volatile=True, capacity_blocks=4096),
    "settings": {"device.capacity_mb": 64, "device.access_us": 100},
}
"""Memory behind a volatile cache: small, so that a file system is made quickly."""

WRITER = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute(f"PRAGMA journal_mode={sys.argv[2]}")
database.execute(f"PRAGMA synchronous={sys.argv[3]}")
database.execute("CREATE TABLE IF NOT EXISTS commits (number INTEGER PRIMARY KEY, filling BLOB)")
number = database.execute("SELECT coalesce(max(number), 0) FROM commits").fetchone()[0]
while True:
    number += 1
    database.execute("INSERT INTO commits VALUES (?, randomblob(300))", (number,))
    print(number, flush=True)
"""

COMMITS = 12
"""Commits that a writer has been told of when the power fails, or a few more."""


@dataclass(frozen=True)
class Found:
    """What a power failure has left of a database.

    Attributes:
        acknowledged: The last commit that the writer was told of.
        found: The last one that is there.
        sound: Whether SQLite finds the database in order, and no commit missing in between.
    """

    acknowledged: int
    found: int
    sound: bool

    @property
    def lost(self) -> int:
        """Commits that were acknowledged and are gone."""
        return max(self.acknowledged - self.found, 0)


def fail(journal: str, synchronous: str, failures: int) -> list[Found]:
    """Has a database lose its device's power again and again; it goes on with what it finds.

    With a journal that is deleted (`DELETE`), `FULL` flushes all but that deletion: what brings the journal
    back takes the last commit away. `EXTRA` flushes it too.
    """
    with TemporaryDirectory() as place:
        device = dict(DEVICE)
        name = device.pop("device")
        with sl.serve(name, **device, power_failures=True, attach=f"ext4:{place}") as server:
            database = Path(place) / "commits.db"
            return [_once(server, database, (journal, synchronous), seed) for seed in range(failures)]


def _once(server: sl.Server, database: Path, pragmas: tuple[str, str], seed: int) -> Found:
    command = [sys.executable, "-c", WRITER, str(database), *pragmas]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as writer:
        assert writer.stdout is not None
        told = [_next(writer.stdout) for _ in range(COMMITS)]
        time.sleep(0.002 * seed)  # now here, now there in a commit
        server.power_fail(seed=seed)
        writer.kill()
        told += [int(line) for line in writer.stdout if line.endswith("\n")]
    return _look(database, told[-1])


def _next(told: IO[str]) -> int:
    return int(told.readline())


def _look(database: Path, acknowledged: int) -> Found:
    found = _found(database, acknowledged)
    if not found.sound:
        for file in database.parent.glob(f"{database.name}*"):
            file.unlink()  # the next writer begins with an empty one
    return found


def _found(database: Path, acknowledged: int) -> Found:
    try:
        with closing(sqlite3.connect(f"file:{database}?mode=rw", uri=True)) as opened:
            sound = opened.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
            count, last = opened.execute("SELECT count(*), coalesce(max(number), 0) FROM commits").fetchone()
            return Found(acknowledged, last, sound=sound and count == last)
    except sqlite3.DatabaseError:
        return Found(acknowledged, 0, sound=False)
