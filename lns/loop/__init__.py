"""The main loop: construct boards, re-solve regions of all good ones exactly, and share the time among all operators."""
