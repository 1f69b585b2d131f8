"""Power failures of an emulated device: the data that remains, and how programs recover."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import polars as pl
import pytest
import sledlab as sl

from tests.require import need

pytestmark = pytest.mark.slow("programs use devices for seconds, and servers keep processors awake meanwhile")

BLOCKS = 64
VOLATILE = {"cache": sl.cache("write-back", volatile=True, destage_idle_ms=1e6), "time_scale": 2}


def qemu_io(uri: str, *steps: str) -> str:
    """Output of qemu-io for some steps, which may fail."""
    options = [argument for step in steps for argument in ("-c", step)]
    command = [need("qemu-io"), "-f", "raw", *options, uri]
    completed = subprocess.run(command, capture_output=True, text=True, check=False)
    return completed.stdout + completed.stderr


def test_volatile_cache_loses_unflushed_writes(tmp_path):
    out = tmp_path / "run"
    with sl.serve("mems-g2", **VOLATILE, power_failures=True, out=out) as server:
        qemu_io(server.uri, "write -P 1 0 4k", "flush")
        # Closing would flush, too, so the client is killed.
        arguments = ["-c", "write -P 2 0 4k", "-c", "write -P 3 64k 4k", "-c", "sleep 600000"]
        with subprocess.Popen(
            [need("qemu-io"), "-t", "writeback", "-f", "raw", *arguments, server.uri],
            stdout=subprocess.PIPE,
            text=True,
        ) as client:
            while server.status()["counts"]["writes"] < 3:
                time.sleep(0.05)
            failure = server.power_fail(seed=1)
            client.kill()
        assert (failure.lost, failure.older, failure.newest, failure.seed) == (16, 16, 0, 1)
        printed = qemu_io(server.uri, "read -P 1 0 4k", "read -P 0 64k 4k")
        assert "Pattern verification failed" not in printed
        assert "read 4096/4096" in printed
        while server.status()["power_failures"] < 1:
            time.sleep(0.05)
    emulation = server.emulation
    assert emulation.power_failures == (failure,)
    assert emulation.closed_loop.closed
    assert emulation.closed_loop.operations >= 5
    assert set(emulation.frame()["power_failures"]) == {0, 1}
    # The result covers requests up to the failure; a separate trace has later ones.
    assert server.result.count == 3
    replayed = sl.simulate(experiment=out / "experiment.toml", out=tmp_path / "again")
    assert replayed.summary == server.result.summary
    assert pl.read_parquet(out / "trace-2.parquet")["op"].to_list().count("R") == 2
    saved = json.loads((out / "emulation.json").read_text())
    assert saved["power_failures"][0]["lost"] == 16
    assert "The power failed after" in (out / "report.html").read_text()


SYSTEMS = {
    "sled": {"device": "mems-g2", "scheduler": "sptf"},
    "raid5": {"device": "mems-g2", "system": sl.system("raid5", devices=5)},
    "cached": {"device": "mems-g2", "cache": sl.cache("write-back", volatile=True)},
    "hybrid": {"device": "atlas-10k", "hybrid": "caching-disk"},
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_answered_requests_are_replayed_across_failures(name):
    options = dict(SYSTEMS[name])
    arguments = [
        "--name=j",
        "--rw=randrw",
        "--bs=4k",
        "--iodepth=8",
        "--size=16M",
        "--fsync=8",
        "--time_based",
    ]
    with sl.serve(options.pop("device"), **options, power_failures=True) as server:
        for _ in range(3):
            with subprocess.Popen(
                [need("fio"), *arguments, "--runtime=30", "--ioengine=nbd", f"--uri={server.uri}"],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            ) as client:
                operations_before = server.status()["counts"]["operations"]
                while server.status()["counts"]["operations"] < operations_before + 50:
                    time.sleep(0.02)
                server.power_fail()
                client.kill()
    emulation = server.emulation
    assert len(emulation.power_failures) == 3
    assert sum(failure.in_flight for failure in emulation.power_failures) > 0
    assert emulation.closed_loop.operations > 100
    assert emulation.closed_loop.closed


def serve(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "sledlab", "serve", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_signal_or_time_triggers_power_failure(tmp_path):
    out = str(tmp_path / "run")
    arguments = ("--device", "ram", "--power-fail-after", "0.2", "--out", out)
    with serve(*arguments) as server:
        uri = server.stdout.readline().strip()
        qemu_io(uri, "write -P 1 0 4k")
        time.sleep(1)
        server.send_signal(signal.SIGUSR1)
        assert "The power failed after" in server.stderr.readline()
        assert "read 4096/4096" in qemu_io(uri, "read 0 4k")
        server.send_signal(signal.SIGINT)
        printed, stderr = server.communicate(timeout=60)
    assert server.returncode == 0, stderr
    failures = json.loads((tmp_path / "run" / "emulation.json").read_text())["power_failures"]
    assert len(failures) == 2
    assert 0.2 <= failures[0]["real_s"] < failures[0]["on_s"] <= failures[1]["real_s"]
    assert printed.count("The power failed after") == 2


def test_missing_power_failure_is_reported():
    arguments = ("--device", "ram", "--power-fail-after", "60", "--", "true")
    completed = subprocess.run(
        [sys.executable, "-m", "sledlab", "serve", *arguments], capture_output=True, text=True, check=True
    )
    assert "The power did not fail" in completed.stderr


def test_signal_without_power_failure_options_loses_nothing():
    with serve("--device", "ram") as server:
        uri = server.stdout.readline().strip()
        qemu_io(uri, "write -P 7 0 4k")
        server.send_signal(signal.SIGUSR1)
        assert "it does not keep overwritten data" in server.stderr.readline()
        assert "--power-failures" in server.stderr.readline()
        assert "verification failed" not in qemu_io(uri, "read -P 7 0 4k")
        server.send_signal(signal.SIGINT)
        printed, stderr = server.communicate(timeout=60)
    assert server.returncode == 0, stderr
    assert "The power failed" not in printed


def test_invalid_settings_are_refused_before_the_start(tmp_path):
    raid5 = sl.system("raid5", devices=5)
    with pytest.raises(sl.Error, match="write hole") as caught:
        sl.serve("mems-g2", system=raid5, settings={"system.failed": 1}, power_failures=True)
    assert "system.failed" in caught.value.remedy
    with pytest.raises(sl.Error, match="untimed"):
        sl.serve("mems-g2", untimed=True, power_fail_after_s=3)
    with pytest.raises(sl.Error, match="power failure: -1 s"):
        sl.serve("mems-g2", power_fail_after_s=-1)
    with sl.serve("ram") as server, pytest.raises(sl.Error, match="cannot simulate power failures"):
        server.power_fail()
    with pytest.raises(sl.Error, match="has ended"):
        server.power_fail()
    process = serve("--device", "mems-g2,ram", "--power-failures", "--", "true")
    assert "--device" in process.communicate(timeout=60)[1]
    assert process.returncode == 2


class FailingScheduler(sl.Scheduler):
    """First come, first served, until a request is for the second megabyte."""

    def __init__(self) -> None:
        self.queue = []

    def push(self, request):
        self.queue.append(request)

    def pop(self, now_ns, device):
        if self.queue[0].lbn >= 2048:
            raise ZeroDivisionError("too far")
        return self.queue.pop(0)

    def __len__(self):
        return len(self.queue)


def test_failing_scheduler_ends_the_server_with_report(tmp_path):
    out = tmp_path / "run"
    server = sl.serve("mems-g2", scheduler=f"{__name__}:FailingScheduler", out=out)
    printed = qemu_io(server.uri, "write 0 4k", "read 0 4k", "write 2M 4k")
    assert "Input/output error" in printed
    while not server.status()["error"]:
        time.sleep(0.01)
    assert "too far" in server.status()["error"]
    with pytest.raises(sl.Error, match="too far"):
        server.stop()
    counts = server.emulation.server["counts"]
    assert (counts["writes"], counts["reads"]) == (1, 1)
    assert counts["errors"] >= 1
    assert server.emulation.replies >= 2
    assert server.result is None
    assert json.loads((out / "emulation.json").read_text())["server"]["counts"] == counts
    ops = pl.read_parquet(out / "trace.parquet")["op"].to_list()
    assert [op for op in ops if op in "RW"][:2] == ["W", "R"]
    with pytest.raises(sl.Error, match="too far"):
        server.stop()


@pytest.fixture
def small_directory(tmp_path):
    """A directory with room for 4 MB."""
    if os.geteuid() != 0:
        pytest.skip("mounting needs root")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(tmp_path)], check=True)
    yield tmp_path
    subprocess.run(["umount", str(tmp_path)], check=True)


@pytest.mark.parametrize("power_failures", [False, True])
def test_full_data_file_fails_the_request(small_directory, power_failures):
    with sl.serve("mems-g2", data=small_directory / "disk.img", power_failures=power_failures) as server:
        assert "wrote 1048576/1048576" in qemu_io(server.uri, "write -P 1 0 1M")
        assert "No space left on device" in qemu_io(server.uri, "write -P 2 1M 8M")
        printed = qemu_io(server.uri, "read -P 1 0 1M", "write -P 3 0 1M", "read -P 3 0 1M")
        assert "verification failed" not in printed
        assert printed.count("1048576/1048576") == 3
        if power_failures:
            # The failed write left no partial data.
            printed = qemu_io(server.uri, "read -P 0 1M 8M")
            assert "verification failed" not in printed
    assert server.emulation.server["counts"]["errors"] >= 1
    assert server.emulation.closed_loop.closed


@pytest.fixture(scope="module")
def commits() -> ModuleType:
    """The module `validation/benches/commits.py`."""
    need("nbdfuse")
    need("mkfs.ext4")
    if os.geteuid() != 0 or not os.access("/dev/fuse", os.R_OK | os.W_OK):
        pytest.skip("attaching needs root and /dev/fuse")
    path = Path(__file__).parents[2] / "validation" / "benches" / "commits.py"
    spec = importlib.util.spec_from_file_location("commits", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["commits"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("journal", "synchronous"), [("WAL", "FULL"), ("DELETE", "EXTRA")])
def test_sqlite_keeps_every_flushed_commit(commits, journal, synchronous):
    failures = commits.fail(journal, synchronous, 10)
    assert [failure.lost_commits for failure in failures] == [0] * 10
    assert all(failure.is_sound for failure in failures)


def test_sqlite_without_synced_deletion_loses_one_commit(commits):
    failures = commits.fail("DELETE", "FULL", 5)
    assert all(failure.lost_commits <= 1 and failure.is_sound for failure in failures)


def test_sqlite_loses_commits_that_it_does_not_flush(commits):
    failures = commits.fail("WAL", "OFF", 10)
    assert sum(failure.lost_commits > 0 for failure in failures) > 0
