"""`sledlab simulate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sledlab.cli.completion import experiment_or_file
from sledlab.cli.help import GroupedHelp
from sledlab.cli.options import (
    REPLACE,
    json_option,
    no_plot_option,
    options,
    quiet_option,
    request_source,
    save_tables,
    show_json,
    sort_options,
    static_option,
    tables_option,
)
from sledlab.cli.study_file import refuse_study
from sledlab.display import find_presentation
from sledlab.errors import Error
from sledlab.lazy import later
from sledlab.results import REPORT, read_json, result_kind
from sledlab.runs.interrupt import Interrupted
from sledlab.runs.options import Option, SimulateOptions, declared_options
from sledlab.show import terminal
from sledlab.stop_signals import exit_code

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sledlab.runs.result import Result

recording = later("sledlab.runs.recording")
model_names = later("sledlab.show.model_names")
run = later("sledlab.runs.execute:simulate")
Progress = later("sledlab.show.progress:Progress")
figure = later("sledlab.show.wording:figure")

OUTPUT = {
    "out": Option("Directory for summary, tables and report.", "DIR"),
    **REPLACE,
    "requests": Option("Write all requests as .parquet or .csv.", "FILE"),
    "perfetto": Option("Write a timeline for https://ui.perfetto.dev, .pftrace.", "FILE", advanced=True),
}


@click.command(cls=GroupedHelp)
@click.argument("experiment", required=False, shell_complete=experiment_or_file)
@options({**sort_options(declared_options(SimulateOptions)), **OUTPUT})
@tables_option
@static_option
@no_plot_option
@quiet_option
@json_option
def simulate(
    experiment: str | None,
    device: str | None,
    out: str | None,
    replace: bool | None,
    requests: str | None,
    perfetto: str | None,
    *,
    no_plot: bool,
    as_json: bool,
    **flags: Any,
) -> int:
    """Replay a trace or workload on a device.

    EXPERIMENT is a TOML file, such as experiment.toml of an earlier run, or the name of an experiment
    (sledlab list experiment); options override it. --trace - reads standard input.

    \b
    Examples:
      sledlab simulate --device mems-g2 --trace app.csv --scheduler sptf --out run
      sledlab simulate --device mems-g2 --workload uniform --limit 1e6 --json
      sledlab simulate run/experiment.toml --set device.active_tips=3200
    """
    refuse_study(experiment)
    former_config = {} if out is None else _previous_config(Path(out))
    code = 0
    with Progress("simulating") as progress:
        try:
            result: Result = run(
                request_source(flags),
                device,
                experiment=experiment,
                requests=False if requests is None else requests,
                perfetto=perfetto,
                out=out,
                replace=bool(replace),
                progress=progress.update,
                **{name: flags[name] for name in declared_options(SimulateOptions)},
            )
        except Interrupted as interruption:
            result, code = interruption.result, exit_code(interruption)
    save_tables(result)
    if as_json:
        show_json({**result.to_dict(), "wall_s": result.timing["wall_s"]})
    else:
        find_presentation(result).show(result, plot=not no_plot)
        _note_files(result, out, former_config)
    return code


def _previous_config(directory: Path) -> Mapping[str, Any]:
    """Return the settings of the run whose results are in a directory; none if there is no such run."""
    try:
        if result_kind(directory) != recording.KIND:
            return {}
        config: Mapping[str, Any] = read_json(directory / recording.SUMMARY).get("config", {})
    except Error:
        return {}
    return config


def _note_files(result: Result, out: str | None, former_config: Mapping[str, Any]) -> None:
    """Print speed, a replaced run and the report."""
    speed = figure(result.timing["operations_per_s"] / 1e6)
    wall_s = figure(result.timing["wall_s"])
    terminal.note(f"{wall_s} s of work, {speed} million operations per second")
    if former_config and former_config != result.config:
        former_run = f"{model_names.title(former_config)} under {model_names.scheduler_name(former_config)}"
        terminal.note(f"replaced: {former_run}, with other settings")
    if out:
        terminal.note(f"report: {Path(out) / REPORT}")
