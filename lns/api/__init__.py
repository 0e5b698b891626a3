"""The public Python interface, one module per task, which `import lns` exports. The command line calls it too."""
