"""Race and Design in the laboratory."""

from __future__ import annotations

import subprocess
import sys

import sledlab as sl

from .laboratory import DEFAULT


def test_race_uses_equal_arrivals(page):
    page.tab("Race")
    page.wait_for_race(2)
    c_scan, sptf = (
        float(each.replace(",", "").split()[0])
        for each in page.page.locator(".runner .big").all_inner_texts()
    )
    assert sptf < c_scan < 2 * sptf, "both keep up"
    verdict = page.page.locator(".verdict")
    page.until("document.querySelector('.verdict').textContent.startsWith('sptf answers soonest')")
    assert "but its longest answer takes" in verdict.inner_text()
    energy = page.page.get_by_role("img", name="Energy over time")
    assert energy.locator("canvas").count() == 1
    page.press("Add a runner")
    page.wait_for_race(3)
    page.page.get_by_role("button", name="out of the race").first.click()
    for axis in ("devices", "power policies", "layouts"):
        page.choose("race", axis)
        page.wait_for_race(2)
        assert page.message == ""


def test_design_is_answered_immediately_and_can_be_saved(page):
    page.tab("Design")
    seek = page.page.locator(".figures dd").first
    seek.wait_for()
    seek_before = seek.inner_text()
    page.page.get_by_label("acceleration of the actuators").press("End")
    page.until(f"!document.querySelector('.figures dd').innerText.startsWith({seek_before.split()[0]!r})")
    with page.page.expect_download() as saved:
        page.press("Save as device.toml")
    download = saved.value.path()
    device = download.rename(download.with_suffix(".toml"))
    assert sl.simulate(sl.workload("uniform"), device, limit=10).count == 10
    page.press("Watch it")
    page.wait_for_summary()
    assert page.message == ""


def test_design_races_against_its_preset(page):
    page.tab("Design")
    page.page.locator(".figures dd").first.wait_for()
    race = page.page.get_by_role("button", name="Race it")
    assert race.is_disabled(), "nothing was changed"
    page.page.get_by_label("acceleration of the actuators").press("End")
    page.until("!document.querySelector('.design button:disabled')")
    race.click()
    page.wait_for_race(2)
    page.until("document.querySelector('.verdict').textContent.startsWith('your design answers soonest')")
    colors = "[...document.querySelectorAll('progress')].map(bar => getComputedStyle(bar).accentColor)"
    assert len(set(page.page.evaluate(colors))) == 2, "those of the runners"
    page.choose("race", "schedulers")
    page.wait_for_race(2)
    page.choose("race", "designs")
    page.wait_for_race(2)
    assert page.message == ""


def test_design_shows_the_capacity_of_the_command_line(page):
    page.tab("Design")
    figure = page.page.locator(".figures div", has_text="capacity").locator("dd")
    capacity = figure.inner_text().split("\n")[0].removesuffix("as before").strip()
    command = [sys.executable, "-m", "sledlab", "show", "device", "mems-g2"]
    assert capacity in subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_race_of_equal_runners_is_a_tie(page):
    page.watch(DEFAULT.replace("20000", "1"))
    page.tab("Race")
    page.until(
        "document.querySelector('.verdict').textContent.startsWith('All answer in 0.789 ms on average')"
    )
