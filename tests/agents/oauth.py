"""An ACP agent whose sign-in is an OAuth stand-in: a listener on 127.0.0.1 that waits for a callback.

It tells of its page as builds of Antigravity do: a line on stdout (RC01) or stderr (1.2.1), or a
browser that it opens. Standard library only; every request to its listener, and every method that
it was asked for, is a line of ``--log``.
"""

import argparse
import json
import os
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


def command(*options: str) -> str:
    """The command line of this agent."""
    return " ".join([sys.executable, "-I", "-S", __file__, *options])


class Agent:
    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._signed_in = options.signed_in
        self._writing = threading.Lock()

    def serve(self) -> None:
        for line in sys.stdin:
            message = json.loads(line)
            if "id" in message and "method" in message:
                threading.Thread(target=self._answer, args=(message,), daemon=True).start()

    def _answer(self, message: dict[str, Any]) -> None:
        method = message["method"]
        self._log(method)
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
        self._log(f"method {params['methodId']}")
        if params["methodId"] != "oauth-personal":
            self._signed_in = True
            return {"result": {}}
        return self._login() or {"result": {}}

    def _logout(self, _: Any) -> Any:
        self._signed_in = False
        return {"result": {}}

    def _session_new(self, _: Any) -> Any:
        if not self._signed_in and self._options.when == "session":
            failed = self._login()
            if failed:
                return failed
        return {"result": {"sessionId": "s1"}} if self._signed_in else {"error": WANTED}

    def _session_prompt(self, params: Any) -> Any:
        text = params["prompt"][-1]["text"]
        self._log(f"prompt {text}")
        content = {"type": "text", "text": f"You said: {text}"}
        update = {"sessionUpdate": "agent_message_chunk", "content": content}
        params = {"sessionId": "s1", "update": update}
        self._write({"jsonrpc": "2.0", "method": "session/update", "params": params})
        return {"result": {"stopReason": "end_turn"}}

    # -- the sign-in

    def _login(self) -> Any:
        """Listen until something has called, or the time is over; None where that went well."""
        listener = _Listener(self._log)
        listener.timeout = self._options.seconds
        self._tell(_page(listener.server_port))
        with listener:
            listener.handle_request()
        if listener.called == {"code": [GOOD], "state": [STATE]}:
            self._signed_in = True
            return None
        why = "Timed out waiting for" if listener.called is None else "It is no callback of"
        return _error(-32000, f"Onboarding failed: {why} the authentication flow.")

    def _tell(self, url: str) -> None:
        if self._options.tell == "browser":
            webbrowser.open(url)
        elif self._options.tell == "stderr":
            print(LINE + url, file=sys.stderr, flush=True)
        else:
            with self._writing:
                print(LINE + url, flush=True)

    def _write(self, message: Any) -> None:
        with self._writing:
            print(json.dumps(message), flush=True)

    def _log(self, line: str) -> None:
        if self._options.log:
            with self._options.log.open("a") as file:
                file.write(f"{line}\n")


class _Listener(HTTPServer):
    """Takes one request, whichever it is."""

    def __init__(self, log: Any) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.log, self.called = log, None


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


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tell", choices=("stdout", "stderr", "browser"), default="stderr")
    parser.add_argument("--when", choices=("authenticate", "session"), default="authenticate")
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--signed-in", action="store_true")
    parser.add_argument("--log", type=Path)
    options, _ = parser.parse_known_args()
    Agent(options).serve()
    os._exit(0)  # a sign-in that nobody has finished


if __name__ == "__main__":
    main()
