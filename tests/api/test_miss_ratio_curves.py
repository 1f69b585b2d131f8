"""Miss-ratio curves: equal to simulations of each size, within their error where sampled."""

import json

import numpy as np
import polars as pl
import pytest
import sledlab as sl
from sledlab.studies.miss_ratio import curves, sampling
from sledlab.traces.hits import SegmentedTrace

RATIOS = ("miss_ratio", "read_miss_ratio", "write_miss_ratio")


def skewed_trace(requests=4000, segments=1500, gap_us=100):
    """Requests of one to three segments of 4 KB, some segments often and some in loops."""
    random = np.random.default_rng(1)
    popular = np.minimum(random.zipf(1.1, requests), segments // 3)
    loop = segments // 3 + np.arange(requests) % (2 * segments // 3)
    first = np.where(random.random(requests) < 0.5, popular, loop)
    return sl.trace(
        {
            "time_us": np.arange(requests) * gap_us,
            "op": np.where(random.random(requests) < 0.6, "R", "W"),
            "offset_bytes": first * 4096,
            "length_bytes": random.integers(1, 4, requests) * 4096,
        }
    )


def test_curve_equals_hit_ratios_of_each_size():
    trace = skewed_trace()
    result = sl.miss_ratio_curves(trace, replacement=["lru", "arc", "belady"], segment_kb=4)
    for policy in result.policies:
        for point in result.curve(policy)[::8]:
            mb = point.cache_mb
            (row,) = sl.hit_ratios(trace, replacement=policy, cache_mb=mb, segment_kb=4).rows
            assert row.room == point.room
            misses = [1 - row.hit_ratio, 1 - row.read_hit_ratio, 1 - row.write_hit_ratio]
            assert [getattr(point, name) for name in RATIOS] == pytest.approx(misses, abs=1e-12)
    assert result.sampled_share == 1
    assert result.curves["error"].max() == 0


def test_sizes_are_log_spaced_to_all_segments():
    result = sl.miss_ratio_curves(skewed_trace(20_000, 9000), replacement="lru", segment_kb=4)
    rooms = result.curves["room"].to_numpy()
    assert (len(rooms), rooms[-1]) == (40, result.segments)
    assert rooms[0] == round(result.segments / 1000)
    steps = np.diff(np.log(rooms[12:]))
    assert steps.max() / steps.min() < 1.1


def test_reads_and_writes_make_up_all_uses():
    trace = skewed_trace()
    frame = sl.miss_ratio_curves(trace, replacement=["lru", "sieve"], segment_kb=4).curves
    read_share = (frame["miss_ratio"] - frame["write_miss_ratio"]) / (
        frame["read_miss_ratio"] - frame["write_miss_ratio"]
    )
    finite = read_share.filter(read_share.is_finite())
    assert finite.max() - finite.min() < 1e-6
    # All segments are used whole, so that bytes miss as uses do.
    assert frame["byte_miss_ratio"].to_list() == frame["miss_ratio"].to_list()
    # A request misses if any of its segments does.
    assert (frame["request_miss_ratio"] >= frame["miss_ratio"] * 0.99).all()
    assert frame["destage_ratio"].is_between(0, 1).all()


def test_cache_of_all_segments_misses_first_uses():
    result = sl.miss_ratio_curves(skewed_trace(), replacement=["lru", "fifo", "arc"], segment_kb=4)
    for policy in result.policies:
        last = result.curve(policy)[-1]
        assert last.miss_ratio == pytest.approx(result.segments / result.uses)


def test_larger_lru_caches_miss_no_more():
    frame = sl.miss_ratio_curves(skewed_trace(), replacement="lru", segment_kb=4).curves
    for name in (*RATIOS, "byte_miss_ratio", "request_miss_ratio", "destage_ratio"):
        assert (frame[name].diff().drop_nulls() <= 0).all(), name


def plain_misses(frame, room, *, moves_on_hit):
    """Misses of reads and of writes in a cache of segments of 4 KB which only writes enter, and destages."""
    cached, misses, destages = [], {"R": [], "W": []}, 0
    for op, first, length in frame.select("op", "offset_bytes", "length_bytes").iter_rows():
        for segment in range(first // 4096, (first + length) // 4096):
            misses[op].append(segment not in cached)
            if op == "W":
                destages += segment not in cached
                if segment in cached and moves_on_hit:
                    cached.remove(segment)
                if segment not in cached:
                    cached.append(segment)
                    del cached[:-room]
    return np.mean(misses["R"]), np.mean(misses["W"]), destages / len(misses["W"])


def test_only_writes_enter_cache_of_writes():
    trace = skewed_trace()
    result = sl.miss_ratio_curves(trace, replacement=["lru", "fifo"], segment_kb=4, admit="writes")
    for policy in result.policies:
        for point in result.curve(policy)[::10]:
            expected = plain_misses(trace.frame(), point.room, moves_on_hit=policy == "lru")
            ratios = point.read_miss_ratio, point.write_miss_ratio, point.destage_ratio
            assert ratios == pytest.approx(expected, abs=1e-12)
            mb = point.cache_mb
            (row,) = sl.hit_ratios(trace, replacement=policy, cache_mb=mb, segment_kb=4, admit="writes").rows
            assert 1 - row.read_hit_ratio == pytest.approx(point.read_miss_ratio, abs=1e-12)
    assert "hit with" in result.answer
    assert "which only writes enter" in " ".join(str(result).split())


def test_reads_hit_cache_of_writes_as_in_trace_info():
    trace = skewed_trace()
    caches = trace.info(cache_mb=[1, 2, 4])["written_reuse"]["caches"]
    sizes_mb = [cache["cache_mb"] * 1.048576 for cache in caches]
    result = sl.miss_ratio_curves(
        trace, replacement="lru", cache_mb=sizes_mb, segment_kb=4, admit="writes"
    ).curves
    shares = [cache["read_share"] for cache in caches]
    assert 0 < shares[0] < shares[-1] < 1
    assert result["read_request_miss_ratio"].to_list() == pytest.approx([1 - share for share in shares])


def test_cache_of_writes_has_no_bound():
    policies = sl.miss_ratio_curves(skewed_trace(50), admit="writes").policies
    assert policies == [policy for policy in sl.replacement if policy != "belady"]


@pytest.fixture(scope="module")
def sampled_errors():
    """Differences of sampled to exact miss ratios, and stated errors; shape (seeds, policies, sizes) each."""
    policies, share = ["fifo", "arc", "sieve", "belady"], 0.25
    uses = SegmentedTrace.read(skewed_trace(20_000, 9000), 4)
    rooms = [round(uses.segments * part) for part in (0.03, 0.06, 0.12, 0.25, 0.5)]
    caches = [(policy, room) for policy in ("lru", *policies) for room in rooms]
    exact = sampling.exact_ratios(uses, caches, [])
    lru_by_room = {room: exact["lru", room] for room in rooms}
    differences, errors = [], []
    for seed in range(100):
        estimates = sampling.estimated_ratios(uses, policies, lru_by_room, share, seed, [])
        pairs = [(estimates[cache], exact[cache]) for cache in caches[len(rooms) :]]
        differences.append(
            [estimated["miss_ratio"] - ratios["miss_ratio"] for (estimated, _), ratios in pairs]
        )
        errors.append([error for (_, error), _ in pairs])
    return np.array(differences), np.array(errors)


def test_samples_are_within_their_error_in_95_of_100_seeds(sampled_errors):
    differences, errors = sampled_errors
    covered = np.abs(differences) <= errors
    assert covered.mean(axis=0).min() >= 0.95


def test_error_of_samples_is_small(sampled_errors):
    differences, errors = sampled_errors
    assert np.abs(differences).mean() < 0.005
    assert errors.mean() < 0.03


def test_long_trace_is_sampled_with_error(monkeypatch):
    monkeypatch.setattr(sampling, "SAMPLED_USES", 5000)
    trace = skewed_trace(20_000, 9000)
    sampled = sl.miss_ratio_curves(trace, replacement=["lru", "arc"], segment_kb=4)
    exact = sl.miss_ratio_curves(trace, replacement=["lru", "arc"], segment_kb=4, sample=1)
    assert sampled.sampled_share < 0.5
    assert exact.sampled_share == 1
    assert sampled.curve("lru") == exact.curve("lru")
    arc = pl.DataFrame(sampled.curve("arc"))
    # Caches too small for the sample are simulated exactly.
    assert arc["error"][0] == 0
    assert arc["request_miss_ratio"][0] is not None
    assert arc["error"][-10:].min() > 0
    assert arc["request_miss_ratio"][-10:].null_count() == 10
    assert "estimated from a sample" in sampled.answer


def test_saved_curves_open_again(tmp_path):
    result = sl.miss_ratio_curves(skewed_trace(), replacement=["lru", "arc"], out=tmp_path)
    assert sl.open(tmp_path) == result
    assert json.loads((tmp_path / "summary.json").read_text()) == result.to_dict()
    assert pl.read_csv(tmp_path / "curves.csv").height == result.curves.height


def test_device_gets_faster_with_cache(tmp_path):
    trace = skewed_trace(400, gap_us=20_000)
    result = sl.miss_ratio_curves(
        trace, replacement=["lru", "belady"], cache_mb=[0.1, 1, 20], device="atlas-10k", out=tmp_path
    )
    none, *cached = result.simulated
    # No device knows the future.
    assert [(point.policy, point.cache_mb) for point in cached] == [("lru", 0.1), ("lru", 1), ("lru", 20)]
    assert (none.policy, none.room) == ("", 0)
    alone = sl.simulate(trace, "atlas-10k")
    assert (none.mean_ms, none.utilization) == (alone.response_time.mean, alone.utilization)
    settings = {"cache.line_blocks": 16, "cache.capacity_blocks": 16 * cached[1].room}
    behind = sl.simulate(trace, "atlas-10k", cache="write-back", settings=settings)
    assert (cached[1].mean_ms, cached[1].utilization) == (behind.response_time.mean, behind.utilization)
    assert cached[2].mean_ms < none.mean_ms
    assert "In front of atlas-10k with lru" in result.answer
    assert sl.open(tmp_path).plot("response").axes[0].get_ylabel() == "mean response time (ms)"


def test_default_simulates_lru_and_best_policy():
    result = sl.miss_ratio_curves(skewed_trace(300, gap_us=20_000), cache_mb=[0.1, 20], device="mems-g2")
    simulated = {point.policy for point in result.simulated if point.policy}
    assert "lru" in simulated
    assert len(simulated) <= 2
    best = min((each for each in result.policies if each != "belady"), key=result.sum_of_misses)
    assert best in simulated


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sample": 0}, "is not a share of segments"),
        ({"sample": 1.5}, "is not a share of segments"),
        ({"device": "mems-g2", "segment_kb": 64}, "a line of a cache has at most 32 KB"),
        ({"device": "no-such"}, "no-such"),
        ({"replacement": "lruu"}, "did you mean `lru`?"),
        ({"cache_mb": 0.001}, "smaller than a segment"),
        ({"admit": "write"}, "did you mean `writes`?"),
        ({"admit": "writes", "replacement": "belady"}, "belady is no bound"),
        ({"admit": "writes", "device": "mems-g2"}, "a device behind a cache which only writes enter"),
    ],
)
def test_invalid_options_are_refused(options, message):
    with pytest.raises(sl.Error, match=message):
        sl.miss_ratio_curves(skewed_trace(20), **options)


def test_curves_of_unusual_traces_are_complete():
    columns = {"time_us": [0, 5], "op": ["R", "R"], "offset_bytes": [0, 0], "length_bytes": [512, 512]}
    one_block = sl.miss_ratio_curves(sl.trace(columns))
    assert set(one_block.curves["room"]) == {1}
    assert set(one_block.curves["miss_ratio"]) == {0.5}
    assert one_block.curves["write_miss_ratio"].null_count() == one_block.curves.height
    assert one_block.plot()
    large_segment = sl.miss_ratio_curves(skewed_trace(), replacement="lru", segment_kb=1 << 20)
    assert (large_segment.segments, large_segment.curves["room"].to_list()) == (1, [1])
    empty = sl.miss_ratio_curves(sl.trace({name: column[:0] for name, column in columns.items()}))
    assert (empty.curves.height, empty.answer) == (0, "The trace uses no segment.")
    assert "0 uses" in str(empty)
    with pytest.raises(sl.Error, match="there is nothing to draw"):
        empty.plot()
    with pytest.raises(sl.Error, match="needs a device"):
        one_block.plot("load")
    with pytest.raises(sl.Error, match="panel"):
        one_block.plot("no-such")
    assert curves.SIZES == 40
