"""Points of the papers' experiments that are kept, and what is made of them: pages, pictures, verdicts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import polars
import pytest
from sledlab.reproduction.figure import Figure, FigureRun, figures
from sledlab.reproduction.verdicts import claims as travelled
from sledlab.reproduction.words import GRADES as GRADES_IN_WORDS

from lab import reference
from lab.page import DOCUMENTS
from lab.reproduction import fingerprint, points, scoreboard
from lab.reproduction.__main__ import TOPICS, document
from lab.reproduction.claims import claims
from lab.reproduction.pictures import IMAGES, SCHEMATICS, of_topic, picture
from lab.reproduction.points import POINTS, KeptPoints, asked, index, stale
from lab.reproduction.runs import Planned, Runs, seen
from lab.reproduction.topic import Topic
from lab.simulator import EXPERIMENTS

MOST_BYTES = 2_000_000
MOST_OF_A_PICTURE = 60_000

PLAN = {each.place: each for topic in TOPICS.values() for each in topic.whole}
DATA = {"000": {4, 7, 8, 9, 10, 11, 12}, "001": {4, 5, 6, 7}, "002": {2, 3, 4, 5, 6, 7}}
DATA |= {"003": set(range(2, 11)), "004": set(range(4, 12))}
"""Figures with data, by paper."""


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(points, "POINTS", tmp_path / "points")
    monkeypatch.setattr("lab.reproduction.topic.RESULTS", tmp_path / "results")
    (tmp_path / "points").mkdir()
    return tmp_path


def table(file: Path) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    text = "scheduler,speedup,device.sleds,seed,mean_ms,unread\nfcfs,1.0,1,1,1.23456789012345,3\n"
    file.write_text(text, encoding="utf-8")
    return file


def test_what_is_kept_is_what_was_read_in_ten_digits(elsewhere: Path) -> None:
    file = table(elsewhere / "ran" / "paper-002-figure-2" / "points.csv")
    seen(file, ("scheduler", "speedup", "device.sleds", "mean_ms", "not there"))
    points.keep([Planned("paper-002-figure-2")], elsewhere / "ran", "abc")
    kept = points.POINTS / "paper-002-figure-2" / "points.csv"
    assert (
        kept.read_text(encoding="utf-8") == "scheduler,speedup,device.sleds,mean_ms\nfcfs,1.0,1,1.23456789\n"
    )
    (row,) = index().values()
    assert row == KeptPoints("paper-002-figure-2", asked(Planned("paper-002-figure-2")), "abc", "abc", "")


@pytest.fixture
def left(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What short runs leave, by the place of the experiment: none runs."""
    found: dict[str, str] = {}
    monkeypatch.setattr(
        points, "fingerprints", lambda plan: {each.place: found.get(each.place, "same") for each in plan}
    )
    return found


def test_what_changed_runs_again_and_nothing_else(elsewhere: Path, left: dict[str, str]) -> None:
    plan = [Planned("paper-002-figure-2"), Planned("paper-002-figure-4", ("--seeds", "1"), "-one")]
    assert stale(plan) == plan
    points.keep(plan, elsewhere / "ran")
    assert stale(plan) == []
    moved = Planned("paper-002-figure-4", ("--seeds", "2"), "-one")
    assert stale([plan[0], moved]) == [moved]
    points.confirm([plan[0], moved])
    assert stale([plan[0], moved]) == [moved]


def test_points_stand_with_other_sources_while_short_runs_leave_the_same(
    elsewhere: Path, left: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = [Planned("paper-002-figure-2"), Planned("paper-002-figure-4")]
    of = points.sources()
    points.keep(plan, elsewhere / "ran")
    monkeypatch.setattr(points, "sources", lambda: "others")
    assert stale(plan) == plan
    left["paper-002-figure-4"] = "something else"
    points.confirm(plan)
    assert stale(plan) == [plan[1]]
    assert [(each.sources, each.stands) for each in index().values()] == [(of, "others"), (of, of)]


def test_points_of_other_sources_have_no_fingerprint_and_run_again(
    elsewhere: Path, left: dict[str, str]
) -> None:
    plan = [Planned("paper-002-figure-2")]
    points.keep(plan, elsewhere / "ran", "older")
    points.confirm(plan)
    assert stale(plan) == plan


@pytest.mark.slow("runs experiments twice, if short")
@pytest.mark.parametrize("place", ["paper-002-zone-sizes", "paper-003-figure-9", "paper-004-failure"])
def test_a_short_run_leaves_the_same_again(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fingerprint, "FOUND", {})
    first = fingerprint.fingerprints([PLAN[place]])
    fingerprint.FOUND.clear()
    assert fingerprint.fingerprints([PLAN[place]]) == first


def test_a_short_run_that_leaves_nothing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="left no tables"):
        fingerprint.Short(PLAN["paper-003-figure-9"]).fingerprint(tmp_path)


@pytest.mark.slow("runs experiments, if short")
def test_short_runs_tell_experiments_apart() -> None:
    plan = [PLAN["paper-003-figure-9"], replace(PLAN["paper-003-figure-9"], options=("--seed", "2"))]
    first, second = (fingerprint.fingerprints([each]) for each in plan)
    assert first != second


def test_where_a_trace_lies_changes_nothing() -> None:
    here, there = (Planned("paper-003-figure-7", ("--trace", f"{place}/gap.gz")) for place in ("/a", "/b/c"))
    assert asked(here) == asked(there)


def test_default_readings_leave_out_what_does_not_count() -> None:
    left_out = {each.place for topic in TOPICS.values() for each in set(topic.plan) - set(topic.default)}
    strips = {each.place for topic in TOPICS.values() for each in set(topic.whole) - set(topic.plan)}
    assert strips.isdisjoint(each.place for topic in TOPICS.values() for each in topic.default)
    assert all(re.search(r"-(dense|both-ways|contiguous|no-read-ahead)$", place) for place in left_out)
    assert left_out


def kept_wholly(topic: Topic) -> bool:
    return all(each.place in index() for each in topic.whole)


def test_points_of_every_experiment_are_kept_and_few() -> None:
    assert [topic.name for topic in TOPICS.values() if not kept_wholly(topic)] == []
    assert sum(file.stat().st_size for file in POINTS.rglob("*.csv")) < MOST_BYTES


@pytest.mark.slow("judges all claims, some by single replays")
@pytest.mark.parametrize("topic", TOPICS.values(), ids=TOPICS)
def test_pages_are_what_kept_points_give(topic: Topic) -> None:
    if topic.missing:
        pytest.skip(topic.missing)
    page = (DOCUMENTS / document(topic)).read_text(encoding="utf-8")
    sheet = topic.found()
    assert topic.page(sheet, topic.sources) == page
    for name, judged in sheet.verdicts.items():
        for strip in judged.strips:
            assert strip.cells[strip.default].outcome == judged.found.outcome, (name, strip.over)


NUMBER = re.compile(r"-?\d+\.?\d*")
COORDINATES = ("d", "x", "y")


def drawing(file: Path) -> tuple[list[str], list[float]]:
    """Return the texts of a picture and the coordinates, in points, of all that is drawn in it."""
    elements = list(ElementTree.parse(file).getroot().iter())
    numbers = (NUMBER.findall(each.get(name, "")) for each in elements for name in COORDINATES)
    texts = [each.text or "" for each in elements if each.tag.endswith("}text")]
    return texts, [float(number) for found in numbers for number in found]


@pytest.mark.slow("draws every figure")
@pytest.mark.parametrize("topic", TOPICS)
def test_pictures_show_the_kept_points(topic: str, tmp_path: Path) -> None:
    # The bytes depend on the processor: identifiers are hashes of coordinates to the last bit.
    for figure in of_topic(topic):
        drawn = tmp_path / f"{figure.name}.svg"
        picture(figure, POINTS, drawn)
        texts, coordinates = drawing(drawn)
        committed_texts, committed = drawing(IMAGES / drawn.name)
        assert texts, figure.name
        assert texts == committed_texts, f"{figure.name}: python -m lab.reproduction"
        assert coordinates == pytest.approx(committed, abs=0.05), f"{figure.name}: python -m lab.reproduction"
        assert drawn.stat().st_size <= MOST_OF_A_PICTURE, figure.name


def test_scoreboard_is_what_the_verdicts_give() -> None:
    assert scoreboard.page() == (DOCUMENTS / scoreboard.DOCUMENT).read_text(encoding="utf-8")


def test_the_verdicts_that_travel_are_those_of_the_pages() -> None:
    for topic in TOPICS.values():
        page = (DOCUMENTS / document(topic)).read_text(encoding="utf-8")
        found = dict(re.findall(r"^### ([CHLWY]-\d\d): (.*)$", page, re.MULTILINE))
        mine = {name: claim for name, claim in travelled().items() if claim.topic == topic.name}
        assert {name: claim.outcome for name, claim in mine.items()} == found
        for name, claim in claims(topic.name).items():
            assert (mine[name].claim, mine[name].accept) == (claim.claim, claim.accept)


def test_every_figure_with_data_is_drawn_and_every_other_listed() -> None:
    for paper, wanted in DATA.items():
        drawn = {each.number for each in figures().values() if each.paper == paper}
        assert drawn == wanted
        assert not drawn & set(SCHEMATICS[paper])
        assert drawn | set(SCHEMATICS[paper]) == set(range(1, max(wanted) + 1))


def test_figures_name_claims_that_there_are() -> None:
    for figure in figures().values():
        for name in figure.claims:
            assert travelled()[name].paper == figure.paper, (figure.name, name)


def test_headlines_are_of_what_papers_rest_on() -> None:
    assert {travelled()[name].priority for name in scoreboard.HEADLINES} == {1}
    assert {travelled()[name].paper for name in scoreboard.HEADLINES} == set(DATA)
    assert scoreboard.GRADES is GRADES_IN_WORDS


def said_in_lab(planned: Planned) -> dict[str, Any]:
    """The options of an experiment by keyword: what a figure may say."""
    words = iter(planned.options)
    found: dict[str, Any] = {"settings": {}}
    for flag in words:
        value = next(words)
        if flag == "--set":
            key, _, said = value.partition("=")
            found["settings"][key] = said
        elif flag in {"--workload", "--trace", "--seeds", "--speedups"}:
            found[flag[2:]] = value
    return found


def said_in_figure(ran: FigureRun) -> Mapping[str, Any]:
    found: dict[str, Any] = {
        "settings": {key: f"{value}" for key, value in ran.said.get("settings", {}).items()}
    }
    found |= {"workload": ran.workload} if ran.workload else {}
    found |= {"trace": str(reference.trace("seagate_gap"))} if ran.trace else {}
    found |= {"seeds": str(ran.said["seeds"])} if "seeds" in ran.said else {}
    speedups = ran.said.get("speedups")
    return found | ({"speedups": ",".join(map(str, speedups))} if speedups else {})


@pytest.mark.parametrize("figure", figures().values(), ids=figures())
def test_figures_run_what_the_lab_runs(figure: Figure) -> None:
    for ran in figure.runs:
        assert (EXPERIMENTS / f"{ran.experiment}.toml").is_file()
        if any(panel.kind != "map" for panel in figure.panels):
            assert PLAN[ran.place].experiment == ran.experiment
            assert said_in_lab(PLAN[ran.place]) == said_in_figure(ran), ran.place


def test_points_are_read_as_they_are_kept() -> None:
    place = next(iter(index()))
    for file in (POINTS / place).glob("*.csv"):
        assert polars.read_csv(file, infer_schema_length=None).height > 0


@pytest.mark.slow("runs experiments, with their pages")
def test_refreshing_runs_what_lacks_and_keeps_what_is_read(elsewhere: Path, left: dict[str, str]) -> None:
    few = ("--limit", "60", "--warmup", "0", "--seeds", "1", "--speedups", "1", "--jobs", "1")
    plan = (Planned("paper-002-figure-4", few, "-few"), Planned("paper-002-figure-4", few, "-others"))
    topic = Topic(
        "none", plan, Runs, lambda runs, _: {"experiments": runs.experiments(plan[:1])}, others=("-others",)
    )
    assert [each.place for each in topic.refresh()] == ["paper-002-figure-4-few"]
    assert topic.refresh() == []
    assert [each.place for each in topic.refresh(everything=True)] == ["paper-002-figure-4-others"]
    assert "| 5 | 1 | 60 |" in topic.found().places["experiments"]
    kept = polars.read_csv(points.POINTS / "paper-002-figure-4-few" / "points.csv")
    assert {"scheduler", "queue_mean"} <= set(kept.columns)
    assert "mean_ms" not in kept.columns
