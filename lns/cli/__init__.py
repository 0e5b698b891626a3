"""The command line: `main`, and the commands of the optimizer. Only ``lns.__main__`` and the script import it."""

# name of a command (two words if it is of a family) -> (module and name of its `Command`, its line in the help)
COMMANDS = {
    "solve": ("lns.cli.search:solve", "search for the best full board of a puzzle, for a minute or a week"),
    "resume": ("lns.cli.search:resume", "continue a run where it stopped, here or on another machine"),
    "watch": ("lns.cli.runs:watch", "follow runs while they go on: score over time, boards, rates"),
    "show": ("lns.cli.boards:show", "draw a board or a puzzle: terminal, SVG, TikZ, viewer URL"),
    "verify": ("lns.cli.boards:verify", "check a board: score, rim, clues, each piece used once"),
    "web": ("lns.cli.web:web", "show runs and boards in the browser, edit, re-solve and play"),
    "polish": ("lns.cli.search:polish", "free parts of a board again and again, and repair them"),
    "improve": ("lns.cli.improve:improve", "free a region of a board and re-solve it exactly, with a proof"),
    "convert": ("lns.cli.boards:convert", "convert a puzzle or a board from one file format to another"),
    "generate": ("lns.cli.boards:generate", "make a puzzle: uniform, balanced torus, or like Eternity II"),
    "instances": ("lns.cli.boards:instances", "list the shipped instances"),
    "status": ("lns.cli.runs:status", "show the state of runs: a table with a line for each"),
    "stop": ("lns.cli.runs:stop", "ask a run to stop and save"),
    "report": ("lns.cli.runs:report", "write a page about a run: charts, best boards, parameters"),
    "collect": ("lns.cli.runs:collect", "list the best boards of several runs, verified again"),
    "compare": ("lns.cli.runs:compare", "compare runs of one instance: a table, and their scores over time"),
    "merge": ("lns.cli.runs:merge", "make one run of several runs of one instance"),
    "estimate": ("lns.cli.search:estimate", "measure for a while, then say how long each score would take"),
    "params": ("lns.cli.boards:params", "print all parameters with their meaning, as TOML for --params"),
    "exact count": ("lns.cli.exact:count", "count all solutions"),
    "exact solve": ("lns.cli.exact:solve", "find the first solution, or prove there is none"),
    "exact solvers": ("lns.cli.exact:solvers", "list the solvers, and what each needs installed"),
    "exact compare": ("lns.cli.exact_paper:compare", "run several solvers on several instances and print a table"),
    "exact cnf": ("lns.cli.exact:cnf", "write a puzzle as a formula for SAT solvers"),
    "exact decode": ("lns.cli.exact:decode", "read a SAT solver's answer back as a board"),
    "exact pieces": ("lns.cli.exact_pieces:pieces", "tell a set's 2x2 blocks, and pairs of colours it lacks"),
    "exact isomorphic": ("lns.cli.exact_pieces:isomorphic", "test whether two sets of pieces differ in colours only"),
    "exact graph": ("lns.cli.exact_pieces:graph", "write a graph as pieces, read it back, or compare two graphs"),
    "exact triples": ("lns.cli.exact_pieces:triples", "read a 3-partition off a perfect board of its puzzle"),
    "exact design": ("lns.cli.exact_pieces:design", "search for a hard puzzle, or for one with a single solution"),
    "exact polyomino": ("lns.cli.exact_polyomino:polyomino", "fill a grid with polyominoes: IQ Puzzler Pro"),
    "exact trace": ("lns.cli.web:trace", "record a search step by step, as a page that plays it"),
    "exact paper": ("lns.cli.exact_paper:paper", "repeat the experiments of a paper on instances of its kind"),
}
ALIASES = {"ladder": "benchmark"}  # alias -> name of the command
FAMILIES = {"exact": "count or find perfect solutions with an exact solver"}  # command family -> line in `lns --help`

# title in `lns --help` -> the commands listed under it, which may be of other packages
GROUPS = {
    "daily": ("solve", "resume", "watch", "show", "verify", "web"),
    "boards": ("polish", "improve", "convert", "generate", "instances"),
    "runs": ("status", "stop", "report", "collect", "compare", "merge"),
    "research": ("estimate", "params", "exact", "tune", "benchmark"),
}

# unknown command or option that people may type -> the known one that they mean
MEANT = {
    **dict.fromkeys(("view", "draw", "display", "print", "plot", "picture"), "show"),
    **dict.fromkeys(("run", "search", "optimize", "optimise", "start"), "solve"),
    **dict.fromkeys(("continue", "restart", "go"), "resume"),
    **dict.fromkeys(("check", "validate", "score"), "verify"),
    **dict.fromkeys(("follow", "monitor", "tail"), "watch"),
    **dict.fromkeys(("serve", "browse", "play", "gui"), "web"),
    **dict.fromkeys(("repair", "mend"), "polish"),
    **dict.fromkeys(("make", "create", "new"), "generate"),
    **dict.fromkeys(("export", "import", "translate"), "convert"),
    **dict.fromkeys(("kill", "end", "quit"), "stop"),
    **dict.fromkeys(("join", "combine"), "merge"),
    **dict.fromkeys(("config", "parameters", "settings"), "params"),
    **dict.fromkeys(("list", "puzzles"), "instances"),
    "tray": "polyomino",
    **dict.fromkeys(("--cores", "--threads", "--jobs", "--processes", "--islands"), "--workers"),
    **dict.fromkeys(("--timeout", "--seconds", "--limit", "--duration"), "--time"),
    **dict.fromkeys(("--out-dir", "--output-dir", "--directory", "--dir"), "--run-dir"),
    **dict.fromkeys(("--silent", "--no-progress"), "--quiet"),
    **dict.fromkeys(("--method", "--algorithm"), "--solver"),
    **dict.fromkeys(("--config", "--parameters"), "--params"),
    **dict.fromkeys(("--overwrite", "--yes"), "--force"),
    **dict.fromkeys(("--initial", "--warm-start", "--board"), "--start"),
}
