"""Parameter tuning and benchmarks."""

SAMPLERS = ("tpe", "random")  # names of `lns tune --sampler`
