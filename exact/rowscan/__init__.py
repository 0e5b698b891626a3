"""The plain row-scan backtracker of the comparisons."""
