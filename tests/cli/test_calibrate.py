"""`sledlab trace calibrate`: a stand-in against what was published."""

import dataclasses

import pytest
from sledlab.studies import calibration
from sledlab.studies.calibration import CALIBRATIONS, Target


def test_an_hour_of_cello(sledlab):
    answer = sledlab("trace", "calibrate", "cello")
    assert answer.code == 0
    assert "meets every published number it was fitted to" in answer.out
    assert "zipf_exponent = 0.9" in answer.out
    result = sledlab("trace", "calibrate", "cello", "--seed", 2, "--json").json
    assert (result["name"], result["seed"], result["passes"]) == ("cello", 2, True)
    rows = {row["statistic"]: row for row in result["rows"]}
    assert rows["rate"]["target"] == 33.0
    assert rows["rate"]["achieved"] == pytest.approx(33.0, rel=0.02)
    assert rows["rate"]["verdict"] == "pass"
    assert rows["dispersion at 1 s"]["verdict"] == "choice"
    assert rows["LRU hits, 64 MiB"]["target"] is None
    assert result["choices"]["overwrite_share"] == 0.3
    assert "read_share" not in result["choices"]


def test_miss_is_reported(sledlab, monkeypatch):
    targets = {**CALIBRATIONS["hplajw"].targets, "reads": Target(70, "nowhere")}
    wrong = dataclasses.replace(CALIBRATIONS["hplajw"], targets=targets)
    monkeypatch.setitem(calibration.CALIBRATIONS, "hplajw", wrong)
    answer = sledlab("trace", "calibrate", "hplajw")
    assert answer.code == 1
    assert "misses some published numbers" in answer.out


def test_an_unknown_name(sledlab):
    sledlab("trace", "calibrate", "celo").assert_refused("choose one of cello, cello-12h")
