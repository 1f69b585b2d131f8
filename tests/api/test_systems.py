"""Systems in one word: a device, a device in front of it, a cache; in every place that names a device."""

import pytest
import sledlab as sl

from tests.conftest import PROJECT

CELLO = sl.workload("cello")
SHORT = {"limit": 300}
HYBRID = {"hybrid": "caching-disk", "settings": {"hybrid.front_mb": 64, "hybrid.segment_kb": 64}}
EXPERIMENT = """
device = "atlas-10k"
front = "mems-g2"

[hybrid]
kind = "caching-disk"
front_mb = 64
segment_kb = 64

[replay]
limit = 7
"""

RAID = """
[device]
preset = "atlas-10k"

[system]
kind = "raid5"
devices = 3
"""


def preset_text(name: str) -> str:
    return (PROJECT / "presets" / "devices" / f"{name}.toml").read_text()


def simulate(device, **options) -> dict:
    return sl.simulate(CELLO, device, **SHORT, **options).config


def compare(*devices, **options):
    return sl.compare(CELLO, [*devices], parallel=1, **SHORT, **options).runs


def test_word_equals_options():
    assert simulate("atlas-10k+mems-g2:64MiB") == simulate("atlas-10k", front="mems-g2", **HYBRID)
    cache = sl.cache("write-back", capacity_blocks=2048)
    assert simulate("atlas-10k+cache:1MiB") == simulate("atlas-10k", cache=cache)
    both = simulate("atlas-10k+mems-g2:64MiB+cache:1MiB")
    assert both == simulate("atlas-10k", front="mems-g2", cache=cache, **HYBRID)


def test_options_change_the_parts_of_a_word():
    config = simulate("atlas-10k+mems-g2:64MiB", settings={"hybrid.segment_kb": 8, "front.sleds": 2})
    assert (config["hybrid"]["segment_kb"], config["front"]["sleds"]) == (8, 2)
    assert simulate("atlas-10k+mems-g2:64MiB", hybrid="write-buffer")["hybrid"]["kind"] == "write-buffer"


def test_front_without_size_is_used_entirely():
    assert simulate("atlas-10k+mems-g2")["hybrid"]["front_mb"] == 0


def test_front_has_as_many_sleds_as_its_size_needs():
    assert simulate("atlas-10k+mems-g3:8GB")["front"]["sleds"] == 2
    assert simulate("atlas-10k+mems-g3:4GB")["front"]["sleds"] == 1


def test_every_form_of_a_system_gives_the_same_run(tmp_path):
    (tmp_path / "mine.toml").write_text(EXPERIMENT)
    (tmp_path / "disk.toml").write_text(preset_text("atlas-10k"))
    names = ["atlas-10k+mems-g2:64MiB", tmp_path / "mine.toml", f"{tmp_path / 'disk.toml'}+mems-g2:64MiB"]
    runs = compare(*names)
    assert set(runs["device"]) == {"atlas-10k+mems-g2:64MiB", "mine", "disk+mems-g2:64MiB"}
    assert runs["mean_ms"].n_unique() == 1
    assert runs["requests"].to_list() == [300] * 3


def test_settings_of_hybrids_apply_to_hybrids_only():
    runs = compare("atlas-10k", "atlas-10k+mems-g2:64MiB", settings={"hybrid.segment_kb": 8})
    alone, hybrid = (
        sl.simulate(CELLO, "atlas-10k", **SHORT, **options).response_time.mean
        for options in ({}, {**HYBRID, "settings": {"hybrid.front_mb": 64, "hybrid.segment_kb": 8}})
    )
    assert runs["mean_ms"].to_list() == [alone, hybrid]


def test_study_file_finds_device_files_of_a_word(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, preset in (("disk.toml", "atlas-10k"), ("sled.toml", "mems-g2")):
        (tmp_path / name).write_text(preset_text(preset))
    runs = sl.side_by_side(CELLO, ["disk.toml+sled.toml:64MiB"], parallel=1, out="out", **SHORT).runs
    assert "../disk.toml+../sled.toml:64MiB" in (tmp_path / "out" / "study.toml").read_text()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert sl.side_by_side(study="../out/study.toml", parallel=1).runs.equals(runs)


def test_fleet_takes_the_same_words():
    place = "cloud:volumes=1,requests=300,footprint_gb=0.1"
    names = ["atlas-10k+mems-g2:64MiB", "atlas-10k+cache:64MiB"]
    assert sl.fleet(place, names, parallel=1).devices == names


@pytest.mark.parametrize(
    ("back", "front", "size_mb", "cache"),
    [
        ("atlas-10k", "mems-g2", 64, {"cache.kind": "none"}),
        ("hdd-20tb", "nvme-tlc", 128, {"cache.kind": "none"}),
        ("atlas-10k", "mems-g2", 64, {"cache.kind": "write-back", "cache.capacity_blocks": 2048}),
    ],
)
def test_studies_agree_on_a_system(tmp_path, back, front, size_mb, cache):
    """Response, power and cost; the energy of a fleet is that of the time of the fleet."""
    word = f"{back}+{front}:{size_mb}MiB" + ("+cache:1MiB" if len(cache) > 1 else "")
    trace = str(tmp_path / "volume.csv")
    sl.trace(sl.read_trace("sample:mail-a-60s").frame().head(2000)).write(trace)
    compared = sl.compare(trace, [word], parallel=1).curves.to_dicts()[0]
    one_hybrid = {"configuration": ["mcd-all"], "at_mb": size_mb, "at_segment_kb": 64, "price_ratio": []}
    one_hybrid |= {"mems_mb": [size_mb], "segment_kb": [64], "settings": cache}
    study = sl.hybrid_study(trace, back, front=front, parallel=1, **one_hybrid)
    hybrid = study.tables["configurations"].to_dicts()[0]
    fleet = sl.fleet(str(tmp_path), [word], parallel=1).tables["fleet"].to_dicts()[0]
    names = ("mean_ms", "p50_ms", "p99_ms", "power_w", "devices_usd", "energy_usd")
    assert [fleet[name] for name in names] == [compared[name] for name in names]
    same = (*names, "energy_j", "max_ms", "whole_usd", "month_usd", "lifetime_years")
    assert [hybrid[name] for name in same] == [compared[name] for name in same]
    assert fleet["total_usd"] == pytest.approx(36 * compared["month_usd"])


@pytest.mark.parametrize("array", ["hdd-2x18tb", "raid5.toml"])
def test_fleet_and_compare_agree_on_an_array(tmp_path, array):
    trace = str(tmp_path / "volumes" / "volume.csv")
    (tmp_path / "volumes").mkdir()
    sl.trace(sl.read_trace("sample:mail-a-60s").frame().head(2000)).write(trace)
    if array.endswith(".toml"):
        (tmp_path / array).write_text(RAID)
        array = str(tmp_path / array)
    compared = sl.compare(trace, [array], parallel=1).curves.to_dicts()[0]
    study = sl.fleet(str(tmp_path / "volumes"), [array], parallel=1)
    fleet = study.tables["fleet"].to_dicts()[0]
    names = ("mean_ms", "p50_ms", "p99_ms", "power_w", "devices_usd", "energy_usd")
    assert [fleet[name] for name in names] == [compared[name] for name in names]
    assert fleet["total_usd"] == pytest.approx(36 * compared["month_usd"])
    assert fleet["devices"] == 1  # an array is one device


def test_busier_half_of_an_array_decides_its_load(tmp_path):
    """All requests are on the first of two actuators, so the second is idle."""
    sl.trace(sl.read_trace("sample:mail-a-60s").frame().head(2000)).write(tmp_path / "volume.csv")
    alone, array = (
        sl.fleet(str(tmp_path), ["hdd-2x18tb-actuator", "hdd-2x18tb"], parallel=1)
        .tables["volumes"]
        .to_dicts()
    )
    assert array["load"] == pytest.approx(2 * alone["load"], rel=1e-6)  # of two devices


def test_array_is_not_striped(refused, tmp_path):
    with refused("`hdd-2x18tb` is an array, and --placement striped joins devices"):
        sl.fleet("cloud:volumes=1,requests=300,footprint_gb=0.1", ["hdd-2x18tb"], placement="striped")


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("atlas-10k+", "a part of the system is missing"),
        ("+cache:4GiB", "a part of the system is missing"),
        ("atlas-10k+cache", "a cache has no size"),
        ("atlas-10k+cache:1GB+cache:1GB", "a system has one cache"),
        ("atlas-10k+mems-g2:1GB+ram:1GB", "has two front devices"),
        ("atlas-10k+mems-g2:256", "`256` has no unit"),
        ("atlas-10k+mems-g2:256MX", "`256MX` is not a size"),
        ("atlas-10k+mems-g2:0GB", "`0GB` is no size"),
        ("atlas-10k+mems-g22:1GB", "did you mean `mems-g2`"),
        ("atlas-10kk+mems-g2:1GB", "did you mean `atlas-10k`"),
        ("atlas-10k+ssd-tlc:4TB", "`ssd-tlc` holds 481,233 MiB, less than 3,814,697 MiB"),
    ],
)
def test_invalid_word_is_refused(refused, word, message):
    for run in (simulate, compare):
        with refused(message):
            run(word)


def test_experiment_is_a_device_of_a_single_run(tmp_path):
    (tmp_path / "mine.toml").write_text(EXPERIMENT)
    alone = simulate(tmp_path / "mine.toml")
    assert alone == simulate("atlas-10k", front="mems-g2", **HYBRID)
    changed = simulate(str(tmp_path / "mine.toml"), scheduler="sptf", settings={"hybrid.segment_kb": 8})
    assert (changed["scheduler"]["kind"], changed["hybrid"]["segment_kb"]) == ("sptf", 8)


def test_trace_is_found_beside_an_experiment_elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "disk.toml").write_text(preset_text("atlas-10k"))
    (tmp_path / "lab" / "mine.toml").write_text('[device]\npreset = "disk.toml"\n')
    sl.trace(sl.read_trace("sample:mail-a-60s").frame().head(50)).write("a.csv")
    elapsed_s = sl.simulate("a.csv", "lab/mine.toml").elapsed_s
    assert elapsed_s == sl.simulate("a.csv", "atlas-10k").elapsed_s
    runs = sl.compare("a.csv", ["lab/mine.toml", "mems-g2"], parallel=1).runs
    assert elapsed_s in runs["elapsed_s"].to_list()


def test_system_is_a_store_of_nodes():
    word = "atlas-10k+mems-g2:64MiB"
    study = sl.smart_study("sample:scan", [word, "mems-g2"], settings={"hybrid.segment_kb": 8}, parallel=1)
    elapsed_s = dict(study.tables["runs"].select("device", "elapsed_s").rows())
    alone = sl.replay("sample:scan", word, settings={"hybrid.segment_kb": 8})
    assert elapsed_s[word] == alone.elapsed_s
    assert elapsed_s["mems-g2"] == sl.replay("sample:scan", "mems-g2").elapsed_s


def test_experiment_is_a_store_of_nodes(tmp_path):
    (tmp_path / "mine.toml").write_text(EXPERIMENT)
    word = "atlas-10k+mems-g2:64MiB"
    study = sl.smart_study("sample:scan", [word, tmp_path / "mine.toml"], parallel=1)
    assert study.tables["runs"]["elapsed_s"].n_unique() == 1
    assert (
        sl.replay("sample:scan", tmp_path / "mine.toml").elapsed_s == sl.replay("sample:scan", word).elapsed_s
    )


@pytest.mark.parametrize(
    "use",
    [
        sl.seek_map,
        lambda word: sl.simulate(CELLO, "atlas-10k", front=word, hybrid="caching-disk", limit=10),
    ],
)
def test_single_device_is_required(refused, use):
    with refused(
        "`atlas-10k+mems-g2:64MiB` is a system, not a device\n  help: name one device; `sledlab simulate`"
    ):
        use("atlas-10k+mems-g2:64MiB")
