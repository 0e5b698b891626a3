"""`lns web`: a local page for runs, boards, games, polyominoes and searches step by step.

Server
    `server` opens the socket and serves; `app` has the addresses, `routes` what answers there, a module for each page;
    `guard` refuses what does not come from the page itself; `access` holds the keys. `wire` reads and writes the JSON
    of puzzles and boards.
Work
    `jobs` starts and ends the processes of `worker`, each of which does one of `tasks` by the functions of `lns` and
    `exact`. `runs` shows the run directories below a root.
Pages
    ``pages`` holds the body of each page, ``static`` scripts and styles. Nothing is loaded from elsewhere.
"""
