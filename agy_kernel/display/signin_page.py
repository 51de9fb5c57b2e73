"""The page of a sign-in: a link, the seconds that are left, and a field for where it has led to.

What is in the field or the link is a secret of one sign-in: both are gone when it is over, and the
notebook keeps the page's host only.
"""

from __future__ import annotations

import math
import time
from typing import Any
from urllib.parse import urlsplit

from ..questions import Answer, SignInPage
from .ask import Give
from .html import code, escape, faint, frame

SETTLED = 0.15  # seconds; what was pasted may come behind the click on Send
CANCEL = "/cancel"
ELSEWHERE = (
    "If the browser is on another computer, it ends on a page that cannot be shown. "
    "Copy that page's address, and paste it here:"
)


class SignInFace:
    """The face of a sign-in page.

    Args:
        page: where the person signs in.
        with_link: whether the text has the address, too; it stays where text cannot be changed.
    """

    def __init__(self, page: SignInPage, with_link: bool) -> None:
        self._page, self._with_link = page, with_link
        self._remark = ""
        self._sent_at: float | None = None
        self._disabled: list[Any] = []

    # -- as a widget

    def build(self, give: Give) -> Any:
        """The link, the countdown, the field, and the buttons Send and Cancel."""
        import ipywidgets as widgets

        self._give = give
        self._clock = widgets.HTML(self._countdown())
        self._problem = widgets.HTML()
        self._field = widgets.Text(
            placeholder=f"http://{self._page.listener}/?code=…",
            layout=widgets.Layout(width="min(100%, 40em)"),
        )
        send, cancel = widgets.Button(description="Send"), widgets.Button(description="Cancel")
        send.on_click(lambda _: self._send())
        cancel.on_click(lambda _: give(Answer(None, by="you", declined=True)))
        head = [widgets.HTML(self._html()), self._clock]
        if not self._page.listener:
            self._disabled = [cancel]
            return widgets.VBox([*head, widgets.HBox([cancel])])
        self._disabled = [self._field, send, cancel]
        field = [widgets.HTML(escape(ELSEWHERE)), self._field, self._problem]
        return widgets.VBox([*head, *field, widgets.HBox([send, cancel])])

    def _html(self) -> str:
        other = f"<div>{faint(escape(_tunnel(self._page)))}</div>" if self._page.listener else ""
        return frame(f"{page_link(self._page)}{other}")

    def _countdown(self) -> str:
        return faint(escape(left(self._page)))

    def _send(self) -> None:
        self._sent_at = time.monotonic()

    def poll(self) -> None:
        """Count down; look at the field a moment after Send was clicked."""
        if self._clock.value != (now := self._countdown()):
            self._clock.value = now
        if self._sent_at is None or time.monotonic() - self._sent_at < SETTLED:
            return
        self._sent_at = None
        problem = self._page.paste(self._field.value)
        self._problem.value = f"<b>⚠ {escape(problem)}</b>" if problem else ""
        if not problem:
            self._field.value = ""
            self._give(Answer(None, by="you", values={}))

    def disable(self) -> None:
        """Grey the field and the buttons."""
        for widget in self._disabled:
            widget.disabled = True

    # -- as text

    @property
    def text(self) -> str:
        """Where to sign in, and how to go on."""
        where = self._page.url if self._with_link else f"the link above, at {host(self._page)}"
        lines = [f"Sign in at {where}", left(self._page)]
        return "\n".join(
            [*lines, *([ELSEWHERE, _tunnel(self._page)] if self._page.listener else [])]
        )

    @property
    def prompt(self) -> str:
        """The line that is asked for."""
        remark = f"{self._remark}\n" if self._remark else ""
        what = "Address" if self._page.listener else "Enter"
        return (
            f"{remark}{what} (nothing is needed where the page says that all is well; {CANCEL}): "
        )

    def read(self, typed: str) -> Answer | None:
        """Take a line, an address."""
        if typed.strip() == CANCEL:
            return Answer(None, by="you", declined=True)
        self._remark = self._page.paste(typed) if typed.strip() else ""
        is_taken = bool(typed.strip()) and not self._remark
        return Answer(None, by="you", values={}) if is_taken else None


def page_link(page: SignInPage) -> str:
    """The link, as HTML."""
    url = escape(page.url)
    link = f'<a href="{url}" target="_blank" rel="noopener noreferrer">Sign in</a>'
    return f"<b>{link}</b> {faint('at')} {code(host(page))}"


def host(page: SignInPage) -> str:
    """Where the page is."""
    return urlsplit(page.url).hostname or ""


def left(page: SignInPage) -> str:
    """For how long the agent still waits, in words."""
    seconds = math.ceil(page.seconds_left)
    if not seconds:
        return "The time is over; the agent may not listen any more."
    return f"The agent waits for {seconds // 60}:{seconds % 60:02} minutes. Stop ends it."


def _tunnel(page: SignInPage) -> str:
    port = page.listener.rpartition(":")[2]
    return (
        f"Or let it reach this computer: ssh -L {port}:127.0.0.1:{port} HOST, before you sign in."
    )
