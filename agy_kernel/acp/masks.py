"""What of a sign-in is never kept: the code, the state and the tokens in its addresses."""

from __future__ import annotations

import re

NAMES = "(?:code|state|access_token|id_token|refresh_token)"
VALUE = r"(?:[^\s&#\"'<>%]|%(?!26)[0-9a-f]{2})"
SECRET = re.compile(
    rf"((?:[?&#]|%3f|%26){NAMES}(?:=|%3d)){VALUE}+"  # in an address, or in one within another
    rf"|((?:^|\s){NAMES}=){VALUE}{{16,}}",  # alone; what is short is an exit code or the like
    re.IGNORECASE | re.MULTILINE,
)


def masked(text: str) -> str:
    """Text without the values of ``code``, ``state`` and tokens."""
    return SECRET.sub(r"\1\2…", text) if "=" in text or "%3" in text else text
