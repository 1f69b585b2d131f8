"""Take the picture of the laboratory that README and docs show: `python -m tools.screenshot`.

It needs Debian's chromium, like `make test-web`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.web.laboratory import laboratory
from tests.web.pages import browser

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "view.png"
WINDOW = {"width": 1180, "height": 760}


def main() -> int:
    """Write the picture and return the exit code."""
    with browser() as chromium, laboratory(chromium, window=WINDOW) as page:
        page.wait_for_summary()
        page.press("Slowest")
        page.page.wait_for_timeout(1000)
        page.page.screenshot(path=PICTURE)
    print(f"wrote {PICTURE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
