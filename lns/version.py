"""The version of the project. It stands here only: the package's metadata, `lns --version` and saved runs read it."""

__version__ = "0.2.0"
