"""Studies: declared when a command is listed; running one imports the frame."""

from __future__ import annotations

from inspect import cleandoc
from textwrap import indent
from typing import TYPE_CHECKING, Any

from sledlab.lazy import later
from sledlab.runs.keywords import accept_options
from sledlab.study.declaration import ONE_SYSTEM, Declaration, Out, Subject

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from sledlab.runs.compose import Device, Source

__all__ = ["ONE_SYSTEM", "Study", "Subject"]

ARGUMENTS = """Args:
    source: A trace or a workload, as in `simulate`.
    device: A device, its name or file.
    study: A file `study.toml` that a study wrote; other arguments override it.
    out: A directory for tables and report. A study that was stopped resumes there.
    replace: Whether to delete existing sledlab results in that directory first.
    **options: Further options; see the table below.

Raises:
    Error: An argument is invalid, or runs failed; the message names them.
"""
"""Documentation of the arguments and errors of every function made by `Study.function`."""

run_study = later("sledlab.study.frame:run")
read_file = later("sledlab.study.frame:read")


class Study(Declaration[Out]):
    """A declared study that can be run."""

    def run(
        self,
        source: Source | None,
        device: Device | None,
        options: Mapping[str, Any],
        *,
        study: str | Path | None = None,
        out: str | Path | None = None,
        replace: bool = False,
    ) -> Out:
        """Run the study.

        Args:
            source: A trace or a workload, as in `simulate`.
            device: A device, where it takes one.
            options: Values of options by keyword, as declared in `options`.
            study: A file from an `out` directory, or the name of an experiment; other arguments override
                it.
            out: A directory for tables and report; an interrupted study resumes there.
            replace: Whether to delete existing sledlab results in that directory first.

        Raises:
            Error: An argument is invalid, or runs failed, named in the message; completed runs are saved.
            IncompleteStudy: Only a share of the runs was executed, and others have no result yet.
            KeyboardInterrupt: Ctrl-C; completed runs are saved.
        """
        outcome: Out = run_study(self, source, device, options, file=study, out=out, replace=replace)
        return outcome

    def function(self, name: str, examples: str) -> Callable[..., Out]:
        """Return the public function that runs the study, with its signature and documentation.

        Args:
            name: Name of the function.
            examples: Examples for its documentation, in the form of `doctest`.
        """

        def run(
            source: Source | None = None,
            device: Device | None = None,
            *,
            study: str | Path | None = None,
            out: str | Path | None = None,
            replace: bool = False,
            **options: Any,
        ) -> Out:
            return self.run(source, device, options, study=study, out=out, replace=replace)

        run.__name__ = run.__qualname__ = name
        run.__module__ = self.options.__module__
        run.__doc__ = f"{self.meaning}\n\n{ARGUMENTS}\nExamples:\n{indent(cleandoc(examples), '    ')}"
        return accept_options(self.options)(run)

    def read(self, path: str | Path) -> tuple[Any, dict[str, Any]]:
        """A file of the study: the experiment in it, and its table `[study]`.

        Raises:
            Error: The file cannot be read, is of another study, or `[study]` has an unknown key.
        """
        experiment_and_axes: tuple[Any, dict[str, Any]] = read_file(self, path)
        return experiment_and_axes
