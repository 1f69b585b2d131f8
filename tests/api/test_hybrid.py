"""`sl.hybrid`, `sl.hybrid_study` and `sl.tune_hybrid`: tables with known values, answers and figures."""

import html
import json
import re
import tomllib
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
import sledlab as sl
from sledlab.show import wording
from sledlab.studies.hybrid import page, summary, tables
from sledlab.studies.hybrid.plan import segment_kb
from sledlab.studies.stores.configurations import CONFIGURATIONS
from sledlab.studies.stores.plan import configuration_settings
from sledlab.studies.stores.rows import facts
from sledlab.study.columns import record

from tests.cached_runs import cached_bytes, cached_lines, write_cached_lines

CELLO = sl.workload("cello")
SECTIONS = ("configurations", "sizes", "techniques", "traffic", "replacement", "prices")
MCD = ("mcd-none", "mcd-shortcut", "mcd-immediate-report", "mcd-partial-write", "mcd-all")


def study(source=CELLO, **changes) -> sl.HybridStudy:
    defaults = {"configuration": ["disk", "mems"], "mems_mb": [], "segment_kb": [], "price_ratio": []}
    return sl.hybrid_study(source, **{"limit": 400, "parallel": 1, **defaults, **changes})


def simulate_store(source, device="atlas-10k-50mb", **changes) -> sl.Result:
    """Simulate a store as the study should."""
    defaults = {"cache.kind": "write-back", "power.kind": "never"}
    return sl.simulate(source, device, requests=False, settings={**defaults, **changes}, limit=3000)


@pytest.fixture(scope="module")
def bank_study(bank_path) -> sl.HybridStudy:
    """A busy trace, little MEMS, so that segments must make room."""
    return sl.hybrid_study(
        bank_path,
        limit=3000,
        at_mb=8,
        mems_mb=[4, 8, 64],
        segment_kb=[8, 32],
        price_ratio=[1, 4],
        replacement=["lru", "lfuda"],
        parallel=2,
    )


@pytest.fixture(scope="module")
def bank_path():
    return Path(__file__).parents[2] / "sample" / "traces" / "oltp-bank-a.csv.zst"


def test_rows_equal_single_simulations(bank_path, bank_study):
    front = {"hybrid.kind": "caching-disk", "hybrid.front_mb": 8, "hybrid.segment_kb": 16}
    off = {f"hybrid.{name}": False for name in ("shortcut", "immediate_report", "partial_write")}
    runs = {
        "disk": simulate_store(bank_path),
        "mems": simulate_store(bank_path, "mems-g2"),
        "disk-ram": simulate_store(bank_path, **{"cache.capacity_blocks": 8 * 2048}),
        "mcd-all": simulate_store(bank_path, **front),
        "mcd-none": simulate_store(bank_path, **front, **off),
        "mcd-shortcut": simulate_store(bank_path, **front, **{**off, "hybrid.shortcut": True}),
    }
    assert bank_study.study["at_segment_kb"] == 16
    for name, run in runs.items():
        row = bank_study.find(name)
        assert row.run.mean_ms == run.response_time.mean, name
        assert row.run.read_mean_ms == run.read.response_time.mean
        assert row.run.energy_j == run.energy.total
        assert row.run.saturated == run.saturated
        assert row.faster_than_disk == runs["disk"].response_time.mean / row.run.mean_ms
        assert row.share_of_mems == runs["mems"].response_time.mean / row.run.mean_ms
    counts = runs["mcd-all"].summary["hybrid"]
    assert bank_study.find("mcd-all").hits.mems_read_hits == counts["read_hits"] / counts["reads"]
    traffic = {(row.configuration, row.device): row for row in bank_study.rows["traffic"]}
    assert traffic["mcd-all", "disk"].reads == counts["back"]["reads"]
    assert traffic["mcd-all", "mems"].written_bytes == counts["front"]["written_blocks"] * 512
    cache = runs["disk"].summary["cache"]
    assert traffic["disk", "disk"].writes == cache["destages"]
    assert ("disk", "mems") not in traffic


def test_gains_are_over_both_disks(bank_path, bank_study):
    cached, uncached = (simulate_store(bank_path, **{"cache.kind": kind}) for kind in ("write-back", "none"))
    assert bank_study.find("disk").run.mean_ms == cached.response_time.mean
    assert bank_study.find("disk-uncached").run.mean_ms == uncached.response_time.mean
    best = bank_study.find("mcd-all")
    assert best.faster_than_disk == cached.response_time.mean / best.run.mean_ms
    assert best.faster_than_uncached_disk == uncached.response_time.mean / best.run.mean_ms
    fast = with_means(bank_study, disk=10, disk_uncached=30, mems=1, mcd_all=2, mwb=4)
    answer = summary.best(fast)
    assert "5.0 times as fast as the disk (10.0 ms)" in answer
    assert "15 times as fast as the disk without that cache (30.0 ms)" in answer
    assert "DISK UNCACHED" in repr(bank_study)


def test_answer_names_the_controller_cache_first(bank_study):
    opening = (
        "Every store, the plain disk included, has a controller cache in front (write-back, 4 MiB; "
        "--set cache.kind=none for none)."
    )
    assert bank_study.answer.startswith(opening)
    without_cache = study(settings={"cache.kind": "none"})
    assert without_cache.answer.startswith("No store has a controller cache.")
    assert [row.configuration for row in without_cache.configurations] == ["disk", "mems"]
    assert without_cache.find("disk").faster_than_uncached_disk is None
    small_cache = study(settings={"cache.capacity_blocks": 2048})
    assert "(write-back, 1 MiB; --set cache.kind=none for none)" in small_cache.answer


def test_study_file_holds_the_resolved_cache(tmp_path):
    result = study(out=tmp_path)
    tables = tomllib.loads((tmp_path / "study.toml").read_text())
    assert tables["cache"] == result.config["cache"]
    assert tables["cache"]["capacity_blocks"] == 8192
    assert tables["power"] == {"kind": "never"}
    without_cache = sl.hybrid_study(
        study=tmp_path / "study.toml", settings={"cache.kind": "none"}, parallel=1
    )
    assert [row.configuration for row in without_cache.configurations] == ["disk", "mems"]
    assert without_cache.answer.startswith("No store has a controller cache.")


def test_sections_share_their_runs(bank_study):
    rows_by_size = {(row.mems_mb, row.segment_kb): row for row in bank_study.rows["sizes"]}
    assert set(rows_by_size) == {(mb, kb) for mb in (4, 8, 64) for kb in (8, 32)}
    rows_by_policy = {row.policy: row for row in bank_study.rows["replacement"]}
    assert rows_by_policy["lru"].run.mean_ms == bank_study.find("mcd-all").run.mean_ms
    without_techniques_ms = bank_study.find("mcd-none").run.mean_ms
    for row in bank_study.rows["techniques"]:
        assert row.saved == pytest.approx(1 - row.run.mean_ms / without_techniques_ms)
    assert [row.configuration for row in bank_study.rows["techniques"]] == list(MCD)


def test_price_rows_compare_at_equal_cost(bank_path, bank_study):
    first, last = bank_study.rows["prices"]
    assert (first.memory_mb, last.memory_mb) == (8, 2)
    assert first.run.mean_ms == bank_study.find("disk-ram").run.mean_ms
    assert last.run.mean_ms == simulate_store(bank_path, **{"cache.capacity_blocks": 4096}).response_time.mean
    assert last.mcd_faster == last.run.mean_ms / bank_study.find("mcd-all").run.mean_ms


def test_hits_equal_trace_hits_and_belady_bounds_them(bank_study):
    rows_by_policy = {row.policy: row for row in bank_study.rows["hits"]}
    assert set(rows_by_policy) == {"lru", "lfuda", "belady"}
    assert rows_by_policy["belady"].hit_ratio >= max(row.hit_ratio for row in rows_by_policy.values())
    assert {row.room for row in rows_by_policy.values()} == {int(8 * 1024 / 16.5)}


def test_every_configuration_has_the_same_generated_requests():
    result = study(configuration=["disk", "mems", "disk-ram", "mcd-all"], limit=500)
    assert result.study["mems_devices"] == 3
    assert {row.run.requests for row in result.rows["configurations"]} == {500}
    trace = sl.workload("cello")
    disk = sl.simulate(
        trace,
        "atlas-10k-50mb",
        settings={"cache.kind": "write-back", "power.kind": "never"},
        limit=500,
    )
    assert result.find("disk").run.mean_ms == disk.response_time.mean
    seeds = study(seed="1..3")
    assert seeds.rows["configurations"][0].run.mean_ci95_ms > 0
    assert seeds.study["seed"] == [1, 2, 3]
    assert "Means over 3 seeds" in summary.noise(seeds)
    assert "One seed" in summary.noise(result)
    several = study(seed="3,1", replacement=["lru", "fifo"], configuration=["disk", "mcd-all"])
    assert page._policies(several).head[-1] == "found, of the requests of seed 3 alone"
    assert any(name == "requests of seed 3" for name, _ in facts(several))


def test_a_mirror_has_all_data_on_mems():
    result = study(configuration=["disk", "mems", "mirror"])
    assert (
        result.find("disk").run.mean_ms > result.find("mirror").run.mean_ms >= result.find("mems").run.mean_ms
    )
    assert "fastest hybrid" not in summary.answer(result)
    trace = sl.trace({"time_us": [0], "op": ["R"], "offset_bytes": [0], "length_bytes": [512]})
    assert study(trace, configuration="mirror").study["mems_devices"] == 1


def test_requests_past_the_end_are_fitted(refused):
    requests = {
        "time_us": [0, 9000],
        "op": ["R", "R"],
        "offset_bytes": [0, 10**10],
        "length_bytes": [4096] * 2,
    }
    with refused("use --outside wrap"):
        study(sl.trace(requests))
    result = study(sl.trace(requests), outside="wrap")
    assert result.study["requests"]["end_block"] < 18_000_000
    assert result.study["mems_devices"] == 1
    assert {row.run.requests for row in result.rows["configurations"]} == {2}


def test_explicit_options_take_precedence(bank_path):
    settings = {
        "hybrid.header_blocks": 0,
        "front.active_tips": 640,
        "power.kind": "fixed",
        "cache.line_blocks": 8,
    }
    result = study(bank_path, configuration=["mcd-all", "mems"], settings=settings, limit=300)
    defaults = study(bank_path, configuration=["mcd-all", "mems"], limit=300)
    assert result.config["power"]["kind"] == "fixed"
    assert result.config["cache"]["line_blocks"] == 8
    assert result.study["hybrid"] == {"header_blocks": "0"}
    assert result.find("mems").run.mean_ms > defaults.find("mems").run.mean_ms
    parked = study(bank_path, settings={"system.start": "parked"}, configuration="disk", limit=300)
    assert parked.config["system"]["start"] == "parked"
    assert defaults.config["system"]["start"] == "ready"


def test_configurations_set_their_own_keys():
    partial_write = dict(
        configuration_settings("mcd-partial-write", 64, 8, {"idle_ms": "5", "bypass_kb": "64"}, "arc")
    )
    assert partial_write["hybrid.partial_write"] == "true"
    assert partial_write["hybrid.shortcut"] == "false"
    assert partial_write["hybrid.replacement"] == "arc"
    assert partial_write["hybrid.bypass_kb"] == "64"
    assert "hybrid.idle_ms" not in partial_write
    assert dict(configuration_settings("disk-ram", 256, 8, {}))["cache.capacity_blocks"] == "524288"
    assert configuration_settings("disk", 256, 8, {}) == ()
    buffer = dict(configuration_settings("mwb", 64, 8, {"idle_ms": "5", "bypass_kb": "64"}))
    assert buffer == {"hybrid.kind": "write-buffer", "hybrid.front_mb": "64.0", "hybrid.idle_ms": "5"}


def test_segments_hold_a_mean_request():
    assert [segment_kb(kb) for kb in (0.5, 8, 8.1, 900)] == [4, 8, 16, 256]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"configuration": ["dsk"]}, "did you mean `disk`?"),
        ({"configuration": []}, "no configurations"),
        ({"configuration": 3}, "expected configurations"),
        ({"mems_mb": [0]}, "`0` is not a size"),
        ({"mems_mb": [5000], "segment_kb": [8]}, "more than the front device"),
        ({"mems_mb": [64], "segment_kb": [2]}, "out of range"),
        ({"segment_kb": [8.5]}, "not a segment"),
        ({"price_ratio": [-1]}, "not a price ratio"),
        ({"replacement": "lrru"}, "did you mean `lru`?"),
        ({"replacement": "belady", "configuration": "mcd-all"}, "requires knowledge of future requests"),
        ({"replacement": []}, "no replacement policies"),
        ({"at_mb": 0}, "not a size"),
        ({"at_segment_kb": 0.5}, "not a segment"),
        ({"seed": -1}, "`-1` is not a seed"),
        ({"parallel": 0}, "not a number of runs"),
        ({"device": "atlas-10"}, "did you mean `atlas-10k`?"),
        ({"front": "mems-g22"}, "did you mean `mems-g2`?"),
        ({"front": 3}, "expected a device"),
        ({"settings": {"hybrid.segment_kb": 8}}, "is an axis of the study"),
        ({"settings": {"hybrid.kind": "none"}}, "is an axis of the study"),
        ({"settings": {"hybrid.buffer_kbb": 8}}, "did you mean `hybrid.buffer_kb`?"),
        ({"settings": {"system.kind": "mirror"}}, "`system.kind` is set"),
        ({"settings": {"workload.requests": 0}, "limit": None}, "never ends"),
        ({"source": "missing.csv"}, "missing.csv"),
    ],
)
def test_invalid_input_is_rejected_before_the_run(refused, changes, message):
    with refused(message):
        study(**changes)


def test_out_directory_is_complete_and_reused(tmp_path):
    result = study(out=tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    other_files = {"summary.json", "report.html", "tables.tex", "runs", "study.toml"}
    other_files |= {"outcome.json", "sledlab.json"}
    assert (
        names
        == {f"{name}.{kind}" for name in sl.HybridStudy.kinds for kind in ("parquet", "csv")} | other_files
    )
    for name in sl.HybridStudy.kinds:
        assert pl.read_parquet(tmp_path / f"{name}.parquet").equals(result.tables[name])
    files, cached = result_bytes(tmp_path), cached_bytes(tmp_path)
    assert study(out=tmp_path).to_dict() == result.to_dict()
    assert (result_bytes(tmp_path), cached_bytes(tmp_path)) == (files, cached)
    assert json.loads(files["summary.json"])["study"]["front"] == "mems-g2"


def test_policies_for_a_trace_without_writes(tmp_path):
    reads = {"time_us": [0, 9000, 20_000], "op": ["R"] * 3, "offset_bytes": [0, 8192, 0]}
    result = study(sl.trace({**reads, "length_bytes": [4096] * 3}), replacement=["lru", "fifo"], out=tmp_path)
    assert {row.write_hit_ratio for row in result.hits} == {None}
    assert json.loads((tmp_path / "summary.json").read_text())["tables"]["hits"][0]["read_hit_ratio"] > 0


def result_bytes(directory: Path) -> dict[str, bytes]:
    """Files of a study by name, without those that record when its runs were executed."""
    return {path.name: path.read_bytes() for path in directory.iterdir() if path.suffix not in ("", ".jsonl")}


@pytest.mark.usefixtures("without_pages")
def test_study_file_reproduces_the_same_bytes(tmp_path):
    settings = {"hybrid.header_blocks": 0, "front.active_tips": 640, "device.startup_ms": 5}
    axes = {"configuration": ["disk", "mcd-all"], "mems_mb": [64], "segment_kb": [8], "price_ratio": [2]}
    study(
        **axes,
        replacement=["lru", sl.replacement("slru", protected_share=0.5)],
        settings=settings,
        seed="1..2",
        speedup=2,
        scheduler="sptf",
        out=tmp_path / "one",
    )
    again = sl.hybrid_study(study=tmp_path / "one" / "study.toml", parallel=1, out=tmp_path / "two")
    assert result_bytes(tmp_path / "one") == result_bytes(tmp_path / "two")
    assert again.config["replay"]["speedup"] == 2
    other = sl.hybrid_study(study=tmp_path / "one" / "study.toml", seed=1, parallel=1)
    assert other.study["seed"] == [1]


def test_page_names_the_run(tmp_path):
    page = study(settings={"hybrid.header_blocks": 0}, speedup=2).report(tmp_path / "study.html").read_text()
    configuration = re.sub(r"<[^>]*>", " ", page[page.index(">Configuration<") :])
    assert "400 requests" in configuration
    assert "hybrid.header_blocks = 0" in configuration
    assert "2 times" in configuration


@pytest.mark.slow("starts processes as every study does")
@pytest.mark.usefixtures("short_runs_in_processes")
def test_worker_processes_equal_a_single_process():
    assert study().to_dict() == study(parallel=2).to_dict()


def test_report_and_displays(bank_study, tmp_path):
    page = bank_study.report(tmp_path / "study.html").read_text()
    assert page.count("<figure") == len(SECTIONS)
    assert not re.search(r"(src|href)=.https?:", page)
    for heading in (
        "Response by configuration",
        "Sizes of the front device and of segments",
        "Front device or memory for the same money",
    ):
        assert heading in page
    cell = bank_study._repr_html_()
    assert cell.startswith("<h4>oltp-bank-a on atlas-10k-50mb with mems-g2</h4>")
    assert html.escape(summary.answer(bank_study)) in cell
    assert "MCD ALL" in repr(bank_study)
    assert bank_study.to_dict()["answer"] == summary.answer(bank_study)
    small = study().report(tmp_path / "small.html").read_text()
    assert small.count("<figure") == 2
    assert "Front device or memory" not in small


@pytest.mark.parametrize("section", SECTIONS)
def test_every_section_draws(refused, bank_study, section):
    figure = bank_study.plot(section)
    assert all(axes.has_data() for axes in figure.axes)
    figure.canvas.draw()
    assert set(page.SECTIONS) == set(SECTIONS)
    with refused("unknown panel"):
        bank_study.plot(f"{section}s")
    if section not in ("configurations", "traffic"):
        with refused("has no section"):
            study().plot(section)


def with_mean(row: tables.StoreRow, mean_ms: float) -> tables.StoreRow:
    return replace(row, run=replace(row.run, mean_ms=mean_ms, saturated=False))


def with_means(result: sl.HybridStudy, **means: float) -> sl.HybridStudy:
    """A study with other mean responses of its configurations."""
    rows = [
        with_mean(row, means.get(row.configuration.replace("-", "_"), row.run.mean_ms))
        for row in result.configurations
    ]
    return replace(result, configurations=tables.compare_baselines(rows))


def test_answer_names_the_fastest_configuration(bank_study):
    fast = with_means(bank_study, disk=10, mems=1, mcd_all=2, mwb=4)
    answer = summary.best(fast)
    assert "MCD ALL is the fastest hybrid, 2.00 ms on average: 5.0 times as fast" in answer
    assert "50 % of the speed of mems-g2 alone" in answer.replace("\u00a0", " ")
    rows = [
        replace(row, run=replace(row.run, saturated=row.configuration == "mcd-all"))
        for row in fast.configurations
    ]
    assert "MWB is the fastest hybrid" in summary.best(replace(fast, configurations=rows))
    slow_means = dict.fromkeys(("mwb", *(name.replace("-", "_") for name in MCD)), 12)
    assert summary.best(with_means(bank_study, disk=10, mems=1, **slow_means)).startswith(
        "mems-g2 does not pay here"
    )
    assert summary.best(study()) == summary.best_size(study()) == summary.best_price(study()) == ""


def with_speedups(result: sl.HybridStudy, *speedups: float) -> sl.HybridStudy:
    rows = [replace(row, mcd_faster=speedup) for row, speedup in zip(result.prices, speedups, strict=True)]
    return replace(result, prices=rows)


def test_answer_names_the_break_even_price(bank_study):
    slower = summary.best_price(with_speedups(bank_study, 0.5, 0.9))
    assert "Even where memory costs 4 times" in slower
    assert "gives a faster store than" in slower
    as_fast = summary.best_price(with_speedups(bank_study, 0.5, 1.0026))
    assert "gives a store as fast, within 2.0 %, as" in as_fast.replace("\u00a0", " ")
    assert "where memory costs 4 times as much:" in summary.best_price(with_speedups(bank_study, 0.5, 1.2))
    assert "are faster than as much" in summary.best_price(with_speedups(bank_study, 1.1, 1.2))


def test_overload_is_reported(bank_path):
    settings = {"replay.speedup": 20}
    result = study(bank_path, configuration=["disk", "mems", "mcd-all"], settings=settings, limit=3000)
    assert result.find("disk").run.saturated
    assert "could keep up" in summary.overload(result) or "could not keep up" in summary.overload(result)
    assert "DISK *" in repr(result)
    assert any("overloaded" in text.get_text() for text in result.plot().axes[0].texts)
    assert summary.overload(study()) == ""


def test_sizes_read_well():
    assert [wording.size(mb) for mb in (64.0, 25.6, 3072.0)] == ["64 MiB", "25.6 MiB", "3 GiB"]
    assert wording.times(None) == wording.share(None) == wording.kilobytes(None) == "–"


def test_hybrids_are_a_catalog(refused):
    assert "caching-disk" in set(sl.hybrid)
    assert repr(sl.hybrid.caching_disk(segment_kb=64)) == "sledlab.hybrid('caching-disk', segment_kb=64)"
    assert sl.hybrid.show("caching-disk").parameters
    with refused("did you mean `caching-disk`"):
        sl.hybrid("caching-disc")
    assert {each.hybrid for each in CONFIGURATIONS.values()} >= set(sl.hybrid)


@pytest.fixture(scope="module")
def tuned_hybrid(bank_path, tmp_path_factory) -> tuple[sl.TunedHybrid, object]:
    out = tmp_path_factory.mktemp("tuned")
    return sl.tune_hybrid(
        bank_path, budget=8, segment_kb=[8, 32, 128], limit=12_000, parallel=1, out=out
    ), out


def test_tuning_narrows_and_chooses_the_best(tuned_hybrid):
    result, _ = tuned_hybrid
    stages = list(dict.fromkeys(run.stage for run in result.runs))
    assert stages == ["first 1/4", "all", "smaller"]
    first_runs = [run for run in result.runs if run.stage == "first 1/4"]
    assert [run.segment_kb for run in first_runs] == [8, 32, 128]
    best_runs = sorted(first_runs, key=lambda run: run.run.mean_ms)[:2]
    later_runs = [run for run in result.runs if run.stage != "first 1/4"]
    assert {run.segment_kb for run in later_runs} == {run.segment_kb for run in best_runs}
    fastest_ms = min(run.run.mean_ms for run in later_runs)
    assert result.choice.run.mean_ms <= fastest_ms * 1.02
    assert all(
        run.mems_mb >= result.choice.mems_mb for run in later_runs if run.run.mean_ms <= fastest_ms * 1.02
    )
    assert {run.mems_mb for run in later_runs} == {8, 4, 2, 1}


def test_the_experiment_of_tuning_is_the_choice(tuned_hybrid):
    result, out = tuned_hybrid
    again = sl.run(out / "experiment.toml", requests=False)
    assert again.response_time.mean == result.choice.run.mean_ms
    assert again.config["hybrid"]["replacement"] == result.choice.policy
    assert len(result.experiment.splitlines()) < 100
    summary = json.loads((out / "summary.json").read_text())
    assert summary["choice"] == record(result.choice)
    assert pl.read_parquet(out / "runs.parquet").height == len(result.runs) == result.table.height


def test_tuning_answer_names_the_choice(tuned_hybrid, bank_path):
    result, _ = tuned_hybrid
    cache_sentence = (
        "Every store, the plain disk included, has a controller cache in front (write-back, 4 MiB; "
        "--set cache.kind=none for none)."
    )
    assert result.answer.startswith(f"{cache_sentence} mems-g2 does not pay within this budget")
    assert set(result.baselines) == {"disk", "disk-uncached", "mems"}
    fast = replace(result, choice=replace(with_mean(result.choice, 0.5), mems_mb=4))
    assert fast.answer.startswith(f"{cache_sentence} Take 4 MiB of mems-g2 in segments of")
    assert "as fast as the disk without that cache" in fast.answer
    assert "All 8 MiB would gain less than" in fast.answer
    overloaded_run = replace(result.choice.run, mean_ms=0.5, saturated=True)
    overloaded = replace(result, choice=replace(result.choice, run=overloaded_run))
    assert overloaded.answer.endswith(
        "It could not keep up: its response times depend on the length of the run."
    )
    assert "chosen" in repr(result)
    assert result._repr_html_().startswith("<h4>oltp-bank-a")
    priced = sl.tune_hybrid(
        bank_path, budget=4, price_per_mb=2, segment_kb=8, replacement="fifo", limit=500, parallel=1
    )
    assert priced.budget_mb == 2
    assert "at a cost of" in priced.answer
    assert {run.policy for run in priced.runs} == {"fifo"}


def test_tuning_file_reproduces_the_same_bytes(tuned_hybrid, tmp_path):
    _, out = tuned_hybrid
    sl.tune_hybrid(study=out / "study.toml", out=tmp_path, parallel=2)
    assert result_bytes(out) == result_bytes(tmp_path)


def test_interrupted_tuning_resumes(tuned_hybrid, tmp_path):
    result, out = tuned_hybrid
    lines = cached_lines(out)
    write_cached_lines(tmp_path, "\n".join([*lines[:4], ""]))
    sl.tune_hybrid(study=out / "study.toml", out=tmp_path, parallel=1)
    resumed_lines = cached_lines(tmp_path)
    assert resumed_lines[:4] == lines[:4]
    assert len(resumed_lines) == len(lines) == len(result.runs) + 3
    assert result_bytes(out) == result_bytes(tmp_path)


def test_tuning_draws_and_reports(tuned_hybrid):
    result, out = tuned_hybrid
    assert "chosen" in " ".join(text.get_text() for text in result.plot().axes[0].texts)
    page = (out / "report.html").read_text()
    assert page.count("<figure") == 1
    assert html.escape(result.answer, quote=False) in html.unescape(page)


def test_tuning_of_a_workload_runs_again():
    result = sl.tune_hybrid(CELLO, budget=16, segment_kb=[8], replacement=["lru"], limit=2000, parallel=1)
    again = sl.run(sl.Experiment(result.experiment), requests=False)
    assert again.response_time.mean == result.choice.run.mean_ms


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"budget": 0}, "not a budget"),
        ({"budget": 5000}, "more than the front device"),
        ({"budget": 0.001}, "are smaller than a segment"),
        ({"price_per_mb": 0}, "not a price"),
        ({"replacement": "lrru"}, "did you mean `lru`?"),
        ({"replacement": "belady"}, "requires knowledge of future requests"),
    ],
)
def test_mistakes_in_tuning(refused, changes, message):
    with refused(message):
        sl.tune_hybrid(CELLO, **{"budget": 8, "limit": 500, "parallel": 1, **changes})


@pytest.mark.parametrize("name", ["sizes", "techniques", "prices"])
def test_tables_of_times_name_their_unit(name):
    assert "in ms" in page.SECTIONS[name].intro
