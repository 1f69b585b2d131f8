"""Half widths of 95 % intervals in tables, sentences and LaTeX, wherever there are several seeds."""

import re

import pytest
import sledlab as sl
from sledlab.display import find_presentation
from sledlab.study.statistics import average

from tests.api.test_sweep import DEFAULT_RESULTS, RunFigures

UNIFORM = sl.workload("uniform", mean_interarrival_ms=2)
SHORT_RUN = {"limit": 300, "parallel": 1}

STUDIES = {
    "compare": lambda seed: sl.compare(
        UNIFORM, "mems-g2", scheduler=["fcfs", "sptf"], speedup=[1], seed=seed, **SHORT_RUN
    ),
    "schedulers": lambda seed: sl.compare(
        UNIFORM, "mems-g2", scheduler=["fcfs", "sptf", "sstf", "wstf", "scan"], speedup=[1], seed=seed,
        **SHORT_RUN,
    ),
    "side-by-side": lambda seed: sl.compare(UNIFORM, ["mems-g2", "mems-g3"], seed=seed, **SHORT_RUN),
    "hybrid": lambda seed: sl.hybrid_study(
        sl.workload("cello"), configuration=["disk", "mcd-all"], mems_mb=[64], segment_kb=[8],
        price_ratio=[4], seed=seed, **SHORT_RUN,
    ),
    "power": lambda seed: sl.power_study(
        UNIFORM, "mems-g2", power=["fixed", "immediate"], timeout_ms=[1], load=[1], seed=seed, **SHORT_RUN
    ),
}  # fmt: skip

INTERVAL = re.compile(r"\d ± [\d.,]*\d")


@pytest.fixture
def printed_lines(monkeypatch, capsys):
    """Return a function that lists the lines of a result in a terminal of 100 columns."""
    monkeypatch.setenv("COLUMNS", "100")

    def lines(result):
        find_presentation(result).show(result)
        return capsys.readouterr().out.splitlines()

    return lines


@pytest.mark.parametrize("name", STUDIES)
def test_several_seeds_give_intervals_everywhere(name, printed_lines):
    result = STUDIES[name]("1..3")
    table_lines = [line for line in printed_lines(result) if line.startswith(" ")]
    assert any(INTERVAL.search(line) for line in table_lines)
    assert max(map(len, table_lines)) <= 100
    assert INTERVAL.search(result.answer)
    assert "±" in result.latex() or r"\pm" in result.latex()
    assert INTERVAL.search(find_presentation(result).page(result))


@pytest.mark.parametrize("name", ["compare", "side-by-side"])
def test_one_seed_gives_no_interval(name):
    result = STUDIES[name](1)
    assert "±" not in result.answer
    assert "±" not in result.latex()


@pytest.mark.parametrize("name", ["compare", "side-by-side"])
def test_result_table_fits_100_columns(name, printed_lines):
    lines = printed_lines(STUDIES[name]("1..3"))
    assert sum("──" in line or "--" in line for line in lines) == 1


def average_of(*values: float):
    return average([RunFigures(**{**DEFAULT_RESULTS, "mean_ms": value}) for value in values])


def test_means_tie_if_difference_interval_includes_zero():
    assert average_of(1.0, 2.0, 3.0).is_level(average_of(1.1, 1.9, 3.1))
    assert not average_of(1.0, 2.0, 3.0).is_level(average_of(1.1, 2.2, 3.3))
    assert average_of(1.0).is_level(average_of(1.01))
    assert not average_of(1.0).is_level(average_of(1.03))


def test_overloaded_means_have_no_interval():
    runs = [RunFigures(**{**DEFAULT_RESULTS, "mean_ms": value, "saturated": True}) for value in (1.0, 2.0)]
    assert average(runs).half_ms is None
    assert average(runs).half_j is None
