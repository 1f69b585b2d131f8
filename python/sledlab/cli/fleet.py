"""`sledlab fleet`: the study of volumes on devices, and beneath it `split`, which separates volumes."""

from __future__ import annotations

import click

from sledlab.cli.completion import trace_or_file
from sledlab.cli.group import CommandGroup
from sledlab.cli.options import READING, option, options, quiet_option
from sledlab.cli.study import study_command
from sledlab.lazy import later
from sledlab.show import terminal
from sledlab.studies.fleet import STUDY

Progress = later("sledlab.show.progress:Progress")
pluralize = later("sledlab.show.wording:pluralize")
split_volumes = later("sledlab.traces.splitting:split_volumes")


@click.command("split")
@click.argument("files", nargs=-1, required=True, shell_complete=trace_or_file)
@option(
    "--out", metavar="DIR", required=True, help="Directory to create; it appears when all files are complete."
)
@options({name: READING[name] for name in ("format", "sort")})
@quiet_option
def split(files: tuple[str, ...], out: str, format: str | None, sort: int | None) -> None:
    """Split a trace of many volumes into Parquet files, one directory for each volume.

    FILES are consecutive parts of one trace, such as one for each day. Volumes keep their names and share one
    clock. Temporary files need 24 bytes for each request, in addition to the output.

    \b
    Examples:
      sledlab fleet split io_traces.csv.gz --out fleet
      sledlab fleet split day-1.csv day-2.csv --format tencent --out days
    """
    with Progress("splitting") as progress:
        volumes = split_volumes(files, out, format=format, sort_window=sort or 0, progress=progress.update)
    terminal.tell(f"wrote {pluralize(len(volumes), 'volume')} to {out}")


fleet = study_command(STUDY, command_class=CommandGroup)
assert isinstance(fleet, click.Group)
fleet.add_command(split)
