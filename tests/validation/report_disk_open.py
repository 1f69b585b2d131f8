"""Open arrivals on disks beside the recorded runs of the reference simulator, as a table."""

from __future__ import annotations

from .disk_open import DRIVES, STREAMS, Comparison, comparison, runs, turned
from .markdown import percent, span, table

HEADER = (
    "drive",
    "load",
    "recorded run",
    "sledlab",
    "why",
    "recorded, ms",
    "sledlab, ms",
    "off by, %",
    "turned",
    "service off by, %",
    "same service, %",
)
"""The first five columns are words."""

NOTES = """\
*Off by* is the deviation of the mean response time, *service* that of the mean time the drive took, which is
not amplified by any queue. *Same service* is the share of requests that the drive served in the recorded time
to 0.2 ms. *Turned* is the range of the deviation when everything arrives up to 9 ms later: the same run with
its platters at other angles.

- *Turns*: a few requests in a thousand catch a turn that they missed in the reference simulator, or the other
  way round. With the recorded times of those few, the mean response is the recorded one to 0.1 %. The
  platters of the reference simulator drift; whether each of those turns is due to that has not been shown.
- *Chance*: a turn more or less changes what is chosen from there on. The recorded mean is within three
  standard deviations of those of the turned runs.
- *Knowledge*: the mended SPTF of the reference simulator reckons with one overhead for all reads and one for
  all writes, and judges as if a drive that writes behind were free. sledlab's SPTF knows what the command at
  hand costs after the one before, and when the arm will be free. Given the two overheads instead, it takes as
  long as the reference on the drive that does not write behind, within 0.6 %
  (`cargo test -p sledlab-sim --test reference_sptf`).
- *Stale angle*: the stock SPTF and ASPTF of the reference simulator judge by the angle of the last event on
  the medium, and without overheads.
- *Streams*: reads of streams faster than the bus, and of several at once. The recorded drives read ahead no
  further than their buffer has room for what the host has not taken; sledlab's let the oldest blocks go.

Writes that go on where one that is being written ends are replayed as the reference simulator serves them
(`appended_writes = "separate"`): one at a time, and a turn late. As the drives are described, they join.
"""


def section() -> str:
    """Open arrivals with each scheduler."""
    head = list(HEADER)
    body = table(head, rows(), words=5)
    return f"""\
## Disks under open arrivals

The reference simulator's own runs of three drives with a queue in the host, replayed with its bus times and
without reading on arrival.

{NOTES}
{body}"""


def rows() -> list[list[str]]:
    """A row for each run with the queue in the host."""
    return [_row(comparison(run)) for run in runs()]


def _row(found: Comparison) -> list[str]:
    run = found.run
    crowded = run.load in ("heavy", "overload") and not run.is_stale
    return [
        DRIVES[run.drive][0],
        run.load,
        f"`{run.column}`",
        f"`{run.scheduler}`",
        reason(found),
        f"{found.recorded_ms:,.3f}",
        f"{found.ours_ms:,.3f}",
        percent(found.off),
        span(turned(run)) if crowded else "",
        percent(found.service_off),
        f"{100 * found.same_service:.1f}",
    ]


def reason(found: Comparison) -> str:
    """Why a mean response time is more than 1 % off the recorded one."""
    run = found.run
    if abs(found.off) < 0.01:
        return ""
    if run.is_stale:
        return "stale angle"
    if run.column == "sptf_angle_fixed":
        return "knowledge"
    if (run.drive, run.load) in STREAMS:
        return "streams"
    return "turns" if run.column == "fcfs" else "chance"
