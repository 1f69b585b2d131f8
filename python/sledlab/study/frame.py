"""Run of any study: make the plan, measure runs without cached results, conclude, and write the outcome."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error, unknown
from sledlab.lazy import resolve
from sledlab.model.catalog import TABLES, ModelChoice
from sledlab.model.choices import several, spell
from sledlab.model.plugins import check_plugins
from sledlab.model.settings import document, word
from sledlab.results import UNFINISHED_RUNS, list_in_manifest, prepare_directory, record_digests
from sledlab.runs.compose import error_location
from sledlab.runs.file_names import check_local, resolve_study
from sledlab.runs.keywords import SOURCES, unknown_option
from sledlab.runs.options import declared_options
from sledlab.study.axes import check_not_varied
from sledlab.study.bench import Bench
from sledlab.study.executor.worker_choice import WorkerChoice
from sledlab.study.file import read_tables
from sledlab.study.inputs import plugin_names
from sledlab.study.plan import Question, to_toml
from sledlab.study.result_cache import RUNS
from sledlab.study.value_types import check_values

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sledlab._native import Experiment
    from sledlab.runs.compose import Device, Source
    from sledlab.study.declaration import Declaration, Out
    from sledlab.study.plan import Plan


def run(
    study: Declaration[Out],
    source: Source | None,
    device: Device | None,
    options: Mapping[str, Any],
    *,
    file: str | Path | None = None,
    out: str | Path | None = None,
    replace: bool = False,
) -> Out:
    """Run a study; see `sledlab.study.run.Study.run`."""
    declared = declared_options(study.options)
    for name in options:
        if name not in declared:
            raise unknown_option(name, declared, options)
    with error_location(file, device, options, study.options):
        return _run(study, source, device, options, file, out, replace=replace)


def _run(
    study: Declaration[Out],
    source: Source | None,
    device: Device | None,
    options: Mapping[str, Any],
    file: str | Path | None,
    out: str | Path | None,
    *,
    replace: bool,
) -> Out:
    """Run a study; its errors do not cite lines of its file yet."""
    plan = make_plan(study, source, device, options, file)
    workers = WorkerChoice.from_options(options, has_directory=out is not None)
    adaptive_part = plan.adaptive_part(study.name) if study.extend_plan is not None else ""
    if workers.share is not None and (adaptive_part or replace):
        raise _needs_all_runs(adaptive_part)
    directory = prepare_directory(out, study.name, replace=replace)  # once all runs are checked
    if directory is not None:
        list_in_manifest(directory, study.name, [RUNS, UNFINISHED_RUNS])
    reuse = several(options.get("reuse"))
    row_class = resolve(study.subject.row)
    bench = Bench(workers, directory, row_class, reuse=reuse, despite_failures=study.despite_failures)
    with bench:
        if study.extend_plan is not None and adaptive_part:
            plan = study.extend_plan(plan, bench.measure)
        results_by_spec = bench.measure(plan, study.progress_caption)
        bench.tell_hosts()
    if bench.failed:
        plan = plan.annotate(failed=bench.failed)
    with bench.note_progress(len(plan.specs), lambda: len(results_by_spec)):
        outcome = study.conclude(plan, results_by_spec)
        if directory is not None:
            list_in_manifest(directory, study.name, outcome.output_files)
            outcome.write(directory)
            (directory / UNFINISHED_RUNS).unlink(missing_ok=True)
            record_digests(directory)
    return outcome


def make_plan(
    study: Declaration[Out],
    source: Source | None,
    device: Device | None,
    options: Mapping[str, Any],
    file: str | Path | None = None,
) -> Plan:
    """Return the runs of a study, checked; the arguments are those of `Study.run`.

    Raises:
        Error: An argument is invalid; the message cites no lines of the file.
    """
    base, axes = read(study, file) if file is not None else (None, {})
    chosen_axes = {name: options[name] for name in study.axes if options.get(name) is not None}
    check_local({"study": axes}, [f"study.{name}" for name in chosen_axes])
    replaced_axes = (*(SOURCES if source is not None else ()), *(("device",) if device is not None else ()))
    axes = {**{name: value for name, value in axes.items() if name not in replaced_axes}, **chosen_axes}
    parsed_axes = parse_axes(study, axes)
    if device is None and isinstance(study.device, str) and not _has_device(base):
        device = study.device
    composed = study.subject.compose(source, device, options, base=base, options_class=study.options)
    experiment = composed.experiment
    if "seed" in parsed_axes:
        experiment = experiment.with_setting("seed", str(parsed_axes["seed"][0]))
    plan = study.plan(Question(experiment, composed.trace, parsed_axes, composed.plugins))
    settings_of_runs = [{**dict(spec.settings), "seed": str(spec.seed)} for spec in plan.specs]
    check_not_varied(_given_settings(source, device, options), settings_of_runs, plan.axes, chosen_axes)
    axes = spell_axes(plan.axes)
    toml = to_toml(study.name, plan.explicit or experiment, axes, plan.seeds[0], study.replaced_keys)
    plan = plan.annotate(
        axes=axes,
        toml=toml,
        plugins=composed.plugins,
        measure=plan.measure or resolve(study.subject.measure),
    )
    for text in plan.texts.values():
        check_plugins(plugin_names(text), plan.plugins)
    return plan


def parse_axes(study: Declaration[Any], axes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of axes, each parsed as its declaration says.

    Raises:
        Error: A value is invalid.
    """
    parsers = {name: option.parse for name, option in declared_options(study.options).items()}
    return {name: value if (parse := parsers[name]) is None else parse(value) for name, value in axes.items()}


def read(study: Declaration[Any], path: str | Path) -> tuple[Any, dict[str, Any]]:
    """A file of the study: the experiment in it, and its table `[study]`.

    Raises:
        Error: The file cannot be read, is of another study, or `[study]` has an unknown key or a value of
            another type than declared.
    """
    tables = read_tables(path)
    options = tables.get("study", {})
    if not isinstance(options, dict):
        raise Error(f"study: expected a table, found `{options}`")
    kind = options.get("kind", study.name)
    if kind != study.name:
        raise Error(
            f"`{path}` is a study of another kind, `{kind}`",
            remedy="run it with the command that wrote it",
        )
    for key in options:
        if key not in ("kind", *study.axes):
            raise unknown("key of [study]", key, list(study.axes))
    check_values(study.options, options)
    tables = resolve_study(tables, path)
    options = tables.pop("study", {})
    options.pop("kind", None)
    for table in (key.removesuffix(".kind") for key in study.replaced_keys if key.endswith(".kind")):
        model = tables.get(table, {})
        if isinstance(model, str) or (isinstance(model, dict) and "kind" in model):
            del tables[table]
    return study.subject.experiment(document(tables), Path(path).name), options


def _given_settings(source: Any, device: Any, options: Mapping[str, Any]) -> dict[str, str]:
    """What the user chose that settings can choose, by key."""
    models = {**{table: options.get(table) for table in TABLES}, "workload": source}
    kinds = {
        f"{table}.kind": model.name.partition(":")[0]
        for table, model in models.items()
        if isinstance(model, ModelChoice)
    }
    presets = {"device.preset": device} if isinstance(device, str) else {}
    given = {**presets, **kinds, **(options.get("settings") or {})}
    return {key: word(value) for key, value in given.items() if isinstance(value, (str, int, float))}


def _needs_all_runs(adaptive_part: str) -> Error:
    """The error about a share of the runs of a study with a `Plan.adaptive_part`, or of a replaced one."""
    if adaptive_part:
        return Error(
            f"`--share` cannot be combined with `{adaptive_part}`: "
            "what runs next depends on all that ran before",
            remedy="omit --share; to use many machines, use --cluster",
        )
    return Error(
        "`--share` cannot be combined with `--replace`: each share would delete runs of the others",
        remedy="choose another --out for all shares",
    )


def _has_device(base: Experiment | None) -> bool:
    """Whether an experiment names a device."""
    return base is not None and any(base.setting(f"device.{key}") is not None for key in ("preset", "kind"))


def spell_axes(axes: Mapping[str, Any]) -> dict[str, Any]:
    """Axes as a file of a study spells them: models as words."""

    def plain(value: Any) -> Any:
        if isinstance(value, ModelChoice):
            return spell(value)
        if isinstance(value, Path):
            return str(value)
        return [plain(each) for each in value] if isinstance(value, (list, tuple)) else value

    return {name: plain(value) for name, value in axes.items()}
