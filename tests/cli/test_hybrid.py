"""`sledlab hybrid`, and its `tune`, `list` and `show`."""

import json

import polars as pl
import pytest

CELLO = ("hybrid", "--workload", "cello")
SMALL_STUDY = (*CELLO, "--limit", 600, "--parallel", 1)
NO_PRICES = ("--mems-mb", "none", "--price-ratio", "none")


def test_hybrids_are_listed_and_shown(sledlab):
    assert {"caching-disk", "write-buffer"} <= {
        entry["name"] for entry in sledlab("list", "hybrid", "--json").json
    }
    assert "write-back cache" in sledlab("list", "hybrid").out
    assert "segment_kb" in sledlab("show", "hybrid", "caching-disk").out
    assert sledlab("show", "hybrid", "caching-disk", "--json").json["name"] == "caching-disk"
    sledlab("show", "hybrid", "caching-disc").assert_refused("did you mean `caching-disk`?")
    assert "did you mean `tune`?" in sledlab("hybrid", "tun").err


def test_study_prints_answer_and_saves_tables(sledlab, tmp_path):
    options = (
        "--out",
        tmp_path / "study",
        "--mems-mb",
        "64,128",
        "--segment-kb",
        "8..32",
        "--price-ratio",
        "1..3",
    )
    answer = sledlab(*SMALL_STUDY, *options)
    assert answer.code == 0, answer.err
    assert answer.out.startswith("cello on atlas-10k-50mb with mems-g2")
    assert "is the fastest hybrid" in answer.out.replace("\n", " ")
    sizes = pl.read_parquet(tmp_path / "study" / "sizes.parquet")
    assert sizes.select("mems_mb", "segment_kb").rows() == [
        (mb, kb) for mb in (64, 128) for kb in (8, 16, 32)
    ]
    prices = pl.read_parquet(tmp_path / "study" / "prices.parquet")
    assert prices["ratio"].to_list() == [1, 2, 3]
    summary = json.loads((tmp_path / "study" / "summary.json").read_text())
    assert summary["study"]["configuration"][:4] == ["disk", "disk-uncached", "mems", "disk-ram"]


def test_options_reach_the_study(sledlab):
    arguments = (
        "--device",
        "atlas-10k",
        "--front",
        "mems-g3",
        "--configuration",
        "disk,mcd-all",
        "--at-mb",
        32,
    )
    options = ("--at-segment-kb", 16, "--seed", "1..2", "--replacement", "slru,arc", "--scheduler", "sptf")
    result = sledlab(
        *SMALL_STUDY, *NO_PRICES, *arguments, *options, "--set", "hybrid.bypass_kb=64", "--json"
    ).json
    assert (
        result["study"]
        | {
            "front": "mems-g3",
            "configuration": ["disk", "disk-uncached", "mcd-all"],
            "at_mb": 32,
            "at_segment_kb": 16,
            "seed": [1, 2],
            "replacement": ["slru", "arc"],
            "scheduler": "sptf",
            "hybrid": {"bypass_kb": "64"},
        }
        == result["study"]
    )
    assert result["config"]["device"]["name"] == "atlas-10k"
    assert {row["policy"] for row in result["tables"]["hits"]} == {"slru", "arc", "belady"}
    assert result["tables"]["sizes"] == result["tables"]["prices"] == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*CELLO, "--configuration", "disk,mcd"), "unknown configuration `mcd`"),
        ((*CELLO, "--configuration", ","), "no configurations"),
        ((*CELLO, "--mems-mb", "64,x"), "`x` is not a size"),
        ((*CELLO, "--mems-mb", "4000"), "more than the front device"),
        ((*CELLO, "--segment-kb", "8..4"), "`8..4` is not a range"),
        ((*CELLO, "--segment-kb", "4.5"), "not a segment"),
        ((*CELLO, "--price-ratio", "0"), "not a price ratio"),
        ((*CELLO, "--replacement", "lru,lrru"), "did you mean `lru`"),
        ((*CELLO, "--at-mb", -1), "not a size"),
        ((*CELLO, "--set", "hybrid.shortcut=false"), "is an axis of the study"),
        ((*CELLO, "--set", "system.kind=mirror"), "`system.kind` is set"),
        ((*CELLO, "--set", "front.active_tip=3"), "active_tip"),
        ((*CELLO, "--front", "mems-g22"), "did you mean `mems-g2`"),
        ((*CELLO, "--device", "atlas"), "atlas"),
        (("hybrid", "tune", "--workload", "cello", "--budget", 0), "not a budget"),
        (("hybrid", "tune", "--budget", 8), "no trace"),
        (("hybrid", "tune", "--workload", "cello"), "--budget"),
    ],
)
def test_invalid_input_exits_with_code_2(sledlab, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    sledlab(*arguments).assert_refused(message)


@pytest.mark.usefixtures("without_pages")
def test_tuning_prints_an_experiment_that_runs(sledlab, tmp_path):
    command = ("hybrid", "tune", "--workload", "cello", "--limit", 1000, "--parallel", 1, "--budget", 16)
    arguments = (*command, "--segment-kb", "8,16", "--replacement", "lru,slru", "--price-per-mb", 2)
    answer = sledlab(*arguments)
    assert answer.code == 0, answer.err
    assert "chosen" in answer.out
    assert '[front]\npreset = "mems-g2"' in answer.out
    result = sledlab(*arguments, "--json").json
    assert result["budget_mb"] == 8
    assert result["price_per_mb"] == 2
    saved = sledlab(*arguments, "--out", tmp_path)
    assert f"experiment: {tmp_path / 'experiment.toml'}" in saved.out
    assert sledlab("hybrid", "tune", tmp_path / "study.toml", "--parallel", 1, "--json").json == result
    run = sledlab("simulate", tmp_path / "experiment.toml", "--json").json
    assert run["response_time_ms"]["mean"] == result["choice"]["mean_ms"]


@pytest.mark.usefixtures("without_pages")
def test_run_reports_hybrid_counters(sledlab, tmp_path):
    settings = [
        "--set",
        "hybrid.kind=caching-disk",
        "--set",
        "hybrid.front_mb=4",
        "--set",
        "front.active_tips=640",
    ]
    arguments = ("simulate", "--device", "atlas-10k-50mb", "--workload", "cello", "--limit", "500", *settings)
    answer = sledlab(*arguments, "--out", str(tmp_path / "run"))
    assert "atlas-10k-50mb with mems-g2 (caching-disk)" in answer.out
    assert "reads answered by the front device" in answer.out
    summary = sledlab("simulate", str(tmp_path / "run" / "experiment.toml"), "--json").json
    counts = summary["hybrid"]
    assert counts["written_blocks"] == sum(
        counts[kind] for kind in ("superseded_blocks", "destaged_blocks", "dirty_blocks")
    )
    assert summary["config"]["front"]["active_tips"] == 640
    saved_summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert {key: summary[key] for key in saved_summary} == saved_summary


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["hybrid.kind=caching-disc"], "did you mean `caching-disk`"),
        (["hybrid.segment_kb=8"], "hybrid.segment_kb has no meaning without a hybrid"),
        (["front.preset=mems-g1"], "only a hybrid has a front device"),
        (["hybrid.kind=caching-disk", "hybrid.front_mb=5000"], "more than the front device's"),
        (["hybrid.kind=caching-disk", "hybrid.front_mb=0.001"], "no room for a segment"),
        (["hybrid.kind=caching-disk", "hybrid.replacement=belady"], "requires knowledge of future requests"),
        (["hybrid.kind=caching-disk", "hybrid.virtual_managers=true"], "no group size to choose from"),
        (
            ["hybrid.kind=caching-disk:fetch_kb=64:copy_kb=4:virtual_managers=true"],
            "learn from undivided fetches",
        ),
        (["hybrid.kind=write-buffer", "hybrid.front_mb=0.2"], "no room for three logs"),
        (["hybrid.kind=write-buffer", "hybrid.clean_to=0.95"], "more than hybrid.clean_from"),
    ],
)
def test_contradictory_hybrid_settings_are_refused(sledlab, settings, message):
    options = [argument for setting in settings for argument in ("--set", setting)]
    answer = sledlab("simulate", "--device", "atlas-10k", "--workload", "cello", *options)
    assert answer.code == 2
    assert message in answer.err
