"""Invalid command lines and their errors, all in one style; `mistakes.txt` has the expected texts.

`SLEDLAB_SNAPSHOT=1 pytest tests/cli/test_mistakes.py` rewrites that file; review the difference.
"""

import os
import shlex
from pathlib import Path

import click
import pytest
import sledlab as sl
from sledlab.cli import cli
from sledlab.cli.man import walk

SNAPSHOT = Path(__file__).with_name("mistakes.txt")

CATALOGS = ("device", "network", "node", "power", "replacement", "scheduler", "workload")

MISTAKES = """
sledlab simulat
sledlab elephant
sledlab sweep
sledlab docs
sledlab --jsn
sledlab simulate
sledlab simulate --device mems-g2
sledlab simulate --device mems-g4 --workload uniform
sledlab simulate --device disk --workload uniform
sledlab simulate --device small.csv --workload uniform
sledlab simulate --device sled.parv --workload uniform
sledlab simulate --device mems-g2 --workload unifrom
sledlab serve
sledlab serve --device mems-g2 --set workload.kind=uniform
sledlab serve --device mems-g2 --tcp 192.0.2.1:10809
sledlab serve --device mems-g2 --scratch
sledlab serve --device mems-g2 --attach file:nowhere
sledlab serve --device mems-g2,ram
sledlab serve --device mems-g2 --exercise seqread
sledlab serve --device mems-g2 --exercise randread -- true
sledlab serve --device mems-g2 -- no-such-program
sledlab simulate --device mems-g2 --trace missing.csv
sledlab simulate --device mems-g2 --trace notes.txt
sledlab simulate --device mems-g2 --trace foreign.csv
sledlab simulate --device mems-g2 --trace disks.csv
sledlab simulate --device mems-g2 --trace run
sledlab simulate --device missing.toml --workload uniform
sledlab simulate missing.toml
sledlab simulate run
sledlab simulate empty
sledlab simulate mems-g2 small.csv
sledlab simulate mems-g2
sledlab simulate SPTF
sledlab simulate study.toml
sledlab simulate power.toml
sledlab simulate small.csv
sledlab simulate run/experiment.toml other.toml
sledlab simulate --devcie mems-g2
sledlab simulate --elephants 3
sledlab simulate --device
sledlab simulate --json=yes
sledlab simulate UNIFORM --limit x
sledlab simulate UNIFORM --limit -1
sledlab simulate UNIFORM --scheduler sptff
sledlab simulate UNIFORM --scheduler foo
sledlab simulate UNIFORM --scheduler fcfs --scheduler sptf
sledlab simulate UNIFORM --scheduler fcfs,sptf
sledlab simulate UNIFORM --seed 1,2
sledlab simulate UNIFORM --power never,fixed
sledlab simulate --device mems-g2,mems-g3 --workload uniform
sledlab simulate --device mems-g2:sledz=2 --workload uniform
sledlab simulate UNIFORM --set device.sleds=1 --set device.sleds=2
sledlab simulate UNIFORM --scheduler mine:Lcfs
sledlab simulate UNIFORM --scheduler schedulers/mine.py:Lcfs
sledlab simulate UNIFORM --power fixd
sledlab simulate UNIFORM --merge pair
sledlab simulate UNIFORM --cache write-bak
sledlab simulate UNIFORM --system raid6
sledlab simulate UNIFORM --hybrid cachingdisk
sledlab simulate UNIFORM --front mems-g2
sledlab simulate UNIFORM --set device.activ_tips=1
sledlab simulate UNIFORM --set device.active_tips
sledlab simulate UNIFORM --set devise.active_tips=1
sledlab simulate UNIFORM --set device.active_tips=0
sledlab simulate UNIFORM --set tips=4
sledlab simulate UNIFORM --replay closed
sledlab simulate UNIFORM --replay opened
sledlab simulate UNIFORM --replay closed:8 --speedup 2
sledlab simulate UNIFORM --speedup fast
sledlab simulate UNIFORM --speedup nan
sledlab simulate UNIFORM --outside bend
sledlab simulate UNIFORM --limit 10 --warmup 10
sledlab simulate UNIFORM --trace small.csv
sledlab simulate UNIFORM --requests requests.xls
sledlab simulate UNIFORM --requests nowhere/at/all.csv
sledlab simulate UNIFORM --out small.csv
sledlab simulate --format csv
sledlab compare UNIFORM --scheduler sptff
sledlab compare UNIFORM --scheduler sptf,foo --speedup 16
sledlab compare UNIFORM --merge pair
sledlab compare UNIFORM --speedup fast
sledlab compare UNIFORM --speedup 8..2
sledlab compare UNIFORM --parallel 0
sledlab compare UNIFORM --seed 1..0
sledlab compare run
sledlab compare power.toml
sledlab compare --vary device.active_tips=1,2
sledlab compare UNIFORM --vary device.active_tips=1 --vary device.active_tips=2
sledlab compare UNIFORM --device atlas-10k
sledlab compare UNIFORM --scheduler fcfs --scheduler sptf
sledlab compare UNIFORM --schedulers sptf
sledlab compare UNIFORM --seeds 3
sledlab compare --device mems-g2,mems-g3 --workload uniform --scheduler fcfs,sptf
sledlab compare --device mems-g2,mems-g3 --workload uniform --vary device.sleds=1,4
sledlab compare lst
sledlab hybrid UNIFORM --capacites 4
sledlab hybrid tunee
sledlab hybrid --configs disk
sledlab fleet sample: --device mems-g2 --share 1/2
sledlab smart record --set scale_factor=1
sledlab device seek-map mems-g2 --out map
sledlab compare --speed 3
sledlab show hybrid caching
sledlab hybrid tune --budget cheap
sledlab hybrid tune --elephants
sledlab power UNIFORM --power fixd
sledlab power UNIFORM --timeout now
sledlab show power fixd
sledlab diff run
sledlab diff run elsewhere
sledlab diff run small.csv
sledlab diff run run --save page.pdf
sledlab explain run
sledlab explain run -1
sledlab plot run
sledlab plot
sledlab plot nowhere
sledlab plot run --save page.doc
sledlab reproduce run figure-9
sledlab device shwo
sledlab show device
sledlab show sptf
sledlab show device mems-g4
sledlab show device run
sledlab show device wrong.toml
sledlab show device wrong.toml --toml=yes
sledlab show device latin.toml
sledlab show device latin.toml --toml
sledlab simulate latin.toml
sledlab compare latin.toml
sledlab show device mems-g2 --set scheduler.kind=sptf
sledlab device seek-map mems-g2 --from here
sledlab device seek-map mems-g2 --save map.doc
sledlab device import missing.parv
sledlab device import small.csv
sledlab trace info
sledlab trace info missing.csv
sledlab trace info notes.txt
sledlab trace info foreign.csv
sledlab trace info small.csv --format msrr
sledlab trace info small.csv --sort -1
sledlab trace head small.csv --rows 0
sledlab trace head small.csv --rows ten
sledlab trace hits small.csv --replacement lruu
sledlab trace hits small.csv --cache-mb big
sledlab trace convert small.csv
sledlab trace convert small.csv out.xyz
sledlab trace convert small.csv nowhere/out.csv
sledlab trace slice small.csv out.csv --from x
sledlab trace slice small.csv out.csv --range 1
sledlab trace slice small.csv out.csv --fit mems-g4
sledlab trace merge small.csv
sledlab trace merge small.csv missing.csv --save all.csv
sledlab trace generate unifrom out.csv
sledlab trace generate uniform out.csv --set device.tips=1
sledlab show scheduler foo
sledlab show scheduler sptff
sledlab show cache writeback
sledlab list cache all
sledlab show merge pair
sledlab show replacement lruu
sledlab list replacementz
sledlab show system raid6
sledlab show system
sledlab show workload unifrom
sledlab trace calibrate celo
sledlab show job sorted
sledlab list job --jason
sledlab show node smart-2004
sledlab node show smart-2003
sledlab check
sledlab check sptff
sledlab check elephant
sledlab check lru --kind scheduler
sledlab check lru --kind power
sledlab check lru --cases 0
sledlab show network fast-ethernets
sledlab show network
sledlab smart record
sledlab smart record --job sortt
sledlab smart record --job sort --node-count few
sledlab smart record --job sort --query q1
sledlab smart record --query q99
sledlab smart show missing.work
sledlab smart show small.csv
sledlab smart replay missing.work --device mems-g2
sledlab smart replay small.csv
sledlab smart size --job sort --device mems-g2
sledlab smart size --job sort --until disk --device mems-g2
sledlab smart --jobs sortt --node-count 2 --device mems-g2
sledlab show
sledlab show schedulerr sptf
sledlab show scheduler sptf --toml
sledlab show scheduler sptf --set scheduler.age=1
sledlab check sptf --out checked
sledlab check hp-c2247a --measured missing.trace
sledlab check hp-c2247a --measured small.csv --kind scheduler
""".strip().splitlines()

FILES = {
    "small.csv": "time_us,op,offset_bytes,length_bytes\n0,R,0,4096\n900,W,8192,512\n",
    "foreign.csv": "timestamp,rw,lba,bytes\n17:00:01,read,4096,512\n",
    "disks.csv": "100,usr,0,Read,0,4096,5\n200,web,0,Write,8192,512,5\n300,usr,0,Read,0,4096,5\n",
    "notes.txt": "root:x:0:0:secret\n",
    "wrong.toml": 'kind = "mems"\nactive_tips = 0\n',
    "power.toml": 'seed = 1\n\n[study]\nkind = "power"\n\n[device]\npreset = "mems-g2"\n',
    "study.toml": 'seed = 1\n\n[study]\nkind = "compare"\n\n[device]\npreset = "mems-g2"\n',
    "run/experiment.toml": '[device]\npreset = "mems-g2"\n\n[workload]\nkind = "uniform"\n',
    "empty/nothing": "",
}


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text)
    Path("latin.toml").write_bytes('kind = "mems" # µm\n'.encode("latin-1"))


def error_text(sledlab, line):
    arguments = shlex.split(line.replace("UNIFORM", "--device mems-g2 --workload uniform"))[1:]
    answer = sledlab(*arguments)
    assert (answer.code, answer.out) == (2, ""), (line, answer)
    return answer.err


def check_style(line, message):
    error_line, *found_lines, help_line = message.splitlines()
    assert error_line.startswith("error: "), line
    assert len(error_line) > len("error: 12345678"), line
    assert all(line.startswith("  found: ") for line in found_lines), message
    assert len(found_lines) <= 1, message
    assert help_line.startswith("  help: "), message
    assert "Traceback" not in message


def abbreviate_lists(message):
    """Replace complete lists of names, so that a new model or command does not change the snapshot."""
    lists = {kind: getattr(sl, kind) for kind in CATALOGS} | {
        "command": cli.list_commands(click.Context(cli))
    }
    for kind, names in lists.items():
        message = message.replace(f"known: {', '.join(names)}\n", f"known: (every {kind})\n")
    return message


@pytest.mark.slow("every mistake there is")
def test_errors_have_one_style(sledlab):
    transcript = ""
    for line in MISTAKES:
        message = error_text(sledlab, line)
        check_style(line, message)
        transcript += f"$ {line}\n{abbreviate_lists(message)}\n"
    if os.environ.get("SLEDLAB_SNAPSHOT") == "1":
        SNAPSHOT.write_text(transcript, encoding="utf-8")
    assert transcript == SNAPSHOT.read_text("utf-8")


def single_valued_options():
    """Yield every option that takes one value, with the words of its command."""
    for context in walk(cli, click.Context(cli, info_name="sledlab")):
        for option in context.command.params:
            if isinstance(option, click.Option) and not (option.multiple or option.is_flag):
                yield context.command_path.split()[1:], option


def test_repeated_option_is_refused_in_every_command(sledlab):
    options = list(single_valued_options())
    assert len(options) > 300
    for words, option in options:
        flag = max(option.opts, key=len)
        option_arguments = [flag, *["1"] * option.nargs]
        answer = sledlab(*words, *option_arguments, *option_arguments)
        answer.assert_refused(f"`{flag}` is given twice")
        sledlab(*words, *option_arguments, *option_arguments, *option_arguments).assert_refused(
            f"`{flag}` is given 3 times"
        )


@pytest.mark.parametrize(
    ("line", "remedy"),
    [
        ("compare --device mems-g2 --device atlas-10k", "use --device mems-g2,atlas-10k"),
        ("compare --trace a.csv --trace b.csv", "use --trace a.csv,b.csv"),
        ("compare --workload uniform --workload cello", "use --workload uniform,cello"),
        ("compare --scheduler fcfs --scheduler sptf", "use --scheduler fcfs,sptf"),
        ("compare --scheduler fcfs,sptf --scheduler wstf", "use --scheduler fcfs,sptf,wstf"),
        ("compare --speedup 1 --speedup 2", "use --speedup 1,2"),
        ("smart --job sort --job join", "use --job sort,join"),
        ("smart --node smart-2003 --node csd-arm", "keep one of them"),
        ("simulate --scheduler fcfs --scheduler sptf", "keep one of them"),
        ("simulate --limit 1 --limit 2", "keep one of them"),
        ("simulate --set device.sleds=1 --set device.sleds=2", "keep one of them"),
    ],
)
def test_repeated_option_suggests_how_to_give_several_values(sledlab, line, remedy):
    sledlab(*line.split()).assert_refused(remedy)
