"""`sledlab setup schema`: accepts the files of sledlab and of its runs, and rejects what sledlab rejects."""

import tomllib
from functools import cache

import pytest
import sledlab as sl
from sledlab.cli.schema import KINDS, file_schema
from sledlab.job import LIST as JOBS
from sledlab.job import find
from sledlab.model.experiment import files

from tests.conftest import PROJECT

Draft202012Validator = pytest.importorskip("jsonschema", reason="make setup").Draft202012Validator
PRESETS = PROJECT / "presets"


@cache
def validator(kind):
    schema = file_schema(kind)
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def assert_accepts(kind, text):
    errors = [error.message[:300] for error in validator(kind).iter_errors(tomllib.loads(text))]
    assert errors == []


@pytest.mark.parametrize("kind", KINDS)
def test_every_schema_is_valid(sledlab, kind):
    schema = sledlab("setup", "schema", kind).json
    assert schema == file_schema(kind)
    assert schema["$schema"].endswith("2020-12/schema")
    assert validator(kind)
    sledlab("setup", "schema", "experiments").assert_refused("experiment")


@pytest.mark.parametrize("file", files().values(), ids=lambda file: file.stem)
def test_experiments_are_accepted(file):
    assert_accepts("experiment", file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("kind", ["device", "node", "network"])
def test_presets_are_accepted(kind):
    files = list(PRESETS.glob(f"{kind}s/*.toml"))
    assert files
    for file in files:
        assert_accepts(kind, file.read_text(encoding="utf-8"))


FRONT_OPTIONS = (
    "--cache write-back --hybrid caching-disk --system mirror --set system.devices=2 --set system.failed=0"
)


@pytest.mark.parametrize(
    "arguments",
    ["mems-g2", "atlas-10k", "ssd-tlc", f"atlas-10k --merge chains --power never {FRONT_OPTIONS}"],
)
@pytest.mark.usefixtures("without_pages")
def test_files_of_runs_match_the_schema(sledlab, tmp_path, arguments):
    requests = ("--workload", "uniform", "--limit", 20)
    assert sledlab("simulate", *requests, "--device", *arguments.split(), "--out", tmp_path / "run").code == 0
    assert_accepts("experiment", (tmp_path / "run" / "experiment.toml").read_text())


@pytest.mark.usefixtures("without_pages")
def test_files_of_cluster_replays_match_the_schema(sledlab, tmp_path):
    arguments = ("smart", "replay", "sample:exchange", "--device", "ram", "--no-what-if")
    assert sledlab(*arguments, "--out", tmp_path / "run").code == 0
    assert_accepts("experiment", (tmp_path / "run" / "experiment.toml").read_text())


@pytest.mark.usefixtures("without_pages")
def test_files_of_studies_match_the_schema(sledlab, tmp_path):
    requests = ("--workload", "uniform", "--limit", 20)
    axes = ("--scheduler", "fcfs,zsptf:grid=40x4", "--speedup", "1,2", "--parallel", 1)
    arguments = ("compare", "--device", "mems-g2", *requests, *axes, "--vary", "device.sleds=1,2")
    assert sledlab(*arguments, "--out", tmp_path / "race").code == 0
    assert_accepts("experiment", (tmp_path / "race" / "study.toml").read_text())


def test_settings_of_jobs_are_accepted():
    for job in JOBS:
        job_settings, data_settings = find(job.name).settings
        defaults = {spec.name: spec.default for spec in (*job_settings, *data_settings)}
        assert validator("job").is_valid({"job": job.name, **defaults})
    assert not validator("job").is_valid({"job": "sort", "memoryy": 1})
    assert not validator("job").is_valid({"job": "sorting"})


BASE = "seed = 1\n{}\n[device]\npreset = 'mems-g2'\n{}\n[workload]\nkind = 'uniform'\n{}\n"
"""An experiment with gaps for lines at the top, in `[device]`, and after `[workload]`."""

INVALID_TOP_LEVEL = (
    "sed = 2",
    "scheduler = 'sptff'",
    "scheduler = 3",
    "power = 'share:'",
    "merge = 'some'",
    "cache = 'write-bck'",
    "system = 'raid6'",
    "hybrid = 'caching'",
    "network = 'ethernet'",
    "node = 'smart-1999'",
    "host = 5",
    "front = 'mems-g9'",
)
INVALID_DEVICE = (
    "active_tipps = 640",
    "active_tips = 'many'",
    "active_tips = -1",
    "active_tips = 1.5",
    "spring_factor = 'stiff'",
    "sleds = 0",
    "layout = 'columns'",
    "direction = 'sideways'",
    "subsector_access = 1",
    "kind = 'disk'",
    "rpm = 10000",
    "startup_ms = -0.5",
    "idle_timeout_ms = [1]",
    "bit_nm = 1e9",
)
INVALID_WORKLOAD = (
    "read_shares = 0.5",
    "read_share = 1.5",
    "read_share = 'half'",
    "blocks = 0",
    "[replay]\nspeedup = 0",
    "[replay]\nlimit = -1",
    "[replay]\nlimits = 10",
    "[replay]\noutside = 'drop'",
    "[replay]\nmode = 8",
    "[scheduler]\nkind = 'sptf'\ngrid = '40x4'",
    "[scheduler]\nkind = 'zsptf'\ngrid = 40",
    "[power]\nkind = 'fixed'\ntimeout_ms = -1",
    "[power]\nkind = 'fixed'\ntimeout = 10",
    "[merge]\nkind = 'chains'\nrows = 'all'",
    "[system]\nkind = 'mirror'\ndevices = 0",
    "[system]\ndisks = 2",
    "[cache]\ncapacity_blocks = 'all'",
    "[cache]\ndestage = 'never'",
    "[hybrid]\nkind = 'caching-disk'\nsegments_kb = 8",
    "[hybrid]\nkind = 'write-buffer'\nsegment_kb = 8",
    "[trace]\nfile = 'a.csv'\ndevices = 'two'",
    "[trace]\nsorting = 1",
    "[front]\npreset = 'mems-g2'\nactive_tips = true",
    "[study]\nkind = 'race'",
    "[study]\nkind = 'compare'\nschedulers = ['fcfs']",
    "[study]\nkind = 'compare'\nspeedup = ['fast']",
    "[study]\nkind = 'compare'\nscheduler = [1]",
    "[study]\nkind = 'smart'\nspeedup = [1]",
    "[study]\nkind = 'side-by-side'\ndevices = ['mems-g2']",
    "[study]\nkind = 'compare'\nseed = 0.5",
    "[cluster]\nat = 'home'",
    "[cluster]\nexact = 'no'",
    "[node]\nmhz = 'fast'",
    "[node.cycles]\ntuple = 'many'",
    "[work]\nfile = 1",
    "[[group]]\ndevice = 'mems-g2'",
    "[[group]]\nnodes = [0]\nworkload = 'uniform'",
    "[network]\nkind = 'tree'\nlatency = 1",
    "[devices]\npreset = 'mems-g2'",
)
INVALID_EXPERIMENTS = [
    *(BASE.format(line, "", "") for line in INVALID_TOP_LEVEL),
    *(BASE.format("", line, "") for line in INVALID_DEVICE),
    *(BASE.format("", "", line) for line in INVALID_WORKLOAD),
]


def test_valid_base_experiment_is_accepted():
    assert_accepts("experiment", BASE.format("scheduler = 'sptf'", "active_tips = 640", "read_share = 0.5"))
    assert_accepts(
        "experiment", BASE.format("scheduler = 'mine:Lcfs:depth=4'", "", "[power]\nkind = 'mine:P'\nx = 1")
    )
    sl.Experiment(BASE.format("", "", "")).check()


@pytest.mark.parametrize("text", INVALID_EXPERIMENTS, ids=range(len(INVALID_EXPERIMENTS)))
def test_invalid_experiments_are_rejected(text):
    assert len(INVALID_EXPERIMENTS) >= 50
    assert not validator("experiment").is_valid(tomllib.loads(text))


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("device", "active_tips = 640"),
        ("device", "kind = 'tape'"),
        ("device", "kind = 'disk'\nzones = []"),
        ("device", "kind = 'disk'\nseek_table = [[1, 2, 3]]"),
        ("node", "mhz = -1"),
        ("node", "clock = 500"),
        ("network", "latency_us = 1"),
        ("network", "kind = 'switch'\nnodes_per_switch = 4"),
    ],
)
def test_wrong_files_of_other_kinds_are_rejected(kind, text):
    assert not validator(kind).is_valid(tomllib.loads(text))
