"""An ACP agent whose sign-in is an OAuth stand-in: a listener on 127.0.0.1 that waits for a call.

It tells of its page as builds of Antigravity do: a line on stdout (RC01) or stderr (1.2.1), or a
browser that it opens. Standard library only. ``oauth.py FOLDER``: every request to its listener,
and every method that it was asked for, becomes a line of the folder's ``log``; what it is to do is
looked up in ``state.json`` each time, so that a test can change it meanwhile.
"""

import json
import os
import shlex
import sys
import threading
import webbrowser
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

LINE = "Open the following link to authenticate the ACP server: "
METHODS = [
    {"id": "oauth-personal", "name": "Log in with Google", "description": "In a browser"},
    {"id": "gemini-api-key", "name": "Gemini API key"},
    {"id": "term", "name": "Terminal login", "type": "terminal", "args": ["--login", "a b"]},
    {
        "id": "key",
        "name": "Key",
        "type": "env_var",
        "vars": [{"name": "STANDIN_KEY"}, {"name": "STANDIN_URL"}],
        "link": "https://example.org/keys",
    },
]
STATE, GOOD = "st4te-of-the-page", "4/g00d-code"
WANTED = {"code": -32000, "message": "Authentication required", "data": {"message": "No method."}}


DEFAULTS = {"tell": "stderr", "when": "authenticate", "seconds": 300.0, "signed_in": False}


def command(folder: Path) -> str:
    """The command line of this agent."""
    return shlex.join([sys.executable, "-I", "-S", __file__, str(folder)])


class State:
    """What the agent is to do, and what was asked of it.

    Args:
        folder: where that is kept.
    """

    def __init__(self, folder: Path) -> None:
        self._file, self._log = folder / "state.json", folder / "log"

    def begin(self, **changes: Any) -> None:
        """Begin anew.

        Args:
            changes: ``tell`` (stdout, stderr or browser), ``when`` (authenticate or session: in
                which request it asks for a sign-in), ``seconds`` that it listens, ``signed_in``.
        """
        self._log.unlink(missing_ok=True)
        self.put(**DEFAULTS | changes)

    def put(self, **changes: Any) -> None:
        """Change something; whoever reads meanwhile reads what was or what is."""
        new = self._file.with_name(f"state-{os.getpid()}-{threading.get_ident()}.json")
        new.write_text(json.dumps(self.get() | changes))
        new.replace(self._file)

    def get(self) -> dict[str, Any]:
        """What it is to do."""
        return dict(json.loads(self._file.read_text())) if self._file.exists() else dict(DEFAULTS)

    def log(self, line: str) -> None:
        """Something was asked of it."""
        with self._log.open("a") as file:
            file.write(f"{line}\n")

    @property
    def lines(self) -> list[str]:
        """What was asked of it."""
        return self._log.read_text().splitlines() if self._log.exists() else []


class Agent:
    def __init__(self, state: State) -> None:
        self._state = state
        self._writing = threading.Lock()

    def serve(self) -> None:
        for line in sys.stdin:
            message = json.loads(line)
            if "id" in message and "method" in message:
                threading.Thread(target=self._answer, args=(message,), daemon=True).start()

    def _answer(self, message: dict[str, Any]) -> None:
        method = message["method"]
        self._state.log(method)
        handler = getattr(self, "_" + method.replace("/", "_"), None)
        answer = handler(message.get("params", {})) if handler else _error(-32601, "no such method")
        self._write({"jsonrpc": "2.0", "id": message["id"], **answer})

    def _initialize(self, _: Any) -> Any:
        result = {
            "protocolVersion": 1,
            "agentCapabilities": {"auth": {"logout": {}}},
            "authMethods": METHODS,
            "agentInfo": {"name": "oauth", "title": "OAuth stand-in", "version": "1"},
        }
        return {"result": result}

    def _authenticate(self, params: Any) -> Any:
        self._state.log(f"method {params['methodId']}")
        if params["methodId"] != "oauth-personal":
            self._state.put(signed_in=True)
            return {"result": {}}
        return self._login() or {"result": {}}

    def _logout(self, _: Any) -> Any:
        self._state.put(signed_in=False)
        return {"result": {}}

    def _session_new(self, _: Any) -> Any:
        now = self._state.get()
        failed = {"error": WANTED} if now["when"] == "authenticate" else {}
        if not now["signed_in"]:
            failed = failed or self._login()
        return failed if failed and not now["signed_in"] else {"result": {"sessionId": "s1"}}

    def _session_prompt(self, params: Any) -> Any:
        text = params["prompt"][-1]["text"]
        self._state.log(f"prompt {text}")
        content = {"type": "text", "text": f"You said: {text}"}
        update = {"sessionUpdate": "agent_message_chunk", "content": content}
        params = {"sessionId": "s1", "update": update}
        self._write({"jsonrpc": "2.0", "method": "session/update", "params": params})
        return {"result": {"stopReason": "end_turn"}}

    # -- the sign-in

    def _login(self) -> Any:
        """Listen until something has called, or the time is over; None where that went well."""
        listener = _Listener(self._state.log)
        listener.timeout = self._state.get()["seconds"]
        self._tell(_page(listener.server_port))
        with listener:
            listener.handle_request()
        if listener.called == {"code": [GOOD], "state": [STATE]}:
            self._state.put(signed_in=True)
            return None
        why = "Timed out waiting for" if listener.called is None else "It is no callback of"
        return _error(-32000, f"Onboarding failed: {why} the authentication flow.")

    def _tell(self, url: str) -> None:
        way = self._state.get()["tell"]
        if way == "browser":
            webbrowser.open(url)
        elif way == "stderr":
            print(LINE + url, file=sys.stderr, flush=True)
        else:
            with self._writing:
                print(LINE + url, flush=True)

    def _write(self, message: Any) -> None:
        with self._writing:
            print(json.dumps(message), flush=True)


class _Listener(HTTPServer):
    """Takes one request, whichever it is."""

    def __init__(self, log: Any) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.log = log
        self.called: Any = None


class _Handler(BaseHTTPRequestHandler):
    server: Any

    def do_GET(self) -> None:
        self.server.log(f"GET {self.path}")
        self.server.called = parse_qs(urlsplit(self.path).query)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"You may close this page.")

    def log_message(self, *_: Any) -> None:
        pass


def _page(port: int) -> str:
    query = {
        "response_type": "code",
        "redirect_uri": f"http://127.0.0.1:{port}/",
        "scope": "https://www.example.org/auth/everything",
        "state": STATE,
        "code_challenge": "abc",
    }
    return f"https://accounts.example.org/o/oauth2/v2/auth?{urlencode(query)}"


def _error(code: int, message: str) -> Any:
    return {"error": {"code": code, "message": message}}


if __name__ == "__main__":
    Agent(State(Path(sys.argv[1]))).serve()
    os._exit(0)  # a sign-in that nobody has finished
