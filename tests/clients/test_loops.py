"""Guarantees of the server in short runs: closed loops, kills, and a client that sends garbage."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
import sledlab as sl
from sledlab.emulation.client import BLOCK, Client, ConnectionLostError

from tests.require import need
from validation.benches.journal import SLOTS, Journal

pytestmark = pytest.mark.slow("starts, stalls, kills and restarts servers of many kinds")

BENCHES = Path(__file__).parents[2] / "validation" / "benches"
SYSTEMS = "Python;parks;flash;stripe;rebuilt;write buffer"
FAR_LATER_US = 5000


@pytest.fixture
def bench(run, tmp_path):
    """Return a function that runs a benchmark and returns the lines that it prints; it must succeed."""

    def call(name: str, *arguments: object) -> list[str]:
        return run(sys.executable, BENCHES / f"{name}.py", *arguments).splitlines()

    return call


def test_stopped_or_delayed_server_closes_the_loop(bench):
    for name in ("fio", "qemu-io", "nbdcopy"):
        need(name)
    arguments = ("--least", 60, "--seconds", 0, "--dry")
    lines = bench("closed_loop", *arguments, "--systems", SYSTEMS, "--clients", "random;qemu;nbdcopy")
    outcomes = [line.split()[-1] for line in lines if "scale " in line and line.endswith(("closed", "OPEN"))]
    assert outcomes == ["closed"] * (6 * 3 * 3)
    assert any("stopped" in line for line in lines)
    assert any("hogged" in line for line in lines)


def test_served_run_replays_to_the_same_bytes(run, sledlab_program, tmp_path):
    need("fio")
    client = 'fio --name=j --ioengine=nbd --uri="$SLEDLAB_URI" --rw=randrw --bs=4k --size=64M'
    client += " --iodepth=8 --fsync=8 --number_ios=300 --verify_state_save=0 --output=/dev/null"
    system = ("--device", "mems-g2", "--system", "mirror", "--set", "system.devices=2")
    run(*sledlab_program, "serve", *system, "--out", "live", "--quiet", "--", "sh", "-c", client)
    run(*sledlab_program, "simulate", "live/experiment.toml", "--out", "again", "--quiet")
    for name in ("summary.json", "requests.parquet"):
        assert (tmp_path / "live" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


@pytest.mark.parametrize("group", ["timing", "loop", "kills", "failures"])
def test_guarantees_are_measured_in_short_runs(bench, group):
    for name in ("cc", "fio", "nbdfuse", "mkfs.ext4", "pg_ctlcluster"):
        need(name)
    if os.geteuid() != 0 or not os.access("/dev/fuse", os.R_OK | os.W_OK):
        pytest.skip("attaching a device needs root and /dev/fuse")
    arguments = ("--runs", 1, "--completions", 1200, "--kills", 1, "--failures", 3, "--percent", 1)
    rows = [
        line.split(" | ")
        for line in bench("guarantees", "--dry", "--only", group, *arguments)
        if " | " in line
    ]
    assert len(rows) == {"timing": 15, "loop": 1, "kills": 4, "failures": 4}[group]
    if group == "timing":  # how accurate replies are depends on the load of the machine
        assert all(0 <= float(row[2].removesuffix(" %")) <= 100 for row in rows)
    else:
        assert {row[-1] for row in rows} == {"met"}


@pytest.fixture
def import_bench(monkeypatch):
    """Return a function that imports a module of the folder of benchmarks, as its scripts do."""
    monkeypatch.syspath_prepend(BENCHES)
    return importlib.import_module


def test_client_times_are_compared_by_offset(import_bench):
    recorded = pl.DataFrame({"offset_bytes": [8192, 0, 4096]})
    replies = pl.DataFrame({"id": [0, 1, 2], "arrival_ns": [0, 100, 200], "planned_ns": [1000, 1100, 1200]})
    replies = replies.with_columns(pl.col("id").cast(pl.UInt64))
    fio_log = "0 50 2060\n4096 70 2070\n8192 10 2050\n"
    module = import_bench("timing_errors")
    assert module.deviations(fio_log) == pytest.approx([0, 2000 / 2010 - 1, 2040 / 2010 - 1])
    errors = module.relative_errors(fio_log, recorded, replies, time_scale=2)
    assert errors == pytest.approx([0.005, 0, 0.02])
    assert module.share_within(errors, 1) == pytest.approx(200 / 3)
    with pytest.raises(AssertionError, match="other reads"):
        module.relative_errors(fio_log.replace("8192", "12288"), recorded, replies, 2)


def test_guarantee_is_met_by_every_run_only(import_bench):
    guarantee = import_bench("guarantee").Guarantee(
        "timing", "name", "97 %", ["98 %", "90 %"], [0.5, 1], [True, True]
    )
    assert guarantee.outcome == "met"
    assert replace(guarantee, met=[True, False]).outcome == "not met in 1 of 2 runs"
    assert (
        replace(guarantee, runs=[], met=[], missing="/dev/fuse").outcome
        == "not measurable here: no /dev/fuse"
    )


def test_table_of_guarantees_shows_all_recorded_runs(import_bench):
    module = import_bench("guarantee")
    table = json.loads(module.FILE.read_text(encoding="utf-8"))
    assert table["rows"] == [each.row() for each in module.read_saved()]
    assert {each.group for each in module.read_saved()} == set(module.GROUPS)


def kill_during_write(journal: Journal, data: Path, socket: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "sledlab",
        "serve",
        "--device",
        "ram",
        "--data",
        data,
        "--socket",
        socket,
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as server:
        server.stdout.readline()
        writer = threading.Thread(target=journal.write, args=(socket,))
        writer.start()
        while journal.writes < 2 * SLOTS:
            time.sleep(0.01)
        server.kill()
        writer.join()


def test_journal_reports_lost_blocks(tmp_path):
    journal, data = Journal(1 << 20, seed=3), tmp_path / "disk.img"
    kill_during_write(journal, data, tmp_path / "s")
    assert len(journal.acknowledged) > SLOTS / 2
    slot = next(slot for slot in journal.acknowledged if slot not in journal.in_flight)
    with sl.serve("ram", data=data) as server:
        assert journal.find_lost_blocks(Path(server.socket)) == []
    with data.open("r+b") as file:
        file.seek(journal.offset(slot))
        file.write(bytes(BLOCK))
    with sl.serve("ram", data=data) as server:
        assert journal.find_lost_blocks(Path(server.socket)) == [slot]


def test_garbage_of_one_client_delays_no_other(bench):
    need("fio")
    lines = bench("hostile", 1, 200)
    result_line = next(line for line in lines if "later by" in line)
    assert abs(float(result_line.split("'value': ")[1].split(",")[0])) < FAR_LATER_US


def test_broken_connection_is_reported_by_the_client(tmp_path):
    with sl.serve("ram") as server, Client(Path(server.socket)) as client:
        client.send(b"no request at all" * 4)
        with pytest.raises(ConnectionLostError):
            client.read_reply()


DURABLE = {
    "sled": {"device": "mems-g2", "scheduler": "sptf"},
    "stripe": {"device": "mems-g2", "system": sl.system("stripe", devices=4)},
    "cache": {"device": "mems-g2", "cache": "write-back"},
    "hybrid": {"device": "atlas-10k", "hybrid": "write-buffer"},
}
"""Systems whose writes are durable when they are complete."""


@pytest.mark.parametrize("name", DURABLE)
def test_flush_waits_for_writes_and_trim_returns_immediately(name, run, tmp_path):
    """Replays compare reads and writes only, from which the due times of flushes and trims follow."""
    need("fio")
    writes = ("--name=writes", "--rw=randwrite", "--fsync=5", "--iodepth=8", "--number_ios=400")
    trims = ("--name=trims", "--rw=randtrim", "--number_ios=40")
    with sl.serve(**DURABLE[name], out=tmp_path / "out") as server:
        target = ("--ioengine=nbd", f"--uri={server.uri}", "--bs=4k", "--size=32M", "--verify_state_save=0")
        run("fio", *writes, *target, *trims, *target)
    ops = pl.read_parquet(tmp_path / "out" / "trace.parquet")["op"].cast(str).to_list()
    completions_ns = dict(
        pl.read_parquet(tmp_path / "out" / "requests.parquet").select("id", "completion_ns").iter_rows()
    )
    last_write_ns, flush_count, trim_count = 0, 0, 0
    replies = {row["id"]: row for row in server.emulation.table.to_dicts()}
    for number, op in enumerate(ops):
        if op == "W":
            last_write_ns = max(last_write_ns, completions_ns[number])
        elif op == "F":
            assert replies[number]["planned_ns"] == max(replies[number]["arrival_ns"], last_write_ns)
            flush_count += 1
        elif op == "T":
            assert replies[number]["planned_ns"] == replies[number]["arrival_ns"]
            trim_count += 1
    assert flush_count >= 40
    assert trim_count == 40
