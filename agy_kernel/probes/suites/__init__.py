"""The probes themselves, a module for each notebook in ``notebooks/probes``."""
