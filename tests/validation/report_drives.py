"""The section on disks: measured streams of real drives."""

from __future__ import annotations

from . import drives
from .drives import DRIVES, Host, demerit, recorded, shipped
from .markdown import table


def _row(drive: str) -> list[str]:
    first, second = drives.halves(drive)
    reference = recorded(drive)
    measured, simulated = drives.replay(drive, shipped(drive))
    return [
        f"`{drive}`",
        f"{len(measured):,}",
        f"{measured.mean() / 1e6:.2f}",
        f"{simulated.mean() / 1e6:.2f}",
        f"{reference.demerit():.3f}",
        f"{demerit(drive, Host()):.3f}",
        f"{demerit(drive, shipped(drive)):.3f}",
        f"{demerit(drive, shipped(drive), first):.3f} / {demerit(drive, shipped(drive), second):.3f}",
        f"{reference.demerit(first):.3f} / {reference.demerit(second):.3f}",
    ]


def section() -> str:
    """Demerit figures of every drive."""
    head = [
        "drive",
        "requests",
        "measured, ms",
        "sledlab, ms",
        "reference",
        "published host",
        "fitted host",
        "by halves",
        "reference by halves",
    ]
    return f"""\
## Disks against real drives

Service times of eleven drives were measured, request by request, with one request outstanding. Each stream is
replayed as it was issued (`sledlab validate drive`). The *demerit figure* is the root mean square of the
horizontal distance between measured and simulated distributions of service times, in ms; the reference
simulator's is computed from its own predictions for the same requests.

*Published host*: the bus of the measuring host as in the public parameters, drive parameters as published.
What differs from the reference simulator then is that the platters' angle does not drift (the simulator adds
up rounding, a part in a million) and that the Atlas 10K reads on arrival: what passes under its head on the
way to the first wanted sector is buffered, as that drive is said to do and the simulator never does.

*Fitted host*: what the measuring host adds to a command, three numbers by kind of command and the time of a
sector on the bus in each direction, fitted to the stream (`presets/hosts`). The drives' own are not.

{table(head, [_row(drive) for drive in DRIVES])}
{_crossed()}"""


def _crossed() -> str:
    """What a fit to one half of a stream says about the other."""
    better, rows = 0, []
    for drive in DRIVES:
        first, second = drives.halves(drive)
        cells = []
        for fitted, other in ((first, second), (second, first)):
            ours = demerit(drive, drives.fit(drive, fitted), other)
            reference = recorded(drive).demerit(other)
            better += ours < reference
            cells += [f"{ours:.3f}", f"{reference:.3f}"]
        rows.append([f"`{drive}`", *cells])
    head = [
        "drive",
        "second half, fitted to the first",
        "reference",
        "first half, fitted to the second",
        "reference",
    ]
    return f"""\
Whether that is more than learning a stream by heart: fitted to one half alone, the host does better on the
*other* half than the reference simulator in {better} of {2 * len(DRIVES)} cases.

{table(head, rows)}"""
