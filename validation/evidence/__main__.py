"""Measure again the pages whose result has changed: `python -m validation.evidence [NAME ...]`.

Resumes after an interruption. NAME is a group (`validate`, `reproduce`), the path of a page, or an entry;
default: all.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace

from ..build import WrongBuildError, require_release_build
from . import reproduction, validation
from .entry import Output
from .manifest import Manifest, Record
from .runner import Fingerprints, Runner, Status, check, outdated_entries


def outputs() -> list[Output]:
    """Return all pages, in the order in which they are measured.

    The tests of validation are first: if they fail, nothing else is worth measuring.
    """
    return [*validation.outputs(), *reproduction.outputs()]


def select_outputs(all_outputs: Sequence[Output], names: Sequence[str]) -> list[Output]:
    """Return the outputs with the entries that some names select; without names, all.

    Raises:
        LookupError: if a name selects nothing.
    """
    if not names:
        return list(all_outputs)
    unknown_names = set(names)
    selected_outputs = []
    for output in all_outputs:
        matching_names = {output.group, output.path} & set(names)
        entries = [entry for entry in output.entries if matching_names or entry.name in names]
        unknown_names -= matching_names | {entry.name for entry in entries}
        if entries:
            selected_outputs.append(replace(output, entries=entries))
    if unknown_names:
        raise LookupError(f"no group, page or entry named {', '.join(sorted(unknown_names))}")
    return selected_outputs


def report(statuses: Sequence[Status]) -> None:
    """Print the entries that are not current, by page, and their number."""
    outdated_statuses = list(outdated_entries(statuses))
    for path in dict.fromkeys(each.output.path for each in outdated_statuses):
        print(path)
        for each in (each for each in outdated_statuses if each.output.path == path):
            print(f"  {each.entry.name}: {_measurement_text(each.record)}{each.reason}")
    print(f"{len(outdated_statuses)} of {len(statuses)} entries are not current")


def _measurement_text(record: Record | None) -> str:
    return f"measured {record.date}, sources {record.sources or 'unknown'}; " if record else ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is stale, or with `--check` list it; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m validation.evidence", description=__doc__)
    parser.add_argument("name", nargs="*", help="what to check or measure [default: all]")
    parser.add_argument("--check", action="store_true", help="list stale entries and measure nothing")
    parser.add_argument(
        "--strict", action="store_true", help="with --check: exit code 1 if an entry is not current"
    )
    parser.add_argument("--again", action="store_true", help="measure entries that are current too")
    options = parser.parse_args(arguments)
    try:
        require_release_build()
        all_outputs = outputs()
        selected_outputs = select_outputs(all_outputs, options.name)
    except (WrongBuildError, LookupError) as error:
        print(error, file=sys.stderr)
        return 2
    manifest = Manifest.read()
    manifest.retain({output.path: {entry.name for entry in output.entries} for output in all_outputs})
    manifest.write()
    runner = Runner(manifest)
    try:
        statuses = check(selected_outputs, manifest, Fingerprints())
        if options.check:
            report(statuses)
            return int(options.strict and not all(each.is_current for each in statuses))
        runner.run(
            [each for each in statuses if not each.unknown_reason and (options.again or not each.is_current)]
        )
    except KeyboardInterrupt:
        print("interrupted; the same command resumes", file=sys.stderr)
        return 130
    for each in statuses:
        if each.unknown_reason:
            print(f"{each.entry.name} {each.reason}", file=sys.stderr)
    if runner.failed_names:
        print(f"failed: {', '.join(runner.failed_names)}", file=sys.stderr)
    return int(bool(runner.failed_names))


if __name__ == "__main__":
    sys.exit(main())
