"""The simulator, driven line by line and by the Python SDK's client."""
