"""Power: sums, published numbers on the Seagate trace, and who saves most on a sled and on a disk."""

from __future__ import annotations

from typing import Any

import pytest
import sledlab as sl

from validation import reference
from validation.sections.power import MAX_STATE_DEVIATION, seagate_trace, state_energies, timeout_runs
from validation.simulator import PARKED_START

needs_reference = pytest.mark.skipif(not reference.is_present(), reason=reference.MISSING_MESSAGE)

SEAGATE = "seagate"
FIXED_MS = (0.5, 1.0, 10.0, 1000.0)
FIXED_S = (1.0, 2.0, 4.0, 7.0, 15.0, 60.0)

NOISE = 1e-4
"""What a policy may gain on parking at once by chance, as a share of the energy; seeds differ by less."""


def energy_j(source: str, device: str, power: str, speedup: float = 1.0, **settings: Any) -> float:
    return run(source, device, power, speedup, **settings).energy.total


def run(
    source: str, device: Any, power: str, speedup: float = 1.0, replay: str = "open", **settings: Any
) -> sl.Result:
    """A trace, or 5,000 requests of a workload."""
    is_trace = source == SEAGATE
    return sl.simulate(
        sl.read_trace(reference.trace("seagate_gap"), start="zero") if is_trace else sl.workload(source),
        device,
        power=power,
        speedup=speedup,
        replay=replay,
        limit=None if is_trace else 5000,
        settings={**PARKED_START, **{key.replace("__", "."): value for key, value in settings.items()}},
        requests=False,
    )


def fixed_timeout(timeout_ms: float) -> str:
    return f"fixed:timeout_ms={timeout_ms:g}"


@pytest.mark.parametrize(
    ("source", "speedup"),
    [
        ("snake", 1.0),
        ("snake", 10.0),
        ("snake", 100.0),
        ("hplajw", 1.0),
        ("exponential", 0.5),
        *(pytest.param(SEAGATE, at, marks=needs_reference) for at in (1.0, 5.0, 20.0)),
    ],
)
@pytest.mark.parametrize("policy", ["share", "adaptive", *map(fixed_timeout, FIXED_MS), "never"])
def test_immediate_parking_is_best_on_a_sled(source: str, speedup: float, policy: str) -> None:
    immediate_j = energy_j(source, "mems-g2", "immediate", speedup)
    assert energy_j(source, "mems-g2", policy, speedup) >= immediate_j * (1 - NOISE)


@pytest.mark.parametrize("speedup", [0.02, 0.05])
def test_neither_extreme_is_best_on_a_disk(speedup: float) -> None:
    energies_by_timeout_s = {
        s: energy_j("hplajw", "mobile-disk", fixed_timeout(1e3 * s), speedup) for s in FIXED_S
    }
    least_j = min(energies_by_timeout_s.values())
    for extreme in ("immediate", "never"):
        assert energy_j("hplajw", "mobile-disk", extreme, speedup) > 1.1 * least_j
    assert FIXED_S[0] < min(energies_by_timeout_s, key=energies_by_timeout_s.__getitem__) < FIXED_S[-1]
    assert energy_j("hplajw", "mobile-disk", "share", speedup) < 1.15 * least_j


@needs_reference
def test_energy_rises_with_timeout_on_seagate_trace() -> None:
    timeouts_ms = (0, 1, 5, 10, 20, 30, 34)
    energies_j = [energy_j(SEAGATE, "mems-g2", fixed_timeout(timeout_ms)) for timeout_ms in timeouts_ms]
    assert energies_j == sorted(set(energies_j))
    never_j = energy_j(SEAGATE, "mems-g2", "never")
    trace = seagate_trace()
    assert timeouts_ms[-1] < trace.longest_idle_ms < trace.longest_gap_ms == pytest.approx(35.88, abs=0.005)
    for timeout_ms in (trace.longest_gap_ms, 40, 1000):
        assert energy_j(SEAGATE, "mems-g2", fixed_timeout(timeout_ms)) == pytest.approx(never_j, rel=1e-12)
    assert energies_j[0] < energies_j[-1] < never_j
    assert never_j == pytest.approx(20.057, abs=0.001)
    assert energies_j[0] == pytest.approx(8.873, abs=0.001)


@needs_reference
def test_immediate_parking_costs_at_most_one_startup() -> None:
    immediate, never = (run(SEAGATE, "mems-g2", power) for power in ("immediate", "never"))
    added_ms = immediate.response_time.mean - never.response_time.mean
    assert 0.45 < added_ms <= 0.5
    assert 1 - immediate.energy.total / never.energy.total == pytest.approx(0.558, abs=0.001)
    assert never.energy.idle / never.energy.total == pytest.approx(0.902, abs=0.001)


def replay_gaps(power: str, device: str = "mems-g2-disksim", **settings: Any) -> sl.Result:
    """Return a replay of the Seagate trace as the reference simulator replays its format `validate`."""
    return run(SEAGATE, sl.device(device, **settings), power, replay="gaps")


@needs_reference
def test_parked_sled_has_the_recorded_responses_with_recorded_gaps() -> None:
    """A sled that parks at once begins each request at the same place, whenever it arrives."""
    result = replay_gaps("immediate")
    recorded_ms = reference.runs()["sweep_G2_st41601n_inact0"].responses_ns() / 1e6
    assert result.response_time.mean == pytest.approx(recorded_ms.mean(), abs=2e-6)
    rounding_ms = 5e-6  # each part of a recorded time is rounded to 1 ns
    assert result.response_time.max == pytest.approx(recorded_ms.max(), abs=rounding_ms)


@needs_reference
def test_longer_startups_lower_the_rate_with_recorded_gaps() -> None:
    """Lin, figure 7: throughput falls linearly with the start-up time. An open replay has a fixed rate."""
    held = {"idle_power": "servo-loop", "idle_motion": "hold"}
    base = replay_gaps("never", **held)
    gaps_s = base.elapsed_s - base.count * base.response_time.mean / 1e3
    for startup_ms, rate in ((0, 66.4), (0.25, 65.6), (0.5, 64.5), (1, 62.5), (2, 58.8)):
        parking = replay_gaps("immediate", startup_ms=startup_ms, **held)
        assert parking.throughput_iops == pytest.approx(rate, abs=0.1)
        elapsed_s = gaps_s + parking.count * parking.response_time.mean / 1e3
        assert parking.throughput_iops == pytest.approx(parking.count / elapsed_s, rel=1e-9)


@needs_reference
def test_study_of_seagate_trace_finds_idle_periods() -> None:
    result = sl.power_study(
        reference.trace("seagate_gap"),
        "mems-g2",
        power="fixed",
        timeout_ms=[0],
        load=[1],
        strategy="base",
        parallel=1,
    )
    assert result.rows["break_even"][0].longest_idle_ms == seagate_trace().longest_idle_ms
    assert result.fits[0]["slope"] == pytest.approx(1, abs=0.02)
    assert result.fits[0]["r2"] > 0.99


@needs_reference
def test_state_energies_agree_with_reference_simulator() -> None:
    for run in timeout_runs():
        compared = state_energies(run.name)
        assert abs(compared.total_deviation) < MAX_STATE_DEVIATION, run.name
        for simulated_j, recorded_j in zip(compared.measured, compared.recorded, strict=True):
            assert simulated_j == pytest.approx(recorded_j, rel=MAX_STATE_DEVIATION, abs=1e-9), run.name


def test_merging_saves_energy_of_the_sled_alone() -> None:
    none, chains = (
        run("snake", "mems-g2-3200", "immediate", 400.0, merge__kind=kind) for kind in ("none", "chains")
    )
    assert chains.summary["merged"]["requests"] > 500
    assert chains.summary["tip_time_s"] == pytest.approx(none.summary["tip_time_s"], rel=1e-12)
    assert chains.energy.seek + chains.energy.access < none.energy.seek + none.energy.access


def test_subsector_savings_are_independent_of_speed() -> None:
    saved_j = []
    for speedup in (1.0, 10.0, 100.0):
        whole_blocks, subsectors = (
            run(
                "snake",
                "mems-g3",
                "immediate",
                speedup,
                replay__last_block="random",
                device__subsector_access=is_on,
            )
            for is_on in (False, True)
        )
        assert subsectors.response_time == whole_blocks.response_time
        assert subsectors.energy.startup == whole_blocks.energy.startup
        assert subsectors.energy.inactive == whole_blocks.energy.inactive
        saved_j.append(whole_blocks.energy.access - subsectors.energy.access)
    assert saved_j[0] > 0
    assert saved_j == pytest.approx([saved_j[0]] * 3, rel=1e-9)
