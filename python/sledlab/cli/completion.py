"""Completion on the command line: click completes commands and options, this module names, keys and files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem, get_completion_class

from sledlab.lazy import later, load_object
from sledlab.model import catalog
from sledlab.model.experiment import names as experiments
from sledlab.show import terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]

traces = later("sledlab.traces.samples")

VARIABLE = "_SLEDLAB_COMPLETE"
"""The environment variable by which a shell asks the command line to complete a word, as click names it."""

SHELLS = ("bash", "zsh", "fish")

BASH_WORDS = "# Names such as sample:mail-a are one word.\nCOMP_WORDBREAKS=${COMP_WORDBREAKS//:/}\n"

MODEL_KINDS_BY_OPTION = {
    "device": "device",
    "front": "device",
    "fit": "device",
    "scheduler": "scheduler",
    "power": "power",
    "merge": "merge",
    "cache": "cache",
    "system": "system",
    "hybrid": "hybrid",
    "replacement": "replacement",
    "workload": "workload",
    "node": "node",
    "host": "node",
    "network": "network",
}
"""Options whose values are models, by keyword, and the kind of model."""

CATALOG_SECTIONS_BY_TABLE = {
    "device": "device_kinds",
    "front": "device_kinds",
    "scheduler": "schedulers",
    "power": "power_policies",
    "hybrid": "hybrids",
    "workload": "workloads",
    "network": "network_kinds",
    "node": "nodes",
    "system": "system",
    "cache": "cache",
    "merge": "merge",
    "replay": "replay",
    "trace": "trace",
    "cluster": "cluster",
}
"""Tables of experiments, and the section of the catalog that has their parameters."""


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the script that completes commands, options, names and settings in a shell.

    \b
    Examples:
      sledlab setup completion bash > ~/.local/share/bash-completion/completions/sledlab
      sledlab setup completion zsh > ~/.zfunc/_sledlab
      sledlab setup completion fish > ~/.config/fish/completions/sledlab.fish
    """
    terminal.say_file(script(shell))


def script(shell: str) -> str:
    """The script that makes a shell complete words of `sledlab`."""
    completion_class = get_completion_class(shell)
    assert completion_class is not None
    completion = completion_class(click.Group(), {}, "sledlab", VARIABLE)
    script_text = completion.source_template % completion.source_vars()
    return (BASH_WORDS if shell == "bash" else "") + script_text.lstrip("\n").rstrip() + "\n"


def option_completer(name: str) -> Complete | None:
    """The function that completes the value of an option; `None` where the shell's own completion will do."""
    if name in ("settings", "vary"):
        return lambda _context, _parameter, word: items(keys(), word)
    if name == "trace":
        return lambda _context, _parameter, word: trace_items(word)
    if name == "job":
        return lambda _context, _parameter, word: items(jobs(), word) or files(word)
    if name in MODEL_KINDS_BY_OPTION:
        kind = MODEL_KINDS_BY_OPTION[name]
        return lambda _context, _parameter, word: items(catalog.CATALOGS[kind], word) or files(word)
    return None


def experiment_or_file(
    _context: click.Context, _parameter: click.Parameter, word: str
) -> list[CompletionItem]:
    """Complete a word to names of experiments, or files."""
    return (items(experiments(), word) if word else []) or files(word)


def model_completer(kind: str) -> Complete:
    """A function that completes a word to names of models of a kind, or files."""
    return lambda _context, _parameter, word: items(catalog.CATALOGS[kind], word) or files(word)


def trace_or_file(_context: click.Context, _parameter: click.Parameter, word: str) -> list[CompletionItem]:
    """Complete a word to names of sample traces, or files."""
    return trace_items(word)


def trace_items(word: str) -> list[CompletionItem]:
    """Names of sample traces where the word begins with `sa`, else files."""
    return (
        items((sample.name for sample in traces.samples()), word)
        if word.startswith(traces.PREFIX[:2])
        else []
    ) or files(word)


def jobs() -> list[str]:
    """Names of jobs; `sledlab.job` is imported only when one is completed."""
    return [job.name for job in load_object("sledlab.job:LIST")]


def items(names: Iterable[str], word: str) -> list[CompletionItem]:
    """Names that begin with a word; of several words between commas, the last is completed.

    Examples:
        >>> [item.value for item in items(["fcfs", "sptf", "sptf-exhaustive"], "fcfs,sp")]
        ['fcfs,sptf', 'fcfs,sptf-exhaustive']
    """
    previous_names, comma, last = word.rpartition(",")
    return [CompletionItem(f"{previous_names}{comma}{name}") for name in names if name.startswith(last)]


def files(word: str) -> list[CompletionItem]:
    """An item that tells the shell to complete files by itself."""
    return [CompletionItem(word, type="file")]


def keys() -> list[str]:
    """All keys that `--set` accepts.

    Examples:
        >>> {"device.active_tips", "replay.mode", "workload.read_share", "zsptf"} - set(keys())
        {'zsptf'}
    """
    all_keys = []
    for name, section in CATALOG_SECTIONS_BY_TABLE.items():
        entries = catalog.load_catalog().get(section, [])
        for entry in [entries] if isinstance(entries, dict) else entries:
            all_keys += [f"{name}.{spec['name']}" for spec in entry["parameters"]]
    return list(dict.fromkeys(all_keys))
