"""What a tape leaves out, and that it leaves in all else as the bytes that came."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agy_kernel.acp.privacy import Privacy
from agy_kernel.acp.tape import Tape

SECRET = "hunter2hunter2"
KEY = "AIza" + "x" * 35
PRIVACY = Privacy({"MY_TOKEN": SECRET, "PATH": "/usr/bin:/bin"}, "/home/mary", "mary")

TEXTS = {
    f"it is {SECRET}!": "it is [secret masked]!",
    f"key {KEY}.": "key [secret masked].",
    "in /home/mary/nb and file:///home/mary": "in <home>/nb and file://<home>",
    "in /home/other/nb, /Users/Other/x": "in <home>/nb, <home>/x",
    "C:\\Users\\Mary\\nb": "<home>\\nb",
    "said mary, not maryland or rosemary": "said <user>, not maryland or rosemary",
    "https://x.example/cb?code=4/abc&state=xyz&x=1": "https://x.example/cb?code=…&state=…&x=1",
    "/usr/bin and https://x.example/home/page": "/usr/bin and https://x.example/home/page",
}


def chunk(text: str) -> dict[str, Any]:
    content = {"type": "text", "text": text}
    update = {"sessionUpdate": "agent_message_chunk", "content": content}
    return {"method": "session/update", "params": {"sessionId": "s", "update": update}}


def call(text: str) -> dict[str, Any]:
    update = {"sessionUpdate": "tool_call", "rawInput": {"a": [text]}}
    return {"method": "session/update", "params": {"update": update}}


def cleaned(frame: Any) -> Any:
    return json.loads(PRIVACY.line(json.dumps(frame)))


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("frame", [chunk, call])
def test_what_is_private_goes_out_of_every_text(text: str, frame: Any) -> None:
    assert cleaned(frame(text)) == frame(TEXTS[text])
    assert PRIVACY.text(text) == TEXTS[text]


def test_a_chunk_behind_harmless_ones_is_still_searched() -> None:
    privacy = Privacy({"MY_TOKEN": SECRET}, "/home/mary", "mary")
    for text in ("hello", "there", SECRET, "again", "/home/mary"):
        line = privacy.line(json.dumps(chunk(text)))
        assert SECRET not in line
        assert "mary" not in line
    # Another beginning of the line, with a secret in it.
    frame = chunk("hello")
    frame["params"]["sessionId"] = SECRET
    assert SECRET not in privacy.line(json.dumps(frame))
    meta = chunk("hello")
    meta["params"]["update"]["_meta"] = {"apiKey": "short"}
    assert json.loads(privacy.line(json.dumps(meta)))["params"]["update"]["_meta"] == {
        "apiKey": "[secret masked]"
    }


def test_what_begins_like_a_chunk_and_is_none_is_read() -> None:
    privacy = Privacy({}, "", "")
    said = {"content": {"type": "text", "text": "x"}, "sessionUpdate": "agent_message_chunk"}
    other = said | {"sessionUpdate": "tool_call", "rawInput": {"token": "abc"}}
    for update in (said, said):
        line = json.dumps({"params": {"update": update}})
        assert privacy.line(line) == line
    cleaned = json.loads(privacy.line(json.dumps({"params": {"update": other}})))
    assert cleaned["params"]["update"]["rawInput"] == {"token": "[secret masked]"}


def test_letters_that_json_escapes_hide_nothing() -> None:
    line = json.dumps(chunk("in /home/mary")).replace("/", "\\/").replace("mary", "m\\u0061ry")
    assert json.loads(PRIVACY.line(line)) == chunk("in <home>")


def test_the_data_of_authenticate_goes_and_its_method_stays() -> None:
    params = {"methodId": "key", "_meta": {"gateway": {"headers": ["x"], "n": 1}}, "code": "abc"}
    frame = {"id": 1, "method": "authenticate", "params": params}
    masked = "[secret masked]"
    meta = {"gateway": {"headers": [masked], "n": 1}}
    assert cleaned(frame)["params"] == {"methodId": "key", "_meta": meta, "code": masked}


def test_headers_and_variables_of_servers_keep_their_names_only() -> None:
    servers = [
        {"name": "a", "command": "x", "args": [], "env": [{"name": "LEVEL", "value": "info"}]},
        {"name": "b", "url": "https://x.example", "headers": [{"name": "X-A", "value": "b"}]},
        {"name": "c", "headers": {"X-A": "b"}, "token": "t"},
    ]
    frame = {"id": 1, "method": "session/new", "params": {"cwd": "/", "mcpServers": servers}}
    one, two, three = cleaned(frame)["params"]["mcpServers"]
    assert one["env"] == [{"name": "LEVEL", "value": "[secret masked]"}]
    assert two["headers"] == [{"name": "X-A", "value": "[secret masked]"}]
    assert three == {"name": "c", "headers": {"X-A": "[secret masked]"}, "token": "[secret masked]"}


def test_keys_that_are_paths_are_cleaned_and_words_of_the_protocol_are_not() -> None:
    privacy = Privacy({}, "/home/tool", "tool")
    frame = {"kind": "tool", "text": "tool", "tool": {"/home/tool/x": 1}}
    assert privacy.frame(frame) == {"kind": "tool", "text": "<user>", "tool": {"<home>/x": 1}}


@pytest.mark.parametrize("user", ["root", "user", "jovyan", "me"])
def test_a_name_that_tells_of_nobody_stays(user: str) -> None:
    home = f"/home/{user}"
    assert Privacy({}, home, user).text(f"{user} in {home}/x, /srv/{user}") == (
        f"{user} in <home>/x, /srv/{user}"
    )


def test_a_command_line_loses_what_its_options_and_variables_are_given() -> None:
    words = ["env", "API_KEY=abc", "agent", "--api-key", "abc", "--token=abc", "--model", "x"]
    masked = "[secret masked]"
    assert PRIVACY.command([*words, f"--x={SECRET}"]) == [
        *("env", f"API_KEY={masked}", "agent", "--api-key", masked, f"--token={masked}"),
        *("--model", "x", f"--x={masked}"),
    ]
    # A word that is no option, and whose own name looks secret, is a text like any other.
    assert PRIVACY.command(["/home/mary/api_key/agent"]) == ["<home>/api_key/agent"]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text('abc /\\"\u00e9\U0001f600'),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["text", "a"]), inner),
    )
)
def test_what_is_not_private_stays_as_the_bytes_that_came(value: Any) -> None:
    for line in (json.dumps(value), json.dumps({"x": value}, separators=(",", ":"))):
        assert Privacy({}, "", "").line(line) == line


def test_neither_a_file_nor_an_eye_gets_what_is_private(tmp_path: Path) -> None:
    path = tmp_path / "tape.jsonl"
    tape = Tape(path, PRIVACY)
    tape.begins("x", ["x", f"--token={SECRET}", "/home/mary/agent"])
    tape.sent(json.dumps({"id": 1, "method": "authenticate", "params": {"k": SECRET}}).encode())
    tape.received(json.dumps(chunk(f"{SECRET} of mary")).encode())
    tape.received(f"a line {SECRET}".encode(), is_json=False)
    tape.stderr(f"{SECRET} in /home/mary".encode())
    tape.save(tmp_path / "saved.jsonl")
    tape.close()
    for text in (path.read_text(), (tmp_path / "saved.jsonl").read_text(), *tape.tail(9)):
        assert SECRET not in text
        assert "mary" not in text
