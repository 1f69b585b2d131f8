"""sledlab among the other programs of a shell: compressed traces and pipes."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys

import pytest

from tests.conftest import SAMPLES
from tests.require import need

ENDINGS = {"gzip": ".gz", "zstd": ".zst", "xz": ".xz", "bzip2": ".bz2"}
REQUESTS = 2000


@pytest.fixture
def plain(run, sledlab_program, tmp_path):
    """The start of a recorded trace, as plain text."""
    run(*sledlab_program, "trace", "slice", SAMPLES / "mail-a.csv.zst", "plain.csv", "--limit", REQUESTS)
    return tmp_path / "plain.csv"


@pytest.mark.parametrize("program", ENDINGS)
def test_compressed_traces_give_equal_results(program, plain, run, sledlab_program, tmp_path):
    packed = tmp_path / f"packed.csv{ENDINGS[program]}"
    with plain.open("rb") as source, packed.open("wb") as target:
        subprocess.run([need(program), "-c"], stdin=source, stdout=target, check=True)
    assert packed.stat().st_size < plain.stat().st_size / 2
    # Recognized by content: the name may say anything.
    misnamed = tmp_path / "misnamed.csv"
    misnamed.write_bytes(packed.read_bytes())

    def simulate(path):
        messages = run(*sledlab_program, "simulate", "--device", "mems-g2", "--trace", path, "--json")
        result = json.loads(messages)
        del result["wall_s"], result["config"]["trace"]["file"]  # how long the work took, and on what
        return result

    expected = simulate(plain)
    assert expected["requests"] > REQUESTS / 2  # flushes and trims are not requests
    assert simulate(packed) == expected
    assert simulate(misnamed) == expected


@pytest.mark.parametrize("program", ["gzip", "zstd"])
def test_other_programs_read_compressed_output(program, plain, run, sledlab_program, tmp_path):
    packed = tmp_path / f"again.csv{ENDINGS[program]}"
    run(*sledlab_program, "trace", "convert", plain, packed)
    unpacked = run(need(program), "-dc", packed)
    assert unpacked == plain.read_text()


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
    done = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stdout.count("\n") == 1
    assert (tmp_path / "complaints").read_text() == ""
