"""What is imported before there is anything to do: a word is completed while a user waits at the Tab key.

Modules are counted, not milliseconds, which differ between machines: `benches/first_use.py` has these.
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
"""Completes lines one after the other, and tells which modules each of them was the first to import."""

LIBRARIES = {
    *("distributed", "duckdb", "fsspec", "hashlib", "jinja2", "loky", "matplotlib", "multiprocessing"),
    *("numpy", "polars", "pyarrow", "rich", "socket", "subprocess"),
}
"""What no completion needs."""

DECLARATION_MODULES = {
    *("sledlab.study", "sledlab.study.configurations", "sledlab.study.declaration", "sledlab.study.run"),
}
"""What there is of the frame until a study runs."""

EXECUTION_MODULES = {
    *("sledlab.job.node", "sledlab.job.record", "sledlab.job.task", "sledlab.model.error_location"),
    *("sledlab.runs.cluster", "sledlab.runs.compose", "sledlab.runs.execute", "sledlab.runs.result"),
    *("sledlab.show.columns", "sledlab.show.document", "sledlab.show.progress", "sledlab.traces.read"),
}
"""What runs and shows something."""

PARTS = ("face", "figures", "measuring", "plan", "steps", "tables", "summary")
"""Modules of a study other than its declaration."""

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
"""Words that are names."""

MAX = 40
"""Modules of sledlab that a line may import, except those of the package itself."""

STARTS = (
    "import sledlab",
    *(f"from sledlab.cli import run; run([{word!r}])" for word in ("--version", "--help")),
)
"""Programs that need no library either."""


def imported_modules(lines=()):
    """Modules that each line was the first to import."""
    messages = subprocess.run(
        [sys.executable, "-c", COMPLETE, json.dumps(lines)], capture_output=True, text=True, check=True
    )
    return json.loads(messages.stdout)


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
    messages = imported_modules(lines)
    assert len(messages) >= len(VALUES)
    result = {line: [each for each in modules if is_unneeded(each)] for line, modules in messages.items()}
    assert {line: modules for line, modules in result.items() if modules} == {}


@pytest.mark.parametrize("line", [("simulate", "--sch"), ("smart", "--"), ("fleet", "--")])
def test_completion_imports_few_modules(line):
    (modules,) = imported_modules([line]).values()
    assert len([each for each in modules if each.startswith("sledlab.")]) < MAX


@pytest.mark.parametrize("program", STARTS)
def test_the_start_imports_no_large_library(program):
    program += f"; import sys; assert not {LIBRARIES} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
