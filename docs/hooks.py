"""Fills pages from the declarations in the simulator: `{{ parameters uniform }}`, `{{ help trace info }}`."""

import re
from typing import Any

import click
from sledlab import catalogue
from sledlab.cli import cli


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replaces every marker of a page."""
    markdown = re.sub(r"\{\{ list ([\w-]+) \}\}", lambda found: names(found[1]), markdown)
    markdown = markdown.replace("{{ schedulers }}", schedulers())
    markdown = re.sub(r"\{\{ parameters ([\w-]+) \}\}", lambda found: parameters(found[1]), markdown)
    return re.sub(r"\{\{ help ([\w -]+) \}\}", lambda found: help_text(found[1].split()), markdown)


def names(section: str) -> str:
    """A table of names and meanings."""
    rows = [f"| `{entry.name}` | {cell(entry.meaning)} |" for entry in catalogue.entries(section)]
    return "\n".join(("| name | meaning |", "| --- | --- |", *rows))


def schedulers() -> str:
    """A section for every scheduler."""
    return "\n\n".join(scheduler(entry) for entry in catalogue.scheduler.list())


def scheduler(entry: catalogue.Entry) -> str:
    """What a scheduler does, whether requests can starve, and its own parameters."""
    aliases = f" (also `{'`, `'.join(entry.aliases)}`)" if entry.aliases else ""
    meaning = entry.meaning[0].upper() + entry.meaning[1:]
    waits = "No request can wait forever." if entry.starvation_free else "A request can wait forever."
    own = tuple(spec for spec in entry.parameters if spec.name != "batch")
    table = f"\n\n{rows_of(own)}" if own else ""
    return f"## `{entry.name}`{aliases}\n\n{meaning}. {waits}{table}"


def parameters(name: str) -> str:
    """A table of the parameters of something."""
    return rows_of(find(name).parameters)


def rows_of(specs: tuple[catalogue.ParameterSpec, ...]) -> str:
    """A table of parameters."""
    rows = [
        f"| `{spec.name}` | `{spec.default}` | {spec.unit} | {allowed(spec)} | {cell(spec.meaning)} |"
        for spec in specs
    ]
    return "\n".join(
        ("| key | default | unit | allowed | meaning |", "| --- | --- | --- | --- | --- |", *rows)
    )


def find(name: str) -> catalogue.Entry:
    """The entry of that name, of whatever kind."""
    for found in catalogue.everything().values():
        for item in [found] if isinstance(found, dict) else found:
            if item["name"] == name:
                return catalogue.to_entry(item)
    raise KeyError(f"nothing is called `{name}`")


def allowed(spec: catalogue.ParameterSpec) -> str:
    """The values a parameter may have."""
    if isinstance(spec.kind, tuple):
        return ", ".join(f"`{word}`" for word in spec.kind)
    return f"{spec.range[0]:g} to {spec.range[1]:g}" if spec.range else spec.kind


def cell(text: str) -> str:
    """Text that does not end a cell of a table."""
    return text.replace("|", "\\|")


def help_text(path: list[str]) -> str:
    """What `--help` prints."""
    context = click.Context(cli, info_name="sledlab", max_content_width=100, terminal_width=100)
    command: click.Command = cli
    for name in path:
        assert isinstance(command, click.Group)
        found = command.get_command(context, name)
        assert found is not None, f"no command `{name}`"
        command = found
        context = click.Context(
            command, info_name=name, parent=context, max_content_width=100, terminal_width=100
        )
    return f"```text\n{command.get_help(context)}\n```"
