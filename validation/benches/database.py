"""PostgreSQL on a served device: load, and checks after a failure of its storage."""

import os
import shutil
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

PROGRAMS = Path("/usr/lib/postgresql")
"""Debian's directory of PostgreSQL programs, with a subdirectory for each version."""

CLIENTS = 4
LIMIT_S = 180

SETTINGS = """
listen_addresses = ''
shared_buffers = 16MB
checkpoint_timeout = 30s
max_wal_size = 64MB
min_wal_size = 32MB
"""

TRANSACTION = """
\\set n :n + 1
\\set aid random(1, 100000 * :scale)
\\set bid random(1, 1 * :scale)
\\set tid random(1, 10 * :scale)
\\set delta random(-5000, 5000)
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;
UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime)
    VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);
INSERT INTO committed (round, client, number) VALUES (:round, :client_id, :n);
END;
"""
"""pgbench's transaction, extended: it also stores its number for the client."""

COMMITTED_TABLE = """
CREATE TABLE committed (round int, client int, number int, PRIMARY KEY (round, client, number))
"""

SUMS = """
SELECT (SELECT sum(abalance) FROM pgbench_accounts), (SELECT sum(tbalance) FROM pgbench_tellers),
       (SELECT sum(bbalance) FROM pgbench_branches), (SELECT coalesce(sum(delta), 0) FROM pgbench_history)
"""
"""A query for four numbers that are equal if every transaction is complete or absent."""


class Database:
    """A PostgreSQL server with its data on a device that may fail.

    PostgreSQL's `programs` refuse to run as root, so they run as the user `postgres`.
    """

    def __init__(self, mount: Path, directory: Path) -> None:
        self.data = mount / "data"
        self.directory = directory
        self.sessions = directory / "sessions"
        self.sessions.mkdir()
        shutil.chown(self.sessions, "postgres")
        self.programs = max(PROGRAMS.glob("*/bin"))
        self.postmaster: int | None = None

    def run_program(self, name: str, *arguments: object) -> str:
        """Run a program of PostgreSQL, which must succeed; return its output."""
        completed = subprocess.run(
            self.command(name, *arguments),
            capture_output=True,
            text=True,
            check=False,
            cwd=self.sessions,
            timeout=LIMIT_S,
        )
        assert completed.returncode == 0, f"{name}: {completed.stderr}{completed.stdout}"
        return completed.stdout

    def command(self, name: str, *arguments: object) -> list[str]:
        """Return the command that runs a program of PostgreSQL."""
        return ["runuser", "-u", "postgres", "--", str(self.programs / name), *map(str, arguments)]

    def make(self) -> None:
        """Create the database, with checksums, and pgbench's tables."""
        self.data.mkdir()
        shutil.chown(self.data, "postgres")
        self.run_program("initdb", "--data-checksums", "--auth=trust", "--no-sync", self.data)
        with (self.data / "postgresql.conf").open("a") as file:
            file.write(SETTINGS)
            file.write(f"external_pid_file = '{self.sessions}/postmaster'\n")
        (self.sessions / "transaction.sql").write_text(TRANSACTION)
        self.start()
        self.run_program("pgbench", "-h", self.sessions, "--initialize", "--quiet", "postgres")
        self.query("CREATE EXTENSION amcheck")
        self.query(COMMITTED_TABLE)
        self.stop()

    def start(self) -> None:
        """Start the server, and wait until it has recovered."""
        log, options = self.sessions / "log", f"-k {self.sessions}"
        self.run_program("pg_ctl", "-D", self.data, "-w", "-t", LIMIT_S, "-l", log, "-o", options, "start")
        self.postmaster = int((self.sessions / "postmaster").read_text())

    def stop(self) -> None:
        """Shut the server down."""
        self.run_program("pg_ctl", "-D", self.data, "-w", "-t", LIMIT_S, "-m", "fast", "stop")
        self.postmaster = None

    def kill(self) -> None:
        """Kill the server and all its processes, if it runs, after its storage has failed."""
        if self.postmaster is None:
            return
        for _ in range(LIMIT_S * 10):
            try:
                os.kill(self.postmaster, signal.SIGQUIT)
            except ProcessLookupError:
                self.postmaster = None
                return
            time.sleep(0.1)
        raise AssertionError("PostgreSQL does not end")

    def query(self, statement: str) -> str:
        """Return the result of a statement."""
        return self.run_program(
            "psql", "-h", self.sessions, "-X", "-A", "-t", "-c", statement, "postgres"
        ).strip()

    def load(self, number: int) -> subprocess.Popen[bytes]:
        """Start pgbench, which logs each acknowledged transaction."""
        arguments = ["--no-vacuum", f"--client={CLIENTS}", "--jobs=2", "--time=600", "--log"]
        arguments += [
            f"--log-prefix={self.sessions}/round-{number}",
            "--define=n=0",
            f"--define=round={number}",
        ]
        arguments += [f"--file={self.sessions}/transaction.sql", "-h", str(self.sessions), "postgres"]
        return subprocess.Popen(
            self.command("pgbench", *arguments),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self.sessions,
        )

    def acknowledged_counts(self, number: int) -> Counter[int]:
        """Return the number of acknowledged transactions of a round, by client."""
        counts: Counter[int] = Counter()
        for log in self.sessions.glob(f"round-{number}.*"):
            for line in log.read_text().splitlines():
                if line.strip():
                    counts[int(line.split()[0])] += 1
        return counts

    def wait_for_commit(self, number: int, load: subprocess.Popen[bytes]) -> None:
        """Wait until a transaction of a round, which `load` runs, is committed."""
        while self.query(f"SELECT EXISTS (SELECT FROM committed WHERE round = {number})") != "t":
            assert load.poll() is None, "pgbench has ended"
            time.sleep(0.05)

    def count_lost_transactions(self, number: int) -> int:
        """Return the number of acknowledged transactions of a round that are missing in the database."""
        answer = self.query(f"SELECT client, number FROM committed WHERE round = {number}")
        stored_transactions = {tuple(map(int, line.split("|"))) for line in answer.splitlines()}
        acknowledged_transactions = {
            (client, transaction)
            for client, count in self.acknowledged_counts(number).items()
            for transaction in range(1, count + 1)
        }
        return len(acknowledged_transactions - stored_transactions)

    def check(self) -> None:
        """Fail if a balance, an index, a table or a checksum is wrong; the server is stopped afterwards."""
        sums = self.query(SUMS).split("|")
        assert len(set(sums)) == 1, f"half a transaction: {sums}"
        self.run_program("pg_amcheck", "-h", self.sessions, "--all", "--heapallindexed", "--parent-check")
        self.stop()
        self.run_program("pg_checksums", "--check", "-D", self.data)
