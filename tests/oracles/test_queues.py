"""Queueing formulas of Pollaczek and Khinchine for Poisson arrivals (Kleinrock 1975, chapter 5).

The server is `ram` with a time proportional to the size of a request, so that sizes set the distribution of
service times: equal sizes make M/D/1, exponential ones M/M/1. In every run, requests also start when the
textbook says.
"""

from __future__ import annotations

import math
import random
from statistics import fmean, stdev

import pytest

from tests.oracles.experiments import Request, generators, random_experiments, simulate

US_PER_BLOCK = 1
SETTINGS = {"device.access_us": 0.0, "device.bus_mb_s": 512.0 / US_PER_BLOCK}
MEAN_BLOCKS = 1000
REQUESTS = 4000


def poisson(generator: random.Random, load: float, *, exponential: bool) -> list[Request]:
    time_us, requests = 0.0, []
    for _ in range(REQUESTS):
        time_us += generator.expovariate(load / (MEAN_BLOCKS * US_PER_BLOCK))
        blocks = math.ceil(generator.expovariate(1 / MEAN_BLOCKS)) if exponential else MEAN_BLOCKS
        requests.append(Request(round(time_us), "R", 0, max(blocks, 1)))
    return requests


def start_times_us(requests: list[Request]) -> list[int]:
    """First come, first served: a request starts when it has arrived and its predecessor has left."""
    starts, ready_us = [], 0
    for request in requests:
        starts.append(max(request.time_us, ready_us))
        ready_us = starts[-1] + request.blocks * US_PER_BLOCK
    return starts


def assert_mean(values: list[float], expected: float) -> None:
    """Assert a mean of independent runs within four standard errors."""
    assert abs(fmean(values) - expected) < 4 * stdev(values) / len(values) ** 0.5


@pytest.mark.parametrize("exponential", [False, True], ids=["M/D/1", "M/M/1"])
@random_experiments(quick=40, slow=400)
def test_waiting_times_are_those_of_the_formulas(seeds, exponential):
    load = 0.5
    waits_us, queues, utilizations = [], [], []
    responses_ms, tails = [], []
    for generator in generators(seeds):
        requests = poisson(generator, load, exponential=exponential)
        result = simulate(requests, "ram", settings=SETTINGS)
        rows = result.requests.sort("id")
        starts_us = (rows["start_ns"] / 1000).to_list()
        assert starts_us == start_times_us(requests)
        waits_us.append(fmean(((rows["start_ns"] - rows["arrival_ns"]) / 1000).to_list()))
        queues.append(result.queue_length.mean)
        utilizations.append(result.utilization)
        responses_ms.append(result.response_time.mean)
        mean_ms = MEAN_BLOCKS * US_PER_BLOCK / 1e3 / (1 - load)
        tails.append(fmean((rows["response_ns"] / 1e6 > mean_ms * math.log(10)).to_list()))
    variation = 1 if exponential else 0
    wait_us = load / (1 - load) * (1 + variation) / 2 * MEAN_BLOCKS * US_PER_BLOCK
    assert_mean(waits_us, wait_us)
    assert_mean(queues, wait_us * load / (MEAN_BLOCKS * US_PER_BLOCK))
    assert_mean(utilizations, load)
    assert_mean(responses_ms, (wait_us + MEAN_BLOCKS * US_PER_BLOCK) / 1e3)
    if exponential:
        # Response times are exponential themselves: a tenth is above the mean times ln 10.
        assert_mean(tails, 0.1)


@pytest.mark.parametrize("load", [0.5, 0.9])
@random_experiments(quick=60, slow=600)
def test_intervals_cover_the_mean_of_the_formula(seeds, load):
    wait_us = load / (1 - load) / 2 * MEAN_BLOCKS * US_PER_BLOCK
    mean_ms = (wait_us + MEAN_BLOCKS * US_PER_BLOCK) / 1e3
    covers = []
    for generator in generators(seeds):
        requests = poisson(generator, load, exponential=False)[: generator.choice([1000, REQUESTS])]
        response_time = simulate(requests, "ram", settings=SETTINGS, requests=False).response_time
        if response_time.ci95_half_width is not None:
            covers.append(abs(response_time.mean - mean_ms) <= response_time.ci95_half_width)
    # 90 % of the intervals, less three standard errors.
    assert sum(covers) >= 0.9 * len(covers) - 3 * (0.09 * len(covers)) ** 0.5


@random_experiments(quick=30, slow=300)
def test_overload_of_the_last_part_of_a_run_is_reported(seeds):
    """More work arrives at the end than can be served; docs/compare.md asks for a load of 0.8 in all."""
    for generator in generators(seeds):
        calm, overload = (poisson(generator, load, exponential=False) for load in (0.7, 1.5))
        calm_requests = round(generator.uniform(0.3, 0.6) * REQUESTS)
        end_us = calm[calm_requests].time_us
        late = [request._replace(time_us=request.time_us + end_us) for request in overload]
        run = [*calm[:calm_requests], *late[: REQUESTS - calm_requests]]
        assert simulate(calm, "ram", settings=SETTINGS, requests=False).saturated is False
        assert simulate(run, "ram", settings=SETTINGS, requests=False).saturated is True, calm_requests
