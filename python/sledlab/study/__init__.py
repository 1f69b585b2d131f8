"""Framework of all studies: axes, plan, result cache, statistics, outcome."""
