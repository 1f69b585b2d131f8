"""Energy by state and every power policy on a sled, from docs/power.md and Hong 2006, section 3.3.

The ledger knows only the times of the requests. Between two requests a policy sets a timeout: the sled idles
until then, is parked until the next request, and starts. `share` is Helmbold, Long and Sherrod 1996 with
experts whose losses are in break-even energies.
"""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
import sledlab as sl

from tests.oracles.experiments import Request, generators, random_experiments, simulate

SLED_MW, TIP_MW, PARKED_MW, STARTUP_MW, STARTUP_MS = 100.0, 1.0, 50.0, 100.0, 0.5
TIPS_OF_A_BLOCK, BLOCKS_OF_A_ROW = 64, 20
BREAK_EVEN_MS = STARTUP_MW * STARTUP_MS / (SLED_MW - PARKED_MW)
"""Of an idle sled whose tips draw no power."""

SETTINGS = {"device.idle_power": "sled-only", "system.start": "ready"}


class Timeout:
    """`fixed`, `immediate`, `never` and `delayed-spinup`: the same timeout for all idle periods."""

    def __init__(self, timeout_ms: float) -> None:
        self.timeout = timeout_ms

    def timeout_ms(self, length_ms: float) -> float:
        return self.timeout

    def learn(self, length_ms: float) -> None:
        pass


class Oracle(Timeout):
    """Parks at once if the idle period is longer than the break-even time."""

    def timeout_ms(self, length_ms: float) -> float:
        return 0.0 if length_ms > BREAK_EVEN_MS else math.inf


class Share(Timeout):
    """The mean of the experts' timeouts, weighted by the energy that each would have saved."""

    def __init__(self, experts: int, eta: float, alpha: float) -> None:
        self.eta, self.alpha = eta, alpha
        self.timeouts = [BREAK_EVEN_MS * each / (experts - 1) for each in range(experts)]
        self.weights = [1.0] * experts

    def timeout_ms(self, length_ms: float) -> float:
        pairs = zip(self.weights, self.timeouts, strict=True)
        return sum(weight * timeout for weight, timeout in pairs) / sum(self.weights)

    def learn(self, length_ms: float) -> None:
        best = min(length_ms, BREAK_EVEN_MS)
        losses = [
            ((length_ms if length_ms <= timeout else timeout + BREAK_EVEN_MS) - best) / BREAK_EVEN_MS
            for timeout in self.timeouts
        ]
        weights = [
            weight * math.exp(-self.eta * loss) for weight, loss in zip(self.weights, losses, strict=True)
        ]
        decayed_weights = [
            weight * (1 - self.alpha) ** loss for weight, loss in zip(weights, losses, strict=True)
        ]
        pool = sum(weights) - sum(decayed_weights)
        self.weights = [weight + pool / len(decayed_weights) for weight in decayed_weights]


class Adaptive(Timeout):
    """Longer after a start soon after parking, shorter after a long time parked."""

    def __init__(self, initial: float, smallest: float, largest: float, long: float) -> None:
        self.bounds, self.long = (smallest * BREAK_EVEN_MS, largest * BREAK_EVEN_MS), long
        super().__init__(initial * BREAK_EVEN_MS)

    def learn(self, length_ms: float) -> None:
        parked = length_ms - self.timeout
        if parked > 0:
            factor = 2.0 if parked < BREAK_EVEN_MS else 0.5 if parked > self.long * BREAK_EVEN_MS else 1.0
            self.timeout = min(max(self.timeout * factor, self.bounds[0]), self.bounds[1])


def random_policy(generator: random.Random) -> tuple[str, Timeout]:
    timeout, experts = generator.uniform(0, 4), generator.randint(2, 30)
    eta, alpha = generator.uniform(0, 8), generator.uniform(0, 0.5)
    initial, long = generator.uniform(0.1, 5), generator.uniform(1, 4)
    return generator.choice(
        [
            ("never", Timeout(math.inf)),
            ("immediate", Timeout(0)),
            ("oracle", Oracle(0)),
            (f"fixed:timeout_ms={timeout}", Timeout(timeout)),
            (f"share:experts={experts}:eta={eta}:alpha={alpha}", Share(experts, eta, alpha)),
            (
                f"adaptive:initial={initial}:min_timeout=0.1:max_timeout=5:long={long}",
                Adaptive(initial, 0.1, 5, long),
            ),
        ]
    )


def random_requests(generator: random.Random) -> list[Request]:
    """Requests of one row, some of them queued."""
    time_us, requests = 0.0, []
    for _ in range(generator.randint(1, 150)):
        lbn = generator.randrange(300_000) * BLOCKS_OF_A_ROW
        requests.append(Request(round(time_us), generator.choice("RW"), lbn, generator.randint(1, 20)))
        time_us += generator.choice([0, 500, 2000, 5000, 20000]) * generator.random()
    return requests


def ledger(rows: list[dict[str, Any]], policy: Timeout) -> tuple[dict[str, float], int]:
    """Energy in J by state, and the number of start-ups."""
    energy_mw_ms = dict.fromkeys(("seek", "access", "idle", "inactive", "startup"), 0.0)
    startups, ready_ms = 0, 0.0
    for row in rows:
        arrival_ms, end_ms = row["arrival_ns"] / 1e6, row["completion_ns"] / 1e6
        if arrival_ms > ready_ms:
            length_ms = arrival_ms - ready_ms
            timeout_ms = policy.timeout_ms(length_ms)
            energy_mw_ms["idle"] += SLED_MW * min(length_ms, timeout_ms)
            if length_ms > timeout_ms:
                startups += 1
                energy_mw_ms["inactive"] += PARKED_MW * (length_ms - timeout_ms)
                energy_mw_ms["startup"] += STARTUP_MW * STARTUP_MS
            policy.learn(length_ms)
        tips_mw = TIP_MW * row["blocks"] * TIPS_OF_A_BLOCK
        energy_mw_ms["seek"] += SLED_MW * row["positioning_ns"] / 1e6
        energy_mw_ms["access"] += (SLED_MW + tips_mw) * row["transfer_ns"] / 1e6
        ready_ms = end_ms
    return {state: energy / 1e6 for state, energy in energy_mw_ms.items()}, startups


@random_experiments(quick=150, slow=1000)
def test_energy_of_states_equals_the_ledger(seeds):
    for generator in generators(seeds):
        name, policy = random_policy(generator)
        result = simulate(random_requests(generator), "mems-g2", power=name, settings=SETTINGS)
        expected, startups = ledger(result.requests.sort("start_ns").to_dicts(), policy)
        actual = result.summary["energy_j"]
        assert result.summary["startups"] == startups, name
        assert {state: actual[state] for state in expected} == pytest.approx(expected, rel=1e-5, abs=1e-9), (
            name
        )
        assert actual["total"] == pytest.approx(sum(expected.values()), rel=1e-5)


@random_experiments(quick=50, slow=1000)
def test_delayed_spinup_starts_when_enough_requests_wait(seeds):
    for generator in generators(seeds):
        count, delay_ms = generator.randint(1, 5), generator.uniform(0, 20)
        requests = random_requests(generator)
        name = f"delayed-spinup:requests={count}:delay_ms={delay_ms}"
        result = simulate(requests, "mems-g2", power=name, settings=SETTINGS)
        ready_ms, parked_ms = 0.0, 0.0
        rows = result.requests.sort("start_ns").to_dicts()
        arrivals_ms = [row["arrival_ns"] / 1e6 for row in rows]
        for number, row in enumerate(rows):
            start_ms = max(arrivals_ms[number], ready_ms)
            if arrivals_ms[number] > ready_ms:
                full_ms = arrivals_ms[number + count - 1] if number + count <= len(rows) else math.inf
                leaves_ms = min(arrivals_ms[number] + delay_ms, full_ms)
                parked_ms += leaves_ms - ready_ms
                start_ms = leaves_ms + STARTUP_MS
            assert row["start_ns"] / 1e6 == pytest.approx(start_ms, abs=2e-6)
            ready_ms = row["completion_ns"] / 1e6
        assert result.summary["state_time_s"]["inactive"] == pytest.approx(parked_ms / 1e3, abs=1e-6)


def test_every_policy_is_compared():
    others = {"never", "immediate", "fixed", "share", "adaptive", "delayed-spinup"}
    assert set(sl.power) - {"oracle"} == others
