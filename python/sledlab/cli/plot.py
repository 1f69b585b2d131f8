"""`sledlab plot`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from sledlab.cli.options import option
from sledlab.errors import Error
from sledlab.files import check_writable
from sledlab.lazy import later
from sledlab.results import list_in_manifest, result_kind
from sledlab.show import figure_files, terminal

open_results = later("sledlab.studies.saved_results:open")

NAME = "figure"
"""Name of the figure in the directory of the results, without its ending."""


@click.command()
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@option("--x", "x", metavar="KEY", multiple=True, help="Column of the x axis; repeat for a heat map.")
@option("--y", "y", metavar="COLUMN", help="Column of the y axis, such as p99_ms.")
@option("--width", metavar="WIDTH", help="Width: ieee | acm | slides | 3.5in | 89mm  [default: 5.4in]")
@option(
    "--format", "file_format", type=click.Choice(figure_files.FORMATS), help="File format.  [default: svg]"
)
@option("--save", metavar="FILE", help=f"Figure: .svg, .png or .pdf  [default: DIR/{NAME}.svg]")
def plot(
    directory: Path,
    x: tuple[str, ...],
    y: str | None,
    width: str | None,
    file_format: str | None,
    save: str | None,
) -> None:
    """Draw the figure of a run or study from its saved results.

    DIR is a directory that --out wrote. Nothing is run again, and neither traces nor plug-ins are needed.
    With --x or --y, columns of the tables of a study are drawn: a line for each combination of the other
    settings, with 95 % bands where there are several seeds.

    \b
    Examples:
      sledlab plot run
      sledlab plot race --save race.pdf
      sledlab plot race --x speedup --y p99_ms --width ieee --format pdf
      sledlab plot race --x speedup --x scheduler --y energy_j
    """
    file = Path(save) if save is not None else directory / f"{NAME}.{file_format or 'svg'}"
    figure_files.check_name(file)
    if save is not None and file_format is not None and file.suffix.lower() != f".{file_format}":
        raise Error(f"--format {file_format} does not match the name `{file}`", remedy="omit --format")
    if len(x) > 2:
        raise Error("a figure has at most two axes of settings", remedy="use --x at most twice")
    figure = _draw_figure(open_results(directory), x, y, width)
    check_writable(file)
    if save is None:
        list_in_manifest(directory, result_kind(directory), [file.name])
    figure_files.write(figure, file)
    terminal.say(f"figure: {file}")


def _draw_figure(results: Any, x: tuple[str, ...], y: str | None, width: str | None) -> Any:
    """Return the figure of columns, or the default one of the results."""
    if not x and y is None:
        return results.plot(width=width)
    if not hasattr(results, "plot_columns"):
        raise Error(
            "only the tables of a study have columns to draw", remedy="omit --x and --y to draw the run"
        )
    return results.plot_columns(y or results.figure_column, list(x), width=width)
