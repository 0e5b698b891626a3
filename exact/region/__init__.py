"""The region re-solve: the best refill of a freed region of a board, with a proof.

`exact.region.resolve.resolve` does it; `exact.region.windows` chooses regions.
"""
