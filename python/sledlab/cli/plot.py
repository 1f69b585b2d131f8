"""`sledlab plot`."""

from __future__ import annotations

from pathlib import Path

import click

from sledlab.cli.options import option
from sledlab.errors import Error
from sledlab.files import atomic_write, check_writable
from sledlab.lazy import later
from sledlab.results import list_in_manifest, result_kind
from sledlab.show import terminal

open_results = later("sledlab.studies.saved_results:open")
style = later("sledlab.show.plots:style")

ENDINGS = (".svg", ".png", ".pdf")
"""Endings of the names of figures."""

FIGURE = "figure.svg"
"""Name of the figure in the directory of the results, by default."""


@click.command()
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@option("--save", metavar="FILE", help=f"Figure: .svg, .png or .pdf  [default: DIR/{FIGURE}]")
def plot(directory: Path, save: str | None) -> None:
    """Draw the figure of a run or study from its saved results.

    DIR is a directory that --out wrote. Nothing is run again, and neither traces nor plug-ins are needed.

    \b
    Examples:
      sledlab plot run
      sledlab plot race --save race.pdf
    """
    file = Path(save) if save is not None else directory / FIGURE
    if file.suffix.lower() not in ENDINGS:
        raise Error(f"unknown output format of `{file}`", remedy=f"end the name in {', '.join(ENDINGS)}")
    figure = open_results(directory).plot()
    check_writable(file)
    if save is None:
        list_in_manifest(directory, result_kind(directory), [FIGURE])
    with style(), atomic_write(file) as draft:
        figure.savefig(draft, dpi=200)
    terminal.say(f"figure: {file}")
