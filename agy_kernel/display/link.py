"""A link that the agent asks the person to visit: shown in full, and never opened by us."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from ..questions import Answer, Link
from .ask import Give
from .html import code, escape, faint, frame

YES, NO = ("y", "yes"), ("n", "no")


class LinkFace:
    """The face of a link.

    Args:
        link: what is asked.
    """

    def __init__(self, link: Link) -> None:
        self._link = link
        self._buttons: list[Any] = []

    def build(self, give: Give) -> Any:
        """The address, and the buttons Continue and Decline."""
        import ipywidgets as widgets

        go = widgets.Button(description="Continue", tooltip="I have opened the link")
        decline = widgets.Button(description="Decline")
        go.on_click(lambda _: give(Answer(None, by="you", values={})))
        decline.on_click(lambda _: give(Answer(None, by="you", declined=True)))
        self._buttons = [go, decline]
        return widgets.VBox([widgets.HTML(self._html()), widgets.HBox(self._buttons)])

    def _html(self) -> str:
        url = escape(self._link.url)
        link = f'<a href="{url}" target="_blank" rel="noopener noreferrer">{url}</a>'
        where = f"{faint('opens')} {code(_host(self._link.url))}"
        return frame(f"<b>{escape(self._link.message)}</b><div>{link}</div><div>{where}</div>")

    def poll(self) -> None:
        """A click answers at once."""

    def disable(self) -> None:
        """Grey the buttons."""
        for button in self._buttons:
            button.disabled = True

    @property
    def text(self) -> str:
        """What is asked, and the address."""
        return f"{self._link.message}\n  {self._link.url}\n  (at {_host(self._link.url)})"

    @property
    def prompt(self) -> str:
        """The line that is asked for."""
        return "Have you opened it? (yes, or no to decline): "

    def read(self, typed: str) -> Answer | None:
        """Yes or no."""
        word = typed.strip().casefold()
        if word in NO:
            return Answer(None, by="you", declined=True)
        return Answer(None, by="you", values={}) if word in YES else None


def _host(url: str) -> str:
    return urlsplit(url).hostname or url
