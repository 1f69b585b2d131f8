"""The experiments of the papers run, and every claim has a judge."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sledlab.reproduction.papers import PAPERS
from sledlab.studies.races.race import MAX_HIGHLIGHTED

from sledlab_papers.claims import JUDGES, claims, missing_tests
from sledlab_papers.hybrid import systems
from sledlab_papers.hybrid.names import STAND_INS
from sledlab_papers.paths import AJW_WEEK, EXPERIMENTS, SEAGATE_TRACE
from sledlab_papers.runs import Crossing, LoadCurves, LoadPoint, run
from sledlab_papers.simulator import calibration, command_line
from sledlab_papers.topic import Topic
from sledlab_papers.topics import TOPICS

SINGLE_RUNS = ("hong2006-figure-4", "lee2009-starvation")
"""Not comparisons: one for `device seek-map`, one for `simulate`."""

FILES = sorted(EXPERIMENTS.glob("*.toml"))
CLAIMS = {"H": 82, "W": 59, "L": 26, "Y": 36, "C": 53}
"""How many there are of each paper, numbered from 1."""

QUICK_OPTIONS = ("--limit", "300", "--warmup", "0", "--seed", "1")

SMALL_DATA = {
    "scale_factor": 0.002,
    "transactions_per_node": 200,
    "records": 4000,
}
"""Settings of data with which jobs take no time."""

MERGE_OPTIONS = ("--job-set", "scale_factor=0.3")
"""With fewer, the shares of four nodes fit their memory, and a sort has no merge for claims to be about."""


def read_experiment(name: str) -> dict[str, Any]:
    return tomllib.loads((EXPERIMENTS / f"{name}.toml").read_text(encoding="utf-8"))


def study_kind(file: Path) -> str:
    return "" if file.stem in SINGLE_RUNS else str(read_experiment(file.stem)["study"]["kind"])


@pytest.mark.slow("runs jobs, and replays them with up to four sizes of pages")
@pytest.mark.parametrize(
    "file", [file for file in FILES if file.stem.startswith("chiu2004-figure")], ids=lambda file: file.stem
)
@pytest.mark.usefixtures("skip_pages")
def test_experiment_on_smart_storage_runs(file: Path, tmp_path: Path) -> None:
    options = [*small_data_options(file.stem), "--node-count", "4", "--device", "mems-g2", "--parallel", "1"]
    assert command_line(["smart", str(file), *options, "--out", str(tmp_path)]) == 0
    assert (tmp_path / "phases.csv").exists()


def small_data_options(experiment: str, options: Sequence[str] = ()) -> list[str]:
    """Options with which the data of an experiment on smart storage are few; what else was set stays."""
    job_settings = read_experiment(experiment)["study"].get("job_settings", [])
    names = [setting.split("=")[0] for setting in job_settings]
    if "--job" in options:
        # Not every setting of the file is one of that job.
        option_names = [option.split("=")[0] for option in options]
        names = [name for name in names if name in option_names or name == "scale_factor"]
    small_settings = [f"{name}={SMALL_DATA[name]}" for name in names if name in SMALL_DATA]
    return [word for setting in small_settings for word in ("--job-set", setting)]


COMPARISONS = [file for file in FILES if study_kind(file) in {"compare", "side-by-side"}]


def shape(file: Path) -> tuple[object, ...]:
    """Return what decides which parts the page of a comparison has."""
    study = read_experiment(file.stem)["study"]
    has_sets = any(isinstance(axis_values, dict) for axis_values in study.get("vary", {}).values())
    return tuple(sorted(study)), has_sets, len(study.get("scheduler", ())) > MAX_HIGHLIGHTED


PAGE_SAMPLES = {shape(file): file for file in COMPARISONS}.values()
"""One comparison for each shape of a page."""


@pytest.mark.slow("runs a comparison of a paper, with its page")
@pytest.mark.parametrize("file", COMPARISONS, ids=lambda file: file.stem)
def test_experiment_runs(file: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if file not in PAGE_SAMPLES:
        request.getfixturevalue("skip_pages")
    quick_options = [
        "--limit",
        "30",
        "--warmup",
        "0",
        "--seed",
        "1",
        "--parallel",
        "1",
        "--out",
        str(tmp_path),
    ]
    experiment = read_experiment(file.stem)
    if "workload" not in experiment and "workloads" not in experiment["study"]:
        trace = AJW_WEEK if file.stem.endswith("-ajw") else SEAGATE_TRACE
        if not trace.is_file():
            pytest.skip(f"no trace {trace} (set SLEDLAB_REFERENCE)")
        quick_options += ["--trace", str(trace)]
    study = experiment["study"]
    if "speedup" in study:
        quick_options += ["--speedup", f"{study['speedup'][0]}"]
    if "replay.limit" in study.get("vary", {}):
        quick_options += ["--vary", "replay.limit=20,30"]
    assert command_line(["compare", str(file), *quick_options]) == 0
    assert (tmp_path / "runs.parquet").exists()


def test_single_experiments_run(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    figure_4, starvation = (str(EXPERIMENTS / f"{name}.toml") for name in SINGLE_RUNS)
    assert command_line(["device", "seek-map", figure_4]) == 0
    assert "2,500 columns" in " ".join(capfd.readouterr().out.split())
    assert (
        command_line(["simulate", starvation, "--limit", "300", "--requests", str(tmp_path / "requests.csv")])
        == 0
    )


def test_experiment_files_have_command_and_citation() -> None:
    citations = "|".join(each.citation for each in PAPERS.values())
    first_comment = re.compile(
        rf"# ({citations}|What is known of .* et al\. [0-9]{{4}}|Why .* not of a paper)"
    )
    for file in FILES:
        text = file.read_text(encoding="utf-8")
        assert re.search(rf"^#   sledlab .* {file.stem}( |$)", text, re.MULTILINE), file
        assert first_comment.search(text), file


def test_lee2009_figures_are_subsets_of_figure_2() -> None:
    figure_2 = read_experiment("lee2009-figure-2")
    for number in range(3, 8):
        subset = read_experiment(f"lee2009-figure-{number}")
        for key in ("scheduler", "speedup"):
            assert set(subset["study"][key]) <= set(figure_2["study"][key])
        for table in ("workload", "replay"):
            assert subset[table] == figure_2[table]
        assert subset["study"]["seed"] == figure_2["study"]["seed"]
        assert {"sled_motion": "together", **subset["device"]} == figure_2["device"]


# Writes of 5,000 requests would all end in the controller cache.
TOPIC_OPTIONS = {"hybrid": ("--limit", "20000", *QUICK_OPTIONS[2:])}


@pytest.mark.slow("runs every experiment of a topic")
@pytest.mark.everything
@pytest.mark.parametrize("topic", TOPICS.values(), ids=TOPICS)
def test_every_claim_is_judged_from_small_runs(topic: Topic, tmp_path: Path) -> None:
    # Too short for verdicts that mean anything: what is tried is that there are some.
    if topic.missing_data:
        pytest.skip(topic.missing_data)
    if topic.name == "smart":
        options_by_experiment = {
            each: small_data_options(each.experiment, each.options) for each in topic.plan
        }
        options_by_experiment |= {
            each: MERGE_OPTIONS for each in topic.plan if each.experiment == "chiu2004-figure-7"
        }
        run(
            [replace(each, options=(*each.options, *options_by_experiment[each])) for each in topic.plan],
            tmp_path,
        )
    else:
        topic.run(tmp_path, TOPIC_OPTIONS.get(topic.name, QUICK_OPTIONS))
    content = topic.judge(tmp_path)
    assert topic.page(content)
    assert set(content.verdicts) == set(claims(topic.name))


def test_hybrid_experiments_use_the_calibrated_cello() -> None:
    experiments = [read_experiment(file.stem) for file in FILES if file.stem.startswith("wang2005")]
    used_workloads = [experiment["workload"] for experiment in experiments if "workload" in experiment]
    calibrated_cello = {"kind": "cello", **calibration.CALIBRATIONS["cello-12h"].parameters}
    assert calibrated_cello in used_workloads
    assert all(workload == calibrated_cello for workload in used_workloads if workload["kind"] == "cello")
    for workload in (systems.TPCC, systems.HPLAJW):
        parameters = calibration.CALIBRATIONS[STAND_INS[workload]].parameters
        expected_settings = {f"workload.{key}={value}" for key, value in parameters.items()}
        assert expected_settings <= set(systems.WORKLOAD_OPTIONS[workload])


def test_claims_have_text_and_judge_or_tests() -> None:
    all_claims = [claim for name in TOPICS for claim in claims(name).values()]
    assert set(JUDGES) <= {claim.id for claim in all_claims}
    assert not [
        claim.id for claim in all_claims if {claim.id, claim.like}.isdisjoint(JUDGES) and not claim.checked_by
    ]
    assert all(claim.ours for claim in all_claims)


def test_claims_cover_the_papers() -> None:
    claim_ids = [name for topic in TOPICS for name in claims(topic)]
    numbers = ((paper, n) for paper, maximum in CLAIMS.items() for n in range(1, maximum + 1))
    assert sorted(claim_ids) == sorted(f"{paper}-{n:02}" for paper, n in numbers)


@pytest.mark.parametrize("name", TOPICS)
def test_tests_of_definitions_exist(name: str) -> None:
    assert not [missing_test for claim in claims(name).values() for missing_test in missing_tests(claim)]


def curve(scheduler: str, **means_by_speedup: float) -> dict[tuple[str, float], LoadPoint]:
    speedups_and_means = ((float(name[1:]), mean) for name, mean in means_by_speedup.items())
    return {
        (scheduler, name): LoadPoint(scheduler, name, 1, 1, mean > 1000, 0, mean, 0, 0, 0, 0, 0, 0)
        for name, mean in speedups_and_means
    }


def test_reference_scheduler_classifies_loads_without_overload() -> None:
    load_curves = LoadCurves(
        curve("sptf", x1=1.0, x2=5.0, x3=50.0, x4=500.0) | curve("fcfs", x1=1.5, x2=6.0, x3=75.0, x4=5000.0)
    )
    assert [load_curves.weight(speedup) for speedup in load_curves.speedups] == [
        "light",
        "moderate",
        "heavy",
        "heavy",
    ]
    assert load_curves.loads(("heavy",), "sptf") == [3.0, 4.0]
    assert load_curves.changes("fcfs", "sptf", ("moderate", "heavy")) == pytest.approx({2.0: 0.2, 3.0: 0.5})


def test_gains_omit_levels_not_reached_by_both() -> None:
    def level_crossing(rate: float | None, reached: str = "yes") -> Crossing:
        return Crossing("", 0, rate, reached)

    crossings = {
        ("a", 2.0): level_crossing(110.0),
        ("b", 2.0): level_crossing(100.0),
        ("a", 5.0): level_crossing(220.0),
        ("b", 5.0): level_crossing(200.0, "in overload"),
        ("a", 10.0): level_crossing(None, "above"),
        ("b", 10.0): level_crossing(300.0),
    }
    assert LoadCurves({}, crossings).gains("a", "b", ("moderate",)) == pytest.approx({2.0: 0.1})
