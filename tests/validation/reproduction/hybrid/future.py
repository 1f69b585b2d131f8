"""What the paper leaves for later: virtual segment managers and a way past the MEMS (section 7)."""

from __future__ import annotations

from ...markdown import percent
from ..claims import Verdict, verdict
from .runs import ALL, BYPASS, DISK, SEGMENT_KB, TITLES, TPCD, VIRTUAL, WORKLOADS, Runs
from .sizes import DEFAULT_MB, best_kb, curve

BYPASS_KB = 256
"""Reads that go on for so long are a stream."""

MANAGED_KB = 8
"""Segments of which virtual managers make groups."""

NEAR_BEST, NEAR_DISK, UNCHANGED = 0.10, 0.05, 0.03


def w_53(runs: Runs) -> Verdict:
    """Virtual managers against the best fixed size."""
    said, above = [], {}
    for workload in WORKLOADS:
        best = best_kb(runs, workload, DEFAULT_MB)
        (row,) = runs.rows(VIRTUAL, workload).values()
        above[workload] = row["mean_ms"] / curve(runs, workload, DEFAULT_MB)[best] - 1
        said.append(f"{TITLES[workload]} {percent(above[workload], 1)} % ({best} KB)")
    ours = (
        f"Groups of segments of {MANAGED_KB} KB, up to 256 KB, against the best of the fixed sizes: "
        f"{', '.join(said)}."
    )
    near = [share <= NEAR_BEST for share in above.values()]
    return verdict(ours, holds=all(near), partly=any(near), why=_far(runs, above))


def _far(runs: Runs, above: dict[str, float]) -> str:
    far = [TITLES[workload] for workload, share in above.items() if share > NEAR_BEST]
    return (
        f"Not near enough: {', '.join(far) or 'none'}. Managers choose how much is fetched; segments stay "
        "as small as they are, with a header each, and what is fetched in one piece reaches the MEMS in "
        "many."
    )


def w_54(runs: Runs) -> Verdict:
    """Streams past the MEMS."""
    rows = {workload: runs.rows(BYPASS, workload)[str(BYPASS_KB)] for workload in WORKLOADS}
    mine = rows[TPCD]
    to_disk = mine["mean_ms"] / runs.row(TPCD, DISK)["mean_ms"] - 1
    changes = {
        workload: row["mean_ms"] / runs.row(workload, ALL)["mean_ms"] - 1
        for workload, row in rows.items()
        if workload != TPCD
    }
    said = ", ".join(f"{TITLES[workload]} {percent(share, 1)} %" for workload, share in changes.items())
    before = runs.row(TPCD, ALL)["mean_ms"] / runs.row(TPCD, DISK)["mean_ms"] - 1
    past = mine["hybrid_bypassed"] / mine["requests"]
    fetched = mine["hybrid_back_reads"] - mine["hybrid_bypassed"]
    ours = (
        f"Streams from {BYPASS_KB} KB on go past: TPCD {percent(to_disk, 1)} % against DISK, without that "
        f"{percent(before, 1)} %. The others change: {said}."
    )
    why = (
        f"{100 * past:.0f} % of the reads of TPCD go past. What does not look like a stream, index probes "
        f"above all, still fetches {fetched:,} segments of {SEGMENT_KB[TPCD]} KB, and reads of scans that "
        "meet one of those stay with the MEMS, since it may hold what is newer."
    )
    still = all(abs(share) <= UNCHANGED for share in changes.values())
    return verdict(
        ours,
        holds=to_disk <= NEAR_DISK and still,
        partly=still and to_disk < before,
        why=why,
    )


CLAIMS = {"W-53": w_53, "W-54": w_54}
