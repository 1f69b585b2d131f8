"""Modules imported at the start and for completion, during which a user waits at the Tab key.

Modules are counted, not milliseconds, which differ between machines; `make bench` measures those.
"""

import json
import subprocess
import sys

import pytest

COMPLETE = """
import json, sys
from click.shell_completion import ShellComplete
from sledlab.cli import cli
from sledlab.cli.man import walk

complete = ShellComplete(cli, {}, "sledlab", "_SLEDLAB_COMPLETE").get_completions

lines = json.loads(sys.argv[1])
if not lines:
    import click
    root = click.Context(cli, info_name="sledlab")
    lines = [[*context.command_path.split()[1:], "--"] for context in walk(cli, root)]
loaded = {}
for line in lines:
    before = set(sys.modules)
    assert complete(line[:-1], line[-1]), line
    loaded[" ".join(line)] = sorted(set(sys.modules) - before)
print(json.dumps(loaded))
"""
"""Program that completes lines in turn and prints the modules that each was the first to import."""

LIBRARIES = {
    *("distributed", "duckdb", "fsspec", "hashlib", "jinja2", "loky", "matplotlib", "multiprocessing"),
    *("numpy", "polars", "pyarrow", "rich", "socket", "subprocess"),
}
"""Libraries that no completion needs."""

DECLARATION_MODULES = {"sledlab.study", "sledlab.study.declaration", "sledlab.study.run"}
"""Modules of `sledlab.study` that declarations need before a study runs."""

EXECUTION_MODULES = {
    *("sledlab.job.node", "sledlab.job.record", "sledlab.job.task", "sledlab.model.error_location"),
    *("sledlab.runs.cluster", "sledlab.runs.compose", "sledlab.runs.execute", "sledlab.runs.result"),
    *("sledlab.show.columns", "sledlab.show.document", "sledlab.show.progress", "sledlab.traces.read"),
}
"""Modules that execute and show runs."""

PARTS = (
    *("face", "figures", "measuring", "plan", "steps", "tables", "summary"),
    *("cost", "energy", "histogram", "measure", "parts", "prices", "race", "recording", "replays", "rows"),
)
"""Modules of studies, and of what they share, other than declarations."""

VALUES = (
    ("simulate", "--scheduler", "s"),
    ("simulate", "--device", "mems-g2,atlas"),
    ("simulate", "--trace", "sample:"),
    ("simulate", "--set", "device."),
    ("compare", "--scheduler", "fcfs,s"),
    ("compare", "lee2009-f"),
    ("smart", "--job", "s"),
    ("smart", "--network", "i"),
    ("trace", "info", "sample:"),
    ("show", "scheduler", "s"),
    ("show", "experiment", "lee2009-f"),
    ("list", "s"),
)
"""Command lines that end in a name."""

MAX_MODULES = 40
"""Maximum number of modules of sledlab that a line may import."""

PROGRAMS = (
    "import sledlab",
    *(f"from sledlab.cli import run; run([{word!r}])" for word in ("--version", "--help")),
)
"""Programs that must import none of `LIBRARIES`."""


def imported_modules(lines=()):
    """Modules by the line that was the first to import them."""
    completed = subprocess.run(
        [sys.executable, "-c", COMPLETE, json.dumps(lines)], capture_output=True, text=True, check=True
    )
    return json.loads(completed.stdout)


def is_unneeded(module):
    """Whether no completion should import a module."""
    parts = module.split(".")
    return (
        parts[0] in LIBRARIES
        or module in EXECUTION_MODULES
        or (parts[:2] == ["sledlab", "study"] and module not in DECLARATION_MODULES)
        or (parts[:2] == ["sledlab", "studies"] and parts[-1] in PARTS)
    )


@pytest.mark.parametrize("lines", [(), VALUES], ids=["options", "names"])
def test_completion_imports_nothing_that_runs(lines):
    modules_by_line = imported_modules(lines)
    assert len(modules_by_line) >= len(VALUES)
    unneeded_by_line = {
        line: [each for each in modules if is_unneeded(each)] for line, modules in modules_by_line.items()
    }
    assert {line: modules for line, modules in unneeded_by_line.items() if modules} == {}


@pytest.mark.parametrize("line", [("simulate", "--sch"), ("smart", "--"), ("fleet", "--")])
def test_completion_imports_few_modules(line):
    (modules,) = imported_modules([line]).values()
    assert len([each for each in modules if each.startswith("sledlab.")]) < MAX_MODULES


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_start_imports_no_large_library(program):
    program += f"; import sys; assert not {LIBRARIES} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
