"""`sledlab explain`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from sledlab.cli.options import json_option, show_json, whole_number
from sledlab.display import find_presentation
from sledlab.errors import Error
from sledlab.lazy import later
from sledlab.show import terminal

if TYPE_CHECKING:
    from sledlab.runs.explanation import Explanation

open_results = later("sledlab.studies.saved_results:open")


@click.command()
@click.argument("directory", metavar="DIR", type=click.Path())
@click.argument("number", metavar="[N]", required=False, type=whole_number(0))
@json_option
def explain(directory: str, number: int | None, *, as_json: bool) -> None:
    """Explain the response time of one request of a run.

    Shows what the request waited for, the decisions that passed it over and its lag in them, the
    parts of its service time, and its energy. DIR is a directory that
    `sledlab simulate --out` wrote; N is the column `id` of its requests.parquet. Default: the slowest
    request.

    \b
    Examples:
      sledlab explain run
      sledlab explain run 1330 --json
    """
    run = open_results(directory)
    if not hasattr(run, "explain"):
        raise Error(
            f"`{directory}` is not the result of `sledlab simulate`",
            remedy="specify the --out directory of a run",
        )
    explanation: Explanation = run.explain(number)
    if as_json:
        show_json(explanation.to_dict())
    else:
        find_presentation(explanation).show(explanation)
        terminal.note(f"see it: sledlab view {directory} --around {explanation.number}")
