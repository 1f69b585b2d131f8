"""A difference in words and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.show.document import Document, Drawing, Grid, Heading, SideBySideParts, Text
from sledlab.show.presentation import DocumentPresentation
from sledlab.show.wording import energy, figure, milliseconds, percent, pluralize
from sledlab.studies.diff import figures

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sledlab.show.document import Part
    from sledlab.studies.diff.difference import Difference


GAINS_TITLE = "Changes of single requests"


EXACT_NOTE = (
    "Percentiles are those of single requests; a run takes its own from a histogram, "
    "which may differ by 0.1 %."
)
"""Note: why a run itself may report another 99 %."""


def title(result: Difference) -> str:
    """Title: the names of both runs."""
    return f"{result.b.name} against {result.a.name}"


def rows(result: Difference) -> list[tuple[str, ...]]:
    """Response times of both runs, and their differences."""
    a, b = result.a.statistics(), result.b.statistics()
    names = {
        "mean": "mean",
        "p50": "median",
        "p90": "90 % within",
        "p99": "99 % within",
        "p999": "99.9 % within",
    }
    return [
        (
            names.get(key, "slowest"),
            figure(a[key]),
            figure(b[key]),
            _format_signed(b[key] - a[key]),
            _change(b[key] / a[key] - 1) if a[key] else "–",
        )
        for key in a
    ]


def _change(share: float) -> str:
    """A change as a percentage with its sign."""
    return f"{'+' if share > 0 else '−' if share < 0 else ''}{percent(abs(share))}"


def percentiles(result: Difference) -> list[tuple[str, str]]:
    """Percentiles of the difference of single requests, in ms."""
    return [(f"{name[1:]} %", _format_signed(value)) for name, value in result.percentiles_ms.items()]


def _format_signed(value: float) -> str:
    """A difference with its sign."""
    return f"{'+' if value > 0 else '−' if value < 0 else ''}{figure(abs(value))}"


def answer(result: Difference) -> str:
    """The answer in a few sentences: mean, shares of faster and slower requests, energy."""
    return " ".join([_mean(result), *_shares(result), *_energy(result), *_caution(result)])


def _mean(result: Difference) -> str:
    a, b = result.a.statistics()["mean"], result.b.statistics()["mean"]
    name, half = result.b.name, result.ci95_half_width_ms
    if result.faster == result.slower == 0:
        same_text = f"all {pluralize(result.requests, 'request')} in exactly the same time"
        return f"{name} and {result.a.name} answer {same_text}, {milliseconds(a)} on average."
    scope = f"over the same {pluralize(result.requests, 'request')}"
    if result.significant is False:
        means_text = f"{milliseconds(b)} and {milliseconds(a)} on average"
        return (
            f"{name} and {result.a.name} do not differ significantly {scope}: {means_text}, a difference of "
            f"{_format_signed(result.mean_ms)} ± {figure(half)} ms at 95 %."
        )
    direction = "faster" if result.mean_ms < 0 else "slower"
    interval_text = f" (± {figure(half)} ms at 95 %)" if half is not None else ""
    change = f"{percent(abs(result.ratio - 1))} {'less' if result.ratio < 1 else 'more'}"
    if result.ratio >= 3:
        change = f"{figure(result.ratio)} times as long"
    gain_text = f"{milliseconds(abs(result.mean_ms))} {direction} on average"
    means_text = f"{milliseconds(b)} instead of {milliseconds(a)}"
    return f"{name} is {gain_text} {scope}{interval_text}: {means_text}, {change}."


def _shares(result: Difference) -> Iterable[str]:
    if result.faster == result.slower == 0:
        return
    p1_text, p25_text, p75_text, p99_text = (
        _format_signed(result.percentiles_ms[name]) for name in ("p1", "p25", "p75", "p99")
    )
    yield (
        f"{percent(result.faster)} of the requests are answered sooner and {percent(result.slower)} later; "
        f"half of them change by {p25_text} to {p75_text} ms, 98 % by {p1_text} to {p99_text} ms."
    )


def _energy(result: Difference) -> Iterable[str]:
    if result.energy_j is None or result.a.energy_j is None:
        return
    if abs(result.energy_j) < 0.001 * result.a.energy_j:
        yield "Both take the same energy."
        return
    direction = "more" if result.energy_j > 0 else "less"
    share = percent(abs(result.energy_j) / result.a.energy_j) if result.a.energy_j else ""
    yield f"It takes {energy(abs(result.energy_j))} ({share}) {direction} energy."


def _caution(result: Difference) -> Iterable[str]:
    overloaded_names = [side.name for side in (result.a, result.b) if side.saturated]
    if overloaded_names:
        names_text = " and ".join(overloaded_names)
        yield f"The queue kept growing in {names_text}: the difference depends on the length of the run."
    elif result.ci95_half_width_ms is None:
        yield "The runs are too short for an interval of the mean at this load."


def settings(result: Difference) -> list[tuple[str, str, str]]:
    """Settings that differ between the runs."""
    return [(key, _plain(a), _plain(b)) for key, (a, b) in result.settings.items()]


def _plain(value: Any) -> str:
    return "–" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _table(result: Difference) -> Grid:
    head = ("response time (ms)", result.a.name, result.b.name, "difference", "change")
    return Grid(head, rows(result))


def brief(result: Difference) -> Sequence[Part]:
    """The parts for a terminal and a notebook."""
    return [
        Heading(title(result), 1),
        _table(result),
        Text(EXACT_NOTE, "quiet"),
        *(Text(f"{key}: {a} → {b}") for key, a, b in settings(result)),
        Text(answer(result)),
    ]


def page(result: Difference) -> Document:
    """The page about a difference."""
    percentile_table = Grid(("share of requests that change by less than", "ms"), percentiles(result))
    settings_table = Grid(("key", result.a.name, result.b.name), settings(result), "left")
    return Document(
        kind="difference",
        title=title(result),
        footer=f"Differences are {result.b.name} minus {result.a.name}, in simulated time. The interval is "
        "by batch means of the differences, which allows for the correlation of successive requests.",
        parts=[
            Text(answer(result), "answer"),
            SideBySideParts(
                [
                    Drawing(
                        lambda: figures.responses(result),
                        "Response times",
                        "Response times",
                        panels=lambda: [figures.response_panel(result)],
                    ),
                    Drawing(lambda: figures.differences(result), GAINS_TITLE, GAINS_TITLE),
                ]
            ),
            Heading("Results"),
            SideBySideParts([_table(result), percentile_table], "tables"),
            Text(EXACT_NOTE, "quiet"),
            Heading("Settings that differ"),
            settings_table if result.settings else Text("None that the runs record."),
        ],
    )


PRESENTATION = DocumentPresentation(answer=answer, brief=brief, whole=page, figure=figures.differences)
