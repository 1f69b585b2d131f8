"""Sentences and table rows about a run in which tips or devices fail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.show.wording import data, energy, figure

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sledlab.runs.result import Result


def sentences(result: Result) -> str:
    """Failed devices, bad tips and lost blocks, in sentences; empty for runs in which nothing can fail."""
    faults = result.summary.get("faults")
    if faults is None:
        return ""
    return " ".join(
        [*(_device(failure) for failure in faults["failed"]), *_tips(faults), *_lost_blocks(faults)]
    )


def rows(result: Result) -> Iterator[tuple[str, str]]:
    """The numbers about faults, as rows of a table: name and value."""
    faults = result.summary.get("faults")
    if faults is None:
        return
    if faults["bad_tips"]:
        yield "bad tips", f"{faults['bad_tips']:,}, {faults['remapped_tips']:,} of them remapped"
    for failure in faults["failed"]:
        rebuild_s = failure["rebuilt_after_s"]
        rebuild = "not rebuilt" if rebuild_s is None else f"rebuilt after {figure(rebuild_s)} s"
        yield f"device {failure['device']}", f"failed at {figure(failure['at_s'])} s, {rebuild}"
    if faults["failed"]:
        yield "reads recomputed from other devices", f"{faults['degraded_reads']:,}"
        yield "requests restarted at a failure", f"{faults['restarted_requests']:,}"
        yield "rebuild, read", data(faults["rebuild_read_bytes"])
        yield "rebuild, written", data(faults["rebuild_written_bytes"])
        yield "energy of the rebuild and of aborted requests", energy(faults["background_j"])
    yield "blocks lost", f"{faults['lost_blocks']:,}"
    yield "requests for lost blocks", f"{faults['lost_requests']:,}"


def _device(failure: Mapping[str, Any]) -> str:
    """A sentence on a failed device: when it failed, and the time from then to the end of its rebuild."""
    when = f"failed at {figure(failure['at_s'])} s" if failure["at_s"] else "had failed before the run"
    rebuild_s = failure["rebuilt_after_s"]
    rebuild = (
        "it was not rebuilt" if rebuild_s is None else f"its spare was rebuilt {figure(rebuild_s)} s later"
    )
    return f"Device {failure['device']} {when}; {rebuild}."


def _tips(faults: Mapping[str, Any]) -> Iterator[str]:
    """A sentence on the number of bad tips, if there are any."""
    bad_tips, remapped_tips = faults["bad_tips"], faults["remapped_tips"]
    if bad_tips:
        spares = f"; spares took the places of {remapped_tips:,}" if remapped_tips else ""
        yield f"{bad_tips:,} {'tip is' if bad_tips == 1 else 'tips are'} bad{spares}."


def _lost_blocks(faults: Mapping[str, Any]) -> Iterator[str]:
    """A sentence on the blocks that are lost."""
    blocks, requests = faults["lost_blocks"], faults["lost_requests"]
    if blocks:
        size = data(blocks * 512)
        yield f"{blocks:,} blocks ({size}) are lost; {requests:,} requests were for some of them."
    else:
        yield "No data is lost."
