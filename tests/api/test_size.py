"""The smallest cluster that meets a goal: compared with a scan of all node counts, and its summary."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars
import pytest
import sledlab as sl
from sledlab.cli import run
from sledlab.studies.size import level
from sledlab.studies.size.search import doublings, smallest

MAX_NODES = 16
SETTINGS = ("scale_factor=0.001",)
SMALL_JOB = ("--job", "sort", "--job-set", "scale_factor=0.001", "--node-count", f"1..{MAX_NODES}")


@cache
def replay_sizes(job: str, device: str) -> tuple[sl.ClusterResult, ...]:
    """The job on every number of nodes from 1, fewest first."""
    return tuple(
        sl.replay(sl.record(job, nodes, scale_factor=0.001), device, threads=1)
        for nodes in range(1, MAX_NODES + 1)
    )


def fewest_nodes(are_met: list[bool]) -> int | None:
    """The smallest number of nodes that meets a goal."""
    return are_met.index(True) + 1 if any(are_met) else None


@pytest.mark.parametrize("threshold", [1, 2, 3, 5, 16, 17, 23, 24])
@pytest.mark.parametrize("range_", [(1, 23), (3, 23), (16, 16), (17, 24)])
def test_a_threshold_is_found_with_its_neighbor(threshold: int, range_: tuple[int, int]) -> None:
    tried: dict[int, bool] = {}

    def meets(number: int) -> bool:
        assert number not in tried
        return tried.setdefault(number, number >= threshold)

    low, high = range_
    expected = max(threshold, low) if threshold <= high else None
    assert smallest(low, high, meets) == expected
    met = [number for number in doublings(low, high) if number >= threshold]
    assert set(doublings(low, high)) - set(tried) == set(met[3:])
    if expected is not None and expected > low:
        assert (tried[expected - 1], tried[expected]) == (False, True)


@pytest.mark.parametrize(("job", "device"), [("scan", "hp-c2490a"), ("sort", "mems-g3")])
def test_answer_equals_exhaustive_search(job: str, device: str) -> None:
    runs = replay_sizes(job, device)
    elapsed_times_s = [each.elapsed_s for each in runs]
    goals = [{"until": part} for part in ("compute", "store", "network")]
    goals += [{"deadline": elapsed_times_s[index]} for index in (0, 2, 6, 12)]
    goals += [{"deadline": min(elapsed_times_s) / 2}]
    monotone_goals = 0
    for goal in goals:
        result = sl.smart_size(
            job, device, node_count=(1, MAX_NODES), job_settings=SETTINGS, threads=1, **goal
        )
        are_met = [
            each.bottleneck.what == goal["until"] if "until" in goal else each.elapsed_s <= goal["deadline"]
            for each in runs
        ]
        number = result.smallest[device]
        for row in result.sizes.iter_rows(named=True):
            run = runs[row["nodes"] - 1]
            assert (row["elapsed_s"], row["bottleneck"]) == (run.elapsed_s, run.bottleneck.what)
            assert row["meets"] == are_met[row["nodes"] - 1]
        if are_met == sorted(are_met):
            monotone_goals += 1
            assert number == fewest_nodes(are_met), goal
            assert result.larger_misses(device) == []
        elif number is not None and number > 1:
            assert (are_met[number - 2], are_met[number - 1]) == (False, True)
        assert result.sizes["nodes"].is_sorted()
        assert f"on {device}" in result.answer
    assert monotone_goals >= 6


def test_each_device_has_an_answer() -> None:
    elapsed_times_s = [each.elapsed_s for each in replay_sizes("sort", "mems-g3")]
    goal = {
        "deadline": f"{elapsed_times_s[2] * 1000}ms",
        "node_count": "1..16",
        "job_settings": SETTINGS,
        "threads": 1,
    }
    both_devices = sl.smart_size("sort", ["mems-g3", "hp-c2490a"], **goal)
    assert list(both_devices.smallest) == ["mems-g3", "hp-c2490a"]
    for device in both_devices.smallest:
        one_device = sl.smart_size("sort", device, **goal)
        assert one_device.smallest[device] == both_devices.smallest[device]
        assert one_device.sizes.equals(both_devices.sizes.filter(polars.col("device") == device))
        assert one_device.answer in both_devices.answer
    assert len(both_devices.plot("saved").axes) == 2
    assert both_devices.plot().axes[0].get_ylabel() == "time of the job (s)"
    with pytest.raises(sl.Error, match="did you mean `times`"):
        both_devices.plot("time")


def test_answer_names_the_node_counts_tried() -> None:
    elapsed_times_s = [each.elapsed_s for each in replay_sizes("sort", "mems-g3")]

    def answer(nodes: str = "1..16", **goal: object) -> str:
        return sl.smart_size(
            "sort", "mems-g3", node_count=nodes, job_settings=SETTINGS, threads=1, **goal
        ).answer

    tried_clause = "on 1 node and on all larger numbers tried (2 and 4), the fewest tried: "
    assert f"on mems-g3 {tried_clause}" in answer(deadline=elapsed_times_s[0] * 2)
    assert "on 5 nodes and on all larger numbers tried (8), the fewest tried" in answer(
        "5..8", until=replay_sizes("sort", "mems-g3")[4].largest
    )
    assert "on mems-g3 on 3 nodes and on all larger numbers tried (4)" in answer(
        "1..4", deadline=elapsed_times_s[2]
    )
    none_meets = answer(deadline=elapsed_times_s[-1] / 10)
    assert "on mems-g3 with 1 to 16 nodes: the shortest is" in none_meets
    bottlenecks = {each.bottleneck.what for each in replay_sizes("sort", "mems-g3")}
    other_part = next(part for part in ("network", "store", "compute") if part not in bottlenecks)
    assert "on mems-g3 with 1 to 16 nodes: on 16 nodes it is the " in answer(until=other_part)


def test_summary_names_limits_on_both_sides() -> None:
    """Fast processors on a hub: few nodes wait for their stores, many for the network."""
    options = {"settings": {"node.mhz": 2000}, "network": "hub", "node_count": (1, 8), "threads": 1}
    result = sl.smart_size("sort", "mems-g3", until="network", job_settings=SETTINGS, **options)
    number = result.smallest["mems-g3"]
    assert number is not None
    assert number > 1
    one_fewer, smallest = result.find_row("mems-g3", number - 1), result.find_row("mems-g3", number)
    assert (one_fewer.run.bottleneck, smallest.run.bottleneck) == ("store", "network")
    is_clear = level.rival(smallest, "network") == ""
    clause = f"from {number} nodes on" if is_clear else f"level with the store on {number}"
    assert f"The network is the bottleneck of `sort` on mems-g3 {clause}" in result.answer


def test_larger_failing_node_counts_are_noted(tmp_path: Path) -> None:
    job = tmp_path / "odd.py"
    job.write_text(
        "import numpy as np\n\n"
        "def data(number, nodes, seed):\n    return {'numbers': np.arange(100)}\n\n"
        "def odd(node):\n    with node.phase('work'):\n"
        "        node.count_operations(compare=10_000_000 if node.nodes in (1, 8) else 1000)\n"
        "    yield node.barrier()\n"
    )
    result = sl.smart_size(job, "ram", deadline="10ms", node_count="1..8", threads=1)
    assert result.smallest == {"ram": 2}
    assert [each.nodes for each in result.larger_misses("ram")] == [8]
    assert "Larger numbers of nodes that miss the goal: 8." in result.answer
    assert "larger numbers tried" not in result.answer
    assert result.to_dict()["contradicting"] == {"ram": [8]}


def test_command_line_gives_and_saves_the_same_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [
        "smart",
        "size",
        *SMALL_JOB,
        "--device",
        "mems-g3,ram",
        "--deadline",
        "50ms",
        "--set",
        "node.mhz=500",
    ]
    result = sl.smart_size(
        "sort",
        ["mems-g3", "ram"],
        deadline=0.05,
        node_count=(1, MAX_NODES),
        job_settings=SETTINGS,
        settings={"node.mhz": 500},
    )
    assert run([*arguments, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == result.to_dict()
    assert printed["sizes"] == json.loads(result.sizes.write_json())
    for name in ("a", "b"):
        assert run([*arguments, "--out", str(tmp_path / name)]) == 0
        assert "bottleneck" in capsys.readouterr().out
    files = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert files == [
        "outcome.json",
        "report.html",
        "sizes.csv",
        "sizes.parquet",
        "sledlab.json",
        "summary.json",
        "tables.tex",
    ]
    for file in files:
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes(), file
    assert json.loads((tmp_path / "a" / "summary.json").read_text()) == printed
    page = (tmp_path / "a" / "report.html").read_text()
    assert page.count("<figure") == 2
    assert result.sizes.equals(polars.read_parquet(tmp_path / "a" / "sizes.parquet"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "no goal was given"),
        (("--until", "network", "--deadline", "60s"), "both a component and a deadline were given"),
        (("--until", "networks"), "did you mean `network`?"),
        (("--until", "waiting"), "unknown component `waiting`"),
        (("--deadline", "soon"), "`soon` is not a deadline"),
        (("--deadline", "0s"), "`0s` is not a deadline"),
        (("--deadline", "1.2.3"), "`1.2.3` is not a deadline"),
        (("--deadline", "60", "--node-count", "5..2"), "write it as 2..5"),
        (("--deadline", "60", "--node-count", "0..2"), "a job cannot run on 0 nodes"),
        (("--deadline", "60", "--node-count", "2..5000"), "a job cannot run on 5,000 nodes"),
        (("--deadline", "60", "--node-count", "2,4"), "`2,4` is not a range of nodes"),
        (("--deadline", "60", "--job", "srot"), "did you mean `sort`?"),
        (("--deadline", "60", "--job-set", "scale_facto=1"), "did you mean `scale_factor`?"),
        (("--deadline", "60", "--device", "mems-g9"), "unknown device"),
        (("--deadline", "60", "--network", "hubb"), "did you mean `hub`?"),
        (("--deadline", "60", "--set", "node.mhzz=1"), "did you mean `node.mhz`?"),
    ],
)
def test_invalid_input_is_an_error(
    arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    defaults = (("--job", "sort"), ("--device", "mems-g3"))
    default_arguments = [
        argument for default in defaults if default[0] not in arguments for argument in default
    ]
    assert run(["smart", "size", *default_arguments, *arguments]) == 2
    assert message in capsys.readouterr().err


def test_repeated_device_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["smart", "size", *SMALL_JOB, "--until", "store"]) == 2
    assert "no device was given" in capsys.readouterr().err
    assert run(["smart", "size", *SMALL_JOB, "--until", "store", "--device", "ram,ram"]) == 2
    assert "the device `ram` was given twice" in capsys.readouterr().err


def test_impossible_node_count_is_named() -> None:
    settings = ["sections=2", "transactions=2000", "universe=50"]
    with pytest.raises(sl.Error, match=r"apriori-hd on 9 nodes: .*cannot form a grid of 2 rows"):
        sl.smart_size("apriori-hd", "ram", deadline=1e-6, node_count="8..9", job_settings=settings, threads=1)


def test_small_device_is_rejected_before_any_replay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = tmp_path / "wide.py"
    job.write_text(
        "import numpy as np\n\n"
        "def data(number, nodes, seed):\n    return {'numbers': np.arange(2_000_000 // nodes)}\n\n"
        "def wide(node):\n    with node.phase('work'):\n        for rows in node.read('numbers'):\n"
        "            node.count_operations(compare=len(rows))\n"
        "    yield node.barrier()\n"
    )
    monkeypatch.setattr("sledlab.studies.size.replays.run", lambda *_, **__: pytest.fail("a replay"))
    with pytest.raises(sl.Error, match=r"wide on 1 node with ram:capacity_mb=1: .*its store has"):
        sl.smart_size(job, ["mems-g3", "ram:capacity_mb=1"], deadline="1s", node_count="1..2")


def size_row(nodes: int, **savings: float) -> Any:
    """A replay with the time that each component saves if it is twice as fast."""
    bottleneck = max(savings, key=savings.__getitem__)
    return SimpleNamespace(nodes=nodes, run=SimpleNamespace(bottleneck=bottleneck, savings=lambda: savings))


def test_components_that_save_as_much_are_level() -> None:
    rows = [
        size_row(4, compute=0.05, store=0.28, network=0.17),
        size_row(6, compute=0.05, store=0.225, network=0.23),
        size_row(7, compute=0.05, store=0.23, network=0.22),
        size_row(8, compute=0.05, store=0.22, network=0.23),
    ]
    assert level.sentence(rows, "network", "`join` on mems-g3").replace("\xa0", " ") == (
        "Network and store are level for `join` on mems-g3 from 6 nodes on: a network twice as fast saves "
        "22 % to 23 %, a store 22 % to 23 %."
    )
    rows.append(size_row(16, compute=0.05, store=0.2, network=0.3))
    assert level.sentence(rows, "network", "`join`").startswith(
        "The network is the bottleneck of `join` from 16 nodes on. It is level with the store on 6, 7 and 8: "
    )
    assert level.sentence(rows[-1:], "network", "`join`") == ""
    assert level.sentence(rows, "store", "`join`") == ""
