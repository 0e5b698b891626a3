"""Toolkit of the command line: option types, output, signals, progress, the log. It knows no command."""
