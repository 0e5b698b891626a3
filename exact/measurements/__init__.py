"""Programs that measure the exact searches; each is run as `python -m lns.exact.measurements.NAME`.

- `full_rows`: windows of full rows on published boards, how many are proven
- `one_edge_more`: whether windows of found boards can gain one matched edge
- `compare_orders`: the static and the dynamic order of the region search on regions of some shapes
- `rowscan_speed`: placements per second of the row scan
- `infeasible`: proofs of the SAT encodings that a puzzle has no solution
"""
