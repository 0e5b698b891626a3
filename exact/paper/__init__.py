"""The experiments of the seed documents, on instances made as they made theirs."""
