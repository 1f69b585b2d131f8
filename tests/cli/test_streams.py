"""Standard output that is closed, full or no longer read: no traceback, and the right message."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

BANK = Path(__file__).parents[2] / "sample" / "traces" / "oltp-bank-a.csv.zst"
UNIFORM = "--device mems-g2 --workload uniform --limit 300"

COMMANDS = {
    "help": "--help",
    "text": f"simulate {UNIFORM}",
    "json": f"simulate {UNIFORM} --json",
    "list": "list device",
    "entry": "show scheduler zsptf",
    "device file": "show device mems-g2 --toml",
    "table": f"trace head {shlex.quote(str(BANK))} -n 2000",
    "study": f"compare {UNIFORM} --scheduler fcfs,sptf --speedup 1 --parallel 1",
    "stream": "trace generate uniform - --limit 100000 --to csv",
    "stream by its name": "trace generate uniform /dev/stdout --limit 100000 --to csv",
}
WRITE_MESSAGE = "wrote 100,000 requests to "
DISK_FULL_ERROR = (
    "error: standard output: cannot write: No space left on device\n"
    "  help: redirect it to a file system with free space\n"
)

QUICK_KINDS = ("help", "json", "table", "stream")
"""A command for each way to write to standard output: click, `print`, rich and the simulator."""

every_kind = pytest.mark.parametrize(
    "kind",
    [
        kind
        if kind in QUICK_KINDS
        else pytest.param(kind, marks=pytest.mark.slow("writes like another command"))
        for kind in COMMANDS
    ],
)


def run_in_shell(line, cwd):
    completed = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {line}"], capture_output=True, text=True, check=False, cwd=cwd
    )
    assert "Traceback" not in completed.stderr
    assert "Exception" not in completed.stderr
    return completed


def command(kind):
    return f"{shlex.quote(sys.executable)} -m sledlab {COMMANDS[kind]}"


@every_kind
@pytest.mark.parametrize("reader", ["head -n 1", "true"])
def test_a_reader_that_leaves_is_no_mistake(tmp_path, kind, reader):
    done = run_in_shell(f"{command(kind)} | {reader}", tmp_path)
    assert done.returncode == 0
    assert done.stderr == "" or done.stderr.startswith(WRITE_MESSAGE)
    assert done.stdout.count("\n") == (0 if reader == "true" else 1)


@pytest.mark.slow("where a reader leaves is a matter of luck: many times")
@pytest.mark.parametrize("kind", ["json", "table", "stream", "stream by its name"])
def test_a_reader_that_leaves_is_never_a_mistake(tmp_path, kind):
    for turn in range(20):
        reader = ("head -n 1", "true", f"head -c {turn * 700}", f"sleep 0.{turn:02}")[turn % 4]
        done = run_in_shell(f"{command(kind)} | {reader}", tmp_path)
        assert done.returncode == 0, reader
        assert done.stderr == "" or done.stderr.startswith(WRITE_MESSAGE), reader


@every_kind
def test_full_disk_error_names_the_stream(tmp_path, kind):
    done = run_in_shell(f"{command(kind)} < /dev/null > /dev/full", tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", DISK_FULL_ERROR)


@every_kind
def test_closed_output_exits_silently(tmp_path, kind):
    done = run_in_shell(f"{command(kind)} >&-", tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "" or done.stderr.startswith(WRITE_MESSAGE)


def test_unbuffered_output_is_written_at_once(tmp_path):
    script = (
        "from sledlab.cli import streams; import os; streams.prepare(); print('printed', end=''); os._exit(0)"
    )
    for unbuffered, printed in (("1", "printed"), ("", "")):
        line = f"PYTHONUNBUFFERED={unbuffered} {shlex.quote(sys.executable)} -c {shlex.quote(script)}"
        assert run_in_shell(line, tmp_path).stdout == printed


@pytest.mark.slow("draws a page in a process of its own")
def test_opened_files_do_not_replace_closed_streams(tmp_path):
    done = run_in_shell(f"{command('text')} --out run --requests all.csv <&- >&- 2>&-", tmp_path)
    assert done.returncode == 0
    assert (tmp_path / "all.csv").read_text().startswith("id,arrival_ns")
    assert (tmp_path / "run" / "report.html").read_text().startswith("<!doctype html>")


@pytest.mark.parametrize(
    "stream", ["2>&-", pytest.param("2>/dev/full", marks=pytest.mark.slow("four processes"))]
)
def test_closed_stderr_keeps_exit_code(tmp_path, stream):
    assert run_in_shell(f"{command('text')} {stream}", tmp_path).stdout
    for line, code in (("trace generate uniform a.csv --limit 10", 0), ("simulat", 2), ("simulate", 2)):
        done = run_in_shell(f"{shlex.quote(sys.executable)} -m sledlab {line} {stream}", tmp_path)
        assert (done.returncode, done.stdout, done.stderr) == (code, "", "")


def test_error_is_printed_with_closed_output(tmp_path):
    for output in ("> /dev/full", ">&-", "| true"):
        done = run_in_shell(f"{shlex.quote(sys.executable)} -m sledlab simulat {output}", tmp_path)
        assert done.stderr.startswith("error: unknown command `sledlab simulat`")


def test_parquet_goes_into_files(sledlab, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for out in ("-", "/dev/full"):
        answer = sledlab("trace", "generate", "uniform", out, "--limit", 10, "--to", "parquet")
        answer.assert_refused(f"cannot write Parquet to `{out}`")
    assert list(tmp_path.iterdir()) == []
