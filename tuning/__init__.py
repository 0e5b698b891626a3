"""Parameter tuning and benchmarks."""

SAMPLERS = ("tpe", "cmaes", "random")  # names of `lns tune --sampler`
