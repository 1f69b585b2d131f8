"""Hooks of mkdocs: fill markers of pages from declarations, rename entries of the reference, color code.

Markers: `{{ list hybrids }}`, `{{ schedulers }}`, `{{ parameters uniform }}` or, where several kinds have one
of that name, `{{ parameters systems mirror }}`, `{{ presets node }}`, `{{ operations }}`,
`{{ options simulate }}`, `{{ columns power states }}`, `{{ help trace info }}`, `{{ jobs }}`,
`{{ job sort }}`, `{{ data }}`, `{{ prices }}`, `{{ public }}`, `{{ cloud }}`, `{{ bench fleet }}`,
`{{ table guarantees }}`, `{{ laboratory embedded }}`, `{{ explore lin }}`, `{{ gallery }}`,
`{{ file examples/sstf.py }}` and `{{ evidence docs/validation.md }}`.

A page that quotes benchmarks ends with their builds, dates and machines.
"""

import inspect
import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click
import sledlab
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from pygments.formatters import HtmlFormatter
from sledlab import job
from sledlab.cli import cli
from sledlab.cli.options import sort_options
from sledlab.job.parameters import class_parameters
from sledlab.lazy import load_object
from sledlab.model import catalog, entries
from sledlab.runs.options import ClusterOptions, Option, SimulateOptions, declared_options
from sledlab.runs.request_columns import REQUEST_COLUMNS
from sledlab.show.view import View, is_built
from sledlab.show.wording import figure
from sledlab.studies import LIST
from sledlab.studies.costs.prices import defaults
from sledlab.study.columns import Column
from sledlab.study.columns import columns as columns_of
from sledlab.traces.cloud import DEFAULTS, PARAMETERS

sys.path.insert(0, str(Path(__file__).parents[1] / "papers"))
sys.path.insert(0, str(Path(__file__).parents[1]))

from sledlab_papers import explorable, mark_colors, pages

from validation.evidence.manifest import page_summary

LABORATORY = "laboratory.html"
"""The laboratory, a page of the site where `make web` has built it."""

GALLERY = Path(__file__).parents[1] / "gallery" / "index.html"
"""Figures of every study, a page of the site where `make gallery` has drawn them."""

BENCHES = Path(__file__).parents[1] / "validation" / "benches"

REPOSITORY = "https://github.com/sledlab/sledlab"

REPOSITORY_FILE = re.compile(r"(?<!\[)`(examples/[\w./-]+|SECURITY\.md)`")
"""Files of the repository that pages name: readers have no checkout, so that the names are links."""

QUOTED_BENCHMARK = re.compile(r"\{\{ (?:bench|table) (\w+) \}\}|benches/(\w+)\.(?:json|py)")
"""A benchmark whose numbers a page quotes."""

TITLE = re.compile(r'(<h3 id="sledlab\.(\w+)" class="doc doc-heading">\s*<span [^>]*>)\2(?=</span>)')
"""The title of the entry of a public name."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add colors, the page of `sledlab view` and the pages of the reproduction."""
    colors = HtmlFormatter(style="default").get_style_defs(".highlight")
    files.append(File.generated(config, "highlight.css", content=colors))
    files.append(File.generated(config, "claims.css", content=mark_colors.stylesheet()))
    if is_built():
        files.append(File.generated(config, LABORATORY, content=View("the laboratory").html))
    if explorable.is_built():
        files.append(File.generated(config, explorable.PAGE, content=explorable.page()))
    if GALLERY.is_file():
        files.append(File.generated(config, "gallery.html", abs_src_path=str(GALLERY)))
    for path, file in pages.files().items():
        files.append(File.generated(config, path, abs_src_path=str(file)))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replace every marker of a page, and append the origins of the benchmarks that it quotes."""
    quoted_benchmarks = dict.fromkeys(
        name for pair in QUOTED_BENCHMARK.findall(markdown) for name in pair if name
    )
    text = re.sub(
        r"\{\{ (\w+) ?([\w ./-]*) \}\}", lambda match: MARKERS[match[1]](*match[2].split()), markdown
    )
    text = REPOSITORY_FILE.sub(rf"[`\g<1>`]({REPOSITORY}/blob/main/\g<1>)", text)
    return f"{text}\n\n{bench_summary(quoted_benchmarks)}".rstrip() + "\n"


def bench_summary(names: Iterable[str]) -> str:
    """Return when, with which build and where the numbers of some benchmarks were measured."""
    files = {name: BENCHES / f"{name}.json" for name in names}
    origins = {
        name: json.loads(file.read_text(encoding="utf-8")) for name, file in files.items() if file.is_file()
    }
    lines = [
        f"- `validation/benches/{name}.json`: measured {origin['date']}, commit `{origin['commit']}` "
        f"({origin['profile']} build), on {origin['machine']}."
        for name, origin in origins.items()
    ]
    return "\n".join(["Benchmarks on this page:", "", *lines]) if lines else ""


def on_page_content(html: str, page: Page, **_: Any) -> str:
    """Write public names as users do (`import sledlab as sl`), in their titles and in the menu."""
    links = list(page.toc)
    while links:
        link = links.pop()
        links += link.children
        if link.id == f"sledlab.{link.title}":
            link.title = f"sl.{link.title}"
    return TITLE.sub(r"\1sl.\2", html)


def laboratory(embedded: str = "") -> str:
    """Return a link to the laboratory; with an argument, below the laboratory itself."""
    if not is_built():
        return "`sledlab view` makes the page, and `make web` builds what it needs."
    frame = f'<iframe class="laboratory-frame" src="{LABORATORY}" title="The laboratory"></iframe>\n\n'
    link = f'<a class="laboratory" href="{LABORATORY}">Open the laboratory in this browser</a>'
    return f"{frame if embedded else ''}{link}"


def gallery() -> str:
    """Return a sentence that links to the gallery."""
    text = "The gallery has the figures of every study"
    return f"[{text}](gallery.html)." if GALLERY.is_file() else f"{text}: `make gallery`."


def public() -> str:
    """A table of all public names with the first sentence about each, linked to their entries."""
    rows = [f"| [`sl.{name}`][sledlab.{name}] | {cell(first_sentence(name))} |" for name in sledlab.__all__]
    return "\n".join(("| name | is |", "| --- | --- |", *rows))


def first_sentence(name: str) -> str:
    """Return the first sentence on a public name."""
    if name in catalog.CATALOGS:
        return f"All {catalog.PLURALS[name]}, by name."
    if name == "__version__":
        return "The version of sledlab."
    return (inspect.getdoc(getattr(sledlab, name)) or "").partition("\n")[0]


def names(section: str) -> str:
    """A table of names and meanings."""
    rows = [f"| `{entry.name}` | {cell(entry.meaning)} |" for entry in catalog.entries(section)]
    return "\n".join(("| name | meaning |", "| --- | --- |", *rows))


def operations() -> str:
    """A table of the cycles of each kind of operation, a column for every node that comes with sledlab."""
    nodes = [entry for entry in catalog.node.list() if isinstance(entry, entries.NodeEntry)]
    cycles = {entry.name: {each.kind: f"{each.cycles:,g}" for each in entry.operations} for entry in nodes}
    network_kinds = {each.kind for entry in nodes for each in entry.operations if each.network}
    kinds = dict.fromkeys(each.kind for entry in nodes for each in entry.operations)
    rows = [
        f"| `{kind}` | {' | '.join(cycles_by_kind.get(kind, '') for cycles_by_kind in cycles.values())} "
        f"| {'network' if kind in network_kinds else 'compute'} |"
        for kind in kinds
    ]
    header = f"| operation | {' | '.join(f'`{name}`' for name in cycles)} | counts as |"
    return "\n".join((header, f"| --- | {'--- | ' * len(cycles)}--- |", *rows))


def _cell(value: object) -> str:
    """A parameter's value in a table; empty for an empty text."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def presets(kind: str) -> str:
    """A table of the parameters of all presets of nodes or networks, a column for each."""
    preset_entries = catalog.CATALOGS[kind].list()
    specs = {spec.name: spec for entry in preset_entries for spec in entry.parameters}
    defaults_by_name = [
        {spec.name: _cell(spec.default) for spec in entry.parameters} for entry in preset_entries
    ]
    rows = [
        f"| `{name}` | {spec.unit} | {' | '.join(each.get(name, '') for each in defaults_by_name)} |"
        for name, spec in specs.items()
    ]
    header = f"| key | unit | {' | '.join(f'`{entry.name}`' for entry in preset_entries)} |"
    return "\n".join((header, f"| --- | --- | {'--- | ' * len(preset_entries)}", *rows))


def prices() -> str:
    """A table of the prices that come with sledlab; presets that cost the same share a row."""
    table = defaults()
    units = {
        "node": "a node without its store",
        "device": "a device",
        "device_gb": "10^9 bytes of a device",
        "network": "a port of the network",
    }
    presets_by_price: dict[tuple[str, float], list[str]] = {}
    for name, each in table.tables.items():
        for preset, usd in each.items():
            presets_by_price.setdefault((name, usd), []).append(f"`{preset}`")
    rows = [
        f"| {units[name]} | {', '.join(preset_texts)} | {usd:g} |"
        for (name, usd), preset_texts in presets_by_price.items()
    ]
    rows.append(f"| a kWh | | {table.kwh:g} |")
    return "\n".join(("| price of | | USD |", "| --- | --- | --- |", *rows))


def schedulers() -> str:
    """A section for every scheduler."""
    return "\n\n".join(scheduler(entry) for entry in catalog.scheduler.list())


def columns(folder: str, *tables: str) -> str:
    """Return a table of the columns of a study's tables; of several tables, with those of each column."""
    columns_by_name: dict[str, tuple[Column, list[str]]] = {}
    for table in tables:
        kind = load_object(f"sledlab.studies.{folder}.tables:{outcome_class(folder)}").kinds[table]
        for name, column in columns_of(kind).items():
            columns_by_name.setdefault(name, (column, []))[1].append(f"`{table}`")
    rows = [
        f"| `{name}` | {column.unit} | {cell(column.meaning)} |"
        + (
            f" {', '.join(table_texts) if len(table_texts) < len(tables) else 'all'} |"
            if len(tables) > 1
            else ""
        )
        for name, (column, table_texts) in columns_by_name.items()
    ]
    extra_cells = (" tables |", " --- |") if len(tables) > 1 else ("", "")
    return "\n".join(
        (f"| column | unit | holds |{extra_cells[0]}", f"| --- | --- | --- |{extra_cells[1]}", *rows)
    )


def request_columns() -> str:
    """Return a table of the columns of the table of requests."""
    rows = [f"| `{name}` | {unit} | {cell(meaning)} |" for name, (unit, meaning) in REQUEST_COLUMNS.items()]
    return "\n".join(("| column | unit | holds |", "| --- | --- | --- |", *rows))


def outcome_class(folder: str) -> str:
    """Return the name of the class of a study's results."""
    return next(each.names[1] for each in LIST if each.folder == folder)


def scheduler(entry: entries.Entry) -> str:
    """Return a section: what a scheduler does, whether requests can starve, and its parameters."""
    aliases = f" (also `{'`, `'.join(entry.aliases)}`)" if entry.aliases else ""
    meaning = entry.meaning[0].upper() + entry.meaning[1:]
    waits = "No request can wait forever." if entry.starvation_free else "A request can wait forever."
    own_parameters = tuple(spec for spec in entry.parameters if spec.name != "batch")
    table = f"\n\n{parameter_table(own_parameters)}" if own_parameters else ""
    return f"## `{entry.name}`{aliases}\n\n{meaning}. {waits}{table}"


def parameters(*path: str) -> str:
    """Return a table of the parameters of an entry, given by name, or by section and name."""
    return parameter_table(find(*path).parameters)


def cloud() -> str:
    """Return a table of the parameters of a generated cloud."""
    rows = [
        f"| `{name}` | {code(DEFAULTS[name])} | {parameter.unit} | {parameter.min_value:g} to "
        f"{parameter.max_value:g} | {cell(parameter.meaning)} |"
        for name, parameter in PARAMETERS.items()
    ]
    return "\n".join(
        ("| key | default | unit | allowed | meaning |", "| --- | --- | --- | --- | --- |", *rows)
    )


def parameter_table(specs: tuple[entries.ParameterSpec, ...]) -> str:
    """A table of parameters."""
    rows = [
        f"| `{spec.name}` | {code(spec.default)} | {spec.unit} | {allowed_values(spec)} "
        f"| {cell(spec.meaning)} |"
        for spec in specs
    ]
    return "\n".join(
        ("| key | default | unit | allowed | meaning |", "| --- | --- | --- | --- | --- |", *rows)
    )


def find(*path: str) -> entries.Entry:
    """Return the entry with a name, in the section given before the name or in any."""
    *sections, name = path
    for section, items in catalog.load_catalog().items():
        for item in [items] if isinstance(items, dict) else items:
            if item["name"] == name and (not sections or section in sections):
                return entries.to_entry(item)
    raise KeyError(f"nothing is called `{name}`")


def options(command: str) -> str:
    """Return a table of the options of a run or a study, in Python and on the command line."""
    option_classes = {"simulate": SimulateOptions, "replay": ClusterOptions}
    declarations = declared_options(
        option_classes.get(command) or load_object(f"sledlab.studies.{command}:STUDY").options
    )
    rows = [
        f"| `{name}` | {code(flag(name, each))} | {f'`{each.key}`' if each.key else ''} "
        f"| {cell(each.meaning)} | {cell(each.default)} |"
        for name in sort_options(declarations)
        if (each := declarations.get(name)) is not None
    ]
    header = "| keyword | option | key | meaning | default |"
    return "\n".join((header, "| --- | --- | --- | --- | --- |", *rows))


def flag(name: str, option: Option) -> str:
    """The option on the command line."""
    if option.python_only:
        return ""
    word = f"--{option.flag or name.replace('_', '-')}"
    return word if option.read is bool else f"{word} {option.metavar}"


def allowed_values(spec: entries.ParameterSpec) -> str:
    """The values a parameter may have."""
    if isinstance(spec.kind, tuple):
        return ", ".join(f"`{word}`" for word in spec.kind)
    return f"{spec.range[0]:g} to {spec.range[1]:g}" if spec.range else spec.kind


def code(value: object) -> str:
    """A value as code; nothing where it is empty."""
    return f"`{value}`" if value != "" else ""


def cell(text: str) -> str:
    """Text that does not end a cell of a table."""
    return text.replace("|", "\\|")


def help_text(*path: str) -> str:
    """Return the output of `--help`."""
    context = click.Context(cli, info_name="sledlab", max_content_width=100, terminal_width=100)
    command: click.Command = cli
    for name in path:
        assert isinstance(command, click.Group)
        subcommand = command.get_command(context, name)
        assert subcommand is not None, f"no command `{name}`"
        command = subcommand
        context = click.Context(
            command, info_name=name, parent=context, max_content_width=100, terminal_width=100
        )
    return f"```text\n{command.get_help(context)}\n```"


def jobs() -> str:
    """A table of the jobs that come with sledlab."""
    rows = [f"| `{each.name}` | `{each.data}` | {each.meaning} |" for each in job.LIST]
    return "\n".join(("| job | data | does |", "| --- | --- | --- |", *rows))


def job_parameters(name: str) -> str:
    """A table of the parameters of a job."""
    return parameter_table(job.find(name).parameters)


def data() -> str:
    """A section for every kind of data that jobs run on."""
    return "\n\n".join(
        f"### `{each.name}`\n\n{each.meaning}\n\n{parameter_table(class_parameters(each.kind))}"
        for each in job.data.LIST
    )


def file(path: str) -> str:
    """Return a Python file as a code block."""
    return f"```python\n{Path(path).read_text().rstrip()}\n```"


def bench(name: str) -> str:
    """Return a table of the results of a benchmark, `validation/benches/NAME.json`."""
    results = json.loads((BENCHES / f"{name}.json").read_text(encoding="utf-8"))
    rows = results["rows"]
    if "columns" in results:
        return side_by_side(results["columns"], rows)
    lines = [f"| {row['what']} | {row['value']:.3g} {row['unit']} |" for row in rows]
    return "\n".join(("| what | measured |", "| --- | ---: |", *lines))


def table(name: str) -> str:
    """The table of a benchmark with its own columns, and its caption if it has one."""
    results = json.loads((BENCHES / f"{name}.json").read_text(encoding="utf-8"))
    rows = results["rows"]
    lines = [[f"{value:,}" if isinstance(value, int) else value for value in row.values()] for row in rows]
    rules = ["---:" if isinstance(value, int) else "---" for value in rows[0].values()]
    cells = "\n".join(f"| {' | '.join(each)} |" for each in (rows[0].keys(), rules, *lines))
    return f"{cells}\n\n{results['caption']}" if "caption" in results else cells


def side_by_side(columns: list[str], rows: list[dict[str, Any]]) -> str:
    """Return a table of a benchmark of several subjects, with a column for each."""
    lines = [
        "| what | " + " | ".join(f"`{name}`" for name in columns) + " |",
        "| --- |" + " ---: |" * len(columns),
    ]
    for row in rows:
        value_texts = ("" if value is None else f"{figure(value)} {row['unit']}" for value in row["values"])
        lines.append(f"| {row['what']} | {' | '.join(value_texts)} |")
    return "\n".join(lines)


MARKERS = {
    "bench": bench,
    "cloud": cloud,
    "columns": columns,
    "request_columns": request_columns,
    "data": data,
    "evidence": page_summary,
    "explore": explorable.links,
    "file": file,
    "help": help_text,
    "job": job_parameters,
    "jobs": jobs,
    "gallery": gallery,
    "laboratory": laboratory,
    "list": names,
    "operations": operations,
    "options": options,
    "parameters": parameters,
    "presets": presets,
    "prices": prices,
    "public": public,
    "schedulers": schedulers,
    "table": table,
}
"""The function that replaces each marker."""
