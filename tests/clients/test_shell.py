"""sledlab among the other programs of a shell: compressed traces and pipes."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys

import pytest

from tests.conftest import SAMPLES
from tests.require import need

SUFFIXES = {"gzip": ".gz", "zstd": ".zst", "xz": ".xz", "bzip2": ".bz2"}
REQUESTS = 2000


@pytest.fixture
def plain_trace(run, sledlab_program, tmp_path):
    """The start of a recorded trace, as plain text."""
    run(*sledlab_program, "trace", "slice", SAMPLES / "mail-a.csv.zst", "plain.csv", "--limit", REQUESTS)
    return tmp_path / "plain.csv"


@pytest.mark.parametrize("program", SUFFIXES)
def test_compressed_traces_give_equal_results(program, plain_trace, run, sledlab_program, tmp_path):
    compressed = tmp_path / f"packed.csv{SUFFIXES[program]}"
    with plain_trace.open("rb") as source, compressed.open("wb") as target:
        subprocess.run([need(program), "-c"], stdin=source, stdout=target, check=True)
    assert compressed.stat().st_size < plain_trace.stat().st_size / 2
    # Recognized by content: the name may say anything.
    misnamed = tmp_path / "misnamed.csv"
    misnamed.write_bytes(compressed.read_bytes())

    def simulate(path):
        printed = run(*sledlab_program, "simulate", "--device", "mems-g2", "--trace", path, "--json")
        summary = json.loads(printed)
        del summary["wall_s"], summary["config"]["trace"]["file"]  # how long the work took, and on what
        return summary

    plain_summary = simulate(plain_trace)
    assert plain_summary["requests"] > REQUESTS / 2  # flushes and trims are not requests
    assert simulate(compressed) == plain_summary
    assert simulate(misnamed) == plain_summary


@pytest.mark.parametrize("program", ["gzip", "zstd"])
def test_other_programs_read_compressed_output(program, plain_trace, run, sledlab_program, tmp_path):
    compressed = tmp_path / f"again.csv{SUFFIXES[program]}"
    run(*sledlab_program, "trace", "convert", plain_trace, compressed)
    decompressed = run(need(program), "-dc", compressed)
    assert decompressed == plain_trace.read_text()


COMMANDS = [
    "--help",
    "list device",
    "simulate --device mems-g2 --trace {trace} --limit 1000 --json",
    "trace head {trace} -n 2000",
    "trace convert {trace} /dev/stdout --to csv",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_pipe_into_head_closes_cleanly(command, tmp_path):
    """The reader exits after one line, without an error message."""
    python, trace = (shlex.quote(str(path)) for path in (sys.executable, SAMPLES / "mail-a.csv.zst"))
    line = f"{python} -m sledlab {command.format(trace=trace)} 2>complaints | head -n 1"
    completed = subprocess.run(
        ["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert completed.returncode == 0
    assert completed.stdout.count("\n") == 1
    assert (tmp_path / "complaints").read_text() == ""
