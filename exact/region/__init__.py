"""The region re-solve: the best refill of a freed region of a board, with a proof (`lns.exact.region.resolve`)."""
