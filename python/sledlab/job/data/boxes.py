"""Records with clusters planted in subspaces, generated in blocks and kept."""

from __future__ import annotations

import json
from dataclasses import asdict, astuple, dataclass
from typing import TYPE_CHECKING, Any

from sledlab import _native
from sledlab.errors import Error
from sledlab.job.data import check_parameters, hash_start, home
from sledlab.job.data.columns import create_array, open_array
from sledlab.job.files import Rows
from sledlab.lazy import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from sledlab.job.data import Tell


HASHED_RECORDS = 64
"""Records that identify their generator."""


@dataclass(frozen=True)
class PlantedBoxes:
    """Records of numbers from 0 to 100, shared evenly among nodes, with boxes in some dimensions each.

    Attributes:
        records: Number of records.
        dims: Dimensions of a record, of 4 bytes each.
        clusters: Number of clusters.
        cluster_dims: Dimensions of a cluster's own subspace.
        box_share: Share of the range that a cluster covers in each dimension of its subspace.
        noise: Share of records that belong to no cluster.
    """

    records: int = 4_281_782
    dims: int = 20
    clusters: int = 5
    cluster_dims: int = 5
    box_share: float = 0.1
    noise: float = 0.1

    def path(self, seed: int) -> Path:
        """The file in which the records are kept."""
        name = f"{'-'.join(map(str, astuple(self)))}-seed-{seed}-{self.generator(1, seed)}"
        return home() / "boxes" / name / "records.npy"

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_parameters(self)
        if not self.records:
            raise Error("`records` cannot be 0", remedy="choose a number above 0")

    def prepare(self, nodes: int, seed: int, tell: Tell) -> None:
        """Generate the records, unless they are kept."""
        path = self.path(seed)
        if path.exists():
            return
        boxes = self._boxes(seed)
        with create_array(path, np.float32, (self.records, self.dims)) as records:
            for start in range(0, self.records, boxes.BLOCK):
                stop = min(self.records, start + boxes.BLOCK)
                tell("generating records", start / self.records)
                block = np.frombuffer(boxes.block(start // boxes.BLOCK, stop - start), np.float32)
                records[start:stop] = block.reshape(stop - start, self.dims)

    def _boxes(self, seed: int) -> _native.Boxes:
        return _native.Boxes(seed, self.dims, self.clusters, self.cluster_dims, self.box_share, self.noise)

    def planted_clusters(self, seed: int) -> list[dict[str, Any]]:
        """The clusters: `dims`, and in each of these the bounds of the cluster's box, `lows` and `highs`."""
        result: list[dict[str, Any]] = json.loads(self._boxes(seed).clusters())
        return result

    def files(self, nodes: int, seed: int) -> Mapping[str, Rows]:
        """The records, as one file."""
        return {"records": Rows(open_array(self.path(seed)), 4 * self.dims)}

    def identity(self) -> Mapping[str, Any]:
        """The parameters."""
        return {"data": "boxes", **asdict(self)}

    def generator(self, nodes: int, seed: int) -> str:
        """A hash of the first records."""
        return hash_start(self._boxes(seed).block(0, HASHED_RECORDS))
