"""A difference in words and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.show.document import Beside, Document, Drawing, Grid, Heading, Text
from sledlab.show.face import DocumentFace
from sledlab.show.wording import counted, energy, figure, milliseconds, percent
from sledlab.studies.diff import figures

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sledlab.show.document import Part
    from sledlab.studies.diff.difference import Difference


GAINS = "What single requests gain and lose"


EXACT = (
    "Percentiles are those of single requests; a run reads its own off a histogram, "
    "and may be 0.1 % beside them."
)
"""Note: why a run itself may report another 99 %."""


def title(found: Difference) -> str:
    """Title: the names of both runs."""
    return f"{found.b.name} against {found.a.name}"


def rows(found: Difference) -> list[tuple[str, ...]]:
    """Response times of both runs, and their differences."""
    a, b = found.a.statistics(), found.b.statistics()
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
            _signed(b[key] - a[key]),
            _change(b[key] / a[key] - 1) if a[key] else "–",
        )
        for key in a
    ]


def _change(share: float) -> str:
    """A change as a percentage with its sign."""
    return f"{'+' if share > 0 else '−' if share < 0 else ''}{percent(abs(share))}"


def percentiles(found: Difference) -> list[tuple[str, str]]:
    """Percentiles of the difference of single requests, in ms."""
    return [(f"{name[1:]} %", _signed(value)) for name, value in found.percentiles_ms.items()]


def _signed(value: float) -> str:
    """A difference with its sign."""
    return f"{'+' if value > 0 else '−' if value < 0 else ''}{figure(abs(value))}"


def answer(found: Difference) -> str:
    """The answer in a few sentences: mean, shares of faster and slower requests, energy."""
    return " ".join([_mean(found), *_shares(found), *_energy(found), *_caution(found)])


def _mean(found: Difference) -> str:
    a, b = found.a.statistics()["mean"], found.b.statistics()["mean"]
    who, half = found.b.name, found.ci95_half_width_ms
    if found.faster == found.slower == 0:
        same = f"all {counted(found.requests, 'request')} in exactly the same time"
        return f"{who} and {found.a.name} answer {same}, {milliseconds(a)} on average."
    over = f"over the same {counted(found.requests, 'request')}"
    if found.significant is False:
        both = f"{milliseconds(b)} and {milliseconds(a)} on average"
        return (
            f"{who} and {found.a.name} cannot be told apart {over}: {both}, a difference of "
            f"{_signed(found.mean_ms)} ± {figure(half)} ms at 95 %."
        )
    word = "faster" if found.mean_ms < 0 else "slower"
    sure = f" (± {figure(half)} ms at 95 %)" if half is not None else ""
    change = f"{percent(abs(found.ratio - 1))} {'less' if found.ratio < 1 else 'more'}"
    if found.ratio >= 3:
        change = f"{figure(found.ratio)} times as long"
    gain = f"{milliseconds(abs(found.mean_ms))} {word} on average"
    return f"{who} is {gain} {over}{sure}: {milliseconds(b)} instead of {milliseconds(a)}, {change}."


def _shares(found: Difference) -> Iterable[str]:
    if found.faster == found.slower == 0:
        return
    low, less, more, high = (_signed(found.percentiles_ms[name]) for name in ("p1", "p25", "p75", "p99"))
    yield (
        f"{percent(found.faster)} of the requests are answered sooner and {percent(found.slower)} later; "
        f"half of them change by {less} to {more} ms, 98 % by {low} to {high} ms."
    )


def _energy(found: Difference) -> Iterable[str]:
    if found.energy_j is None or found.a.energy_j is None:
        return
    if abs(found.energy_j) < 0.001 * found.a.energy_j:
        yield "Both take the same energy."
        return
    more = "more" if found.energy_j > 0 else "less"
    share = percent(abs(found.energy_j) / found.a.energy_j) if found.a.energy_j else ""
    yield f"It takes {energy(abs(found.energy_j))} ({share}) {more} energy."


def _caution(found: Difference) -> Iterable[str]:
    grown = [side.name for side in (found.a, found.b) if side.saturated]
    if grown:
        which = " and ".join(grown)
        yield f"The queue kept growing in {which}: the difference depends on the length of the run."
    elif found.ci95_half_width_ms is None:
        yield "There are too few requests for an interval."


def settings(found: Difference) -> list[tuple[str, str, str]]:
    """Settings that differ between the runs."""
    return [(key, _plain(a), _plain(b)) for key, (a, b) in found.settings.items()]


def _plain(value: Any) -> str:
    return "–" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _table(found: Difference) -> Grid:
    head = ("response time (ms)", found.a.name, found.b.name, "difference", "change")
    return Grid(head, rows(found))


def brief(found: Difference) -> Sequence[Part]:
    """The parts for a terminal and a notebook."""
    return [
        Heading(title(found), 1),
        _table(found),
        Text(EXACT, "quiet"),
        *(Text(f"{key}: {a} → {b}") for key, a, b in settings(found)),
        Text(answer(found)),
    ]


def page(found: Difference) -> Document:
    """The page about a difference."""
    changes = Grid(("so many requests change by less than", "ms"), percentiles(found))
    unlike = Grid(("key", found.a.name, found.b.name), settings(found), "left")
    return Document(
        kind="difference",
        title=title(found),
        footer=f"Differences are {found.b.name} minus {found.a.name}, in simulated time. The interval is by "
        "batch means of the differences, which allows for the correlation of successive requests.",
        parts=[
            Text(answer(found), "answer"),
            Beside(
                [
                    Drawing(
                        lambda: figures.responses(found),
                        "Response times",
                        "Response times",
                        panels=lambda: [figures.response_panel(found)],
                    ),
                    Drawing(lambda: figures.differences(found), GAINS, GAINS),
                ]
            ),
            Heading("The numbers"),
            Beside([_table(found), changes], "tables"),
            Text(EXACT, "quiet"),
            Heading("What is set differently"),
            unlike if found.settings else Text("Nothing that the runs tell about."),
        ],
    )


FACE = DocumentFace(answer=answer, brief=brief, whole=page, figure=figures.differences)
