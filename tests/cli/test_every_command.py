"""Every command explains itself, every list prints, and every listed model can be shown."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from sledlab import job
from sledlab.cli import cli
from sledlab.cli.help import GroupedHelp, is_advanced
from sledlab.cli.kinds import KINDS
from sledlab.model.catalog import CATALOGS

PROJECT = Path(__file__).parents[2]


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


def test_commands_in_messages_exist():
    for file in (PROJECT / "python/sledlab").rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        assert not re.search(r"sledlab \{\w+\} list", text), file
        for path in re.findall(r"sledlab (device|setup|trace) ([a-z][a-z-]+)", text):
            assert path in COMMANDS, f"{file}: sledlab {' '.join(path)}"


@pytest.mark.parametrize("kind", KINDS)
def test_every_list_prints(sledlab, kind):
    output = sledlab("list", kind).out
    assert all(name in output for name in KINDS[kind].names())
    assert len(sledlab("list", f"{kind}s", "--json").json) == len(KINDS[kind].names())


def test_list_without_kind_counts_members(sledlab):
    counts = {each["kind"]: each["count"] for each in sledlab("list", "--json").json}
    files = {
        "device": [*PROJECT.glob("presets/devices/*.toml")],
        "node": [*PROJECT.glob("presets/nodes/*.toml")],
        "network": [*PROJECT.glob("presets/networks/*.toml")],
        "experiment": [
            *PROJECT.glob("presets/experiments/*.toml"),
            *PROJECT.glob("papers/experiments/*.toml"),
        ],
        "trace": tomllib.loads((PROJECT / "sample/samples.toml").read_text())["traces"],
    }
    assert {kind: counts[kind] for kind in files} == {kind: len(result) for kind, result in files.items()}
    assert {*counts} == {*CATALOGS, "job", "trace", "experiment"}
    table = sledlab("list").out
    for kind, count in counts.items():
        assert count == len(sledlab("list", kind, "--json").json) > 0
        assert re.search(rf"{kind} +{count} ", table)


@pytest.mark.parametrize("kind", [kind for kind in CATALOGS if kind != "device"])  # see test_lists
def test_every_listed_model_is_shown(sledlab, kind):
    for entry in CATALOGS[kind].list():
        assert entry.name in sledlab("show", kind, entry.name).out


def test_every_listed_job_is_shown(sledlab):
    for listed in job.LIST:
        assert listed.name in sledlab("show", "job", listed.name).out


@pytest.mark.parametrize(
    "command",
    ["simulate", "compare", "serve", "view", "power", "hybrid", "fleet", "smart", "diff", "reproduce"],
)
def test_help_of_main_commands_fits_a_screen(sledlab, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    short = sledlab(command, "--help").out
    assert len(short.splitlines()) <= 40


def test_help_of_groups_has_no_truncated_lines(sledlab, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    for path in COMMANDS:
        lines = sledlab(*path, "--help").out.splitlines()[1:]
        assert [line for line in lines if line.endswith("...")] == [], path


@pytest.mark.parametrize(
    ("command", "beneath"), [("hybrid", "tune"), ("fleet", "split"), ("smart", "record|replay|show|size")]
)
def test_usage_of_a_study_names_its_commands(sledlab, command, beneath):
    assert f"| {beneath} ..." in sledlab(command, "--help").out.splitlines()[0]


def test_help_all_shows_every_option(sledlab):
    for path in COMMANDS:
        command = find_command(path)
        if isinstance(command, GroupedHelp):
            shown = sledlab(*path, "--help-all").out
            short = sledlab(*path, "--help").out
            for param in command.params:
                if isinstance(param, click.Option) and not param.hidden:
                    flag = max(param.opts, key=len)
                    assert re.search(rf"{flag}\b", shown), (path, flag)
                    assert bool(
                        re.search(rf"^  (-\w, )?{flag}(?![\w-])", short, re.MULTILINE)
                    ) != is_advanced(param)


def find_command(path):
    command = cli
    for name in path:
        command = command.get_command(click.Context(command), name)
    return command
