"""Generated fleets: each volume depends on its number only, and all match the published distributions."""

import math
import random
from statistics import fmean, pstdev, quantiles

import pytest
import sledlab as sl
from sledlab.traces.cloud import Cloud


def test_order_of_generation_changes_no_volume():
    cloud = Cloud.parse("cloud:volumes=40,requests=40000,seed=5")
    numbers = list(range(40))
    random.Random(1).shuffle(numbers)
    volumes_by_number = {number: cloud.volume(number) for number in numbers}
    same_cloud = Cloud.parse("cloud:volumes=40,requests=40000,seed=5")
    assert [volumes_by_number[number] for number in range(40)] == [
        same_cloud.volume(number) for number in range(40)
    ]
    first, second = (sl.read_volumes("cloud:volumes=40,requests=40000,seed=5")[7] for _ in range(2))
    assert first.trace.frame().equals(second.trace.frame())


def test_seeds_make_other_fleets():
    one, other = (Cloud.parse(f"cloud:volumes=5,requests=5000,seed={seed}").volume(0) for seed in (1, 2))
    assert one.parameters != other.parameters
    assert one.open().next_chunk() != other.open().next_chunk()
    assert one.identity() != other.identity()


@pytest.mark.parametrize(
    "parameters", ["volumes=7,requests=7", "volumes=13,requests=20000", "volumes=100,requests=99999"]
)
def test_fleet_has_the_given_number_of_requests(parameters):
    volumes = sl.read_volumes(f"cloud:{parameters},footprint_gb=0.01")
    request_count = int(parameters.split("requests=")[1])
    assert sum(sl.survey(each).requests for each in volumes) == request_count
    assert min(Cloud.parse(f"cloud:{parameters}").counts) >= 1


@pytest.mark.parametrize("hours", [1, 6, 50])
def test_all_traces_have_the_given_duration(hours):
    cloud = f"cloud:volumes=20,requests=200000,hours={hours}"
    durations_h = [sl.survey(each).last_s / 3600 for each in sl.read_volumes(cloud)]
    assert max(durations_h) <= hours * 1.001
    # The last request comes before the end; a volume with bursts only may end with a long quiet time.
    assert quantiles(durations_h, n=10)[0] > 0.9 * hours


@pytest.mark.parametrize("mean_share", [0.0, 0.1, 0.25, 0.4, 0.6])
def test_volumes_have_the_mean_read_share(mean_share):
    shares = [
        Cloud(volumes=100, read_share=mean_share, seed=seed).volume(number).settings["read_share"]
        for seed in range(1, 41)
        for number in range(100)
    ]
    assert fmean(shares) == pytest.approx(mean_share, abs=4 * pstdev(shares) / len(shares) ** 0.5 + 1e-6)


def test_rates_of_volumes_rise_by_day_amplitude():
    amplitudes_and_peaks = [
        (settings["day_amplitude"], settings["peak_h"] * math.tau / 24)
        for seed in range(1, 41)
        for settings in [Cloud(volumes=100, seed=seed).volume(number).settings for number in range(100)]
    ]
    cosine = fmean(amplitude * math.cos(peak) for amplitude, peak in amplitudes_and_peaks)
    sine = fmean(amplitude * math.sin(peak) for amplitude, peak in amplitudes_and_peaks)
    assert math.hypot(cosine, sine) == pytest.approx(0.5, rel=0.02)


def test_rates_are_as_published():
    rates = Cloud.parse("cloud:volumes=1000").rates_per_s
    assert sum(rate > 100 for rate in rates) / 1000 == pytest.approx(0.019, abs=0.001)
    assert sum(rate < 10 for rate in rates) / 1000 == pytest.approx(0.816, abs=0.01)


def test_volumes_keep_to_their_footprint():
    for each in sl.read_volumes("cloud:volumes=10,requests=20000,footprint_gb=0.05"):
        opener = each.trace.opener
        assert sl.survey(each).end_blocks <= opener.capacity_blocks
        assert 0.005e9 - 512 <= opener.capacity_blocks * 512 <= 0.5e9


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ("volume=3", "did you mean `volumes`"),
        ("volumes=0", "out of range"),
        ("volumes=2.5", "out of range"),
        ("volumes=many", "not a number"),
        ("volumes=10,requests=5", "not enough"),
        ("read_share=0.9", "out of range"),
    ],
)
def test_invalid_input_is_an_error(parameters, message):
    with pytest.raises(sl.Error, match=message):
        sl.read_volumes(f"cloud:{parameters}")
