"""Signing in from a notebook: a real kernel, an agent with an OAuth stand-in, and a person."""

from __future__ import annotations

import html
import json
import re
import shutil
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from tests.agents import oauth
from tests.support.kernels import Kernel, StartKernel
from tests.support.notebook import VIEW, Cell, Question
from tests.support.processes import happens_within

AUTH = "%agy auth oauth-personal"


class SignIn:
    """A kernel whose agent wants a sign-in.

    Args:
        kernel: its agent is the stand-in.
        state: what that is to do.
    """

    def __init__(self, kernel: Kernel, state: oauth.State) -> None:
        self.kernel, self._state = kernel, state

    @property
    def log(self) -> list[str]:
        """The methods that the agent was asked for, and the requests to its listener."""
        return self._state.lines

    def begin_anew(self, **changes: Any) -> None:
        """Nobody is signed in, and there is no session; takes what ``oauth.State.begin`` does."""
        self._state.begin(**changes)
        self.kernel.run("%agy new")

    @property
    def callbacks(self) -> list[str]:
        return [line for line in self.log if line.startswith("GET")]

    def page(self, cell: Cell) -> tuple[str, Question]:
        """Wait for the page; returns its address and the question."""
        question = self.kernel.question(cell)
        (href,) = re.findall(r'href="([^"]+)"', question.html)
        return html.unescape(href), question

    def put(self, address: str) -> None:
        """Paste something into the field."""
        models = self.kernel.notebook.models.items()
        (field,) = [i for i, state in models if state.get("_model_name") == "TextModel"]
        data = {"method": "update", "state": {"value": address}, "buffer_paths": []}
        self.kernel.handled(self.kernel.comm(field, data))

    def paste(self, address: str, question: Question) -> None:
        self.put(address)
        self.kernel.click(question, "Send")

    def problem(self) -> str:
        """What the question says is wrong."""

        def said() -> str:
            values = (m.get("value") for m in self.kernel.notebook.models.values())
            return next((v for v in values if isinstance(v, str) and v.startswith("<b>⚠")), "")

        return self.kernel.wait(said, "what is wrong")


def callback(url: str, **changes: str) -> str:
    """Where the browser ends up after signing in at a page."""
    told = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
    query = {"code": oauth.GOOD, "state": told["state"], **changes}
    return f"{told['redirect_uri']}?{urlencode(query)}"


def check_no_secret(it: SignIn, cell: Cell) -> None:
    """Neither what is left in the notebook nor the tape has code or state."""
    for secret in (oauth.STATE, oauth.GOOD, urlencode({"c": oauth.GOOD})[2:]):
        assert secret not in str(cell.outputs)
        assert secret not in (it.kernel.folder / "tape.jsonl").read_text()
        assert secret not in it.kernel.log


class Begin(Protocol):
    """Lets the agent begin anew, with nobody signed in; takes what ``oauth.State.begin`` does."""

    def __call__(self, **changes: Any) -> SignIn: ...


@pytest.fixture(scope="module")
def module_signin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Kernel, Path]]:
    folder = tmp_path_factory.mktemp("oauth")
    agent = oauth.command(folder)
    with Kernel(tmp_path_factory.mktemp("signin"), agent, {"STANDIN_KEY": "sesame"}) as kernel:
        yield kernel, folder


@pytest.fixture
def begin(module_signin: tuple[Kernel, Path]) -> Iterator[Begin]:
    kernel, folder = module_signin
    kernel.shows_widgets = True

    def begin(**changes: Any) -> SignIn:
        it = SignIn(kernel, oauth.State(folder))
        it.begin_anew(**changes)
        return it

    yield begin
    if not kernel.is_settled:
        kernel.restart()


@pytest.mark.report(51)
@pytest.mark.parametrize("way", ["stdout", "stderr", "browser"])
def test_the_page_is_shown_and_a_pasted_address_is_handed_over(begin: Begin, way: str) -> None:
    it = begin(tell=way)
    cell = it.kernel.ask(AUTH)
    url, question = it.page(cell)
    assert url.startswith("https://accounts.example.org/o/oauth2/v2/auth?")
    assert "accounts.example.org</code>" in question.html
    assert re.search(r"The agent waits for [45]:\d\d minutes", question.html)
    port = urlsplit(parse_qs(urlsplit(url).query)["redirect_uri"][0]).port
    assert f"ssh -L {port}:127.0.0.1:{port} HOST" in question.html
    it.paste(callback(url), question)
    it.kernel.finish(cell)
    assert "Signed in to OAuth stand-in" in cell.text
    assert "· address handed over by you" in cell.text
    assert it.callbacks == [f"GET /?{urlsplit(callback(url)).query}"]
    check_no_secret(it, cell)
    assert not it.kernel.notebook.models
    assert "You said: hello" in it.kernel.run("hello").text


def test_the_browser_of_this_computer_needs_nothing_to_be_pasted(begin: Begin) -> None:
    it = begin()
    cell = it.kernel.ask(AUTH)
    url, _ = it.page(cell)
    urllib.request.urlopen(callback(url), timeout=60).close()
    it.kernel.finish(cell)
    assert "· signed in" in cell.text
    assert "Signed in to OAuth stand-in" in cell.text
    assert len(it.callbacks) == 1
    check_no_secret(it, cell)


def test_a_wrong_address_goes_nowhere_and_can_be_mended(begin: Begin) -> None:
    it = begin()
    cell = it.kernel.ask(AUTH)
    url, question = it.page(cell)
    it.paste(callback(url, state="another"), question)
    assert "it belongs to another sign-in" in it.problem()
    assert it.callbacks == []
    it.paste(callback(url), question)
    it.kernel.finish(cell)
    assert len(it.callbacks) == 1
    assert "Signed in" in cell.text


def test_two_clicks_hand_it_over_once(begin: Begin) -> None:
    it = begin()
    cell = it.kernel.ask(AUTH)
    url, question = it.page(cell)
    it.put(callback(url))
    it.kernel.click(question, "Send")
    it.kernel.click(question, "Send")
    it.kernel.finish(cell)
    assert "Signed in" in cell.text
    assert len(it.callbacks) == 1


@pytest.mark.report(51)
def test_stop_ends_the_wait_at_once_and_nobody_listens_any_more(begin: Begin) -> None:
    it = begin()
    cell = it.kernel.ask(AUTH)
    it.page(cell)
    before = it.kernel.agent
    it.kernel.interrupt()
    it.kernel.finish(cell)
    assert cell.error["ename"] == "TurnCancelled"
    assert "cancelled: the turn was stopped" in cell.text
    assert it.callbacks == []
    assert happens_within(30, lambda: before not in it.kernel.agents)
    check_no_secret(it, cell)
    again = it.kernel.ask(AUTH)
    url, question = it.page(again)
    it.paste(callback(url), question)
    assert "Signed in" in it.kernel.finish(again).text


def test_cancel_ends_the_wait_with_the_way_to_go_on(begin: Begin) -> None:
    it = begin()
    cell = it.kernel.ask(AUTH)
    _, question = it.page(cell)
    it.kernel.click(question, "Cancel")
    it.kernel.finish(cell)
    assert cell.error["ename"] == "AuthenticationRequired"
    assert "declined by you" in cell.text
    assert it.callbacks == []


def test_when_the_agent_gives_up_the_page_goes_with_it(begin: Begin) -> None:
    it = begin(seconds=0.2, tell="stdout")  # nothing orders what comes on two pipes
    cell = it.kernel.ask(AUTH)
    it.kernel.finish(cell)
    assert "Onboarding failed: Timed out waiting for the authentication flow" in cell.text
    assert "it came to nothing" in cell.text
    assert not [output for output in cell.outputs if VIEW in output.get("data", {})]
    check_no_secret(it, cell)


@pytest.mark.report(51)
@pytest.mark.parametrize("way", ["stdout", "stderr", "browser"])
def test_a_prompt_that_begins_a_sign_in_shows_it_and_goes_on_after_it(
    begin: Begin, way: str
) -> None:
    it = begin(when="session", tell=way)
    cell = it.kernel.ask("hello")
    url, question = it.page(cell)
    it.paste(callback(url), question)
    it.kernel.finish(cell)
    assert "You said: hello" in cell.text
    assert cell.record["stop_reason"] == "end_turn"
    assert len(it.callbacks) == 1
    check_no_secret(it, cell)


@pytest.mark.report(51)
def test_stop_ends_a_prompt_that_waits_for_a_sign_in(begin: Begin) -> None:
    it = begin(when="session")
    cell = it.kernel.ask("hello")
    it.page(cell)
    before = it.kernel.agent
    it.kernel.interrupt()
    it.kernel.finish(cell)
    assert cell.error["ename"] == "TurnCancelled"
    assert happens_within(30, lambda: before not in it.kernel.agents)
    again = it.kernel.ask("hello")
    url, question = it.page(again)
    it.paste(callback(url), question)
    assert "You said: hello" in it.kernel.finish(again).text


def test_asking_whether_one_is_signed_in_leaves_nobody_listening(begin: Begin) -> None:
    it = begin(when="session")
    cell = it.kernel.ask("%agy auth")
    it.kernel.finish(cell)
    assert "not signed in" in cell.text
    assert "session/new" in it.log
    assert happens_within(30, lambda: not it.kernel.agents)


@pytest.mark.report(52)
def test_without_a_human_a_prompt_does_not_wait_for_a_browser(begin: Begin) -> None:
    it = begin(when="session")
    cell = it.kernel.run("hello", allow_stdin=False)
    assert cell.error["ename"] == "AuthenticationRequired"
    assert "`%agy auth`" in cell.error["evalue"]
    assert cell.seconds < 20
    assert it.callbacks == []


def test_on_a_console_the_address_is_typed_out_of_sight(begin: Begin) -> None:
    it = begin()
    it.kernel.shows_widgets = False
    cell = it.kernel.send(AUTH, allow_stdin=True)
    it.kernel.asked(cell)
    assert it.kernel.is_secret
    (url,) = re.findall(r"https://accounts\S+", cell.text)
    it.kernel.type("http://127.0.0.1:1/?code=x")
    assert "it leads to another place" in it.kernel.asked(cell, 2)
    it.kernel.type(callback(url))
    it.kernel.finish(cell)
    assert "Signed in" in cell.text
    assert len(it.callbacks) == 1


def test_a_notebook_without_widgets_shows_a_link_that_is_gone_afterwards(
    start_kernel: StartKernel, tmp_path: Path
) -> None:
    it = SignIn(start_kernel(oauth.command(tmp_path)), oauth.State(tmp_path))
    it.kernel.shows_widgets = False
    cell = it.kernel.ask(AUTH)
    it.kernel.asked(cell)
    (href,) = re.findall(r'href="([^"]+)"', cell.text)
    it.kernel.type(callback(html.unescape(href)))
    it.kernel.finish(cell)
    assert "Signed in" in cell.text
    check_no_secret(it, cell)


# -- the other methods, and what there is


@pytest.mark.report(52)
def test_auth_shows_the_methods_what_they_need_and_how_to_go_on(begin: Begin) -> None:
    it = begin()
    cell = it.kernel.ask("%agy auth")
    it.kernel.finish(cell)
    assert "**OAuth stand-in**: not signed in." in cell.text
    assert "`oauth-personal` | Log in with Google. In a browser." in cell.text
    assert "`%agy auth oauth-personal`" in cell.text
    assert "`STANDIN_KEY` (set) and `STANDIN_URL` (missing)" in cell.text
    assert "https://example.org/keys" in cell.text
    assert f"{sys.executable} -I -S {oauth.__file__}" in cell.text
    assert "--login 'a b'" in cell.text
    assert "sesame" not in str(cell.messages)
    assert it.callbacks == []


def test_auth_says_when_one_is_signed_in(begin: Begin) -> None:
    it = begin(signed_in=True)
    assert "it has opened a session" in it.kernel.run("%agy auth").text


def test_a_terminal_method_is_never_sent_to_the_agent_and_one_with_its_variables_is(
    start_kernel: StartKernel, tmp_path: Path
) -> None:
    state = oauth.State(tmp_path)
    env = {"AGY_AUTH": "term", "STANDIN_KEY": "sesame", "STANDIN_URL": "https://example.org"}
    it = SignIn(start_kernel(oauth.command(tmp_path), env), state)
    assert "`term` (chosen)" in it.kernel.run("%agy auth").text
    cell = it.kernel.run("%agy auth term")
    assert "Terminal login: in a terminal: `" in cell.text
    assert "--login 'a b'`" in cell.text
    assert "--login 'a b'" in it.kernel.run("hello").text
    assert "authenticate" not in it.log
    assert "Signed in to OAuth stand-in with `key`" in it.kernel.run("%agy auth key").text
    assert "method key" in it.log


def test_without_its_variables_a_method_is_not_tried(begin: Begin) -> None:
    it = begin()
    cell = it.kernel.run("%agy auth key")
    assert "`STANDIN_KEY` and `STANDIN_URL`" in cell.text
    assert "https://example.org/keys" in cell.text
    assert "authenticate" not in it.log


def test_an_unknown_method_names_those_there_are(begin: Begin) -> None:
    it = begin()
    cell = it.kernel.run("%agy auth smoke")
    assert cell.error["ename"] == "CommandError"
    assert "oauth-personal, gemini-api-key, term, key" in cell.error["evalue"]


# -- signing out


def test_signing_out_asks_first(begin: Begin) -> None:
    it = begin(signed_in=True)
    it.kernel.run("hello")
    cell = it.kernel.ask("%agy auth logout")
    question = it.kernel.question(cell)
    assert list(question.buttons) == ["Sign out", "Cancel"]
    assert "It does not touch variables" in question.html
    it.kernel.click(question, "Cancel")
    it.kernel.finish(cell)
    assert "you are still signed in" in cell.error["evalue"]
    assert "logout" not in it.log
    cell = it.kernel.ask("%agy auth logout")
    it.kernel.click(it.kernel.question(cell), "Sign out")
    it.kernel.finish(cell)
    assert "Signed out of OAuth stand-in" in cell.text
    assert "logout" in it.log


def test_nobody_is_signed_out_without_a_human(begin: Begin) -> None:
    it = begin(signed_in=True)
    cell = it.kernel.run("%agy auth logout", allow_stdin=False)
    assert cell.error["ename"] == "CommandError"
    assert "nobody can answer here" in cell.error["evalue"]
    assert "logout" not in it.log


@pytest.mark.report(54)
@pytest.mark.parametrize("text", ["/logout", "/logout now", " /sign-out"])
def test_a_prompt_that_signs_out_asks_first(begin: Begin, text: str) -> None:
    it = begin(signed_in=True)
    cell = it.kernel.ask(text)
    it.kernel.click(it.kernel.question(cell), "Cancel")
    it.kernel.finish(cell)
    assert cell.error["ename"] == "TurnCancelled"
    assert "session/prompt" not in it.log
    cell = it.kernel.ask(text)
    it.kernel.click(it.kernel.question(cell), "Send")
    it.kernel.finish(cell)
    assert f"You said: {text}" in cell.text


@pytest.mark.report(54)
def test_without_a_human_a_prompt_that_signs_out_is_refused(begin: Begin) -> None:
    check_refused(begin(signed_in=True), "/logout")


@pytest.mark.report(54)
def test_so_it_is_in_a_python_notebook(start_kernel: StartKernel, tmp_path: Path) -> None:
    it = SignIn(start_kernel(oauth.command(tmp_path), name="python3"), oauth.State(tmp_path))
    it.kernel.run("%load_ext agy_kernel")
    check_refused(it, "%agy /logout")
    check_refused(it, "%%agy\n/logout")


def check_refused(it: SignIn, code: str) -> None:
    cell = it.kernel.run(code, allow_stdin=False)
    assert cell.error["ename"] == "CommandError"
    assert "nobody can answer here" in cell.error["evalue"]
    assert "session/prompt" not in it.log


# -- Antigravity's settings


class Antigravity(SignIn):
    """The stand-in in the place of Google's server, with the home folder of a person.

    Args:
        home: of Gemini's programs.
    """

    def __init__(self, kernel: Kernel, state: oauth.State, home: Path) -> None:
        super().__init__(kernel, state)
        self.home, self.settings = home, home / "antigravity-acp" / "settings.json"

    def write_and_sign_in(self, cell: Cell) -> None:
        """Agree to what is to be written, and paste where signing in has led to."""
        self.kernel.click(self.kernel.question(cell), "Write and sign in")
        questions = self.kernel.notebook.questions
        self.kernel.wait(lambda: "Sign in</a>" in str(questions(cell)), "the page")
        url, question = self.page(cell)
        self.paste(callback(url), question)
        self.kernel.finish(cell)


@pytest.fixture(scope="module")
def module_antigravity(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Antigravity]:
    folder = tmp_path_factory.mktemp("server")
    server, home = folder / "agy_acp_server.par", folder / "gemini"
    server.write_text(f"#!/bin/sh\nexec {oauth.command(folder)}\n")
    server.chmod(0o700)
    env = {"AGY_ACP_BIN": str(server), "GEMINI_HOME": str(home)}
    with Kernel(tmp_path_factory.mktemp("antigravity"), "antigravity", env) as kernel:
        yield Antigravity(kernel, oauth.State(folder), home)


@pytest.fixture
def antigravity(module_antigravity: Antigravity) -> Antigravity:
    it = module_antigravity
    shutil.rmtree(it.home, ignore_errors=True)
    it.settings.parent.mkdir(parents=True)
    it.begin_anew()
    return it


def test_antigravitys_settings_are_written_after_asking_and_nothing_else(
    antigravity: Antigravity,
) -> None:
    it = antigravity
    it.settings.write_text('{"ui": {"theme": "dark"}, "auth": {"type": "gemini-api-key", "x": 1}}')
    it.settings.chmod(0o644)
    cell = it.kernel.ask(AUTH)
    question = it.kernel.question(cell)
    assert list(question.buttons) == ["Write and sign in", "Cancel"]
    assert str(it.settings) in question.html
    assert "auth.type = oauth-personal" in question.html
    assert "oauth-personal" not in it.settings.read_text()
    it.write_and_sign_in(cell)
    assert "Signed in" in cell.text
    wanted = {"ui": {"theme": "dark"}, "auth": {"type": "oauth-personal", "x": 1}}
    assert json.loads(it.settings.read_text()) == wanted
    assert it.settings.stat().st_mode & 0o777 == 0o644
    assert [path.name for path in it.settings.parent.iterdir()] == ["settings.json"]


def test_who_cancels_has_nothing_written_and_is_not_signed_in(antigravity: Antigravity) -> None:
    it = antigravity
    cell = it.kernel.ask(AUTH)
    it.kernel.click(it.kernel.question(cell), "Cancel")
    it.kernel.finish(cell)
    assert "nothing was written" in cell.error["evalue"]
    assert not it.settings.exists()
    assert "authenticate" not in it.log


def test_without_a_human_nothing_is_written(antigravity: Antigravity) -> None:
    it = antigravity
    cell = it.kernel.run(AUTH, allow_stdin=False)
    assert "nobody can answer here" in cell.error["evalue"]
    assert not it.settings.exists()


@pytest.mark.report(53)
def test_the_logins_of_the_cli_and_of_the_server_are_told_apart_and_no_token_is_opened(
    antigravity: Antigravity,
) -> None:
    it = antigravity
    tokens = [
        it.settings.parent / "acp_token.json",
        it.settings.parent / "acp_business_token.json",
        it.home / "antigravity-cli" / "oauth_creds.json",
    ]
    for token in tokens:
        token.parent.mkdir(exist_ok=True)
        token.write_text("POISON")
        token.chmod(0)
    watch = "opened = []; import sys; sys.addaudithook(lambda name, args: "
    it.kernel.run(f"%%py\n{watch}opened.append(str(args[0])) if name == 'open' else None)")
    cell = it.kernel.run("%agy auth", allow_stdin=True, cell_id="cell")
    assert "The login of the `agy` CLI is another one. There is one of the CLI here" in cell.text
    assert "`GEMINI_API_KEY` (missing)" in cell.text
    assert "`STANDIN_KEY` (missing) and `STANDIN_URL` (missing)" in cell.text
    cell = it.kernel.ask(AUTH)
    it.write_and_sign_in(cell)
    opened: Any = it.kernel.run("%%py\nprint(*opened, sep='\\n')").text.splitlines()
    assert str(it.settings) in opened
    assert not {path for path in opened if "token" in path or "antigravity-cli" in path}
    assert "POISON" not in str(it.kernel.notebook.cells)


def test_a_damaged_settings_file_is_left_alone_and_named(antigravity: Antigravity) -> None:
    it = antigravity
    it.settings.write_text('{"auth": ')
    cell = it.kernel.ask(AUTH)
    it.kernel.finish(cell)
    assert cell.error["ename"] == "SettingsError"
    assert f"{it.settings} is left as it is, because it is not JSON" in cell.error["evalue"]
    assert it.settings.read_text() == '{"auth": '
    assert str(it.settings) in it.kernel.run("%agy auth").text
