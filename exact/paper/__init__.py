"""The experiments of the four papers, on instances made as they made theirs."""
