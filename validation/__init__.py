"""Are the numbers right, and how fast? Comparisons with other data, benchmarks, and their results."""

import sys
from pathlib import Path

# The project of the papers is part of a checkout and need not be installed.
sys.path.append(str(Path(__file__).parents[1] / "papers"))
