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
from sledlab.errors import Error, unknown
from sledlab.lazy import later
from sledlab.runs.options import Option
from sledlab.runs.parsing import words as word_list
from sledlab.show import terminal

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from sledlab.reproduction.figure import Figure
    from sledlab.reproduction.verdicts import Claim

reproduce_experiments = later("sledlab.reproduction.run:reproduce")
find_target = later("sledlab.reproduction.run:find_target")
figures = later("sledlab.reproduction.figure:figures")
claims = later("sledlab.reproduction.verdicts:claims")
figure_claims = later("sledlab.reproduction.verdicts:figure_claims")
summary = later("sledlab.reproduction.summary")
Columns = later("sledlab.show.columns:Columns")
assumption = later("sledlab.reproduction.assumption")

PAPERS = ("hong2006", "wang2005", "lee2009", "lin", "chiu2004")
"""Keys of `sledlab.reproduction.papers.PAPERS`, which takes longer to import."""


SCHEDULERS = Option("Compare these schedulers instead of those of the paper.", "A,B", read=word_list)


def complete_name(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete a word to names of figures and claims."""
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
    """List printed numbers, figures and claims by outcome.

    Claims are listed with `--paper` or `--outcome`.
    """
    outcomes = dict.fromkeys(each.outcome for each in claims().values())
    if outcome not in (None, *outcomes):
        raise unknown("outcome", str(outcome), list(outcomes))
    selected_figures = [
        each for each in figures().values() if paper in (None, each.paper) and outcome is None
    ]
    selected_claims = [
        each for each in claims().values() if paper in (None, each.paper) and outcome in (None, each.outcome)
    ]
    if as_json:
        show_json(
            {
                "figures": [_figure_to_dict(each) for each in selected_figures],
                "claims": [asdict(each) for each in selected_claims],
            }
        )
        return
    if outcome is None:
        columns, rows = summary.number_counts([paper] if paper else PAPERS)
        show_table(columns, rows, columns[1:])
        show_table(("figure", "outcomes of its claims", "shows"), map(summary.figure_line, selected_figures))
    if paper or outcome:
        show_table(("claim", "outcome", "says"), map(summary.claim_line, selected_claims))
    else:
        terminal.say('`--paper lin` or `--outcome "not met"` lists claims.')


@reproduce.command("show")
@click.argument("name", shell_complete=complete_name)
@json_option
def reproduce_show(name: str, *, as_json: bool) -> None:
    """Show a figure or a claim: values, verdict and command."""
    target = find_target(name)
    if as_json:
        show_json(_figure_to_dict(target) if hasattr(target, "panels") else _claim_to_dict(target))
        return
    if hasattr(target, "panels"):
        _show_text(summary.figure_text(target))
        return
    _show_text(summary.claim_head(target))
    if target.numbers:
        show_table(summary.NUMBER_COLUMNS, summary.number_rows(target))
    _show_text(f"Measured   {target.ours}")
    for number_table in target.tables:
        _show_text(f"\n{number_table.title}")
        show_table(number_table.columns, number_table.rows)
    if reasons := summary.claim_reasons(target):
        _show_text(reasons)
    if target.sensitivity_sweeps:
        columns = range(len(summary.SWEEP_COLUMNS))
        table = Columns(summary.SWEEP_COLUMNS, summary.sweep_rows(target), {*columns}, {*columns})
        terminal.show(table.print)
        if note := summary.sweep_note(target):
            _show_text(note)
    _show_text(summary.claim_instructions(target))


@reproduce.command("assumptions")
@click.argument("paper", type=click.Choice(PAPERS), required=False)
@option("--toml", "as_toml", is_flag=True, help="Print the file of a set, to be changed and used with `run`.")
@json_option
def reproduce_assumptions(paper: str | None, *, as_toml: bool, as_json: bool) -> None:
    """Show the assumptions of a paper, and claims they decide.

    Without PAPER, counts the assumptions of every paper by what they rest on.

    \b
    Examples:
      sledlab reproduce assumptions lin
      sledlab reproduce assumptions lee2009 --toml > mine.toml
      sledlab reproduce run lee2009-figure-4 --quick --assumptions mine.toml --out mine
    """
    if as_toml:
        if paper is None:
            raise Error("`--toml` prints one set", remedy=f"name a paper: {', '.join(PAPERS)}")
        terminal.say_file(assumption.file_text(paper))
    elif as_json:
        sets = {name: assumption.assumptions(name) for name in PAPERS if paper in (None, name)}
        show_json({name: [asdict(each) for each in entries] for name, entries in sets.items()})
    elif paper is None:
        show_table(("paper", "assumptions", *assumption.MARKS), summary.assumption_counts())
    else:
        _show_text(summary.assumption_set(paper))


@reproduce.command("run")
@click.argument("name", shell_complete=complete_name)
@option(
    "--device",
    metavar="NAME|FILE",
    help="Use this device instead of the paper's.",
    shell_complete=model_completer("device"),
)
@options({"scheduler": SCHEDULERS, **SETTINGS})
@option(
    "--assumptions",
    metavar="FILE|default|old",
    default="default",
    help="Set of assumptions: the paper's, that of a file, or the values before there was one.",
)
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
    reproduction = reproduce_experiments(name, **option_values)
    files = reproduction.write()
    if as_json:
        show_json(
            {
                "name": reproduction.name,
                "device": reproduction.changes.device_name,
                "settings": reproduction.changes.settings,
                "shortened": reproduction.shortened,
                "files": [str(file) for file in files],
                "values": {
                    name: [asdict(each) for each in panels] for name, panels in reproduction.values().items()
                },
                "full_run": {"claims": [_claim_to_dict(each) for each in reproduction.claims]},
            }
        )
        return
    show_table(("claim", "verdict (full run)", "says"), summary.verdicts(reproduction.claims))
    terminal.say_sentences(summary.FULL_RUN)
    for sentence in dict.fromkeys(
        sentence
        for figure in reproduction.figures or (None,)
        for sentence in reproduction.changes.sentences(figure)
    ):
        terminal.say_sentences(sentence)
    if reproduction.shortened:
        terminal.say_sentences(f"This run is shortened: {reproduction.shortened}.")
    for file in files:
        terminal.note(f"wrote {file}")


def _show_text(text: str) -> None:
    """Print a text, wrapped at the width of the terminal."""
    terminal.say_sentences(text)


def _figure_to_dict(figure: Figure) -> dict[str, Any]:
    """A figure as plain data."""
    return {
        "name": figure.name,
        "title": figure.title,
        "section": figure.section,
        "experiments": list(dict.fromkeys(each.experiment for each in figure.runs)),
        "claims": {each.id: each.outcome for each in figure_claims(figure)},
        "printed": list(dict.fromkeys(each.text for panel in figure.panels for each in panel.printed)),
    }


def _claim_to_dict(claim: Claim) -> dict[str, Any]:
    """A claim as plain data."""
    return {**asdict(claim), "figures": [each.name for each in claim.figures]}
