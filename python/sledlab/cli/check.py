"""`sledlab check`: test a plug-in class against the rules of its kind, or a disk against measurements."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from sledlab.cli.completion import files, items
from sledlab.cli.options import PLUGINS, REPLACE, json_option, option, options, show_json, whole_number
from sledlab.display import find_presentation
from sledlab.errors import Error
from sledlab.files import atomic_write
from sledlab.lazy import later
from sledlab.model.catalog import CATALOGS
from sledlab.model.conformance import KINDS, passed_rules
from sledlab.results import list_in_manifest, prepare_directory
from sledlab.runs.options import Option
from sledlab.runs.recording import SUMMARY
from sledlab.show import terminal

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

add_location = later("sledlab.model.error_location:add_location")
validate_drive = later("sledlab.studies.drive:validate_drive")

DEFAULT_CASES = 100
DEFAULT_SEED = 1
DRIVE = "drive"
PLOT = "service_times.png"


def _complete_model(_context: click.Context, _parameter: click.Parameter, word: str) -> list[CompletionItem]:
    """Complete names of models of kinds that have rules, or files."""
    return items((name for kind in KINDS for name in CATALOGS[kind]), word) or files(word)


@click.command()
@click.argument("model", metavar="MODULE:CLASS|NAME|FILE.toml", shell_complete=_complete_model)
@option("--kind", type=click.Choice(KINDS), help="Kind of model  [default: detected from its methods]")
@option("--seed", metavar="N", type=whole_number(0), help=f"Seed of the cases  [default: {DEFAULT_SEED}]")
@option("--cases", metavar="N", type=whole_number(), help=f"Cases per rule  [default: {DEFAULT_CASES}]")
@option(
    "--measured",
    "measurement_file",
    metavar="FILE",
    help="Compare a disk with measured service times: `R|W action lbn blocks service_us gap_us` per line.",
)
@option(
    "--host", metavar="NAME", help="Host of the disk; none for no host  [default: that of the measurement]"
)
@options({"out": Option("Directory for summary and plot (with --measured).", "DIR"), **REPLACE, **PLUGINS})
@json_option
def check(
    model: str,
    kind: str | None,
    seed: int | None,
    cases: int | None,
    measurement_file: str | None,
    host: str | None,
    out: str | None,
    replace: bool | None,
    *,
    allow_plugins: bool | None,
    as_json: bool,
) -> None:
    """Test a plug-in class, or compare a disk with measurements.

    Without --measured, the model (a device, scheduler, replacement policy or workload, built-in or a Python
    class) is tested against the rules of its kind. A violated rule is reported with the test case; the exit
    code is then 2.

    With --measured, requests whose service times were measured on a drive are replayed on the disk model, one
    at a time with the recorded gaps. The demerit figure is the root mean square of the horizontal distance
    between the two distributions of service times.

    \b
    Examples:
      sledlab check tape:Tape
      sledlab check clock:Clock:marked=true --cases 1000
      sledlab check sptf
      sledlab check hp-c2247a --measured hp_c2247a.trace.gz
    """
    if measurement_file is None:
        _refuse_options(
            {"--host": host, "--out": out, "--replace": replace, "--json": as_json}, "only with --measured"
        )
        _check_rules(
            model, kind, DEFAULT_SEED if seed is None else seed, cases or DEFAULT_CASES, bool(allow_plugins)
        )
    else:
        _refuse_options({"--kind": kind, "--seed": seed, "--cases": cases}, "not with --measured")
        _check_drive(model, measurement_file, host, out, replace=bool(replace), as_json=as_json)


def _refuse_options(options: dict[str, object], reason: str) -> None:
    for flag, value in options.items():
        if value not in (None, False):
            raise Error(f"`{flag}` applies {reason}", remedy="omit it")


def _check_rules(model: str, kind: str | None, seed: int, cases: int, allow_plugins: bool) -> None:
    rule_count = 0
    for rule in passed_rules(model, kind=kind, seed=seed, cases=cases, allow_plugins=allow_plugins):
        terminal.say(f"passed: {rule}")
        rule_count += 1
    case_text = "1 case" if cases == 1 else f"{cases} cases"
    terminal.say_sentences(f"{model} passes all {rule_count} rules, each in {case_text} with seed {seed}.")


def _check_drive(
    name: str, measurement_file: str, host: str | None, out: str | None, *, replace: bool, as_json: bool
) -> None:
    directory = prepare_directory(out, DRIVE, replace=replace)
    with add_location(None, {"device": name}):
        validation = validate_drive(name, measurement_file, host=host)
    if directory is not None:
        list_in_manifest(directory, DRIVE, [SUMMARY, PLOT])
        with atomic_write(directory / SUMMARY) as draft:
            draft.write_text(
                json.dumps(validation.to_dict(), indent=2, allow_nan=False) + "\n", encoding="utf-8"
            )
        with atomic_write(directory / PLOT) as draft:
            validation.plot().savefig(draft, dpi=150)
    if as_json:
        show_json(validation.to_dict())
        return
    find_presentation(validation).show(validation)
    if directory is not None:
        terminal.say(f"plot: {directory / PLOT}")
