"""The Agent Client Protocol: one engine of a conversation. Knows nothing of Jupyter."""

import logging

# Where nobody has set up logging, Python writes to stderr, and in a kernel that is a cell.
logging.getLogger(__name__).addHandler(logging.NullHandler())
