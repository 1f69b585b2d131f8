"""Answers of `compare` give reads and writes separately if their ranking differs from the overall one."""

import pytest
import sledlab as sl
from sledlab.studies.compare.tables import Comparison
from sledlab.studies.races import rows as race_rows
from sledlab.study.measure import RunFigures, SystemRun

from tests.api.test_sweep import DEFAULT_RESULTS


def race_answer(times: dict[str, tuple[float | None, float | None]], **changes: object) -> str:
    """Answer of a comparison with these mean response times of reads and writes."""
    pairs = []
    for name, (read_ms, write_ms) in times.items():
        known_ms = [each for each in (read_ms, write_ms) if each is not None]
        means = {"mean_ms": sum(known_ms) / len(known_ms), "read_mean_ms": read_ms, "write_mean_ms": write_ms}
        run = RunFigures(
            **{**DEFAULT_RESULTS, "requests": 100, "reads": 30, "writes": 70, **means, **changes}
        )
        competitor = race_rows.Competitor({"scheduler": name}, 1.0, {})
        pairs.append((race_rows.RaceRun(competitor, 1, run), SystemRun(run, {})))
    config = {"workload": {"kind": "uniform"}, "device": {"name": "mems-g2"}, "replay": {}}
    axes = {"scheduler": list(times), "speedup": [1.0]}
    comparison = Comparison(*race_rows.build_tables(pairs), config, axes, "seed = 1\n")
    return comparison.answer.replace("\xa0", " ")


def test_another_winner_among_writes_is_named():
    answer = race_answer({"fcfs": (8.0, 5.0), "sptf": (1.0, 9.0)})
    assert "Reads (30 % of the requests): SPTF 1.00 ms and FCFS 8.00 ms." in answer
    assert "Writes: FCFS 5.00 ms and SPTF 9.00 ms." in answer


def test_tie_among_writes_is_named():
    answer = race_answer({"fcfs": (8.0, 5.05), "sptf": (1.0, 5.0)})
    assert "Writes: SPTF 5.00 ms and FCFS 5.05 ms, level." in answer


def test_opposite_winners_of_an_overall_tie_are_named():
    assert "Reads (30 %" in race_answer({"fcfs": (2.0, 1.0), "sptf": (1.0, 2.0)})


@pytest.mark.parametrize(
    "times",
    [
        {"fcfs": (8.0, 9.0), "sptf": (1.0, 2.0)},
        {"fcfs": (8.0, None), "sptf": (1.0, None)},
        {"sptf": (1.0, 2.0)},
    ],
)
def test_equal_ranking_or_single_kind_needs_no_sentence(times):
    assert "Reads" not in race_answer(times)


def test_of_many_only_another_winner_counts():
    times = {name: (1.0 + place, 1.0 + place) for place, name in enumerate(("sptf", "sstf", "scan", "fcfs"))}
    tie = {**times, "wstf": (1.01, 3.0)}
    assert "Reads" not in race_answer(tie)
    assert "Reads (30 % of the requests): WSTF 0.500 ms, SPTF 1.00 ms, SSTF" in race_answer(
        {**times, "wstf": (0.5, 9.0)}
    )


def test_devices_side_by_side_have_the_same_sentences():
    result = sl.compare(sl.workload("uniform"), ["ssd-tlc", "ram", "mems-g3"], limit=300, parallel=1)
    group = result.groups[0]
    assert group.fastest(1.0, "read")[0].name == "ram"
