"""Questions with two answers: a link to be visited, and leave for something that we would do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from ..questions import Answer, Confirmation, Link
from .ask import Give
from .html import code, escape, faint, frame

YES, NO = ("y", "yes"), ("n", "no")


@dataclass(frozen=True, slots=True)
class Words:
    """What such a question says.

    Args:
        html: what is asked, above the buttons.
        text: the same as text.
        prompt: the line that is asked for.
        yes: the button that accepts.
        no: the button that declines.
        hint: more about accepting, where the mouse rests on it.
    """

    html: str
    text: str
    prompt: str
    yes: str
    no: str
    hint: str = ""


class YesNoFace:
    """The face of a question with two answers.

    Args:
        words: what it says.
    """

    def __init__(self, words: Words) -> None:
        self._words = words
        self._buttons: list[Any] = []

    def build(self, give: Give) -> Any:
        """What is asked, and two buttons."""
        import ipywidgets as widgets

        accept = widgets.Button(description=self._words.yes, tooltip=self._words.hint)
        decline = widgets.Button(description=self._words.no)
        accept.layout.width = "auto"
        accept.on_click(lambda _: give(ACCEPTED))
        decline.on_click(lambda _: give(DECLINED))
        self._buttons = [accept, decline]
        return widgets.VBox([widgets.HTML(self._words.html), widgets.HBox(self._buttons)])

    def poll(self) -> None:
        """A click answers at once."""

    def disable(self) -> None:
        """Grey the buttons."""
        for button in self._buttons:
            button.disabled = True

    @property
    def text(self) -> str:
        """What is asked."""
        return self._words.text

    @property
    def prompt(self) -> str:
        """The line that is asked for."""
        return self._words.prompt

    def read(self, typed: str) -> Answer | None:
        """Yes or no."""
        word = typed.strip().casefold()
        if word in NO:
            return DECLINED
        return ACCEPTED if word in YES else None


ACCEPTED, DECLINED = Answer(None, by="you", values={}), Answer(None, by="you", declined=True)


def link_words(link: Link) -> Words:
    """A link is shown in full, and never opened by us."""
    url, host = escape(link.url), _host(link.url)
    anchor = f'<a href="{url}" target="_blank" rel="noopener noreferrer">{url}</a>'
    where = f"<div>{faint('opens')} {code(host)}</div>"
    return Words(
        html=frame(f"<b>{escape(link.message)}</b><div>{anchor}</div>{where}"),
        text=f"{link.message}\n  {link.url}\n  (at {host})",
        prompt="Have you opened it? (yes, or no to decline): ",
        yes="Continue",
        no="Decline",
        hint="I have opened the link",
    )


def _host(url: str) -> str:
    """The host that a browser goes to; one with letters that look like others by both its names."""
    host = urlsplit(url).hostname or url
    if host.isascii():
        return host
    try:
        return f"{host.encode('idna').decode()}, written {host}"
    except UnicodeError:
        return host


def confirmation_words(question: Confirmation) -> Words:
    """A confirmation says what would be done."""
    details = "".join(f"<div>{escape(line)}</div>" for line in question.details)
    return Words(
        html=frame(f"<b>{escape(question.message)}</b>{details}"),
        text="\n".join([question.message, *question.details]),
        prompt=f"{question.yes}? (yes or no): ",
        yes=question.yes,
        no="Cancel",
    )
