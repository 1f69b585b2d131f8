"""The saved results of the experiments, and what is made from them: verdicts, pages and figures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import matplotlib
import polars
import pytest
from sledlab.reproduction.draw import draw
from sledlab.reproduction.figure import Figure, FigureRun, figures
from sledlab.reproduction.rows import Tables
from sledlab.reproduction.summary import GRADES as GRADES_IN_WORDS
from sledlab.reproduction.verdicts import FITTED, OUTCOMES
from sledlab.reproduction.verdicts import claims as packaged_claims

from sledlab_papers import fingerprint, pages, results, scoreboard, verdict_file
from sledlab_papers.claims import claims
from sledlab_papers.paths import EXPERIMENTS, SEAGATE_TRACE
from sledlab_papers.pictures import SCHEMATICS, write_pictures
from sledlab_papers.results import ResultTable
from sledlab_papers.runs import ComparisonRun, PlannedExperiment, Runs, TableReads
from sledlab_papers.topic import PageContent, Topic, outcome_counts
from sledlab_papers.topics import TOPICS

MAX_BYTES = 500_000
MAX_FIGURE_BYTES = 60_000

PLAN = {each.place: each for topic in TOPICS.values() for each in topic.full_plan}
DATA = {"hong2006": {4, 7, 8, 9, 10, 11, 12}, "wang2005": {4, 5, 6, 7}, "lee2009": {2, 3, 4, 5, 6, 7}}
DATA |= {"lin": set(range(2, 11)), "chiu2004": set(range(4, 12))}
"""Figures with data, by paper."""


@pytest.fixture
def temporary_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(results, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(results, "UNPACKED_TABLES", tmp_path / "unpacked")
    (tmp_path / "results").mkdir()
    return tmp_path


def write_table(file: Path, **columns: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    values_by_column = columns or COLUMNS
    file.write_text(
        f"{','.join(values_by_column)}\n{','.join(values_by_column.values())}\n", encoding="utf-8"
    )
    return file


COLUMNS = {
    "scheduler": "fcfs",
    "speedup": "1.0",
    "device.sleds": "1",
    "seed": "1",
    "mean_ms": "1.23456789012345",
    "unread": "3",
}


def test_saved_tables_have_read_columns_in_ten_digits(temporary_results: Path) -> None:
    file = write_table(temporary_results / "ran" / "lee2009-figure-2" / "runs.csv")
    with TableReads.record() as reads:
        TableReads.note(file, ("scheduler", "speedup", "device.sleds", "mean_ms", "not there"))
    results.replace("scheduling", results.read_tables(reads), {"lee2009-figure-2"})
    csv = "scheduler,speedup,device.sleds,mean_ms\nfcfs,1.0,1,1.23456789\n"
    assert results.read("scheduling") == [ResultTable("lee2009-figure-2", "runs", csv)]
    assert (results.directory() / "lee2009-figure-2" / "runs.csv").read_text(encoding="utf-8") == csv


def test_replacing_an_experiment_keeps_other_tables(temporary_results: Path) -> None:
    tables = [ResultTable(name, "runs", "a\n1\n") for name in ("one", "removed", "two")]
    results.write("scheduling", reversed(tables))
    assert results.read("scheduling") == tables
    new_table = ResultTable("two", "runs", "a\n2\n")
    results.replace("scheduling", [new_table], {"one", "two"})
    assert results.read("scheduling") == [tables[0], new_table]


def test_tables_in_any_order_write_same_bytes(temporary_results: Path) -> None:
    tables = [ResultTable(f"experiment-{number}", "runs", f"a\n{number}\n") for number in range(9)]
    results.write("scheduling", tables)
    first_bytes = (results.RESULTS / "scheduling.parquet").read_bytes()
    results.write("scheduling", reversed(tables))
    assert (results.RESULTS / "scheduling.parquet").read_bytes() == first_bytes


@pytest.mark.slow("runs experiments twice, if short")
@pytest.mark.parametrize("place", ["lee2009-zone-sizes", "lin-figure-9", "chiu2004-failure"])
def test_short_run_repeats_its_fingerprint(place: str) -> None:
    assert fingerprint.fingerprint(PLAN[place]) == fingerprint.fingerprint(PLAN[place])


def test_short_run_without_tables_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="left no tables"):
        fingerprint.ShortRun(PLAN["lin-figure-9"]).fingerprint(tmp_path)


@pytest.mark.slow("runs experiments, if short")
def test_other_seed_gives_another_fingerprint() -> None:
    planned = PLAN["lin-figure-9"]
    other = replace(planned, options=("--seed", "2"))
    assert fingerprint.fingerprint(planned) != fingerprint.fingerprint(other)


@pytest.mark.parametrize(
    ("options", "seed"),
    [((), "1"), (("--seed", "2"), "2"), (("--seed", "2..4"), "2"), (("--seed", "1", "--seed", "3"), "3")],
)
def test_short_run_has_first_planned_seed(options: tuple[str, ...], seed: str) -> None:
    planned = fingerprint.ShortRun(PlannedExperiment("lee2009-figure-4", options)).planned_run
    assert planned.options[-4:] == ("--seed", seed, "--parallel", "1")


def table_fingerprint(folder: Path, **columns: str) -> str:
    write_table(folder / "runs.csv", **columns)
    return fingerprint.ShortRun(PLAN["lee2009-figure-2"]).fingerprint(folder)


def test_renamed_columns_and_labels_keep_the_fingerprint(tmp_path: Path) -> None:
    first_fingerprint = table_fingerprint(tmp_path, scheduler="sptf", mean_ms="1.5", p99_ms="2.5")
    assert table_fingerprint(tmp_path, policy="nearest", p99="2.5", mean="1.5") == first_fingerprint


def test_other_number_changes_the_fingerprint(tmp_path: Path) -> None:
    first_fingerprint = table_fingerprint(tmp_path, scheduler="sptf", mean_ms="1.5")
    assert table_fingerprint(tmp_path, scheduler="sptf", mean_ms="1.6") != first_fingerprint


def test_location_of_a_trace_keeps_the_settings() -> None:
    first, second = (
        fingerprint.ShortRun(PlannedExperiment("lin-figure-7", ("--trace", f"{place}/gap.gz")))
        for place in ("/a", "/b/c")
    )
    assert first.settings_hash() == second.settings_hash()


def test_overridden_setting_changes_the_fingerprint() -> None:
    first, second = (
        fingerprint.ShortRun(PlannedExperiment("lee2009-figure-4", ("--limit", limit)))
        for limit in ("1000", "2000")
    )
    assert first.settings_hash() != second.settings_hash()


def test_experiments_with_joins_hash_a_sampled_loop() -> None:
    assert fingerprint.ShortRun(PLAN["chiu2004-figure-5"]).has_join
    assert not fingerprint.ShortRun(PLAN["chiu2004-figure-4"]).has_join
    assert not fingerprint.ShortRun(PLAN["lee2009-figure-2"]).has_join


def test_loop_of_the_fingerprint_skips_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    original_hash = fingerprint.sampled_loop_hash()
    fingerprint.sampled_loop_hash.cache_clear()
    monkeypatch.setattr(fingerprint, "LOOP_STORES", ("mems-g1",))
    assert fingerprint.sampled_loop_hash() != original_hash
    fingerprint.sampled_loop_hash.cache_clear()


def test_every_experiment_has_tables_in_small_files(stale_sweep_places: set[str]) -> None:
    planned = {name for topic in TOPICS.values() for name in topic.experiments}
    assert results.saved_experiments() <= planned
    assert planned - results.saved_experiments() <= stale_sweep_places
    assert sum(file.stat().st_size for file in results.files()) < MAX_BYTES


@pytest.fixture(scope="module")
def topic_and_content(request: pytest.FixtureRequest) -> tuple[Topic, PageContent]:
    topic = TOPICS[request.param]
    return topic, topic.judge_saved_results()


for_each_topic = pytest.mark.parametrize("topic_and_content", TOPICS, indirect=True)
slow_judging = pytest.mark.slow("judges all claims, some by single replays")


@slow_judging
@for_each_topic
def test_committed_verdicts_match_the_results(topic_and_content: tuple[Topic, PageContent]) -> None:
    topic, content = topic_and_content
    rows = json.loads(verdict_file.FILE.read_text(encoding="utf-8"))["claims"]
    topic_rows = [row for row in rows if row["topic"] == topic.name]
    assert json.loads(json.dumps(verdict_file.rows(topic, content))) == topic_rows
    for name, verdict in content.verdicts.items():
        for sweep in verdict.sensitivity_sweeps:
            assert sweep.cells[sweep.default].outcome == verdict.verdict.outcome, (
                name,
                sweep.assumption,
            )


@slow_judging
@for_each_topic
def test_pages_count_all_verdicts(topic_and_content: tuple[Topic, PageContent]) -> None:
    topic, content = topic_and_content
    outcomes = {name: verdict.outcome for name, verdict in content.verdicts.items()}
    assert set(outcomes.values()) <= set(OUTCOMES)
    assert outcome_counts(claims(topic.name), outcomes) in topic.page(content)
    for name, verdict in content.verdicts.items():
        assert verdict.outcome != FITTED or verdict.verdict.why, name


@pytest.mark.slow("draws every figure")
@pytest.mark.parametrize("figure", figures().values(), ids=figures())
def test_figure_draws_the_saved_values(figure: Figure, tmp_path: Path) -> None:
    tables = Tables(results.directory())
    for panel, axes in zip(figure.panels, draw(figure, results.directory()).axes, strict=False):
        if panel.kind == "map":
            continue
        saved_values = {
            round(dot.y, 9)
            for y in panel.parts.values()
            for row in tables.part(figure, panel, y).values()
            for dot in row
        }
        bar_heights = {
            round(float(bar.get_height()), 9) for container in axes.containers for bar in container
        }
        if panel.kind == "lines":
            assert saved_values <= {round(float(y), 9) for line in axes.lines for y in line.get_ydata()}
        elif axes.get_yscale() == "log":
            dot_heights = {round(float(y), 9) for line in axes.lines for y in line.get_ydata()}
            assert saved_values & dot_heights
        elif not panel.share:
            is_cut_off = "overload" in {text.get_text() for text in axes.texts}
            assert bar_heights
            assert bar_heights <= saved_values or (is_cut_off and len(bar_heights - saved_values) == 1)
    write_pictures(figure, results.directory(), tmp_path)
    files = [*tmp_path.glob("*.svg")]
    assert len(files) == 2
    for file in files:
        assert ElementTree.parse(file).getroot().tag.endswith("}svg")
        assert file.stat().st_size <= MAX_FIGURE_BYTES


def test_pages_are_rewritten_only_after_input_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directories = []

    def write(directory: Path) -> None:
        directories.append(directory)
        (directory / "page.md").write_text("text", encoding="utf-8")

    inputs = [b"first"]
    monkeypatch.setattr(pages, "PAGES", tmp_path)
    monkeypatch.setattr(pages, "write", write)
    monkeypatch.setattr(pages, "inputs", lambda: inputs)
    assert list(pages.files()) == ["page.md"]
    assert pages.files() == pages.files()
    assert len(directories) == 1
    inputs.append(b"second")
    assert pages.files()["page.md"].read_text(encoding="utf-8") == "text"
    assert len(directories) == 2


def test_pages_depend_on_results_claims_code_and_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = list(pages.inputs())
    for name in (
        b"results/power.parquet",
        b"claims/lee2009.toml",
        b"pages.py",
        b"verdicts.json",
        b"decisions.json",
    ):
        assert any(each.endswith(name) for each in inputs), name
    monkeypatch.setattr(matplotlib, "__version__", "0.0")
    assert list(pages.inputs())[1:] == inputs[1:]
    assert next(iter(pages.inputs())) != inputs[0]


def test_index_links_to_the_rows_of_claims() -> None:
    text = scoreboard.page()
    assert "[L-22](lee2009.md#l-22) | ZSPTF is fairer than SPTF" in text


def test_verdicts_have_the_claims_of_the_topics() -> None:
    for topic in TOPICS.values():
        topic_claims = {name: claim for name, claim in packaged_claims().items() if claim.topic == topic.name}
        for name, claim in claims(topic.name).items():
            assert (topic_claims[name].claim, topic_claims[name].accept) == (claim.claim, claim.accept)


def test_figures_with_data_are_drawn_others_listed() -> None:
    for paper, numbers_with_data in DATA.items():
        drawn_numbers = {each.number for each in figures().values() if each.paper == paper}
        assert drawn_numbers == numbers_with_data
        assert not drawn_numbers & set(SCHEMATICS[paper])
        assert drawn_numbers | set(SCHEMATICS[paper]) == set(range(1, max(numbers_with_data) + 1))


def test_figures_name_existing_claims() -> None:
    for figure in figures().values():
        for name in figure.claims:
            assert packaged_claims()[name].paper == figure.paper, (figure.name, name)


def test_headlines_have_priority_one() -> None:
    assert {packaged_claims()[name].priority for name in scoreboard.HEADLINES} == {1}
    assert {packaged_claims()[name].paper for name in scoreboard.HEADLINES} == set(DATA)
    assert scoreboard.GRADES is GRADES_IN_WORDS


def planned_options(planned: PlannedExperiment) -> dict[str, Any]:
    """The options of an experiment by keyword: what a figure may say."""
    words = iter(planned.options)
    options: dict[str, Any] = {"settings": {}}
    for flag in words:
        value = next(words)
        if flag == "--set":
            key, _, setting_value = value.partition("=")
            options["settings"][key] = setting_value
        elif flag in {"--workload", "--trace", "--seed", "--speedup"}:
            options[flag[2:]] = value
    return options


def figure_options(figure_run: FigureRun) -> Mapping[str, Any]:
    options: dict[str, Any] = {
        "settings": {key: f"{value}" for key, value in figure_run.options.get("settings", {}).items()}
    }
    options |= {"workload": figure_run.workload} if figure_run.workload else {}
    options |= {"trace": str(SEAGATE_TRACE)} if figure_run.trace else {}
    options |= {"seed": str(figure_run.options["seed"])} if "seed" in figure_run.options else {}
    speedups = figure_run.options.get("speedup")
    return options | ({"speedup": ",".join(map(str, speedups))} if speedups else {})


@pytest.mark.parametrize("figure", figures().values(), ids=figures())
def test_figures_use_the_options_of_the_plan(figure: Figure) -> None:
    for figure_run in figure.runs:
        assert (EXPERIMENTS / f"{figure_run.experiment}.toml").is_file()
        if any(panel.kind != "map" for panel in figure.panels):
            assert PLAN[figure_run.place].experiment == figure_run.experiment
            assert planned_options(PLAN[figure_run.place]) == figure_options(figure_run), figure_run.place


def test_every_saved_table_has_rows() -> None:
    for file in results.directory().glob("*/*.csv"):
        assert polars.read_csv(file, infer_schema_length=None).height > 0


@pytest.mark.slow("runs experiments, with their pages")
def test_topic_saves_declared_columns_of_read_tables(temporary_results: Path) -> None:
    options = ("--limit", "60", "--warmup", "0", "--seed", "1", "--speedup", "1", "--parallel", "1")
    plan = (PlannedExperiment("lee2009-figure-4", options, "-few"),)
    topic = Topic("none", plan, Runs, lambda runs, _: {"experiments": runs.experiment_table(plan)})
    topic.run(temporary_results / "ran")
    topic.save({each.place: temporary_results / "ran" / each.place for each in plan})
    assert "| 5 | 1 | 60 |" in topic.judge_saved_results().texts["experiments"]
    saved_table = polars.read_csv(results.directory() / "lee2009-figure-4-few" / "runs.csv")
    declared_columns = {each.name for each in fields(ComparisonRun)}
    assert {"scheduler", "queue_mean", "mean_ms"} <= set(saved_table.columns) <= declared_columns
