"""`sledlab job`: list jobs, and show their parameters and those of their data."""

from __future__ import annotations

from dataclasses import asdict

import click

from sledlab.cli.catalogue import show_parameters
from sledlab.cli.group import SuggestingGroup
from sledlab.cli.options import json_option, show_json, show_table
from sledlab.job import LIST, find
from sledlab.job.data import find as find_data
from sledlab.show import terminal


@click.group(cls=SuggestingGroup)
def job() -> None:
    """List and show jobs that storage nodes run: sledlab smart record runs them."""


@job.command("list")
@json_option
def job_list(*, as_json: bool) -> None:
    """All jobs that come with sledlab."""
    if as_json:
        show_json([{"name": each.name, "meaning": each.meaning, "data": each.data} for each in LIST])
        return
    show_table(("name", "data", "meaning"), [(each.name, each.data, each.meaning) for each in LIST])


@job.command("show")
@click.argument("name")
@json_option
def job_show(name: str, *, as_json: bool) -> None:
    """What a job takes, and its data: NAME is that of a job, or a Python file that defines one."""
    found = find(name)
    own, of_data = found.settings
    if as_json:
        parameters = {"job": own, "data": of_data}
        plain = {key: [asdict(each) for each in specs] for key, specs in parameters.items()}
        show_json({"name": found.name, "meaning": meaning(name), "data": found.data, "parameters": plain})
        return
    terminal.say(f"{found.name}: {meaning(name)}")
    if own:
        show_parameters(own)
    if found.data:
        data = find_data(found.data)
        terminal.say(f"It runs on {data.name}: {data.meaning}")
        show_parameters(of_data)
    terminal.say("Change them with --set KEY=VALUE.")


def meaning(name: str) -> str:
    """The meaning of a job, in one line."""
    listed = next((each.meaning for each in LIST if each.name == name), "")
    return listed or (find(name).function.__doc__ or "a job of your own").strip().splitlines()[0]
