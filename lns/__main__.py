"""`python -m lns`: run the command line."""

import sys

from lns.cli.main import main

sys.exit(main())
