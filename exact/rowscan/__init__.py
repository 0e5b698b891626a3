"""The plain row-scan backtracker, the baseline of the comparisons."""
