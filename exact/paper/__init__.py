"""Modules that repeat the experiments of five papers, on instances made as the papers describe, as far as they do.

The modules `benoist2008`, `perrin_iq`, `bailleux2025`, `jolivet2008` and `cuvillier2010` are named after the papers.
`outcome` compares methods on the same puzzles, `standing` lists what is reproduced, `runs` has what experiments share.
"""
