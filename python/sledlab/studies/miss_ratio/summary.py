"""Miss-ratio curves in sentences, tables and a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledlab.show.document import Document, Drawing, Facts, Grid, Heading, Text
from sledlab.show.presentation import DocumentPresentation
from sledlab.show.ranking import Ranking
from sledlab.show.wording import figure, join_names, mark_overloaded, milliseconds, percent, share
from sledlab.studies.miss_ratio import figures
from sledlab.studies.miss_ratio.result import every_nth
from sledlab.studies.miss_ratio.sampling import LRU
from sledlab.traces.hits import BELADY
from sledlab.traces.samples import trace_label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sledlab.show.document import Part
    from sledlab.studies.miss_ratio.result import CurvePoint, MissRatioCurves, ResponsePoint

SHOWN_SIZES = 6
"""Number of sizes in the table of a terminal."""

ANSWERED_SHARE = 0.1
"""The answer compares policies at the size nearest to this share of the segments used."""

LEVEL = 0.05
"""More cache does not pay if it lowers the mean response time by less than this share."""


def answer(result: MissRatioCurves) -> str:
    """Return which policy misses least, and from which size on more cache does not pay."""
    return " ".join(filter(None, (_best_policy(result), _sample_sentence(result), *_enough_cache(result))))


def _best_policy(result: MissRatioCurves) -> str:
    """A sentence: misses of the best policy at a tenth of the segments, of LRU, and the bound."""
    if not result.uses:
        return "The trace uses no segment."
    room = min(
        (point.room for point in result.points), key=lambda each: abs(each - ANSWERED_SHARE * result.segments)
    )
    points = {point.policy: point for point in result.points if point.room == room}
    ranking = Ranking.of(
        [point for point in points.values() if point.policy != BELADY], lambda p: p.miss_ratio
    )
    if not ranking:
        return ""
    best = ranking.first
    least = ranking.values[0]
    level = [
        point.policy
        for point, value in zip(ranking, ranking.values, strict=True)
        if value - least <= point.error + best.error
    ]
    verb = "misses" if len(level) == 1 else "miss"
    texts = [f"{join_names(level)} {verb} least, {_misses(best)} of the uses"]
    if LRU in points and LRU not in level:
        texts.append(f"lru {_misses(points[LRU])}")
    if BELADY in points:
        texts.append(f"no policy misses fewer than {_misses(points[BELADY])} (belady)")
    sentence = (
        f"With {_mb(best.cache_mb)}, {percent(min(1.0, room / result.segments))} of the segments used, "
        f"{'; '.join(texts)}."
    )
    if result.admit == "all":
        return f"{sentence} First uses, {percent(result.segments / result.uses)}, miss at every size."
    if best.read_miss_ratio is None:
        return sentence
    return f"{sentence} Of the uses by reads, {share(1 - best.read_miss_ratio)} hit with {best.policy}."


def _misses(point: CurvePoint) -> str:
    text = share(point.miss_ratio)
    return f"{text} ± {point.error * 100:.1f}" if point.error else text


def _sample_sentence(result: MissRatioCurves) -> str:
    """A sentence: what is exact, and the largest error of the rest."""
    largest = max((point.error for point in result.points), default=0.0)
    if not largest:
        return ""
    return (
        f"lru is exact; the others are estimated from a sample of {percent(result.sampled_share)} of the "
        f"segments, or more for small caches, within {largest * 100:.1f} percentage points at every size."
    )


def _enough_cache(result: MissRatioCurves) -> list[str]:
    """A sentence for each size from which more cache does not pay, with the policies for which this is so."""
    largest: dict[str, ResponsePoint] = {point.policy: point for point in result.simulated if point.policy}
    groups: dict[tuple[float, bool], list[ResponsePoint]] = {}
    for policy, last in largest.items():
        enough = next(
            point
            for point in result.simulated
            if point.policy == policy
            and point.mean_ms <= last.mean_ms * (1 + LEVEL)
            and point.saturated <= last.saturated
        )
        groups.setdefault((enough.cache_mb, last.saturated), []).append(enough)
    return [_enough_sentence(result, points) for points in groups.values()]


def _enough_sentence(result: MissRatioCurves, points: Sequence[ResponsePoint]) -> str:
    names, point = join_names([each.policy for each in points]), Ranking.of(points, lambda p: p.mean_ms).first
    of_policy = f" with {point.policy}" if len(points) > 1 else ""
    size, is_largest = _mb(point.cache_mb), point.cache_mb == result.simulated[-1].cache_mb
    if point.saturated:
        return f"{result.device} is overloaded behind all caches with {names}, also of {size}."
    extent = f"more cache pays up to {size}" if is_largest else f"more than {size} of cache does not pay"
    return (
        f"In front of {result.device} with {names}, {extent}: the mean response time is "
        f"{milliseconds(point.mean_ms)}{of_policy}, the device is busy for {percent(point.utilization)} of "
        "the time."
    )


def _mb(value: float) -> str:
    return f"{figure(value)} MB"


def brief(result: MissRatioCurves) -> Sequence[Part]:
    """Return the parts for a terminal and a notebook."""
    entering = "" if result.admit == "all" else f", which only {result.admit} enter"
    head = (
        f"{trace_label(result.trace)}: {result.uses:,} uses of {result.segments:,} segments of "
        f"{result.segment_kb:g} KB, {_mb(result.footprint_mb)}. Misses by size of the cache{entering}:"
    )
    return [Text(head), *_curves(result, SHOWN_SIZES), *_responses(result), Text(answer(result))]


def _curves(result: MissRatioCurves, count: int) -> list[Part]:
    """The table of miss ratios, a row for each policy, at some of the sizes."""
    sizes = list(dict.fromkeys((point.room, point.cache_mb) for point in result.points))
    shown = every_nth(sizes, count)
    rows = [
        (policy, *(_misses(point) for point in result.curve(policy) if (point.room, point.cache_mb) in shown))
        for policy in result.policies
    ]
    return [Grid(("policy", *(_mb(mb) for _, mb in shown)), rows)] if shown else []


def _responses(result: MissRatioCurves) -> list[Part]:
    """The table of simulated caches."""
    if not result.simulated:
        return []
    head = ("policy", "cache (MB)", "mean", "reads", "writes", "99 %", f"{result.device} busy")
    note = Text("times in ms; * the queue kept growing, so times depend on the length of the trace", "quiet")
    return [
        Heading(f"In front of {result.device}"),
        Grid(head, [_response_cells(point) for point in result.simulated], has_groups=True),
        *([note] if any(point.saturated for point in result.simulated) else []),
    ]


def _response_cells(point: ResponsePoint) -> tuple[str, ...]:
    times_ms = (point.mean_ms, point.read_mean_ms, point.write_mean_ms, point.p99_ms)
    size = figure(point.cache_mb) if point.policy else "none"
    return (
        point.policy or "–",
        mark_overloaded(size, saturated=point.saturated),
        *(figure(each) for each in times_ms),
        percent(point.utilization),
    )


def page(result: MissRatioCurves) -> Document:
    """Return the page about the curves."""
    kinds = ["misses", "reads", "writes", *(figures.RESPONSES if result.simulated else ())]
    drawings = [
        Drawing(
            lambda kind=kind: figures.draw(result, kind),  # type: ignore[misc]
            figures.panel(result, kind).y_name,
            panels=lambda kind=kind: [figures.panel(result, kind)],  # type: ignore[misc]
        )
        for kind in kinds
        if any(value is not None for series in figures.panel(result, kind).series for value in series.values)
    ]
    facts = [
        ("trace", result.trace),
        ("segments", f"{result.segments:,} of {result.segment_kb:g} KB, {_mb(result.footprint_mb)}"),
        ("uses", f"{result.uses:,}"),
        ("admitted requests", result.admit),
        (
            "sample",
            "none" if result.sampled_share == 1 else f"{percent(result.sampled_share)} of the segments",
        ),
    ]
    return Document(
        kind="miss-ratio curves",
        title=f"Miss-ratio curves of {trace_label(result.trace)}",
        parts=[
            Text(answer(result), "answer"),
            *drawings,
            *_curves(result, 10),
            *_responses(result),
            Facts(facts),
        ],
    )


PRESENTATION = DocumentPresentation(answer=answer, brief=brief, whole=page, figure=figures.draw)
