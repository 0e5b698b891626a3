"""`python -m lns`."""

import sys

from lns.cli.main import main

sys.exit(main())
