"""`sledlab diff`."""

from __future__ import annotations

from pathlib import Path

import click

from sledlab.cli.options import json_option, option, show_json, static_option
from sledlab.display import find_presentation
from sledlab.errors import Error
from sledlab.files import check_writable
from sledlab.lazy import later
from sledlab.show import terminal

compute_difference = later("sledlab.studies.diff:diff")


@click.command()
@click.argument("a", type=click.Path())
@click.argument("b", type=click.Path())
@json_option
@option("--save", metavar="FILE", help="Page about the difference, .html.")
@static_option
def diff(a: str, b: str, save: str | None, *, as_json: bool) -> None:
    """Compare two runs of the same requests, request by request.

    A and B are directories that `sledlab simulate --out` left, or tables of requests (.parquet, .csv). The
    interval of the mean difference allows for the correlation of successive requests.

    \b
    Examples:
      sledlab diff run-fcfs run-sptf
      sledlab diff before.parquet after.parquet --json
      sledlab diff run-fcfs run-sptf --save difference.html
    """
    if save is not None:
        if Path(save).suffix.lower() not in (".html", ".htm"):
            raise Error(f"unknown output format of `{save}`", remedy="use a name that ends in .html")
        check_writable(Path(save))
    difference = compute_difference(a, b)
    if save is not None:
        difference.report(save)
    if as_json:
        show_json(difference.to_dict())
        return
    find_presentation(difference).show(difference)
    if save is not None:
        terminal.note(f"report: {save}")
