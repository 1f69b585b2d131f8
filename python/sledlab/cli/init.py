"""`sledlab init`: templates of files, which work as they are."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sledlab import _native
from sledlab.cli.options import option
from sledlab.errors import Error
from sledlab.files import atomic_write, check_writable
from sledlab.lazy import later
from sledlab.model import catalog
from sledlab.model.settings import to_toml
from sledlab.show import terminal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sledlab.model.entries import ParameterSpec

to_entry = later("sledlab.model.entries:to_entry")

TEMPLATE_DIRECTORY = Path(__file__).parent / "templates"


@dataclass(frozen=True)
class Template:
    """A file to begin with.

    Attributes:
        file: Its usual name; the text of a Python file is kept in a file `.txt`.
        meaning: What the file describes.
        command: The command to try with it first.
    """

    file: str
    meaning: str
    command: str


TEMPLATES_BY_KIND = {
    "device": Template("device.toml", "a device", "sledlab show device {file}"),
    "disksim": Template("disksim.parv", "a MEMS device of DiskSim", "sledlab device import {file}"),
    "experiment": Template("experiment.toml", "a run", "sledlab simulate {file}"),
    "compare": Template("compare.toml", "a comparison", "sledlab compare {file}"),
    "scheduler": Template(
        "my_scheduler.py",
        "a scheduler",
        "sledlab simulate --device mems-g2 --workload uniform --limit 10000 --scheduler {module}:Soonest",
    ),
    "power": Template(
        "my_power.py",
        "a power policy",
        "sledlab simulate --device mems-g2 --workload cello --limit 10000 --power {module}:Halving",
    ),
    "job": Template(
        "my_job.py", "a job of storage nodes", "sledlab smart record --job {file} --work my.work"
    ),
}
"""Every template, by the kind of file."""


@click.command()
@click.argument("kind", type=click.Choice(list(TEMPLATES_BY_KIND)))
@click.argument("name", required=False)
@option("--replace", is_flag=True, help="Overwrite an existing file.")
def init(kind: str, name: str | None, *, replace: bool) -> None:
    """Write a file to begin with: commented, and working as it is.

    NAME is the file to write; its usual ending may be omitted.

    \b
    Examples:
      sledlab init experiment
      sledlab init scheduler nearest.py
      sledlab init device mine.toml
    """
    template = TEMPLATES_BY_KIND[kind]
    path = _target_path(template, name)
    if path.exists() and not replace:
        raise Error(f"`{path}` exists", remedy="choose another name, or use --replace")
    check_writable(path)
    with atomic_write(path) as draft:
        draft.write_text(render_template(kind, path), encoding="utf-8")
    terminal.say(f"wrote {path}")
    terminal.say(f"try: {template.command.format(file=path, module=path.stem)}")


def _target_path(template: Template, name: str | None) -> Path:
    """The file to write.

    Raises:
        Error: The name has another ending than the template, or is no name of a Python module for a `.py`.
    """
    default_path = Path(template.file)
    path = default_path if name is None else Path(name)
    if not path.suffix:
        path = path.with_name(f"{path.name}{default_path.suffix}")
    if path.suffix != default_path.suffix:
        raise Error(
            f"`{path}` does not end in {default_path.suffix}",
            remedy=f"name it {path.stem}{default_path.suffix}",
        )
    if path.suffix == ".py" and not path.stem.isidentifier():
        module_name = re.sub(r"\W+", "_", path.stem).strip("_") or default_path.stem
        raise Error(f"`{path.stem}` is not the name of a module", remedy=f"name it {module_name}.py")
    return path


def render_template(kind: str, path: Path) -> str:
    """The text of a template, with names, parameters and the device filled in."""
    template_path = TEMPLATE_DIRECTORY / f"{kind}{'.txt' if path.suffix == '.py' else path.suffix}"
    text = template_path.read_text(encoding="utf-8")
    workload_parameters = catalog.workload.show("uniform").parameters
    replay_parameters = to_entry(catalog.load_catalog()["replay"]).parameters
    renderers_by_name = {
        "FILE": lambda: str(path),
        "MODULE": lambda: re.sub(r"\W+", "_", path.stem),
        "FUNCTION": lambda: path.stem,
        "DEVICE": lambda: _native.device_text("mems-g2").rstrip(),
        "WORKLOAD": lambda: comment_out(spec for spec in workload_parameters if spec.name != "requests"),
        "REPLAY": lambda: comment_out(spec for spec in replay_parameters if spec.name != "limit"),
    }
    return re.sub(r"@([A-Z]+)@", lambda match: renderers_by_name[match[1]](), text)


def comment_out(specs: Iterable[ParameterSpec]) -> str:
    """Parameters with their defaults, commented out, each with its meaning.

    Examples:
        >>> from sledlab.model.entries import ParameterSpec
        >>> comment_out([ParameterSpec("limit", "The end.", "s", "count", None, 5)])
        '# limit = 5                  # s; The end.'
    """
    lines = []
    for spec in specs:
        unit = f"{spec.unit}; " if spec.unit else ""
        lines.append(f"{f'# {spec.name} = {to_toml(spec.default)}':<28} # {unit}{spec.meaning}")
    return "\n".join(lines)
