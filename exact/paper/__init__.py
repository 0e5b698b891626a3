"""Modules that repeat the experiments of five papers, on instances made as each paper describes.

The modules `benoist2008`, `perrin_iq`, `bailleux2025`, `jolivet2008` and `cuvillier2010` are named after the papers.
`outcome` compares the methods of the four papers on edge matching on the same puzzles; `runs` defines an experiment.
"""
