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


def test_experiment_is_no_device_of_a_single_run(refused, tmp_path):
    (tmp_path / "mine.toml").write_text(EXPERIMENT)
    with refused(f"`{tmp_path / 'mine.toml'}` is an experiment, not a device"):
        simulate(str(tmp_path / "mine.toml"))


def test_system_is_a_store_of_nodes():
    word = "atlas-10k+mems-g2:64MiB"
    study = sl.smart_study("sample:scan", [word, "mems-g2"], settings={"hybrid.segment_kb": 8}, parallel=1)
    elapsed_s = dict(study.tables["runs"].select("device", "elapsed_s").rows())
    alone = sl.replay("sample:scan", word, settings={"hybrid.segment_kb": 8})
    assert elapsed_s[word] == alone.elapsed_s
    assert elapsed_s["mems-g2"] == sl.replay("sample:scan", "mems-g2").elapsed_s


@pytest.mark.parametrize(
    "use",
    [
        lambda word: sl.power_study(CELLO, word, limit=10),
        sl.seek_map,
        lambda word: sl.simulate(CELLO, "atlas-10k", front=word, hybrid="caching-disk", limit=10),
    ],
)
def test_single_device_is_required(refused, use):
    with refused(
        "`atlas-10k+mems-g2:64MiB` is a system, not a device\n  help: name one device; `sledlab simulate`"
    ):
        use("atlas-10k+mems-g2:64MiB")
