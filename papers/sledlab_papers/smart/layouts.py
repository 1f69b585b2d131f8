"""Layouts of pages on stores, of which Chiu 2004 says nothing: three readings, with two constants each."""

from __future__ import annotations

from dataclasses import dataclass

from .published_times import DISK, MEMS

DISK_WITHOUT_READ_AHEAD = f"{DISK}:read_ahead=none"


@dataclass(frozen=True)
class FittedReading:
    """A reading, and its constants fitted to table 3 (`python -m sledlab_papers.smart.fit`)."""

    name: str
    title: str
    extent_kb: int
    """Size of contiguous pieces of files, in KB; 0 for whole files."""
    request_us: int
    block_kb: int
    disk: str = DISK

    @property
    def suffix(self) -> str:
        """Ending of directories; the default reading, that of the experiments' files, has none."""
        return "" if self is SCATTERED_PAGES else f"-{self.name}"

    @property
    def options(self) -> tuple[str, ...]:
        """Options that differ from the files of experiments."""
        if self is SCATTERED_PAGES:
            return ()
        constants = {"extent_kb": self.extent_kb, "request_us": self.request_us, "block_kb": self.block_kb}
        settings = (part for key, value in constants.items() for part in ("--set", f"node.{key}={value}"))
        return (*settings, "--device", ",".join([self.disk, *MEMS]))


SCATTERED_PAGES = FittedReading("scattered", "pages scattered over the share", 8, 465, 40)
CONTIGUOUS_PAGES = FittedReading("contiguous", "pages in order", 0, 353, 8)
NO_READ_AHEAD = FittedReading(
    "no-read-ahead", "pages in order, no read-ahead on the disk", 0, 334, 32, DISK_WITHOUT_READ_AHEAD
)

READINGS = (SCATTERED_PAGES, CONTIGUOUS_PAGES, NO_READ_AHEAD)
