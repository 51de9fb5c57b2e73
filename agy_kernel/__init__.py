"""A Jupyter kernel and IPython extension for agents that speak the Agent Client Protocol."""

from typing import Any

__version__ = "0.1.0"


def load_ipython_extension(shell: Any) -> None:
    """``%load_ext agy_kernel``: add ``%agy`` and ``%%agy`` to a notebook's own kernel."""
    from .magics import load

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """``%unload_ext agy_kernel``: end the agent, and take the magics away."""
    from .magics import unload

    unload(shell)
