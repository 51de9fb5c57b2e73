"""What the notebook shows of a turn. Knows nothing of the wire."""
