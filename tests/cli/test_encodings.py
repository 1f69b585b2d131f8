"""Terminals that lack characters: every command works, and its output is readable."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from sledlab.terminal_text import STAND_INS, replace_unencodable, visible

ROOT = Path(__file__).parents[2]
BANK = "sample:oltp-bank-a"
WORK = "sample:sort"
UNIFORM = ["--device", "mems-g2", "--workload", "uniform", "--limit", "300"]
SHORT_STUDY = [*UNIFORM, "--parallel", "1"]

LOCALES = {
    "utf-8": {"PYTHONIOENCODING": "utf-8"},
    "cp1252": {"PYTHONIOENCODING": "cp1252"},
    "ascii": {"PYTHONIOENCODING": "ascii"},
    "C": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
}
CODECS = {"utf-8": "utf-8", "cp1252": "cp1252", "ascii": "ascii", "C": "ascii"}

COMMANDS = [
    ["--help"],
    ["power", "--help"],
    ["smart", "replay", "--help"],
    ["simulate", *UNIFORM],
    ["simulate", *UNIFORM, "--out", "run"],
    ["diff", "run", "run"],
    ["list", "device"],
    ["show", "device", "mems-g2"],
    ["show", "device", "atlas-10k"],
    ["device", "seek-map", "mems-g2"],
    ["list", "scheduler"],
    ["show", "scheduler", "zsptf"],
    ["list", "hybrid"],
    ["show", "cache", "write-back"],
    ["list", "merge"],
    ["list", "replacement"],
    ["list", "system"],
    ["show", "workload", "cello"],
    ["show", "job", "sort"],
    ["show", "node", "smart-2003"],
    ["list", "network"],
    ["trace", "generate", "uniform", "small.csv", "--limit", "300"],
    ["trace", "info", "small.csv"],
    ["trace", "head", "small.csv"],
    ["trace", "hits", "small.csv"],
    ["compare", *SHORT_STUDY, "--scheduler", "fcfs,sptf", "--speedup", "1,2"],
    ["power", *SHORT_STUDY, "--power", "fixed", "--timeout", "1,10"],
    ["smart", "show", WORK],
    ["smart", "replay", WORK, "--device", "mems-g2"],
]

RUN_ALL_PROGRAM = """
import json, sys
from sledlab.cli import run, streams
streams.prepare()
failed = [words for words in json.loads(sys.argv[1]) if run(words) != 0]
sys.exit(str(failed) if failed else 0)
"""


def run_python(arguments, locale, **options):
    environment = {name: value for name, value in os.environ.items() if name not in ("LC_ALL", "LANG")}
    return subprocess.run(
        [sys.executable, *arguments],
        env={**environment, **LOCALES[locale]},
        capture_output=True,
        check=False,
        **options,
    )


def run_in_locale(locale, *arguments, **options):
    return run_python(["-m", "sledlab", *arguments], locale, **options)


@pytest.mark.slow("runs every command")
@pytest.mark.parametrize("locale", LOCALES)
def test_every_command_in_every_encoding(tmp_path, locale):
    done = run_python(["-c", RUN_ALL_PROGRAM, json.dumps(COMMANDS)], locale, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"wrote 300 requests to small.csv\n")
    printed = done.stdout.decode(CODECS[locale])
    assert "Traceback" not in printed
    assert "\\u" not in printed  # every character has a replacement
    if CODECS[locale] == "ascii":
        assert "--------" in printed
        assert "|--" not in printed


@pytest.mark.parametrize("locale", LOCALES)
def test_json_and_device_files_are_always_unicode(tmp_path, locale):
    commands = [["show", "device", "mems-g2", "--json"], ["show", "device", "mems-g2", "--toml"]]
    json_output, toml_output = (run_in_locale(locale, *command, cwd=tmp_path).stdout for command in commands)
    assert json.loads(json_output.decode("utf-8"))["name"] == "mems-g2"
    assert tomllib.loads(toml_output.decode("utf-8"))["kind"] == "mems"


@pytest.mark.parametrize("locale", ["cp1252", "ascii"])
def test_names_that_a_stream_lacks_are_spelled(tmp_path, locale):
    (tmp_path / "日本.csv").write_text("time_us,op,offset_bytes,length_bytes\n0,R,0,4096\n", encoding="utf-8")
    done = run_in_locale(locale, "trace", "info", "日本.csv", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(rb"\u65e5\u672c.csv (csv): 1 request")
    result = json.loads(run_in_locale(locale, "trace", "info", "日本.csv", "--json", cwd=tmp_path).stdout)
    assert result["file"] == "日本.csv"


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize(
    "arguments",
    [
        ["trace", "info", b"tr\xff.csv"],
        ["trace", "convert", BANK, b"tr\xff.csv"],
        ["simulate", *UNIFORM, "--out", b"tr\xff"],
        ["simulate", "--device", "mems-g2", "--trace", b"tr\xff.csv"],
        ["diff", b"tr\xff", "b"],
    ],
    ids=["read", "write", "out", "trace", "diff"],
)
def test_names_that_are_no_text_are_refused(tmp_path, locale, arguments):
    done = run_in_locale(locale, *arguments, cwd=tmp_path)
    name = "tr\\xff" if "tr\\xff`" in done.stderr.decode() else "tr\\xff.csv"
    assert done.returncode == 2
    assert done.stderr.decode().splitlines() == [
        f"error: `{name}` is not valid UTF-8",
        "  help: rename the file, or create a link to it: ln -s FILE trace.csv",
    ]
    assert list(tmp_path.iterdir()) == []


def test_directory_name_outside_locale_is_an_error(tmp_path):
    done = run_in_locale("C", "simulate", *UNIFORM, "--out", "ausgänge", cwd=tmp_path)
    assert done.returncode == 2
    assert b"cannot be represented in the encoding of this locale" in done.stderr
    assert b"PYTHONUTF8=1" in done.stderr


def test_every_output_character_has_an_ascii_replacement():
    """Each character of messages has an ASCII replacement."""
    files = [*(ROOT / "python").rglob("*.py"), *(ROOT / "crates").rglob("src/**/*.rs")]
    characters = {
        character for file in files for character in file.read_text("utf-8") if not character.isascii()
    }
    assert characters - set(STAND_INS) <= set("óü")
    for character in STAND_INS:
        assert replace_unencodable("ascii", character).isascii()
        assert "\\" not in replace_unencodable("ascii", character)


def test_control_characters_are_visible_and_text_stays():
    characters = "".join(map(chr, range(0x250))) + "日本 –×µ"
    escaped = visible(characters)
    assert not {ord(character) for character in escaped} & ({*range(32), *range(127, 160)} - {9, 10})
    assert visible(escaped) == escaped
    assert [
        character for character in characters if character.isprintable() and character not in escaped
    ] == []
