"""`sledlab trace hits` and `sledlab replacement`."""

from pathlib import Path

import pytest
import sledlab as sl
from sledlab.traces.hits import SHARES

MAIL = Path(__file__).parents[2] / "sample" / "traces" / "mail-a.csv.zst"


def test_a_table_of_hits_by_policy_and_size(sledlab):
    answer = sledlab("trace", "hits", MAIL, "--replacement", "lru,belady", "--cache-mb", "4,64")
    assert "segments of 64 KB are used" in answer.out
    lines = [line.split() for line in answer.out.splitlines()]
    assert ["policy", "4.00", "MB", "64.0", "MB"] in lines
    (lru,) = (line for line in lines if line[:1] == ["lru"])
    (belady,) = (line for line in lines if line[:1] == ["belady"])
    assert int(lru[1]) < int(lru[3]) < int(belady[3])


def test_every_policy_is_compared_by_default(sledlab, tmp_path):
    reads = tmp_path / "reads.csv"
    reads.write_text("time_us,op,offset_bytes,length_bytes\n0,R,0,512\n5,R,0,512\n")
    for arguments in ([], ["--replacement", "all"]):
        rows = sledlab("trace", "hits", reads, "--cache-mb", "1", *arguments, "--json").json["hits"]
        assert [row["policy"] for row in rows] == list(sl.replacement)


def test_json_separates_reads_and_writes(sledlab, tmp_path):
    start = tmp_path / "start.csv"
    assert sledlab("trace", "slice", MAIL, start, "--limit", 20_000).code == 0
    result = sledlab("trace", "hits", start, "--replacement", "all", "--segment-kb", "8", "--json").json
    assert result["segment_kb"] == 8
    assert {row["policy"] for row in result["hits"]} == set(sl.replacement)
    assert len(result["hits"]) == len(list(sl.replacement)) * len(SHARES)
    row = result["hits"][0]
    assert 0 < row["read_hit_ratio"] < 1
    assert 0 < row["write_hit_ratio"] < 1
    assert row["room"] == round(0.01 * result["segments"])


def test_missing_request_kind_has_no_ratio(sledlab, tmp_path):
    reads = tmp_path / "reads.csv"
    reads.write_text("time_us,op,offset_bytes,length_bytes\n0,R,0,512\n5,R,0,512\n")
    (row,) = sledlab("trace", "hits", reads, "--replacement", "lru", "--cache-mb", "1", "--json").json["hits"]
    assert (row["hit_ratio"], row["read_hit_ratio"], row["write_hit_ratio"]) == (0.5, 0.5, None)
    (in_python,) = sl.hit_ratios(sl.read_trace(reads), replacement="lru", cache_mb=1).rows
    assert (in_python.policy, in_python.uses, in_python.hit_ratio) == ("lru", 2, 0.5)


def test_cache_of_writes_is_named_in_output(sledlab):
    hits = ("trace", "hits", MAIL, "--replacement", "lru", "--cache-mb", "64", "--admit", "writes")
    assert "which only writes enter" in " ".join(sledlab(*hits).out.split())
    of_writes, of_all = (sledlab(*hits[:7], *rest, "--json").json for rest in (hits[7:], []))
    assert (of_writes["admit"], of_all["admit"]) == ("writes", "all")
    assert of_writes["hits"][0]["read_hit_ratio"] < of_all["hits"][0]["read_hit_ratio"]


def test_exact_sizes_hold_all_their_segments(sledlab):
    for segments in (7, 249, 1021):
        size_mb = f"{segments * 4096 / 1e6:.6f}"
        hits = sledlab(
            *("trace", "hits", "sample:oltp-bank-a", "--segment-kb", "4", "--replacement", "lru"),
            *("--cache-mb", size_mb, "--json"),
        ).json
        assert hits["hits"][0]["room"] == segments


def test_policy_parameters_change_hit_ratios(sledlab):
    policies = ("slru:protected_share=0.2", "slru:protected_share=0.9")
    first, second = sl.hit_ratios(sl.read_trace(MAIL), replacement=policies, cache_mb=16).frame["hit_ratio"]
    assert first != second
    choice = sl.replacement("slru", protected_share=0.9)
    assert sl.hit_ratios(sl.read_trace(MAIL), replacement=choice, cache_mb=16).frame["hit_ratio"][0] == second


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--replacement", "lruu"], "did you mean `lru`?"),
        (["--replacement", "slru:protected_share=2"], "out of range"),
        (["--cache-mb", "0.01"], "a cache of 0.01 MB is smaller than a segment of 64 KB"),
        (["--cache-mb", "much"], "--cache-mb"),
        (["--segment-kb", "0.3"], "not a whole number of blocks"),
    ],
)
def test_invalid_options_are_refused(sledlab, arguments, message):
    sledlab("trace", "hits", MAIL, *arguments).assert_refused(message)


def test_policies_are_listed_and_shown(sledlab):
    assert {row["name"] for row in sledlab("list", "replacement", "--json").json} == set(sl.replacement)
    assert "least recently used" in sledlab("list", "replacement").out
    printed = sledlab("show", "replacement", "acme").out
    assert "penalty" in printed
    assert "shared" in printed
    assert "did you mean `slru`?" in sledlab("show", "replacement", "slruu").err


def test_curve_prints_misses_and_answer(sledlab, tmp_path):
    curve = ("trace", "hits", MAIL, "--curve", "--replacement", "lru,fifo", "--segment-kb", "64")
    figure = tmp_path / "misses.svg"
    answer = sledlab(*curve, "--out", tmp_path / "curves", "--save", figure)
    assert answer.out.startswith("mail-a: 139,504 uses of 9,672 segments of 64 KB, 634 MB. Misses by size of")
    lines = [line.split() for line in answer.out.splitlines()]
    (lru,) = (line for line in lines if line[:1] == ["lru"])
    assert max(map(len, answer.out.splitlines()[:-1])) <= 80
    shares = [float(share) for share in lru[1::2]]
    assert len(shares) == 6
    assert shares == sorted(shares, reverse=True)
    assert "misses least" in " ".join(answer.out.split())
    assert figure.exists()
    assert sledlab("plot", tmp_path / "curves", "--panel", "reads").code == 0
    printed = sledlab(*curve, "--cache-mb", "63.37", "--json").json
    assert [row["policy"] for row in printed["curves"]] == ["lru", "fifo"]
    assert printed["curves"][0]["miss_ratio"] == pytest.approx(1 - 0.656533146)


@pytest.mark.parametrize("option", [("--device", "mems-g2"), ("--out", "curves"), ("--sample", "0.5")])
def test_options_of_curves_need_curve(sledlab, option):
    sledlab("trace", "hits", MAIL, *option).assert_refused(f"{option[0]} needs --curve")
