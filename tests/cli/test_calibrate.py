"""`sledlab trace calibrate`: a synthetic workload against published numbers."""

import dataclasses

import pytest
from sledlab.studies import calibration
from sledlab.studies.calibration import CALIBRATIONS, Target


def test_calibrated_workload_meets_published_numbers(sledlab):
    answer = sledlab("trace", "calibrate", "cello")
    assert answer.code == 0
    assert "meets every published number it was fitted to" in answer.out
    assert "write_after_read_share = 0.65" in answer.out
    result = sledlab("trace", "calibrate", "cello", "--seed", 2, "--json").json
    assert (result["name"], result["seed"], result["passes"]) == ("cello", 2, True)
    rows_by_statistic = {row["statistic"]: row for row in result["rows"]}
    assert rows_by_statistic["rate"]["target"] == 33.0
    assert rows_by_statistic["rate"]["achieved"] == pytest.approx(33.0, rel=0.02)
    assert rows_by_statistic["rate"]["verdict"] == "pass"
    assert rows_by_statistic["dispersion at 1 s"]["verdict"] == "choice"
    assert rows_by_statistic["LRU hits, 64 MiB"]["target"] is None
    assert result["choices"]["new_read_ratio"] == 4
    assert "read_share" not in result["choices"]


def test_miss_is_reported(sledlab, monkeypatch):
    targets = {**CALIBRATIONS["hplajw"].targets, "reads": Target(70, "nowhere")}
    missing_target = dataclasses.replace(CALIBRATIONS["hplajw"], targets=targets)
    monkeypatch.setitem(calibration.CALIBRATIONS, "hplajw", missing_target)
    answer = sledlab("trace", "calibrate", "hplajw")
    assert answer.code == 1
    assert "misses some published numbers" in answer.out


def test_unknown_calibration_is_refused(sledlab):
    sledlab("trace", "calibrate", "celo").assert_refused("choose one of cello, cello-12h")
