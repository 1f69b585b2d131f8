"""The commands of studies, made from their declarations."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sledlab.cli.completion import experiment_or_file
from sledlab.cli.group import CommandGroup
from sledlab.cli.help import GroupedHelp
from sledlab.cli.options import (
    REPLACE,
    SOURCE,
    json_option,
    no_plot_option,
    options,
    quiet_option,
    request_source,
    save_tables,
    show_json,
    sort_options,
    static_option,
    tables_option,
    unwrap_single,
)
from sledlab.cli.study_file import refuse_study
from sledlab.display import find_presentation
from sledlab.errors import Error, IncompleteStudy
from sledlab.lazy import later, load_object
from sledlab.model.experiment import is_name
from sledlab.runs.keywords import SOURCES
from sledlab.runs.options import Option, declared_options
from sledlab.show import terminal
from sledlab.studies import LIST, find_study

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sledlab.study.run import Study

read_tables = later("sledlab.study.file:read_tables")

OUT = Option("Directory for tables and report; resumes a study.", "DIR")


def command(name: str) -> click.Command:
    """Return the command of a study by its name.

    Studies listed under that study are commands beneath it, or are chosen by their options.
    """
    study = _load_study(name)
    substudies_by_name = {each.name: _load_study(each.name) for each in LIST if each.parent == name}
    alternatives = [each for each in substudies_by_name.values() if each.selecting_keywords]
    subcommands = [each for each, other in substudies_by_name.items() if other not in alternatives]
    if not subcommands:
        return study_command(study, alternatives)
    group = study_command(study, alternatives, CommandGroup)
    assert isinstance(group, click.Group)
    for each in subcommands:
        group.add_command(command(each), each)
    return group


def _load_study(name: str) -> Study[Any]:
    listed = find_study(name)
    assert listed is not None
    study: Study[Any] = load_object(f"sledlab.studies.{listed.folder}:STUDY")
    return study


def study_command(
    study: Study[Any], others: Sequence[Study[Any]] = (), command_class: type[click.Command] = GroupedHelp
) -> click.Command:
    """A command that runs a study, or one of `others` where an option chooses that."""

    @options(_all_options(study, others))
    @tables_option
    @static_option
    @quiet_option
    @json_option
    def run(
        study_file: str | None,
        out: str | None,
        *,
        replace: bool | None,
        as_json: bool,
        no_plot: bool = False,
        **flags: Any,
    ) -> None:
        studied_place, study_file = (
            (study_file, None) if _is_studied_place(study, study_file) else (None, study_file)
        )
        refuse_study(study_file, [each.name for each in (study, *others)])
        chosen_study = _choose_study(study, others, study_file, flags)
        values_by_option = {name: flags.get(name) for name in declared_options(chosen_study.options)}
        source, device = _inputs(chosen_study, flags)
        for name in (*(SOURCES if source is not None else ()), *(("device",) if device is not None else ())):
            values_by_option.pop(name, None)
        if studied_place is not None:
            if values_by_option[chosen_study.place] is not None:
                raise Error(
                    f"both `{studied_place}` and --{chosen_study.place} were given", remedy="omit one of them"
                )
            values_by_option[chosen_study.place] = studied_place
        try:
            outcome = chosen_study.run(
                source, device, values_by_option, study=study_file, out=out, replace=bool(replace)
            )
        except IncompleteStudy as unfinished:
            if as_json:
                show_json(dict(vars(unfinished)))
            else:
                terminal.say(str(unfinished))
            return
        save_tables(outcome)
        if as_json:
            show_json(outcome.to_dict())
            return
        find_presentation(outcome).show(outcome, plot=not no_plot)
        _show_trace_notes(source)
        if closing := outcome.closing_line(Path(out) if out else None):
            terminal.note(closing)

    if study.has_sketch:
        run = no_plot_option(run)
    metavar = f"[{study.place.upper()}|STUDY]" if study.place else "[STUDY]"
    study_file_argument = _OwnArgument(
        ["study_file"], metavar=metavar, required=False, shell_complete=experiment_or_file
    )
    params = [study_file_argument, *reversed(run.__dict__.pop("__click_params__"))]
    return command_class(study.name, callback=run, params=params, help=inspect.cleandoc(study.help))


def _inputs(study: Study[Any], flags: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return the source and the device that options name; `None` for several, which are axes of the study."""
    source = request_source(flags) if study.subject.takes_requests else None
    device = unwrap_single(flags.get("device")) if study.device else None
    return source, None if isinstance(device, list) else device


def _show_trace_notes(source: Any) -> None:
    """Print what the reader of a trace file omitted and noticed; a study shows no runs with these notes."""
    if source is None or not hasattr(source, "opener") or source.name == "-":
        return
    for note in source.notes():
        terminal.note(f"trace: {note}")


def _is_studied_place(study: Study[Any], argument: str | None) -> bool:
    """Whether the argument of a study's command is the place that it studies, and no file of a study."""
    return (
        bool(study.place)
        and argument is not None
        and Path(argument).suffix != ".toml"
        and not is_name(argument)
    )


class _OwnArgument(click.Argument):
    """An argument of a command that commands beneath it do not have."""

    def get_usage_pieces(self, ctx: click.Context) -> list[str]:
        """The argument in the usage line of its own command; nothing in those of commands beneath it."""
        return super().get_usage_pieces(ctx) if self in ctx.command.params else []


def _choose_study(
    study: Study[Any], others: Sequence[Study[Any]], file: str | None, flags: Mapping[str, Any]
) -> Study[Any]:
    """The study that options or the file choose: one of `others`, else `study`.

    Raises:
        Error: Some options belong to one study, some to another.
    """
    option_names = [name for name, value in flags.items() if value is not None]
    list_options = {name for name in option_names if isinstance(flags[name], list) and len(flags[name]) > 1}
    selected_study = next(
        (other for other in others if list_options.intersection(other.selecting_keywords)), None
    )
    if selected_study is None and others and file is not None:
        study_table = read_tables(file).get("study", {})
        selected_study = next(
            (
                other
                for other in others
                if isinstance(study_table, dict) and study_table.get("kind") == other.name
            ),
            None,
        )
    selected_study = selected_study or study
    known_names = {"device", *SOURCE, *declared_options(selected_study.options)}
    for name in option_names:
        if name not in known_names:
            flag = name.replace("_", "-")
            owner = next((other for other in others if name in declared_options(other.options)), study)
            selecting_flags = " or ".join(
                f"--{keyword}" for keyword in (owner.selecting_keywords or selected_study.selecting_keywords)
            )
            problem = "applies only" if owner.selecting_keywords else "cannot be combined"
            raise Error(
                f"`--{flag}` {problem} with several values of {selecting_flags}", remedy="omit one of them"
            )
    return selected_study


def _all_options(study: Study[Any], others: Sequence[Study[Any]]) -> Mapping[str, Option]:
    """The options of all these studies, in the order of help."""
    options_by_name = dict(declared_options(study.options))
    for other in others:
        options_by_name |= {
            name: option
            for name, option in declared_options(other.options).items()
            if name not in options_by_name
        }
    omitted_names = (
        {"share"} if study.extend_plan is not None else set()
    )  # later runs depend on results of earlier ones
    options_by_name = {
        name: option
        for name, option in options_by_name.items()
        if not option.python_only and name not in omitted_names
    }
    sorted_options = sort_options(
        options_by_name, device=study.device, takes_requests=study.subject.takes_requests
    )
    return {**sorted_options, "out": OUT, **REPLACE}
