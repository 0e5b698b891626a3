"""`lns web`: local web pages for runs, boards, games, polyominoes and searches step by step.

Server
    `server` opens the socket, serves and ends slow connections; `app` has the addresses and their handlers; `guard`
    holds the secrets and refuses requests from other sites and requests without the key. `wire` reads and writes the
    JSON of puzzles, boards and steps of a search.
Work
    `jobs` starts and ends processes of `worker`, each of which does one task of `tasks` by the functions of `lns` and
    `exact`. `runs` reads the run directories below a root.
Pages
    ``pages`` holds the body of each page, ``static`` the scripts and styles. Pages load nothing from other servers.
"""
