"""The mechanics: what the tests of the Rust crates measure."""

from __future__ import annotations

from . import reference
from .markdown import table, tiny
from .rust_tests import Compared, compared, numbers


def kinematics() -> str:
    """The closed form against integration, and the other kinematics against the closed form."""
    seek, turnaround = numbers("largest relative error: seek #, turnaround #")
    (published,) = numbers("largest relative difference from the published form #")
    errors = [
        ["integration, seeks", tiny(seek), "1e-9"],
        ["integration, turnarounds", tiny(turnaround), "1e-9"],
        ["the `acos` form in print, G2", tiny(published), "1e-10"],
    ]
    mean, longest = numbers("mean random seek in x # ms, longest # ms")
    chunks = "1, 4, 16, 64, 256, 1000"
    left = numbers(f"largest relative error of {chunks} chunks at 0 m/s: [#, #, #, #, #, #]")
    converging = table(
        ["chunks per phase", *chunks.split(", ")], [["largest relative error", *map(tiny, left)]]
    )
    deviations = [
        _deviation(name, ends, speed)
        for name in ("disksim-piecewise", "disksim-closed")
        for ends, speed in (("at rest (x)", "0"), ("28 mm/s (y)", "0.028"))
    ]
    return f"""\
## Kinematics

`exact` is a closed form. The tests integrate the equations of motion (Runge and Kutta, fourth order, both
phases of every seek) for 10,000 random moves on random axes: with strong, hardly any and no springs, from
rest and at speed, from edge to edge and over a ten-millionth of the travel.

{table(["`exact` against", "largest relative error", "band"], errors)}
Between any two columns of a G2 (every third was taken), a seek in x with settling takes {mean:.3f} ms in
the mean and {longest:.3f} ms at most; y is added [below](#published-numbers).

`piecewise` (constant force within a chunk) converges to it:

{converging}
The two seek functions of the reference simulator do not; on a G2 they deviate from `exact` by

{table(["kinematics", "both ends", "least", "greatest", "mean"], deviations, words=2)}"""


def _deviation(name: str, ends: str, speed: str) -> list[str]:
    kind = "".join(word.capitalize() for word in name.split("-"))
    found = numbers(f"{kind} at {speed} m/s: # % to # %, mean # %")
    return [f"`{name}`", ends, *(f"{number:+.2f} %" for number in found)]


def tables() -> str:
    """Geometry, layouts, seeks, turnarounds and passes against the tables of the reference simulator."""
    blocks = sum(
        len(reference.table(path)["lbn"]) for path in sorted((reference.MEMS / "layout").glob("*.csv.gz"))
    )
    devices = "(?:G1|G2|G3|V1)"
    rows = [
        ["x seeks, `disksim-piecewise`", *_row(compared(rf"{devices} x seek, piecewise, spring \S+"))],
        ["x seeks, `disksim-closed`", *_row(compared(rf"{devices} x seek, hong, spring \S+"))],
        ["x seeks, `exact`", *_row(compared(rf"{devices} x seek, exact, spring \S+"))],
        ["y seeks, `disksim-piecewise`", *_row(compared(rf"{devices} y seek, piecewise, spring \S+"))],
        ["y seeks, `disksim-closed`", *_row(compared(rf"{devices} y seek, hong, spring \S+"))],
        ["y seeks, `exact`", *_row(compared(rf"{devices} y seek, exact, spring \S+"))],
        ["turnarounds", *_row(compared(rf"{devices} turnaround, \w+, spring \S+"))],
        ["recorded passes of the sled", *_row(compared(r"(?:mech|base|sweep0)_\w+"))],
    ]
    return f"""\
## Geometry, layouts, seek tables

On G1, G2, G3 and V1 all derived geometry equals that of the reference simulator, and so do the places of
all {blocks:,} blocks of its layout tables (`streaming` and `row-first`: column, track, row, cell, tips,
x, and y of either direction). Each layout is tested to be one-to-one over the whole device. Times,
springs on and off:

{table(["compared", "values", "largest difference, ms", "band, ms"], rows)}
The tables are printed to 1e-9 ms, the passes to 1e-6 ms. Settling is held in whole nanoseconds, which
shows in x.
"""


def _row(found: Compared) -> list[str]:
    return [f"{found.values:,}", tiny(found.worst_ms), "1e-6"]
