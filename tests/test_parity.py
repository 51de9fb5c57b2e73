"""The parity contract: what had to hold for the seed's ACP engine (its section 6) holds here.

One test for each row, with the row's words; docs/parity.md has the same rows. Agents are simulated.
Not yet, and why:

- Bridge tool round-trip (G9) works: agents have no tools of this program yet.
- Skills `activate_skill` answered by the bridge as today: there is no tool bridge yet.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from agy_kernel.agents.simulator import catalogue
from agy_kernel.conversation.known import GREETING
from agy_kernel.conversation.store import Home, Saved, Store
from tests.agents.scripted import (
    answer,
    chunk,
    command,
    expect,
    hello,
    one_after_the_other,
    opening,
    play_file,
    send,
    turn,
)
from tests.support.kernels import SIMULATOR, Kernel, StartKernel, prompt_of, sim
from tests.support.notebook import Cell, Json

PAGE = Path(__file__).parent.parent / "docs" / "parity.md"
PROMPT = "session/prompt"
HOLDS, NOT_YET = "holds", "not yet"
SET = "session/set_config_option"
SILENT: Json = {"wait": None}


@pytest.fixture
def notebook(tmp_path: Path) -> dict[str, str]:
    """What tells a kernel which notebook it belongs to."""
    path = tmp_path / "notebook" / "a.ipynb"
    path.parent.mkdir()
    path.touch()
    return {"JPY_SESSION_NAME": str(path)}


@pytest.fixture
def kernel(shared_kernel: Kernel) -> Kernel:
    return shared_kernel


def said(kernel: Kernel) -> list[str]:
    return [prompt_of(frame) for frame in kernel.sent(PROMPT)]


def scripted(*steps: Any) -> str:
    """The command line of a scripted agent, as a setting."""
    return shlex.join(command(*steps))


# -- text


def test_text_streams(start_kernel: StartKernel, tmp_path: Path) -> None:
    """Text streams token-adjacent to streaming (no full-text re-sends)"""
    rest = tmp_path / "rest"
    os.mkfifo(rest)  # the agent goes on once something is written to it
    begins = [*opening(), expect(PROMPT), send(chunk("first words "))]
    kernel = start_kernel(scripted(*begins, play_file(rest)))
    cell = kernel.send("Say it")
    kernel.shows(cell, "first words")
    assert "then more" not in cell.text
    assert not cell.reply
    ends = [send(chunk("then more")), answer(PROMPT, {"stopReason": "end_turn"})]
    rest.write_text(json.dumps(ends))
    kernel.finish(cell)
    assert cell.outputs[0]["data"]["text/markdown"] == "first words then more"


def test_cumulative_resends(kernel: Kernel) -> None:
    """Cumulative-resend defensive guard on message chunks (port of `isCumulativeResend`)"""
    text = "The first sentence of it. Then a second one, and a third. And an end."
    sofar = [text[: 10 * n] for n in range(1, len(text) // 10 + 2)]
    updates = [
        {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": piece}}
        for piece in sofar
    ]
    cell = kernel.run(sim(*({"update": update} for update in updates)))
    assert cell.outputs[0]["data"]["text/markdown"] == text


# -- turns


def test_serialization(kernel: Kernel) -> None:
    """Turn serialization: two concurrent streamSimple calls never interleave"""
    before = len(kernel.sent(PROMPT))
    code = (
        "%%py\n"
        "from threading import Thread\n"
        "from agy_kernel import ask\n"
        "replies = {}\n"
        "def go(name):\n"
        '    steps = \'[{"text": "%s "}, {"wait": 0.2}, {"text": "%s"}]\' % (name, name)\n'
        "    replies[name] = ask('SIM: ' + steps, quiet=True).text\n"
        "other = Thread(target=go, args=('other',))\n"
        "other.start()\n"
        "go('main')\n"
        "other.join()\n"
        "print(sorted(replies.items()))"
    )
    cell = kernel.run(code)
    assert "[('main', 'main main'), ('other', 'other other')]" in cell.text
    order = [
        "asked" if way.get("method") == PROMPT else "ended"
        for way in kernel.wire()
        if way.get("method") == PROMPT or "stopReason" in (way.get("result") or {})
    ]
    assert order[2 * before :] == ["asked", "ended", "asked", "ended"]


@pytest.mark.parametrize(
    ("ends", "idle"), [("1", "5"), ("0", "0.6")], ids=["idle ends", "idle is remarked"]
)
def test_timers(start_kernel: StartKernel, ends: str, idle: str) -> None:
    """Overall turn timeout (10m) and inactivity timeout (5m) still fire and fail the turn
    visibly"""
    overall = {"AGY_TURN_TIMEOUT": "6"} if ends == "0" else {}
    kernel = start_kernel(env={"AGY_IDLE_TIMEOUT": idle, "AGY_IDLE_ENDS": ends, **overall})
    kernel.run("%agy mode")  # the agent's start is no part of the turn
    cell = kernel.run(sim({"text": "begun"}, SILENT))
    assert (cell.status, cell.error["ename"]) == ("error", "TurnTimeout")
    why = "took longer than 6 s" if overall else f"said nothing for {idle} s"
    assert why in cell.error["evalue"]
    assert "begun" in cell.text
    assert (f"The agent has said nothing for {idle} s" in cell.text) == bool(overall)
    assert kernel.run(sim({"text": "on"})).status == "ok"


def answered_late(start_kernel: StartKernel, env: dict[str, str]) -> Cell:
    """A cell with a question that is open for longer than the timers allow; then it is answered."""
    kernel = start_kernel(env=env)
    kernel.run("%agy mode")  # the agent's start is no part of the turn
    cell = kernel.ask(sim({"ask": {}}, {"text": "and on"}))
    question = kernel.question(cell)
    with pytest.raises(TimeoutError):
        kernel.wait(lambda: bool(cell.reply), "the end, which must not come", timeout=6.5)
    kernel.click(question, "Allow")
    return kernel.finish(cell)


def test_idle_timer_suspends(start_kernel: StartKernel) -> None:
    """Idle timer suspends while a G9 park is open, resumes on `kickIdle`"""
    cell = answered_late(start_kernel, {"AGY_IDLE_TIMEOUT": "5", "AGY_IDLE_ENDS": "1"})
    assert cell.status == "ok"
    assert "and on" in cell.text


def test_turn_timer_suspends(start_kernel: StartKernel) -> None:
    """Overall-turn timer pauses while any round-trip is parked; a slow human permission decision
    cannot kill the turn"""
    cell = answered_late(start_kernel, {"AGY_TURN_TIMEOUT": "5"})
    assert cell.status == "ok"
    assert "and on" in cell.text


def test_abort(kernel: Kernel) -> None:
    """Abort: pi user abort produces `aborted`, the server process survives, the next turn on the
    session works"""
    session = kernel.run(sim({"text": "warm"})).record["session_id"]
    agent = kernel.agent
    cell = kernel.ask(sim({"text": "partial"}, SILENT))
    kernel.shows(cell, "partial")
    kernel.interrupt()
    kernel.finish(cell)
    assert cell.error["ename"] == "TurnCancelled"
    assert cell.record["stop_reason"] == "cancelled"
    following = kernel.run(sim({"text": "on we go"}))
    assert (following.status, following.record["session_id"]) == ("ok", session)
    assert kernel.agent == agent


# -- sessions


def test_continuity(start_kernel: StartKernel, notebook: dict[str, str]) -> None:
    """Multi-turn conversation continuity via `session/load` or our store"""
    kernel = start_kernel(env=notebook)
    first = kernel.run(sim({"text": "one"})).record["session_id"]
    kernel.restart()
    cell = kernel.run(sim({"text": "two"}))
    assert cell.record["session_id"] == first
    answers = [o["data"]["text/markdown"] for o in cell.outputs if "text/markdown" in o["data"]]
    assert "two" in answers
    assert not [text for text in answers if "one" in text.split()]


def test_restart_resumes(start_kernel: StartKernel, notebook: dict[str, str]) -> None:
    """pi session restart resumes the right conversation (engine-tagged)"""
    kernel = start_kernel(env=notebook)
    mine = kernel.run(sim({"text": "one"})).record["session_id"]
    other = f"{SIMULATOR} --usage"
    theirs = kernel.run(f"%%agy --agent '{other}'\n{sim({'text': 'two'})}").record["session_id"]
    kernel.restart()
    cell = kernel.run(sim({"text": "on"}))
    assert cell.record["session_id"] == mine
    assert GREETING in cell.text
    again = kernel.run(f"%%agy --agent '{other}'\n{sim({'text': 'on'})}")
    assert again.record["session_id"] == theirs
    (store,) = kernel.folder.rglob("sessions.json")
    kept = json.loads(store.read_text())["sessions"]
    assert {(s["engine"], s["session"]) for s in kept} == {("acp", mine), ("acp", theirs)}


def test_engine_rollback(tmp_path: Path) -> None:
    """Engine rollback preserves the other engine's conversation bindings (engine-scoped keys,
    9.4)"""
    store = Store(tmp_path / "sessions.json", pytest.fail)
    place = ("simulator", "/folder", "/folder/a.ipynb")
    other = Home("stream-json", *place)
    store.remember(Saved(other, "theirs"))
    store.remember(Saved(Home("acp", *place), "ours"))
    store.remember(Saved(Home("acp", *place), "ours, later"))
    store.forget("acp", "simulator", "ours")
    assert [saved.session_id for saved in store.at(other)] == ["theirs"]
    assert [saved.session_id for saved in store.at(Home("acp", *place))] == ["ours, later"]


# -- models


def test_model_catalogue(kernel: Kernel) -> None:
    """Model catalog: same `antigravity/*` model ids and effort tiers resolve"""
    listed = kernel.run("%agy model").text
    for model, name in catalogue.MODELS.items():
        assert f"`{model}` {name}" in listed
        assert kernel.run(f"%agy model {model}").text == f"model: **{name}**"
    # Effort is a part of a model's id there: a tier is chosen by its name.
    assert "3.6 Flash (Low)" in kernel.run("%agy model 3.6-flash-low").text
    kernel.run(f"%agy model {catalogue.DEFAULTS['model']}")


EFFORTS = ["low", "medium", "high"]


def effort(current: str) -> Json:
    values = [{"value": tier, "name": tier.title()} for tier in EFFORTS]
    option = {"id": "reasoning", "category": "thought_level", "currentValue": current}
    return {"configOptions": [{**option, "type": "select", "options": values}]}


def test_model_switch_of_a_loaded_session(
    start_kernel: StartKernel, notebook: dict[str, str]
) -> None:
    """Model/effort switch takes effect (gate A mechanism)"""
    kernel = start_kernel(env=notebook)
    session = kernel.run(sim({"text": "one"})).record["session_id"]
    kernel.restart()
    kernel.run(sim({"text": "loaded"}))
    kernel.run("%agy model gemini-pro-agent")
    cell = kernel.run(sim({"text": "two"}))
    assert (cell.record["session_id"], cell.record["model"]) == (session, "Gemini 3.1 Pro (High)")
    chosen = [frame["params"] for frame in kernel.sent(SET)]
    wanted = {"sessionId": session, "configId": "model", "value": "gemini-pro-agent"}
    assert chosen == [wanted]
    # The agent that is started next forgets it; it is chosen again.
    kernel.run(sim({"exit": 1}))
    assert kernel.run(sim({"text": "three"})).record["model"] == "Gemini 3.1 Pro (High)"
    assert [frame["params"] for frame in kernel.sent(SET)] == [wanted] * 2


def test_effort_switch_of_a_loaded_session(
    start_kernel: StartKernel, notebook: dict[str, str], tmp_path: Path
) -> None:
    load = [expect("session/load"), answer("session/load", effort("low"))]
    chosen = [expect(SET), answer(SET, effort("high"))]
    scripts = ([*opening(**effort("low")), *turn("one")], [*hello(), *load, *chosen, *turn("two")])
    kernel = start_kernel(one_after_the_other(tmp_path, *scripts), notebook)
    kernel.run("Say one")
    kernel.restart()
    assert kernel.run("%agy effort high").text == "effort: **High**"
    assert kernel.run("Say two").status == "ok"
    (frame,) = kernel.sent(SET)
    wanted = {"sessionId": "s1", "configId": "reasoning", "value": "high"}
    assert frame["params"] == wanted
    assert kernel.wire().index(frame) > kernel.wire().index(kernel.sent("session/load")[0])


# -- what is sent, what is told


def test_digest_and_instructions(start_kernel: StartKernel) -> None:
    """G1 digest and G10 system prompt reach the prompt identically"""
    kernel = start_kernel(name="python3")
    (kernel.cwd / "AGENTS.md").write_text("Answer in rhymes.")
    kernel.run("%load_ext agy_kernel")
    kernel.run("found = 6 * 7\nfound", cell_id="finding")
    kernel.run("1/0", cell_id="broken")
    shown = kernel.run("%agy context show").text
    kernel.run(f"%agy {sim({'text': 'a'})}")
    *sent, _ = kernel.sent(PROMPT)[-1]["params"]["prompt"]
    previewed = json.loads(re.findall(r"```json\n(.*?)\n```", shown, re.DOTALL)[0])
    assert previewed[:-1] == sent
    told = json.dumps(sent)
    for words in ("Answer in rhymes.", "<notebook-instructions>", "found: int = 42", "ZeroDivis"):
        assert words in told


@pytest.mark.parametrize("reports", [True, False], ids=["present", "absent"])
def test_usage(start_kernel: StartKernel, reports: bool) -> None:
    """Usage counters: present (mapped) or documented-absent (zero-usage), per gate B"""
    kernel = start_kernel(f"{SIMULATOR} --usage" if reports else SIMULATOR)
    cell = kernel.run(sim({"text": "some words"}))
    if not reports:
        assert cell.record["usage"] is None
        assert "tokens not reported" in cell.text
        return
    (told,) = [f["result"]["usage"] for f in kernel.wire("a2c") if "usage" in f.get("result", {})]
    assert cell.record["usage"]["total"] == told["totalTokens"] > 0
    assert cell.record["usage"]["input"] == told["inputTokens"]
    assert "tokens not reported" not in cell.text


def test_state_is_shown(kernel: Kernel) -> None:
    """`/agy doctor` shows connection state, session id, prompt/session stats, lifecycle log"""
    session = kernel.run(sim({"text": "a"})).record["session_id"]
    agent = kernel.agent
    cell = kernel.run("%agy doctor")
    assert cell.status == "ok"
    known = (session, f"pid {agent}", "it runs", "a session is open", "turn ended: end_turn")
    for words in known:
        assert words in cell.text
    assert kernel.agent == agent


# -- errors

MALFORMED = ["respond", PROMPT, {"error": "x"}]


@pytest.mark.parametrize(
    ("agent", "ename", "words"),
    [
        ("/no/such/agent --acp", "AgentNotFound", "/no/such/agent"),
        (f"{sys.executable} -c 'raise SystemExit(3)'", "AgentStartFailed", "exit status 3"),
        (f"{SIMULATOR} --signed-out", "AuthenticationRequired", "oauth-personal"),
        (
            scripted(*hello(protocolVersion=7)),
            "AgentStartFailed",
            "version 7 of the Agent Client Protocol",
        ),
        (
            scripted(*opening(), expect(PROMPT), send(chunk("some")), MALFORMED),
            "RequestFailed",
            "some",
        ),
        (scripted(*opening(), expect(PROMPT), answer(PROMPT, None)), "", "without any text"),
    ],
    ids=["spawn", "exit", "auth", "version", "error of no form", "answer of no form"],
)
def test_error_paths(start_kernel: StartKernel, agent: str, ename: str, words: str) -> None:
    """Error paths: spawn failure, auth failure, protocol error all surface as visible turn errors,
    never as silent empty messages"""
    cell = start_kernel(agent).run("Say hello")
    assert cell.error.get("ename", "") == ename
    assert words in cell.text


# -- ask


def ask(kernel: Kernel, steps: str, more: str = "") -> Cell:
    """Ask from Python; the reply, or the error, will be printed."""
    return kernel.send(
        "%%py\n"
        "from agy_kernel import ask\n"
        "try:\n"
        f"    reply = ask({steps!r}, quiet=True{more})\n"
        "    print(reply.text, reply.stop_reason, reply.seconds > 0, reply.session_id)\n"
        "except BaseException as error:\n"
        "    print(type(error).__name__, error)\n"
    )


def test_ask(kernel: Kernel) -> None:
    """`ask-tool` one-shot returns text, duration, abort/timeout states, and a resumable session
    id"""
    asked = len(said(kernel))
    cell = kernel.finish(ask(kernel, sim({"text": "answer"})))
    session = kernel.sent(PROMPT)[-1]["params"]["sessionId"]
    assert f"answer end_turn True {session}" in cell.text
    late = kernel.finish(ask(kernel, sim(SILENT), ", timeout=0.3"))
    assert "TurnTimeout the turn took longer than 0.3 s" in late.text
    stopped = ask(kernel, sim(SILENT))
    kernel.wait(lambda: len(said(kernel)) == asked + 3, "the prompt")
    kernel.interrupt()
    assert "TurnCancelled" in kernel.finish(stopped).text
    kernel.run("%agy new")
    kernel.run(sim({"text": "elsewhere"}))
    assert kernel.run(f"%agy resume {session}").status == "ok"
    assert kernel.run(sim({"text": "back"})).record["session_id"] == session


# -- the page


def rows() -> dict[str, tuple[str, str]]:
    """Test and verdict, by the row's words, as the page has them."""
    lines = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ")]
    cells = [line.removeprefix("| ").removesuffix(" |").split(" | ") for line in lines[1:]]
    return {row: (test.strip("`"), verdict) for row, test, verdict in cells}


def test_the_page_says_what_the_tests_are() -> None:
    tests = {
        _one_line(inspect.getdoc(function)): name
        for name, function in globals().items()
        if name.startswith("test_") and function.__doc__
    }
    told = rows()
    assert {row: test for row, (test, _) in told.items() if test} == tests
    for row, (test, verdict) in told.items():
        assert verdict.partition(":")[0] == (HOLDS if test else NOT_YET)
        if not test:
            assert f"- {row}: {verdict.removeprefix('not yet: ')}." in _one_line(__doc__)


def _one_line(text: str | None) -> str:
    return " ".join((text or "").split())
