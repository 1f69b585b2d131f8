"""Durability of acknowledged writes when the power of an emulated device fails repeatedly.

The device is a sled behind a volatile cache. A client writes with FUA (force unit access) and logs the
acknowledged blocks; SQLite and PostgreSQL commit on ext4. After each failure everything that was
acknowledged as durable is looked for. SQLite with `synchronous=OFF` flushes nothing, so it must lose commits.
Needs root, nbdfuse, ext4 and PostgreSQL.
"""

import random
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import commits
import sledlab as sl
from database import LIMIT_S, Database
from journal import Journal
from kills import KILL_DELAY_S, KillCounts, check_transactions

SLED = {"device": "mems-g2", "scheduler": "c-scan", "cache": sl.cache("write-back", volatile=True)}
WRITES = 50
"""Minimum writes acknowledged to the client before a failure."""


def fail_under_journal(failures: int) -> KillCounts:
    """Fail the power while a client writes and logs."""
    rng = random.Random(4)
    journal = Journal(0, seed=4, durable=True)
    counts = KillCounts()
    with sl.serve(**SLED, power_failures=True) as server, ThreadPoolExecutor() as pool:
        for seed in range(failures):
            writes_before = journal.writes
            journal_run = pool.submit(journal.write, server.socket)
            while journal.writes < writes_before + WRITES:
                assert not journal_run.done(), journal_run.result()
                time.sleep(0.01)
            time.sleep(rng.uniform(0, 0.2))
            server.power_fail(seed=seed)
            journal_run.result()
            lost_count = len(journal.find_lost_blocks(server.socket, by_sector=True))
            counts.add(KillCounts(1, journal.writes - writes_before, lost_count))
    return counts


def fail_under_sqlite(failures: int, journal: str, synchronous: str) -> KillCounts:
    """Fail the power while SQLite commits, with a journal and a flush setting."""
    counts = KillCounts()
    last_stored = 0
    for state in commits.fail(journal, synchronous, failures):
        count = state.last_acknowledged - last_stored
        counts.add(KillCounts(1, count, state.lost_commits if state.is_sound else state.last_acknowledged))
        last_stored = state.last_stored if state.is_sound else 0
    return counts


def fail_under_postgres(failures: int) -> KillCounts:
    """Fail the power while PostgreSQL commits."""
    rng = random.Random(5)
    counts = KillCounts()
    with TemporaryDirectory(prefix="sledlab-losses-") as parent, ExitStack() as stack:
        directory = Path(parent)
        directory.chmod(0o755)
        mount = directory / "mounted"
        mount.mkdir()
        options = {**SLED, "data": directory / "disk.img", "attach": f"ext4:{mount}"}
        database = Database(mount, directory)
        with sl.serve(**options, untimed=True):
            database.make()
        server = stack.enter_context(sl.serve(**options, power_failures=True))
        stack.callback(database.kill)
        for number in range(1, failures + 2):
            database.start()
            if number > 1:
                check_transactions(database, number - 1, counts)
            database.check()
            if number > failures:
                break
            database.start()
            load = database.load(number)
            database.wait_for_commit(number, load)
            time.sleep(rng.uniform(*KILL_DELAY_S))
            server.power_fail(seed=number)
            counts.kills += 1
            database.kill()
            load.wait(LIMIT_S)
    return counts
