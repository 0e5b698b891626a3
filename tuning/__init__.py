"""Parameter tuning and benchmarks."""

SAMPLERS = ("tpe", "random")  # values of `lns tune --sampler`
