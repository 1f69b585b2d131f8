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
from sledlab.show.widths import SIZE

open_results = later("sledlab.studies.saved_results:open")

DEFAULT_WIDTH = f"{SIZE[0]}in"

NAME = "figure"
"""Name of the figure in the directory of the results, without its ending."""


@click.command()
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@option("--panel", metavar="NAME", help="Panel to draw, listed above.  [default: the first]")
@option("--x", "x", metavar="KEY", multiple=True, help="Column of the x axis; repeat for a heat map.")
@option("--y", "y", metavar="COLUMN", help="Column of the y axis, such as p99_ms.")
@option("--where", metavar="KEY=VALUE", multiple=True, help="Draw only rows with this value; repeatable.")
@option("--width", metavar="WIDTH", help="Width: ieee | acm | slides | 3.5in | 89mm  [default: 5.4in]")
@option(
    "--format", "file_format", type=click.Choice(figure_files.FORMATS), help="File format.  [default: svg]"
)
@option("--save", metavar="FILE", help=f"Figure: .svg, .png or .pdf  [default: DIR/{NAME}.svg]")
def plot(
    directory: Path,
    panel: str | None,
    x: tuple[str, ...],
    y: str | None,
    where: tuple[str, ...],
    width: str | None,
    file_format: str | None,
    save: str | None,
) -> None:
    """Draw the figure of a run or study from its saved results.

    DIR is a directory that --out wrote. Nothing is run again, and neither traces nor plug-ins are needed.
    A figure is at most 4 inches high, unless it has many rows.

    With --x or --y, columns of the tables of a study are drawn, or of the requests of a run. A study has a
    line for each combination of the other settings, with 95 % bands where there are several seeds. Two --x
    make a heat map with the best cell framed, and small multiples where one more setting varies.

    \b
    Panels:
      simulate      overview, cdf, response, parts, energy, throughput, queue
      compare       mean_ms or another column of curves, grid, effects;
                    of devices: percentiles, cost, energy, or a column of curves
      power         states, timeouts, startup, loads, policies, strategies,
                    battery; another device by --where device=NAME
      hybrid        configurations, sizes, techniques, traffic, replacement,
                    prices
      hybrid tune   runs
      smart         times, scaling, phases, pareto
      smart size    times, saved
      smart replay  phases, timeline, traffic, what_if, energy
      fleet         volumes, goals
      trace hits    misses, reads, writes, bytes, requests, destages,
                    response, load

    \b
    Examples:
      sledlab plot run
      sledlab plot race --save race.pdf
      sledlab plot race --x speedup --y p99_ms --width ieee --format pdf
      sledlab plot race --x speedup --x scheduler --y energy_j
      sledlab plot tips --x device.active_tips --y p99_ms --where speedup=2
      sledlab plot run --panel response --width 3.3in
      sledlab plot run --x lbn --y positioning_ms --where op=R
    """
    file = Path(save) if save is not None else directory / f"{NAME}.{file_format or 'svg'}"
    figure_files.check_name(file)
    if save is not None and file_format is not None and file.suffix.lower() != f".{file_format}":
        raise Error(f"--format {file_format} does not match the name `{file}`", remedy="omit --format")
    if len(x) > 2:
        raise Error("a figure has at most two axes of settings", remedy="use --x at most twice")
    conditions = dict(_split_condition(each) for each in where)
    figure = _draw_figure(open_results(directory), panel, x, y, conditions, width or DEFAULT_WIDTH)
    check_writable(file)
    if save is None:
        list_in_manifest(directory, result_kind(directory), [file.name])
    figure_files.write(figure, file)
    terminal.say(f"figure: {file}")


def _split_condition(text: str) -> tuple[str, str]:
    """Return key and value of a condition."""
    key, sign, value = text.partition("=")
    if not sign or not key:
        raise Error(f"`{text}` is not KEY=VALUE", remedy="give a column and its value: --where speedup=2")
    return key, value


def _draw_figure(
    results: Any, panel: str | None, x: tuple[str, ...], y: str | None, where: dict[str, str], width: str
) -> Any:
    """Return the figure of columns, or a panel of the results."""
    if not x and y is None:
        if where and not hasattr(results, "plot_options"):
            raise Error("these results are drawn as a whole", remedy="omit --where")
        options = results.plot_options(where) if where else {}
        return results.plot(*([panel] if panel else []), width=width, **options)
    if panel is not None:
        raise Error("--panel draws a figure of its own", remedy="omit --panel, or --x and --y")
    if not hasattr(results, "plot_columns"):
        raise Error(
            "only the tables of a study and the requests of a run have columns to draw",
            remedy="omit --x and --y",
        )
    return results.plot_columns(y or results.figure_column, list(x), width=width, where=where)
