"""The frame of every study: axes, plan, cached runs, statistics, outcome."""
