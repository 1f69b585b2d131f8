"""`sledlab check`: a model held to the rules of its kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from sledlab.cli.completion import files, items
from sledlab.cli.options import PLUGINS, option, options, seed_option
from sledlab.model.catalogue import CATALOGUES
from sledlab.model.conformance import KINDS, kept
from sledlab.show import terminal

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def _models(_context: click.Context, _parameter: click.Parameter, word: str) -> list[CompletionItem]:
    """Completes names of models of kinds that have rules, or files."""
    return items((name for kind in KINDS for name in CATALOGUES[kind]), word) or files(word)


@click.command()
@click.argument("model", metavar="MODULE:CLASS|NAME|FILE.toml", shell_complete=_models)
@option("--kind", type=click.Choice(KINDS), help="Kind of model  [default: as its methods say]")
@seed_option
@option(
    "--cases",
    metavar="N",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="Cases for each rule.",
)
@options(PLUGINS)
def check(model: str, kind: str | None, seed: int, cases: int, *, allow_plugins: bool | None) -> None:
    """Hold a class of yours to the rules that every model of its kind keeps.

    Works on devices, schedulers, replacement policies and workloads, those that come with sledlab included.
    A rule that is broken is told with the case, the request that broke it, and what to do; the exit code is
    then 2.

    \b
    Examples:
      sledlab check tape:Tape
      sledlab check clock:Clock:marked=true --cases 1000
      sledlab check sptf
    """
    rules = 0
    for rule in kept(model, kind=kind, seed=seed, cases=cases, allow_plugins=bool(allow_plugins)):
        terminal.say(f"kept: {rule}")
        rules += 1
    in_cases = "1 case" if cases == 1 else f"{cases} cases"
    terminal.say(f"{model} keeps all {rules} rules, each in {in_cases} of seed {seed}.")
