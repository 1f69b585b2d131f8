"""Market baskets: synthetic transactions in the manner of IBM Quest, generated in blocks and kept."""

from __future__ import annotations

from dataclasses import asdict, astuple, dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

from sledlab import _native
from sledlab.files import Draft
from sledlab.job.data import check_parameters, hash_start, home
from sledlab.job.data.columns import create_array, open_array
from sledlab.job.files import Baskets, Transactions
from sledlab.lazy import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from sledlab.job.data import Tell


HASHED_TRANSACTIONS = 64
"""Transactions that identify their generator."""


@dataclass(frozen=True)
class MarketBaskets:
    """Transactions of items that are bought together, shared evenly among nodes.

    Attributes:
        transactions: Number of all transactions; 0 for `transactions_per_node` on each node.
        transactions_per_node: Transactions on each node, where `transactions` is 0.
        universe: Number of different items.
        patterns: Number of sets of items that are bought together.
        pattern_length: Mean number of items of a pattern.
        length: Mean number of items of a transaction.
        longest: Most items of a transaction.
        correlation: Mean share of a pattern's items that come from the pattern before.
        corruption: Mean share of a pattern that is missing from a transaction.
    """

    transactions: int = 0
    transactions_per_node: int = 100_000
    universe: int = 1000
    patterns: int = 2000
    pattern_length: float = 4.0
    length: int = 20
    longest: int = 25
    correlation: float = 0.5
    corruption: float = 0.5

    def total(self, nodes: int) -> int:
        """Number of transactions on all nodes."""
        return self.transactions or self.transactions_per_node * nodes

    def directory(self, nodes: int, seed: int) -> Path:
        """The directory in which the transactions are kept."""
        name_parts = (self.total(nodes), *astuple(self)[2:])
        name = f"{'-'.join(map(str, name_parts))}-seed-{seed}-{self.generator(nodes, seed)}"
        return home() / "baskets" / name

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_parameters(self)

    def prepare(self, nodes: int, seed: int, tell: Tell) -> None:
        """Generate the transactions, unless they are kept."""
        directory = self.directory(nodes, seed)
        if not all((directory / name).exists() for name in ("items.npy", "offsets.npy")):
            self._generate(directory, self.total(nodes), seed, tell)

    def _generate(self, directory: Path, total: int, seed: int, tell: Tell) -> None:
        """Generate `total` transactions into a directory."""
        blocks = self._blocks(total, seed, tell)
        directory.mkdir(parents=True, exist_ok=True)
        # The number of items is known when all are made, and a file of numpy begins with it.
        draft = Draft(directory / "items")
        try:
            with create_array(directory / "offsets.npy", np.uint64, (total + 1,)) as offsets:
                offsets[0] = row = item_end = 0
                with draft.write_path.open("wb") as file:
                    for lengths, items in blocks:
                        file.write(items)
                        item_counts = np.frombuffer(lengths, np.uint32)
                        offsets[row + 1 : row + 1 + len(item_counts)] = item_end + np.cumsum(
                            item_counts, dtype=np.uint64
                        )
                        row, item_end = row + len(item_counts), item_end + len(items) // 4
                with create_array(directory / "items.npy", np.uint32, (item_end,)) as item_array:
                    item_array[:] = np.memmap(draft.write_path, np.uint32, "r") if item_end else ()
        finally:
            draft.drop()

    def _blocks(self, total: int, seed: int, tell: Tell) -> Iterator[tuple[bytes, bytes]]:
        """Lengths of transactions and their items, as bytes, block by block."""
        quest = self._quest(seed)
        block_size = quest.BLOCK
        for block in range(ceil(total / block_size)):
            tell("generating transactions", block * block_size / total)
            yield quest.block(block, min(block_size, total - block * block_size))

    def _quest(self, seed: int) -> _native.Quest:
        return _native.Quest(
            seed,
            self.universe,
            self.patterns,
            self.pattern_length,
            self.length,
            self.longest,
            self.correlation,
            self.corruption,
        )

    def files(self, nodes: int, seed: int) -> Mapping[str, Baskets]:
        """The transactions, as one file."""
        directory = self.directory(nodes, seed)
        transactions = Transactions(
            open_array(directory / "offsets.npy"), open_array(directory / "items.npy")
        )
        return {"transactions": Baskets(transactions, 0, len(transactions))}

    def identity(self) -> Mapping[str, Any]:
        """The parameters."""
        return {"data": "baskets", **asdict(self)}

    def generator(self, nodes: int, seed: int) -> str:
        """A hash of the first transactions."""
        return hash_start(*self._quest(seed).block(0, HASHED_TRANSACTIONS))
