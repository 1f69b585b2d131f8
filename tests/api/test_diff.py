"""`sl.diff`: two runs request by request."""

import numpy as np
import polars as pl
import pytest
import sledlab as sl
from sledlab._native import correlated_requests, half_width_95
from sledlab.studies.diff.figures import differences, response_panel, responses


def write_table(path, response_ms, **changes):
    count = len(response_ms)
    columns = {
        "id": range(count),
        "lbn": [8 * i for i in range(count)],
        "blocks": [8] * count,
        "op": ["R"] * count,
        "arrival_ns": [i * 100_000_000 for i in range(count)],
        "response_ns": [round(ms * 1e6) for ms in response_ms],
        **changes,
    }
    pl.DataFrame(columns).write_parquet(path)
    return path


@pytest.fixture(scope="module")
def runs():
    busy = sl.workload("uniform", mean_interarrival_ms=1.2)
    return [sl.simulate(busy, "mems-g2", scheduler=name, limit=4000) for name in ("fcfs", "sptf")]


def test_a_hand_made_table(tmp_path):
    a = write_table(tmp_path / "a.parquet", [1.0, 2.0, 3.0, 4.0])
    b = write_table(tmp_path / "b.parquet", [1.5, 1.0, 3.0, 2.5])
    result = sl.diff(a, b)
    assert result.requests == 4
    assert result.mean_ms == pytest.approx(-0.5)
    assert result.ratio == pytest.approx(8 / 10)
    assert (result.faster, result.slower) == (0.5, 0.25)
    assert result.percentiles_ms["p50"] == pytest.approx(-0.5)
    assert result.ci95_half_width_ms is None
    assert result.energy_j is None
    assert result.settings == {}
    assert "too short for an interval" in repr(result)


def test_rows_may_come_in_any_order(tmp_path):
    a = write_table(tmp_path / "a.parquet", [1.0, 2.0, 3.0])
    pl.read_parquet(a).reverse().write_csv(tmp_path / "b.csv")
    result = sl.diff(a, tmp_path / "b.csv")
    assert result.faster == result.slower == 0
    assert "in exactly the same time" in repr(result)


def test_the_interval_allows_for_correlation():
    rng = np.random.default_rng(5)
    noise = rng.normal(size=40_000)
    correlated = np.convolve(noise, np.ones(200) / np.sqrt(200), mode="same")
    naive = 1.96 * correlated.std() / np.sqrt(len(correlated))
    assert half_width_95(correlated, 1) > 5 * naive
    assert half_width_95(noise, 1) == pytest.approx(2.58 / 200, rel=0.5)
    assert half_width_95(noise[:100], 2) is None


def test_interval_covers_true_mean_in_95_percent():
    rng = np.random.default_rng(7)
    covered_count = 0
    for _ in range(300):
        samples = np.convolve(rng.normal(size=4019), np.ones(20), mode="valid")
        covered_count += abs(samples.mean()) <= half_width_95(samples, 20)
    assert covered_count / 300 >= 0.93


def test_tables_near_saturation_have_no_interval(tmp_path):
    def run(gap_ms, name):
        workload = sl.workload("uniform", mean_interarrival_ms=gap_ms)
        result = sl.simulate(workload, "mems-g2", scheduler=name, limit=4000, requests=True)
        path = tmp_path / f"{gap_ms}-{name}.parquet"
        result.requests.write_parquet(path)
        return result, path

    for gap_ms, has_interval in ((4.0, True), (0.57, False)):
        (a, path_a), (b, path_b) = run(gap_ms, "fcfs"), run(gap_ms, "sptf")
        by_result, by_table = sl.diff(a, b), sl.diff(path_a, path_b)
        assert (by_result.ci95_half_width_ms is not None) == has_interval
        assert by_table.ci95_half_width_ms == by_result.ci95_half_width_ms


def test_a_dispersed_or_busy_queue_is_more_correlated():
    assert correlated_requests(0, 1) == 1
    assert correlated_requests(0.5, 1) == pytest.approx(7)
    assert correlated_requests(0.5, 9) > correlated_requests(0.5, 1)
    assert correlated_requests(1, 1) > 1e6


def test_results_and_directories(runs, tmp_path):
    fcfs, sptf = runs
    result = sl.diff(fcfs, sptf)
    assert (result.a.name, result.b.name) == ("FCFS", "SPTF")
    assert result.mean_ms == pytest.approx(sptf.response_time.mean - fcfs.response_time.mean)
    assert result.ratio == pytest.approx(sptf.response_time.mean / fcfs.response_time.mean)
    assert result.energy_j == pytest.approx(sptf.energy.total - fcfs.energy.total)
    assert result.settings["scheduler.kind"] == ("fcfs", "sptf")
    assert result.significant
    assert "SPTF is " in repr(result)
    assert "faster on average" in repr(result)
    assert result._repr_html_().startswith("<h4>SPTF against FCFS</h4>")
    assert result.plot().axes
    out = tmp_path / "run"
    busy = sl.workload("uniform", mean_interarrival_ms=1.2)
    sl.simulate(busy, "mems-g2", scheduler="sptf", limit=4000, out=out)
    again = sl.diff(fcfs, out)
    assert again.mean_ms == result.mean_ms
    assert again.settings == result.settings
    page = result.report(tmp_path / "d.html").read_text()
    assert page.count("<figure") == 2
    assert "scheduler.kind" in page


def test_runs_without_significant_difference(tmp_path):
    rng = np.random.default_rng(3)
    a_ms, b_ms = rng.exponential(2, 4000) + 1, rng.exponential(2, 4000) + 1
    result = sl.diff(write_table(tmp_path / "a.parquet", a_ms), write_table(tmp_path / "b.parquet", b_ms))
    assert result.significant is False
    assert "do not differ significantly" in repr(result)


def test_overloaded_run_is_reported(refused, runs):
    busy = sl.workload("uniform", mean_interarrival_ms=0.3)
    overloaded = sl.simulate(busy, "mems-g2", limit=4000)
    assert "queue kept growing" in " ".join(repr(sl.diff(overloaded, overloaded)).split())
    (axes,) = responses(sl.diff(overloaded, overloaded)).axes
    assert all(" * " in text.get_text() for text in axes.get_legend().get_texts())
    with refused("did not record"):
        sl.diff(runs[0], sl.simulate(busy, "mems-g2", limit=100, requests=False))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"id": [0, 1, 5]}, "has 1 requests that"),
        ({"lbn": [0, 8, 9]}, "request 2 is not the same in both: lbn is 16"),
        ({"op": ["R", "W", "R"]}, "request 1 is not the same in both: op is R"),
        ({"id": [0, 1, 1]}, "an id occurs twice"),
    ],
)
def test_other_requests_are_refused(refused, tmp_path, changes, message):
    a = write_table(tmp_path / "a.parquet", [1.0, 2.0, 3.0])
    b = write_table(tmp_path / "b.parquet", [1.0, 2.0, 3.0], **changes)
    with refused(message) as caught:
        sl.diff(a, b)
    assert caught.value.remedy


@pytest.mark.parametrize("limit", [1, 2, 50, 4000])
def test_figures_have_the_tail(limit):
    result = sl.diff(
        *(
            sl.simulate(sl.workload("uniform"), "mems-g2", scheduler=name, limit=limit)
            for name in ("fcfs", "sptf")
        )
    )
    for side, series in zip((result.a, result.b), response_panel(result).series, strict=True):
        pixel_ratio = (side.response_ms.max() / side.response_ms.min()) ** (1 / 400)
        for percentile in (1.01, 50.01, 99.01, 99.91, 99.97, 100):
            exact_ms = np.percentile(side.response_ms, percentile, method="inverted_cdf")
            read_ms = next(
                x for x, percent in zip(series.x, series.values, strict=True) if percent >= percentile
            )
            assert exact_ms <= read_ms <= exact_ms * pixel_ratio * (1 + 1e-9), percentile
    (axes,) = differences(result).axes
    changes, shares = axes.lines[0].get_data()
    assert (changes.min(), changes.max()) == (result.differences_ms.min(), result.differences_ms.max())
    for percentile in (1.01, 50.01, 99.01, 99.91, 99.97):
        exact_ms = np.percentile(result.differences_ms, percentile, method="inverted_cdf")
        read_ms = changes[np.argmax(shares >= percentile)]
        assert abs(read_ms - exact_ms) <= 0.02 * abs(exact_ms) + 0.02, percentile


def test_zero_times_are_drawn(tmp_path):
    zero, mixed = (
        write_table(tmp_path / f"{name}.parquet", times_ms)
        for name, times_ms in (("a", [0.0] * 4), ("b", [0.0, 0.0, 1.0, 2.0]))
    )
    assert response_panel(sl.diff(zero, mixed)).log_x
    assert not response_panel(sl.diff(zero, zero)).log_x
    for other in (zero, mixed):
        for figure in (responses, differences):
            figure(sl.diff(zero, other)).draw_without_rendering()
