"""What stands on the buttons of a question: the agent's words, and ours where those mislead.

An option has a name, for the person, and a kind, by which a person's "no" is told from a "yes". A
name stands alone only where it plainly says its kind. Where it says something else, or nothing, or
looks like its neighbour's, the kind stands before it, and the name is quoted: what comes first on
a button is then never the agent's.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ..questions import Option
from ..text import UNSEEN, clean

LONGEST = 60  # characters of a name on a button
LONGEST_TOOLTIP = 500

KINDS = {
    "allow_once": "Allow once",
    "allow_always": "Always allow",
    "reject_once": "Reject once",
    "reject_always": "Always reject",
}
NOT = r"\b(?:no|not|never|don.?t)\b"
NEVER_AGAIN = re.compile(rf"{NOT} ask\b")  # it says how long, and neither yes nor no
YES = (
    r"\b(?:allow|yes|ok|okay|accept|approve|permit|proceed|continue|go|run|grant|confirm|agree)"
    r"(?:s|ed|ing)?\b"
)
NOT_YES = re.compile(rf"{NOT} {YES}")
ALLOWS = re.compile(YES)
REJECTS = re.compile(
    rf"{NOT}|\b(?:reject|deny|refuse|decline|cancel|skip|abort|stop|block|forbid|disallow|dismiss"
    r"|leave|keep|ignore|undo|without)(?:s|ed|ing)?\b"
)
LASTS = re.compile(r"\b(?:always|all|every|everything|session|again|forever|never|any|trust)\b")

# Letters that look like Latin ones; each string is read beside the one below it.
CONFUSABLE = str.maketrans(
    "АВЕЅІЈКМНОРСТХУаԁеһіјԛорсѕухѵԝΑΒΕΖΗΙΚΜΝΟΡΤΥΧνορυα",  # noqa: RUF001  # that they are ambiguous is why
    "ABESIJKMHOPCTXYadehijqopcsyxvwABEZHIKMNOPTYXvopua",
)
LIKE_L = str.maketrans("I1|", "lll")


@dataclass(frozen=True, slots=True)
class Label:
    """What a person reads: on the button, or in the list, and in full behind it."""

    text: str
    tooltip: str


def labels(options: Sequence[Option]) -> list[Label]:
    """The labels of the options of one question, in their order; no two have the same text.

    Args:
        options: as the agent offers them (public reports 21, 22 and 30).
    """
    names = [visible(option.name) for option in options]
    looks = Counter(_look(_cut(name, LONGEST)) for name in names)
    asks_leave = any(option.kind.startswith("reject") for option in options)
    texts = [
        _text(name, option.kind, asks_leave, is_alone=looks[_look(_cut(name, LONGEST))] == 1)
        for name, option in zip(names, options, strict=True)
    ]
    if len({_look(text) for text in texts}) < len(texts):
        texts = [f"{n}. {text}" for n, text in enumerate(texts, 1)]
    return [
        Label(text, _tooltip(name, option))
        for text, name, option in zip(texts, names, options, strict=True)
    ]


def _text(name: str, kind: str, asks_leave: bool, is_alone: bool) -> str:
    known = KINDS.get(kind, "")
    cut = _cut(name, LONGEST)
    if not name:
        return known or "(no name)"
    if not known or (is_alone and not _misleads(name, kind, asks_leave)):
        return cut
    return f"{known}: “{cut}”"


def _tooltip(name: str, option: Option) -> str:
    warning = visible(option.warning)
    parts = [KINDS.get(option.kind, ""), name, f"Warning: {warning}" if warning else ""]
    return _cut(" · ".join(part for part in parts if part), LONGEST_TOOLTIP)


def _misleads(name: str, kind: str, asks_leave: bool) -> bool:
    """Whether a person may take the name for another kind's."""
    said = _says(name.casefold())
    if said != _says(_skeleton(name)):
        return True
    if not said & {"yes", "no"} and not asks_leave:
        return False  # one of the answers to a question, where nothing is allowed or rejected
    return said != _meant(kind)


def _says(name: str) -> set[str]:
    lasts = bool(LASTS.search(name))
    name = NOT_YES.sub("reject", NEVER_AGAIN.sub("", name))
    found = {"yes": ALLOWS.search(name), "no": REJECTS.search(name), "lasts": lasts}
    return {word for word, is_said in found.items() if is_said}


def _meant(kind: str) -> set[str]:
    lasts = {"lasts"} if kind.endswith("always") else set()
    return lasts | {"no" if kind.startswith("reject") else "yes"}


# -- what can be seen


def visible(name: str) -> str:
    """A name as one line of what can be seen: nothing without width, no towers of accents."""
    seen: list[str] = []
    for letter in unicodedata.normalize("NFC", clean(name)):
        kind = unicodedata.category(letter)
        if kind[0] == "Z" or letter == "\n":
            seen.append(" ")
        elif not (_is_unseen(letter) or (kind[0] == "M" and _is_tower(seen))):
            seen.append(letter)
    return " ".join("".join(seen).split())


def _is_unseen(letter: str) -> bool:
    is_selector = "\ufe00" <= letter <= "\ufe0f" or "\U000e0100" <= letter <= "\U000e01ef"
    return is_selector or letter in UNSEEN or not letter.isprintable()


def _is_tower(seen: list[str]) -> bool:
    return len(seen) > 1 and all(unicodedata.category(x)[0] == "M" for x in seen[-2:])


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def _look(text: str) -> str:
    """What two texts have in common that a hurried person takes for the same."""
    return _skeleton(text).strip(" .,;:!?…'\"“”").translate(LIKE_L)


def _skeleton(text: str) -> str:
    """A text in small Latin letters without accents, as far as it looks like such."""
    plain = unicodedata.normalize("NFKD", text).translate(CONFUSABLE)
    return "".join(x for x in plain if unicodedata.category(x)[0] != "M").casefold()
