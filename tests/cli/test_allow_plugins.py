"""`--allow-plugins`: every command that reads files which may name plug-ins has the option."""

import sys

import click
import pytest
from sledlab.cli import cli

READS = {
    "simulate",
    "view",
    "serve",
    "compare",
    "hybrid",
    "hybrid tune",
    "power",
    "smart",
    "smart replay",
    "smart size",
    "fleet",
    "check",
    "reproduce run",
    "show",
    "trace generate",
    "trace slice",
}
"""Commands that read the files of experiments, studies or devices, and can run the plug-ins in them."""

CLASS = """
open("imported", "w").close()

class Tape:
    capacity_blocks = 1000
    startup_ms = 1.0
    idle_timeout_ms = 1.0

    def serve(self, request, now_ns):
        return 1000
"""


def named_commands(command, words=()):
    """Yield a command and its subcommands with their names."""
    if words:
        yield " ".join(words), command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from named_commands(command.get_command(context, name), (*words, name))


def test_commands_that_read_plugins_have_the_option():
    names = {
        name
        for name, command in named_commands(cli)
        if any(option.name == "allow_plugins" for option in command.params)
    }
    assert names == READS


@pytest.fixture
def tape_directory(tmp_path, monkeypatch):
    """A working directory with a device file that names a class."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taping_here.py").write_text(CLASS)
    (tmp_path / "tape.toml").write_text('kind = "taping_here:Tape"\n')
    (tmp_path / "in.csv").write_text("time_us,op,offset_bytes,length_bytes\n0,R,0,512\n")
    yield tmp_path
    sys.modules.pop("taping_here", None)


@pytest.mark.parametrize(
    "line",
    [
        "show device tape.toml",
        "trace generate uniform out.csv --limit 5 --device tape.toml",
        "trace slice in.csv out.csv --fit tape.toml",
        "check tape.toml --cases 1",
    ],
)
def test_device_file_with_class_needs_permission(sledlab, tape_directory, line):
    sledlab(*line.split()).assert_refused("not allowed to run")
    assert not (tape_directory / "imported").exists()
    assert "not allowed to run" not in sledlab(*line.split(), "--allow-plugins").err
    assert (tape_directory / "imported").exists()
