"""`sledlab validate`."""

from __future__ import annotations

import json

import click

from sledlab.cli.group import SuggestingGroup
from sledlab.cli.options import REPLACE, json_option, option, options, show_json
from sledlab.files import drafted
from sledlab.lazy import later
from sledlab.results import leaves, results
from sledlab.runs.options import Option
from sledlab.runs.recording import SUMMARY
from sledlab.show import terminal
from sledlab.shown import face_of

placed = later("sledlab.model.lines:placed")
validate_drive = later("sledlab.studies.drive:validate_drive")

KIND = "drive"
PLOT = "service_times.png"


@click.group(cls=SuggestingGroup)
def validate() -> None:
    """Hold models to what was measured."""


@validate.command()
@click.argument("name", metavar="NAME|FILE.toml")
@option(
    "--measured",
    metavar="FILE",
    required=True,
    help="Measured stream: `R|W action lbn blocks service_us gap_us` a line, plain or compressed.",
)
@option(
    "--host",
    metavar="NAME",
    help="Host whose bus the drive is on; none for its own  [default: the one it was measured on]",
)
@options({"out": Option("Directory for summary and plot.", "DIR"), **REPLACE})
@json_option
def drive(
    name: str, measured: str, host: str | None, out: str | None, replace: bool | None, *, as_json: bool
) -> None:
    """Compare a disk with the drive it stands for.

    Replays a stream of requests whose service times were measured on the drive, one at a time and as far
    apart as they were, and prints the demerit figure: the root mean square of the horizontal distance between
    the measured and the simulated distribution of service times.

    \b
    Examples:
      sledlab validate drive hp-c2247a --measured hp_c2247a.trace.gz
      sledlab validate drive mine.toml --measured mine.trace --host none --out validation
    """
    place = results(out, KIND, replace=bool(replace))
    with placed(None, {"device": name}):
        found = validate_drive(name, measured, host=host)
    if place is not None:
        leaves(place, KIND, [SUMMARY, PLOT])
        with drafted(place / SUMMARY) as draft:
            draft.write_text(json.dumps(found.to_dict(), indent=2) + "\n", encoding="utf-8")
        with drafted(place / PLOT) as draft:
            found.plot().savefig(draft, dpi=150)
    if as_json:
        show_json(found.to_dict())
        return
    face_of(found).show(found)
    if place is not None:
        terminal.say(f"plot: {place / PLOT}")
