"""Libraries that commands import: those that take long are imported only where they are used."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SIMULATE = ("simulate", "--device", "mems-g2", "--workload", "uniform", "--limit", "300")
COMPARE = (
    *("compare", "--device", "mems-g2", "--workload", "uniform", "--limit", "300"),
    *("--scheduler", "fcfs,sptf", "--speedup", "1,2"),
)

REPORT_IMPORTS = """
import json, sys
from sledlab.cli import run
code = run(sys.argv[1:])
print(json.dumps([code, sorted({name.partition(".")[0] for name in sys.modules})]), file=sys.stderr)
"""
"""Program that runs a command line and prints the libraries that it imported."""


def imported_libraries(*arguments: str) -> set[str]:
    command = [sys.executable, "-c", REPORT_IMPORTS, *arguments]
    completed = subprocess.run(command, capture_output=True, text=True, check=True)
    code, libraries = json.loads(completed.stderr.splitlines()[-1])
    assert code == 0
    return set(libraries)


@pytest.mark.parametrize("arguments", [SIMULATE, (*SIMULATE, "--json"), COMPARE, (*COMPARE, "--json")])
def test_commands_without_files_import_no_tables_or_figures(arguments: tuple[str, ...]) -> None:
    slow_libraries = {
        "jinja2",
        "loky",
        "matplotlib",
        "multiprocessing",
        "numpy",
        "polars",
        "pyarrow",
        "socket",
    }
    assert imported_libraries(*arguments) & slow_libraries == set()


@pytest.mark.parametrize("arguments", [SIMULATE, COMPARE])
def test_pages_with_script_import_no_matplotlib(arguments: tuple[str, ...], tmp_path: Path) -> None:
    assert imported_libraries(*arguments, "--out", str(tmp_path)) & {"loky", "matplotlib", "pyarrow"} == set()
    assert "<script>" in (tmp_path / "report.html").read_text("utf-8")


def test_static_pages_are_drawn_by_matplotlib(tmp_path: Path) -> None:
    assert "matplotlib" in imported_libraries(*SIMULATE, "--out", str(tmp_path), "--static")
    assert (tmp_path / "report.html").read_text("utf-8").count("<svg") == 6
