"""Every meaning of one line that users read: of models, options, commands, jobs, columns, names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click
import sledlab
from sledlab import job
from sledlab.cli import cli
from sledlab.job.data import LIST as DATA
from sledlab.job.parameters import of_class
from sledlab.lazy import loaded
from sledlab.model import catalogue
from sledlab.studies import LIST as STUDIES
from sledlab.study.columns import Column, columns
from sledlab.traces.cloud import PARAMETERS
from sledlab.traces.samples import samples

DEFAULT = "  [default: "
"""How a default begins that stands behind a meaning in help."""


def meanings() -> Iterator[tuple[str, str]]:
    """Where each stands, and the meaning."""
    yield from of_models("catalogue", catalogue.everything())
    yield from of_commands("sledlab", cli)
    yield from of_jobs()
    yield from of_columns()
    yield from ((f"experiment {each.name}", each.meaning) for each in sledlab.experiment.list())
    yield from ((each.name, each.meaning) for folder in ("traces", "work") for each in samples(folder))
    yield from ((f"cloud:{name}", said.meaning) for name, said in PARAMETERS.items())
    yield from (
        (f"sl.{name}", first_line(name)) for name in sledlab.__all__ if name not in catalogue.CATALOGUES
    )


def of_models(where: str, part: Any) -> Iterator[tuple[str, str]]:
    """Those in the catalogue of the core, however deep."""
    if isinstance(part, Mapping):
        if "meaning" in part:
            yield f"{where}.{part['name']}", part["meaning"]
        where = f"{where}.{part['name']}" if "name" in part else where
        for name, below in part.items():
            yield from of_models(where if name == "parameters" else f"{where}.{name}", below)
    elif isinstance(part, list):
        for below in part:
            yield from of_models(where, below)


def of_commands(name: str, command: click.Command) -> Iterator[tuple[str, str]]:
    """Those of a command, its options, and of the commands below."""
    yield name, (command.help or "").partition("\n\n")[0].replace("\n", " ")
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            yield f"{name} {parameter.opts[0]}", (parameter.help or "").partition(DEFAULT)[0]
    if isinstance(command, click.Group):
        context = click.Context(command)
        for each in command.list_commands(context):
            below = command.get_command(context, each)
            assert below is not None
            yield from of_commands(f"{name} {each}", below)


def of_jobs() -> Iterator[tuple[str, str]]:
    """Those of jobs, of data, and of their parameters."""
    for listed in job.LIST:
        yield f"job {listed.name}", listed.meaning
        yield from (
            (f"job {listed.name}.{spec.name}", spec.meaning) for spec in job.find(listed.name).parameters
        )
    for data in DATA:
        yield f"data {data.name}", data.meaning
        yield from ((f"data {data.name}.{spec.name}", spec.meaning) for spec in of_class(data.kind))


def of_columns() -> Iterator[tuple[str, str]]:
    """Those of the columns of every table that a study leaves."""
    for study in STUDIES:
        outcome = loaded(f"sledlab.studies.{study.folder}.tables:{study.names[1]}")
        for table, kind in outcome.kinds.items():
            column: Column
            for name, column in columns(kind).items():
                yield f"{study.folder} {table}.{name}", column.meaning


def first_line(name: str) -> str:
    """What a public name is."""
    return (
        (getattr(sledlab, name).__doc__ or "").strip().partition("\n")[0] if not name.startswith("__") else ""
    )
