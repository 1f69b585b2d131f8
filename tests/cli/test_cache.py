"""`[cache]` on the command line, in Python and in an experiment's file."""

import pytest
import sledlab as sl

RUN = ("--device", "mems-g2", "--workload", "uniform", "--limit", 300, "--set", "workload.read_share=0.5")
CACHE_OPTIONS = ("--set", "cache.kind=write-back")


def test_writes_are_complete_in_the_cache(sledlab):
    uncached, cached = (sledlab("simulate", *RUN, *options, "--json").json for options in ((), CACHE_OPTIONS))
    assert "cache" not in uncached
    assert cached["config"]["cache"]["kind"] == "write-back"
    # An access and eight blocks or so on a bus of 133 MB/s.
    assert cached["write"]["response_time_ms"]["mean"] < 0.1 < uncached["write"]["response_time_ms"]["mean"]
    counts = cached["cache"]
    assert counts["write_hits"] + counts["write_waits"] == cached["operations"]["write"]
    assert counts["destaged_blocks"] * 512 <= cached["write"]["bytes"]
    assert counts["background_j"] > 0


def test_table_contains_cache_counters(sledlab):
    answer = sledlab("simulate", *RUN, *CACHE_OPTIONS)
    for text in ("reads answered by the cache", "writes that waited for room", "blocks destaged"):
        assert text in answer.out
    assert "blocks destaged" not in sledlab("simulate", *RUN).out


def test_invalid_settings_are_refused(sledlab):
    answer = sledlab("simulate", *RUN, "--set", "cache.kind=write-bak")
    assert answer.code == 2
    assert "cache.kind: expected one of none, write-back" in answer.err
    too_small = sledlab("simulate", *RUN, *CACHE_OPTIONS, "--set", "cache.capacity_blocks=8")
    assert "cache.capacity_blocks = 8 is less than a line of 16 blocks" in too_small.err
    assert "cache.line_blocks = 65" in sledlab("simulate", *RUN, "--set", "cache.line_blocks=65").err


def test_any_policy_that_can_be_built_makes_room(sledlab):
    arguments = (*RUN, *CACHE_OPTIONS, "--set", "cache.capacity_blocks=256")
    default = sledlab("simulate", *arguments, "--json").json
    assert default["config"]["cache"]["replacement"] == "lru"
    for policy in ("lru", "fifo", "random", "slru:protected_share=0.8", "arc", "lfuda", "acme"):
        summary = sledlab("simulate", *arguments, "--set", f"cache.replacement={policy}", "--json").json
        assert summary["cache"]["destaged_blocks"] > 0
        assert policy != "lru" or summary["response_time_ms"] == default["response_time_ms"]
    for policy, message in (
        ("belady", "cache.replacement: belady requires knowledge of future requests"),
        ("lruu", "did you mean `lru`?"),
        ("slru:protected_share=2", "out of range"),
    ):
        answer = sledlab("simulate", *arguments, "--set", f"cache.replacement={policy}")
        assert answer.code == 2
        assert message in answer.err


@pytest.mark.usefixtures("without_pages")
def test_a_complete_experiment_runs_again(sledlab, tmp_path):
    out = tmp_path / "run"
    assert sledlab("simulate", *RUN, *CACHE_OPTIONS, "--out", out).code == 0
    (file,) = out.glob("*.toml")
    settings = {"cache.kind": "write-back"}
    workload = sl.workload("uniform", read_share=0.5)
    first = sl.simulate(workload, device="mems-g2", limit=300, settings=settings)
    assert sledlab("simulate", file, "--json").json["cache"] == first.summary["cache"]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("capacity_blocks", 64),
        ("line_blocks", 64),
        ("access_us", 9.0),
        ("bus_mb_s", 9.0),
        ("read_ahead_blocks", 9),
        ("destage_idle_ms", 9.0),
        ("destage_blocks", 9),
    ],
)
def test_every_number_has_an_effect(key, value):
    def simulate(**settings):
        workload = sl.workload("uniform", read_share=0.5, mean_interarrival_ms=12.0, blocks=16)
        defaults = {"cache.kind": "write-back", "cache.capacity_blocks": 192}
        result = sl.simulate(workload, device="mems-g2", limit=300, settings=defaults | settings)
        return result.response_time, result.summary["cache"]

    assert simulate() != simulate(**{f"cache.{key}": value})


def test_trace_in_place_of_experiment_is_recognized(sledlab, tmp_path):
    trace = tmp_path / "trace.bin"
    trace.write_bytes(b"\x28\xb5\x2f\xfd\x00")
    answer = sledlab("simulate", trace, "--device", "mems-g2")
    assert "cannot read the experiment" in answer.err
    assert f"--trace {trace}" in answer.err
