"""`sledlab smart`, `node` and `network`: options, JSON, files, errors."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import sledlab as sl

WORK = Path(__file__).parents[2] / "sample" / "work"
REPLAY_SCAN = ("smart", "replay", WORK / "scan.work", "--device", "mems-g2")


def test_json_is_one_object_with_everything_promised(sledlab):
    answer = sledlab(*REPLAY_SCAN, "--json")
    assert (answer.code, answer.err) == (0, "")
    summary = answer.json
    assert (summary["schema"], summary["warnings"]) == (2, [])
    assert set(summary) == {
        "schema",
        "warnings",
        "job",
        "nodes",
        "elapsed_s",
        "components_s",
        "bottleneck",
        "largest",
        "what_if",
        "pages",
        "simulated_share",
        "skipped_passes",
        "sampling_error",
        "by_phase",
        "energy_j",
        "store_energy_j",
        "seed",
        "version",
        "config",
    }
    assert set(summary["components_s"]) == {"compute", "store", "network", "waiting"}
    assert [each["what"] for each in summary["what_if"]] == ["compute", "store", "network"]
    assert set(summary["by_phase"][0]) == {
        "phase",
        "phase_start_s",
        "phase_end_s",
        "elapsed_s",
        "compute_s",
        "store_s",
        "network_s",
        "waiting_s",
        "processor_s",
        "requests",
        "read_bytes",
        "written_bytes",
        "sent_bytes",
        "received_bytes",
        "store_j",
    }
    assert sledlab(*REPLAY_SCAN, "--no-what-if", "--json").json["what_if"] == []
    assert sledlab(*REPLAY_SCAN, "--what-if", "--json").json == sledlab(*REPLAY_SCAN, "--json").json


def test_human_output_names_the_bottleneck(sledlab):
    answer = sledlab(*REPLAY_SCAN)
    assert answer.code == 0
    assert "scan on 4 nodes takes 0.557 s" in answer.out
    assert "the store is the bottleneck" in answer.out.replace("\n", " ")


@pytest.mark.usefixtures("without_pages")
def test_command_line_python_and_file_agree(sledlab, tmp_path):
    flags = ("--network", "infiniband-1x", "--node", "csd-arm", "--scheduler", "sptf", "--seed", 5)
    settings = ("--set", "node.prefetch_pages=2", "--set", "network.latency_us=3")
    arguments = ("smart", "replay", WORK / "join.work", "--device", "hp-c2490a", *flags, *settings)
    summary = sledlab(*arguments, "--out", tmp_path / "a", "--json").json
    assert sledlab("smart", "replay", tmp_path / "a" / "experiment.toml", "--out", tmp_path / "b").code == 0
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes(), path.name
    in_python = sl.replay(
        WORK / "join.work",
        "hp-c2490a",
        network="infiniband-1x",
        node="csd-arm",
        scheduler="sptf",
        seed=5,
        settings={"node.prefetch_pages": 2, "network.latency_us": 3},
    )
    assert json.loads(in_python.to_json()) == summary
    assert summary == json.loads((tmp_path / "a" / "summary.json").read_text())


@pytest.mark.usefixtures("without_pages")
def test_options_override_the_experiment_file(sledlab, tmp_path):
    assert sledlab(*REPLAY_SCAN, "--no-what-if", "--out", tmp_path).code == 0
    file = tmp_path / "experiment.toml"
    result = sledlab(
        "smart", "replay", file, "--device", "ram", "--at", "host", "--network", "hub", "--json"
    ).json
    assert result["config"]["device"]["kind"] == "ram"
    assert result["config"]["network"]["kind"] == "hub"
    assert result["nodes"] == 5


def test_simulate_replays_the_trace_of_a_node(sledlab, tmp_path):
    trace, schedule = tmp_path / "node.csv", tmp_path / "job.goal"
    answer = sledlab(*REPLAY_SCAN, "--no-what-if", "--dump-trace", 2, trace, "--goal", schedule)
    assert answer.code == 0
    assert str(trace) in answer.out.replace("\n", "")
    summary = sledlab("simulate", "--device", "mems-g2", "--trace", trace, "--replay", "open", "--json").json
    assert summary["requests"] == 1024
    assert summary["read"]["bytes"] == 8388608
    assert schedule.read_text().startswith("num_ranks 5")


LINE = {"phase": "scan", "nodes": "all", "reads": [{"file": "data"}]}
INVALID_RECORDS = {
    "unknown file": (
        {**LINE, "reads": [{"file": "dada"}]},
        "x.work:2: unknown file `dada`",
        "did you mean `data`",
    ),
    "half a line": ('{"phase": "scan"', "x.work:2:", "help:"),
    "unknown kind": ({**LINE, "operations": {"weigh": 5}}, "`weigh`", "node.cycles.weigh"),
    "too large": (LINE, "the files of node 0 take", "system.kind"),
    "no memory": ({**LINE, "memory": 1 << 40}, "bytes of memory on node 0", "node.memory_mb"),
}


@pytest.mark.parametrize("mistake", INVALID_RECORDS)
def test_invalid_records_are_errors(sledlab, tmp_path, mistake):
    step, message, remedy = INVALID_RECORDS[mistake]
    header = {
        "work": 1,
        "job": "x",
        "nodes": 2,
        "files": {"data": 10**13 if mistake == "too large" else 8192},
    }
    path = tmp_path / "x.work"
    path.write_text(json.dumps(header) + "\n" + (step if isinstance(step, str) else json.dumps(step)) + "\n")
    answer = sledlab("smart", "replay", path, "--device", "mems-g2", "--out", tmp_path / "out")
    answer.assert_refused(message)
    answer.assert_refused(remedy)
    assert not list(tmp_path.glob("out/*"))


def test_networks_and_nodes_need_no_names(sledlab, tmp_path):
    preset = (WORK.parents[1] / "presets" / "nodes" / "smart-2003.toml").read_text()
    node = tmp_path / "own.toml"
    node.write_text(preset.replace("\ndescription", "\n# description"))
    file = tmp_path / "experiment.toml"
    file.write_text(f'device = "ram"\n[work]\nfile = "{WORK}/exchange.work"\n[network]\nkind = "switch"\n')
    for at in ("nodes", "host"):
        out = tmp_path / at
        options = ("--node", node, "--host", node, "--at", at, "--no-what-if", "--out", out)
        answer = sledlab("smart", "replay", file, *options)
        assert answer.code == 0, answer.err
        assert "over switch" in answer.out.replace("\n", " ")
        assert "own" in (out / "report.html").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--scheduler", "mine:Lcfs"), "that are plug-ins cannot be used"),
        (("--set", "power.kind=mine:Never"), "that are plug-ins cannot be used"),
        (("--network", "nope"), "unknown network `nope`"),
        (("--set", "replay.mode=open"), "the replay of a record has none"),
        (("--set", "group.nodes=1"), "[[group]]"),
        (("--dump-trace", "first", "x.csv"), "not the number of a node"),
        (("--threads", "two"), "not a whole number"),
        (("--out", "/dev/null/x"), "choose another --out"),
    ],
)
def test_invalid_options_are_errors(sledlab, options, message):
    sledlab(*REPLAY_SCAN, *options).assert_refused(message)


def test_invalid_work_record_is_refused(sledlab, bank, tmp_path):
    sledlab("smart", "replay", bank, "--device", "mems-g2").assert_refused("this is not a work record")
    sledlab("smart", "replay", tmp_path / "no.work", "--device", "ram").assert_refused("cannot open")
    sledlab("smart", "replay", tmp_path / "no.toml").assert_refused("cannot read the experiment")
    (tmp_path / "empty.toml").write_text('[device]\npreset = "ram"\n')
    sledlab("smart", "replay", tmp_path / "empty.toml").assert_refused("no work record was given")
    for parent_table in ("", "[[group]]\nnodes = [0]\n\n[group."):
        (tmp_path / "plugin.toml").write_text(f'{parent_table or "["}scheduler]\nkind = "mine:Lcfs"\n')
        sledlab("smart", "replay", tmp_path / "plugin.toml").assert_refused(
            "that are plug-ins cannot be used"
        )
    (tmp_path / "group.toml").write_text('[group]\nnodes = [0]\n\n[device]\npreset = "ram"\n')
    sledlab("smart", "replay", tmp_path / "group.toml").assert_refused("no work record was given")
    sledlab("smart", "shwo").assert_refused("did you mean `show`?")


def test_show_describes_a_work_record(sledlab):
    result = sledlab("smart", "show", WORK / "join.work", "--json").json
    assert (result["job"], result["nodes"]) == ("join", 4)
    assert len(result["traffic"]) == 4
    printed = sledlab("smart", "show", WORK / "join.work").out
    assert "join on 4 nodes reads 58.4 MB" in printed
    assert "nested loop" in printed
    assert "lineitem-part" in printed


@pytest.mark.usefixtures("without_pages")
def test_a_query_is_studied_and_sized(sledlab, tmp_path):
    arguments = ("--query", "q6", "--job-set", "scale_factor=0.01", "--device", "mems-g2")
    studied = sledlab("smart", *arguments, "--node-count", "2,4", "--out", tmp_path)
    assert studied.code == 0, studied.err
    assert "`q6` on 4 nodes takes" in studied.out
    assert 'query = ["q6"]' in (tmp_path / "study.toml").read_text()
    sized = sledlab("smart", "size", *arguments, "--node-count", "1..8", "--deadline", "60s", "--json")
    assert sized.json["job"] == "q6"
    assert sized.json["job_settings"] == {"scale_factor": "0.01"}
    assert sized.json["smallest"] == {"mems-g2": 1}
    record = ("smart", "record", "--query", "q6", "--scale-factor", 0.01)
    outputs = [sledlab(*record, *options).out for options in ((), ("--again",))]
    assert outputs[0] == outputs[1]
    assert "record: " in outputs[0]
    size = ("smart", "size", "--deadline", "60s", "--device", "ram")
    sledlab(*size).assert_refused("one job or one query")
    sledlab(*size, "--job", "sort", "--query", "q6").assert_refused("one job or one query")
    sledlab(*size, "--query", "tpch").assert_refused("one job or one query")


@pytest.mark.parametrize(
    ("kind", "name", "expected_words"),
    [
        ("node", "smart-2003", ("prefetch_pages", "MHz", "16,400", "network")),
        ("network", "rack-ethernet", ("uplink_mbit_s", "Mbit/s", "tree")),
    ],
)
def test_presets_are_listed_and_shown(sledlab, kind, name, expected_words):
    entries = sledlab("list", kind, "--json").json
    assert [each["name"] for each in entries] == list(getattr(sl, kind))
    printed = sledlab("show", kind, name).out
    assert all(word in printed for word in expected_words)
    preset = sledlab("show", kind, name, "--json").json
    assert preset["kind" if kind == "network" else "operations"]
    sledlab("show", kind, f"{name}x").assert_refused("unknown")
    assert "switch" in sledlab("list", "network").out


def test_interrupted_replay_leaves_no_files(tmp_path):
    path, out = tmp_path / "long.work", tmp_path / "run"
    header = {"work": 1, "job": "x", "nodes": 1, "files": {"outer": 500_000_000, "inner": 1_000_000_000}}
    inner = {"file": "inner", "per_block_of": "outer"}
    step = {"phase": "nested", "node": 0, "reads": [{"file": "outer"}, inner]}
    path.write_text(f"{json.dumps(header)}\n{json.dumps(step)}\n")
    settings = ("--set", "node.block_kb=64", "--set", "cluster.exact=true", "--out", str(out))
    command = [
        sys.executable,
        "-m",
        "sledlab",
        "smart",
        "replay",
        str(path),
        "--device",
        "mems-g2",
        *settings,
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while not out.exists() and process.poll() is None:
        time.sleep(0.02)
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=20)
    assert process.returncode == 130, stderr
    assert b"Traceback" not in stderr
    assert not list(out.iterdir())


def test_job_on_failed_nodes_writes_same_record(sledlab, tmp_path):
    job = ("smart", "record", "--job", "scan", "--node-count", 4, "--scale-factor", 0.002)
    failing_job = (*job, "--redundancy", "chained", "--failed", "1,3")
    for name, arguments in (("all.work", job), ("some.work", failing_job)):
        assert sledlab(*arguments, "--work", tmp_path / name).code == 0
    assert (tmp_path / "all.work").read_bytes() == (tmp_path / "some.work").read_bytes()
    answer = sledlab(*job, "--failed", 2)
    assert answer.code == 2
    assert "the share of node 2 is lost: no node holds a copy" in answer.err
    answer = sledlab("smart", "record", "--query", "q6", "--failed", 1)
    assert answer.code == 2
    assert "`--failed` is for jobs, not for queries" in answer.err


def test_replay_names_failed_nodes(sledlab):
    options = ("--set", "cluster.redundancy=mirror", "--set", "cluster.failed=[0,3]")
    answer = sledlab(*REPLAY_SCAN, "--no-what-if", *options)
    assert answer.code == 0
    printed = " ".join(answer.out.split())
    assert "Nodes 0 and 3 have failed before the job begins; other nodes do the work, from copies." in printed
    result = sledlab(*REPLAY_SCAN, "--no-what-if", *options, "--json").json
    assert (result["failure"]["failed"], result["failure"]["rebuild"]) == ([0, 3], None)
    assert (
        "the shares of nodes 2 and 3 are lost"
        in sledlab(*REPLAY_SCAN, *options[:2], "--set", "cluster.failed=[2,3]").err
    )


@pytest.fixture
def job_file(tmp_path, monkeypatch):
    """A study whose file names a job, `marking.py`, that leaves the file `imported` behind."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "marking.py").write_text("open('imported', 'w').close()\n" + MARKING_JOB)
    study = tmp_path / "study.toml"
    study.write_text('[study]\nkind = "smart"\njob = ["marking.py"]\nnode_count = [2]\ndevice = ["ram"]\n')
    return study


MARKING_JOB = """
import numpy as np

def marking(node):
    node.phase("only")
    yield node.barrier()

def data(number, nodes, seed):
    return {"rows": np.arange(8)}
"""


@pytest.mark.parametrize("directory", [".", "elsewhere"])
def test_job_that_only_a_file_names_is_refused(sledlab, job_file, monkeypatch, directory):
    Path(directory).mkdir(exist_ok=True)
    monkeypatch.chdir(directory)
    answer = sledlab("smart", job_file, "--parallel", 1)
    answer.assert_refused("the experiment refers to the plug-in `")
    assert "marking.py`, which is not allowed to run" in answer.err
    assert "--allow-plugins" in answer.err
    assert not list(job_file.parent.rglob("imported"))


@pytest.mark.parametrize("options", [["--allow-plugins"], ["--job", "marking.py"]])
def test_job_runs_if_allowed_or_named_by_option(sledlab, job_file, options):
    assert sledlab("smart", job_file, "--parallel", 1, "--json", *options).code == 0
    assert Path("imported").exists()


def test_python_keyword_allows_jobs_of_files(job_file):
    with pytest.raises(sl.Error, match="not allowed to run"):
        sl.smart_study(study=job_file, parallel=1)
    assert not Path("imported").exists()
    for options in ({"allow_plugins": True}, {"job": Path("marking.py")}):
        assert sl.smart_study(study=job_file, parallel=1, **options).tables["runs"].height == 1


@pytest.mark.parametrize(
    "arguments", [["--job", "marking.py"], ["--job", "scan", "--job-set", "scale_factor=0.001"]]
)
def test_size_runs_jobs_that_an_option_names(sledlab, job_file, arguments):
    sized = sledlab(
        "smart", "size", *arguments, "--deadline", "1h", "--node-count", "1..1", "--device", "ram", "--json"
    )
    assert sized.code == 0, sized.err


def test_network_of_a_file_needs_no_name(sledlab, tmp_path):
    file = tmp_path / "experiment.toml"
    file.write_text('device = "ram"\n[work]\nfile = "sample:exchange"\n[network]\nkind = "switch"\n')
    answer = sledlab("smart", "replay", file, "--no-what-if")
    assert (answer.code, answer.err) == (0, "")
    assert "exchange on ram, switch" in answer.out
