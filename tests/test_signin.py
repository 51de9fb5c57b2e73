"""The parts of signing in: what may be handed over, what is kept, and what is written."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agy_kernel.acp.asking import Asker
from agy_kernel.acp.browser import Browser
from agy_kernel.acp.callback import Callback, NotDelivered, callback_of, is_page
from agy_kernel.acp.masks import masked
from agy_kernel.acp.tape import Tape
from agy_kernel.errors import SettingsError
from agy_kernel.events import Command
from agy_kernel.questions import Answer, SignInPage
from agy_kernel.signin import antigravity
from agy_kernel.signin.command import fits
from agy_kernel.signin.signing_out import signs_out

PAGE = (
    "https://accounts.google.com/o/oauth2/v2/auth?response_type=code&client_id=1.apps"
    "&redirect_uri=http%3A%2F%2F127.0.0.1%3A35293%2F&scope=a+b&state=S+t%2F4&code_challenge=c"
)
HERE = Callback("127.0.0.1", 35293, "/", "S t/4")
GOOD = "http://127.0.0.1:35293/?state=S+t%2F4&code=4%2F0Abc&scope=a+b"


def test_where_the_agent_listens_is_read_from_its_page() -> None:
    assert callback_of(PAGE) == HERE


@pytest.mark.parametrize(
    "change",
    [
        ("http%3A%2F%2F127.0.0.1%3A35293%2F", "http%3A%2F%2Fexample.org%3A35293%2F"),
        ("http%3A%2F%2F127.0.0.1%3A35293%2F", "http%3A%2F%2F127.0.0.1%2F"),
        ("http%3A%2F%2F127.0.0.1%3A35293%2F", "http%3A%2F%2F127.0.0.1%3Aport%2F"),
        ("http%3A%2F%2F127.0.0.1%3A35293%2F", "http%3A%2F%2F127.0.0.1%3A35293%2Fa%0Db"),
        ("http%3A%2F%2F127.0.0.1%3A35293%2F", "urn%3Aietf%3Awg%3Aoauth%3A2.0%3Aoob"),
        ("&state=S+t%2F4", ""),
        ("&state=S+t%2F4", "&state=a&state=b"),
        ("redirect_uri=", "redirect="),
    ],
)
def test_where_the_page_does_not_lead_to_this_machine_nothing_can_be_handed_over(
    change: tuple[str, str],
) -> None:
    assert change[0] in PAGE
    assert callback_of(PAGE.replace(*change)) is None


@pytest.mark.parametrize(
    ("pasted", "why"),
    [
        ("", "nothing was pasted"),
        ("hello", "has to begin with http://127.0.0.1:35293/"),
        ("https://127.0.0.1:35293/?code=c&state=S+t%2F4", "has to begin with"),
        ("http://me@127.0.0.1:35293/?code=c&state=S+t%2F4", "has to begin with"),
        ("http://127.0.0.1:35294/?code=c&state=S+t%2F4", "it leads to another place"),
        ("http://127.0.0.1/?code=c&state=S+t%2F4", "it leads to another place"),
        ("http://localhost:35293/?code=c&state=S+t%2F4", "it leads to another place"),
        ("http://169.254.169.254:35293/?code=c&state=S+t%2F4", "it leads to another place"),
        ("http://127.0.0.1:35293@evil.org/?code=c&state=S+t%2F4", "has to begin with"),
        ("http://127.0.0.1:99999/?code=c&state=S+t%2F4", "no address of a page"),
        ("http://127.0.0.1:35293/quit?code=c&state=S+t%2F4", "it leads to another page"),
        ("http://127.0.0.1:35293//?code=c&state=S+t%2F4", "it leads to another page"),
        ("http://127.0.0.1:35293/", "there is no code in it"),
        ("http://127.0.0.1:35293/?state=S+t%2F4", "there is no code in it"),
        ("http://127.0.0.1:35293/?code=&state=S+t%2F4", "there is no code in it"),
        ("http://127.0.0.1:35293/?code=c&code=d&state=S+t%2F4", "there is no code in it"),
        ("http://127.0.0.1:35293/#code=c&state=S+t%2F4", "there is no code in it"),
        ("http://127.0.0.1:35293/?code=c", "its state is not that of the link"),
        ("http://127.0.0.1:35293/?code=c&state=other", "its state is not that of the link"),
        ("http://127.0.0.1:35293/?code=c&state=S+t%2F4&state=x", "its state is not"),
        ("http://127.0.0.1:35293/?error=access_denied&state=S+t%2F4", "refused to sign you in"),
        (PAGE, "has to begin with"),
        ("http://127.0.0.1:35293/?code=c&state=S+t%2F4\r\nX: y", "no address of a page"),
        ("http://127.0.0.1:35293/?code=c d&state=S+t%2F4", "no address of a page"),
        ("http://127.0.0.1:35293/?code=\u00e9&state=S+t%2F4", "no address of a page"),
        (f"http://127.0.0.1:35293/?code={'c' * 9_000}&state=S+t%2F4", "no address of a page"),
        ("http://[::1/?code=c", "no address of a page"),
    ],
)
def test_nothing_but_this_sign_ins_callback_is_handed_over(pasted: str, why: str) -> None:
    assert why in HERE.refusal(pasted)


def test_the_callback_itself_is_not_refused() -> None:
    assert HERE.refusal(GOOD) == ""
    assert HERE.refusal(f"  {GOOD}\n") == ""
    there = Callback("::1", 80, "/back", "s")
    assert there.refusal("http://[::1]:80/back?code=c&state=s") == ""


@given(st.text())
def test_any_text_is_refused_in_words(text: str) -> None:
    assert HERE.refusal(text)


@pytest.fixture
def listener() -> Any:
    """A listener that answers with a redirect, and remembers what it was sent."""
    heard: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            heard.append(self.requestline)
            self.send_response(302)
            self.send_header("Location", "/elsewhere")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield Callback("127.0.0.1", server.server_port, "/", "s"), heard
    server.shutdown()
    thread.join()
    server.server_close()


def test_it_is_handed_over_once_as_it_is_and_no_redirect_is_followed(
    listener: tuple[Callback, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    callback, heard = listener
    callback.deliver(f"http://{callback.listener}/?code=4%2F0A&state=s#fragment")
    assert heard == ["GET /?code=4%2F0A&state=s HTTP/1.1"]


def test_where_nobody_listens_it_says_so() -> None:
    with socket.socket() as taken:  # so that nobody else begins to listen there
        taken.bind(("127.0.0.1", 0))
        there = Callback("127.0.0.1", taken.getsockname()[1], "/", "s")
        with pytest.raises(NotDelivered, match=f"nobody listens at {there.listener}"):
            there.deliver(f"http://{there.listener}/?code=c&state=s")


@pytest.mark.parametrize(
    ("url", "may_be_shown"),
    [
        (PAGE, True),
        ("http://127.0.0.1:8000/auth?state=s", True),
        ("http://example.org/auth", False),
        ("javascript:alert(1)", False),
        ("file:///etc/passwd", False),
        ("https://", False),
        ("https://accounts.google.com@evil.org/", False),
        ("https://example.org/a b", False),
        ("https://example.org/\u202e", False),
        ("https://g\u00f6ogle.com/", False),
        ("https://[", False),
    ],
)
def test_only_https_pages_are_shown(url: str, may_be_shown: bool) -> None:
    assert is_page(url) == may_be_shown


# -- what is kept


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (PAGE, PAGE.replace("S+t%2F4", "…")),
        (GOOD, "http://127.0.0.1:35293/?state=…&code=…&scope=a+b"),
        (
            "to ?next=%3Fcode%3Dabc%26state%3Dxyz%26a%3D1",
            "to ?next=%3Fcode%3D…%26state%3D…%26a%3D1",
        ),
        ("got code=4/0Abcdefghijklmnop from it", "got code=… from it"),
        ("exit code=1, state=running", "exit code=1, state=running"),
        ("x?state=%2Babc&y", "x?state=…&y"),
        ("see <a href='http://x/?code=1'>", "see <a href='http://x/?code=…'>"),
    ],
)
def test_codes_and_states_are_left_out(text: str, kept: str) -> None:
    assert masked(text) == kept


def test_no_code_is_on_the_tape(tmp_path: Path) -> None:
    tape = Tape(tmp_path / "tape.jsonl")
    tape.stderr(f"Open the following link: {GOOD}".encode())
    tape.received(GOOD.encode(), is_json=False)
    tape.close()
    for kept in ((tmp_path / "tape.jsonl").read_text(), *tape.tail(2)):
        assert "0Abc" not in kept
        assert "S+t" not in kept


# -- time


def test_a_question_is_waited_for_until_it_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [10.0]
    monkeypatch.setattr("agy_kernel.acp.asking.time.monotonic", lambda: now[0])
    asker = Asker(lambda *_: None, {})
    page = SignInPage(PAGE, 300)
    assert asker.waited_until == 0
    asker.put("", page)
    now[0] = 200.0
    assert asker.waited_until == 200
    page.answer(Answer(None, by="you", values={}))
    now[0] = 230.0
    assert asker.waited_until == 200


# -- the browser that opens nothing


async def test_a_page_to_be_opened_is_told_and_only_this_user_can_tell() -> None:
    told: asyncio.Queue[str] = asyncio.Queue()
    async with Browser(told.put_nowait) as browser:
        program = Path(browser.env["BROWSER"])
        assert program.parent.stat().st_mode & 0o777 == 0o700
        assert (program.parent / "pages").stat().st_mode & 0o777 == 0o600
        for url in (PAGE, "https://example.org/'$(touch x)`\"%s"):
            done = await asyncio.create_subprocess_exec(program, url)
            assert await done.wait() == 0
            assert await told.get() == url
    assert not program.parent.exists()


async def test_pythons_webbrowser_uses_it() -> None:
    told: asyncio.Queue[str] = asyncio.Queue()
    async with Browser(told.put_nowait) as browser:
        code = f"import webbrowser; assert webbrowser.open({PAGE!r})"
        done = await asyncio.create_subprocess_exec(
            *("python3", "-c", code), env={**os.environ, **browser.env}
        )
        assert await told.get() == PAGE
        assert await done.wait() == 0


# -- prompts that sign out


@pytest.mark.report(54)
@pytest.mark.parametrize(
    "text", ["/logout", "/logout now", "\n /LogOut", "/sign-out", "/auth logout", "/acme:log_out"]
)
def test_commands_that_sign_out_are_known(text: str) -> None:
    assert signs_out(text, ())


@pytest.mark.parametrize(
    "text", ["how do I /logout?", "/login", "logout", "/blogouter", "/auth status", "/help logout"]
)
def test_others_are_sent_unasked(text: str) -> None:
    assert not signs_out(text, ())


def test_what_the_agent_says_of_its_command_counts() -> None:
    commands = (Command("bye", "Sign out of your account"), Command("hi", "Greets"))
    assert signs_out("/bye for now", commands)
    assert not signs_out("/hi", commands)


# -- Antigravity's settings file


def change(file: Path, method: str = "oauth-personal", **gcp: str) -> None:
    antigravity.write(file, antigravity.with_method(antigravity.read(file), method, gcp))


def test_the_method_is_written_and_every_other_key_stays(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    before = {"z": [1, None, "\u00e9"], "auth": {"keep": True}, "gcp": {"project": "old", "x": 1}}
    file.write_text(json.dumps(before))
    file.chmod(0o640)
    change(file, "oauth-business", project="p", location="l")
    assert json.loads(file.read_text()) == {
        "z": [1, None, "\u00e9"],
        "auth": {"keep": True, "type": "oauth-business"},
        "gcp": {"project": "p", "location": "l", "x": 1},
    }
    assert list(json.loads(file.read_text())) == ["z", "auth", "gcp"]
    assert file.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [file]


def test_a_new_file_is_its_owners_only_and_holds_the_method_only(tmp_path: Path) -> None:
    file = tmp_path / "antigravity-acp" / "settings.json"
    change(file)
    assert json.loads(file.read_text()) == {"auth": {"type": "oauth-personal"}}
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_link_to_the_file_stays_one(tmp_path: Path) -> None:
    real, link = tmp_path / "dotfiles.json", tmp_path / "settings.json"
    real.write_text("{}")
    link.symlink_to(real)
    change(link)
    assert link.is_symlink()
    assert json.loads(real.read_text())["auth"] == {"type": "oauth-personal"}


@pytest.mark.parametrize(
    "text",
    ['{"auth": ', "[]", "", '{"a": 1, "a": 2}', '{"auth": "oauth"}', '{"gcp": [1]}', "\udc80"],
)
def test_a_damaged_file_is_left_alone_and_named(tmp_path: Path, text: str) -> None:
    file = tmp_path / "settings.json"
    data = text.encode("utf-8", "surrogateescape")
    file.write_bytes(data)
    with pytest.raises(SettingsError) as caught:
        change(file)
    assert str(file) in str(caught.value)
    assert file.read_bytes() == data


def test_a_folder_in_its_place_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be read"):
        change(tmp_path)


def test_where_it_cannot_be_written_it_is_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "settings.json"
    file.write_text('{"a": 1}')

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SettingsError, match=r"cannot be written: .*No space left"):
        change(file)
    assert file.read_text() == '{"a": 1}'
    assert list(tmp_path.iterdir()) == [file]


def test_the_file_is_where_antigravity_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/h")
    end = Path("antigravity-acp/settings.json")
    assert antigravity.settings_file({}) == Path("/h/.gemini") / end
    assert antigravity.settings_file({"GEMINI_HOME": "~/g"}) == Path("/h/g") / end


# -- the words of the command


@pytest.mark.parametrize("words", ["", "oauth-personal", "logout", "oauth-business p l"])
def test_these_are_the_commands_words(words: str) -> None:
    assert fits(words.split())


@pytest.mark.parametrize(
    "words", ["is broken", "oauth-personal p l", "oauth-business p", "a b c d"]
)
def test_these_are_a_prompt(words: str) -> None:
    assert not fits(words.split())
