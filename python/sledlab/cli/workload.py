"""`sledlab workload`: list and show generators, and compare stand-ins with published statistics."""

from __future__ import annotations

import click

from sledlab.cli.catalogue import command
from sledlab.cli.options import json_option, seed_option, show_json, show_table
from sledlab.lazy import later
from sledlab.show import terminal

words = later("sledlab.studies.calibration.words")
calibrate = later("sledlab.studies.calibration:calibrate")

workload = command("workload", "List, show and calibrate")


@workload.command("calibrate")
@click.argument("name")
@seed_option
@json_option
def workload_calibrate(name: str, seed: int, *, as_json: bool) -> int:
    """Compare a stand-in with what was published of the trace.

    NAME is cello, cello-12h, hplajw, hplajw-2h, snake, tpcd or tpcc. The exit code is 1 where a
    published number is missed by more than 3 %.
    """
    found = calibrate(name, seed)
    if as_json:
        show_json(found.to_dict())
    else:
        show_table(words.HEAD, [words.cells(row) for row in found.rows], right=words.HEAD[1:4])
        terminal.say(words.choices(found))
        terminal.say(words.answer(found))
    return 0 if found.passes else 1
