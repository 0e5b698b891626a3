"""Helpers that every other package of this project may use. They know nothing about puzzles.

Compiled code
    `jit` (decorators of kernels and their cache on disk), `bits` (sets as bit vectors).
Input
    `errors` (`InputError`), `text` (untrusted text in messages, integers), `json_values` (untrusted JSON),
    `optional_deps` (packages that only some commands need).
Files
    `files` (bounded reading, atomic writing), `csv_records` (records appended to a CSV file), `file_lock`.
Processes
    `child_process` (a function in a process of its own, with limits on time and memory).
"""
