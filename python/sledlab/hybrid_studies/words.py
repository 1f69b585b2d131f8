"""A hybrid study in words: the same sentences on the terminal, in notebooks and in the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledlab import wording
from sledlab.hybrid_studies.configurations import ALL, DISK, KNOWN, MIRROR, NONE
from sledlab.hybrid_studies.rows import size
from sledlab.wording import figure, joined, milliseconds, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sledlab.hybrid_studies.outcome import HybridStudy
    from sledlab.hybrid_studies.tables import Row

SAME = 0.02
"""Means closer than this share of each other count as the same."""


def title(study: HybridStudy) -> str:
    """What ran on what."""
    disk = wording.device_name(study.config)
    return f"{wording.source_name(study.config)} on {disk} with {study.study['front']}"


def answer(study: HybridStudy) -> str:
    """What the study recommends, and what to beware of."""
    said = [overload(study), best(study), mirror(study), best_size(study), best_price(study)]
    return " ".join(text for text in said if text)


def overload(study: HybridStudy) -> str:
    """A warning where a store could not keep up."""
    rows = study.rows["configurations"]
    late = [row["label"] for row in rows if row["saturated"]]
    if not late:
        return ""
    kept = [row["label"] for row in rows if not row["saturated"]]
    who = f"{joined(late)} could not keep up"
    if not kept:
        who = "Nothing could keep up"
    elif len(kept) < len(late):
        who = f"Only {joined(kept)} could keep up"
    return (
        f"{who} with this workload: response times of what did not keep up say how long the run was, and so "
        "do ratios of them. Slow it down to compare, with --set replay.speedup=0.5 for instance."
    )


def _hybrids(study: HybridStudy) -> list[Row]:
    """Those with so much MEMS; a mirror has as much as disk."""
    names = [name for name, each in KNOWN.items() if each.hybrid is not None and name != MIRROR]
    return [row for row in study.rows["configurations"] if row["configuration"] in names]


def fastest(rows: Sequence[Row]) -> Row:
    """The row with the shortest mean response; all are of the same requests."""
    return min(rows, key=lambda row: float(row["mean_ms"]))


def best(study: HybridStudy) -> str:
    """Which hybrid is fastest, and whether MEMS pays at all."""
    hybrids = _hybrids(study)
    if not hybrids:
        return ""
    row = fastest(hybrids)
    at = f"{size(study.study['at_mb'])} of MEMS"
    text = f"With {at}, {row['label']} is the fastest hybrid, {milliseconds(row['mean_ms'])} on average"
    disk = study.of(DISK)
    if disk is None:
        return f"{text}{_of_mems(row)}."
    if row["mean_ms"] > disk["mean_ms"] * (1 - SAME):
        return (
            f"MEMS does not pay here: the best hybrid with {at}, {row['label']}, answers in "
            f"{milliseconds(row['mean_ms'])} on average, the disk alone in {milliseconds(disk['mean_ms'])}."
            f"{_why_not(study)}"
        )
    factor = figure(row["faster_than_disk"], 2)
    than = f"{factor} times as fast as the disk alone ({milliseconds(disk['mean_ms'])})"
    return f"{text}: {than}{_of_mems(row)}."


def mirror(study: HybridStudy) -> str:
    """What a copy of everything on MEMS gives."""
    row = study.of(MIRROR)
    if row is None:
        return ""
    return (
        f"{row['label']}, with all data on MEMS too, answers in {milliseconds(row['mean_ms'])} on average"
        f"{_of_mems(row)}."
    )


def _of_mems(row: Row) -> str:
    """What share of the speed of MEMS alone is reached."""
    if row["share_of_mems"] is None:
        return ""
    return f", with {percent(row['share_of_mems'])} of the speed of MEMS alone"


def _why_not(study: HybridStudy) -> str:
    """A likely reason why MEMS does not pay."""
    requests = study.study["requests"]
    if requests["sequential_share"] > 0.5:
        return (
            f" {percent(requests['sequential_share'])} of the requests go on where the one before ended, and "
            "a disk streams as fast as MEMS; --set hybrid.bypass_kb=1024 lets streams pass."
        )
    return ""


def best_size(study: HybridStudy) -> str:
    """Which segment is best, and how much MEMS is enough."""
    rows = study.rows["sizes"]
    if len(rows) < 2:
        return ""
    at = min(study.study["mems_mb"], key=lambda mb: abs(float(mb) - study.study["at_mb"]))
    mine = fastest([row for row in rows if row["mems_mb"] == at])
    text = ""
    if len(study.study["segments_kb"]) > 1:
        text = (
            f"The best segment at {size(at)} is {mine['segment_kb']} KB, {milliseconds(mine['mean_ms'])} on "
            "average."
        )
    if len(study.study["mems_mb"]) < 2:
        return text
    by_size = [fastest([row for row in rows if row["mems_mb"] == mb]) for mb in study.study["mems_mb"]]
    least = fastest(by_size)
    enough = next(row for row in by_size if row["mean_ms"] <= least["mean_ms"] * (1 + SAME))
    gives = f"segments of {enough['segment_kb']} KB give {milliseconds(enough['mean_ms'])}"
    if enough is by_size[-1]:
        return f"{text} The more MEMS the better: {size(enough['mems_mb'])} with {gives}.".strip()
    return (
        f"{text} More than {size(enough['mems_mb'])} gains less than {percent(SAME)}: there {gives}."
    ).strip()


def best_price(study: HybridStudy) -> str:
    """From which price of memory on MEMS is the better buy."""
    rows = study.rows["prices"]
    if not rows:
        return ""
    wins = [row for row in rows if row["mcd_faster"] > 1 + SAME]
    what = f"{size(study.study['at_mb'])} of MEMS"
    if not wins:
        return (
            f"Even where memory costs {rows[-1]['ratio']:g} times as much as MEMS, the same money in "
            f"non-volatile memory gives a faster store than {what}."
        )
    first = wins[0]
    if first is rows[0] and first["ratio"] <= 1:
        return f"{what} are faster than as much non-volatile memory."
    return (
        f"{what} are the better buy where memory costs {first['ratio']:g} times as much or more: "
        f"{size(first['memory_mb'])} of memory answer in {milliseconds(first['mean_ms'])}, MCD ALL in "
        f"{milliseconds(first['mcd_ms'])}."
    )


def noise(study: HybridStudy) -> str:
    """How far differences can be trusted."""
    count = len(study.study["seeds"])
    if "workload" not in study.config:
        return "Every store had the same trace once: the differences are exact for this trace."
    if count == 1:
        return "One seed: small differences may be chance; --seeds 5 shows which are not."
    return f"Means over {count} seeds; every store had the same requests."


def techniques(study: HybridStudy) -> str:
    """What the techniques save."""
    rows = {row["configuration"]: row for row in study.rows["techniques"]}
    alone = [row for name, row in rows.items() if name not in (ALL, NONE)]
    said = []
    if ALL in rows:
        said.append(f"All together save {percent_signed(rows[ALL]['saved'])} of the mean response.")
    if alone:
        most = max(alone, key=lambda row: float(row["saved"]))
        said.append(f"Of each alone, {most['label']} saves most, {percent_signed(most['saved'])}.")
    return " ".join(said)


def percent_signed(share: float) -> str:
    """A share that may be negative."""
    return f"−{percent(-share)}" if share < 0 else percent(share)


def traffic(study: HybridStudy) -> str:
    """What MEMS keeps from the disk."""
    rows = [row for row in study.rows["traffic"] if row["device"] == "disk"]
    disk = next((row for row in rows if row["configuration"] == DISK), None)
    hybrids = [row for row in rows if KNOWN[row["configuration"]].hybrid is not None]
    if disk is None or not hybrids:
        return ""
    least = min(hybrids, key=_accesses)
    whole = _accesses(disk)
    if not whole or _accesses(least) >= whole:
        return "No hybrid keeps accesses from the disk."
    return (
        f"{least['label']} keeps most from the disk: {percent(1 - _accesses(least) / whole)} of its accesses."
    )


def _accesses(row: Row) -> float:
    return float(row["reads"] + row["writes"])


def replacement(study: HybridStudy) -> str:
    """Which replacement policy to choose, and how far it is from the bound."""
    rows = study.rows["replacement"]
    if not rows:
        return ""
    row = fastest(rows)
    bounds = {each["policy"]: each["hit_ratio"] for each in study.rows["hits"]}
    text = f"Fastest: {row['policy']}, {milliseconds(row['mean_ms'])}."
    slowest = max(rows, key=lambda each: float(each["mean_ms"]))
    if slowest["mean_ms"] <= row["mean_ms"] * (1 + SAME):
        text = f"The policies make no difference beyond {percent(SAME)}."
    return (
        f"{text} Of the segments that the requests touch, {row['policy']} finds "
        f"{percent(bounds[row['policy']])}, Belady's bound is {percent(bounds['belady'])}."
    )


def facts(study: HybridStudy) -> Sequence[tuple[str, str]]:
    """What the study is about, as pairs of a name and a text."""
    said, requests = study.study, study.study["requests"]
    sleds = said["mems_devices"]
    return [
        ("disk", wording.device_name(study.config)),
        ("MEMS", said["front"] + (f", {sleds} of them where it stands alone" if sleds > 1 else "")),
        (
            "requests",
            f"{requests['requests']:,}, {percent(requests['read_share'])} reads, "
            f"{figure(requests['mean_kb'])} KB on average, {figure(requests['footprint_mb'])} MB touched, "
            f"{percent(requests['sequential_share'])} sequential",
        ),
        ("scheduler", str(said["scheduler"]).upper()),
        ("replacement", ", ".join(said["replacement"])),
        ("seeds", ", ".join(map(str, said["seeds"])) if "workload" in study.config else ""),
    ]
