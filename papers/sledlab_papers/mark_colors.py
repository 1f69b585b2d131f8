"""Colors of the marks of outcomes on pages."""

from __future__ import annotations

from sledlab.reproduction.verdicts import MARKS, OutcomeMark
from sledlab.show.palette import PALETTE, text_color

MIN_CONTRAST = 4.5
CAPTION_LINKS = ".rst-content figcaption a { white-space: nowrap; }"
"""Names of claims do not break at their hyphen."""


def contrast(color: str, other_color: str) -> float:
    """Return the contrast ratio of two colors, as WCAG 2 defines it.

    Examples:
        >>> round(contrast("#000000", "#ffffff"))
        21
    """
    brighter, darker = sorted((_luminance(color), _luminance(other_color)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


def _luminance(color: str) -> float:
    channels = [int(color[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [share / 12.92 if share <= 0.03928 else ((share + 0.055) / 1.055) ** 2.4 for share in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def square_colors(mark: OutcomeMark, *, is_dark: bool = False) -> tuple[str, str]:
    """Return the color of a square and that of its symbol, whose contrast is at least `MIN_CONTRAST`."""
    color = PALETTE[mark.color]
    square_candidates = [PALETTE["dark"][color]] if is_dark else [color, text_color(color)]
    inks = (PALETTE["paper"], PALETTE["ink"])
    pairs = [(square, max(inks, key=lambda ink: contrast(ink, square))) for square in square_candidates]
    return next(pair for pair in pairs if contrast(*pair) >= MIN_CONTRAST)


def stylesheet() -> str:
    """Return the rules for squares of the mosaic and captions of figures."""
    light_rules: list[str] = []
    dark_rules: list[str] = []
    for mark in MARKS.values():
        for rules, is_dark in ((light_rules, False), (dark_rules, True)):
            square, ink = square_colors(mark, is_dark=is_dark)
            rules.append(f".mosaic .{mark.css_class} {{ background: {square}; color: {ink}; }}")
    lines = [
        *light_rules,
        "@media (prefers-color-scheme: dark) {",
        *(f"  {rule}" for rule in dark_rules),
        "}",
        CAPTION_LINKS,
    ]
    return "\n".join(lines) + "\n"
