"""List of the studies, one line each; each study has its own folder or file.

The line names the study's folder; its names in `sledlab` and, where it has axes, its command follow from it.
Nothing is imported before it is used. Folders `races`, `stores` and `costs` hold what several studies share.
"""

from __future__ import annotations

from typing import NamedTuple


class ListedStudy(NamedTuple):
    """A study in the list.

    Attributes:
        folder: Its folder in this package.
        meaning: Purpose, in one line.
        names: Its public names: its function and the class of its outcome.
        parent: The command that it is a part of; empty where it has a command of its own.
        display: Module of its folder with the `PRESENTATION` of its outcome (else `sledlab.study.display`).
    """

    folder: str
    meaning: str
    names: tuple[str, ...]
    parent: str = ""
    display: str = ""

    @property
    def name(self) -> str:
        """The name of the study in commands and files.

        Examples:
            >>> ListedStudy("side_by_side", "", ()).name
            'side-by-side'
        """
        return self.folder.replace("_", "-")


def find_study(name: str) -> ListedStudy | None:
    """Return the study with a name, or `None`.

    Examples:
        >>> find_study("side-by-side").parent
        'compare'
    """
    return next((each for each in LIST if each.name == name), None)


LIST = (
    ListedStudy(
        "compare",
        "Compare schedulers over a range of loads.",
        ("compare", "Comparison"),
        display="summary",
    ),
    ListedStudy(
        "side_by_side",
        "Compare devices on one trace or several.",
        ("side_by_side", "SideBySide"),
        parent="compare",
        display="summary",
    ),
    ListedStudy(
        "hybrid",
        "Study MEMS in front of a disk.",
        ("hybrid_study", "HybridStudy"),
        display="page",
    ),
    ListedStudy(
        "tune",
        "Choose a MEMS caching disk for a budget.",
        ("tune_hybrid", "TunedHybrid"),
        parent="hybrid",
        display="summary",
    ),
    ListedStudy(
        "power",
        "Study energy and power policies.",
        ("power_study", "PowerStudy"),
        display="page",
    ),
    ListedStudy(
        "smart",
        "Study jobs on storage nodes with processors.",
        ("smart_study", "SmartStudy"),
        display="summary",
    ),
    ListedStudy(
        "fleet",
        "Assign many volumes to many devices.",
        ("fleet", "Fleet"),
        display="summary",
    ),
)
"""Studies with axes: the frame makes their commands."""

SINGLE = (
    ListedStudy("diff", "Compare two runs request by request.", ("diff", "Difference"), display="summary"),
    ListedStudy("seek_map", "Map seek times.", ("seek_map", "SeekMap"), parent="device", display="summary"),
    ListedStudy(
        "drive",
        "Compare a disk with measured service times.",
        ("validate_drive", "DriveValidation"),
        parent="check",
        display="summary",
    ),
    ListedStudy(
        "size",
        "Find the smallest cluster that meets a goal.",
        ("smart_size", "SmartSize"),
        parent="smart",
        display="summary",
    ),
    ListedStudy(
        "miss_ratio",
        "Compute miss-ratio curves of caches.",
        ("miss_ratio_curves", "MissRatioCurves"),
        parent="trace",
        display="summary",
    ),
    ListedStudy("calibration", "Compare generated traces with published statistics.", (), parent="trace"),
)
"""Studies of a single thing, without axes: their commands are in `sledlab.cli`."""
