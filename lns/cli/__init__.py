"""The command line: `main` and a module for each command of the optimizer. Nothing else imports it."""

# command -> (its module, its line in `lns --help`)
COMMANDS = {
    "solve": ("lns.cli.solve", "search for the best full board of a puzzle, for a minute or a week"),
    "estimate": ("lns.cli.estimate", "measure for a while, then say how long each score would take"),
    "resume": ("lns.cli.resume", "continue a run where it stopped, here or on another machine"),
    "status": ("lns.cli.status", "show the state of runs: a table with a line for each"),
    "watch": ("lns.cli.watch", "follow runs while they go on: score over time, boards, rates"),
    "stop": ("lns.cli.stop", "ask a run to stop and save"),
    "report": ("lns.cli.report", "write a page about a run: charts, best boards, parameters"),
    "collect": ("lns.cli.collect", "list the best boards of several runs, verified again"),
    "compare": ("lns.cli.compare", "compare runs of one instance: a table, and their scores over time"),
    "merge": ("lns.cli.merge", "make one run of several runs of one instance"),
    "verify": ("lns.cli.verify", "check a board: score, rim, clues, each piece used once"),
    "instances": ("lns.cli.instances", "list the shipped instances"),
    "show": ("lns.cli.show", "draw a board or a puzzle: terminal, SVG, TikZ, viewer URL"),
    "convert": ("lns.cli.convert", "convert a puzzle or a board from one file format to another"),
    "generate": ("lns.cli.generate", "make a puzzle: uniform, balanced torus, or like Eternity II"),
    "params": ("lns.cli.params", "print all parameters with their meaning, as TOML for --params"),
    "polish": ("lns.cli.polish", "free parts of a board again and again, and repair them"),
    "improve": ("lns.cli.improve", "free a region of a board and re-solve it exactly, with a proof"),
    "web": ("lns.cli.web", "show runs and boards in the browser, edit, re-solve and play"),
    "exact": ("lns.cli.exact", "count or find perfect solutions with an exact solver"),
}
