"""Numbers, units and names as text, the same in all displays."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any


NO_BREAK_SPACE = "\u00a0"

UNIT_SPACE = re.compile(r"(?<=\d) (?=(?:%|[µmk]?[sJW]\b|[kKMG]i?B\b|B\b|hours\b|min\b))")
"""A space between a number and its unit."""


def keep_units(text: str) -> str:
    """Return a text in which no line can end between a number and its unit."""
    return UNIT_SPACE.sub(NO_BREAK_SPACE, text)


def figure(value: float | None, digits: int = 3) -> str:
    """`value` with `digits` significant digits, thousands separated; a dash for `None`.

    Examples:
        >>> [figure(x) for x in (0.84231, 1234.56, 0.0, 43211.9, None)]
        ['0.842', '1,235', '0', '43,212', '–']
    """
    if value is None:
        return "–"
    if value == 0:
        return "0"
    if abs(value) >= 10 ** (digits - 1):
        return f"{value:,.0f}"
    text = f"{value:.{digits}g}"
    if "e" in text:
        return text
    scientific = f"{abs(value):.{digits - 1}e}"
    decimals = max(0, digits - 1 - int(scientific.split("e")[1]))
    return f"{value:.{decimals}f}"


def short_figure(value: float) -> str:
    """Return a number with three significant digits at most; a whole number from 100 on, without exponent.

    Examples:
        >>> [short_figure(x) for x in (0.5, 7.0, 25.63, 99.96, 2520.0)]
        ['0.5', '7', '25.6', '100', '2,520']
    """
    return f"{value:,.0f}" if abs(value) >= 99.95 else f"{value:.3g}"


def percent(share: float) -> str:
    """Return a share of one as a percentage, never rounded to all or nothing.

    Examples:
        >>> [percent(x) for x in (0.5, 0.0312, 0.9999, 0.0)]
        ['50 %', '3.1 %', '>99.9 %', '0 %']
    """
    if 0.999 < share < 1:
        return ">99.9 %"
    if 0 < share < 0.001:
        return "<0.1 %"
    if share in (0, 1) or 0.1 <= share < 0.99:
        return f"{share * 100:.0f} %"
    return f"{share * 100:.1f} %"


def signed_percent(share: float) -> str:
    """Return a share that may be negative, as a percentage."""
    return f"−{percent(-share)}" if share < 0 else percent(share)


def share(value: float | None) -> str:
    """Return a share as a percentage; a dash for `None`."""
    return "–" if value is None else percent(value)


def times(factor: float | None) -> str:
    """Return a ratio as text; a dash for `None`."""
    return "–" if factor is None else f"{figure(factor, 2)} ×"


def kilobytes(value: float | None) -> str:
    """Return a size in KB of 1024 bytes; a dash for `None`."""
    return "–" if value is None else f"{figure(value)} KB"


def size(mb: float) -> str:
    """Return a size given in 2^20 bytes, with the unit that reads best.

    Examples:
        >>> [size(x) for x in (64.0, 25.6, 3072.0, 5000.0)]
        ['64 MiB', '25.6 MiB', '3 GiB', '5,000 MiB']
    """
    return f"{mb / 1024:g} GiB" if mb >= 1024 and mb % 1024 == 0 else f"{short_figure(mb)} MiB"


def data(value: int) -> str:
    """Return the bytes with the unit that reads best; MB are 10^6 bytes.

    Examples:
        >>> [data(x) for x in (0, 800, 83951, 16777216, 3_200_000_000)]
        ['0', '800 B', '84.0 kB', '16.8 MB', '3.20 GB']
    """
    for unit, unit_bytes in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if value >= unit_bytes:
            return f"{figure(value / unit_bytes)} {unit}"
    return f"{value} B" if value else "0"


def mark_overloaded(label: str, *, saturated: bool) -> str:
    """Return a label with a star for an overloaded run."""
    return f"{label} *" if saturated else label


def pluralize(count: int, noun: str, plural: str = "") -> str:
    """Return a count with its noun, in the singular or the plural.

    Examples:
        >>> pluralize(1, "request"), pluralize(0, "flush", "flushes"), pluralize(1200, "write")
        ('1 request', '0 flushes', '1,200 writes')
    """
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"


def join_names(names: Sequence[str]) -> str:
    """Return the names in a sentence.

    Examples:
        >>> join_names(["a", "b", "c"])
        'a, b and c'
    """
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def list_names(names: Sequence[str], maximum: int) -> str:
    """Return the names in a sentence; above `maximum` names, the remaining ones are counted.

    Examples:
        >>> list_names(["a", "b", "c"], 3), list_names(["a", "b", "c", "d"], 3)
        ('a, b and c', 'a, b and 2 more')
    """
    if len(names) > maximum:
        names = [*names[: maximum - 1], f"{len(names) - maximum + 1} more"]
    return join_names(names)


def milliseconds(value: float, half: float | None = None) -> str:
    """Return a time given in ms, with half the width of its interval, in the unit that reads best.

    Examples:
        >>> [milliseconds(x) for x in (0.0042, 0.842, 12500.0)]
        ['4.20 µs', '0.842 ms', '12.5 s']
        >>> milliseconds(5.3, 0.0123), milliseconds(12500.0, 310.0)
        ('5.30 ± 0.01 ms', '12.5 ± 0.3 s')
    """
    scale, unit = (1000.0, "µs") if 0 < value < 0.1 else (0.001, "s") if value >= 10_000 else (1.0, "ms")
    return f"{interval(value * scale, None if half is None else half * scale)} {unit}"


def interval(value: float, half: float | None) -> str:
    """Return a value with half the width of its interval, if it has one, to the same digit.

    Examples:
        >>> interval(5.3, 0.0123), interval(5.3, 0.00012), interval(1234.0, 56.7), interval(5.3, None)
        ('5.30 ± 0.01', '5.30 ± 0.0001', '1,234 ± 57', '5.30')
    """
    text = figure(value)
    if half is None:
        return text
    rounded = f"{half:,.{len(text.partition('.')[2])}f}"
    return f"{text} ± {rounded if half == 0 or rounded.strip('0.,') else figure(half, 1)}"


def energy(joules: float, half: float | None = None) -> str:
    """Return an energy with half the width of its interval, in the unit that reads best.

    Examples:
        >>> energy(0.00005), energy(0.0123), energy(61.2), energy(61.2, 0.5)
        ('50.0 µJ', '12.3 mJ', '61.2 J', '61.2 ± 0.5 J')
    """
    unit, size = energy_unit(joules)
    return f"{interval(joules / size, None if half is None else half / size)} {unit}"


def energy_unit(joules: float) -> tuple[str, float]:
    """Return the unit in which an energy reads best, and its size in joules.

    Examples:
        >>> energy_unit(0.133), energy_unit(0.00166)
        (('J', 1.0), ('mJ', 0.001))
    """
    units = (("µJ", 1e-6), ("mJ", 1e-3))
    return next((each for each in units if 0 < joules < 100 * each[1]), ("J", 1.0))


def quantity(value: float, unit: str) -> str:
    """Return a value in a unit with three significant digits and no exponent.

    Examples:
        >>> quantity(0.06, "ms"), quantity(0.0000312, "J"), quantity(1304, "ms")
        ('0.0600 ms', '0.0000312 J', '1,304 ms')
    """
    text = figure(value)
    return f"{f'{value:.10f}'.rstrip('0') if 'e-' in text else text} {unit}"


def seconds(value_ms: float) -> str:
    """Return a time in ms that may be long, with the unit that reads best.

    Examples:
        >>> [seconds(x) for x in (0.61, 40.0, 7000.0, 2_520_000.0)]
        ['0.610 ms', '40 ms', '7 s', '2,520 s']
    """
    if value_ms >= 1000:
        return f"{short_figure(value_ms / 1000)} s"
    return f"{value_ms:g} ms" if value_ms == int(value_ms) else milliseconds(value_ms)


def hours(value: float) -> str:
    """Return a time in hours that may be short or long.

    Examples:
        >>> [hours(x) for x in (0.5, 6.37, 82.04, 1200.0)]
        ['30 minutes', '6.4 hours', '82 hours', '50 days']
    """
    if value < 2:
        return f"{value * 60:.0f} minutes"
    if value < 10:
        return f"{value:.1f} hours"
    return f"{value:.0f} hours" if value < 240 else f"{value / 24:,.0f} days"


def duration(seconds: float) -> str:
    """Return a duration in s, rounded for a reader.

    Examples:
        >>> [duration(x) for x in (0.4, 42.0, 118.0, 3000.0, 9000.0)]
        ['1 s', '42 s', '2 min', '50 min', '2.5 hours']
    """
    if seconds < 100:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} hours"


def change(share: float) -> str:
    """Return a relative change in words.

    Examples:
        >>> [change(x) for x in (0.25, -0.5, 0.0, 1.5)]
        ['25 % more', '50 % less', 'the same', '2.5 times the']
    """
    if share >= 1:
        return f"{figure(share + 1, 2)} times the"
    if abs(share) < 5e-4:
        return "the same"
    return f"{percent(abs(share))} {'more' if share > 0 else 'less'}"


def signed_change(share: float, digits: int = 1) -> str:
    """Return a relative change as a percentage with its sign; `0 %` if it rounds to zero.

    Examples:
        >>> [signed_change(x) for x in (0.0512, -0.3, -1e-6, 1.8674)]
        ['+5.1 %', '−30.0 %', '0 %', '+187 %']
    """
    if abs(share) >= 0.1:  # three digits are enough
        digits = 0 if abs(share) >= 1 else min(digits, 1)
    text = f"{share * 100:+.{digits}f} %".replace("-", "−")
    return text if any(digit in text for digit in "123456789") else "0 %"


def saved_percent(share: float) -> str:
    """Return a share that was saved, as a percentage; negative for a loss.

    Examples:
        >>> [saved_percent(x) for x in (0.42, -0.2, 1e-6, 0.0)]
        ['42 %', '−20 %', '≈ 0 %', '0 %']
    """
    return "≈ 0 %" if 0 < abs(share) < 5e-4 else signed_percent(share)


def saving(share: float, saved: str = "{} saved", added: str = "{} added") -> str:
    """Return a share that was saved or, if negative, added, in the text for that.

    Examples:
        >>> [saving(x) for x in (0.42, -0.2, -1e-6)]
        ['42 % saved', '20 % added', '≈ 0 % saved']
    """
    return added.format(percent(-share)) if share <= -5e-4 else saved.format(saved_percent(share))


def speedup(config: Mapping[str, Any]) -> float:
    """Return the speed-up of the replay; 1 by default."""
    return float(config.get("replay", {}).get("speedup", 1))
