"""Numbers that papers and the reference simulator's documentation print, compared with sledlab's."""

from __future__ import annotations

from dataclasses import dataclass

from sledlab_papers.markdown import table
from sledlab_papers.published import (
    GENERATIONS,
    MIN_X_DOMINANCE,
    PAIRS,
    Quantity,
    quantities,
    x_dominance_share,
)
from sledlab_papers.wording import cells, percent

from .agreement import agreement
from .section import ValidationSection

CHECK_BAND = 0.01


@dataclass(frozen=True)
class PublishedNumbers:
    """The printed numbers, and by device the share of moves in which x takes longer than y."""

    quantities: tuple[Quantity, ...]
    x_dominance_shares: dict[str, float]


def _numbers() -> PublishedNumbers:
    return PublishedNumbers(
        quantities(), {device[-2:].upper(): x_dominance_share(device) for device in GENERATIONS}
    )


def _numbers_values(numbers: PublishedNumbers) -> dict[str, object]:
    quantity_rows = [
        [
            q.name,
            f"{q.published:.{q.digits if q.band is None else 2}f} {q.unit}",
            f"{q.ours:.{q.digits}f} {q.unit}",
            percent(q.deviation),
            "as printed" if q.band is None else f"{100 * q.band:g}",
        ]
        for q in numbers.quantities
    ]
    share_rows = [
        [device, f"{100 * share:.1f}", f"> {100 * MIN_X_DOMINANCE:g}"]
        for device, share in numbers.x_dominance_shares.items()
    ]
    return {
        "pairs": f"{PAIRS:,}",
        "quantities": table(
            ["quantity", "published", "sledlab", "deviation, %", "tolerance, %"], quantity_rows
        ),
        "x_dominates": table(["device", "x dominates, % of moves", "required"], share_rows),
    }


NUMBERS = ValidationSection("published", PublishedNumbers, _numbers, _numbers_values)


@dataclass(frozen=True)
class CheckValue:
    """Mean response of the reference simulator's validation workload, as published, and ours."""

    device: str
    springs: bool
    published_ms: float
    ours_ms: float

    @property
    def deviation(self) -> float:
        """Relative deviation from the published number."""
        return self.ours_ms / self.published_ms - 1


PUBLISHED_MS = {
    (device, springs): ms
    for springs, values in ((True, (2.01, 1.16, 0.85)), (False, (2.00, 1.18, 0.87)))
    for device, ms in zip(("G1", "G2", "G3"), values, strict=True)
}
"""Published mean responses by device, with and without springs."""


def check_value(device: str, *, springs: bool) -> CheckValue:
    """The check value of a device, replayed through its `-disksim` profile."""
    check_agreement = agreement(f"memsvalid_{device}_k{'75' if springs else '00'}")
    return CheckValue(device, springs, PUBLISHED_MS[device, springs], check_agreement.mean_ms)


def _checks() -> tuple[CheckValue, ...]:
    return tuple(check_value(device, springs=springs) for device, springs in PUBLISHED_MS)


def _checks_values(check_values: tuple[CheckValue, ...]) -> dict[str, object]:
    rows = [
        [
            c.device,
            "with" if c.springs else "without",
            *cells("{0.published_ms:.2f} | {0.ours_ms:.4f} | {0.deviation:+%2}", c),
        ]
        for c in check_values
    ]
    head = "device | springs | published, ms | sledlab, ms | deviation, %"
    return {"band": f"{100 * CHECK_BAND:g}", "values": table(head, rows, word_columns=2)}


CHECKS = ValidationSection("check_values", tuple[CheckValue, ...], _checks, _checks_values)
