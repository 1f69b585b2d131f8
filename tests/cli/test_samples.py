"""Sample traces and work records by name, from any directory."""

import json

import pytest
import sledlab as sl
from sledlab.traces.samples import FILES, SAMPLE_DIRECTORY, samples, trace_label

from tests.conftest import PROJECT


@pytest.fixture(autouse=True)
def empty_directory(tmp_path, monkeypatch):
    """Work in an empty directory."""
    monkeypatch.chdir(tmp_path)


def test_every_sample_is_listed(sledlab):
    for folder, name_format in FILES.items():
        files = {file.name for file in (PROJECT / "sample" / folder).iterdir() if file.name != "README.md"}
        assert {name_format.format(trace_label(sample.name)) for sample in samples(folder)} == files
    assert SAMPLE_DIRECTORY.is_dir()
    listed = sledlab("list", "trace", "--json").json
    assert [sample["name"] for sample in listed] == [sample.name for sample in samples()]
    assert "sample:oltp-bank-a" in sledlab("list", "trace").out


@pytest.mark.parametrize("sample", samples(), ids=lambda sample: trace_label(sample.name))
def test_sample_facts_match_their_traces(sample):
    info = sl.read_trace(sample.name).info()
    assert info["reads"] + info["writes"] == sample.requests
    assert info["span_s"] == pytest.approx(sample.duration_s, rel=0.002)


def test_one_minute_sample_begins_the_whole_trace():
    for name in ("kv-a", "mail-a", "oltp-orders-a"):
        first_minute = sl.read_trace(f"sample:{name}-60s").frame()
        assert first_minute.equals(sl.read_trace(f"sample:{name}").head(first_minute.height))


@pytest.mark.usefixtures("without_pages")
def test_commands_accept_samples_as_traces(sledlab, tmp_path, bank):
    by_name = ("simulate", "--device", "mems-g2", "--trace", "sample:oltp-bank-a", "--limit", 300)
    by_file = ("simulate", "--device", "mems-g2", "--trace", bank, "--limit", 300)
    response_ms = sledlab(*by_file, "--json").json["response_time_ms"]
    assert sledlab(*by_name, "--json").json["response_time_ms"] == response_ms
    assert "oltp-bank-a on mems-g2" in sledlab(*by_name).out
    assert "sample:" not in sledlab(*by_name).out
    assert sledlab(*by_name, "--out", "run").code == 0
    toml = (tmp_path / "run" / "experiment.toml").read_text()
    assert 'file = "sample:oltp-bank-a"' in toml
    assert str(PROJECT) not in toml
    assert sledlab("simulate", "run/experiment.toml", "--json").json["response_time_ms"] == response_ms
    assert sledlab("trace", "head", "sample:kv-a-60s", "--json").code == 0
    assert sledlab("trace", "slice", "sample:kv-a-60s", "cut.csv", "--limit", 10).code == 0
    assert sledlab("trace", "merge", "sample:kv-a-60s", "cut.csv", "--place", "--save", "both.csv").code == 0


@pytest.mark.usefixtures("without_pages")
def test_studies_take_samples(sledlab, tmp_path):
    options = ("--limit", 200, "--parallel", 1)
    side_by_side = ("compare", "--device", "mems-g2,atlas-10k", "--trace", "sample:kv-a-60s,sample:mail-a")
    runs = sledlab(*side_by_side, *options, "--json").json["tables"]["runs"]
    assert {run["trace"] for run in runs} == {"kv-a-60s", "mail-a"}
    comparison = ("compare", "--device", "mems-g2", "--trace", "sample:mail-a", "--scheduler", "fcfs,sptf")
    assert (
        sledlab(*comparison, "--speedup", "1,2", "--parallel", 2, "--limit", 200, "--out", "race").code == 0
    )
    assert 'file = "sample:mail-a"' in (tmp_path / "race" / "study.toml").read_text()
    simulation = ("simulate", "--device", "hp-c2247a", "--trace", "sample:mail-a", "--limit", 50)
    assert sledlab(*simulation, "--outside", "scale", "--json").code == 0


def test_python_takes_samples():
    r = sl.simulate("sample:mail-a", "mems-g2", limit=100)
    assert json.loads(r.to_json())["requests"] > 0
    assert sl.replay("sample:sort", "mems-g2", what_if=False).elapsed_s > 0
    assert sl.work("sample:exchange").nodes == 4


@pytest.mark.usefixtures("without_pages")
def test_replay_accepts_work_record_by_name(sledlab, tmp_path):
    assert sledlab("smart", "replay", "sample:scan", "--device", "mems-g2", "--out", "run").code == 0
    assert 'file = "sample:scan"' in (tmp_path / "run" / "experiment.toml").read_text()
    assert sledlab("smart", "replay", "run/experiment.toml", "--json").code == 0


def test_study_accepts_work_records_by_name(sledlab):
    answer = sledlab(
        "smart", "--work", "sample:scan,sample:sort", "--device", "ram", "--parallel", 1, "--json"
    )
    assert answer.code == 0, answer.err


def test_an_unknown_sample_suggests_the_nearest(sledlab, refused):
    arguments = ("simulate", "--device", "mems-g2", "--trace", "sample:oltp-banka")
    sledlab(*arguments).assert_refused("did you mean `oltp-bank-a`?")
    sledlab("smart", "show", "sample:srot").assert_refused("did you mean `sort`?")
    with refused("unknown sample"):
        sl.read_trace("sample:nothing-like-it")
