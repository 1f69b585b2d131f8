"""`sledlab init`: every file works as it is, and none is overwritten unasked."""

import re
import tomllib

import pytest
from sledlab.cli.init import TEMPLATES_BY_KIND

SHORT = {
    "experiment": ("--limit", "300"),
    "compare": ("--limit", "100", "--set", "replay.warmup=0", "--parallel", "1"),
    "job": ("--node-count", "2"),
}


def replace_options(text, options):
    """A command with some options, which replace those of the same name."""
    for flag, value in zip(options[::2], options[1::2], strict=True):
        if flag in text:
            at = text.index(flag)
            text = [*text[:at], *text[at + 2 :]]
        text = [*text, flag, value]
    return text


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """A directory with nothing in it."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("kind", TEMPLATES_BY_KIND)
def test_initial_file_runs_unchanged(sledlab, tmp_path, kind):
    wrote = sledlab("init", kind)
    assert wrote.code == 0, wrote.err
    (file,) = (each for each in tmp_path.iterdir() if each.is_file())
    assert wrote.out.startswith(f"wrote {file.name}\n")
    (first,) = re.findall(r"^try: sledlab (.*)$", wrote.out, re.MULTILINE)
    done = sledlab(*first.split(), *SHORT.get(kind, ()))
    assert done.code == 0, done.err


@pytest.mark.parametrize("kind", TEMPLATES_BY_KIND)
def test_commands_in_initial_file_work(sledlab, kind):
    assert sledlab("init", kind, f"other_{kind}").code == 0  # modules are imported once only
    (file,) = (
        f"other_{kind}{ending}"
        for ending in (".toml", ".py")
        if TEMPLATES_BY_KIND[kind].file.endswith(ending)
    )
    with open(file, encoding="utf-8") as text:
        commands = re.findall(r"^(?:#  |   ) sledlab (.*)$", text.read(), re.MULTILINE)
    assert commands
    for command in commands:
        short = () if kind in ("device", "power") else SHORT.get(kind, ())
        arguments = replace_options(command.split(), short if "replay" not in command else ())
        if kind == "scheduler" and arguments[0] == "compare":
            arguments = replace_options(arguments, ("--speedup", "1", "--limit", "100", "--parallel", "1"))
        done = sledlab(*arguments)
        assert done.code == 0, (command, done.err)


def test_nothing_is_overwritten_unasked(sledlab, tmp_path):
    mine = tmp_path / "mine.toml"
    mine.write_text("mine = true\n")
    sledlab("init", "experiment", "mine.toml").assert_refused("--replace")
    sledlab("init", "experiment", "mine").assert_refused("`mine.toml` exists")
    assert mine.read_text() == "mine = true\n"
    assert sledlab("init", "experiment", "mine.toml", "--replace").code == 0
    assert tomllib.loads(mine.read_text())["scheduler"]["kind"] == "sptf"


def test_names_that_cannot_be_are_refused(sledlab):
    sledlab("init", "scheduler", "my-own").assert_refused("name it my_own.py")
    sledlab("init", "scheduler", "own.toml").assert_refused("name it own.py")
    sledlab("init", "device", "nowhere/mine").assert_refused("nowhere")
    sledlab("init", "devise").assert_refused("device")


def test_experiment_shows_each_parameter_with_its_default(sledlab):
    assert sledlab("init", "experiment").code == 0
    with open("experiment.toml", encoding="utf-8") as text:
        lines = text.read().splitlines()
    for key in ("mode", "speedup", "warmup", "outside", "read_share"):
        assert any(line.startswith(f"# {key} = ") for line in lines), key
    assert max(map(len, lines)) < 170
