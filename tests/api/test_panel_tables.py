"""Tables of the numbers of figures, for pages without JavaScript."""

from __future__ import annotations

import pytest
from sledlab.show.panel_tables import MAX_QUANTILES, MAX_ROWS, tables
from sledlab.show.series import Bar, NamedBar, Panel, PlaneTimes, Series


def test_curves_have_a_column_each() -> None:
    series = [
        Series("FCFS", "#000000", [1.0, None], overloaded=[False, True]),
        Series("SPTF", "#000000", [0.5, 2.0]),
    ]
    [table] = tables([Panel("load (1/s)", "mean (ms)", series, [10, 20])])
    assert table.head == ("load (1/s)", "FCFS (ms)", "SPTF (ms)")
    assert table.rows == [("10", "1.00", "0.500"), ("20", "overloaded", "2.00")]


@pytest.mark.parametrize("count", [1, MAX_ROWS, MAX_ROWS + 1, 5000])
def test_long_curves_keep_both_ends(count: int) -> None:
    values = [float(number + 1) for number in range(count)]
    [table] = tables([Panel("x", "y", [Series("a", "#000000", values)], list(range(count)))])
    assert len(table.rows) == min(count, MAX_ROWS)
    assert (table.rows[0][0], table.rows[-1][0]) == ("0", f"{count - 1:,}")


def test_distributions_have_rows_for_each_series() -> None:
    series = [Series(name, "#000000", [0.0, 50.0, 100.0] * 9, x=[1.0, 2.0, 3.0] * 9) for name in "ab"]
    [table] = tables([Panel("time (ms)", "share (%)", series)])
    assert [row[0] for row in table.rows] == ["a"] * MAX_QUANTILES + ["b"] * MAX_QUANTILES


def test_steps_name_the_rows() -> None:
    [table] = tables([Panel("within", "ms", [Series("a", "#000000", [1.0, 2.0])], steps=["median", "99 %"])])
    assert table.rows == [("median", "1.00"), ("99 %", "2.00")]


def test_named_bars_are_their_texts() -> None:
    bars = [NamedBar("seek", 2.0, "#000000", "2 J\n4 % of time"), NamedBar("idle", 1.0, "#000000", "1 J")]
    [table] = tables([Panel("energy (J)", "energy by state", (), named_bars=bars)])
    assert table.rows == [("seek", "2 J, 4 % of time"), ("idle", "1 J")]


def test_bars_over_time_have_phases() -> None:
    bars = [Bar(0, 0.0, (1.0, 2.0)), Bar(0, 3.0, (1.0, 0.0)), Bar(1, 0.0, (4.0, 0.0))]
    series = [Series("compute", "#000000", []), Series("store", "#000000", [])]
    [table] = tables([Panel("time (s)", "", series, steps=["scan", "join"], rows=["n0", "n1"], bars=bars)])
    assert [row[:2] for row in table.rows] == [("n0", "scan"), ("n0", "join"), ("n1", "scan")]


def test_maps_have_the_longer_time() -> None:
    times = PlaneTimes("y (bits)", [0, 1], [0.1, 0.3], [0.2, 0.0], (0, 0))
    [table] = tables([Panel("x (bits)", "time (ms)", (), [0, 1], times=times)])
    assert table.rows == [("0", "0.200", "0.300"), ("1", "0.100", "0.300")]
