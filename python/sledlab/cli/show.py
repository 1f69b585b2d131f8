"""`sledlab show`: one model, job, sample trace or experiment with its parameters."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, cast

import click

from sledlab import _native
from sledlab.cli.completion import files, items
from sledlab.cli.device import device_error_location, device_experiment
from sledlab.cli.kinds import KINDS, find_kind
from sledlab.cli.list import kind_items
from sledlab.cli.options import PLUGINS, SETTINGS, json_option, option, options, show_json, show_table
from sledlab.errors import Error
from sledlab.lazy import later
from sledlab.model import catalog
from sledlab.model.experiment import experiment as experiments
from sledlab.model.experiment import heading, names, read_toml_text, study_kind
from sledlab.model.settings import to_toml
from sledlab.show import terminal
from sledlab.toml_text import parse_toml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from click.shell_completion import CompletionItem

    from sledlab.model.entries import Entry, NetworkEntry, NodeEntry, ParameterSpec
    from sledlab.model.error_location import add_location
else:
    add_location = later("sledlab.model.error_location:add_location")

jobs = later("sledlab.job")
job_data = later("sledlab.job.data")
studies = later("sledlab.studies")
allowed_plugins = later("sledlab.model.plugins:allowed_plugins")
describe = later("sledlab.model.device:describe")
require = later("sledlab.model.catalog:require")
resolve_kind = later("sledlab.model.device:resolve_kind")
read_trace = later("sledlab.traces.read:read_trace")
trace_info = later("sledlab.cli.trace_info")
unused_tips = later("sledlab.show.run:unused_tips")


@dataclass(frozen=True)
class ShowOptions:
    """Options of `sledlab show`.

    Attributes:
        settings: Settings of a device that are changed, by key.
        allow_plugins: Whether plug-ins of a device file may run.
        as_toml: Whether to print the file.
        as_json: Whether to print JSON.
    """

    settings: Mapping[str, str] = field(default_factory=dict)
    allow_plugins: bool | None = None
    as_toml: bool = False
    as_json: bool = False


def member_items(context: click.Context, _parameter: click.Parameter, word: str) -> list[CompletionItem]:
    """Complete the name of a member of the kind before it, or a file."""
    try:
        known = KINDS[find_kind(context.params.get("kind") or "")].names()
    except Error:
        return []
    return items(known, word) or files(word)


def member_name(context: click.Context, parameter: click.Parameter, name: str | None) -> str:
    """Return the name of the member; an error with the kind if only the name was given."""
    if name is None:
        member = str(context.params.get("kind", "")).lower()
        kinds = [kind for kind, listed in KINDS.items() if member in listed.names()]
        if not kinds:
            raise click.MissingParameter(ctx=context, param=parameter)
        commands = " or ".join(f"`sledlab show {kind} {member}`" for kind in kinds)
        raise Error(f"the kind of `{member}` is missing", remedy=f"write {commands}")
    return name


@click.command("show")
@click.argument("kind", shell_complete=kind_items)
@click.argument("name", callback=member_name, required=False, metavar="NAME", shell_complete=member_items)
@options({**SETTINGS, **PLUGINS})
@option("--toml", "as_toml", is_flag=True, help="Print the file of a device or an experiment.")
@json_option
def show_command(kind: str, name: str, **option_values: Any) -> None:
    """Show one model, job, sample trace or experiment with its parameters.

    KIND is one of `sledlab list`. NAME is a name of `sledlab list KIND`; a device, node, network, job or
    experiment may also be a file. --set and --allow-plugins apply to devices.

    \b
    Examples:
      sledlab show device mems-g2
      sledlab show device mems-g2 --toml
      sledlab show device mems-g2 --set device.active_tips=3200
      sledlab show scheduler zsptf
    """
    kind, show_options = find_kind(kind), ShowOptions(**option_values)
    if (show_options.settings or show_options.allow_plugins) and kind != "device":
        raise Error(f"--set and --allow-plugins do not apply to a {kind}", remedy="omit them")
    if show_options.as_toml and kind not in ("device", "experiment"):
        raise Error(f"--toml does not apply to a {kind}", remedy="omit it")
    SHOW_FUNCTIONS.get(kind, _show_model(kind))(name, show_options)


def show_parameters(specs: Sequence[ParameterSpec], values: dict[str, Any] | None = None) -> None:
    """Print a table of parameters with their defaults or, if given, with `values`."""
    column = "value" if values else "default"
    rows = [
        (
            spec.name,
            _format_value((values or {}).get(spec.name, spec.default)),
            spec.unit,
            _allowed_values(spec),
            spec.meaning,
        )
        for spec in specs
    ]
    show_table(("parameter", column, "unit", "allowed", "meaning"), rows, right=(column,))


def _format_value(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _allowed_values(spec: ParameterSpec) -> str:
    if isinstance(spec.kind, tuple):
        return " | ".join(spec.kind)
    if spec.range:
        return f"{spec.range[0]:g} to {spec.range[1]:g}"
    return {"switch": "true | false", "text": "text", "count": "0 or more"}.get(spec.kind, "")


def _show_model(kind: str) -> Callable[[str, ShowOptions], None]:
    """Return the function that shows a model of a kind that needs no function of its own."""

    def show(name: str, options: ShowOptions) -> None:
        entry = catalog.CATALOGS[kind].show(name)
        if options.as_json:
            show_json(asdict(entry))
            return
        terminal.say_sentences(f"{entry.name}: {entry.meaning}")
        if entry.aliases:
            terminal.say_sentences(f"Also called {', '.join(entry.aliases)}.")
        if entry.starvation_free is not None:
            terminal.say(f"{'No' if entry.starvation_free else 'A'} request can wait forever.")
        if entry.parameters:
            show_parameters(entry.parameters)
        else:
            terminal.say("It takes no parameters.")

    return show


def show_device(name: str, options: ShowOptions) -> None:
    """Show a preset, a device file, or the device of an experiment."""
    if options.as_toml and not options.settings:
        text = (
            read_toml_text(name, "device")
            if name.endswith(".toml")
            else _native.device_text(require("device", name).name)
        )
        terminal.say_file(text)
        return
    with device_error_location(name, options.settings):
        plugins = allowed_plugins(
            {"settings": options.settings, "allow_plugins": options.allow_plugins}, name
        )
        parameters = describe(device_experiment(name, options.settings).with_plugins(plugins))
    if options.as_json:
        show_json(parameters)
        return
    terminal.say_sentences(f"{parameters['name']}: {parameters['description']}")
    blocks = parameters["capacity_blocks"]
    terminal.say(f"{blocks:,} blocks of 512 bytes, {blocks * 512 / 1e9:.2f} GB")
    if note := unused_tips(parameters):
        terminal.say_sentences(f"note: {note}")
    show_parameters(resolve_kind(parameters).parameters, parameters)
    if "zones" in parameters:
        _show_zones(parameters["zones"], parameters["seek_table"])


def _show_zones(zones: list[dict[str, Any]], seek_table: list[list[float]]) -> None:
    """Print the zones of a disk, and the shortest and longest seek time."""
    scalar_keys = [name for name in zones[0] if not isinstance(zones[0][name], list)]
    list_keys = [name for name in zones[0] if isinstance(zones[0][name], list)]
    rows = [
        (
            str(zone_number),
            *(f"{zone[name]:,}" for name in scalar_keys),
            *(f"{len(zone[name]):,}" for name in list_keys),
        )
        for zone_number, zone in enumerate(zones)
    ]
    head = ("zone", *(name.removesuffix("_sectors").replace("_", " ") for name in (*scalar_keys, *list_keys)))
    terminal.say()
    show_table(head, rows, right=head)
    if seek_table:
        (min_distance, min_ms), (max_distance, max_ms) = seek_table[0], seek_table[-1]
        terminal.say(
            f"\n{len(seek_table)} seek times: {min_ms:g} ms over {min_distance:,.0f}, "
            f"{max_ms:g} ms over {max_distance:,.0f} cylinders"
        )


def show_node(name: str, options: ShowOptions) -> None:
    """Show a node and the operations that it knows."""
    with add_location(None, {"node": name}):
        entry = cast("NodeEntry", catalog.node.show(name))
    if options.as_json:
        show_json(asdict(entry))
        return
    _show_values(entry)
    rows = [
        (operation.kind, f"{operation.cycles:,g}", "network" if operation.network else "")
        for operation in entry.operations
    ]
    show_table(("operation", "cycles", "counts as"), rows, right=("cycles",))
    terminal.say("Change them with --set node.mhz=1000 or --set node.cycles.tuple=500.")


def show_network(name: str, options: ShowOptions) -> None:
    """Show a network and the model that it uses."""
    with add_location(None, {"network": name}):
        entry = cast("NetworkEntry", catalog.network.show(name))
    if options.as_json:
        show_json(asdict(entry))
        return
    _show_values(entry)
    model = next(each for each in catalog.entries("network_kinds") if each.name == entry.kind)
    terminal.say_sentences(f"Its model is {model.name}: {model.meaning}.")


def _show_values(entry: Entry) -> None:
    """Print the parameters of a preset with the preset's values."""
    terminal.say_sentences(f"{entry.name}: {entry.meaning}")
    show_parameters(entry.parameters, {spec.name: spec.default for spec in entry.parameters})


def show_job(name: str, options: ShowOptions) -> None:
    """Show a job, or a Python file that defines one, with its parameters and those of its data."""
    job = jobs.find(name)
    job_parameters, data_parameters = job.settings
    if options.as_json:
        specs_by_owner = {"job": job_parameters, "data": data_parameters}
        dicts_by_owner = {key: [asdict(each) for each in specs] for key, specs in specs_by_owner.items()}
        show_json(
            {"name": job.name, "meaning": _job_meaning(name), "data": job.data, "parameters": dicts_by_owner}
        )
        return
    terminal.say_sentences(f"{job.name}: {_job_meaning(name)}")
    if job_parameters:
        show_parameters(job_parameters)
    if job.data:
        data = job_data.find(job.data)
        terminal.say_sentences(f"Its data is {data.name}: {data.meaning}")
        show_parameters(data_parameters)
    terminal.say("Change them with --job-set KEY=VALUE.")


def _job_meaning(name: str) -> str:
    """Return one line on what a job does."""
    meaning = next((each.meaning for each in jobs.LIST if each.name == name.lower()), "")
    return meaning or (jobs.find(name).function.__doc__ or "a job in a file").strip().splitlines()[0]


def show_trace(name: str, options: ShowOptions) -> None:
    """Show the characterization of a trace, as `sledlab trace info` does."""
    trace_info.print_info(read_trace(name), as_json=options.as_json)


def show_experiment(name: str, options: ShowOptions) -> None:
    """Show an experiment, given by name or file: its settings and the command that runs it."""
    text = read_toml_text(name)
    if options.as_toml:
        terminal.say_file(text)
        return
    tables = parse_toml(text, name)
    study = study_kind(tables)
    if options.as_json:
        entry = asdict(experiments.show(name)) if name in names() else {"name": name, "meaning": ""}
        show_json({**{key: entry[key] for key in ("name", "meaning")}, "study": study, **tables})
        return
    terminal.say(f"{name}: {heading(text)}\n")
    show_table(("key", "value"), list(_settings(tables)))
    terminal.say(f"Run it: sledlab {command_name(study)} {name}")


def command_name(study: str) -> str:
    """Return the command that runs experiments of a study.

    Examples:
        >>> command_name("compare"), command_name("side-by-side"), command_name("simulate")
        ('compare', 'compare', 'simulate')
    """
    listed_study = studies.find_study(study)
    if listed_study is None or not listed_study.parent:
        return study
    return listed_study.parent if study == "side-by-side" else f"{listed_study.parent} {study}"


def _settings(tables: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield all keys of a document with their values, in order."""
    for key, value in tables.items():
        full_key = f"{prefix}.{key}" if prefix else key
        is_leaf = prefix == "study.vary" or prefix.startswith("study.vary.")
        if isinstance(value, dict) and value and not is_leaf:
            yield from _settings(value, full_key)
        else:
            yield full_key, to_toml(value)


SHOW_FUNCTIONS: Mapping[str, Callable[[str, ShowOptions], None]] = {
    "device": show_device,
    "node": show_node,
    "network": show_network,
    "job": show_job,
    "trace": show_trace,
    "experiment": show_experiment,
}
"""Functions for kinds that need more than a table of parameters."""
