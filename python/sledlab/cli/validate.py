"""`sledlab validate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sledlab.cli.options import json_option, show_json

if TYPE_CHECKING:
    from sledlab.drive_validation import DriveValidation


@click.group()
def validate() -> None:
    """Hold models to what was measured."""


@validate.command()
@click.argument("name", metavar="NAME|FILE.toml")
@click.option(
    "--measured",
    metavar="FILE",
    required=True,
    help="Measured stream: `R|W action lbn blocks service_us gap_us` a line, plain or compressed.",
)
@click.option(
    "--host",
    metavar="NAME",
    help="Host whose bus the drive is on; none for its own  [default: the one it was measured on]",
)
@click.option("--out", metavar="DIR", help="Directory for summary and plot.")
@json_option
def drive(name: str, measured: str, host: str | None, out: str | None, *, as_json: bool) -> None:
    """Compare a disk with the drive it stands for.

    Replays a stream of requests whose service times were measured on the drive, one at a time and as far
    apart as they were, and prints the demerit figure: the root mean square of the horizontal distance between
    the measured and the simulated distribution of service times.

    \b
    Examples:
      sledlab validate drive hp-c2247a --measured hp_c2247a.trace.gz
      sledlab validate drive mine.toml --measured mine.trace --host none --out validation
    """
    from sledlab.drive_validation import validate_drive

    found = validate_drive(name, measured, host=host)
    if out is not None:
        _write(found, Path(out))
    if as_json:
        show_json(found.to_dict())
    else:
        _show(found, out)


def _write(found: DriveValidation, place: Path) -> None:
    import json

    from sledlab.recording import make_directory

    make_directory(place)
    (place / "summary.json").write_text(json.dumps(found.to_dict(), indent=2) + "\n", encoding="utf-8")
    found.plot().savefig(place / "service_times.png", dpi=150)


def _show(found: DriveValidation, out: str | None) -> None:
    said = found.to_dict()
    attached = f", attached as on its measuring host ({found.host})" if found.host else ""
    click.echo(f"{found.drive}{attached}: {said['requests']:,} requests")
    click.echo(f"demerit figure {said['demerit_ms']:.3f} ms")
    for kind in ("read", "write"):
        means = said.get(f"mean_{kind}_ms")
        if means:
            click.echo(
                f"mean {kind:5} {means['measured']:.3f} ms measured, {means['simulated']:.3f} ms simulated"
            )
    if out:
        click.echo(f"plot: {Path(out) / 'service_times.png'}")
