"""Control characters in names are escaped in all output."""

import json
import re

import pytest
from sledlab.show import terminal

NAME = "evil\x1b[31m<b>\x9b2J\u202e"
ESCAPED_NAME = "evil\\x1b[31m<b>\\x9b2J\\u202e"
CONTROL_CHARACTERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")
UNIFORM = ("--workload", "uniform", "--limit", "300")
REQUESTS = "time_us,op,offset_bytes,length_bytes\n0,R,0,4096\n900,W,8192,512\n"


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evil.toml").write_text(
        f'kind = "mems"\nname = {json.dumps(NAME)}\ndescription = "quiet\\u001b]0;title\\u0007"\n'
    )
    (tmp_path / f"{NAME}.csv").write_text(REQUESTS)
    (tmp_path / "late.csv").write_text(REQUESTS.replace("8192", "81\x1b[31m92"))
    (tmp_path / f"{NAME}.toml").write_text('kind = "mems"\n')


@pytest.mark.slow("every command that shows a name")
@pytest.mark.parametrize(
    "command",
    [
        ("show", "device", "evil.toml"),
        ("show", "device", "evil.toml", "--json"),
        ("show", "device", f"{NAME}.toml"),
        ("device", "seek-map", f"{NAME}.toml", "--save", "map.html"),
        ("simulate", "--device", "evil.toml", "--trace", f"{NAME}.csv", "--out", "run"),
        ("compare", "--device", "evil.toml", *UNIFORM, "--scheduler", "fcfs,sptf", "--speedup", "1,2"),
        ("compare", "--device", f"evil.toml,{NAME}.toml", *UNIFORM, "--out", "race"),
        (
            "power",
            "--device",
            "evil.toml",
            *UNIFORM,
            "--power",
            "fixed",
            "--out",
            "power",
        ),
        ("trace", "info", f"{NAME}.csv"),
        ("trace", "info", f"{NAME}.csv", "--json"),
        ("trace", "convert", f"{NAME}.csv", f"{NAME}-2.csv"),
    ],
    ids=lambda parts: " ".join(word for word in parts[:4] if word.isprintable()),
)
def test_names_with_control_characters_are_escaped(sledlab, tmp_path, command):
    answer = sledlab(*command, *(["--parallel", "1"] if command[0] in ("compare", "power") else []))
    assert answer.code == 0, answer.err
    assert CONTROL_CHARACTERS.search(answer.out + answer.err) is None
    if "--json" in command:
        assert NAME in (answer.json.get("name", ""), answer.json.get("file", "").removesuffix(".csv"))
    elif command[0] in ("device", "trace"):
        assert "\\x1b" in answer.out + answer.err
    for page in tmp_path.rglob("*.html"):
        html = page.read_text("utf-8")
        assert CONTROL_CHARACTERS.search(html) is None
        assert "evil\\x1b[31m&lt;b&gt;" in html or command[0] == "power"  # which names the file


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("simulate", "--device", NAME), f"unknown device `{ESCAPED_NAME}`"),
        (("simulate", "--device", "mems-g2", "--trace", f"no{NAME}"), f"no{ESCAPED_NAME}: cannot open"),
        (("trace", "info", "late.csv"), "late.csv:3:9"),
        (("show", "device", "mems-g2", "--set", f"device.{NAME}=1"), f"unknown key `device.{ESCAPED_NAME}`"),
        ((NAME,), f"unknown command `sledlab {ESCAPED_NAME}`"),
        ((f"--{NAME}",), "unknown option `--evil\\x1b"),
        (("simulate", f"{NAME}.xml"), f"cannot read the experiment `{ESCAPED_NAME}.xml`"),
    ],
    ids=lambda value: None if isinstance(value, str) else value[0] if value[0].isprintable() else "command",
)
def test_errors_escape_control_characters(sledlab, command, message):
    answer = sledlab(*command)
    answer.assert_refused(message)
    assert CONTROL_CHARACTERS.search(answer.err) is None


def test_files_that_are_no_traces_are_not_quoted(sledlab, tmp_path):
    (tmp_path / "shadow").write_text("root:$6$secret:19000:0:99999:7:::\n")
    (tmp_path / "run.toml").write_text('[device]\npreset = "mems-g2"\n\n[trace]\nfile = "shadow"\n')
    for command in (
        ("simulate", "run.toml"),
        ("simulate", "shadow"),
        ("trace", "info", "shadow"),
        ("smart", "show", "shadow"),
        ("compare", "--device", "mems-g2", "--trace", "shadow"),
    ):
        answer = sledlab(*command)
        answer.assert_refused("shadow")
        assert "secret" not in answer.err


def test_json_keeps_every_character_and_no_control(capsys):
    characters = "".join(map(chr, range(0x250))) + NAME + "日本\udcff"
    terminal.say_json({"name": characters})
    printed = capsys.readouterr().out
    assert json.loads(printed) == {"name": characters}
    assert CONTROL_CHARACTERS.search(printed.rstrip("\n")) is None
