"""docs/requirements.md: each name exists in sledlab, and each id that is cited anywhere has a row there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest
import sledlab as sl
from sledlab import job
from sledlab.cli import cli
from sledlab.job.data import LIST as DATA
from sledlab.job.parameters import class_parameters
from sledlab.model import catalog, entries
from sledlab.reproduction.verdicts import claims
from sledlab.studies.calibration.targets import CALIBRATIONS

from sledlab_papers.paths import PROJECT

PAGE = PROJECT / "docs" / "requirements.md"
ROW = re.compile(r"^\| ([A-Z]{2}-\d+) \|(.*)\|(.*)\|(.*)\|$", re.MULTILINE)
"""A row of the page: id, requirement, source, and names in sledlab or the reason why there are none."""
ROWS = {
    found[1]: [cell.strip() for cell in found.groups()[1:]] for found in ROW.finditer(PAGE.read_text("utf-8"))
}
NOUNS = {"device_kinds": "device", "power_policies": "power", "replacement_policies": "replacement"}
"""Keys of a configuration that are not the name of a list without its `s`."""
BASELINES = ("disk", "mems", "disk-ram")
"""Configurations of `sledlab hybrid` that are no hybrids."""

COUNTS = {
    "DM": 18,
    "LY": 10,
    "SC": 26,
    "PW": 17,
    "HY": 20,
    "CA": 7,
    "SM": 21,
    "WL": 18,
    "MT": 15,
    "AN": 14,
}
"""Entries of each kind, numbered from 1."""

FOLDERS = (
    "crates",
    "python",
    "papers",
    "docs",
    "presets",
    "tests",
    "validation",
    "examples",
    "sample",
    "web",
    "tools",
)
SUFFIXES = {".rs", ".py", ".pyi", ".toml", ".md", ".txt", ".ts", ".json", ".ipynb", ".html", ".patch"}
BUILD_FOLDERS = {"node_modules", "view", "target", "__pycache__", "build"}

CITED_ID = re.compile(r"\b[A-Z]{2}-\d{2}\b|\b[HWLYC]-\d{2}\b")
"""Ids of requirements and of claims."""


@cache
def known_names() -> set[str]:
    """Return all names of sledlab: models, parameters, choices, jobs, commands, experiments and results."""
    names = {"make bench", *commands(cli, "sledlab"), *sl.experiment}
    for section, items in catalog.load_catalog().items():
        for item in [items] if isinstance(items, dict) else items:
            entry = entries.to_entry(item)
            names.add(entry.name)
            for spec in entry.parameters:
                names |= {spec.name, f"{NOUNS.get(section, section.removesuffix('s'))}.{spec.name}"}
                names |= set(spec.kind) if isinstance(spec.kind, tuple) else set()
    run = json.loads(sl.simulate(sl.workload("uniform"), "mems-g2", limit=100).to_json())
    return names | jobs() | set(CALIBRATIONS) | set(run) | set(run["response_time_ms"]) | set(BASELINES)


def jobs() -> set[str]:
    """Return the names of jobs, of their data, and of the parameters of data."""
    parameters = {spec.name for data in DATA for spec in class_parameters(data.kind)}
    return {each.name for each in job.LIST} | {each.name for each in DATA} | parameters


def commands(command: click.Command, name: str) -> Iterator[str]:
    """Yield a command and all its subcommands, with their full names."""
    yield name
    if isinstance(command, click.Group):
        context = click.Context(command)
        for each in command.list_commands(context):
            subcommand = command.get_command(context, each)
            if subcommand is not None:
                yield from commands(subcommand, f"{name} {each}")


def text_files() -> Iterator[Path]:
    """Yield every file of the repository that may cite an id."""
    yield from PROJECT.glob("*.md")
    for place in FOLDERS:
        for file in (PROJECT / place).rglob("*"):
            if file.suffix in SUFFIXES and not BUILD_FOLDERS & {*file.relative_to(PROJECT).parts}:
                yield file


def unknown_ids(text: str) -> set[str]:
    """Return ids that are in neither list."""
    return {*CITED_ID.findall(text)} - {*ROWS} - {*claims()}


def test_entries_are_numbered_without_gaps() -> None:
    ids = [f"{kind}-{number:02}" for kind, count in COUNTS.items() for number in range(1, count + 1)]
    assert sorted(ROWS) == sorted(ids)


@pytest.mark.parametrize("requirement_id", ROWS)
def test_requirement_has_names_or_reason(requirement_id: str) -> None:
    requirement, source, names_or_reason = ROWS[requirement_id]
    assert requirement
    assert source
    assert names_or_reason
    assert {*re.findall(r"`([^`]+)`", names_or_reason)} <= known_names()


def test_cited_ids_exist() -> None:
    files = [*text_files()]
    unknown_ids_by_file = {
        str(file.relative_to(PROJECT)): unknown_ids(file.read_text(encoding="utf-8")) for file in files
    }
    assert len(files) > 1000
    assert {file: ids for file, ids in unknown_ids_by_file.items() if ids} == {}


def test_unknown_ids_are_found() -> None:
    planted_ids = "-".join(("SC", "77")), "-".join(("H", "99")), "-".join(("QQ", "01"))
    assert unknown_ids(
        f"as {planted_ids[0]}, {planted_ids[1]} and {planted_ids[2]} show, with SC-22 and H-15"
    ) == {*planted_ids}
