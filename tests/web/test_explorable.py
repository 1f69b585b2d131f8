"""The page of figures that a reader computes with other assumptions (`sledlab_papers.explorable`)."""

from __future__ import annotations

import json
import math
import shlex
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pytest
from click.testing import CliRunner
from sledlab.cli import cli
from sledlab.reproduction.rows import value_label
from sledlab.reproduction.verdicts import claims
from sledlab_papers import explorable

from .laboratory import PHONE
from .pages import PATIENCE_MS, OpenedPage, open_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser

FIGURES = tuple(explorable.declarations())
JOBS = tuple(name for name, each in explorable.declarations().items() if "phases" in each)
REQUESTS = tuple(name for name in FIGURES if name not in JOBS)
SMALL = 1200
"""Requests a run, of tests that compare many runs."""

WITHOUT_EFFECT = {
    "device.sled_motion": "independent",
    "hybrid.copy_kb": "0",
    "node.block_kb": "2",
    "node.cycles.probe": "2",
    "system.start": "ready",
}
"""Other values of settings that figures declare to be without effect."""

COLUMNS = ("mean_ms", "scv", "throughput_iops", "energy_j", "arrival_rate_iops")
OUTCOMES = (
    "[...document.querySelectorAll('tr.judged')].map(row => [row.dataset.claim, row.cells[3].innerText])"
)
BUTTONS = "[...document.querySelectorAll('[aria-pressed=true]')].map(button => button.innerText)"


@cache
def descriptions() -> dict[str, dict[str, Any]]:
    """The descriptions on the page, by name."""
    return {name: explorable.description(name) for name in FIGURES}


@cache
def page_file() -> Path:
    """The page, in a directory that exists as long as this process."""
    if not explorable.is_built():
        pytest.skip("the page is not built: make web")
    file = Path(_directory().name) / "explore.html"
    file.write_text(explorable.page(), encoding="utf-8")
    return file


@cache
def _directory() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="sledlab-explore-")


def address(name: str, **values: object) -> str:
    """The part of an address that holds a state; jobs have their smallest size."""
    if name in JOBS and "size" in values:
        values["size"] = descriptions()[name]["sizes"][0]
    return "&".join([f"#{name}", *(f"{key}={value}" for key, value in values.items())])


def wait(page: OpenedPage) -> None:
    """Wait until the figure is complete."""
    page.page.locator("html[data-stage=done], html[data-stage=failed]").wait_for(
        state="attached", timeout=PATIENCE_MS
    )
    assert page.page.locator("html").get_attribute("data-stage") == "done", page.page.locator(
        ".problem"
    ).inner_text()


@contextmanager
def explored(browser: Browser, hash: str, **options: Any) -> Iterator[OpenedPage]:
    """Open the page and wait for its figure; it must complain about nothing and request nothing."""
    with open_page(browser, page_file(), hash=hash, **options) as page:
        wait(page)
        yield page
        assert page.complaints == []
        assert page.requested_urls == []


def rows(page: OpenedPage) -> list[dict[str, Any]]:
    """The runs on the page."""
    found: list[dict[str, Any]] = page.page.evaluate("exploredRows")
    return found


def choose(page: OpenedPage, key: str, value: str) -> None:
    """Choose a value of a setting, or enter another one, and wait for the figure."""
    select = page.page.locator(f"select[data-key='{key}']")
    if select.locator(f"option[value='{value}']").count():
        select.select_option(value)
    else:
        select.select_option("(other)")
        number = page.page.locator(f".setting:has(select[data-key='{key}']) input")
        number.fill(value)
        number.press("Enter")
    wait(page)


def compare(command: str, table: str = "runs") -> list[dict[str, Any]]:
    """A table of a command, by default its runs."""
    result = CliRunner().invoke(cli, [*shlex.split(command)[1:], "--json"], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    found: list[dict[str, Any]] = data.get("tables", data)[table]
    return found


def settings(name: str) -> list[dict[str, Any]]:
    """The settings of a figure that have controls."""
    return [each for line in descriptions()[name]["assumptions"] for each in line["settings"]]


def changed(name: str) -> dict[str, str]:
    """A changed setting of a figure: the first that has an old reading, or another value."""
    chosen = next((each for each in settings(name) if each["former"]), settings(name)[0])
    return {chosen["key"]: other_value(chosen)}


def other_value(setting: dict[str, Any]) -> str:
    """A value of a setting that is not in the set: the last known one, another word, or half of a number."""
    others = [*(value for value, _ in reversed(setting["known"])), *(setting.get("words") or [])]
    other = next((each for each in others if each != setting["value"]), "")
    return other or f"{float(setting['value']) / 2 or 1000:g}"


@pytest.mark.parametrize("is_changed", [False, True], ids=["set", "changed"])
@pytest.mark.parametrize("name", REQUESTS)
def test_numbers_equal_those_of_the_copied_command(name, is_changed, chromium):
    changes = changed(name) if is_changed else {}
    with explored(chromium, address(name, size=SMALL, seeds=2, **changes)) as page:
        commands = page.page.locator("pre").inner_text().splitlines()
        page_rows = rows(page)
    command_rows = [run for command in commands for run in compare(f"{command} --parallel 1")]
    assert len(command_rows) == len(page_rows)

    runs_by_labels: dict[Any, list[dict[str, Any]]] = {}
    for run in command_rows:
        runs_by_labels.setdefault(
            labels({each: run[each] for each in (*page_rows[0]["labels"], "seed")}), []
        ).append(run)
    for row in page_rows:
        numbers = {name: row["values"][name] for name in COLUMNS if not is_missing(row["values"][name])}
        candidates = runs_by_labels[labels({**row["labels"], "seed": row["seed"]})]
        assert any(
            numbers == pytest.approx({name: run[name] for name in numbers}, rel=1e-12) for run in candidates
        )


def labels(values: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """Labels of a run, without the parameters of its scheduler."""
    return tuple(sorted((key, value_label(value).partition(":")[0]) for key, value in values.items()))


def is_missing(value: float | None) -> bool:
    """Whether the page did not need a value."""
    return value is None or math.isnan(value)


@pytest.mark.parametrize("is_changed", [False, True], ids=["set", "changed"])
@pytest.mark.parametrize("name", JOBS)
def test_phases_equal_those_of_the_copied_command(name, is_changed, chromium):
    changes = changed(name) if is_changed else {}
    with explored(chromium, address(name, size=SMALL, **changes)) as page:
        (command,) = page.page.locator("pre").inner_text().splitlines()
        page_rows = {labels(row["labels"]): row["values"] for row in rows(page)}
    phases = compare(f"{command} --parallel 1", table="phases")
    names = [key for key, _ in next(iter(page_rows))]
    command_rows = {labels({each: run.get(each) for each in names}): run for run in phases}
    assert page_rows.keys() <= command_rows.keys()
    for key, values in page_rows.items():
        assert values == {name: command_rows[key][name] for name in values}


@pytest.mark.parametrize("name", REQUESTS)
def test_checksums_equal_those_of_the_plan(name, chromium):
    with explored(chromium, address(name, size=SMALL)) as page:
        checksums = {(row["place"], labels(row["labels"])): row["checksum"] for row in rows(page)}
    native = {}
    for figure_run in explorable.shown_figures(name)[0].runs:
        part = explorable.Part(figure_run, explorable.declarations()[name])
        for case in part.plan.cases:
            experiment = part.plan.experiment(part.plan.specs_of(case)[0]).with_setting("seed", "1")
            outcome = json.loads(experiment.with_setting("replay.limit", str(SMALL)).run())
            native[figure_run.place, labels(dict(case.labels))] = outcome["summary"]["checksum"]
    assert checksums == native


def fingerprints(page: OpenedPage) -> dict[Any, tuple[Any, ...]]:
    """What differs between runs, by their places and labels: completions, and values such as energy."""
    return {
        (row["place"], labels(row["labels"])): (
            row["checksum"],
            *(value for value in row["values"].values() if not is_missing(value)),
        )
        for row in rows(page)
    }


@pytest.mark.parametrize("name", FIGURES)
def test_every_control_changes_its_runs(name, chromium):
    places = [part["place"] for part in descriptions()[name]["parts"]]
    with explored(chromium, address(name, size=SMALL)) as page:
        set_fingerprints = fingerprints(page)
        for line in descriptions()[name]["assumptions"]:
            for setting in line["settings"]:
                key, value = setting["key"], other_value(setting)
                choose(page, key, value)
                assert key in unquote(page.page.url)
                changed_runs = fingerprints(page).items() - set_fingerprints.items()
                changed_places = {place for (place, _), _ in changed_runs}
                assert changed_places, key
                assert changed_places <= {places[each] for each in line["parts"]}, key
                choose(page, key, setting["value"])
                assert page.page.evaluate(BUTTONS) == ["The set"]


@pytest.mark.parametrize(
    "name", [name for name in FIGURES if "without_effect" in explorable.declarations()[name]]
)
def test_settings_without_effect_change_no_run(name, chromium):
    with explored(chromium, address(name)) as page:
        set_fingerprints = fingerprints(page)
    for key in explorable.declarations()[name]["without_effect"]:
        with explored(chromium, address(name, **{key: WITHOUT_EFFECT[key]})) as page:
            assert f"{key}={WITHOUT_EFFECT[key]}" in page.page.locator("pre").inner_text()
            assert fingerprints(page) == set_fingerprints


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("window", [{"width": 1300, "height": 900}, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("name", FIGURES)
def test_page_is_accessible_and_fits(name, window, scheme, chromium):
    with explored(chromium, address(name, size=SMALL), viewport=window, color_scheme=scheme) as page:
        page.page.locator("details.runs summary").click()
        assert page.violations() == []
        assert page.page.evaluate("document.documentElement.scrollWidth") == window["width"]


def test_page_is_used_by_keyboard(chromium):
    def go_to(element: str) -> None:
        """Press Tab until an element has the focus."""
        for _ in range(100):
            page.page.keyboard.press("Tab")
            if page.page.evaluate(f"document.activeElement.matches({element!r})"):
                return
        pytest.fail(f"Tab does not reach {element}")

    with explored(
        chromium, address(FIGURES[0], size=SMALL), permissions=["clipboard-read", "clipboard-write"]
    ) as page:
        go_to("select")
        page.page.keyboard.press("ArrowDown")
        wait(page)
        assert page.page.evaluate("document.activeElement.value") == str(
            descriptions()[FIGURES[0]]["sizes"][0]
        )
        go_to("pre + button")
        go_to("select[data-key='device.direction']")
        page.page.keyboard.press("ArrowDown")
        wait(page)
        assert page.page.evaluate("document.activeElement.dataset.key") == "device.direction"
        assert page.page.evaluate(BUTTONS) == ["Your own"]
        while not page.page.evaluate("document.activeElement.matches('pre + button')"):
            page.page.keyboard.press("Shift+Tab")
        page.page.keyboard.press("Enter")
        page.page.get_by_text("The command is on the clipboard.").wait_for()
        command = page.page.evaluate("navigator.clipboard.readText()")
        assert command == page.page.locator("pre").inner_text()
        assert "device.direction=parity" in command


def test_presets_and_address_hold_the_state(chromium):
    name = "hong2006-figure-9"
    with explored(chromium, address(name, size=SMALL)) as page:
        page.page.get_by_role("button", name="The old reading").click()
        wait(page)
        old = page.page.url.partition("#")[2]
        old_rows = rows(page)
    with explored(chromium, f"#{old}") as page:
        assert page.page.evaluate(BUTTONS) == ["The old reading"]
        assert rows(page) == old_rows
        page.page.get_by_role("button", name="The set").click()
        wait(page)
        assert page.page.url.endswith(address(name, size=SMALL))


def test_own_settings_and_their_errors_are_shown(chromium):
    with open_page(chromium, page_file(), hash=address(FIGURES[0], size=SMALL)) as page:
        wait(page)
        own = page.page.locator("textarea")
        for text, stage in (("device.slods=4", "failed"), ("device.spring_factor=0.3", "done")):
            own.fill(text)
            own.blur()
            page.page.locator(f"html[data-stage={stage}]").wait_for(state="attached", timeout=PATIENCE_MS)
            assert text in page.page.locator("pre").inner_text()
            assert page.page.locator(".problem").is_visible() is (stage == "failed")
        assert page.page.url.endswith("device.spring_factor=0.3")


@pytest.mark.parametrize("name", [REQUESTS[0], JOBS[0]])
def test_invalid_words_of_address_are_ignored_with_message(name, chromium):
    words = ["size=-1", "seeds=1e9", "study.speedup=[7", "seed=3", "nobody:weight=2", "=", "key", "%E0%A4"]
    with explored(chromium, "&".join([f"#{name}", *words])) as page:
        message = f"Ignored, as they are not valid here: {', '.join(words)}"
        assert page.page.locator(".problem").inner_text() == message
        assert page.page.evaluate(BUTTONS) == ["The set"]


def test_address_of_unknown_figure_shows_first_one(chromium):
    with explored(chromium, "#hong2006-figure-99&device.direction=parity") as page:
        assert "hong2006-figure-99" in page.page.locator(".problem").inner_text()
        assert page.page.locator("h1").inner_text() == descriptions()[FIGURES[0]]["title"]
        assert page.page.evaluate(BUTTONS) == ["The set"]


@pytest.mark.parametrize(
    "word", ["device.spring_factor=-1", "device.direction=sideways", "workload.rate_per_s=x", "unknown.key=1"]
)
def test_wrong_value_in_address_has_message_of_simulator(word, chromium):
    with open_page(chromium, page_file(), hash=f"#{FIGURES[0]}&size={SMALL}&{word}") as page:
        page.page.locator("html[data-stage=failed]").wait_for(state="attached", timeout=PATIENCE_MS)
        table, _, key = word.partition("=")[0].partition(".")
        problem = page.page.locator(".problem").inner_text()
        assert key in problem or f"unknown table `{table}`" in problem
        assert page.complaints == []


def test_recorded_trace_stays_in_the_page(chromium, tmp_path):
    lines = [f"{index * 9.5:.3f} 0 {index * 7919 % 900_000} 8 {index % 2}" for index in range(SMALL)]
    trace = tmp_path / "seagate_gap.txt"
    trace.write_text("\n".join(lines) + "\n", encoding="ascii")
    with explored(chromium, address("lin-figure-4", size=SMALL)) as page:
        page.page.locator("input[type=file]").set_input_files(trace)
        page.page.locator("pre", has_text=trace.name).wait_for()
        wait(page)
        page_rows = {row["labels"]["power.timeout_ms"]: row["values"]["energy_j"] for row in rows(page)}
        command = page.page.locator("pre").inner_text()
    runs = compare(f"{command.replace(trace.name, str(trace))} --parallel 1")
    assert page_rows == {run["power.timeout_ms"]: run["energy_j"] for run in runs}


def test_whole_run_is_judged_as_its_verdict(chromium):
    name = "lee2009-figure-4"
    with explored(chromium, address(name, size=21000)) as page:
        outcomes = dict(page.page.evaluate(OUTCOMES))
    assert outcomes["L-16"].startswith(f"{claims()['L-16'].outcome_in_set}:")
