"""What this run calls what the tape calls otherwise: sessions, folders, and the person's home."""

from __future__ import annotations

import getpass
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..acp.privacy import HOME, USER, Privacy
from .frames import with_strings

NAMED_BY_CLIENT = ("sessionId", "cwd")


class Names:
    """Translates between a tape's names and the client's.

    Args:
        privacy: what was left out of the tape is left out of the client's frames before they are
            compared with it.
    """

    def __init__(self, privacy: Privacy) -> None:
        self._privacy = privacy
        self._ours = {HOME: str(Path.home())}
        self._pattern = _any_of(self._ours)

    def as_taped(self, value: Any) -> Any:
        """What the tape would hold of something that the client has sent."""
        return self._privacy.frame(value)

    def params_as_taped(self, method: str, params: Any) -> Any:
        """What the tape would hold of a request's params: of a sign-in's, next to nothing."""
        return self._privacy.frame({"method": method, "params": params})["params"]

    def learn(self, taped: Any, params: Any) -> None:
        """A request of the client's was found on the tape: the two name the same things."""
        for key in NAMED_BY_CLIENT:
            one, other = (p.get(key) if isinstance(p, dict) else None for p in (taped, params))
            if isinstance(one, str) and isinstance(other, str) and len(one) > 1 and one != other:
                self._ours[one] = other
                self._pattern = _any_of(self._ours)

    def ours(self, value: Any) -> Any:
        """What the client is to be sent of a value on the tape."""
        return with_strings(value, self._in_text)

    def _in_text(self, text: str) -> str:
        text = self._pattern.sub(lambda found: self._ours[found[0]], text)
        return text.replace(USER, getpass.getuser()) if USER in text else text


def _any_of(names: Iterable[str]) -> re.Pattern[str]:
    """Whole names only; the longest first, for a folder stands within the home."""
    longest_first = sorted(names, key=len, reverse=True)
    return re.compile("|".join(rf"(?<![\w-]){re.escape(name)}(?![\w-])" for name in longest_first))
