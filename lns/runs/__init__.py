"""Run directories: the files of a run, how they are written, and how a run continues from them.

    run.json                 settings of the run: instance, seed, engine, ...; written once
    instance.json            copy of the puzzle, so that the directory can be moved
    params.toml              parameters of the search, for people to read; the run itself takes them from run.json
    best.json, best.svg      the best board, as JSON and as a picture
    best.unusable.json       a best.json that could not be used, renamed at `lns resume`
    boards.jsonl             new bests and all boards of at least min_score, one per line, with a checksum
    checkpoint.npz           the whole state of the search
    status.json              heartbeat and history of the run, rewritten every few seconds
    run.log                  messages with date and time
    report.html              the page of `lns report`
    lock                     names the process that holds the directory, or the one that crashed in it; else empty
    stop                     exists while `lns stop` waits for the run to end

A directory may come from a stranger: nothing in it is executed, no text in it becomes a path, nothing is written
through a symbolic link, and boards are verified. A checkpoint is checked for damage, but not for forged states.
"""
