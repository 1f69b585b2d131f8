"""Energy, cost and lifetime of systems: one set of prices and one code for compare, fleet and hybrid."""

import pytest
import sledlab as sl
from sledlab.studies.costs.cost import YEAR_S
from sledlab.studies.costs.prices import prices

CELLO = sl.workload("cello")
SYSTEMS = ["atlas-10k", "mems-g2", "ssd-tlc", "atlas-10k+mems-g2:64MiB", "atlas-10k+cache:64MiB"]
MONTH_H = YEAR_S / 12 / 3600


def compare(*devices: str, **options) -> sl.SideBySide:
    return sl.compare(CELLO, [*devices], limit=300, parallel=1, **options)


@pytest.fixture(scope="module")
def systems() -> sl.SideBySide:
    return compare(*SYSTEMS, goal="p99=20ms")


def rows_by_device(result: sl.SideBySide) -> dict:
    return {row["device"]: row for row in result.curves.iter_rows(named=True)}


def test_cost_is_price_and_energy(systems):
    rows = rows_by_device(systems)
    for row in rows.values():
        assert row["power_w"] == row["energy_j"] / row["elapsed_s"]
        energy_usd = row["power_w"] / 1000 * MONTH_H * 0.08
        assert row["month_usd"] == pytest.approx(row["devices_usd"] / 36 + energy_usd)
    assert rows["atlas-10k"]["devices_usd"] == 180
    assert rows["mems-g2"]["devices_usd"] == pytest.approx(15 * 3.456)
    assert rows["atlas-10k+cache:64MiB"]["devices_usd"] == pytest.approx(180 + 3.29 * 64 * 2**20 / 1e9)


def test_hybrid_pays_for_the_part_that_it_uses(systems):
    row = rows_by_device(systems)["atlas-10k+mems-g2:64MiB"]
    assert row["devices_usd"] == pytest.approx(180 + 15 * 64 * 2**20 / 1e9)
    assert row["whole_usd"] == pytest.approx(180 + 15 * 3.456)
    assert "with whole ones $232 for atlas-10k+mems-g2:64MiB" in " ".join(str(systems).split())


def test_only_flash_wears(systems):
    rows = rows_by_device(systems)
    assert [name for name, row in rows.items() if row["lifetime_years"] is not None] == ["ssd-tlc"]
    written = compare("ssd-tlc").runs.row(0, named=True)
    run = sl.simulate(CELLO, "ssd-tlc", limit=300, requests=False)
    rate = run.write.bytes / written["elapsed_s"]
    capacity = 504_609_390_592
    assert rows["ssd-tlc"]["lifetime_years"] == pytest.approx(400 * capacity / rate / YEAR_S, rel=1e-6)


def test_front_of_flash_wears_by_the_part_used():
    whole, part = (
        rows_by_device(compare(f"atlas-10k+ssd-tlc{size}"))[f"atlas-10k+ssd-tlc{size}"]
        for size in ("", ":1GB")
    )
    ratio = whole["lifetime_years"] / part["lifetime_years"]
    assert ratio == pytest.approx(504.609390592, rel=1e-3)


def test_cheapest_device_within_the_goal_is_named(systems):
    rows = rows_by_device(systems)
    meeting = {name: row["month_usd"] for name, row in rows.items() if row["p99_ms"] <= 20}
    assert {name for name, row in rows.items() if row["meets"]} == set(meeting)
    cheapest = min(meeting, key=meeting.get)
    assert systems.answer.startswith(f"{cheapest} is the cheapest of {len(meeting)} devices that keep p99 of")


def test_break_even_price_makes_both_cost_the_same():
    pair = ("mems-g2", "ssd-tlc")
    answer = " ".join(compare(*pair, goal="p99=20ms").answer.split())
    assert "ssd-tlc is cheaper where mems-g2 costs more than $" in answer
    limit = float(answer.partition("costs more than $")[2].partition(" ")[0])
    at_limit = rows_by_device(compare(*pair, price=f"device_gb.mems-g2={limit}"))
    assert at_limit["mems-g2"]["month_usd"] == pytest.approx(at_limit["ssd-tlc"]["month_usd"], rel=5e-3)
    beyond = compare(*pair, price=f"device_gb.mems-g2={1.1 * limit}", goal="p99=20ms").answer
    assert beyond.startswith("ssd-tlc is the cheapest")


def test_goal_that_none_meets_names_the_nearest():
    answer = compare("atlas-10k", "mems-g2", goal="p99=0.001ms").answer
    assert answer.startswith("No device keeps p99 of cello within 1.00 µs. The nearest is mems-g2: ")


def test_looser_goal_for_a_cheaper_device_is_named():
    answer = compare("atlas-10k", "mems-g2", goal="p99=20ms", price="device_gb.mems-g2=80").answer
    assert answer.startswith("mems-g2 is the only device that keeps p99 of cello within 20.0 ms")
    assert "atlas-10k would do for " in answer
    assert " as the goal, at $5." in answer


def test_unpriced_device_is_compared_by_power(refused, tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text('kind = "ram"\n')
    result = compare(str(file), "mems-g2", goal="p99=20ms")
    assert rows_by_device(result)["mine"]["month_usd"] is None
    assert result.answer.startswith("mems-g2 is the most frugal of 2 devices")
    with refused("the device `mine` has no price"):
        compare(str(file), "mems-g2", price="kwh=0.2")


def test_endurance_is_a_price_of_users(refused):
    assert prices("endurance.mems-g2=5").endurance["mems-g2"] == 5
    row = rows_by_device(compare("mems-g2", price="endurance.mems-g2=5"))["mems-g2"]
    assert row["lifetime_years"] > 0
    with refused("did you mean `ssd-tlc`"):
        compare("mems-g2", price="endurance.ssd-tlcc=5")


def test_saved_costs_are_opened(tmp_path, systems):
    saved = compare(*SYSTEMS, goal="p99=20ms", out=tmp_path)
    opened = sl.open(tmp_path)
    assert opened.answer == saved.answer == systems.answer
    assert opened.curves.equals(saved.curves)
    assert opened.plot("cost").axes[0].get_ylabel() == "USD a month"
