"""The answer of a hybrid study in words: the same on the terminal, in notebooks and in the report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from sledlab.show.ranking import Ranking
from sledlab.show.wording import (
    join_names,
    milliseconds,
    percent,
    size,
)
from sledlab.studies.stores.configurations import CONFIGURATIONS, DISK, MIRROR, UNCACHED
from sledlab.studies.stores.plan import EQUAL_SHARE
from sledlab.studies.stores.rows import StoreRow, controller_cache_sentence, disk_gains_text
from sledlab.study.axes import depends_on_seed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from sledlab.studies.hybrid.tables import ComparedConfiguration, HybridStudy

    Cells = Mapping[str, Callable[[Any], str]]

R = TypeVar("R", bound=StoreRow)


def answer(study: HybridStudy) -> str:
    """The answer: the controller cache of all stores, warnings, and the store that the study recommends."""
    sentences = [
        controller_cache_sentence(study.config),
        overload(study),
        best(study),
        best_size(study),
        best_price(study),
    ]
    return " ".join(text for text in sentences if text)


def overload(study: HybridStudy) -> str:
    """A warning where a store was overloaded."""
    clause = keep_up_clause({row.label: not row.run.saturated for row in study.configurations})
    if not clause:
        return ""
    return (
        f"{clause} with this workload: response times of overloaded configurations, and their ratios, depend "
        "on the length of the run. To compare them, reduce the load, for example with --speedup 0.5."
    )


def _mean_text(row: StoreRow) -> str:
    """Return the mean response time of a store, with its interval over several seeds."""
    return milliseconds(row.run.mean_ms, row.run.half_ms)


def fastest(rows: Iterable[R]) -> R:
    """The row with the shortest mean response, an overloaded one only if all are."""
    return Ranking.of(rows, lambda row: row.run.mean_ms, lambda row: row.run.saturated).first


def best(study: HybridStudy) -> str:
    """A sentence: the fastest hybrid, and whether MEMS pays at all."""
    hybrids = [row for row in study.configurations if CONFIGURATIONS[row.configuration].hybrid]
    hybrids = [row for row in hybrids if row.configuration != MIRROR]  # a mirror has as much in front as disk
    if not hybrids:
        return ""
    row, disk, size_text = fastest(hybrids), study.find(DISK), front_size(study)
    text = f"With {size_text}, {row.label} is the fastest hybrid, {_mean_text(row)} on average"
    if disk is None:
        return f"{text}{_mems_share_text(study, row)}."
    uncached = study.find(UNCACHED)
    if row.run.mean_ms > disk.run.mean_ms or row.run.is_level(disk.run):
        uncached_text = f" and, without its cache, in {_mean_text(uncached)}" if uncached else ""
        return (
            f"{study.front} does not pay here: the best hybrid with {size_text}, {row.label}, answers in "
            f"{_mean_text(row)} on average, the disk alone in "
            f"{_mean_text(disk)}{uncached_text}.{_no_gain_reason(study)}"
        )
    gains = disk_gains_text(row.run.mean_ms, disk.run.mean_ms, uncached.run.mean_ms if uncached else None)
    return f"{text}: {gains}{_mems_share_text(study, row)}."


def front_size(study: HybridStudy) -> str:
    """The size of the front device of all configurations, in words."""
    return f"{size(study.axes['at_mb'])} of {study.front}"


def _mems_share_text(study: HybridStudy, row: ComparedConfiguration) -> str:
    """The share of the speed of the front device alone that a store reaches, in words."""
    if row.share_of_mems is None:
        return ""
    return f", with {percent(row.share_of_mems)} of the speed of {study.front} alone"


def _no_gain_reason(study: HybridStudy) -> str:
    """A likely reason why MEMS does not pay for these requests."""
    sequential_share = study.axes["requests"]["sequential_share"]
    if sequential_share <= 0.5:
        return ""
    return (
        f" {percent(sequential_share)} of the requests continue at the end of the previous one, and a disk "
        f"streams fast; with --set hybrid.bypass_kb=1024, streams bypass {study.front}."
    )


def best_size(study: HybridStudy) -> str:
    """A sentence: the best size of segments, and the size of MEMS beyond which more gains nothing."""
    rows, sizes = study.sizes, study.axes["mems_mb"]
    if len(rows) < 2:
        return ""
    fastest_by_size = {mb: fastest(row for row in rows if row.mems_mb == mb) for mb in sizes}
    at_mb = min(sizes, key=lambda mb: abs(mb - study.axes["at_mb"]))
    text = ""
    if len(study.axes["segment_kb"]) > 1:
        row = fastest_by_size[at_mb]
        text = f"The best segment at {size(at_mb)} is {row.segment_kb} KB, {_mean_text(row)} on average."
    if len(sizes) < 2:
        return text
    ranking = Ranking.of(fastest_by_size.values(), lambda row: row.run.mean_ms, lambda row: row.run.saturated)
    sufficient = Ranking.of(ranking.within(EQUAL_SHARE), lambda row: row.mems_mb).first
    size_text, segments_text = (
        size(sufficient.mems_mb),
        f"segments of {sufficient.segment_kb} KB give {_mean_text(sufficient)}",
    )
    if sufficient.mems_mb == max(sizes):
        return f"{text} Of these sizes the largest is the fastest: {size_text} with {segments_text}.".strip()
    gain = f"gains {percent(EQUAL_SHARE)} or more"
    return f"{text} No size tried above {size_text} {gain}: there {segments_text}.".strip()


def best_price(study: HybridStudy) -> str:
    """A sentence: the price ratio of memory from which MEMS is the better buy."""
    rows, front_text = study.prices, front_size(study)
    if not rows:
        return ""
    first = next((row for row in rows if row.mcd_faster > 1 + EQUAL_SHARE), None)
    if first is None:
        last = rows[-1]
        comparison = (
            "gives a faster store than"
            if last.mcd_faster < 1 - EQUAL_SHARE
            else f"gives a store as fast, within {percent(EQUAL_SHARE)}, as"
        )
        return (
            f"Even where memory costs {last.ratio:g} times as much as {study.front}, the same money in "
            f"non-volatile memory {comparison} {front_text}."
        )
    if first is rows[0] and first.ratio <= 1:
        return f"{front_text} are faster than as much non-volatile memory."
    higher = [row for row in rows if row.ratio > first.ratio]
    slower = [f"{row.ratio:g}" for row in higher if row.mcd_faster <= 1 + EQUAL_SHARE]
    higher_text = (
        f" and at each higher ratio{f' but {join_names(slower)}' if slower else ''}" if higher else ""
    )
    return (
        f"{front_text} are the better buy where memory costs {first.ratio:g} times as much{higher_text}: "
        f"{size(first.memory_mb)} of memory answer in {_mean_text(first)}, MCD ALL in "
        f"{milliseconds(first.mcd_ms)}."
    )


def noise(study: HybridStudy) -> str:
    """A sentence: how far differences can be trusted."""
    count = len(study.axes["seed"])
    if not depends_on_seed(study.config):
        return "Every store had the same trace once: the differences are exact for this trace."
    if count == 1:
        return "One seed: small differences may be chance; --seed 1..5 shows which are not."
    return f"Means over {count} seeds, ±: half the 95 % interval; every store had the same requests."


def keep_up_clause(kept_up_by_name: Mapping[str, bool]) -> str:
    """Return a clause naming the competitors that kept up or did not, whichever are fewer.

    Examples:
        >>> keep_up_clause({"a": True, "b": False, "c": True}), keep_up_clause({"a": False})
        ('b could not keep up', 'Nothing could keep up')
    """
    sustained, overloaded = (
        [name for name, kept_up in kept_up_by_name.items() if kept_up is is_wanted]
        for is_wanted in (True, False)
    )
    if not overloaded:
        return ""
    if not sustained:
        return "Nothing could keep up"
    return (
        f"Only {join_names(sustained)} could keep up"
        if len(sustained) < len(overloaded)
        else f"{join_names(overloaded)} could not keep up"
    )
