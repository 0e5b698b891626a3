"""Compiled code: decorators of kernels, the cache of their machine code, and sets as bit vectors."""
