"""`sledlab reproduce`: list figures and claims of the papers with their verdicts, and run them again."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from sledlab.cli.completion import items, model_completer
from sledlab.cli.group import SuggestingGroup
from sledlab.cli.options import (
    PLUGINS,
    SETTINGS,
    json_option,
    option,
    options,
    quiet_option,
    show_json,
    show_table,
    whole_number,
)
from sledlab.errors import unknown
from sledlab.lazy import later
from sledlab.runs.options import Option
from sledlab.runs.parsing import words as word_list
from sledlab.show import terminal

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from sledlab.reproduction.figure import Figure
    from sledlab.reproduction.verdicts import Claim

reproduce_experiments = later("sledlab.reproduction.run:reproduce")
found_by = later("sledlab.reproduction.run:find_target")
figures = later("sledlab.reproduction.figure:figures")
claims = later("sledlab.reproduction.verdicts:claims")
claims_of = later("sledlab.reproduction.verdicts:figure_claims")
summary = later("sledlab.reproduction.summary")

PAPERS = ("hong2006", "wang2005", "lee2009", "lin", "chiu2004")
"""Keys of `sledlab.reproduction.papers.PAPERS`, which takes longer to import."""


SCHEDULERS = Option("Compare these schedulers instead of those of the paper.", "A,B", read=word_list)


def names(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Completes a word to names of figures and claims."""
    return items([*figures(), *claims()], incomplete)


@click.group(cls=SuggestingGroup)
def reproduce() -> None:
    """List, show and run figures and claims of the papers again, on devices of yours too.

    Figures show published values next to ours. Verdicts come from full runs on the papers' devices.

    \b
    Examples:
      sledlab reproduce list --paper hong2006 --outcome "not met"
      sledlab reproduce show L-22
      sledlab reproduce run hong2006-figure-9 --quick
      sledlab reproduce run wang2005-figure-6 --quick --device mine.toml --out mine
    """


@reproduce.command("list")
@option("--paper", type=click.Choice(PAPERS), help="Only figures and claims of one paper.")
@option("--outcome", metavar="WORDS", help="Only claims with this verdict, such as `not met`.")
@json_option
def reproduce_list(paper: str | None, outcome: str | None, *, as_json: bool) -> None:
    """List figures and claims with their verdicts."""
    verdicts = dict.fromkeys(each.outcome for each in claims().values())
    if outcome not in (None, *verdicts):
        raise unknown("outcome", str(outcome), list(verdicts))
    shown = [each for each in figures().values() if paper in (None, each.paper) and outcome is None]
    about = [
        each for each in claims().values() if paper in (None, each.paper) and outcome in (None, each.outcome)
    ]
    if as_json:
        show_json({"figures": [_figure(each) for each in shown], "claims": [asdict(each) for each in about]})
        return
    lines = [*map(summary.figure_line, shown), *map(summary.claim_line, about)]
    show_table(("name", "outcome", "shows or says"), lines)


@reproduce.command("show")
@click.argument("name", shell_complete=names)
@json_option
def reproduce_show(name: str, *, as_json: bool) -> None:
    """Show a figure or a claim: values, verdict and command."""
    result = found_by(name)
    if as_json:
        show_json(_figure(result) if hasattr(result, "panels") else _claim(result))
        return
    terminal.show(lambda console: console.print(summary.description(result), markup=False))


@reproduce.command("run")
@click.argument("name", shell_complete=names)
@option(
    "--device",
    metavar="NAME|FILE",
    help="Use this device instead of the paper's.",
    shell_complete=model_completer("device"),
)
@options({"scheduler": SCHEDULERS, **SETTINGS})
@option("--trace", metavar="FILE", help="The recorded trace, where a figure needs one.")
@option("--quick", is_flag=True, help="Shorten the runs: a first picture within a minute or two.")
@option("--limit", metavar="N", type=whole_number(), help="Most requests of a run.")
@option(
    "--parallel", metavar="N", type=whole_number(), help="Runs at the same time  [default: all processors]"
)
@options(PLUGINS)
@option("--out", metavar="DIR", help="Directory for tables and pictures  [default: NAME]")
@quiet_option
@json_option
def reproduce_run(name: str, *, as_json: bool, **option_values: Any) -> None:
    """Run the experiments of a figure or a claim again.

    NAME is one of `sledlab reproduce list`. Draws our values next to the published ones. The same command
    with the same DIR continues an interrupted run and reuses finished runs.

    \b
    Examples:
      sledlab reproduce run lee2009-figure-2 --quick
      sledlab reproduce run W-22 --limit 20000 --out lru
      sledlab reproduce run chiu2004-figure-4 --quick --device mine.toml
      sledlab reproduce run lee2009-figure-2 --quick --set device.spring_factor=0.3 --scheduler sptf,fcfs
    """
    option_values |= {
        "scheduler": option_values["scheduler"] or (),
        "allow_plugins": bool(option_values["allow_plugins"]),
    }
    result = reproduce_experiments(name, **option_values)
    files = result.write()
    if as_json:
        show_json(
            {
                "name": result.name,
                "device": result.changes.device_name,
                "settings": result.changes.settings,
                "shortened": result.shortened,
                "files": [str(file) for file in files],
                "values": {
                    name: [asdict(each) for each in panels] for name, panels in result.values().items()
                },
                "full_run": {"claims": [_claim(each) for each in result.claims]},
            }
        )
        return
    show_table(("claim", "verdict (full run)", "says"), summary.verdicts(result.claims))
    terminal.say(summary.FULL_RUN)
    for text in dict.fromkeys(
        text for figure in result.figures or (None,) for text in result.changes.sentences(figure)
    ):
        terminal.say(text)
    if result.shortened:
        terminal.say(f"This run is shortened: {result.shortened}.")
    for file in files:
        terminal.note(f"wrote {file}")


def _figure(figure: Figure) -> dict[str, Any]:
    """A figure as plain data."""
    return {
        "name": figure.name,
        "title": figure.title,
        "section": figure.section,
        "experiments": list(dict.fromkeys(each.experiment for each in figure.runs)),
        "claims": {each.id: each.outcome for each in claims_of(figure)},
        "printed": list(dict.fromkeys(each.text for panel in figure.panels for each in panel.printed)),
    }


def _claim(claim: Claim) -> dict[str, Any]:
    """A claim as plain data."""
    return {**asdict(claim), "figures": [each.name for each in claim.figures]}
