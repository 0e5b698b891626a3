"""The Python front door, one module a task; `import lns` exports what is public. The command line calls it too."""
