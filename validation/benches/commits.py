"""Acknowledged commits of a database that survive power failures of an emulated device.

A separate process inserts one row per transaction, and prints its number when SQLite acknowledges the commit.
Then the power of the device fails; the file system is attached again, and the rows are counted.
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
from typing import TYPE_CHECKING

import sledlab as sl

if TYPE_CHECKING:
    from collections.abc import Callable

DEVICE = {
    "device": "ram",
    "cache": sl.cache("write-back", volatile=True, capacity_blocks=4096),
    "settings": {"device.capacity_mb": 64, "device.access_us": 100},
}
"""A RAM device behind a volatile cache: small, so that a file system is created quickly."""

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
"""Minimum commits acknowledged to a writer when the power fails."""


@dataclass(frozen=True)
class DatabaseState:
    """The state of a database after a power failure.

    Attributes:
        last_acknowledged: Number of the last commit that was acknowledged to the writer.
        last_stored: Number of the last commit in the database.
        is_sound: Whether SQLite finds no damage in the database, and no commit before the last is missing.
    """

    last_acknowledged: int
    last_stored: int
    is_sound: bool

    @property
    def lost_commits(self) -> int:
        """Number of acknowledged commits that are lost."""
        return max(self.last_acknowledged - self.last_stored, 0)


def fail(journal: str, synchronous: str, failures: int) -> list[DatabaseState]:
    """Fail the power of a database's device repeatedly; the database resumes with the surviving data.

    With a journal that is deleted (`DELETE`), `FULL` flushes everything but that deletion: a journal that
    survives the failure rolls the last commit back. `EXTRA` flushes the deletion too.
    """
    with TemporaryDirectory() as mount:
        device = dict(DEVICE)
        name = device.pop("device")
        with sl.serve(name, **device, power_failures=True, attach=f"ext4:{mount}") as server:
            database = Path(mount) / "commits.db"
            return [_fail_once(server, database, (journal, synchronous), seed) for seed in range(failures)]


def _fail_once(server: sl.Server, database: Path, pragmas: tuple[str, str], seed: int) -> DatabaseState:
    def power_fail() -> None:
        time.sleep(0.002 * seed)  # the failure hits another stage of a commit each time
        server.power_fail(seed=seed)

    return inspect_and_reset(database, commit_until(power_fail, database, pragmas)[-1])


def commit_until(fail_storage: Callable[[], None], database: Path, pragmas: tuple[str, str]) -> list[int]:
    """Commit to a database until its storage fails; return the numbers of acknowledged commits."""
    command = [sys.executable, "-c", WRITER, str(database), *pragmas]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as writer:
        assert writer.stdout is not None
        acknowledged_numbers = [int(writer.stdout.readline()) for _ in range(COMMITS)]
        fail_storage()
        writer.kill()
        acknowledged_numbers += [int(line) for line in writer.stdout if line.endswith("\n")]
    return acknowledged_numbers


def inspect_and_reset(database: Path, last_acknowledged: int) -> DatabaseState:
    """Return the state of a database after a failure; a damaged one is deleted."""
    state = _inspect(database, last_acknowledged)
    if not state.is_sound:
        for file in database.parent.glob(f"{database.name}*"):
            file.unlink()  # the next writer begins with an empty database
    return state


def _inspect(database: Path, last_acknowledged: int) -> DatabaseState:
    try:
        with closing(sqlite3.connect(f"file:{database}?mode=rw", uri=True)) as connection:
            is_sound = connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
            count, last_number = connection.execute(
                "SELECT count(*), coalesce(max(number), 0) FROM commits"
            ).fetchone()
            return DatabaseState(last_acknowledged, last_number, is_sound=is_sound and count == last_number)
    except sqlite3.DatabaseError:
        return DatabaseState(last_acknowledged, 0, is_sound=False)
