"""``python -m harness`` is ``tally-harness``."""

import sys

from harness.cli import main

sys.exit(main())
