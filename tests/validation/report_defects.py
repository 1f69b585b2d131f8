"""How far the reference simulator's defects move its results from the exact physics."""

from __future__ import annotations

import numpy as np

from . import reference
from .agreement import agreement
from .defects import (
    CLOSED,
    DEVICES,
    DRIFT,
    FIRST_PASS,
    MOTION,
    PHYSICS,
    PIPELINE,
    RECENTRING,
    SINGLE,
    TIES,
    WORKLOADS,
    Defect,
    effect,
    effects,
    simulated,
    uncharged,
)
from .markdown import percent, span, table
from .motion import Passes, Sled, passes

SHOWN = (MOTION, TIES, DRIFT, RECENTRING, PHYSICS, FIRST_PASS, CLOSED, PIPELINE)
SWEEPS = ("idlegap", "st41601n")


def section() -> str:
    """The whole section."""
    return "\n".join([_introduction(), _by_trace(), _motion(), _energy(), _conclusions()])


def _introduction() -> str:
    both = f"{MOTION.name}, {TIES.name} and {DRIFT.name}"
    rows = [
        (
            MOTION,
            "a seek function of eight chunks; turnarounds with constant acceleration and, at the end of a "
            "seek, the wrong sign of the spring",
            '`kinematics = "exact"`',
        ),
        (
            TIES,
            "a row that is reached equally fast either way is read downwards, also where the request goes on "
            "in the row above",
            '`direction_tie = "onward"`',
        ),
        (
            DRIFT,
            "an idle sled jumps to a pseudo-random place in y (milliseconds and seconds are mixed up)",
            '`idle_motion = "hold"`',
        ),
        (RECENTRING, "a sled that spins down is at the centre at once, free of charge", '`parking = "stay"`'),
        (
            PHYSICS,
            f"{both} together, and what SPTF believes of positions; what is left is the exact device with "
            "the same overheads, bus (hence one-block passes), layout and parking",
            'all of these, `selection = "exact"`',
        ),
        (
            FIRST_PASS,
            "a write that starts on an idle sled finds one block in the device, writes it, turns round and "
            "comes back for the others",
            '`pipeline = "serial"`, without overheads and bus times on both sides',
        ),
        (
            CLOSED,
            "motion again, of the simulator's other seek function, with springs half as stiff",
            '`kinematics = "exact"`',
        ),
        (
            PIPELINE,
            "no defect but a choice: overheads run beside the sled, blocks cross a bus",
            '`pipeline = "serial"`, same overhead',
        ),
    ]
    listed = table(["column", "the defect", "taken out by"], [[d.name, *rest] for d, *rest in rows], words=3)
    return f"""\
## How far the reference simulator's defects move its results

Its results are reproduced above, defects included. Here one defect at a time is taken out of the
`-disksim` profiles and the same trace replayed. Numbers are results with the defect over results without
it, less one: +2 means that the defect makes the mean response time 2 % longer.

{listed}"""


def _by_trace() -> str:
    tables = ""
    for device in DEVICES:
        rows = [
            [
                work.name,
                f"{simulated(work, device).response_time.mean:.3f}",
                *(percent(effect(defect.name, work, device).response) for defect in SHOWN),
                f"{100 * uncharged(work, device):.1f}",
            ]
            for work in WORKLOADS
            if work.on(device)
        ]
        header = [device, "mean, ms", *(defect.name for defect in SHOWN), "uncharged energy"]
        tables += table(header, rows) + "\n"
    fcfs, sptf = (
        max(abs(one.energy) for defect in (*SINGLE, PHYSICS) for one in effects(defect, scheduler))
        for scheduler in ("fcfs", "sptf")
    )
    return f"""\
### Mean response times, trace by trace

Changes in %; FCFS unless named.

{tables}Energy hardly notices any of this, as a sled that waits draws what a sled that seeks draws: under
FCFS no defect moves it by more than {100 * fcfs:.2f} %, under SPTF (where choices change) by up to
{100 * sptf:.2f} %. What the simulator does not charge at all (last column, share of the true total) is
another matter; see below.
"""


def _motion() -> str:
    rows = []
    for path in sorted((reference.MEMS / "access").glob("*_f0_*.csv.gz")):
        run = reference.runs()[path.name.removesuffix(".csv.gz")]
        if run.device in DEVICES:
            rows.append(
                [f"`{run.name}`", *_cumulative(passes(reference.table(path), Sled.of(run.parameters)))]
            )
    header = [
        "recorded passes of",
        "passes",
        "exact, ms",
        "constant acceleration",
        "+ wrong sign",
        "+ seek function",
    ]
    return f"""\
### Which part of the motion

Positioning times of recorded passes, computed anew from the same start with one defect more in each
column (change from exact, %). The sled takes the direction that is shorter by the physics of the column.

{table(header, rows)}
The wrong sign at the end of a seek is the larger part where requests go on over several rows or the
device only reads upwards: there a turnaround decides. Where x dominates, only the seek function is left.
Turnarounds of a G2, in ms, by the place at which a sled that moves upwards turns:

{_turnarounds()}"""


def _cumulative(found: Passes) -> list[str]:
    exact = found.exact.mean()
    steps = (found.constant, found.wrong_sign, found.recorded)
    return [f"{len(found.exact):,}", f"{exact:.4f}", *(percent(step.mean() / exact - 1) for step in steps)]


def _turnarounds() -> str:
    sled = Sled.of(reference.runs()["mech_G2_f0_r8_light"].parameters)
    places = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
    at, up = places * sled.y.travel / 2, np.ones(len(places))
    rules = {
        "exact": sled.y.turnaround_s(at, sled.speed, up),
        "simulator, start of a seek": sled.y.constant_turnaround_s(at, sled.speed, up),
        "simulator, end of a seek": sled.y.constant_turnaround_s(at, sled.speed, -up),
    }
    rows = [[name, *(f"{1e3 * time:.4f}" for time in times)] for name, times in rules.items()]
    names = ["lower edge", "half-way", "centre", "half-way", "upper edge"]
    return table(["turnaround", *names], rows)


def _energy() -> str:
    timeouts, columns = _sweeps()
    rows = [
        [f"{timeout:g}", *(f"{energies[i]:.3f}" for sweep in SWEEPS for energies in columns[sweep])]
        for i, timeout in enumerate(timeouts)
    ]
    parts = ("reported", "complete", "sledlab")
    header = ["timeout, ms", *(f"{sweep}, {part}" for sweep in SWEEPS for part in parts)]
    return f"""\
### Idle energy that is never charged

The simulator charges idle time only when a request ends it, not when the timer does. Energy in J on a G2
by idle timeout, as *reported*, and *complete* with what was not charged:

{table(header, rows)}
{" ".join(_best(sweep) for sweep in SWEEPS)}
"""


def _sweeps() -> tuple[list[float], dict[str, list[list[float]]]]:
    """Idle timeouts in ms, and energies by sweep: reported, complete, ours; in the order of the timeouts."""
    columns = {}
    timeouts: list[float] = []
    for sweep in SWEEPS:
        runs = [run for run in reference.runs().values() if run.name.startswith(f"sweep_G2_{sweep}_")]
        runs.sort(key=lambda run: run.parameters["inactive_after_ms"])
        timeouts = [run.parameters["inactive_after_ms"] for run in runs]
        ours = [(1 + agreement(run.name).energy) * run.energy_j for run in runs]
        columns[sweep] = [[run.charged_energy_j for run in runs], [run.energy_j for run in runs], ours]
    return timeouts, columns


def _best(sweep: str) -> str:
    timeouts, columns = _sweeps()
    reported, complete, _ = columns[sweep]
    seen, true = int(np.argmin(reported)), int(np.argmin(complete))
    if seen == true:
        return f"On {sweep} both are least at {timeouts[true]:g} ms."
    loss = complete[seen] / complete[true] - 1
    return (
        f"On {sweep} the reported energy is least at {timeouts[seen]:g} ms, the complete one at "
        f"{timeouts[true]:g} ms; whoever believes the report spends {100 * loss:.1f} % more."
    )


def _conclusions() -> str:
    def fcfs(defect: Defect) -> str:
        return span([one.response for one in effects(defect, "fcfs")])

    sptf = span([one.response for one in effects(PHYSICS, "sptf")])
    lost = max(uncharged(work, device) for device in DEVICES for work in WORKLOADS if work.on(device))
    return f"""\
### What to conclude

- **Mean response times of the reference simulator are somewhat long.** Under FCFS its motion, ties and
  drift together change them by {fcfs(PHYSICS)}; motion alone by {fcfs(MOTION)} (function 0) or
  {fcfs(CLOSED)} (function 1). Before you rely on a difference between two policies or devices that is no
  larger, look for it on `mems-gN`.
- **Writes to an idle device take an extra pass.** That changes the mean over reads and writes by
  {fcfs(FIRST_PASS)}, overheads aside: the largest defect of all. It comes from the moment at which the
  simulator looks at its bus, not from the device; its write latencies at low load mean little.
- **After a pause the next block is no longer near.** The drift rule changes means by {fcfs(DRIFT)}, most
  on `st41601n`. Free recentring changes them by {fcfs(RECENTRING)}.
- **Under SPTF not even the sign is certain** ({sptf}): other times are other choices. Compare schedulers
  with one and the same kinematics.
- **Energies are right but for idle time before spin-downs.** Up to {100 * lost:.1f} % of the total is
  missing here at the stock timeout of 100 ms. Never choose a timeout by these totals.
- **Which profile for what:** `mems-gN-disksim` to reproduce or carry on work done with the reference
  simulator, `mems-gN` for everything else. Do not mix them in one comparison: the pipeline alone changes
  means by {fcfs(PIPELINE)}, which is more than any defect.
"""
