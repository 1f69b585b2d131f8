"""The frame of every study: axes, plan, kept points, statistics, outcome."""
