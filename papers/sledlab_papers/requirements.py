"""Requirements from the papers, by id, and where sledlab meets them: writes docs/requirements.md."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import click
import sledlab as sl
from sledlab import job
from sledlab.cli import cli
from sledlab.job.data import LIST as DATA
from sledlab.job.parameters import class_parameters
from sledlab.model import catalog, entries
from sledlab.studies.calibration.targets import CALIBRATIONS

from .markdown import table
from .paths import PROJECT

SOURCE = Path(__file__).parent / "requirements.toml"
PAGE = "requirements.md"

NOUNS = {"device_kinds": "device", "power_policies": "power", "replacement_policies": "replacement"}
"""Keys of a configuration that are not the name of a list without its `s`."""

BASELINES = ("disk", "mems", "disk-ram")
"""Configurations of `sledlab hybrid` that are no hybrids."""

SECTIONS = {
    "DM": "Devices",
    "LY": "Layouts",
    "SC": "Schedulers",
    "PW": "Power",
    "HY": "Hybrids",
    "CA": "Caches and replacement",
    "SM": "Smart storage",
    "WL": "Workloads",
    "MT": "Metrics",
    "AN": "Analyses",
}
"""The meaning of the letters in an id."""

ID = re.compile(rf"\b(?:{'|'.join(SECTIONS)})-\d+\b")
"""Pattern of an id, wherever it is cited."""


@dataclass(frozen=True)
class Requirement:
    """A requirement: something that a paper names, or that the laboratory needs besides."""

    id: str
    what: str
    """The requirement, in a line."""
    source: str
    """Papers by number, with sections, or another source."""
    where: str = ""
    """Its names in sledlab, in backquotes."""
    why: str = ""
    """Why sledlab does not meet it, where it does not."""

    @property
    def section(self) -> str:
        """The heading of its section on the page."""
        return SECTIONS[self.id[:2]]

    @property
    def names(self) -> list[str]:
        """The names in backquotes in `where`."""
        return re.findall(r"`([^`]+)`", self.where + self.why)


@cache
def requirements() -> list[Requirement]:
    """All requirements, in order."""
    measured = tomllib.loads(SOURCE.read_text(encoding="utf-8"))["requirement"]
    return [Requirement(**each) for each in measured]


@cache
def known_names() -> set[str]:
    """All names of sledlab: models, their parameters and choices, jobs, commands, experiments, results."""
    measured = {"make bench", *commands(cli, "sledlab"), *sl.experiment}
    for section, items in catalog.load_catalog().items():
        for item in [items] if isinstance(items, dict) else items:
            entry = entries.to_entry(item)
            measured.add(entry.name)
            for spec in entry.parameters:
                measured |= {spec.name, f"{NOUNS.get(section, section.removesuffix('s'))}.{spec.name}"}
                measured |= set(spec.kind) if isinstance(spec.kind, tuple) else set()
    run = json.loads(sl.simulate(sl.workload("uniform"), "mems-g2", limit=100).to_json())
    return measured | jobs() | set(CALIBRATIONS) | set(run) | set(run["response_time_ms"]) | set(BASELINES)


def jobs() -> set[str]:
    """Names of jobs, of their data, and of the parameters of data."""
    parameters = {spec.name for data in DATA for spec in class_parameters(data.kind)}
    return {each.name for each in job.LIST} | {each.name for each in DATA} | parameters


def commands(command: click.Command, name: str) -> Iterator[str]:
    """A command and all its subcommands, with their full names."""
    yield name
    if isinstance(command, click.Group):
        context = click.Context(command)
        for each in command.list_commands(context):
            below = command.get_command(context, each)
            if below is not None:
                yield from commands(below, f"{name} {each}")


def page() -> str:
    """The page in Markdown."""
    parts = [HEAD]
    for section in SECTIONS.values():
        rows = [
            (each.id, each.what, each.source, each.where or each.why)
            for each in requirements()
            if each.section == section
        ]
        parts.append(f"## {section}\n\n{table('id | what | paper, section | in sledlab', rows, words=4)}")
    return "\n\n".join(part.rstrip() for part in parts) + "\n"


HEAD = """# Requirements

This page lists each device, layout, policy, job, workload, metric and analysis of the five
[papers](papers.md), with its name in sledlab or the reason why it is omitted. `sledlab reproduce show H-15`
shows a claim of the [reproduction](reproduction/index.md). `python -m sledlab_papers.requirements` writes
this page from `papers/sledlab_papers/requirements.toml`."""


if __name__ == "__main__":
    (PROJECT / "docs" / PAGE).write_text(page(), encoding="utf-8")
