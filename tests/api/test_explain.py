"""`Result.explain`: what one request waited for, and where its time went."""

import dataclasses
import json
from typing import ClassVar

import polars as pl
import pytest
import sledlab as sl

BUSY = sl.workload("uniform", mean_interarrival_ms=0.7)
CELLO = sl.workload("cello")

RUNS = {
    "sled": lambda: sl.simulate(BUSY, "mems-g2", scheduler="sptf", limit=300),
    "sleds": lambda: sl.simulate(BUSY, sl.device("mems-g2", sleds=2, sled_motion="independent"), limit=300),
    "disk": lambda: sl.simulate(CELLO, "atlas-10k", limit=300),
    "parking": lambda: sl.simulate(sl.workload("uniform"), "mems-g2", power="immediate", limit=300),
    "delaying": lambda: sl.simulate(
        BUSY,
        "mems-g2",
        scheduler="sptf",
        power=sl.power("delayed-spinup", requests=3, delay_ms=4, timeout_ms=0.1),
        limit=300,
    ),
    "interleaved": lambda: sl.simulate(
        BUSY, "mems-g2-disksim", power="immediate", scheduler="sptf", limit=300
    ),
    "cache": lambda: sl.simulate(BUSY, "mems-g2", cache="write-back", limit=300),
    "mirror": lambda: sl.simulate(BUSY, "mems-g2", system=sl.system("mirror", devices=2), limit=300),
    "hybrid": lambda: sl.simulate(
        CELLO, "atlas-10k", hybrid=sl.hybrid("caching-disk", front_mb=64), front="mems-g2", limit=300
    ),
    "merging": lambda: sl.simulate(BUSY, "mems-g2", merge="chains", limit=300),
    "ssd": lambda: sl.simulate(BUSY, "ssd-tlc", limit=100),
}


@pytest.mark.parametrize("name", RUNS)
def test_parts_sum_to_response_time(name):
    r = RUNS[name]()
    for row in r.requests.iter_rows(named=True):
        number = row["id"]
        result = r.explain(number)
        wait = result.wait
        parts = (wait.served_ms, wait.startup_ms, wait.delay_ms, wait.other_ms)
        assert min(parts) >= 0
        assert sum(parts) == pytest.approx(wait.total_ms, abs=1e-9)
        assert wait.startup_ms == row["startup_ns"] / 1e6
        assert result.energy_uj == {name: row[f"{name}_uj"] for name in ("seek", "access", "startup")}
        service = sum(result.parts_ms[part] for part in ("overhead", "positioning", "transfer"))
        assert result.service_ms == pytest.approx(service, abs=1e-9)
        if result.kind == "mems":
            assert result.parts_ms["positioning"] == pytest.approx(max(result.x_ms, result.y_ms), abs=1e-9)
        assert wait.longest_ms <= wait.served_ms + 1e-9
        assert result.answer.startswith(f"Request {number}, a ")


@pytest.mark.parametrize("name", ["sled", "disk", "parking", "delaying", "merging", "ssd"])
def test_recorded_requests_cover_wait_of_single_device(name):
    r = RUNS[name]()
    assert all(r.explain(number).wait.other_ms == 0 for number in r.requests["id"])


def test_requests_served_first_are_counted():
    r = RUNS["sled"]()
    table, result = r.requests, r.explain()
    row = table.row(by_predicate=pl.col("id") == result.number, named=True)
    served_before = table.filter(
        (pl.col("start_ns") < row["start_ns"]) & (pl.col("completion_ns") > row["arrival_ns"])
    )
    assert result.wait.served_count == served_before.height
    assert result.wait.later == served_before.filter(pl.col("arrival_ns") > row["arrival_ns"]).height > 0
    assert result.response_ms == r.response_time.max
    assert f"{result.wait.later} requests that arrived later and that SPTF served first" in result.answer


def test_sentences_follow_the_kind_of_device():
    answers = {name: [RUNS[name]().explain(n).answer for n in range(20)] for name in RUNS if name != "sleds"}
    assert any("was decided by y: y " in answer for answer in answers["cache"])
    assert any("was decided by x: x " in answer for answer in answers["sled"])
    assert any("and rotation" in answer for answer in answers["disk"])
    assert any("0.500 ms for the start-up of the device" in answer for answer in answers["parking"])
    assert any("A cache answered it" in answer for answer in answers["cache"])
    assert not any("ositioning" in answer for answer in answers["ssd"])
    assert all("The device was idle, so it did not wait." in answers[name][0] for name in ("sled", "disk"))


def test_wait_for_a_startup_that_another_request_began():
    r = RUNS["parking"]()
    waiting_ids = r.requests.filter((pl.col("startup_ns") > 0) & (pl.col("startup_uj") == 0))["id"]
    assert len(waiting_ids)
    assert all(0 < r.explain(number).wait.startup_ms < 0.5 for number in waiting_ids)


def test_delay_of_startup_is_explained():
    trace = sl.trace(
        {
            "time_us": [0, 100e3, 103e3],
            "op": ["R"] * 3,
            "offset_bytes": [0, 512000, 0],
            "length_bytes": [4096] * 3,
        }
    )
    r = sl.simulate(trace, "mems-g2", power=sl.power("delayed-spinup", requests=4, delay_ms=10, timeout_ms=0))
    waits = [r.explain(number).wait for number in (1, 2)]
    assert [wait.delay_ms for wait in waits] == [10, 7]
    assert [wait.startup_ms for wait in waits] == [0.5, 0.5]
    assert "stayed parked for 10.0 ms: delayed-spinup delayed the start-up." in r.explain(1).answer


def test_destages_of_a_cache_are_a_possible_cause():
    result = sl.simulate(BUSY, "mems-g2", cache="write-back", limit=2000).explain()
    assert result.wait.other_ms > 0
    assert "possible causes are destages of the cache" in result.answer


def test_explanation_displays_itself(tmp_path):
    result = RUNS["sled"]().explain(7)
    assert "of response" in repr(result)
    assert result.plot().axes[0].get_xlabel() == "time (ms)"
    assert "<svg" in result.report(tmp_path / "page.html").read_text()
    decoded = json.loads(json.dumps(result.to_dict()))
    assert decoded["number"] == 7
    assert decoded["wait"]["total_ms"] == result.wait.total_ms


def test_requests_that_do_not_exist_are_refused(refused):
    r = sl.simulate(BUSY, "mems-g2", limit=30, warmup=10)
    with refused("there is no request 3 in the table"):
        r.explain(3)
    with refused("this run did not record its requests"):
        sl.simulate(BUSY, "mems-g2", limit=30, requests=False).explain(3)


def test_command_explains_the_slowest_or_a_given_request(sledlab, tmp_path):
    run = tmp_path / "run"
    r = sl.simulate(BUSY, "mems-g2", limit=200, out=run)
    assert sledlab("explain", run).out.startswith(f"uniform on mems-g2  FCFS\nRequest {r.explain().number}, ")
    assert sledlab("explain", run, 5, "--json").json == json.loads(json.dumps(r.explain(5).to_dict()))
    sledlab("explain", run, 500).assert_refused("ids from 0 to 199")
    race = tmp_path / "race"
    sl.compare(BUSY, "mems-g2", scheduler="fcfs", speedup=[1], limit=50, parallel=1, out=race)
    sledlab("explain", race).assert_refused("is not the result of")


def test_requests_of_csv_equal_those_in_memory(tmp_path):
    """The cache answers the first 100 requests, from which polars would infer types."""
    writes = {"time_us": [1000 * i for i in range(300)], "op": ["W"] * 300}
    trace = sl.trace({**writes, "offset_bytes": [4096 * i for i in range(300)], "length_bytes": [4096] * 300})
    system = {"hybrid": sl.hybrid("caching-disk", front_mb=64), "front": "mems-g2", "cache": "write-back"}
    options = {**system, "settings": {"cache.capacity_blocks": 1024}}
    from_csv = sl.simulate(trace, "atlas-10k", requests=tmp_path / "requests.csv", **options)
    in_memory = sl.simulate(trace, "atlas-10k", requests=True, **options)
    assert from_csv.requests.equals(in_memory.requests)
    assert from_csv.requests.schema == in_memory.requests.schema
    assert from_csv.requests["device"][:100].is_null().all()
    assert str(from_csv.explain(299)) == str(in_memory.explain(299))


class Spy:
    """SPTF that notes which request it chose, and the positioning times of all that waited."""

    notes: ClassVar[list[tuple[int, int, dict[int, int]]]] = []

    def __init__(self):
        self.queue = []

    def push(self, request):
        self.queue.append(request)

    def pop(self, now_ns, device):
        times_ns = {request.id: device.positioning_ns(request) for request in self.queue}
        chosen = min(self.queue, key=lambda request: (times_ns[request.id], request.id))
        Spy.notes.append((now_ns, chosen.id, times_ns))
        self.queue.remove(chosen)
        return chosen

    def __len__(self):
        return len(self.queue)


@pytest.mark.parametrize("device", ["mems-g2", "atlas-10k"])
def test_decisions_are_those_of_the_run(device, monkeypatch):
    Spy.notes = []
    load = sl.workload("uniform", mean_interarrival_ms=0.65 if device == "mems-g2" else 6.0)
    r = sl.simulate(load, device, scheduler=f"{__name__}:Spy", limit=400)
    slowest = r.explain()
    arrival_ns = r.requests.filter(pl.col("id") == slowest.number)["arrival_ns"][0]
    waited = [note for note in Spy.notes if slowest.number in note[2] and note[1] != slowest.number]
    assert len(waited) > 5
    assert [
        (arrival_ns / 1e6 + each.after_ms, each.chosen, each.own_ms, each.chosen_ms, each.queued)
        for each in slowest.decisions.passed_over
    ] == [
        (
            pytest.approx(now_ns / 1e6),
            chosen,
            times_ns[slowest.number] / 1e6,
            times_ns[chosen] / 1e6,
            len(times_ns),
        )
        for now_ns, chosen, times_ns in waited
    ]
    assert f"in {len(slowest.decisions.positive_lags_ms)} of {len(waited)} decisions." in slowest.answer
    assert f"Decisions that passed request {slowest.number} over" in str(slowest)
    assert json.loads(json.dumps(slowest.to_dict()))["decisions"]["count"] == len(waited)


def test_edge_and_other_rules_are_named():
    r = sl.simulate(BUSY, "mems-g2", scheduler="fcfs", limit=300)
    waiting = next(
        row["id"] for row in r.requests.iter_rows(named=True) if row["start_ns"] > row["arrival_ns"] + 3e6
    )
    decisions = r.explain(waiting).decisions
    assert 0 < len(decisions.positive_lags_ms) < len(decisions.passed_over)
    assert "FCFS chose a request that the device reached no sooner." in r.explain(waiting).answer
    at_edge = dataclasses.replace(decisions, cylinder=decisions.cylinders - 1)
    assert at_edge.is_at_edge
    assert not dataclasses.replace(decisions, cylinder=decisions.cylinders // 2).is_at_edge


@pytest.mark.parametrize("name", ["cache", "mirror", "hybrid", "merging"])
def test_no_decisions_where_the_order_of_service_is_unknown(name):
    r = RUNS[name]()
    assert {r.explain(number).decisions for number in r.requests["id"][:20]} == {None}
