"""The way back from a sign-in page to the agent that listens for it on this machine.

The page sends the browser to ``http://127.0.0.1:PORT/?code=...&state=...``. A browser on another
computer does not get there; its address is pasted, checked here, and handed over as it is. Nothing
else is ever sent to the listener: Antigravity takes any other request for a failed sign-in (seed,
"oauth-personal flow").
"""

from __future__ import annotations

import http.client
from contextlib import closing, suppress
from dataclasses import dataclass
from urllib.parse import SplitResult, parse_qs, urlsplit

LOOPBACK = ("127.0.0.1", "localhost", "::1")
LONGEST = 8_000
PATIENCE = 30.0  # seconds; the agent fetches its token before it answers


class NotDelivered(OSError):
    """The listener could not be reached."""


@dataclass(frozen=True, slots=True)
class Callback:
    """Where an agent listens, and for what.

    Args:
        host: of this machine.
        port: the listener's.
        path: that it listens at.
        state: the value that its sign-in page has, and that has to come back.
    """

    host: str
    port: int
    path: str
    state: str

    @property
    def listener(self) -> str:
        """Host and port."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def refusal(self, pasted: str) -> str:
        """What is wrong with a pasted address, in words; empty when it can be handed over."""
        pasted = pasted.strip()
        if not pasted:
            return "nothing was pasted"
        is_plain = pasted.isascii() and pasted.isprintable() and " " not in pasted
        if len(pasted) > LONGEST or not is_plain:
            return "this is no address of a page"
        try:
            parts = urlsplit(pasted)
            place = (parts.hostname, parts.port)
        except ValueError:
            return "this is no address of a page"
        return self._wrong_place(parts, place) or self._wrong_query(parts.query)

    def _wrong_place(self, parts: SplitResult, place: tuple[str | None, int | None]) -> str:
        if parts.scheme != "http" or parts.username is not None:
            return f"the address has to begin with http://{self.listener}{self.path}"
        if place != (self.host, self.port):
            return f"it leads to another place: the agent listens at {self.listener}"
        if (parts.path or "/") != self.path:
            return f"it leads to another page: the agent listens at {self.path}"
        return ""

    def _wrong_query(self, query: str) -> str:
        told = parse_qs(query, keep_blank_values=True)
        if told.get("error"):
            return "the page has refused to sign you in; begin anew"
        if len(told.get("code", ())) != 1 or not told["code"][0]:
            return "there is no code in it: copy the whole address, after you have signed in"
        if told.get("state") != [self.state]:
            return "it belongs to another sign-in: its state is not that of the link above"
        return ""

    def deliver(self, pasted: str) -> None:
        """Hand a pasted address over, which was checked: one GET, and no other. Waits.

        Raises:
            NotDelivered: nobody listens any more.
        """
        assert not self.refusal(pasted)
        connection = http.client.HTTPConnection(self.host, self.port, timeout=PATIENCE)
        try:
            connection.connect()
        except OSError as error:
            raise NotDelivered(f"nobody listens at {self.listener}: {error.strerror}") from None
        # It arrives, whatever is answered; what comes of it the agent tells.
        with closing(connection), suppress(OSError, http.client.HTTPException):
            connection.request("GET", f"{self.path}?{urlsplit(pasted.strip()).query}")
            connection.getresponse().read(LONGEST)


def callback_of(url: str) -> Callback | None:
    """Where the agent listens that has shown a sign-in page; None where it does not tell.

    Args:
        url: the sign-in page's (OAuth 2.0 for native apps, RFC 8252, 7.3).
    """
    try:
        told = parse_qs(urlsplit(url).query)
        (redirect,), (state,) = told["redirect_uri"], told["state"]
        parts = urlsplit(redirect)
        host, port = parts.hostname, parts.port
    except (KeyError, ValueError):
        return None
    is_plain = redirect.isascii() and redirect.isprintable() and " " not in redirect
    if parts.scheme != "http" or host not in LOOPBACK or not port or parts.query or not is_plain:
        return None
    return Callback(host, port, parts.path or "/", state)


def is_page(url: str) -> bool:
    """Whether an address may be shown as the page of a sign-in: https, or http on this machine."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return False
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and host in LOOPBACK)
    has_user = parts.username is not None
    is_plain = len(url) <= LONGEST and url.isascii() and url.isprintable() and " " not in url
    return is_safe and bool(host) and not has_user and is_plain
