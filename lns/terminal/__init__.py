"""Tools shared by the commands: options, parsers of their values, input, output, signals, progress, the log."""
