"""The experiments of five papers, repeated on instances made as each paper describes.

`benoist2008`, `perrin_iq`, `bailleux2025`, `jolivet2008` and `cuvillier2010` are named after the papers; `outcome`
compares the methods of the four papers on edge matching on the same puzzles. `runs` defines an experiment.
"""
