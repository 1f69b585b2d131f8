"""Files get their names only when complete, and an error names the file that cannot be written."""

import json
import os
import random
import resource
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import polars as pl
import pytest
import sledlab as sl
from sledlab.files import Draft, atomic_write
from sledlab.results import MANIFEST, OUTCOME

from tests.cached_runs import cached_bytes, files

ROWS = 150_000

WORKLOAD = ("--device", "mems-g2", "--workload", "uniform", "--limit", 20_000)


def start(*arguments: object, **options: object) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "sledlab", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **options)


def run_to_end(*arguments: object) -> None:
    process = start(*arguments)
    _, err = process.communicate()
    assert process.returncode == 0, err


def run_and_kill(after_s: float, *arguments: object) -> None:
    process = start(*arguments)
    time.sleep(after_s)
    process.kill()
    process.communicate()


def check_trace(path: Path) -> None:
    assert sl.read_trace(path).frame().height == ROWS


def check_json(path: Path) -> None:
    assert path.read_text().endswith("\n")
    json.loads(path.read_text())


CHECKS = {
    "trace.csv.zst": check_trace,
    "trace.parquet": check_trace,
    "requests.parquet": lambda path: pl.read_parquet(path)["id"].len() == ROWS or pytest.fail(path.name),
    "timeline.parquet": pl.read_parquet,
    "summary.json": check_json,
    "timing.json": check_json,
    MANIFEST: check_json,
    OUTCOME: check_json,
    "experiment.toml": lambda path: tomllib.loads(path.read_text())["workload"]["kind"],
    "tables.tex": lambda path: path.read_text().endswith("\\end{tabular}\n") or pytest.fail(path.name),
    "report.html": lambda path: path.read_text().rstrip().endswith("</html>") or pytest.fail(path.name),
}


def commands(directory: Path, source: Path) -> dict[str, tuple[object, ...]]:
    generated = ("uniform", directory / "trace.csv.zst", "--limit", ROWS)
    return {
        "generate": ("trace", "generate", *generated),
        "convert": ("trace", "convert", source, directory / "trace.parquet"),
        "simulate": (
            "simulate",
            "--device",
            "mems-g2",
            "--workload",
            "uniform",
            "--limit",
            ROWS,
            "--out",
            directory,
        ),
    }


@pytest.mark.slow("runs each command to its end, and kills it three times before")
@pytest.mark.parametrize("name", ["generate", "convert", "simulate"])
def test_killed_program_leaves_only_complete_files(tmp_path, name):
    source, directory = tmp_path / "whole.csv.zst", tmp_path / "place"
    if name == "convert":
        generate = commands(tmp_path, source)["generate"]
        run_to_end(*generate)
        (tmp_path / "trace.csv.zst").rename(source)
    directory.mkdir()
    arguments = commands(directory, source)[name]
    start_s = time.monotonic()
    run_to_end(*arguments)
    duration_s = time.monotonic() - start_s
    names = {path.name for path in directory.iterdir()}
    rng = random.Random(duration_s)
    for _ in range(3):
        shutil.rmtree(directory)
        directory.mkdir()
        run_and_kill(duration_s * rng.uniform(0.2, 1), *arguments)
        for path in directory.iterdir():
            assert path.name in names or path.name.startswith(".part-")
            if path.name in names:
                CHECKS[path.name](path)
    run_to_end(*arguments)
    assert {path.name for path in directory.iterdir()} == names  # partial files are removed


def dead_process_id() -> int:
    """Id of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_only_partial_files_of_dead_processes_are_removed(tmp_path):
    name_format = Draft(tmp_path / "x.csv").write_path.name.replace(str(os.getpid()), "{}")
    alive = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    removed_names = [
        name_format.format(dead_process_id()),
        name_format.format(dead_process_id()).replace("x.csv", "y.parquet"),
    ]
    kept_names = [
        name_format.format(os.getpid()),
        name_format.format(alive.pid),
        "x.csv.part-1-",
        ".part-1-notes",
        ".part-x",
    ]
    kept_names.append(f".part-{dead_process_id()}-00000000-x.csv")  # of another machine
    for name in (*removed_names, *kept_names):
        (tmp_path / name).write_text("1")
    with atomic_write(tmp_path / "z.csv") as draft:
        draft.write_text("2")
    assert {path.name for path in tmp_path.iterdir()} == {*kept_names, "z.csv"}
    alive.communicate(b"\n")


def limit_file_size(max_bytes: int) -> dict[str, object]:
    """Options of a process that limit the size of its files, as a full disk does."""
    return {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (max_bytes, max_bytes))}


def assert_disk_full(name: str, directory: Path, *arguments: object) -> None:
    process = start(*arguments, **limit_file_size(30_000))
    _, err = process.communicate()
    stderr_text = err.decode()
    assert process.returncode == 2, stderr_text
    assert "Traceback" not in stderr_text
    assert f"{directory / name}" in stderr_text
    assert "File too large" in stderr_text
    assert ".part-" not in stderr_text
    assert not list(directory.glob(".part-*"))
    assert not (directory / name).exists()


COMPARE = ("compare", *WORKLOAD[:-1], 300, "--scheduler", "fcfs", "--speedup", 1, "--parallel", 1)


@pytest.mark.parametrize("name", ["x.csv.gz", "x.parquet"])
def test_a_trace_that_does_not_fit_is_named(tmp_path, name):
    assert_disk_full(name, tmp_path, "trace", "generate", "uniform", tmp_path / name, "--limit", 20_000)


@pytest.mark.parametrize("name", ["requests.parquet", "requests.csv"])
def test_requests_that_do_not_fit_are_named(tmp_path, name):
    assert_disk_full(name, tmp_path, "simulate", *WORKLOAD, "--requests", tmp_path / name)


@pytest.mark.slow("processes of their own, with pages")
def test_full_disk_error_names_file_of_run(tmp_path):
    assert_disk_full("requests.parquet", tmp_path, "simulate", *WORKLOAD, "--out", tmp_path)
    assert_disk_full("report.html", tmp_path, "simulate", *WORKLOAD[:-1], 50, "--out", tmp_path)


@pytest.mark.slow("processes of their own, with pages")
def test_full_disk_error_names_file_of_study(tmp_path):
    assert_disk_full("report.html", tmp_path, *COMPARE, "--out", tmp_path)


@pytest.mark.slow("processes of their own, with pages")
def test_runs_that_do_not_fit_are_named(tmp_path):
    seeds = ("--seed", "1..20")
    process = start(*COMPARE, *seeds, "--out", tmp_path, **limit_file_size(20_000))
    _, err = process.communicate()
    assert (process.returncode, b"Traceback" in err) == (2, False)
    (file,) = files(tmp_path)
    assert f"cannot write `{file}`: File too large" in err.decode()
    cached_before = file.read_bytes()
    assert cached_before.count(b"\n") > 5
    process = start(*COMPARE, *seeds, "--out", tmp_path)  # resumes
    process.communicate()
    assert (process.returncode, cached_bytes(tmp_path).count(b"\n")) == (0, 20)
    assert file.read_bytes().startswith(cached_before[: cached_before.rindex(b"\n") + 1])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_output_that_does_not_fit_is_named():
    with Path("/dev/full").open("w") as device:
        command = [sys.executable, "-m", "sledlab", "list", "device"]
        completed = subprocess.run(command, stdout=device, stderr=subprocess.PIPE, check=False)
    assert (completed.returncode, completed.stderr) == (
        2,
        b"error: standard output: cannot write: No space left on device\n"
        b"  help: redirect it to a file system with free space\n",
    )


def test_read_error_names_the_file_being_read(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"), atomic_write(tmp_path / "x") as draft:
        shutil.copyfile(tmp_path / "nowhere", draft)
