"""`sledlab reproduce`: figures and claims of the papers by name, from any directory."""

import json
from dataclasses import replace

import pytest
import sledlab as sl
from sledlab.cli import reproduce as command
from sledlab.reproduction.assumption import assumptions, changed_values
from sledlab.reproduction.figure import figures
from sledlab.reproduction.papers import PAPERS
from sledlab.reproduction.summary import claim_summary, sweep_rows
from sledlab.reproduction.verdicts import CONTRADICTED, MET, NOT_MET, Cell, SensitivitySweep, claims

from tests.conftest import PROJECT

FIGURE = "lee2009-figure-4"
"""Figures with published values, whose measured values come with the sources."""
SHORT_OPTIONS = ("--limit", 60, "--quick", "--parallel", 1)


@pytest.fixture(autouse=True)
def empty_directory(tmp_path, monkeypatch):
    """Work in an empty directory."""
    monkeypatch.chdir(tmp_path)


def test_list_has_every_figure_and_claim(sledlab):
    listed = sledlab("reproduce", "list", "--json").json
    assert [each["name"] for each in listed["figures"]] == list(figures())
    assert {each["id"] for each in listed["claims"]} == set(claims())
    assert "wang2005-figure-6" in sledlab("reproduce", "list").out


def test_list_counts_printed_numbers_and_fits_the_terminal(sledlab, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = sledlab("reproduce", "list").out
    assert max(map(len, text.splitlines())) <= 80
    rows = {line.split("  ")[0].strip(): line.split() for line in text.splitlines() if line.strip()}
    numbers = [claim for claim in claims().values() if claim.has_simulated_number]
    assert rows["printed numbers"][-1] == str(len(numbers))
    assert rows["contradicted"][-1] == str(sum(claim.outcome == CONTRADICTED for claim in numbers))
    assert "L-22" not in text
    assert "L-22" in sledlab("reproduce", "list", "--paper", "lee2009").out


def test_list_separates_papers_and_outcomes(sledlab):
    assert list(command.PAPERS) == list(PAPERS)
    paper_list = sledlab("reproduce", "list", "--paper", "lin", "--json").json
    assert {each["paper"] for each in paper_list["claims"]} == {"lin"}
    assert all(each["name"].startswith("lin-") for each in paper_list["figures"])
    unmet = sledlab("reproduce", "list", "--outcome", "not met", "--json").json
    assert unmet["figures"] == []
    assert {each["outcome"] for each in unmet["claims"]} == {"not met"}
    conditional = sledlab("reproduce", "list", "--outcome", "depends on")
    assert "(depends on cells of zones; workload, near capacity)" in " ".join(conditional.out.split())
    answer = sledlab("reproduce", "list", "--outcome", "not mett")
    assert answer.code == 2
    assert "did you mean `not met`?" in answer.err


def test_show_prints_published_values_results_and_command(sledlab):
    claim = claims()["L-22"]
    printed = " ".join(sledlab("reproduce", "show", "l-22").out.split())
    for text in (claim.claim, claim.published, claim.accept, claim.outcome, "lee2009-figure-3"):
        assert " ".join(text.split()) in printed
    assert f'Quotation "{claim.quote}" (Lee 2009)' in printed
    assert "sledlab reproduce run L-22" in printed
    assert "10x1, 40x4, 80x8" in printed
    assert sledlab("reproduce", "show", "L-22", "--json").json["sensitivity_sweeps"][0]["cells"]
    figure = sledlab("reproduce", "show", "wang2005-figure-6")
    assert "3.79 ms (NONE) and 3.09 ms (ALL)" in " ".join(figure.out.split())
    assert "W-39" in figure.out
    assert sledlab("reproduce", "show", "W-22", "--json").json["published"] == claims()["W-22"].published
    assert sledlab("reproduce", "show", FIGURE, "--json").json["experiments"] == ["lee2009-figure-2"]


def test_show_begins_with_the_outcome_and_both_numbers(sledlab):
    number = claims()["H-46"].numbers[0]
    printed = " ".join(sledlab("reproduce", "show", "H-46").out.split())
    assert printed.startswith(
        f"H-46, {claims()['H-46'].outcome}: {claims()['H-46'].claim}. Measured {number.ours}"
    )
    assert f"published {number.published}." in printed
    without_number = next(claim for claim in claims().values() if not claim.numbers)
    assert claim_summary(without_number).endswith(f"{without_number.claim}.")


def test_sweep_shows_the_number_of_the_value_that_turns_the_claim():
    cells = (Cell("a", MET, "1"), Cell("b", NOT_MET, "2"), Cell("c", MET, "3"))
    sweep = SensitivitySweep("an assumption", "", 0, cells)
    [row] = sweep_rows(replace(claims()["H-80"], sensitivity_sweeps=(sweep,)))
    assert row == ("an assumption", "a", "b, c", "not met with b", "1; 2")


def test_unknown_name_suggests_the_nearest(sledlab):
    answer = sledlab("reproduce", "run", "lee2009-figure-44")
    assert answer.code == 2
    assert f"did you mean `{FIGURE}`?" in answer.err


def test_run_leaves_tables_picture_and_verdicts(sledlab, tmp_path):
    answer = sledlab("reproduce", "run", FIGURE, *SHORT_OPTIONS)
    assert answer.code == 0
    directory = tmp_path / FIGURE
    assert {file.name for file in directory.iterdir() if file.is_file()} == {
        f"{FIGURE}.svg",
        f"{FIGURE}.pdf",
        f"{FIGURE}.png",
        "reproduction.md",
    }
    assert (directory / "lee2009-figure-2" / "runs.csv").is_file()
    assert b"/Type3" not in (directory / f"{FIGURE}.pdf").read_bytes()
    assert "shortened: at most 60 requests a run, seed 1" in answer.out
    assert "shortened: at most 60 requests" in (directory / f"{FIGURE}.svg").read_text(encoding="utf-8")
    assert f"L-16: {claims()['L-16'].outcome}" in (directory / "reproduction.md").read_text(encoding="utf-8")


def test_run_on_another_device_is_noted(sledlab, tmp_path):
    (tmp_path / "mine.toml").write_text((PROJECT / "presets/devices/mems-g3.toml").read_text("utf-8"))
    result = sledlab(
        "reproduce", "run", FIGURE, *SHORT_OPTIONS, "--device", "mine.toml", "--out", "a", "--json"
    ).json
    assert result["device"] == "mine"
    assert sledlab("reproduce", "run", FIGURE, *SHORT_OPTIONS, "--out", "b").code == 0
    own_device, default_device = (
        json.loads((tmp_path / name / "lee2009-figure-2/summary.json").read_text("utf-8")) for name in "ab"
    )
    assert own_device["config"]["device"] != default_device["config"]["device"]
    assert "This run is on the device mine" in (tmp_path / "a" / f"{FIGURE}.svg").read_text(encoding="utf-8")


def test_changed_settings_and_schedulers_are_run_and_reported(sledlab, tmp_path):
    options = ("--set", "device.spring_factor=0.3", "--scheduler", "sptf,fcfs")
    result = sledlab("reproduce", "run", FIGURE, *SHORT_OPTIONS, *options, "--json").json
    assert result["settings"] == {"device.spring_factor": "0.3"}
    assert {row[0] for panel in result["values"][FIGURE] for row in panel["rows"]} == {"SPTF", "FCFS"}
    summary = json.loads((tmp_path / FIGURE / "lee2009-figure-2/summary.json").read_text("utf-8"))
    assert summary["config"]["device"]["spring_factor"] == 0.3
    for file in (f"{FIGURE}.svg", "reproduction.md"):
        contents = " ".join((tmp_path / FIGURE / file).read_text(encoding="utf-8").split())
        assert "spring_factor = 0.3" in contents, file


def test_unsupported_changes_of_experiment_are_refused(sledlab):
    answer = sledlab("reproduce", "run", FIGURE, *SHORT_OPTIONS, "--set", "device.sleds=2")
    assert answer.code == 2
    assert "varies `device.sleds`" in answer.err
    answer = sledlab("reproduce", "run", "chiu2004-figure-4", "--quick", "--scheduler", "fcfs")
    assert answer.code == 2
    assert "does not compare schedulers" in answer.err
    answer = sledlab("reproduce", "run", "wang2005-figure-6", *SHORT_OPTIONS, "--scheduler", "fcfs,sptf")
    assert answer.code == 2
    assert "shows one scheduler" in answer.err


def test_page_distinguishes_short_and_full_run(sledlab, tmp_path):
    result = sledlab("reproduce", "run", FIGURE, *SHORT_OPTIONS, "--json").json
    assert [claim["ours"] for claim in result["full_run"]["claims"]] == [
        claims()["L-15"].ours,
        claims()["L-16"].ours,
    ]
    page = (tmp_path / FIGURE / "reproduction.md").read_text(encoding="utf-8")
    this_run, full_run = page.split("\n## Full run\n")
    assert "## This run: at most 60 requests a run, seed 1" in this_run
    assert "Ours:" not in page
    assert f"Result of the full run: {claims()['L-15'].ours}" in full_run
    assert f"L-15: {claims()['L-15'].outcome_text} (full run)" in full_run
    panels = result["values"][FIGURE]
    assert len(panels) == len(figures()[FIGURE].panels)
    for panel in panels:
        assert panel["rows"]
        for row in panel["rows"]:
            assert f"| {' | '.join(row)} |" in this_run


def test_figures_of_totals_are_recognized():
    panels = {name: figure.panels[0] for name, figure in figures().items()}
    assert panels["chiu2004-figure-5"].shows_totals
    assert panels["chiu2004-figure-9"].shows_totals
    assert not panels["wang2005-figure-6"].shows_totals
    assert not panels["hong2006-figure-10"].shows_totals


def test_figure_names_its_missing_trace(sledlab):
    answer = sledlab("reproduce", "run", "lin-figure-8", *SHORT_OPTIONS)
    assert answer.code == 2
    assert "Seagate ST41601N" in answer.err
    assert "--trace FILE" in answer.err


def test_jobs_have_no_limit_of_requests(sledlab):
    answer = sledlab("reproduce", "run", "chiu2004-figure-4", "--limit", 10)
    assert answer.code == 2
    assert "--quick" in answer.err


def test_claim_about_definitions_cannot_be_run(sledlab):
    answer = sledlab("reproduce", "run", "H-32")
    assert answer.code == 2
    assert "reproduce show H-32" in answer.err


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
    directory = figures()[name].runs[0].place
    config = json.loads((tmp_path / directory / "summary.json").read_text("utf-8"))["config"]
    table, _ = setting
    assert "mems-g3" in json.dumps(config[table])


def test_assumptions_are_shown_by_paper(sledlab):
    counts = sledlab("reproduce", "assumptions").out
    assert all(paper in counts for paper in PAPERS)
    entry = assumptions("lin")[0]
    printed = " ".join(sledlab("reproduce", "assumptions", "lin").out.split())
    assert f"{entry.name} ({entry.mark}) {entry.says}" in printed
    listed = sledlab("reproduce", "assumptions", "lin", "--json").json["lin"]
    assert [each["name"] for each in listed] == [each.name for each in assumptions("lin")]


def test_run_takes_other_assumptions(sledlab, tmp_path):
    own_set = tmp_path / "own.toml"
    text = sledlab("reproduce", "assumptions", "lee2009", "--toml").out
    own_set.write_text(
        f'{text}\n[[assumption]]\nname = "stiff"\nsays = "Stiff springs."\nmark = "plausible"\n'
        'because = "a test"\nsettings = { "device.spring_factor" = 0.9 }\n',
        encoding="utf-8",
    )
    answers = {
        choice: sledlab(
            "reproduce",
            "run",
            FIGURE,
            *SHORT_OPTIONS,
            "--assumptions",
            choice,
            "--out",
            f"out-{index}",
            "--json",
        ).json
        for index, choice in enumerate(("default", str(own_set)))
    }
    tables = [tmp_path / f"out-{index}" / "lee2009-figure-2" / "runs.csv" for index in range(2)]
    assert len(answers) == 2
    assert tables[0].read_text(encoding="utf-8") != tables[1].read_text(encoding="utf-8")
    page = (tmp_path / "out-1" / "reproduction.md").read_text(encoding="utf-8")
    assert "This run has the assumptions of " in page


def test_old_assumptions_are_the_former_values():
    assert changed_values("hong2006", "hong2006-figure-9", "old")["device.direction"] == "parity"
    assert changed_values("lin", "lin-figure-4-seagate", "old")["replay.mode"] == "open"
    assert changed_values("lin", "lin-figure-9", "old").get("replay.mode") is None
    assert changed_values("hong2006", "hong2006-figure-9", "default") == {}


@pytest.mark.parametrize("text", ["[[assumption]]\nname = 'a'\n", "name = 1\n", "[["])
def test_file_without_a_set_is_an_error(sledlab, tmp_path, text):
    (tmp_path / "own.toml").write_text(text, encoding="utf-8")
    answer = sledlab("reproduce", "run", FIGURE, *SHORT_OPTIONS, "--assumptions", "own.toml")
    assert answer.code == 2
    assert "cannot read the assumptions" in answer.err
