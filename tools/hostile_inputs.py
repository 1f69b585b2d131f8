"""Random input files for `tools/attack.py`: from the JSON Schemas of files, and mutated lines of traces."""

from __future__ import annotations

import gzip
import json
import math
import re
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import sledlab
from sledlab.cli import cli
from sledlab.cli.schema import file_schema, study_schema
from sledlab.model.settings import to_toml
from sledlab.studies import LIST

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from random import Random


@dataclass(frozen=True)
class HostileInput:
    """A command and its files.

    Attributes:
        kind: Kind of the input.
        command: Arguments of `sledlab`; the current directory holds the files.
        files: Contents by name.
    """

    kind: str
    command: tuple[str, ...]
    files: Mapping[str, bytes]


HOSTILE_VALUES: tuple[Any, ...] = (
    *(True, 0, -1, 1, 2**31, 2**63 - 1, -(2**63), 0.5, -0.0, 1e-300, 1e308, math.nan, math.inf, -math.inf),
    *("", "none", "all", "a:B", "../x.toml", "a\0b", "\u202e", "x" * 5000, "1..3", "https://host/x"),
    *([], [0], [[]], ["a"], [math.nan], {}, {"a": {"b": 1}}),
)

HOSTILE_SHARE = 0.02
"""Share of values that ignore their schema."""

NUMBERS = (b"0", b"-1", b"1", b"9223372036854775808", b"18446744073709551615", b"1e999", b"nan", b"", b"0x10")

TRACES: Mapping[str, bytes] = {
    "csv": b"time_us,op,offset_bytes,length_bytes\n0,R,0,4096\n10.5,W,8192,512\n20,F,0,0\n30,T,4096,4096\n",
    "disksim-ascii": b"0.0 0 1234 8 1\n1.5 0 99 16 0\n",
    "spc": b"0,303567,3584,w,0.000000\n1,55590,3072,r,0.000001\n",
    "msr": b"128166372003061629,hm,1,Read,383496192,32768,1134\n128166372016382155,hm,1,Write,0,4096,9\n",
    "fio": b"fio version 2 iolog\n/dev/sda add\n/dev/sda open\n/dev/sda read 0 4096\n/dev/sda write 0 512\n",
    "blkparse": b"  8,0    1        1     0.000000000  1234  Q   R 223490 + 8 [fio]\n",
    "alibaba": b"419,W,8792731648,16384,1577808144360767\n725,R,59110326272,360448,1577808144360974\n",
    "tencent": b"1538323200,12910952,128,0,1063\n1538323201,6338688,8,1,1627\n",
}
"""A few lines of each text format."""

UNIFORM = {"workload": {"kind": "uniform"}, "replay": {"limit": 20}}


@cache
def schema(kind: str) -> Mapping[str, Any]:
    """The schema of a kind of file."""
    return file_schema(kind)


def random_value(
    rng: Random, value_schema: Mapping[str, Any], root: Mapping[str, Any], depth: int = 0
) -> Any:
    """Return a value that a schema accepts, or now and then any value."""
    if rng.random() < HOSTILE_SHARE or depth > 6:
        return rng.choice(HOSTILE_VALUES)
    if "$ref" in value_schema:
        return random_value(rng, root["$defs"][value_schema["$ref"].rpartition("/")[2]], root, depth)
    if "anyOf" in value_schema:
        return random_value(rng, rng.choice(value_schema["anyOf"]), root, depth + 1)
    if "const" in value_schema or "enum" in value_schema:
        return value_schema["const"] if "const" in value_schema else rng.choice(value_schema["enum"])
    kind = value_schema.get("type", "string")
    kind = rng.choice(kind) if isinstance(kind, list) else kind
    low = value_schema.get("minimum", 0)
    high = value_schema.get("maximum", low + rng.choice((1, 10, 1000)))
    if kind == "object":
        names = list(value_schema.get("properties", {}))
        chosen_names = {
            *value_schema.get("required", ()),
            *rng.sample(names, min(len(names), rng.choice((0, 1, 2, 4)))),
        }
        return {
            name: random_value(rng, value_schema["properties"][name], root, depth + 1)
            for name in chosen_names
        }
    if kind == "array":
        item = value_schema.get("items", {"type": "integer"})
        return [random_value(rng, item, root, depth + 1) for _ in range(rng.choice((0, 1, 2, 5)))]
    scalars: Mapping[str, Callable[[], Any]] = {
        "boolean": lambda: rng.random() < 0.5,
        "integer": lambda: rng.choice((low, high, rng.randint(int(low), int(min(high, low + 100))))),
        "number": lambda: rng.choice((low, high, rng.uniform(low, high))),
    }
    return scalars.get(kind, lambda: rng.choice(("mems-g2", "sptf", "word", "1", "a=1")))()


def to_file(rng: Random, tables: Mapping[str, Any]) -> bytes:
    """Return tables as TOML, now and then with damaged bytes."""
    toml_bytes = "".join(f"{name} = {to_toml(value)}\n" for name, value in tables.items()).encode(
        errors="replace"
    )
    return mutate(rng, toml_bytes) if rng.random() < 0.1 else toml_bytes


def mutate(rng: Random, content: bytes) -> bytes:
    """Return content with a few bytes, numbers or lines changed."""
    for _ in range(rng.choice((1, 1, 2, 5))):
        position = rng.randrange(len(content) + 1)
        lines = content.splitlines(keepends=True) or [b""]
        line = rng.choice(lines)
        fields = [field for field in line.replace(b",", b" ").split() if field]
        field = rng.choice(fields) if fields else b""
        content = rng.choice(
            (
                content[:position] + bytes([rng.randrange(256)]) + content[position + 1 :],
                content[:position] + content[position + rng.randrange(20) :],
                content.replace(field, rng.choice(NUMBERS), 1) if field else content,
                content.replace(line, line * rng.choice((0, 2, 1000)), 1) if line else content,
                content[:position],
            )
        )
    return content


def trace(rng: Random) -> HostileInput:
    """A mutated trace."""
    content = mutate(rng, rng.choice(list(TRACES.values())))
    content = mutate(rng, gzip.compress(content)) if rng.random() < 0.1 else content
    commands = (
        ("trace", "info", "trace"),
        ("trace", "convert", "trace", "out"),
        ("simulate", "--device", "ram", "--outside", "wrap", "--limit", "100", "--trace", "trace"),
    )
    return HostileInput("trace", rng.choice(commands), {"trace": content})


def experiment(rng: Random) -> HostileInput:
    """An experiment of one system: device, hybrid, cache, array, scheduler and power policy."""
    root = schema("experiment")
    names = (
        "device",
        "front",
        "hybrid",
        "system",
        "cache",
        "scheduler",
        "power",
        "merge",
        "replay",
        "workload",
    )
    tables = {"device": "mems-g2", **UNIFORM}
    for name in rng.sample(names, rng.choice((1, 1, 2, 3))):
        tables[name] = random_value(rng, root["$defs"][name], root)
    if isinstance(tables["replay"], dict):
        tables["replay"]["limit"] = 20
    return HostileInput("experiment", ("simulate", "file.toml"), {"file.toml": to_file(rng, tables)})


def study(rng: Random) -> HostileInput:
    """A study, a fleet included: random values of its axes."""
    study_entry = rng.choice([each for each in LIST if each.name != "smart"])
    options_schema = study_schema(study_entry.folder)
    options = random_value(rng, options_schema, options_schema)
    options = options if isinstance(options, dict) else {}
    is_fleet = study_entry.name == "fleet"
    required_options = {"place": ".", "device": "ram"} if is_fleet else {}
    base_tables: Mapping[str, Any] = {} if is_fleet else {"device": "mems-g2", **UNIFORM}
    tables = {"study": {**required_options, **options, "kind": study_entry.name}, **base_tables}
    command = "hybrid tune" if study_entry.name == "tune" else study_entry.parent or study_entry.name
    files = {"file.toml": to_file(rng, tables), "volume.csv": TRACES["csv"]}
    return HostileInput(study_entry.name, (*command.split(), "file.toml", "--parallel", "1"), files)


def prices(rng: Random) -> HostileInput:
    """A file of prices."""
    names = ("node", "device", "device_gb", "network", "kwh", "years", "other")
    value_makers = (lambda: rng.choice(HOSTILE_VALUES), lambda: {"ram": rng.choice((1, 0.5, 0))})
    tables = {name: rng.choice(value_makers)() for name in rng.sample(names, 2)}
    command = (
        "smart",
        "--work",
        "sample:sort",
        "--device",
        "ram",
        "--price",
        "prices.toml",
        "--parallel",
        "1",
    )
    return HostileInput("prices", command, {"prices.toml": to_file(rng, tables)})


def model(rng: Random) -> HostileInput:
    """A file of a device, node or network."""
    kind = rng.choice(("device", "node", "network"))
    root = schema(kind)
    tables = random_value(rng, root, root)
    content = to_file(rng, tables if isinstance(tables, dict) else {"kind": "ram"})
    return HostileInput(kind, ("show", kind, "file.toml"), {"file.toml": content})


RESULTS = ("None", "1", "-1", "'x'", "[]", "self", "float('nan')", "1 / 0", "{}.x", "2**70", "object()")
"""Expressions that methods of a plug-in return, or that raise."""


def plugin(rng: Random) -> HostileInput:
    """A plug-in whose methods return wrong values or raise exceptions."""
    methods = {"push": "request", "pop": "now_ns, device", "__len__": "", "serve": "request", "requests": ""}
    lines = ["class Mine:"]
    for name in rng.sample(list(methods), rng.choice((0, 3, 5))):
        arguments = ", ".join(filter(None, ("self", methods[name])))
        lines += [f"    def {name}({arguments}):", f"        return {rng.choice(RESULTS)}"]
    lines += [f"    {rng.choice(('capacity_blocks', 'x'))} = {rng.choice(('1', '-1', 'None'))}"]
    simulate_command = (
        "simulate",
        "--device",
        "mems-g2",
        "--workload",
        "uniform",
        "--limit",
        "20",
        "--scheduler",
        "mine:Mine",
    )
    command = rng.choice((("check", "mine:Mine"), simulate_command))
    return HostileInput("plug-in", command, {"mine.py": "\n".join(lines).encode()})


OPTION_BASES: Mapping[str, tuple[str, ...]] = {
    "simulate": ("--device", "mems-g2", "--workload", "uniform", "--limit", "20"),
    "compare": ("--device", "mems-g2", "--workload", "uniform", "--limit", "20", "--scheduler", "fcfs"),
    "power": ("--device", "mems-g2", "--workload", "uniform", "--limit", "20", "--power", "never"),
    "hybrid": ("--trace", "sample:oltp-bank-a", "--limit", "20", "--configuration", "mcd-all"),
    "fleet": (".", "--device", "ram"),
    "smart": ("--work", "sample:exchange", "--device", "ram"),
    "smart replay": ("sample:exchange", "--device", "ram"),
    "trace info": ("trace.csv",),
    "trace hits": ("trace.csv",),
    "trace head": ("trace.csv",),
    "trace convert": ("trace.csv", "out"),
    "trace slice": ("trace.csv", "out"),
    "trace generate": ("uniform", "out", "--limit", "20"),
    "check": ("sptf", "--cases", "1"),
}
"""Commands with arguments to which one more option is added."""

NO_FILES = re.compile(r"^(?!.*(FILE|DIR|ADDRESS|COMMAND|PLACE))")
"""Stand-ins of values that name no file."""

OPTION_VALUES = (
    *(
        "0",
        "-1",
        "0.5",
        "nan",
        "inf",
        "-inf",
        "1e-320",
        "1e308",
        "1e999",
        "1e1000000000",
        "1..3",
        "1,2",
        "none",
    ),
    *("all", "", "x", "9223372036854775808", "18446744073709551616", "99999999999999999999", "10k", "64MiB"),
)


@cache
def value_options(path: str) -> tuple[str, ...]:
    """The options of a command that take a value, and name no file."""
    command: Any = cli
    for word in path.split():
        command = command.get_command(click.Context(command), word)
    return tuple(
        max(each.opts, key=len)
        for each in command.params
        if isinstance(each, click.Option) and not each.is_flag and each.nargs == 1
        if NO_FILES.match(each.metavar or "")
    )


def option(rng: Random) -> HostileInput:
    """A command with any value for one of its options."""
    path = rng.choice(list(OPTION_BASES))
    flag = rng.choice(value_options(path))
    base_arguments = list(OPTION_BASES[path])
    if flag in base_arguments:
        del base_arguments[base_arguments.index(flag) : base_arguments.index(flag) + 2]
    command = (*path.split(), *base_arguments, flag, rng.choice(OPTION_VALUES))
    return HostileInput("option", command, {"trace.csv": TRACES["csv"]})


@cache
def saved_results(kind: str) -> Mapping[str, bytes]:
    """The files of a run, a study or a replay in the directory `saved`."""
    uniform = sledlab.workload("uniform")
    with tempfile.TemporaryDirectory() as directory:
        if kind == "simulate":
            sledlab.simulate(uniform, "mems-g2", limit=50, out=directory)
        elif kind == "compare":
            sledlab.compare(
                uniform, "mems-g2", scheduler="fcfs", speedup=1, limit=50, parallel=1, out=directory
            )
        else:
            sledlab.replay("sample:exchange", "ram", out=directory)
        files = [path for path in Path(directory).rglob("*") if path.is_file()]
        return {
            f"saved/{path.relative_to(directory).as_posix()}": path.read_bytes() for path in sorted(files)
        }


def results(rng: Random) -> HostileInput:
    """Results of which one file is damaged, missing, or has another JSON value."""
    files = dict(saved_results(rng.choice(("simulate", "compare", "replay"))))
    name = rng.choice([each for each in files if not each.endswith((".html", ".tex", ".csv"))])
    content = files.pop(name)
    if name.endswith(".json") and rng.random() < 0.5:
        files[name] = json.dumps(damage_value(rng, json.loads(content))).encode()
    elif rng.random() < 0.9:
        files[name] = mutate(rng, content)
    command = rng.choice(
        (("plot", "saved", "--save", "out.svg"), ("explain", "saved"), ("diff", "saved", "saved"))
    )
    return HostileInput("results", command, files)


def damage_value(rng: Random, value: Any) -> Any:
    """Return a JSON value in which one value is another one or missing."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = rng.choice(list(value))
        other_values = {name: each for name, each in value.items() if name != key}
        return other_values if rng.random() < 0.2 else {**other_values, key: damage_value(rng, value[key])}
    if isinstance(value, list) and value and rng.random() < 0.9:
        i = rng.randrange(len(value))
        return [*value[:i], damage_value(rng, value[i]), *value[i + 1 :]]
    return rng.choice((None, True, -1, 10**400, 1e308, "", "x", [], {}, [None], {"a": 1}))


KINDS: tuple[Callable[[Random], HostileInput], ...] = (
    *(trace, experiment, study, prices, model, plugin),
    *(option, results),
)
"""Functions that make an input of each kind."""
