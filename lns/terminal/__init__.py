"""Tools shared by the commands: options and their types, input, output, signals, progress, the log."""
