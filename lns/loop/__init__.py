"""The main loop: construct boards, re-solve regions of all good ones exactly, share the time among operators."""
