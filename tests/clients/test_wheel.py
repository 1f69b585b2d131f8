"""The wheel works by itself, in an empty directory: commands, experiments, and every example of help.

`SLEDLAB_WHEEL` names a wheel to test; without it one is built. The test's
environment uses the libraries of this one.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from sledlab.cli import cli
from sledlab.cli.man import walk
from sledlab.model import experiment

from tests.docs.blocks import SESSION, blocks, save_files, steps
from tests.require import need

PROJECT = Path(__file__).parents[2]
MAX_BYTES = 9_200_000
"""Of these, the recorded traces that pages use take 4 MB, and libraries for the encodings, archives, dates
and CSV of traces 0.5 MB."""
EXAMPLES = shlex.quote(str(PROJECT / "examples"))
PACKAGE = PROJECT / "python"
EXPERIMENTS = {
    name: file.relative_to(PACKAGE).as_posix() for name, file in sorted(experiment.files().items())
}
"""The file of each experiment in the wheel."""

Shell = Callable[..., str]

pytestmark = pytest.mark.slow("builds the wheel, installs it and runs everything that help says")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel under test."""
    if wheel_name := os.environ.get("SLEDLAB_WHEEL"):
        return Path(wheel_name).resolve()
    need("cargo")
    out = tmp_path_factory.mktemp("dist")
    options = ["--release", "--strip", "--locked", "--compression-level", "9"]
    build = [sys.executable, "-m", "maturin", "build", *options, "--out", str(out)]
    subprocess.run(build, cwd=PROJECT, check=True, capture_output=True)
    (built_wheel,) = out.glob("sledlab-*-cp311-abi3-*.whl")
    return built_wheel


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Programs of an environment with the wheel and the libraries of this one."""
    environment = tmp_path_factory.mktemp("clean") / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    python = environment / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(python)]
    install = [*pip, "install", "--quiet", "--no-index", "--no-deps", str(wheel)]
    subprocess.run(install, check=True, env=outside())
    (packages,) = (environment / "lib").glob("python3.*/site-packages")
    (packages / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python.parent


@pytest.fixture
def shell(programs: Path, tmp_path: Path) -> Shell:
    """Return a function that runs a shell line in an empty directory with the wheel's programs."""
    (tmp_path / "home").mkdir()
    directory = tmp_path / "here"
    directory.mkdir()
    # Programs of libraries, such as tpchgen-cli, are next to those of this environment.
    search_path = (programs, Path(sys.executable).parent, os.environ["PATH"])
    variables = {**outside(), "HOME": str(tmp_path / "home"), "PATH": ":".join(map(str, search_path))}

    def run(line: str, cwd: Path = directory) -> str:
        completed = subprocess.run(
            line, shell=True, cwd=cwd, env=variables, capture_output=True, text=True, check=False
        )
        assert completed.returncode == 0, f"{line}\n{completed.stderr}{completed.stdout}"
        return completed.stdout

    return run


def outside() -> dict[str, str]:
    """The environment of processes, without paths of this checkout."""
    return {name: text for name, text in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}


def test_wheel_is_small_and_complete(wheel: Path) -> None:
    assert wheel.stat().st_size < MAX_BYTES
    with zipfile.ZipFile(wheel) as files:
        names = set(files.namelist())
        metadata = next(name for name in names if name.endswith("METADATA"))
        metadata = files.read(metadata).decode()
    assert set(EXPERIMENTS.values()) <= names
    assert {"sledlab/sample/samples.toml", "sledlab/sample/work/sort.work"} <= names
    assert {"sledlab/sample/traces/oltp-bank-a.csv.zst", "sledlab/cli/templates/device.toml"} <= names
    assert not [name for name in names if re.search(r"(^|/)(tests?|validation|papers|docs|target)/", name)]
    assert "Project-URL: Repository" in metadata
    assert "Requires-Python: >=3.11" in metadata


COMMANDS = """
sledlab --version
sledlab --help
sledlab doctor
sledlab list device
sledlab show device mems-g2
sledlab show device atlas-10k --toml
sledlab device seek-map mems-g2 --json
sledlab list scheduler
sledlab show scheduler zsptf
sledlab show workload uniform
sledlab list node
sledlab show network rack-ethernet
sledlab list trace
sledlab trace info sample:oltp-orders-a-60s
sledlab trace head sample:kv-a-60s
sledlab trace slice sample:mail-a-60s cut.csv --limit 100
sledlab simulate --device mems-g2 --workload uniform --limit 10000 --json
sledlab simulate --device mems-g3 --trace sample:mail-a-60s --limit 5000 --out run
sledlab simulate run/experiment.toml --scheduler sptf --out run2
sledlab diff run run2
sledlab smart replay sample:sort --device mems-g2
sledlab init experiment && sledlab simulate experiment.toml
sledlab setup schema > experiment.schema.json
"""


def test_commands_run_in_an_empty_directory(shell: Shell) -> None:
    lines = COMMANDS.strip().splitlines()
    assert len(lines) >= 20
    printed_by_line = {line: shell(line) for line in lines}
    simulation = next(line for line in lines if line.endswith("--json") and "simulate" in line)
    assert json.loads(printed_by_line[simulation])["requests"] == 10_000
    assert "kv-a-60s" in printed_by_line["sledlab list trace"]
    assert str(PROJECT) not in shell("python -c 'import sledlab; print(sledlab.__file__)'")


def test_experiments_of_the_wheel_run(shell: Shell) -> None:
    listed = json.loads(shell("sledlab list experiment --json"))
    assert sorted(each["name"] for each in listed) == list(EXPERIMENTS)
    options = "--limit 200 --set replay.warmup=0 --seed 1 --speedup 1"
    shell(f"sledlab compare lee2009-figure-4 {options} --out figure")
    shell("sledlab simulate lee2009-starvation --limit 500")
    shell("sledlab compare why-not-an-ssd --limit 200 --speedup 1 --out ssd")
    shell("test -s figure/report.html && test -s ssd/report.html")


def examples() -> dict[str, list[str]]:
    """Every example of every command, by the command whose help has it."""
    examples_by_command = {}
    for context in walk(cli, click.Context(cli, info_name="sledlab")):
        lines = re.findall(r"^\s+(?:Try:  )?(sledlab .*)$", context.command.help or "", re.MULTILINE)
        if lines:
            examples_by_command[context.command_path] = lines
    return examples_by_command


TABLE = (
    "import polars; polars.DataFrame({'k': range(5000), 'v': [1.5] * 5000}).write_parquet('data/t.parquet')"
)
SIMULATE = "sledlab simulate --device mems-g2 --workload uniform --limit 2000"
COMPARE = "sledlab compare --device mems-g2 --workload uniform --scheduler fcfs,sptf --limit 2000"

PREPARATIONS = {
    "app.csv": "sledlab trace slice sample:mail-a-60s app.csv --limit 3000",
    "run-fcfs": f"{SIMULATE} --out run-fcfs && {SIMULATE} --scheduler sptf --out run-sptf",
    "before.parquet": f"{SIMULATE} --requests before.parquet && {SIMULATE} --requests after.parquet",
    "io_traces": "echo '3,W,0,4096,1' | gzip > io_traces.csv.gz",
    "view run": f"{SIMULATE} --out run",
    "plot run": f"{SIMULATE} --out run && {COMPARE} --out race",
    "plot tips": f"{COMPARE} --speedup 1,2 --vary device.active_tips=640,1280 --out tips",
    "explain run": f"{SIMULATE} --out run",
    "day-1": "for day in 1 2; do echo ${day}00,0,8,0,1283 > day-$day.csv; done",
    "check tape": f"cp {EXAMPLES}/tape.py .",
    "check clock": f"cp {EXAMPLES}/clock.py .",
    "my.sql": f'mkdir -p data && python -c "{TABLE}" && echo "SELECT v, count(*) FROM t GROUP BY v" > my.sql',
    "my_job.py": "sledlab init job",
    "--device mine.toml": "sledlab init device mine.toml",
    "./database.sh": "echo '#!/bin/sh' > database.sh && chmod +x database.sh",
    "sort-4.work": "for n in 4 8; do sledlab smart record --job sort --scale-factor 0.01 --node-count $n "
    "--work sort-$n.work; done",
    "~/": "mkdir -p ~/.local/share/bash-completion/completions ~/.zfunc ~/.config/fish/completions",
}
"""Commands that make the input files of examples, by a word in the example."""

LONG_EXAMPLES = re.compile(
    r"smart (--job sort|--query q5|study/study|size|record --(job sort|query q5|job join))|race-of-sleds"
    r"|--limit 1e5 --(seeds|budget)|--workload hplajw|--replacement lru,slru|--budget 512 --out tuned"
)
"""Examples that take minutes, for data of full size or many long runs: only `--everything` runs them."""

MEASURED_DRIVES = re.compile("--measured")
"""Examples on measured drives, which are not part of sledlab."""


@pytest.mark.parametrize("command", examples())
def test_examples_of_help_run_as_they_stand(
    command: str, shell: Shell, request: pytest.FixtureRequest
) -> None:
    lines = [line for line in examples()[command] if not MEASURED_DRIVES.search(line)]
    if not request.config.getoption("--everything"):
        lines = [line for line in lines if not LONG_EXAMPLES.search(line)]
    for word, preparation in PREPARATIONS.items():
        if any(word in line for line in lines):
            shell(preparation)
    for line in lines:
        shell(line)


UNRUNNABLE = re.compile(r"pip install|\bmake |s3://|https?://|--measured|\.rust|--mpi|\bdask ")
"""Commands that change the installation, build a checkout, or need networks, drives and other programs."""

INPUT_FILES = {
    "app.csv.zst": "sledlab trace slice sample:mail-a-60s app.csv.zst --limit 3000",
    '"app.csv"': PREPARATIONS["app.csv"],
    '"a.csv"': "for name in a b; do sledlab trace slice sample:mail-a-60s $name.csv --limit 500; done",
    "mine.csv": "sledlab trace slice sample:mail-a-60s mine.csv --limit 3000",
    "traces": "mkdir traces && for name in kv mail; do "
    "sledlab trace slice sample:$name-a-60s traces/$name.csv --limit 500; done",
    "tape:Tape": PREPARATIONS["check tape"],
    "io_traces": PREPARATIONS["io_traces"],
}
"""Commands that make the reader's files, by a word in the page."""


def runnable_steps(page: Path, *, everything: bool) -> list[list[str]]:
    """The blocks of a page that are run, each as its language and text."""
    runnable = []
    for step in steps(blocks(page.read_text(encoding="utf-8"))):
        text = step.block.text
        if UNRUNNABLE.search(text) or (LONG_EXAMPLES.search(text) and not everything):
            continue
        runnable.append([step.block.language, text])
    return runnable


FILES = [PROJECT / "README.md", *sorted((PROJECT / "docs").rglob("*.md"))]
PAGES = [page for page in FILES if runnable_steps(page, everything=True)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_of_pages_run_in_order(
    page: Path, shell: Shell, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    page_blocks = runnable_steps(page, everything=request.config.getoption("--everything"))
    save_files(blocks(page.read_text(encoding="utf-8")), tmp_path / "here")
    text = "".join(text for _, text in page_blocks)
    for word, preparation in INPUT_FILES.items():
        if re.search(rf"(?<![\w/-]){re.escape(word)}", text):
            shell(preparation)
    session, page_steps = tmp_path / "session.py", tmp_path / "steps.json"
    session.write_text(SESSION)
    page_steps.write_text(json.dumps(page_blocks))
    shell(f"MPLBACKEND=Agg COLUMNS=120 python {session} < {page_steps}")


def test_examples_of_docstrings_run(shell: Shell, tmp_path: Path) -> None:
    program = tmp_path / "examples.py"
    program.write_text(
        "import doctest, importlib, pkgutil, sledlab\n"
        "found = doctest.TestResults(0, 0)\n"
        "options = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS\n"
        "tried = 0\n"
        "for each in pkgutil.walk_packages(sledlab.__path__, 'sledlab.'):\n"
        "    if each.name.endswith('__main__') or '._native' in each.name:\n"
        "        continue\n"
        "    result = doctest.testmod(importlib.import_module(each.name), optionflags=options)\n"
        "    assert result.failed == 0, each.name\n"
        "    tried += result.attempted\n"
        "print(tried)\n"
    )
    assert int(shell(f"python {program}").split()[-1]) > 200
