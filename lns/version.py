"""The version of the project, read by the package's metadata, `lns --version` and saved runs; also in CITATION.cff."""

__version__ = "0.2.0"
