"""A method whose calls are overheard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Overheard:
    """A method of an object whose calls are overheard, until ``stop``.

    Args:
        owner: the object.
        name: of its method.
        heard: called after the method, with the same arguments.
    """

    def __init__(self, owner: Any, name: str, heard: Callable[..., object]) -> None:
        method = getattr(owner, name)

        def overhear(*args: Any, **kwargs: Any) -> Any:
            result = method(*args, **kwargs)
            heard(*args, **kwargs)
            return result

        self._owner, self._name, self._overhear = owner, name, overhear
        self._before = vars(owner).get(name)
        setattr(owner, name, overhear)

    def stop(self) -> None:
        """Leave the object as it was, unless somebody else listens by now through us."""
        if vars(self._owner).get(self._name) is not self._overhear:
            return
        if self._before is None:
            delattr(self._owner, self._name)
        else:
            setattr(self._owner, self._name, self._before)
