"""`lns web`: a local page for runs, boards, games, polyominoes and searches step by step.

Server
    `server` opens the socket, serves and ends slow connections; `app` has the addresses, the pages and what answers
    there; `guard` holds the keys and refuses what does not come from the page itself. `wire` reads and writes the JSON
    of puzzles, boards and steps.
Work
    `jobs` starts and ends the processes of `worker`, each of which does one of `tasks` by the functions of `lns` and
    `exact`. `runs` shows the run directories below a root.
Pages
    ``pages`` holds the body of each page, ``static`` scripts and styles. Nothing is loaded from elsewhere.
"""
