"""Metamorphic relations: changes of an experiment that must leave its requests as they are.

Every relation is tested on random traces and on every kind of device and system that it holds for.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import polars
import pytest
import sledlab as sl
from polars.testing import assert_frame_equal

from tests.oracles.experiments import Request, generators, random_experiments, simulate, trace

Rows = polars.DataFrame
BEHIND = {"front": "mems-g2"}
SYSTEMS: dict[str, tuple[str, dict[str, Any]]] = {
    "mems-g2": ("mems-g2", {}),
    "mems-g3": ("mems-g3", {"scheduler": "sptf", "power": "immediate"}),
    "atlas-10k": ("atlas-10k", {"scheduler": "c-scan"}),
    "ssd-tlc": ("ssd-tlc", {}),
    "ram": ("ram", {}),
    "stripe": ("mems-g2", {"system": sl.system("stripe", devices=3), "scheduler": "sptf"}),
    "mirror": ("mems-g2", {"system": sl.system("mirror", devices=2), "scheduler": "sstf"}),
    "raid5": ("mems-g2", {"system": sl.system("raid5", devices=4, unit_blocks=16)}),
    "cache": ("mems-g2", {"cache": sl.cache("write-back", capacity_blocks=256)}),
    "caching-disk": ("mobile-disk", {"hybrid": sl.hybrid("caching-disk", front_mb=1), **BEHIND}),
    "write-buffer": ("mobile-disk", {"hybrid": sl.hybrid("write-buffer", front_mb=1), **BEHIND}),
    "hybrid-mirror": ("mobile-disk", {"hybrid": "mirror", **BEHIND}),
}
SINGLE = [
    name for name, (_, options) in SYSTEMS.items() if not {"system", "cache", "hybrid"} & options.keys()
]


def random_requests(generator: random.Random, gap_us: int = 3000) -> list[Request]:
    """Bursts of requests, in part to neighboring blocks."""
    requests, time_us, lbn = [], 0, 0
    for _ in range(generator.randint(2, 80)):
        time_us += generator.choice([0, 1, gap_us, 10 * gap_us]) * generator.randint(1, 10)
        lbn = generator.choice([lbn + 8, generator.randrange(1000) * 8, generator.randrange(1_000_000)])
        requests.append(Request(time_us, generator.choice("RW"), lbn, generator.choice([1, 8, 40, 128])))
    return requests


def run(requests: Sequence[Request], name: str, **options: Any) -> Rows:
    device, system_options = SYSTEMS[name]
    result = simulate(requests, device, **{**system_options, **options})
    return result.requests.sort("id")


Relation = Callable[[random.Random, list[Request], str], tuple[Rows, Rows]]


def repeated(_generator: random.Random, requests: list[Request], name: str) -> tuple[Rows, Rows]:
    """The same experiment has the same requests."""
    return run(requests, name), run(requests, name)


def scaled(generator: random.Random, requests: list[Request], name: str) -> tuple[Rows, Rows]:
    """Slower times replayed faster are the same times."""
    factor = generator.randint(2, 9)
    slower = [request._replace(time_us=request.time_us * factor) for request in requests]
    return run(requests, name), run(slower, name, speedup=factor)


def limited(generator: random.Random, requests: list[Request], name: str) -> tuple[Rows, Rows]:
    """A limit is the trace without the rest."""
    count = generator.randint(1, len(requests))
    return run(requests[:count], name), run(requests, name, limit=count)


def continued(generator: random.Random, requests: list[Request], name: str) -> tuple[Rows, Rows]:
    """Requests that complete before another one arrives do not know of it."""
    count = generator.randint(1, len(requests))
    cut, whole = run(requests[:count], name), run(requests, name).head(count)
    later_ns = requests[count].time_us * 1000 if count < len(requests) else cut["completion_ns"].max() + 1
    is_earlier = cut["completion_ns"] < later_ns
    return cut.filter(is_earlier), whole.filter(is_earlier)


def flushed(_generator: random.Random, requests: list[Request], name: str) -> tuple[Rows, Rows]:
    """A flush after the last request delays no other."""
    flush = Request(requests[-1].time_us, "F", 0, 0)
    return run(requests, name), run([*requests, flush], name)


def warmed_up(generator: random.Random, requests: list[Request], name: str) -> tuple[Rows, Rows]:
    """A warm-up omits rows and changes none."""
    count = generator.randrange(len(requests))
    return run(requests, name).filter(polars.col("id") >= count), run(requests, name, warmup=count)


def all_outstanding(_generator: random.Random, requests: list[Request], name: str) -> tuple[Rows, Rows]:
    """With all requests outstanding, each arrives at the beginning."""
    at_once = [request._replace(time_us=0) for request in requests]
    return run(at_once, name), run(requests, name, replay=f"closed:{len(requests)}")


def spread(requests: list[Request]) -> list[Request]:
    """So far apart that no queue forms."""
    return [request._replace(time_us=number * 500_000) for number, request in enumerate(requests)]


def alone(generator: random.Random, requests: list[Request], name: str) -> tuple[Rows, Rows]:
    """Without a queue every scheduler is first come, first served."""
    names = set(sl.scheduler) - {"optimal"} if "mems" in name else {"c-scan", "scan", "sstf", "sptf", "asptf"}
    scheduler = generator.choice(sorted(names))
    quiet = spread(requests)
    return run(quiet, name, scheduler="fcfs"), run(quiet, name, scheduler=scheduler)


def unmergeable(_generator: random.Random, requests: list[Request], name: str) -> tuple[Rows, Rows]:
    """Merging finds nothing where no request continues another."""
    apart = [request._replace(lbn=number * 1000, blocks=8) for number, request in enumerate(requests)]
    return run(apart, name), run(apart, name, merge="chains")


EVERYWHERE = (repeated, scaled, limited, continued, flushed, warmed_up, all_outstanding)
CASES = [
    *((relation, name) for relation in EVERYWHERE for name in SYSTEMS),
    *((alone, name) for name in SINGLE),
    *((unmergeable, name) for name in SINGLE if name != "ssd-tlc"),
]


@pytest.mark.parametrize(
    ("relation", "name"), [pytest.param(*case, id=f"{case[0].__name__}-{case[1]}") for case in CASES]
)
@random_experiments(quick=4, slow=100)
def test_requests_satisfy_the_relation(seeds, relation, name):
    for generator in generators(seeds):
        expected, actual = relation(generator, random_requests(generator), name)
        assert_frame_equal(actual, expected, check_exact=True)


@pytest.mark.parametrize("name", SYSTEMS)
@random_experiments(quick=5, slow=100)
def test_energies_of_requests_and_states_add_up(seeds, name):
    for generator in generators(seeds):
        device, options = SYSTEMS[name]
        result = simulate(random_requests(generator), device, **options)
        energy_j = dict(result.summary["energy_j"])
        total = energy_j.pop("total")
        assert sum(energy_j.values()) == pytest.approx(total, rel=1e-9)
        assert min(energy_j.values()) >= 0
        charged_j = sum(result.requests[f"{part}_uj"].sum() for part in ("seek", "access", "startup")) / 1e6
        working_j = sum(energy_j[part] for part in ("seek", "access", "startup"))
        # Destages and fetches are charged to no request.
        if name in SINGLE:
            assert charged_j == pytest.approx(working_j, rel=1e-6, abs=1e-9)
        else:
            assert charged_j <= working_j * (1 + 1e-6) + 1e-9


@random_experiments(quick=20, slow=200)
def test_formats_of_a_trace_have_the_same_requests(seeds, tmp_path):
    for generator in generators(seeds):
        requests = random_requests(generator)
        frame = trace(requests).frame()
        frame.write_parquet(tmp_path / "trace.parquet")
        frame.write_csv(tmp_path / "trace.csv")
        expected = run(requests, "mems-g2")
        for path in (tmp_path / "trace.parquet", tmp_path / "trace.csv"):
            actual = sl.simulate(sl.read_trace(path, start="zero"), "mems-g2", requests=True).requests.sort(
                "id"
            )
            assert_frame_equal(actual, expected, check_exact=True)
