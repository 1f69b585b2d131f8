"""Execution of plans, one after another; results and workers are reused between plans."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from sledlab.errors import Error, IncompleteStudy, InternalError
from sledlab.lazy import later
from sledlab.show.progress import Progress
from sledlab.show.wording import join_names, list_names, pluralize
from sledlab.study.executor.measured import execute_runs, execute_short_runs
from sledlab.study.inputs import experiment_inputs, plugin_names
from sledlab.study.plan import with_run_name
from sledlab.study.result_cache import ResultCache, keys
from sledlab.study.work_done import WorkProgress, sample_first

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path
    from types import TracebackType

    from sledlab.study.executor.measured import CompletedRun
    from sledlab.study.executor.pool import Pool
    from sledlab.study.executor.worker_choice import WorkerChoice
    from sledlab.study.measure import MeasuredRun
    from sledlab.study.plan import Plan, RunSpec

cluster = later("sledlab.study.executor.dask:cluster")
processes = later("sledlab.study.executor.local:processes")
UserPool = later("sledlab.study.executor.user_pool:UserPool")
write_runs = later("sledlab.study.partial:write_runs")

SHORT_RUN_OPERATIONS = 20_000
"""A run of at most this many operations may execute in this process: starting others takes longer."""

MAX_NAMED = 5
"""Maximum number of failed runs that a message names."""


class Measure(Protocol):
    """Function that executes a plan."""

    def __call__(self, plan: Plan, caption: str) -> Mapping[RunSpec, MeasuredRun[Any]]:
        """Return the result of every run; `caption` is that of the progress bar."""


class Bench:
    """Execution of plans, one after another, within a context.

    Attributes:
        failed: Runs without results, with their errors, of a study that concludes despite failed runs.
    """

    def __init__(
        self,
        workers: WorkerChoice,
        directory: Path | None,
        kind: Callable[..., Any],
        *,
        reuse: Iterable[str | Path] = (),
        despite_failures: bool = False,
    ) -> None:
        """Create a bench with results of type `kind`, cached in `directory` and also read from `reuse`.

        Raises:
            Error: A directory in `reuse` has no cached runs.
        """
        self.workers = workers
        self.failed: dict[RunSpec, str] = {}
        self._despite_failures = despite_failures
        self._cache = ResultCache(directory, kind, reuse)
        self._exit_stack = ExitStack()
        self._pool: Pool | None = None
        self._process_count = 0
        self._hosts: Counter[str] = Counter()

    def __enter__(self) -> Bench:
        """Read the cached runs."""
        self._exit_stack.enter_context(self._cache)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Terminate the processes, even during a run; a cluster stays running."""
        self._exit_stack.__exit__(kind, error, trace)

    def measure(self, plan: Plan, caption: str) -> Mapping[RunSpec, MeasuredRun[Any]]:
        """Return the result of every run of a plan; only runs without a cached result are executed.

        Raises:
            Error: Runs failed, named in the message, or workers cannot be used.
            IncompleteStudy: Only a share of the runs was executed, and others have no result yet.
            KeyboardInterrupt: Ctrl-C; completed runs are saved.
        """
        keys_by_spec = keys(plan, are_lasting=self._cache.runs_directory is not None)
        share = self.workers.share
        # Runs with equal keys are equal and cached once, so they belong to the same share.
        positions_by_key = {
            key: position
            for position, key in enumerate(dict.fromkeys(keys_by_spec[each] for each in plan.specs))
        }
        first_spec_by_key = {keys_by_spec[spec]: spec for spec in reversed(plan.specs)}
        missing = [
            spec
            for spec in plan.specs
            if first_spec_by_key[keys_by_spec[spec]] == spec
            and not self._cache.has_result(keys_by_spec[spec], spec)
            and (share is None or share.contains(positions_by_key[keys_by_spec[spec]]))
        ]
        if missing and self._cache.runs_directory is not None:
            write_runs(self._cache.runs_directory.parent, plan, keys_by_spec)

        def count_cached() -> int:
            return sum(self._cache.has_result(keys_by_spec[spec], spec) for spec in plan.specs)

        with self.note_progress(len(plan.specs), count_cached):
            failed = self._run(plan, missing, keys_by_spec, caption)
        if failed and not self._despite_failures:
            raise combine_failures(failed, plan, len(missing))
        failed = {
            spec: failed[first_spec_by_key[keys_by_spec[spec]]]
            for spec in plan.specs
            if first_spec_by_key[keys_by_spec[spec]] in failed
        }
        if share is not None:
            self._cache.reload()
            finished_specs = {
                *failed,
                *(each for each in plan.specs if keys_by_spec[each] in self._cache.known),
            }
            remaining_specs = [spec for spec in plan.specs if spec not in finished_specs]
            if remaining_specs:
                executed_keys = {keys_by_spec[each] for each in missing}
                completed = [
                    each
                    for each in finished_specs
                    if keys_by_spec[each] in executed_keys and each not in failed
                ]
                raise IncompleteStudy(str(share), len(completed), len(remaining_specs), len(plan.specs))
        self.failed |= {spec: str(error) for spec, error in failed.items()}
        return {spec: self._cache.known[keys_by_spec[spec]] for spec in plan.specs if spec not in failed}

    @contextmanager
    def note_progress(self, total: int, saved: Callable[[], int]) -> Iterator[None]:
        """Add a note to an interrupt: how many of all runs are saved, and how to continue."""
        try:
            yield
        except KeyboardInterrupt as interrupt:
            runs = f"{saved()} of {total} runs"
            directory = self._cache.runs_directory
            interrupt.add_note(
                f"{runs} were completed; --out DIR would have saved them"
                if directory is None
                else f"{runs} are saved in {directory.parent}; the same command continues"
            )
            raise

    def _run(
        self, plan: Plan, specs: list[RunSpec], keys_by_spec: Mapping[RunSpec, str], caption: str
    ) -> dict[RunSpec, Error | InternalError]:
        """Execute runs and cache their results; return the failed runs with their errors."""
        failed: dict[RunSpec, Error | InternalError] = {}
        workers: set[str] = set()
        work, starts_processes = WorkProgress(plan.names, specs, 1), False
        specs = sample_first(specs)
        with Progress(caption, unit="runs") as progress:

            def show_pending(pending: Sequence[RunSpec]) -> None:
                work.update_pending(pending)
                progress.update(work.completed_count, work.fraction, work.slowest)

            def record(run: CompletedRun) -> None:
                wall_s = None
                if isinstance(run.result, (Error, InternalError)):
                    failed[run.spec] = run.result
                    self._cache.add_failure(keys_by_spec[run.spec], run.spec, run.result)
                else:
                    self._cache.add(keys_by_spec[run.spec], run.spec, run.result)
                    wall_s = run.result.timing.get("wall_s")
                work.complete(run.spec, wall_s)
                if work.is_sampled and not starts_processes:
                    progress.print_estimate(len(work.specs), work.remaining_wall_s, work.concurrency)
                workers.add(run.worker)
                self._hosts[run.host] += 1
                progress.workers = len(workers)
                progress.update(work.completed_count, work.fraction)

            are_elsewhere = self._uses_processes(specs)
            starts_processes = are_elsewhere and min(self.workers.parallel, len(specs)) > 1
            if are_elsewhere and all(_is_short(plan.texts[spec]) for spec in specs):
                for run in execute_short_runs(plan, specs, show_pending):
                    record(run)
                specs = specs[work.completed_count :]
            starts_processes = False
            pool = self._choose_pool(plan, specs)
            work.concurrency = max(1, min(pool.concurrency if pool else 1, len(specs)))
            with closing(execute_runs(plan, specs, pool, show_pending)) as runs:
                for run in runs:
                    record(run)
        return failed

    def _uses_processes(self, specs: Sequence[RunSpec]) -> bool:
        """Return whether runs execute in processes of this machine that have not been started yet."""
        elsewhere = self.workers.executor is not None or self.workers.cluster is not None
        return not elsewhere and self._process_count < min(self.workers.parallel, len(specs))

    def tell_hosts(self) -> None:
        """Print the machines that executed runs, if there are several."""
        if len(self._hosts) > 1:
            host_texts = [f"{host} ({run_count:,})" for host, run_count in sorted(self._hosts.items())]
            Progress("").tell(f"{pluralize(self._hosts.total(), 'run')} executed on {join_names(host_texts)}")

    def _choose_pool(self, plan: Plan, specs: list[RunSpec]) -> Pool | None:
        """Return the workers for some runs; None if this process executes them.

        Runs with plug-ins always execute in other processes: a plug-in imported here may be an older version
        of its file.
        """
        if not specs:
            return None
        if self.workers.executor is not None:
            self._pool = self._pool or UserPool(self.workers.executor)
            return self._pool
        if self.workers.cluster is not None:
            if self._pool is None:
                self._pool = self._exit_stack.enter_context(
                    cluster(self.workers.cluster, sends_files=self.workers.sends_files)
                )
            return self._pool
        process_count = min(self.workers.parallel, len(specs))
        if process_count == 1 and not any(plugin_names(plan.texts[spec]) for spec in specs):
            return None
        if self._process_count < process_count:
            self._pool, self._process_count = (
                self._exit_stack.enter_context(processes(process_count)),
                process_count,
            )
        return self._pool


def _is_short(text: str) -> bool:
    """Return whether an experiment, given as text, ends after a few operations and names no plug-in."""
    inputs = experiment_inputs(text)
    return 0 < inputs.max_operations <= SHORT_RUN_OPERATIONS and not inputs.plugins


def combine_failures(
    failed: Mapping[RunSpec, Error | InternalError], plan: Plan, run_count: int
) -> Error | InternalError:
    """Return the error about failed runs, out of `run_count` executed ones: the first cause, and all names.

    It is an `InternalError` if one of them failed because of a defect of sledlab.
    """
    names = [plan.names[spec] for spec in plan.specs if spec in failed]
    errors = [failed[spec] for spec in plan.specs if spec in failed]
    defects = [each for each in errors if isinstance(each, InternalError)]
    cause: Error | InternalError = defects[0] if defects else errors[0]
    name = names[errors.index(cause)]
    if len(names) > 1:
        name = f"{len(names):,} of {run_count:,} runs failed: {list_names(names, MAX_NAMED)}; {name}"
    return (
        InternalError(f"{name}: {cause}") if isinstance(cause, InternalError) else with_run_name(cause, name)
    )
