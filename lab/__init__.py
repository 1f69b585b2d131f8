"""Developer tools: validation of sledlab against other data, and the record of its measurements."""

import sys
from pathlib import Path

# The project of the papers is next to the lab in a checkout and need not be installed.
sys.path.append(str(Path(__file__).parents[1] / "papers"))
