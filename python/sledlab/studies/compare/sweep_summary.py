"""Sweeps in words, tables and a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledlab.show import plots
from sledlab.show.document import Drawing, Grid, Heading, Text
from sledlab.show.model_names import setting_value, settings_text
from sledlab.show.ranking import LEVEL
from sledlab.show.wording import figure, interval, join_names, milliseconds, percent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from matplotlib.figure import Figure

    from sledlab.show.document import Part
    from sledlab.studies.compare.sweep import SettingEffect, Sweep

    Load = Callable[[float], str]
    """Returns a load, given as a speed-up, in words that begin a sentence."""

CAPACITY = ("device.", "system.")
"""Settings that may change the capacity."""

MAX_LISTED = 3
"""Most values of a key that a sentence compares with the best."""


def answer(sweeps: Sequence[Sweep], load: Load) -> str:
    """Return the best value of each key, by how much, and keys that make no difference, in sentences."""
    sentences = []
    for sweep in sweeps:
        case = f"{settings_text(sweep.case)}: " if sweep.case else ""
        sentences.append(f"{case}{load(sweep.speedup)}, {' '.join(_sentences(sweep))}")
    if any(len(run) == 1 for sweep in sweeps for run in sweep.runs.values()):
        sentences.append(f"One seed: differences below {LEVEL * 100:g} % count as none.")
    return " ".join(sentences)


def _sentences(sweep: Sweep) -> Iterator[str]:
    """Yield the answer at one load."""
    if not sweep.steady_combinations:
        yield "every combination is overloaded."
        return
    active = [key for key in sweep.values if key not in sweep.inert]
    best = _mean(sweep)
    if len(active) == 1:
        yield f"{_best(sweep, active[0])} is best: {', '.join([best, *_gains(sweep, active[0])])}."
    elif active:
        yield f"{join_names([_best(sweep, key) for key in active])} are best together: {best}."
        active.sort(key=lambda key: -_largest_gain(sweep, key))
        yield f"{active[0]} matters most{_runners_up(sweep, active)}."
        for key in active:
            yield f"{_best(sweep, key)}: {', '.join(_gains(sweep, key))}."
    if sweep.inert:
        verb = "makes" if len(sweep.inert) == 1 else "make"
        yield f"{join_names(sweep.inert)} {verb} no difference{'' if active else f': {best}'}."


def _largest_gain(sweep: Sweep, key: str) -> float:
    """Return the share that the best value saves over the worst: 1 if a value overloads, 0 if level."""
    effects = [each for each in sweep.effects(key) if each.differs]
    return max((1.0 if each.overloaded else each.less for each in effects), default=0.0)


def _runners_up(sweep: Sweep, keys: Sequence[str]) -> str:
    """Return how much a setting matters at most, and the settings that matter less, as text."""
    gains = [_largest_gain(sweep, key) for key in keys]
    texts = [
        {0.0: "level here", 1.0: "between steady and overloaded"}.get(gain, f"up to {percent(gain)}")
        for gain in gains
    ]
    others = [f"{key} ({text})" for key, text in zip(keys[1:], texts[1:], strict=True)]
    return f" ({texts[0]}), then {join_names(others)}"


def _mean(sweep: Sweep) -> str:
    """Return the mean response time of the best combination, with its interval."""
    return f"{milliseconds(sweep.mean_ms(sweep.best), sweep.half_ms(sweep.best))} on average"


def _best(sweep: Sweep, key: str) -> str:
    """Return a key with its best value."""
    return settings_text([(key, sweep.value(sweep.best, key))])


def _gains(sweep: Sweep, key: str) -> list[str]:
    """Return by how much the best value of a key is better than the others, in clauses."""
    effects = sweep.effects(key)
    worse = [each for each in effects if each.differs and not each.overloaded]
    level_values = [setting_value(key, each.value) for each in effects if not each.differs]
    overloaded_values = [setting_value(key, each.value) for each in effects if each.overloaded]
    if len(worse) > MAX_LISTED:
        comparisons = [f"{_gain_text(worse[0])}, up to {_gain_text(worse[-1])}"]
    else:
        comparisons = [join_names([_gain_text(each) for each in worse])] if worse else []
    caveat = "" if worse or overloaded_values else " here, but not with all values of the other settings"
    return [
        *comparisons,
        *([f"level with {join_names(level_values)}{caveat}"] if level_values else []),
        *([f"overloaded with {join_names(overloaded_values)}"] if overloaded_values else []),
    ]


def _gain_text(effect: SettingEffect) -> str:
    """Return how much less the best value takes than another."""
    return f"{_share(effect)} less than with {setting_value(effect.key, effect.value)}"


def _share(effect: SettingEffect) -> str:
    """Return the share that the best value saves, with half its interval in percent.

    Examples:
        >>> from sledlab.studies.compare.sweep import SettingEffect
        >>> _share(SettingEffect("device.sleds", 1, 5.3, 0.0091, 0.0012, False)).replace("\xa0", " ")
        '0.9 % (±0.1)'
    """
    half = "" if effect.half is None else f" (±{figure(round(effect.half * 100, 3), 1)})"
    return f"{percent(effect.less)}{half}"


def parts(sweeps: Sequence[Sweep], load: Load, *, is_generated: bool) -> Sequence[Part]:
    """Return the figure of the effects of all values, and a table of them for each sweep.

    Args:
        sweeps: The sweeps.
        load: Returns a load in words.
        is_generated: Whether the requests are generated.
    """
    title = "Effect of each setting"
    parts: list[Part] = [Heading(title), Drawing(lambda: draw(sweeps, load), title, width="narrow")]
    for sweep in sweeps:
        parts += [Heading(_title(sweep, load), 3), _table(sweep)]
    note = (
        "Mean response times in ms with one setting changed from the best combination. Runs are compared "
        "seed by seed; ±: half the 95 % confidence interval over the seeds. Level: the interval includes 0."
    )
    if is_generated and any(key.startswith(CAPACITY) for sweep in sweeps for key in sweep.values):
        note += (
            " Generated requests spread over the capacity, so a setting that changes it changes addresses."
        )
    return [*parts, Text(note, "quiet")]


def _title(sweep: Sweep, load: Load) -> str:
    """Return the requests and the load of a sweep."""
    return ", ".join(filter(None, (settings_text(sweep.case), load(sweep.speedup))))


def draw(sweeps: Sequence[Sweep], load: Load) -> Figure:
    """Draw the best combination, and below it the mean response with each other value of each key."""
    bars = [_sweep_bars(sweep) for sweep in sweeps]
    rows = [len(sweep_bars) for sweep_bars in bars]
    fig, all_axes = plots.panels(
        len(sweeps),
        0.7 * len(sweeps) + plots.row_height() * sum(rows),
        rows,
        rows=sum(rows) + 4 * len(sweeps),
    )
    for sweep, axes, sweep_bars in zip(sweeps, all_axes, bars, strict=True):
        plots.bar_rows(axes, sweep_bars, "mean response time (ms)")
        axes.set_title(_title(sweep, load))
    return fig


def _sweep_bars(sweep: Sweep) -> list[plots.Bar]:
    """Return the bars of a sweep; those of overloaded values are hollow."""
    best = milliseconds(sweep.mean_ms(sweep.best), sweep.half_ms(sweep.best))
    bars = [("best combination", sweep.mean_ms(sweep.best), best, not sweep.steady_combinations)]
    for key in sweep.values:
        for effect in sweep.effects(key):
            change = f"best: {_share(effect)} less" if effect.differs else "level"
            text = "overloaded" if effect.overloaded else f"{milliseconds(effect.mean_ms)}, {change}"
            bars.append((settings_text([(key, effect.value)]), effect.mean_ms, text, effect.overloaded))
    return bars


def _table(sweep: Sweep) -> Grid:
    """Return a row for each value of each key."""
    rows = []
    for key in sweep.values:
        best = interval(sweep.mean_ms(sweep.best), sweep.half_ms(sweep.best))
        rows.append((key, setting_value(key, sweep.value(sweep.best, key)), best, "best"))
        for effect in sweep.effects(key):
            change = "overloaded" if effect.overloaded else _share(effect) if effect.differs else "level"
            rows.append((key, setting_value(key, effect.value), figure(effect.mean_ms), change))
    return Grid(("setting", "value", "mean", "the best takes less"), rows, "left words")
