"""A drive and its model, as text and as a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledlab.show.document import Document, Drawing, Text
from sledlab.show.palette import BLUE, INK
from sledlab.show.plots import panels
from sledlab.show.presentation import DocumentPresentation
from sledlab.show.wording import pluralize

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from sledlab.show.document import Part
    from sledlab.studies.drive.demerit import DriveValidation


def answer(result: DriveValidation) -> str:
    """A sentence with the demerit figure."""
    return f"demerit figure {result.demerit_ms:.3f} ms"


def brief(result: DriveValidation) -> Sequence[Part]:
    """The parts for a terminal and a notebook."""
    attachment = f", attached as on its measuring host ({result.host})" if result.host else ""
    means = ((name, result.mean_ms(reads=name == "read")) for name in ("read", "write"))
    return [
        Text(f"{result.drive}{attachment}: {pluralize(len(result.reads), 'request')}"),
        Text(answer(result)),
        *(
            Text(f"mean {name:5} {means_ms[0]:.3f} ms measured, {means_ms[1]:.3f} ms simulated")
            for name, means_ms in means
            if means_ms
        ),
    ]


def page(result: DriveValidation) -> Document:
    """The page about a drive and its model."""
    return Document(
        kind="validation",
        title=f"{result.drive}: model and measured drive",
        parts=[*brief(result), Drawing(lambda: service_times(result), "Service times", width="narrow")],
    )


def service_times(result: DriveValidation) -> Figure:
    """Measured and simulated distributions of service times, of reads and of writes."""
    kinds = [(title, reads) for title, reads in (("reads", True), ("writes", False)) if reads in result.reads]
    figure, all_axes = panels(len(kinds), 0.3 + 2.8 * len(kinds))
    for (title, reads), axes in zip(kinds, all_axes, strict=True):
        for label, times, color in (
            ("measured", result.measured_ns, INK),
            (result.drive, result.simulated_ns, BLUE),
        ):
            times_ms = sorted(
                time / 1e6 for time, is_read in zip(times, result.reads, strict=True) if is_read == reads
            )
            shares = [100 * (rank + 1) / len(times_ms) for rank in range(len(times_ms))]
            axes.step(times_ms, shares, where="post", label=label, color=color)
        axes.set_title(f"{len(times_ms):,} {title}")
        axes.set(xlabel="service time, ms", ylabel="requests served by then, %")
        axes.set_xlim(left=0)
        axes.set_ylim(0, 101)
        axes.grid(visible=True)
        axes.legend(frameon=False, loc="lower right")
    figure.suptitle(f"{result.drive}: demerit figure {result.demerit_ms:.3f} ms", x=0.01, ha="left")
    return figure


PRESENTATION = DocumentPresentation(answer=answer, brief=brief, whole=page, figure=service_times)
