"""`sledlab init`: every file works as it is, and none is overwritten unasked."""

import re
import tomllib

import pytest
from sledlab.cli.init import TEMPLATES_BY_KIND

SHORT_OPTIONS = {
    "experiment": ("--limit", "300"),
    "compare": ("--limit", "100", "--set", "replay.warmup=0", "--parallel", "1"),
    "job": ("--node-count", "2"),
}


def replace_options(arguments, options):
    """A command with some options, which replace those of the same name."""
    for flag, value in zip(options[::2], options[1::2], strict=True):
        if flag in arguments:
            position = arguments.index(flag)
            arguments = [*arguments[:position], *arguments[position + 2 :]]
        arguments = [*arguments, flag, value]
    return arguments


@pytest.fixture(autouse=True)
def empty_directory(tmp_path, monkeypatch):
    """Work in an empty directory."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("kind", TEMPLATES_BY_KIND)
def test_initial_file_runs_unchanged(sledlab, tmp_path, kind):
    answer = sledlab("init", kind)
    assert answer.code == 0, answer.err
    (file,) = (each for each in tmp_path.iterdir() if each.is_file())
    assert answer.out.startswith(f"wrote {file.name}\n")
    (suggested,) = re.findall(r"^try: sledlab (.*)$", answer.out, re.MULTILINE)
    completed = sledlab(*suggested.split(), *SHORT_OPTIONS.get(kind, ()))
    assert completed.code == 0, completed.err


@pytest.mark.parametrize("kind", TEMPLATES_BY_KIND)
def test_commands_in_initial_file_work(sledlab, kind):
    assert sledlab("init", kind, f"other_{kind}").code == 0  # modules are imported once only
    (file,) = (
        f"other_{kind}{suffix}"
        for suffix in (".toml", ".py", ".parv")
        if TEMPLATES_BY_KIND[kind].file.endswith(suffix)
    )
    with open(file, encoding="utf-8") as lines:
        commands = re.findall(r"^(?:#  |   ) sledlab (.*)$", lines.read(), re.MULTILINE)
    assert commands
    for command in commands:
        options = () if kind in ("device", "power") else SHORT_OPTIONS.get(kind, ())
        arguments = replace_options(command.split(), options if "replay" not in command else ())
        if kind == "scheduler" and arguments[0] == "compare":
            arguments = replace_options(arguments, ("--speedup", "1", "--limit", "100", "--parallel", "1"))
        answer = sledlab(*arguments)
        assert answer.code == 0, (command, answer.err)


def test_nothing_is_overwritten_unasked(sledlab, tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text("mine = true\n")
    sledlab("init", "experiment", "mine.toml").assert_refused("--replace")
    sledlab("init", "experiment", "mine").assert_refused("`mine.toml` exists")
    assert file.read_text() == "mine = true\n"
    assert sledlab("init", "experiment", "mine.toml", "--replace").code == 0
    assert tomllib.loads(file.read_text())["scheduler"]["kind"] == "sptf"


def test_invalid_file_names_are_refused(sledlab):
    sledlab("init", "scheduler", "my-own").assert_refused("name it my_own.py")
    sledlab("init", "scheduler", "own.toml").assert_refused("name it own.py")
    sledlab("init", "device", "nowhere/mine").assert_refused("nowhere")
    sledlab("init", "devise").assert_refused("device")


def test_experiment_shows_each_parameter_with_its_default(sledlab):
    assert sledlab("init", "experiment").code == 0
    with open("experiment.toml", encoding="utf-8") as file:
        lines = file.read().splitlines()
    for key in ("mode", "speedup", "warmup", "outside", "read_share"):
        assert any(line.startswith(f"# {key} = ") for line in lines), key
    assert max(map(len, lines)) < 170
