"""The region re-solve: the best refill of a freed region of a board, with a proof.

`lns.exact.region.resolve.resolve` does it; `lns.exact.region.windows` chooses regions.
"""
