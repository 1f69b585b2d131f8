"""Measuring a run of a race, which may end where a competitor is overloaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledlab.study.measure import measure

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sledlab.study.measure import SystemRun
    from sledlab.traces.read import Trace


def measure_until_overload(
    text: str, trace: Trace | None, counts_idle_periods: bool = False, plugins: Sequence[str] = ()
) -> SystemRun:
    """Run an experiment as `measure` does; a run whose queue kept growing ends with its last arrival."""
    return measure(text, trace, counts_idle_periods, plugins, stop_overloaded=True)


MEASURES: Mapping[str, Callable[..., SystemRun]] = {"stop": measure_until_overload, "drain": measure}
"""Functions that measure runs, by the handling of overloaded ones: stop them, or drain their queues."""
