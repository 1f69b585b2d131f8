"""`sledlab view`."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sledlab.cli.completion import experiment_or_file
from sledlab.cli.help import GroupedHelp
from sledlab.cli.options import options, request_source, sort_options
from sledlab.cli.study_file import refuse_study
from sledlab.errors import Error
from sledlab.files import check_writable
from sledlab.lazy import later
from sledlab.runs.options import Option, SimulateOptions, declared_options
from sledlab.show import terminal

if TYPE_CHECKING:
    from sledlab.show.view import View

make = later("sledlab.show.view:view")
open_in_browser = later("sledlab.show.view:open_page")

OUTPUT = {
    "around": Option("Place at which the page opens: start | slowest | N, a request.", "WHERE", "start"),
    "save": Option("The page, .html.", "FILE", "view.html"),
    "opened": Option("Open it in the browser; without --save, as a temporary file.", flag="open", read=bool),
}


@click.command(cls=GroupedHelp)
@click.argument("experiment", required=False, shell_complete=experiment_or_file)
@options({**sort_options(declared_options(SimulateOptions)), **OUTPUT})
def view(
    experiment: str | None,
    device: str | None,
    around: str | None,
    save: str | None,
    opened: bool | None,
    **flags: Any,
) -> None:
    """Open the laboratory: the simulator in one offline page of the browser.

    The page shows every movement of the sled and every choice of the scheduler, and compares schedulers on
    the same requests. EXPERIMENT is a TOML file, the name of an experiment or a directory of a run
    (--out); options override it. Default: an example.

    \b
    Examples:
      sledlab view --save laboratory.html
      sledlab view --device mems-g2 --trace app.csv --around slowest
      sledlab view run --open
    """
    if experiment is not None and not Path(experiment).is_dir():
        refuse_study(experiment)
    path = Path(save or (tempfile.mkdtemp(prefix="sledlab-") + "/view.html" if opened else "view.html"))
    if path.suffix.lower() not in (".html", ".htm"):
        raise Error(f"unknown output format of `{path}`", remedy="use a name that ends in .html")
    check_writable(path)
    run_options = {name: flags[name] for name in declared_options(SimulateOptions) if flags[name]}
    page: View = make(
        request_source(flags), device, experiment=experiment, around=_place(around), **run_options
    )
    page.write(path)
    terminal.say(f"page: {path}")
    if opened and not open_in_browser(path):
        terminal.note(f"no browser was found: open {path.resolve()}")


def _place(around: str | None) -> Any:
    """Return the place at which the page opens, a request as a number."""
    return int(around) if around is not None and around.isdecimal() else around or "start"
