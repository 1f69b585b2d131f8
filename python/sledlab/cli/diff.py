"""`sledlab diff`."""

from __future__ import annotations

from pathlib import Path

import click

from sledlab.cli.options import json_option, show_json


@click.command()
@click.argument("a", type=click.Path())
@click.argument("b", type=click.Path())
@json_option
@click.option("--out", metavar="FILE", help="A page about it, .html.")
def diff(a: str, b: str, out: str | None, *, as_json: bool) -> None:
    """Compare two runs of the same requests, request by request.

    A and B are directories that `sledlab simulate --out` left, or tables of requests (.parquet, .csv). The
    interval of the mean difference allows for the correlation of successive requests.

    \b
    Examples:
      sledlab diff run-fcfs run-sptf
      sledlab diff before.parquet after.parquet --json
      sledlab diff run-fcfs run-sptf --out difference.html
    """
    from sledlab import terminal
    from sledlab.difference import diff as difference
    from sledlab.difference import words
    from sledlab.errors import Error
    from sledlab.recording import check_writable

    if out is not None:
        if Path(out).suffix.lower() not in (".html", ".htm"):
            raise Error(f"cannot tell how to write `{out}`", remedy="end the name in .html")
        check_writable(Path(out))
    found = difference(a, b)
    if out is not None:
        found.report(out)
    if as_json:
        show_json(found.to_dict())
        return
    terminal.show(lambda show: words.write(found, show), out)
