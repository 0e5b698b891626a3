"""Helpers below all rooms: compiling kernels, bit sets, files, locks, child processes. They know no puzzle."""
