"""What a tape may say: no secrets, and neither whose machine it was nor whose home.

Chunks come by the thousand and are only searched for what would give something away; any other
frame is read. A frame that has nothing to hide stays the bytes that came.
"""

from __future__ import annotations

import contextlib
import getpass
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..secrets import FORMATS, MASK, Masker, looks_secret
from .decoding import decode
from .masks import masked

HOME, USER = "<home>", "<user>"
TEXT = '"text":'
CHUNKS = ('"agent_message_chunk"', '"agent_thought_chunk"')
NOBODY = {"root", "user", "admin", "administrator", "ubuntu", "debian", "jovyan", "runner"}
"""Accounts that tell of nobody; their names are ordinary words in a text."""
HOMES = re.compile(r"(?<![\w.])(?:/home|/Users|[A-Za-z]:\\Users)[/\\][^\s/\\\"'<>:;,()]+")
HOME_MARKS = ("/home/", "/Users/", "\\Users\\")
SIGN_IN_MARKS = ("code=", "state=", "token=", "code%3", "state%3", "token%3")
META = '"_meta"'  # may hold anything, by any name
SIGNS = "_-=%/:\\"
ESCAPES = ("\\u00", "\\/")  # JSON may write any letter so
PROTOCOL = {"sessionUpdate", "type", "kind", "status", "role", "stopReason", "outcome"}
"""Keys whose values are words of the protocol."""


class Marks:
    """Texts to look for, quickly: most of them have a sign that ordinary words have not.

    Args:
        texts: they are also found as JSON writes them.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._by_sign: dict[str, list[str]] = {}
        for form in {form for text in texts for form in (text, json.dumps(text)[1:-1])}:
            sign = next((sign for sign in SIGNS if sign in form), form)
            self._by_sign.setdefault(sign, []).append(form)
        self._signs = (*self._by_sign, *ESCAPES)

    def are_in(self, text: str) -> bool:
        """Whether a text may hold any of them."""
        # The loop is C's: one of Python's would cost more than the rest of the recording.
        if True not in map(text.__contains__, self._signs):
            return False
        found = [sign for sign in self._signs if sign in text]
        return any(
            sign in ESCAPES or any(form in text for form in self._by_sign[sign]) for sign in found
        )


class Privacy:
    """Cleans what goes onto a tape.

    Args:
        environment: the values of the variables whose names look secret are masked.
        home: the folder to replace by ``<home>``; any other person's home folder is replaced too.
        user: the name to replace by ``<user>``.
    """

    def __init__(self, environment: Mapping[str, str], home: str, user: str) -> None:
        self._masker = Masker(environment)
        self._home = _whole(home) if len(home) > 1 else None
        self._user = _whole(user) if len(user) > 2 and user.lower() not in NOBODY else None
        names = [home] * (self._home is not None) + [user] * (self._user is not None)
        self._marks = Marks(
            {*self._masker.values, *FORMATS, *HOME_MARKS, *SIGN_IN_MARKS, META, *names}
        )
        self._head = ""

    @classmethod
    def of_this_machine(cls) -> Privacy:
        """For what is recorded here and now."""
        user = ""
        with contextlib.suppress(OSError, KeyError, ImportError):  # an account without a name
            user = getpass.getuser()
        return cls(os.environ, str(Path.home()), user)

    def line(self, text: str) -> str:
        """Clean the JSON text of a frame."""
        if self._is_harmless_chunk(text):
            return text
        try:
            frame, _ = decode(text.encode("utf-8", "replace"))
        except ValueError:
            return json.dumps(self.text(text))
        cleaned = self.frame(frame)
        return text if cleaned == frame else json.dumps(cleaned, ensure_ascii=False)

    def command(self, words: Sequence[str]) -> list[str]:
        """Clean a command line: what an option or a variable of a secret name is given goes."""
        cleaned, is_secret = [], False
        for word in words:
            name, is_given, _ = word.partition("=")
            if is_secret:
                cleaned.append(MASK)
                is_secret = False
            elif looks_secret(name.lstrip("-").replace("-", "_")):
                cleaned.append(self.text(f"{name}={MASK}" if is_given else word))
                is_secret = word.startswith("-") and not is_given
            else:
                cleaned.append(self.text(word))
        return cleaned

    def frame(self, frame: Any) -> Any:
        """Clean a frame, or several."""
        if isinstance(frame, list):
            return [self.frame(each) for each in frame]
        if isinstance(frame, dict) and frame.get("method") == "authenticate":
            params = frame.get("params")
            kept = {"methodId": str} if isinstance(params, dict) else {}
            return {**frame, "params": _all_masked(params, kept)}
        return self._value(frame)

    def text(self, text: str) -> str:
        """Clean what stands in a string."""
        if not self._marks.are_in(text):
            return text
        text = masked(self._masker.mask(text))
        if self._home is not None:
            text = self._home.sub(HOME, text)
        text = HOMES.sub(HOME, text)
        return text if self._user is None else self._user.sub(USER, text)

    def _is_harmless_chunk(self, text: str) -> bool:
        """Whether it is a chunk without anything to hide; what stands before its text repeats."""
        if CHUNKS[0] not in text and CHUNKS[1] not in text:
            return False
        at = text.find(TEXT) + len(TEXT)
        head = text[:at]
        if self._marks.are_in(text[at:] if head == self._head else text):
            return False
        self._head = head
        return True

    def _value(self, value: Any, name: str = "") -> Any:
        if isinstance(value, str):
            return value if name in PROTOCOL else self.text(value)
        if isinstance(value, list):
            listed: Callable[[Any], Any] = _setting if name in ("headers", "env") else self._value
            return [listed(each) for each in value]
        if not isinstance(value, dict):
            return value
        if name in ("headers", "env"):
            return _all_masked(value)
        return {self._name(key): self._member(key, each) for key, each in value.items()}

    def _member(self, key: str, value: Any) -> Any:
        is_secret = isinstance(value, str) and value and looks_secret(key)
        return MASK if is_secret else self._value(value, key)

    def _name(self, key: str) -> str:
        """A key may be a path; of a word, a person's name is no part."""
        return self.text(key) if "/" in key or "\\" in key else key


def _whole(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-]){re.escape(words)}(?![\w-])")


def _setting(value: Any) -> Any:
    """A header or a variable: its name stays."""
    return _all_masked(value, {"name": str}) if isinstance(value, (dict, list)) else MASK


def _all_masked(value: Any, kept: Mapping[str, type] | None = None) -> Any:
    kept = kept or {}
    if isinstance(value, dict):
        return {key: each if key in kept else _all_masked(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_all_masked(each) for each in value]
    return MASK if isinstance(value, str) and value else value
