"""``python -m agy_kernel.agents.simulator``."""

import sys

from . import main

sys.exit(main(sys.argv[1:]))
