"""Outputs as text that is worth a model's reading, cut to size; what was cut is said."""

from __future__ import annotations

import html
import re

ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])")
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
BACKSPACES = re.compile("([^\x08]*)(\x08*)")
# A run of it, or lines of 76 characters, as MIME wraps them.
BASE64 = re.compile(
    r"(?<![A-Za-z0-9+/])(?:[A-Za-z0-9+/]{400,}|(?:[A-Za-z0-9+/]{76}\n){4,}[A-Za-z0-9+/]*)={0,2}"
)
ROW_END = re.compile(r"</tr\s*>|<br\s*/?>|</p\s*>|</div\s*>", re.IGNORECASE)
CELL_END = re.compile(r"</t[dh]\s*>", re.IGNORECASE)
HIDDEN = re.compile(r"<(style|script)\b.*?(?:</\1\s*>|\Z)", re.IGNORECASE | re.DOTALL)
TAG = re.compile(r"<[^<>]*>")


def tidy(text: str) -> str:
    """Text as a terminal would leave it: no ANSI, no controls, nothing that was written over."""
    text = ANSI.sub("", text)
    if "\r" in text or "\b" in text:
        text = "\n".join(_last_writing(line) for line in text.replace("\r\n", "\n").split("\n"))
    return CONTROLS.sub("", text).strip("\n")


def without_base64(text: str) -> str:
    """Text in which long base64 is counted instead of shown."""
    return BASE64.sub(_counted, text)


def html_as_text(markup: str) -> str:
    """HTML as text: a line for a row, a bar between its cells."""
    markup = HIDDEN.sub("", markup).replace("\n", " ")
    markup = ROW_END.sub("\n", CELL_END.sub(" | ", markup))
    lines = (" ".join(line.split()) for line in html.unescape(TAG.sub("", markup)).split("\n"))
    return "\n".join(line.removesuffix(" |") for line in lines if line.strip(" |"))


def encodable(text: str) -> str:
    """Text without lone surrogates, which no wire can carry."""
    return text.encode("utf-8", "replace").decode()


def size(text: str) -> int:
    """Bytes of a text, as it is sent."""
    return len(text.encode("utf-8", "replace"))


def cut(text: str, limit: int) -> str:
    """At most ``limit`` bytes of a text: its beginning and its end, and what lies between, counted.

    Of a limit that has no room for the count, nothing is left.
    """
    data = text.encode("utf-8", "replace")
    if len(data) <= limit:
        return text
    room = limit - len(_note(len(data)))
    if room < 0:
        return ""
    # A character that the cut would split is left out whole.
    head = data[: room - room // 2].decode("utf-8", "ignore")
    tail = data[len(data) - room // 2 :].decode("utf-8", "ignore")
    return f"{head}{_note(len(data) - size(head) - size(tail))}{tail}"


def _note(left_out: int) -> str:
    return f"\n[{left_out:,} bytes left out]\n"


def _counted(match: re.Match[str]) -> str:
    text = match[0]
    looks_encoded = re.search("[a-z]", text) and re.search("[A-Z]", text) and re.search("\\d", text)
    return f"[{len(text):,} characters of base64]" if looks_encoded else text


def _last_writing(line: str) -> str:
    """What is left to see of a line that was written over by backspaces and carriage returns."""
    kept: list[str] = []
    for written, backspaces in BACKSPACES.findall(line):
        kept.extend(written)
        if backspaces:
            del kept[-len(backspaces) :]
    return "".join(kept).rstrip("\r").rpartition("\r")[2]
