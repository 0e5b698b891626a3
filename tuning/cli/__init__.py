"""The commands of `lns.tuning`, which `lns.cli.main` finds. No other module imports this package."""

# command -> (module and name of its `Command`, its line in `lns --help`)
COMMANDS = {
    "tune": ("lns.tuning.cli.commands:tune", "find better parameters for an instance or a family, and test them"),
    "benchmark": ("lns.tuning.cli.commands:benchmark", "run the optimizer on fixed instances: a table of scores"),
}
