"""Durability of acknowledged writes when a server is killed repeatedly on one `--data` file.

A server is killed (SIGKILL) at a random time while fio writes blocks that it can verify and another client
logs its acknowledged blocks; the next server must have all of them. Another server is killed
under pgbench, with PostgreSQL on ext4: PostgreSQL must recover, with every acknowledged transaction, and
without errors in checksums, tables and indexes.

Used by ``guarantees.py``. Needs root, fio, nbdfuse, losetup, ext4 and PostgreSQL.
"""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from commits import commit_until, inspect_and_reset
from database import Database
from journal import Journal

if TYPE_CHECKING:
    from collections.abc import Iterator

KILL_DELAY_S = (0.1, 1.5)
"""Seconds from the start of the load to the kill, minimum and maximum."""

LIMIT_S = 180
FIO_BYTES = 32 << 20
"""Maximum bytes that fio writes between two kills; its blocks follow those of the previous run."""

JOB = """[global]
ioengine=nbd
uri=nbd+unix:///?socket={socket}
bs=4k
offset={start}
size={size}
rw=randwrite
iodepth=16
fsync=32
verify=crc32c
randseed={seed}
[job]
"""
"""A job of fio that writes every block once, in an order determined by its seed."""

WRITES = "do_verify=0\nwrite_lat_log=completed\nlog_offset=1\n"
READS = "verify_only=1\nverify_state_load=1\nverify_state_save=0\ncontinue_on_error=verify\n"

LOG = "completed_lat.1.log"
"""fio's log of acknowledged writes."""


@dataclass
class KillCounts:
    """Results of the kills of one kind."""

    kills: int = 0
    acknowledged_writes: int = 0
    lost_writes: int = 0

    def add(self, other: KillCounts) -> None:
        """Add the results of other kills."""
        self.kills += other.kills
        self.acknowledged_writes += other.acknowledged_writes
        self.lost_writes += other.lost_writes


class ServerProcess:
    """A server in a separate process; its data file persists."""

    def __init__(self, directory: Path, *options: str) -> None:
        self.socket = directory / "socket"
        arguments = ["--device", "mems-g2", "--scheduler", "c-scan", "--data", str(directory / "disk.img")]
        command = [
            sys.executable,
            "-m",
            "sledlab",
            "serve",
            *arguments,
            "--socket",
            str(self.socket),
            *options,
        ]
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "TMPDIR": str(directory)},
            start_new_session=True,
        )
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        assert self.process.stdout.readline(), self.process.stderr.read()

    def kill(self) -> None:
        """Kill the server."""
        self.process.kill()
        self.process.wait()

    def end(self) -> None:
        """Stop the server as Ctrl-C does."""
        self.process.send_signal(signal.SIGINT)
        output, error = self.process.communicate(timeout=LIMIT_S)
        assert self.process.returncode == 0, error + output


@contextmanager
def running_server(directory: Path, *options: str) -> Iterator[ServerProcess]:
    """Run a server; stop it afterwards, or kill it after an exception."""
    server = ServerProcess(directory, *options)
    try:
        yield server
        if server.process.poll() is None:
            server.end()
    finally:
        server.kill()


def fio(directory: Path, job: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run a job of fio in a directory that stores its state between runs."""
    (directory / "job.fio").write_text(job)
    return subprocess.run(
        ["fio", "job.fio", *options],
        cwd=directory,
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT_S,
    )


def verify_with_fio(directory: Path, job: str) -> KillCounts:
    """Verify with fio the blocks that it wrote before the latest kill.

    Where its scheduler changed the order of writes, fio takes some for completed that were in flight; so a
    block that it misses counts as lost only if its log has the write.
    """
    acknowledged_offsets = {int(line.split(",")[4]) for line in (directory / LOG).read_text().splitlines()}
    completed = fio(directory, job + READS, "--output-format=terse")
    missed_offsets = {
        int(each)
        for each in re.findall(r"verify: .* offset (\d+), length", completed.stderr + completed.stdout)
    }
    assert completed.returncode == 0 or missed_offsets, completed.stderr + completed.stdout
    line = next(line for line in completed.stdout.splitlines() if line.startswith("3;"))
    read_blocks = int(line.split(";")[5]) * 1024 // 4096
    lost_offsets = missed_offsets & acknowledged_offsets
    print(
        f"fio: {len(acknowledged_offsets)} blocks, {read_blocks} read, {len(missed_offsets)} missed, "
        f"{len(lost_offsets)} lost",
        flush=True,
    )
    return KillCounts(1, len(acknowledged_offsets), len(lost_offsets))


def is_written_from(data: Path, start: int) -> bool:
    """Return whether data was written from `start` on."""
    with data.open("rb") as file, suppress(OSError):
        return os.lseek(file.fileno(), start, os.SEEK_DATA) < start + FIO_BYTES
    return False


def kill_under_fio(directory: Path, kills: int) -> dict[str, KillCounts]:
    """Kill a server while fio and the logging client write."""
    rng = random.Random(1)
    journal = Journal(0, seed=1)
    by_fio, by_journal = KillCounts(), KillCounts()
    job = ""
    for number in range(1, kills + 2):
        with running_server(directory) as server:
            if job:
                by_fio.add(verify_with_fio(directory, job))
                by_journal.lost_writes += len(journal.find_lost_blocks(server.socket))
                outcome = f"journal of {journal.writes}, {by_journal.lost_writes} lost"
                print(f"kill {number - 1}: {outcome}", flush=True)
            if number > kills:
                break
            start = number * FIO_BYTES
            job = JOB.format(socket=server.socket, start=start, size=FIO_BYTES, seed=number)
            with ThreadPoolExecutor() as pool:
                fio_run = pool.submit(fio, directory, job + WRITES)
                journal_run = pool.submit(journal.write, server.socket)
                while not is_written_from(directory / "disk.img", start):
                    assert not fio_run.done(), fio_run.result()
                    time.sleep(0.01)
                time.sleep(rng.uniform(*KILL_DELAY_S))
                server.kill()
                fio_run.result()
                journal_run.result()
            by_journal.kills += 1
    by_journal.acknowledged_writes = journal.writes
    return {"fio verify: blocks": by_fio, "a client's journal: blocks": by_journal}


def kill_under_pgbench(directory: Path, kills: int) -> dict[str, KillCounts]:
    """Kill a server while PostgreSQL commits to a file system on it."""
    rng = random.Random(2)
    mount = directory / "mounted"
    mount.mkdir()
    directory.chmod(0o755)
    attach = ("--attach", f"ext4:{mount}")
    database = Database(mount, directory)
    counts = KillCounts()
    with ExitStack() as stack:
        stack.callback(clean_up, directory, mount)
        stack.callback(database.kill)
        with running_server(directory, "--untimed", *attach):
            database.make()
        for number in range(1, kills + 2):
            with running_server(directory, *attach) as server:
                database.start()
                if number > 1:
                    check_transactions(database, number - 1, counts)
                database.check()
                if number > kills:
                    break
                database.start()
                load = database.load(number)
                database.wait_for_commit(number, load)
                time.sleep(rng.uniform(*KILL_DELAY_S))
                server.kill()
                counts.kills += 1
                database.kill()
                load.wait(LIMIT_S)
                clean_up(directory, mount)
    return {"pgbench: transactions": counts}


def kill_under_sqlite(directory: Path, kills: int, *pragmas: str) -> dict[str, KillCounts]:
    """Kill a server while SQLite commits, with a journal and a flush setting, to a file system on it."""
    rng = random.Random(3)
    mount = directory / "mounted"
    mount.mkdir()
    attach = ("--attach", f"ext4:{mount}")
    database = mount / "commits.db"
    counts = KillCounts()
    acknowledged_numbers: list[int] = []
    journal, synchronous = pragmas
    with ExitStack() as stack:
        stack.callback(clean_up, directory, mount)
        with running_server(directory, "--untimed", *attach):
            pass  # creates the file system
        for number in range(1, kills + 2):
            with running_server(directory, *attach) as server:
                if acknowledged_numbers:
                    state = inspect_and_reset(database, acknowledged_numbers[-1])
                    lost_count = state.lost_commits if state.is_sound else len(acknowledged_numbers)
                    counts.add(KillCounts(1, len(acknowledged_numbers), lost_count))
                    print(f"SQLite, kill {number - 1}: {state}", flush=True)
                if number > kills:
                    break

                def kill(server: ServerProcess = server) -> None:
                    time.sleep(rng.uniform(*KILL_DELAY_S))
                    server.kill()

                acknowledged_numbers = commit_until(kill, database, (journal, synchronous))
                clean_up(directory, mount)
    return {f"SQLite, {journal}, synchronous={synchronous}: commits": counts}


def check_transactions(database: Database, number: int, counts: KillCounts) -> None:
    """Check the transactions that were acknowledged to pgbench before the latest kill."""
    count = database.acknowledged_counts(number).total()
    lost_count = database.count_lost_transactions(number)
    counts.acknowledged_writes += count
    counts.lost_writes += lost_count
    print(f"pgbench, failure {number}: {count} transactions, {lost_count} lost", flush=True)


def clean_up(directory: Path, mount: Path) -> None:
    """Remove the remains of a killed server: a mount, a loop device, and nbdfuse's file."""
    if os.path.ismount(mount):
        run_program("umount", mount)
    for line in run_program("losetup", "--list", "--noheadings", "--output", "NAME,BACK-FILE").splitlines():
        device, _, file = line.strip().partition(" ")
        if file.strip().startswith(str(directory)):
            run_program("losetup", "--detach", device)
    for line in Path("/proc/mounts").read_text().splitlines():
        mount_point = line.split()[1]
        if mount_point.startswith(str(directory)):
            run_program("fusermount3", "-u", mount_point)
    assert not remaining_uses(directory), remaining_uses(directory)


def remaining_uses(directory: Path) -> list[str]:
    """Return mounts, loop devices and processes of nbdfuse that use a directory."""
    uses = [line for line in Path("/proc/mounts").read_text().splitlines() if str(directory) in line]
    uses += [file.read_text() for file in Path("/sys/block").glob("loop*/loop/backing_file")]
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            arguments = process.read_text().split("\0")
            uses += [" ".join(arguments)] if "nbdfuse" in arguments[0] else []
    return [each for each in uses if str(directory) in each]


def run_program(*command: object) -> str:
    """Run a program, which must succeed; return its output."""
    completed = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    assert completed.returncode == 0, f"{command}: {completed.stderr}"
    return completed.stdout
