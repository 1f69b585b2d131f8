"""What the papers name, and where it is in sledlab: writes docs/coverage.md."""

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
from sledlab.cli import cli
from sledlab.model import catalogue, entries

from .markdown import table
from .page import write
from .simulator import EXPERIMENTS

SOURCE = Path(__file__).parent / "coverage.toml"
PAGE = "coverage.md"

NOUNS = {"device_kinds": "device", "power_policies": "power", "replacement_policies": "replacement"}
"""Keys of a configuration where they are not the name of a list without its `s`."""

BASELINES = ("disk", "mems", "disk-ram")
"""Configurations of `sledlab hybrid` that are no hybrids."""

SECTIONS = {
    "DM": "Devices",
    "LY": "Layouts",
    "SC": "Schedulers",
    "PW": "Power",
    "HY": "Hybrids",
    "CA": "Caches and replacement",
    "MT": "Metrics",
    "AN": "Analyses",
}


@dataclass(frozen=True)
class Named:
    """Something that a paper names."""

    code: str
    name: str
    where: str = ""
    """Its names in sledlab, in backquotes."""
    why: str = ""
    """Why sledlab has not got it, where it has not."""

    @property
    def section(self) -> str:
        """The heading it belongs under."""
        return SECTIONS[self.code[:2]]

    @property
    def cited(self) -> list[str]:
        """What stands in backquotes."""
        return re.findall(r"`([^`]+)`", self.where + self.why)


def named() -> list[Named]:
    """All that the papers name, in order."""
    found = tomllib.loads(SOURCE.read_text(encoding="utf-8"))["named"]
    return [Named(**each) for each in found]


@cache
def known() -> set[str]:
    """All names that can be cited: models, their parameters and choices, commands, experiments, results."""
    found = {"make bench", *commands(cli, "sledlab"), *(file.stem for file in EXPERIMENTS.glob("*.toml"))}
    for section, items in catalogue.everything().items():
        for item in [items] if isinstance(items, dict) else items:
            entry = entries.to_entry(item)
            found.add(entry.name)
            for spec in entry.parameters:
                found |= {spec.name, f"{NOUNS.get(section, section.removesuffix('s'))}.{spec.name}"}
                found |= set(spec.kind) if isinstance(spec.kind, tuple) else set()
    run = json.loads(sl.simulate(sl.workload("uniform"), "mems-g2", limit=100).to_json())
    return found | set(run) | set(run["response_time_ms"]) | set(BASELINES)


def commands(command: click.Command, name: str) -> Iterator[str]:
    """A command and those below it."""
    yield name
    if isinstance(command, click.Group):
        context = click.Context(command)
        for each in command.list_commands(context):
            below = command.get_command(context, each)
            if below is not None:
                yield from commands(below, f"{name} {each}")


def page() -> str:
    """The page."""
    everything = named()
    parts = [HEAD]
    for section in SECTIONS.values():
        rows = [(each.name, each.where or each.why) for each in everything if each.section == section]
        parts.append(f"## {section}\n\n{table('named in the papers | in sledlab', rows, words=2)}")
    return "\n\n".join(part.rstrip() for part in parts) + "\n"


HEAD = """# What the papers name

For readers of the papers: every device, layout, policy, metric and analysis that papers 000 to 003
name, and what it is called in sledlab; where sledlab has not got it, why. Storage nodes, paper 004, have
[a page of their own](reproduction/smart.md). What becomes of the papers' claims stands on the pages of
[scheduling](reproduction/scheduling.md), [power](reproduction/power.md) and
[hybrids](reproduction/hybrid.md). `python -m lab.coverage` writes this page."""


if __name__ == "__main__":
    write(page(), PAGE)
