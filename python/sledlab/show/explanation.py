"""Explanation of a request as text: causes of its queue time, parts of its positioning, and energy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledlab.runs.explanation import CACHE, has_model
from sledlab.show import plots
from sledlab.show.document import Document, Drawing, Grid, Heading, Text
from sledlab.show.model_names import scheduler_name, title
from sledlab.show.presentation import DocumentPresentation
from sledlab.show.wording import energy, figure, join_names, milliseconds, percent, pluralize

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.figure import Figure

    from sledlab.runs.explanation import Explanation
    from sledlab.show.document import Part

MAX_DECISIONS = 10
"""Most decisions in a table."""

MECHANICAL = ("mems", "disk")
"""Kinds of devices that position a mechanism."""

NAMES = {
    "overhead": "overhead",
    "positioning": "positioning",
    "seek_x": "seek in x",
    "settle": "settling",
    "seek_y": "seek in y",
    "turnaround": "turnaround",
    "rotation": "rotation",
    "transfer": "transfer",
}
"""Names of the parts of the service time; a disk has one seek."""


def answer(request: Explanation) -> str:
    """Return the explanation in a few sentences."""
    sentences = [
        _outcome(request),
        *_queue_sentences(request),
        *_decision_sentences(request),
        *(
            _cache_sentence(request)
            if request.kind == CACHE
            else [*_positioning(request), *_service_sentences(request)]
        ),
    ]
    return " ".join(sentences)


def _outcome(request: Explanation) -> str:
    """Return a sentence: the request, its response time and its rank."""
    kind = "read" if request.op == "R" else "write"
    response, queue, service = map(
        milliseconds, (request.response_ms, request.wait.total_ms, request.service_ms)
    )
    return (
        f"Request {request.number}, a {kind} of {pluralize(request.blocks, 'block')} at block "
        f"{request.lbn:,}, took {response}, {_rank(request)}: {queue} in the queue and {service} in service."
    )


def _rank(request: Explanation) -> str:
    """Return how the response time compares with those of other requests as text."""
    if not request.slower:
        return f"the longest of {pluralize(request.requests, 'request')}"
    if not request.faster:
        return "the shortest"
    return f"longer than {percent(min(request.faster / request.requests, 0.999))} of the requests"


def _queue_sentences(request: Explanation) -> Iterator[str]:
    """Yield sentences about the time in the queue."""
    wait = request.wait
    if request.kind == CACHE and not wait.total_ms:
        return
    if not wait.total_ms:
        yield "The device was idle, so it did not wait."
        return
    if wait.served_count:
        yield f"It waited {milliseconds(wait.served_ms)} for {_served_requests(request)}."
        if wait.served_count > 1:
            yield f"Request {wait.longest} took the largest part, {milliseconds(wait.longest_ms)}."
    if wait.startup_ms:
        yield f"It waited {milliseconds(wait.startup_ms)} for the start-up of the device, which was parked."
    if wait.delay_ms:
        policy = request.config["power"]["kind"]
        delay = milliseconds(wait.delay_ms)
        yield f"Before, the device stayed parked for {delay}: {policy} delayed the start-up."
    if wait.other_ms:
        yield (
            f"For {milliseconds(wait.other_ms)} of the wait, the device served none of the requests that are "
            f"recorded for it{_other_work(request)}."
        )


def _decision_sentences(request: Explanation) -> Iterator[str]:
    """Yield sentences about the decisions that passed the request over, and its lag in them."""
    decisions = request.decisions
    if decisions is None or not decisions.passed_over:
        return
    count, lags = len(decisions.passed_over), len(decisions.positive_lags_ms)
    scheduler = scheduler_name(request.config)
    cylinder = f"cylinder {decisions.cylinder:,} of {decisions.cylinders:,}"
    place = f"At the edge ({cylinder})" if decisions.is_at_edge else f"On {cylinder}"
    if decisions.median_lag_ms is None:
        yield (
            f"{scheduler} passed it over in {pluralize(count, 'decision')}, never for a request that the "
            "device would have reached sooner."
        )
        return
    lag = milliseconds(decisions.median_lag_ms)
    in_median = " in the median" if lags > 1 else ""
    yield f"{place}, it lagged by {lag}{in_median} in {lags:,} of {pluralize(count, 'decision')}."
    if lags < count:
        others = "the other" if count - lags == 1 else f"the other {count - lags:,}"
        yield f"In {others}, {scheduler} chose a request that the device reached no sooner."


def _decision_table(request: Explanation) -> list[Part]:
    """Return the decisions that passed the request over as a table; of many, the first and the last."""
    if request.decisions is None or not request.decisions.passed_over:
        return []
    rows = request.decisions.passed_over
    shown = (
        rows if len(rows) <= MAX_DECISIONS else [*rows[: MAX_DECISIONS // 2], *rows[-MAX_DECISIONS // 2 :]]
    )
    lines = [
        (
            f"{each.after_ms:,.3f}",
            str(each.chosen),
            *map(figure, (each.chosen_ms, each.own_ms)),
            f"{each.lag_ms:+.3f}".replace("-", "−"),
            f"{each.queued:,}",
        )
        for each in shown
    ]
    note = "Positioning times in ms. Lag: how much later the device would have reached this request."
    if len(rows) > len(shown):
        note += f" The first and the last of {len(rows):,} decisions; --json has all."
    head = ("ms after arrival", "chosen instead", "takes", "this one", "lag", "waiting")
    heading = f"Decisions that passed request {request.number} over"
    return [Heading(heading), Grid(head, lines, "numbers"), Text(note, "quiet")]


def _served_requests(request: Explanation) -> str:
    """Return the requests that were served during the wait as text."""
    wait = request.wait
    groups = []
    if wait.in_service is not None:
        groups.append(f"request {wait.in_service} in service")
    if wait.earlier:
        groups.append(f"{pluralize(wait.earlier, 'request')} that had arrived before it")
    if wait.later:
        scheduler = scheduler_name(request.config)
        groups.append(
            f"{pluralize(wait.later, 'request')} that arrived later and that {scheduler} served first"
        )
    return join_names(groups)


def _other_work(request: Explanation) -> str:
    """Return likely causes of work that belongs to no recorded request as text; empty if there are none."""
    config, causes = request.config, []
    if int(config.get("system", {}).get("devices", 1)) > 1:
        causes.append("its part of requests that are recorded for another device, or a rebuild")
    if has_model(config, "cache"):
        causes.append("destages of the cache")
    if has_model(config, "hybrid"):
        causes.append("fetches and destages of the hybrid")
    if request.kind == "disk":
        causes.append("writes from the buffer of the disk")
    return f": possible causes are {join_names(causes)}" if causes else ""


def _cache_sentence(request: Explanation) -> Iterator[str]:
    """Yield a sentence about a request that a cache answered."""
    yield f"A cache answered it without an access of the device, in {milliseconds(request.service_ms)}."


def _positioning(request: Explanation) -> Iterator[str]:
    """Yield a sentence about the positioning: x against y on a sled, seek and rotation on a disk."""
    parts_ms, total_ms = request.parts_ms, request.parts_ms["positioning"]
    part_names = {"seek_x": "seek", "settle": "settling", "rotation": "rotation"}
    part_texts = [
        f"{name} {milliseconds(parts_ms[part])}" for part, name in part_names.items() if parts_ms[part]
    ]
    if not total_ms:
        if request.kind in MECHANICAL:
            yield "It needed no positioning: the device was at its first block."
    elif request.kind == "mems":
        yield f"Positioning took {milliseconds(total_ms)}{_axes(request)}."
    else:
        separator = ": " if part_texts else ""
        yield f"Positioning took {milliseconds(total_ms)}{separator}{join_names(part_texts or [''])}."


def _axes(request: Explanation) -> str:
    """Return which direction decided the positioning of a sled as text."""
    x = f"x {milliseconds(request.x_ms)} ({_sum_text(request, 'seek_x', 'settle')})"
    y = f"y {milliseconds(request.y_ms)} ({_sum_text(request, 'seek_y', 'turnaround')})"
    if request.x_ms == request.y_ms:
        return f", the same in x and y: {x} and {y}"
    axis, first, second = ("x", x, y) if request.x_ms > request.y_ms else ("y", y, x)
    return f" and was decided by {axis}: {first} against {second}"


def _sum_text(request: Explanation, *parts: str) -> str:
    """Return the parts of one direction in words."""
    names_by_part = {"seek_x": "seek", "settle": "settling", "seek_y": "seek", "turnaround": "turnaround"}
    return " + ".join(f"{names_by_part[name]} {milliseconds(request.parts_ms[name])}" for name in parts)


def _service_sentences(request: Explanation) -> Iterator[str]:
    """Yield sentences about overhead, transfer and energy."""
    overhead, reposition_ms = request.parts_ms["overhead"], request.reposition_ms
    reposition_text = f", {milliseconds(reposition_ms)} of it between rows or tracks" if reposition_ms else ""
    beginning = f"The overhead was {milliseconds(overhead)}, and the" if overhead else "The"
    yield f"{beginning} transfer took {milliseconds(request.parts_ms['transfer'])}{reposition_text}."
    total_uj = sum(request.energy_uj.values())
    names = {"seek": "seek", "access": "access", "startup": "start-up"}
    parts = [f"{names[name]} {energy(value * 1e-6)}" for name, value in request.energy_uj.items() if value]
    parts_text = f": {join_names(parts)}" if len(parts) > 1 else ""
    if total_uj:
        yield f"It used {energy(total_uj * 1e-6)}{parts_text}."


def rows(request: Explanation) -> list[tuple[str, float]]:
    """Return the parts of the response time that are not zero, in ms, by name."""
    wait, is_sled = request.wait, request.kind == "mems"
    names = NAMES if is_sled else {**NAMES, "seek_x": "seek"}
    times_ms = [
        ("in queue: other requests", wait.served_ms),
        ("in queue: delay of the start-up", wait.delay_ms),
        ("in queue: start-up", wait.startup_ms),
        ("in queue: other work", wait.other_ms),
        *(("· " * _is_inner(name) + names[name], request.parts_ms[name]) for name in NAMES),
    ]
    return [(name, value) for name, value in times_ms if value]


def _is_inner(name: str) -> bool:
    """Return whether a part of the service time is a part of the positioning time."""
    return name not in ("overhead", "positioning", "transfer")


def _table(request: Explanation) -> Grid:
    """Return the parts of the response time as a table."""
    response_ms = request.response_ms or 1.0
    lines = [
        (name, figure(value), "" if name.startswith("·") else percent(value / response_ms))
        for name, value in rows(request)
    ]
    return Grid(("part", "ms", "of response"), [*lines, ("response", figure(request.response_ms), "")])


def brief(request: Explanation) -> Sequence[Part]:
    """Return the parts for a terminal and a notebook."""
    heading = Heading(title(request.config), 1, scheduler_name(request.config))
    return [heading, Text(answer(request)), _table(request), *_decision_table(request)]


def page(request: Explanation) -> Document:
    """Return the page."""
    drawing = Drawing(lambda: draw(request), f"Time of request {request.number}", width="narrow")
    parts: list[Part] = [Text(answer(request), "answer"), drawing, _table(request), *_decision_table(request)]
    heading = f"Request {request.number}: {title(request.config)}"
    return Document("request", heading, parts, "All times are simulated.")


def draw(request: Explanation) -> Figure:
    """Draw the parts of the response time as bars."""
    bars = [(name, value, milliseconds(value), False) for name, value in rows(request)]
    return plots.bars(bars, "time (ms)")


PRESENTATION = DocumentPresentation(answer=answer, brief=brief, whole=page, figure=draw)
