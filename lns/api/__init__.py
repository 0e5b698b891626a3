"""The Python front door, one module a task. `import lns` exports what is public; the command line calls the same functions."""
