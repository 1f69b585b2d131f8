"""`sledlab smart size`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sledlab.cli.help import GroupedHelp
from sledlab.cli.options import (
    REPLACE,
    json_option,
    options,
    quiet_option,
    save_tables,
    show_json,
    static_option,
    tables_option,
)
from sledlab.display import find_presentation
from sledlab.lazy import later
from sledlab.results import REPORT
from sledlab.runs.options import ClusterOptions, NetworkOptions, Option, declared_options
from sledlab.show import terminal
from sledlab.studies.smart.options import NODE_RANGE, SmartArguments

if TYPE_CHECKING:
    from collections.abc import Mapping

size = later("sledlab.studies.size:smart_size")
Progress = later("sledlab.show.progress:Progress")


def _options() -> Mapping[str, Option]:
    """The options in the order of help: job, goal, cluster, models, settings, and the rest."""
    cluster_options, study_options = declared_options(ClusterOptions), declared_options(SmartArguments)
    first_names = [*declared_options(NetworkOptions), "scheduler", "power"]
    meaning = "Any other setting, such as node.mhz=1000 or network.latency_us=10; can be repeated."
    last_options = {
        "settings": replace(cluster_options["settings"], meaning=meaning),
        "threads": cluster_options["threads"],
    }
    return {
        "job": Option("Job: sledlab list job, or a Python file.", "NAME|FILE"),
        "query": Option("Instead of a job: q1 to q22 of TPC-H, or a file of SQL.", "NAME|FILE"),
        "tables": study_options["tables"],
        "until": Option("Required bottleneck: compute (or processor) | store | network.", "COMPONENT"),
        "deadline": Option("Maximum time of the job, such as 60s, 2min or 500ms.", "TIME"),
        "budget": Option("Maximum price of the cluster, in USD.", "USD"),
        "node_count": Option("Minimum and maximum number of nodes.", "A..B", NODE_RANGE),
        "job_settings": study_options["job_settings"],
        "device": study_options["device"],
        **{name: cluster_options[name] for name in first_names},
        **{
            name: option
            for name, option in cluster_options.items()
            if name not in (*first_names, *last_options)
        },
        **last_options,
        "price": study_options["price"],
        "out": Option("Directory for report, table and summary.", "DIR"),
        **REPLACE,
    }


@click.command("size", cls=GroupedHelp)
@options(_options())
@tables_option
@static_option
@quiet_option
@json_option
def smart_size(
    job: str | None,
    device: list[str] | None,
    node_count: str | None,
    job_settings: list[str] | None,
    price: list[str] | None,
    out: str | None,
    replace: bool | None,
    *,
    as_json: bool,
    **flags: Any,
) -> None:
    """Find the smallest cluster on which a component is the bottleneck, or that meets a deadline.

    The job or query is run and replayed on the first number of nodes and its doublings, until three in a row
    do it; then the gap before the first is halved until that and its neighbor below were replayed. With a
    budget instead, the fastest cluster that it buys; with both, the cheapest in time that it buys.

    \b
    Examples:
      sledlab smart size --job join --until network --device mems-g3 --job-set scale_factor=0.1
      sledlab smart size --job sort --deadline 10s --device mems-g3,hp-c2490a --job-set scale_factor=0.1
      sledlab smart size --job sort --budget 20000 --device mems-g3,hp-c2490a --job-set scale_factor=0.1
      sledlab smart size --query q5 --deadline 2s --device mems-g3
      sledlab smart size --job scan --deadline 2s --node-count 8..256 --device mems-g2 --out size
    """
    with Progress("recording", unit="") as progress:
        sizing = size(
            job,
            device,
            node_count=NODE_RANGE if node_count is None else node_count,
            job_settings=job_settings or (),
            price=price or (),
            out=out,
            replace=bool(replace),
            progress=progress.show_step,
            **flags,
        )
    save_tables(sizing)
    if as_json:
        show_json(sizing.to_dict())
        return
    find_presentation(sizing).show(sizing)
    if out is not None:
        terminal.note(f"report: {Path(out) / REPORT}")
