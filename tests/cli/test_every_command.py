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


def commands(command: click.Command, *words: str) -> Iterator[tuple[str, ...]]:
    """Yield the words of a command and of all its subcommands."""
    yield words
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            subcommand = command.get_command(context, name)
            assert subcommand is not None
            yield from commands(subcommand, *words, name)


COMMANDS = list(commands(cli))


def test_every_command_prints_help(sledlab):
    assert len(COMMANDS) > 30
    for words in COMMANDS:
        assert sledlab(*words, "--help").code == 0, words


def test_commands_in_messages_exist():
    for file in (PROJECT / "python/sledlab").rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        assert not re.search(r"sledlab \{\w+\} list", text), file
        for words in re.findall(r"sledlab (device|setup|trace) ([a-z][a-z-]+)", text):
            assert words in COMMANDS, f"{file}: sledlab {' '.join(words)}"


@pytest.mark.parametrize("kind", KINDS)
def test_every_list_prints(sledlab, kind):
    printed = sledlab("list", kind).out
    assert all(name in printed for name in KINDS[kind].names())
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
    assert {kind: counts[kind] for kind in files} == {kind: len(members) for kind, members in files.items()}
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
    printed = sledlab(command, "--help").out
    assert len(printed.splitlines()) <= 40


def test_help_of_groups_has_no_truncated_lines(sledlab, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    for words in COMMANDS:
        lines = sledlab(*words, "--help").out.splitlines()[1:]
        assert [line for line in lines if line.endswith("...")] == [], words


@pytest.mark.parametrize(
    ("command", "subcommands"), [("hybrid", "tune"), ("fleet", "split"), ("smart", "record|replay|show|size")]
)
def test_usage_of_a_study_names_its_commands(sledlab, command, subcommands):
    assert f"| {subcommands} ..." in sledlab(command, "--help").out.splitlines()[0]


def test_help_all_shows_every_option(sledlab):
    for words in COMMANDS:
        command = find_command(words)
        if isinstance(command, GroupedHelp):
            long_help = sledlab(*words, "--help-all").out
            short_help = sledlab(*words, "--help").out
            for param in command.params:
                if isinstance(param, click.Option) and not param.hidden:
                    flag = max(param.opts, key=len)
                    assert re.search(rf"{flag}\b", long_help), (words, flag)
                    assert bool(
                        re.search(rf"^  (-\w, )?{flag}(?![\w-])", short_help, re.MULTILINE)
                    ) != is_advanced(param)


def find_command(words):
    command = cli
    for name in words:
        command = command.get_command(click.Context(command), name)
    return command
