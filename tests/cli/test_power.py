"""`sledlab power`, and `--power` and `--merge` of `sledlab simulate`."""

import json

import polars as pl
import pytest

POWER_STUDY = (
    "power",
    "--device",
    "mems-g2",
    "--workload",
    "uniform",
    "--set",
    "workload.mean_interarrival_ms=20",
)
SMALL_STUDY = (*POWER_STUDY, "--limit", 200, "--load", "1,2", "--parallel", 1)


def test_policies_are_listed_and_shown(sledlab):
    assert {"fixed", "share"} <= {entry["name"] for entry in sledlab("list", "power", "--json").json}
    assert "break-even" in sledlab("list", "power").out
    assert "experts" in sledlab("show", "power", "share").out
    assert sledlab("show", "power", "never").out.endswith("It takes no parameters.\n")
    sledlab("show", "power", "shar").assert_refused("did you mean `share`?")


def test_standard_input_is_suggested_where_readable(sledlab):
    assert "standard input" in sledlab("simulate", "--help").out
    for command in ("power", "compare"):
        assert "standard input" not in sledlab(command, "--help").out


def test_study_prints_answer_and_saves_tables(sledlab, tmp_path):
    answer = sledlab(*SMALL_STUDY, "--out", tmp_path / "study", "--timeout", "0,5,40", "--startup", "0,1")
    assert answer.code == 0, answer.err
    first_line = answer.out.splitlines()[1]
    assert "mems-g2 uses" in first_line
    assert "break-even time" in answer.out.replace("\n", " ")
    timeouts = pl.read_parquet(tmp_path / "study" / "timeouts.parquet")
    assert timeouts["timeout_ms"].to_list() == [0, 5, 40]
    assert timeouts["energy_j"].is_sorted()
    summary = json.loads((tmp_path / "study" / "summary.json").read_text())
    assert summary["study"]["startup_ms"] == {"mems-g2": [0.0, 1.0]}
    assert summary["answer"].startswith("Over ")


def test_json_has_tables_of_several_devices(sledlab):
    arguments = ("--power", "fixed:timeout_ms=3,oracle", "--strategy", "immediate", "--battery-wh", 2)
    result = sledlab("power", "--device", "mems-g2,mems-g3", *SMALL_STUDY[3:], *arguments, "--json").json
    assert result["study"]["device"] == ["mems-g2", "mems-g3"]
    assert [row["policy"] for row in result["tables"]["policies"]] == ["fixed:timeout_ms=3", "oracle"] * 2
    assert {row["strategy"] for row in result["tables"]["strategies"]} == {"base", "immediate"}
    assert {row["battery_wh"] for row in result["tables"]["battery"]} == {2.0}
    assert [fit["device"] for fit in result["startup_fits"]] == ["mems-g2", "mems-g3"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("power",), "no device was given"),
        (("power", "--device", "ram", "--workload", "uniform"), "`ram` never parks"),
        ((*POWER_STUDY, "--power", "fixed,shar"), "did you mean `share`"),
        ((*POWER_STUDY, "--power", ","), "no power policies"),
        ((*POWER_STUDY, "--timeout", "-1,2"), "`-1.0` is not a timeout"),
        ((*POWER_STUDY, "--timeout", "1,x"), "`x` is not a number"),
        ((*POWER_STUDY, "--timeout", ","), "no timeout"),
        ((*POWER_STUDY, "--startup", "-0.5"), "not a start-up time"),
        ((*POWER_STUDY, "--load", "0"), "not a load"),
        ((*POWER_STUDY, "--strategy", "immediates"), "did you mean `immediate`"),
        ((*POWER_STUDY, "--battery-wh", "-3"), "not a charge"),
        ((*POWER_STUDY, "--replay", "closed:4"), "keeps the device busy"),
        ((*POWER_STUDY, "--set", "power.kind=share"), "`power.kind` is set"),
    ],
)
def test_invalid_input_exits_with_code_2(sledlab, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    sledlab(*arguments).assert_refused(message)


def test_simulate_takes_a_policy_and_merging(sledlab):
    arguments = ("simulate", "--device", "mems-g2", "--workload", "directed-merge", "--limit", 500, "--json")
    result = sledlab(*arguments, "--power", "fixed:timeout_ms=2", "--merge", "chains").json
    assert result["config"]["power"] == {"kind": "fixed", "timeout_ms": 2.0}
    assert result["merged"]["requests"] > result["merged"]["groups"] > 0
    assert "did you mean `immediate`" in sledlab(*arguments, "--power", "immediates").err
    assert sledlab(*arguments, "--merge", "chain").code == 2
