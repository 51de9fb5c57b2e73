"""Chaos: seeded runs of cells in a real kernel, with an agent that fails at random moments."""
