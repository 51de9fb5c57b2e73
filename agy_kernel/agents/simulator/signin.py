"""Whether the client is signed in; no credential is ever read, only whether one is there."""

from __future__ import annotations

import os

from ...errors import RequestFailed
from .catalogue import NOT_SIGNED_IN, SIGN_IN_FAILED
from .params import SERVER_STATE, not_one_of, state_error

# The variables that a method needs; of several groups any one will do, and of none, nothing will.
NEEDS: dict[str, tuple[tuple[str, ...], ...]] = {
    "oauth-personal": ((),),
    "oauth-business": (),
    "gemini-api-key": (("GEMINI_API_KEY",),),
    "agent-platform": (("GOOGLE_API_KEY",), ("GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION")),
}


class SignIn:
    """The state of the sign-in.

    Args:
        done: whether it has been done before.
    """

    def __init__(self, done: bool) -> None:
        self._done = done

    def sign_in(self, method: str) -> None:
        """Sign in.

        Raises:
            RequestFailed: there is no such method, or it lacks what it needs.
        """
        if method not in NEEDS:
            raise not_one_of("methodId", NEEDS)
        if not any(all(map(os.environ.get, names)) for names in NEEDS[method]):
            raise state_error(SIGN_IN_FAILED, "onboarding_failed")
        self._done = True

    def sign_out(self) -> None:
        """Sign out."""
        self._done = False

    def require(self) -> None:
        """Let only a client that is signed in go on.

        Raises:
            RequestFailed: -32000 "Authentication required".
        """
        if not self._done:
            data = {"message": NOT_SIGNED_IN}
            raise RequestFailed(SERVER_STATE, "Authentication required", data)
