"""Mean response times of a sweep in one table: a setting down, another across, the best cell marked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledlab.show.document import Grid, Heading, Text
from sledlab.show.model_names import setting_value, settings_text
from sledlab.show.wording import interval, join_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from sledlab.show.document import Part
    from sledlab.studies.compare.sweep import Sweep

BEST_MARK, LEVEL_MARK, OVERLOAD_MARK = "→", "≈", "*"
"""Marks of cells."""

NOTE = f"{BEST_MARK} best at its load; {LEVEL_MARK} level with it; {OVERLOAD_MARK} the queue kept growing"
"""Meaning of the marks."""


def parts(sweeps: Sequence[Sweep]) -> Iterator[Part]:
    """Yield the table of one case at all loads, below the names of its settings, and the marks.

    Yields nothing where each setting has one value.
    """
    if all(len(values) == 1 for values in sweeps[0].values.values()):
        return
    down, across = _table_keys(sweeps)
    case = f"{settings_text(sweeps[0].case)}: " if sweeps[0].case else ""
    if across is None:
        yield Heading(f"{case}mean response time in ms, by {down} and by load")
        yield _one_setting(sweeps, down)
    else:
        yield Heading(f"{case}mean response time in ms, by {down} (down) and {across} (across)")
        yield _two_settings(sweeps, down, across)
    others = [key for key in sweeps[0].values if key not in (down, across)]
    fixed = f"; {join_names(others)}: as in the best combination at that load" if others else ""
    yield Text(f"{NOTE}{fixed}", "quiet")


def _table_keys(sweeps: Sequence[Sweep]) -> tuple[str, str | None]:
    """Return the setting with its values in rows, and that in columns: those that make a difference first.

    Settings that are level everywhere fill the table only where fewer than two others vary.
    """
    keys = [key for key, values in sweeps[0].values.items() if len(values) > 1]
    keys.sort(key=lambda key: all(key in sweep.inert for sweep in sweeps))
    if len(keys) == 1:
        return keys[0], None
    first, second = sorted(keys[:2], key=lambda key: (-len(sweeps[0].values[key]), keys.index(key)))
    return first, second


def _one_setting(sweeps: Sequence[Sweep], key: str) -> Grid:
    """Return a row for each value of a setting, and a column for each load."""
    rows = [
        (setting_value(key, value), *(_cell(sweep, {key: value}) for sweep in sweeps))
        for value in sweeps[0].values[key]
    ]
    return Grid((key, *(_load(sweep) for sweep in sweeps)), rows)


def _two_settings(sweeps: Sequence[Sweep], down: str, across: str) -> Grid:
    """Return a row for each load and value of a setting, and a column for each value of the other."""
    down_values, across_values = sweeps[0].values[down], sweeps[0].values[across]
    rows = [
        (
            *((_load(sweep),) if len(sweeps) > 1 else ()),
            setting_value(down, value),
            *(_cell(sweep, {down: value, across: other}) for other in across_values),
        )
        for sweep in sweeps
        for value in down_values
    ]
    heads = [setting_value(across, value) for value in across_values]
    if len(sweeps) == 1:
        return Grid((down, *heads), rows)
    return Grid(("load", down, *heads), rows, "left", has_groups=True, group_size=len(down_values))


def _cell(sweep: Sweep, values: dict[str, Any]) -> str:
    """Return the mean response time with some values, all else as in the best combination, and its mark."""
    combination = sweep.best
    for key, value in values.items():
        combination = sweep.with_value(combination, key, value)
    text = interval(sweep.mean_ms(combination), sweep.half_ms(combination))
    if sweep.is_overloaded(combination):
        return f"{OVERLOAD_MARK} {text}"
    if combination == sweep.best:
        return f"{BEST_MARK} {text}"
    return f"{LEVEL_MARK} {text}" if sweep.is_level_with_best(combination) else text


def _load(sweep: Sweep) -> str:
    return f"×{sweep.speedup:g}"
