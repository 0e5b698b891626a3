"""The region re-solve: the largest number of matched edges that a freed region of a board can hold, with a proof."""
