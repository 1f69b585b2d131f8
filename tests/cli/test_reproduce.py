"""`sledlab reproduce`: figures and claims of the papers by name, from any directory."""

import json

import pytest
import sledlab as sl
from sledlab.cli import reproduce as command
from sledlab.reproduction.figure import figures
from sledlab.reproduction.papers import PAPERS
from sledlab.reproduction.verdicts import claims

from tests.conftest import PROJECT

FIGURE = "lee2009-figure-4"
"""Figures with published values, whose measured values come with the sources."""
SHORT = ("--limit", 60, "--quick", "--parallel", 1)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """A directory with nothing in it."""
    monkeypatch.chdir(tmp_path)


def test_list_has_every_figure_and_claim(sledlab):
    result = sledlab("reproduce", "list", "--json").json
    assert [each["name"] for each in result["figures"]] == list(figures())
    assert {each["id"] for each in result["claims"]} == set(claims())
    assert "wang2005-figure-6" in sledlab("reproduce", "list").out


def test_list_separates_papers_and_outcomes(sledlab):
    assert list(command.PAPERS) == list(PAPERS)
    of_paper = sledlab("reproduce", "list", "--paper", "lin", "--json").json
    assert {each["paper"] for each in of_paper["claims"]} == {"lin"}
    assert all(each["name"].startswith("lin-") for each in of_paper["figures"])
    missed = sledlab("reproduce", "list", "--outcome", "not met", "--json").json
    assert missed["figures"] == []
    assert {each["outcome"] for each in missed["claims"]} == {"not met"}
    conditional = sledlab("reproduce", "list", "--outcome", "depends on")
    assert "(depends on cells of all zones)" in " ".join(conditional.out.split())
    refused = sledlab("reproduce", "list", "--outcome", "not mett")
    assert refused.code == 2
    assert "did you mean `not met`?" in refused.err


def test_show_prints_published_values_results_and_command(sledlab):
    claim = claims()["L-22"]
    out = " ".join(sledlab("reproduce", "show", "l-22").out.split())
    for text in (claim.claim, claim.published, claim.accept, claim.outcome, "lee2009-figure-3"):
        assert " ".join(text.split()) in out
    assert f'Quotation "{claim.quote}" (Lee 2009)' in out
    assert "sledlab reproduce run L-22" in out
    assert "Over cells of all zones: it flips" in out
    assert sledlab("reproduce", "show", "L-22", "--json").json["sensitivity_sweeps"][0]["cells"]
    figure = sledlab("reproduce", "show", "wang2005-figure-6")
    assert "3.79 ms (NONE) and 3.09 ms (ALL)" in figure.out
    assert "W-39" in figure.out
    assert sledlab("reproduce", "show", "W-22", "--json").json["published"] == claims()["W-22"].published
    assert sledlab("reproduce", "show", FIGURE, "--json").json["experiments"] == ["lee2009-figure-2"]


def test_a_name_that_is_none_has_the_nearest(sledlab):
    refused = sledlab("reproduce", "run", "lee2009-figure-44")
    assert refused.code == 2
    assert f"did you mean `{FIGURE}`?" in refused.err


def test_run_leaves_tables_picture_and_verdicts(sledlab, tmp_path):
    ran = sledlab("reproduce", "run", FIGURE, *SHORT)
    assert ran.code == 0
    place = tmp_path / FIGURE
    assert {file.name for file in place.iterdir() if file.is_file()} == {
        f"{FIGURE}.svg",
        f"{FIGURE}.pdf",
        f"{FIGURE}.png",
        "reproduction.md",
    }
    assert (place / "lee2009-figure-2" / "runs.csv").is_file()
    assert b"/Type3" not in (place / f"{FIGURE}.pdf").read_bytes()
    assert "shortened: at most 60 requests a run, seed 1" in ran.out
    assert "shortened: at most 60 requests" in (place / f"{FIGURE}.svg").read_text(encoding="utf-8")
    assert f"L-16: {claims()['L-16'].outcome}" in (place / "reproduction.md").read_text(encoding="utf-8")


def test_run_on_another_device_is_noted(sledlab, tmp_path):
    (tmp_path / "mine.toml").write_text((PROJECT / "presets/devices/mems-g3.toml").read_text("utf-8"))
    result = sledlab("reproduce", "run", FIGURE, *SHORT, "--device", "mine.toml", "--out", "a", "--json").json
    assert result["device"] == "mine"
    assert sledlab("reproduce", "run", FIGURE, *SHORT, "--out", "b").code == 0
    a, b = (
        json.loads((tmp_path / each / "lee2009-figure-2/summary.json").read_text("utf-8")) for each in "ab"
    )
    assert a["config"]["device"] != b["config"]["device"]
    assert "This run is on the device mine" in (tmp_path / "a" / f"{FIGURE}.svg").read_text(encoding="utf-8")


def test_changed_settings_and_schedulers_are_run_and_reported(sledlab, tmp_path):
    changed = ("--set", "device.spring_factor=0.3", "--scheduler", "sptf,fcfs")
    result = sledlab("reproduce", "run", FIGURE, *SHORT, *changed, "--json").json
    assert result["settings"] == {"device.spring_factor": "0.3"}
    assert {row[0] for panel in result["values"][FIGURE] for row in panel["rows"]} == {"SPTF", "FCFS"}
    summary = json.loads((tmp_path / FIGURE / "lee2009-figure-2/summary.json").read_text("utf-8"))
    assert summary["config"]["device"]["spring_factor"] == 0.3
    for file in (f"{FIGURE}.svg", "reproduction.md"):
        text = " ".join((tmp_path / FIGURE / file).read_text(encoding="utf-8").split())
        assert "spring_factor = 0.3" in text, file


def test_unsupported_changes_of_experiment_are_refused(sledlab):
    refused = sledlab("reproduce", "run", FIGURE, *SHORT, "--set", "device.sleds=2")
    assert refused.code == 2
    assert "varies `device.sleds`" in refused.err
    refused = sledlab("reproduce", "run", "chiu2004-figure-4", "--quick", "--scheduler", "fcfs")
    assert refused.code == 2
    assert "does not compare schedulers" in refused.err
    refused = sledlab("reproduce", "run", "wang2005-figure-6", *SHORT, "--scheduler", "fcfs,sptf")
    assert refused.code == 2
    assert "shows one scheduler" in refused.err


def test_page_distinguishes_short_and_full_run(sledlab, tmp_path):
    result = sledlab("reproduce", "run", FIGURE, *SHORT, "--json").json
    assert [claim["ours"] for claim in result["full_run"]["claims"]] == [
        claims()["L-15"].ours,
        claims()["L-16"].ours,
    ]
    page = (tmp_path / FIGURE / "reproduction.md").read_text(encoding="utf-8")
    here, full = page.split("\n## Full run\n")
    assert "## This run: at most 60 requests a run, seed 1" in here
    assert "Ours:" not in page
    assert f"Result of the full run: {claims()['L-15'].ours}" in full
    assert f"L-15: {claims()['L-15'].outcome_text} (full run)" in full
    values = result["values"][FIGURE]
    assert len(values) == len(figures()[FIGURE].panels)
    for panel in values:
        assert panel["rows"]
        for row in panel["rows"]:
            assert f"| {' | '.join(row)} |" in here


def test_totals_are_not_means_or_shares():
    panels = {name: figure.panels[0] for name, figure in figures().items()}
    assert panels["chiu2004-figure-5"].shows_totals
    assert panels["chiu2004-figure-9"].shows_totals
    assert not panels["wang2005-figure-6"].shows_totals
    assert not panels["hong2006-figure-10"].shows_totals


def test_figure_names_its_missing_trace(sledlab):
    refused = sledlab("reproduce", "run", "lin-figure-8", *SHORT)
    assert refused.code == 2
    assert "Seagate ST41601N" in refused.err
    assert "--trace FILE" in refused.err


def test_jobs_have_no_limit_of_requests(sledlab):
    refused = sledlab("reproduce", "run", "chiu2004-figure-4", "--limit", 10)
    assert refused.code == 2
    assert "--quick" in refused.err


def test_a_claim_of_definitions_has_nothing_to_run(sledlab):
    refused = sledlab("reproduce", "run", "H-32")
    assert refused.code == 2
    assert "reproduce show H-32" in refused.err


@pytest.mark.slow("runs four studies, and draws their pages")
@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("wang2005-figure-4", ("front", "preset")),
        ("hong2006-figure-7", ("device", "preset")),
    ],
)
def test_device_replaces_the_device_of_the_figure(name, setting, tmp_path):
    sl.reproduce(name, "mems-g3", out=tmp_path, quick=True, limit=100, parallel=1)
    place = figures()[name].runs[0].place
    config = json.loads((tmp_path / place / "summary.json").read_text("utf-8"))["config"]
    table, _ = setting
    assert "mems-g3" in json.dumps(config[table])
