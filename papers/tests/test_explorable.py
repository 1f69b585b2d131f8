"""Descriptions of the figures that readers compute: complete, and made of the sources of the command line."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from sledlab.reproduction.assumption import STUDY, assumptions
from sledlab.reproduction.verdicts import claims

from sledlab_papers import explorable

MEASURED = ("arrival_rate_iops", "phase")
"""Columns that come with the results of a run."""


@pytest.fixture(params=explorable.declarations())
def described(request: pytest.FixtureRequest) -> dict[str, Any]:
    description: dict[str, Any] = json.loads(json.dumps(explorable.description(request.param)))
    return description


def test_settings_of_the_set_are_controls_or_varied(described):
    controls = {setting["key"] for line in described["assumptions"] for setting in line["settings"]}
    varied = {key for part in described["parts"] for case in part["cases"] for key, _ in case["settings"]}
    places = [part["place"] for part in described["parts"]]
    applied = [each for each in assumptions(described["paper"]) if any(map(each.applies_to, places))]
    keys = {key for each in applied for key in each.settings if not key.startswith(STUDY)}
    without_effect = set(explorable.declarations()[described["name"]].get("without_effect", ()))
    assert keys - {explorable.LIMIT} - without_effect <= controls | varied
    assert without_effect <= keys - controls
    assert [each.says for each in applied] == [line["says"] for line in described["assumptions"]]


def test_controls_have_unique_keys_with_their_values(described):
    settings = [setting for line in described["assumptions"] for setting in line["settings"]]
    assert len({each["key"] for each in settings}) == len(settings)
    for setting in settings:
        known = [value for value, _ in setting["known"]]
        assert {setting["value"], setting["former"]} - {None} <= set(known)
        assert setting["value"] != setting["former"]
        assert setting.get("range") or not setting.get("words") or setting["value"] in setting["words"]


def test_criteria_are_of_claims_on_the_figure(described):
    judged = {claim["id"] for claim in described["claims"] if claim["criteria"]}
    declared = {each["claim"] for each in explorable.declarations()[described["name"]]["criteria"]}
    assert judged == declared
    for claim in described["claims"]:
        assert claim["outcome"] == claims()[claim["id"]].outcome_text
        for criterion in claim["criteria"]:
            assert ("scale" in criterion) is bool(claims()[claim["id"]].numbers)


def test_panels_find_their_series_among_the_runs(described):
    labels = [case["labels"] for part in described["parts"] for case in part["cases"]]
    for panel in described["panels"]:
        columns = {panel["x"], panel["series"], *panel["where"]} - {""}
        assert columns <= {*labels[0], *MEASURED}


def test_infinite_ends_are_left_out():
    described = explorable.description("lin-figure-4")
    energies = next(each for each in described["claims"] if each["id"] == "Y-10")
    assert energies["criteria"][0]["within"] == [2.0, None]
    assert not any(math.isinf(value) for value in json.loads(json.dumps(described))["sizes"])


def test_links_need_the_page(monkeypatch, tmp_path):
    monkeypatch.setattr(explorable, "FRAME", tmp_path / "explore.html")
    assert "make web" in explorable.links("lin")
    (tmp_path / "explore.html").touch()
    monkeypatch.setattr(explorable, "CORE", tmp_path / "explore.html")
    assert 'href="explore.html#lin-figure-4"' in explorable.links("lin")
