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
        [*(_device(failed) for failed in faults["failed"]), *_tips(faults), *_lost_blocks(faults)]
    )


def rows(result: Result) -> Iterator[tuple[str, str]]:
    """The numbers about faults, as rows of a table: name and value."""
    faults = result.summary.get("faults")
    if faults is None:
        return
    if faults["bad_tips"]:
        yield "bad tips", f"{faults['bad_tips']:,}, {faults['remapped_tips']:,} of them remapped"
    for failed in faults["failed"]:
        after = failed["rebuilt_after_s"]
        rebuilt = "not rebuilt" if after is None else f"rebuilt after {figure(after)} s"
        yield f"device {failed['device']}", f"failed at {figure(failed['at_s'])} s, {rebuilt}"
    if faults["failed"]:
        yield "reads recomputed from other devices", f"{faults['degraded_reads']:,}"
        yield "requests restarted at a failure", f"{faults['restarted_requests']:,}"
        yield "rebuild, read", data(faults["rebuild_read_bytes"])
        yield "rebuild, written", data(faults["rebuild_written_bytes"])
        yield "energy of the rebuild and of aborted requests", energy(faults["background_j"])
    yield "blocks lost", f"{faults['lost_blocks']:,}"
    yield "requests for lost blocks", f"{faults['lost_requests']:,}"


def _device(failed: Mapping[str, Any]) -> str:
    """A sentence on a failed device: when it failed, and the time from then to the end of its rebuild."""
    when = f"failed at {figure(failed['at_s'])} s" if failed["at_s"] else "had failed before the run"
    after = failed["rebuilt_after_s"]
    rebuilt = "it was not rebuilt" if after is None else f"its spare was rebuilt {figure(after)} s later"
    return f"Device {failed['device']} {when}; {rebuilt}."


def _tips(faults: Mapping[str, Any]) -> Iterator[str]:
    """A sentence on the number of bad tips, if there are any."""
    bad, remapped = faults["bad_tips"], faults["remapped_tips"]
    if bad:
        spares = f"; spares took the places of {remapped:,}" if remapped else ""
        yield f"{bad:,} {'tip is' if bad == 1 else 'tips are'} bad{spares}."


def _lost_blocks(faults: Mapping[str, Any]) -> Iterator[str]:
    """A sentence on the blocks that are lost."""
    blocks, requests = faults["lost_blocks"], faults["lost_requests"]
    if blocks:
        size = data(blocks * 512)
        yield f"{blocks:,} blocks ({size}) are lost; {requests:,} requests were for some of them."
    else:
        yield "No data is lost."
