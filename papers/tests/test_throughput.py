"""Levels that overload leaves out are named; marks select the recorded hour."""

from __future__ import annotations

from pathlib import Path

from sledlab_papers.runs import HEAVY, Crossing, LoadCurves, LoadPoint
from sledlab_papers.scheduling.plan import SchedulingRuns
from sledlab_papers.scheduling.throughput import gains_table, overloaded_levels

CURVES = LoadCurves(
    {},
    {
        ("zsptf", 50.0): Crossing("zsptf", 50.0, 1100.0, "yes"),
        ("asptf", 50.0): Crossing("asptf", 50.0, 1000.0, "yes"),
        ("zsptf", 100.0): Crossing("zsptf", 100.0, 1200.0, "yes"),
        ("asptf", 100.0): Crossing("asptf", 100.0, 1050.0, "in overload"),
        ("zsptf", 200.0): Crossing("zsptf", 200.0, None, "above"),
    },
)

RECORDED_HOUR = """scheduler,speedup,reading,seeds,saturated,mean_ms,scv
zsptf,10,free,1,false,3.0,2.0
zsptf,10,"free, 512-byte sectors",1,false,4.0,2.5
zsptf,10,parity,1,false,5.0,3.0
"""


def test_level_reached_in_overload_is_named() -> None:
    assert overloaded_levels(CURVES, "asptf", (HEAVY,)) == [100.0]
    table = gains_table({"ZSPTF over ASPTF": (CURVES, "zsptf", "asptf")}, (HEAVY,))
    assert table.columns[1:] == ("50 ms", "100 ms")
    assert table.rows == (("ZSPTF over ASPTF", "+10.0", "ASPTF overloaded with a seed"),)


def test_marks_select_the_recorded_hour(tmp_path: Path) -> None:
    (tmp_path / "hong2006-ajw").mkdir()
    (tmp_path / "hong2006-ajw" / "curves.csv").write_text(RECORDED_HOUR)

    def point(*readings: str) -> LoadPoint:
        curves = SchedulingRuns(tmp_path, readings).load_curves("hong2006-zone-sizes", "hplajw")
        return curves.curves["zsptf:grid=20x2", 10.0]

    assert point("ajw as recorded").mean_ms == 3.0
    assert point("ajw 512-byte sectors").mean_ms == 4.0
    assert point("-directed", "ajw as recorded").mean_ms == 5.0
