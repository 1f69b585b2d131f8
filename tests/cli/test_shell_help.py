"""Completion, man pages and `sledlab doctor`."""

import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, version

import pytest
from click.shell_completion import ShellComplete
from sledlab.cli import cli
from sledlab.cli import doctor as doctors
from sledlab.cli.completion import SHELLS, VARIABLE, keys, script

from tests.conftest import PROJECT


def completions(*words):
    """Completions of the last word."""
    return [
        item.value
        for item in ShellComplete(cli, {}, "sledlab", VARIABLE).get_completions(list(words[:-1]), words[-1])
    ]


@pytest.mark.parametrize(
    ("line", "completed_words"),
    [
        ("simul", ["simulate"]),
        ("sho", ["show"]),
        ("show scheduler zsptf-", ["zsptf-pyramid"]),
        ("simulate --devi", ["--device"]),
        ("simulate --device mems-g3", ["mems-g3", "mems-g3-disksim"]),
        ("simulate --device mems-g2 --scheduler pzs", ["pzsptf"]),
        ("simulate --workload tpc", ["tpcd", "tpcc"]),
        ("simulate --set device.active_t", ["device.active_tips"]),
        ("simulate --set replay.spe", ["replay.speedup"]),
        ("compare --vary device.active_t", ["device.active_tips"]),
        ("simulate --trace sample:m", ["sample:mail-a", "sample:mail-a-60s"]),
        ("simulate lee2009-st", ["lee2009-starvation"]),
        ("compare --scheduler fcfs,c-s", ["fcfs,c-scan"]),
        ("compare why", ["why-not-an-ssd"]),
        ("compare --device ssd", ["ssd-tlc"]),
        ("hybrid --replacement lru,sl", ["lru,slru"]),
        ("power --power imm", ["immediate"]),
        ("list sched", ["scheduler"]),
        ("show experiment raid", ["raid5-failure"]),
        ("smart replay --node csd", ["csd-arm"]),
        ("smart --job mafi", ["mafia"]),
        ("smart size --network hu", ["hub"]),
        ("trace info sample:oltp-bank", ["sample:oltp-bank-a"]),
        ("show device mems-20", ["mems-2000"]),
        ("setup completion z", ["zsh"]),
        ("init sch", ["scheduler"]),
    ],
)
def test_words_are_completed(line, completed_words):
    assert completions(*line.split(" ")) == completed_words


def test_shell_completes_files_and_ignores_typos():
    assert completions("simulate", "--trace", "app") == ["app"]
    for line in (
        "nothing-like-it ",
        "show nothing-like-it x",
        "simulate --speedup x --dev",
        "power shwo ",
    ):
        completions(*line.split(" "))


def test_every_setting_is_completed():
    assert len(keys()) == len(set(keys())) > 400
    assert {"device.active_tips", "hybrid.segment_kb", "node.mhz", "trace.sort_window"} <= set(keys())


@pytest.mark.parametrize("shell", SHELLS)
def test_completion_script_is_valid_for_its_shell(sledlab, shell):
    printed = sledlab("setup", "completion", shell).out
    assert printed == script(shell)
    assert VARIABLE in printed
    assert shutil.which(shell) is None or (
        subprocess.run([shell, "-n", "/dev/stdin"], input=printed, text=True, check=False).returncode == 0
    )
    sledlab("setup", "completion", "tcsh").assert_refused("bash")


def test_bash_completes_samples(tmp_path):
    bash = shutil.which("bash")
    assert bash is not None
    program = tmp_path / "sledlab"
    program.write_text(f"#!/bin/sh\nexec {sys.executable} -m sledlab\n")
    program.chmod(0o755)
    completion = "COMP_WORDS=(sledlab simulate --trace sample:ma); COMP_CWORD=3; _sledlab_completion sledlab"
    source = f'{script("bash")}\nPATH={tmp_path}:$PATH\n{completion}\necho "${{COMPREPLY[@]}}"'
    completed = subprocess.run([bash, "-c", source], capture_output=True, text=True, check=True)
    assert completed.stdout == "sample:mail-a sample:mail-a-60s\n"


def test_every_command_has_a_page_of_manual(sledlab, tmp_path):
    assert sledlab("setup", "man", tmp_path / "man1").code == 0
    pages = {file.name: file.read_text() for file in (tmp_path / "man1").iterdir()}
    assert {"sledlab.1", "sledlab-simulate.1", "sledlab-trace-info.1", "sledlab-hybrid-tune.1"} <= set(pages)
    for name, page in pages.items():
        headings = re.findall(r"^\.SH (.*)$", page, re.MULTILINE)
        assert headings[:3] == ["NAME", "SYNOPSIS", "DESCRIPTION"], name
        assert "\b" not in page
    assert ".B \\-\\-speedup S\n" in pages["sledlab-simulate.1"]
    referenced = {
        match.group(1) for page in pages.values() for match in re.finditer(r"^\.BR (\S+) \(1\)", page, re.M)
    }
    assert {f"{each}.1" for each in referenced} | {"sledlab.1"} == set(pages)


def test_doctor_lists_installed_and_missing_packages(sledlab, monkeypatch):
    findings_by_name = {each["what"]: each for each in sledlab("doctor", "--json").json}
    assert findings_by_name["numpy"]["found"] == version("numpy")
    assert all(each["found"] for each in findings_by_name.values() if each["needed"])
    assert "polars" in sledlab("doctor").out

    def installed_version(name):
        if name in ("duckdb", "polars"):
            raise PackageNotFoundError(name)
        return "1"

    monkeypatch.setattr(doctors, "version", installed_version)
    answer = sledlab("doctor")
    assert answer.code == 1
    missing = "duckdb is missing (required for queries, and tables of TPC-H):\n  pip install 'sledlab[jobs]'"
    assert missing in answer.out


def test_doctor_names_programs_by_feature(sledlab, monkeypatch):
    monkeypatch.setattr(
        doctors, "find_program", lambda name: None if name == "nbdfuse" else f"/usr/bin/{name}"
    )
    printed = sledlab("doctor").out
    features = "sledlab serve --attach file, loop, ext4"
    assert f"nbdfuse is missing (required for {features}):\n  apt-get install libnbd-bin" in printed
    assert "losetup is missing" not in printed
    programs_by_name = {each["what"]: each["found"] for each in sledlab("doctor", "--json").json}
    assert programs_by_name["fio"] == "/usr/bin/fio"


def test_doctor_knows_all_requirements():
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {re.split("[>=]", each)[0] for each in project["dependencies"]} == set(doctors.REQUIRED_PACKAGES)
    extras = {
        re.split("[>=; ]", each)[0]
        for requirements in project["optional-dependencies"].values()
        for each in requirements
    }
    assert extras - {"mpich"} <= {each.what for each in doctors.findings()}


def test_help_ends_with_the_address_of_the_documentation(sledlab):
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    address = project["urls"]["Documentation"]
    assert sledlab("--help").out.rstrip().endswith(f"\nDocumentation: {address}")
    assert sledlab("setup", "docs").out == f"{address}\n"
