"""Questions to a build of an agent, put to it frame by frame."""

from .prober import Prober

__all__ = ["Prober"]
