"""The Agent Client Protocol: one engine of a conversation. Knows nothing of Jupyter."""
