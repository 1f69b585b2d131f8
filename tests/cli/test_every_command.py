"""Every command explains itself, every list prints, and every listed model can be shown."""

from collections.abc import Iterator

import click
import pytest
from sledlab import job
from sledlab.cli import cli
from sledlab.cli.kinds import KINDS
from sledlab.model.catalogue import CATALOGUES


def commands(command: click.Command, *path: str) -> Iterator[tuple[str, ...]]:
    """Yield the words of a command and of all its subcommands."""
    yield path
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            subcommand = command.get_command(context, name)
            assert subcommand is not None
            yield from commands(subcommand, *path, name)


COMMANDS = list(commands(cli))


def test_every_command_prints_help(sledlab):
    assert len(COMMANDS) > 30
    for path in COMMANDS:
        assert sledlab(*path, "--help").code == 0, path


@pytest.mark.parametrize("kind", KINDS)
def test_every_list_prints(sledlab, kind):
    printed = sledlab("list", kind).out
    assert all(name in printed for name in KINDS[kind].names())
    assert len(sledlab("list", f"{kind}s", "--json").json) == len(KINDS[kind].names())


def test_list_without_kind_counts_members(sledlab):
    counts = {each["kind"]: each["count"] for each in sledlab("list", "--json").json}
    assert counts == {kind: len(each.names()) for kind, each in KINDS.items()}


@pytest.mark.parametrize("kind", [kind for kind in CATALOGUES if kind != "device"])  # see test_lists
def test_every_listed_model_is_shown(sledlab, kind):
    for entry in CATALOGUES[kind].list():
        assert entry.name in sledlab("show", kind, entry.name).out


def test_every_listed_job_is_shown(sledlab):
    for listed in job.LIST:
        assert listed.name in sledlab("show", "job", listed.name).out
