"""What a run leaves behind, and how it goes on from there.

    run.json                 what was asked for: instance, seed, engine, ...; written once
    instance.json            a copy of the puzzle, so that the directory can be moved
    params.toml              the parameters of the engine
    best.json, best.svg      the best board
    best.unusable.json       a best.json that could not be used, set aside when the run went on
    boards.jsonl             every board at or above the threshold, a line each, with a checksum
    checkpoint.npz           all state needed to go on; checkpoint.previous.npz is the one before
    status.json              how the run stands, rewritten every few seconds for `lns status` and `lns watch`
    run.log                  what was said
    report.html              the page that `lns report` makes
    lock                     the process that works here; empty when none does
    stop                     there while `lns stop` waits

A directory may come from somebody else: nothing in it is executed, no name in it becomes a path, nothing is written
through a symbolic link, and numbers are bounded before memory is asked for.
"""
