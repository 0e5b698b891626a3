"""The experiments of five papers, repeated on instances made as each paper describes.

`benoist2008`, `perrin_iq`, `bailleux2025`, `jolivet2008` and `cuvillier2010` are named by author and year. Each has a
`Plan` (sizes, numbers of instances, budgets), a plan `FULL` of the paper's scale, and the functions ``runs``,
``tables`` and ``plot``; `benoist2008` has `run_experiment` and its tables in `benoist2008_tables`.
`outcome` compares the methods of all papers on the same puzzles.
"""
