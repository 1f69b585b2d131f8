"""Disk models against measurements on real drives."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest
import sledlab as sl

from validation.sections import drives, host_overheads
from validation.sections.drives import DRIVES, Host
from validation.simulator import command_line

PAGE_BLOCKS = 16
PAGES_OF_DISK = 250_000
"""Pages of 8 KB on the HP C2490A, rounded down."""

pytestmark = pytest.mark.skipif(not drives.is_present(), reason=drives.MISSING_MESSAGE)


@pytest.mark.parametrize("drive", DRIVES)
def test_demerit_is_below_the_reference_simulator(drive: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line(["check", drive, "--measured", str(drives.stream(drive)), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    recorded = drives.recorded_stream(drive)
    assert report["requests"] == len(recorded.measured_ns)
    assert report["demerit_ms"] < recorded.demerit()


@pytest.mark.parametrize("drive", [drive for drive in DRIVES if drive not in ("atlas-10k", "dec-rz26")])
def test_published_drive_agrees_with_reference_simulator(drive: str) -> None:
    _, simulated_ns = drives.replay(drive, Host())
    reference_ns = drives.recorded_stream(drive).simulated_ns
    # The simulator's platters drift by a millionth, so a sector just reached here may be missed there.
    near_count = sum(abs(a - b) < 1e6 for a, b in zip(simulated_ns, reference_ns, strict=True))
    assert near_count / len(reference_ns) > 0.95


def test_the_demerit_figure_is_that_of_the_reference() -> None:
    demerits_ms = {
        "atlas-10k": 0.281723,
        "hp-c2247a": 0.126060,
        "cheetah-9lp": 0.103996,
        "dec-rz26": 0.339740,
    }
    for drive, demerit_ms in demerits_ms.items():
        assert drives.recorded_stream(drive).demerit() == pytest.approx(demerit_ms, abs=6e-4)


def service_times_ms(
    drive: str, pages: Sequence[int], op: str = "R", gap: str = ""
) -> npt.NDArray[np.float64]:
    """Return the service times of pages, one at a time, on a drive on its host in the reference simulator."""
    count = len(pages)
    requests = {
        "time_us": [0] * count,
        "op": [op] * count,
        "offset_bytes": [512 * PAGE_BLOCKS * page for page in pages],
        "length_bytes": [512 * PAGE_BLOCKS] * count,
    }
    device = sl.device(drive, host=f"{drive}-disksim")
    rows = sl.simulate(sl.trace(requests), device, replay=f"closed:1{gap}").requests
    return (rows["completion_ns"] - rows["start_ns"]).to_numpy() / 1e6


@pytest.mark.parametrize("drive", DRIVES)
def test_page_in_order_takes_recorded_time_of_hit(drive: str) -> None:
    hits_ms = drives.recorded_hits_ms(drive, PAGE_BLOCKS)
    # Gaps let the slowest media read ahead of the host; most pages then hit.
    assert np.median(service_times_ms(drive, range(300), gap=":1ms")) == pytest.approx(
        np.median(hits_ms), abs=3e-3
    )


@pytest.mark.parametrize(
    ("op", "order", "recorded_ms"),
    [("R", "in order", 3.876), ("W", "in order", 10.77), ("R", "in 256 MB", 15.6), ("R", "anywhere", 20.0)],
)
def test_page_takes_recorded_mean_time(op: str, order: str, recorded_ms: float) -> None:
    """Means of closed-loop runs of the reference simulator on the HP C2490A."""
    count = 4000
    span = {"in 256 MB": 2**15, "anywhere": PAGES_OF_DISK}.get(order)
    pages = random.Random(1).choices(range(span), k=count) if span else range(count)
    assert service_times_ms("hp-c2490a", pages, op).mean() == pytest.approx(recorded_ms, rel=0.02)


def test_parameters_take_precedence_over_host() -> None:
    device = sl.device("hp-c2490a", host="hp-c2490a", bus_sector_us=100)
    numbers = sl.simulate("sample:mail-a", device, limit=10).config["device"]
    assert (numbers["bus_sector_us"], numbers["bus_write_sector_us"]) == (100, 160.41)


@pytest.mark.parametrize("drive", ["atlas-iii", "barracuda", "cheetah-9lp"])
def test_measured_writes_cross_bus_at_5_mb_per_s(drive: str) -> None:
    writes = host_overheads.commands(drive, "W", "R")
    measured, _ = host_overheads.service_lines(drive, writes)
    assert measured.sector_us == pytest.approx(512 / 5, rel=0.03)


@pytest.mark.parametrize(
    ("drive", "write_us", "demerit_ms"), [("atlas-iii", 40, 0.336), ("barracuda", 80, 0.241)]
)
def test_measured_write_times_raise_demerit(drive: str, write_us: float, demerit_ms: float) -> None:
    host = drives.preset_host(drive)
    measured_host = host._replace(write=write_us, bus_write=512 / 5 - drives.published_bus(drive)[1])
    assert drives.demerit(drive, measured_host) == pytest.approx(demerit_ms, abs=5e-4)
    assert demerit_ms > drives.demerit(drive, host)


@pytest.mark.parametrize(("drive", "excess_us"), [("hp-c3323a", 0), ("dec-rz26", 300)])
def test_published_overhead_exceeds_measured_hits(drive: str, excess_us: float) -> None:
    measured, published = host_overheads.service_lines(
        drive, host_overheads.commands(drive, "R", "R", is_hit=True)
    )
    assert published.command_us - measured.command_us == pytest.approx(excess_us, abs=20)


@pytest.mark.parametrize(
    ("drive", "previous_op", "delay_us"),
    [("hp-c2490a", "R", -1300), ("hp-c2490a", "W", -200), ("seagate-st41601n", "W", -100)],
)
def test_arm_starts_before_published_time(drive: str, previous_op: str, delay_us: int) -> None:
    delay = host_overheads.arm_delay(drive, "R", host_overheads.commands(drive, "R", previous_op))
    assert delay.delay_us == pytest.approx(delay_us, abs=100)


@pytest.mark.parametrize(("op", "previous_op", "difference_us"), [("R", "W", 184), ("W", "R", -201)])
def test_times_differ_after_other_operation(op: str, previous_op: str, difference_us: float) -> None:
    """Constant differences, which no overhead before the movement of the arm explains."""
    delay = host_overheads.arm_delay("hp-c2247a", op, host_overheads.commands("hp-c2247a", op, previous_op))
    assert delay.difference_us == pytest.approx(difference_us, abs=20)
