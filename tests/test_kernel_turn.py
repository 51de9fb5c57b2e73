"""A cell is a turn: what is sent, what is shown, and how the cell ends. The agent is simulated."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

import pytest

from tests.support.kernels import SIMULATOR, Kernel, StartKernel, prompt_of, sim
from tests.support.notebook import Cell, Json

READ = {"toolCallId": "r1", "title": "Read a.txt", "kind": "read"}


@pytest.fixture
def kernel(shared_kernel: Kernel) -> Kernel:
    return shared_kernel


def prompts(kernel: Kernel) -> list[str]:
    return [prompt_of(frame) for frame in kernel.sent("session/prompt")]


def shown_at(cell: Cell, text: str) -> float:
    return cell.times(text)[0]


# -- text and order


def test_text_streams_into_one_output(kernel: Kernel) -> None:
    cell = kernel.send(sim({"text": "one "}, {"wait": "two"}, {"text": "two"}))
    kernel.shows(cell, "one ")
    assert "two" not in cell.text
    assert not cell.reply
    kernel.let_go("two")
    kernel.finish(cell)
    assert cell.status == "ok"
    text, footer = cell.outputs
    assert text["data"] == {"text/markdown": "one two", "text/plain": "one two"}
    assert "Google Antigravity (simulator)" in footer["data"]["text/markdown"]


@pytest.mark.report(8)
def test_every_update_before_the_response_is_shown_before_the_reply_and_in_order(
    kernel: Kernel,
) -> None:
    call = {**READ, "status": "completed"}
    cell = kernel.run(sim({"chunks": [5_000, "word "]}, {"tool": call}, {"text": "the end"}))
    text = cell.text
    assert text.count("word ") == 5_000
    assert text.rindex("word ") < text.index("Read a.txt") < text.index("the end")
    # By the kernel's clock: nothing orders what comes on two sockets.
    shown = max(m.made for m in cell.messages if m.type.endswith("display_data"))
    assert cell.reply_made is not None
    assert shown < cell.reply_made


def test_prompt_is_sent_as_it_was_typed(kernel: Kernel) -> None:
    typed = "  >>> what is this?\n\n  ... `x = $y`  \n!not a command"
    kernel.run(typed)
    assert prompts(kernel)[-1] == typed


@pytest.mark.parametrize("blank", ["", "  \n\t\n"])
def test_empty_cell_sends_nothing_and_counts_nothing(kernel: Kernel, blank: str) -> None:
    before = kernel.run("%%py\n1"), len(kernel.wire())
    cell = kernel.run(blank)
    assert cell.status == "ok"
    assert not cell.outputs
    after = kernel.run("%%py\n1"), len(kernel.wire())
    assert after[1] == before[1]
    assert after[0].reply["execution_count"] == before[0].reply["execution_count"] + 1


def test_turn_without_text_says_so(kernel: Kernel) -> None:
    cell = kernel.run(sim({"thought": "hm"}))
    assert cell.status == "ok"
    assert "ended the turn without any text" in cell.text


# -- how a cell ends


def test_end_turn_goes_unmentioned(kernel: Kernel) -> None:
    cell = kernel.run(sim({"text": "fine"}))
    assert cell.status == "ok"
    assert "stop reason" not in cell.text


def test_unknown_stop_reason_is_shown_and_is_no_failure(kernel: Kernel) -> None:
    cell = kernel.run(sim({"text": "fine"}, {"stop": "paused"}))
    assert cell.status == "ok"
    assert "stop reason paused" in cell.text


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("refusal", "refused to go on"),
        ("max_tokens", "limit of tokens"),
        ("max_turn_requests", "limit of model requests"),
    ],
)
def test_refused_and_cut_off_turns_end_the_cell_as_an_error(
    kernel: Kernel, reason: str, words: str
) -> None:
    cell = kernel.run(sim({"text": "so far"}, {"stop": reason}))
    check_failure(cell, "TurnFailed", words)
    assert "so far" in cell.text
    assert f"stop reason {reason}" in cell.text
    assert cell.record["stop_reason"] == reason


@pytest.mark.report(13)
def test_failure_that_the_agent_tells_as_text_is_an_error(kernel: Kernel) -> None:
    cell = kernel.run("Error")
    check_failure(cell, "TurnFailed", "Agent execution error: the prompt asked for one")
    assert cell.record["stop_reason"] == "end_turn"


def test_error_response_is_an_error_in_the_agents_words(kernel: Kernel) -> None:
    error = {"code": -32603, "message": "Internal error", "data": {"details": "no quota"}}
    cell = kernel.run(sim({"text": "so far"}, {"fail": error}))
    check_failure(cell, "RequestFailed", "Internal error (-32603): no quota")
    assert "so far" in cell.text
    assert cell.record["error"] == "Internal error (-32603): no quota"


def test_turn_that_the_agent_cancels_is_a_one_line_interruption(kernel: Kernel) -> None:
    cell = kernel.run(sim({"text": "so far"}, {"stop": "cancelled"}))
    check_failure(cell, "TurnCancelled", "the agent ended the turn as cancelled")
    assert cell.error["traceback"] == ["Interrupted: the agent ended the turn as cancelled."]


def test_cells_queued_behind_a_failed_one_are_aborted(kernel: Kernel) -> None:
    sent = len(prompts(kernel))
    failed = kernel.send(sim({"text": "begun"}, {"wait": "queued"}, {"stop": "refusal"}))
    kernel.shows(failed, "begun")
    queued = [kernel.send(f"never sent {n}") for n in range(3)]
    kernel.request("comm_info_request")  # behind the cells, on the same channel
    kernel.let_go("queued")
    statuses = [kernel.finish(cell).status for cell in (failed, *queued)]
    assert statuses == ["error", "aborted", "aborted", "aborted"]
    assert len(prompts(kernel)) == sent + 1
    assert kernel.run(sim({"text": "on we go"})).status == "ok"


def check_failure(cell: Cell, name: str, words: str) -> None:
    """The cell's reply and its output tell the same error, in a line or a few."""
    assert cell.status == "error"
    assert cell.error["ename"] == cell.reply["ename"] == name
    assert words in cell.error["evalue"]
    assert cell.error["traceback"] == cell.reply["traceback"]
    assert len("\n".join(cell.error["traceback"]).splitlines()) <= 3


# -- an agent that dies


def test_dead_agent_leaves_its_text_and_its_last_words_and_the_next_cell_works(
    kernel: Kernel,
) -> None:
    kernel.run(sim({"text": "before"}))
    first = kernel.agent
    cell = kernel.run(sim({"text": "half a "}, {"stderr": "out of luck"}, {"exit": 3}))
    assert "half a" in cell.text
    check_failure(cell, "AgentExited", "exit status 3")
    assert "out of luck" in cell.error["evalue"]
    assert cell.record["agent"]["name"] == "antigravity-acp"

    cell = kernel.run(sim({"text": "here again"}))
    assert cell.status == "ok"
    assert cell.text.index("A new agent process was started") < cell.text.index("here again")
    assert "exit status 3" in cell.text
    assert "half a" not in cell.text, "replayed history is shown as live"
    assert kernel.agent != first
    assert kernel.sent("session/resume")


def test_session_that_cannot_be_loaded_is_replaced_and_this_is_said(kernel: Kernel) -> None:
    session = kernel.run(sim({"text": "a"})).record["session_id"]
    kernel.run(sim({"exit": 1}))
    (file,) = (kernel.folder / "home").rglob(f"{session}.json")
    file.unlink()
    cell = kernel.run(sim({"text": "b"}))
    assert cell.status == "ok"
    assert "does not remember what was said before" in cell.text
    assert cell.record["session_id"] != session


# -- what comes late


def test_update_after_the_response_is_shown_under_its_cell_while_the_kernel_is_idle(
    kernel: Kernel,
) -> None:
    late = [{"wait": "later"}, {"text": "and later"}]
    cell = kernel.run(sim({"text": "now"}, {"late": late}))
    assert "and later" not in cell.text
    kernel.let_go("later")
    kernel.shows(cell, "and later")
    assert "now" in cell.text
    assert not kernel.notebook.unclaimed


def test_what_comes_late_is_not_drawn_more_often_than_what_comes_in_time(kernel: Kernel) -> None:
    words = [step for n in range(200) for step in ({"text": f"late {n}. "}, {"wait": 0.005})]
    much = {"text": "Some words of a paragraph.\n\n" * 20_000}
    cell = kernel.run(sim(much, {"late": [{"wait": "much"}, *words]}), timeout=60)
    before = len(cell.messages)
    kernel.let_go("much")
    kernel.shows(cell, "late 199.")
    late = cell.messages[before:]
    assert "".join(f"late {n}. " for n in range(200)).strip() in cell.text
    assert len(late) < 60
    assert sum(len(str(message.content)) for message in late) < 4_000_000


def test_late_tool_call_leaves_the_footer_alone(kernel: Kernel) -> None:
    tool = {**READ, "title": "Read late.txt", "status": "completed"}
    cell = kernel.run(sim({"text": "now"}, {"late": [{"wait": "tool"}, {"tool": tool}]}))
    kernel.let_go("tool")
    kernel.shows(cell, "Read late.txt")
    assert cell.record["stop_reason"] == "end_turn"
    assert "Google Antigravity (simulator)" in cell.text


@pytest.mark.parametrize("kind", ["async", "blocking"])
def test_late_update_is_shown_under_its_cell_while_python_runs(kernel: Kernel, kind: str) -> None:
    text = f"and later, while {kind} code runs"
    late = [{"wait": f"{kind} runs"}, {"chunks": [1, text]}]
    cell = kernel.run(sim({"text": "now"}, {"late": late}))
    wait = "await asyncio.sleep(0.02)" if kind == "async" else "time.sleep(0.02)"
    other = kernel.send(
        "%%py\nimport asyncio, pathlib, time\n"
        f"pathlib.Path('{kind} runs').touch()\n"
        f"while not pathlib.Path('{kind}').exists():\n    {wait}\nprint('python is done')"
    )
    if kind == "async":
        kernel.shows(cell, text)
    else:
        kernel.wait(lambda: any(text in str(f) for f in kernel.wire("a2c")), "the late text")
    assert not other.reply
    kernel.let_go(kind)
    kernel.finish(other)
    kernel.shows(cell, text)
    assert other.text.strip() == "python is done"


def test_late_update_of_a_known_tool_call_goes_to_its_cell_while_another_turn_runs(
    kernel: Kernel,
) -> None:
    done = {"toolCallId": "slow", "status": "completed", "title": "Read slow.txt (done)"}
    start = {**READ, "toolCallId": "slow", "status": "in_progress"}
    cell = kernel.run(
        sim({"tool": start}, {"text": "a"}, {"late": [{"wait": "slow"}, {"tool": done}]})
    )
    other = kernel.send(sim({"text": "other"}, {"wait": "other"}))
    kernel.shows(other, "other")
    kernel.let_go("slow")
    kernel.shows(cell, "Read slow.txt (done)")
    assert not other.reply
    kernel.let_go("other")
    kernel.finish(other)
    assert "slow" not in other.text


# -- sign-in


def test_agent_that_wants_a_sign_in_names_its_methods_and_what_to_do(
    start_kernel: StartKernel,
) -> None:
    kernel = start_kernel(f"{SIMULATOR} --signed-out")
    cell = kernel.run("Say hello")
    assert cell.status == "error"
    assert cell.error["ename"] == "AuthenticationRequired"
    for words in ("Authentication required", "oauth-personal", "GEMINI_API_KEY", "AGY_AUTH"):
        assert words in cell.error["evalue"]
    assert not kernel.sent("session/prompt")
    assert kernel.run("Say hello").status == "error"


def test_sign_in_method_that_was_chosen_is_used(start_kernel: StartKernel) -> None:
    kernel = start_kernel(f"{SIMULATOR} --signed-out", {"AGY_AUTH": "oauth-personal"})
    assert kernel.run("Say hello").status == "ok"


# -- the record


def test_footer_holds_a_record_for_programs(start_kernel: StartKernel) -> None:
    kernel = start_kernel(f"{SIMULATOR} --usage")
    call = {**READ, "status": "completed"}
    cell = kernel.run(sim({"tool": call}, {"text": "read"}, {"ask": {}}))
    record = cell.record
    (opened,) = [f["result"] for f in kernel.wire("a2c") if "sessionId" in f.get("result", {})]
    assert record.pop("session_id") == opened["sessionId"]
    assert record.pop("agent")["name"] == "antigravity-acp"
    assert 0 < record.pop("seconds") < 20
    assert record.pop("usage")["total"] > 0
    assert record.pop("context")["size"] > record["version"]
    calls, (decision,) = record.pop("tool_calls"), record.pop("permissions")
    assert (calls[0]["title"], calls[0]["status"]) == ("Read a.txt", "completed")
    assert decision["tool_call"] == calls[1]["id"]
    assert (decision["kind"], decision["by"]) == ("reject_once", "nobody")
    assert record == {
        "version": 1,
        "model": "Gemini 3.7 Flash (High)",
        "mode": "Default",
        "sent": "",
        "stop_reason": "end_turn",
        "error": None,
        "failed_mcp_servers": [],
    }


def test_tokens_that_are_not_reported_are_not_made_up(kernel: Kernel) -> None:
    cell = kernel.run(sim({"text": "a"}))
    assert cell.record["usage"] is None
    assert "tokens not reported" in cell.text


# -- which cells are prompts


def test_queued_cells_run_in_order_and_count(kernel: Kernel) -> None:
    cells = [kernel.send(sim({"text": f"reply {n}"})) for n in range(8)]
    counts = [kernel.finish(cell).reply["execution_count"] for cell in cells]
    assert counts == list(range(counts[0], counts[0] + 8))
    assert [f"reply {n}" in cell.text for n, cell in enumerate(cells)] == [True] * 8
    assert [cell.replied for cell in cells] == sorted(cell.replied for cell in cells)


@pytest.mark.parametrize("how", [{"silent": True}, {"store_history": False}], ids=str)
def test_code_of_a_front_end_is_not_a_prompt(kernel: Kernel, how: Json) -> None:
    before = len(kernel.wire())
    assert kernel.run("answer = 6 * 7", **how).status == "ok"
    assert kernel.run("this is not Python", **how).status == "error"
    assert kernel.run("%%py\nanswer").text == "42"
    assert len(kernel.wire()) == before


@pytest.mark.parametrize("prompt", ["% of rows missing?", "what is this?", "?", "%nothing like it"])
def test_prose_with_the_marks_of_magics_is_a_prompt(kernel: Kernel, prompt: str) -> None:
    assert kernel.run(prompt).status == "ok"
    assert prompts(kernel)[-1] == prompt


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("!echo from the shell", "from the shell"),
        ("%%py\n6 * 7", "42"),
        ("%%py\nimport asyncio\nawait asyncio.sleep(0, 'awaited')", "'awaited'"),
        ("%timeit -n 1 -r 1 x = 1", "per loop"),
        ("%run script.ipy", "from a script"),
        ("%%bash\necho from bash", "from bash"),
        ("%agy help", "%agy model"),
    ],
)
def test_magics_stay_what_they_are(kernel: Kernel, code: str, shown: str) -> None:
    (kernel.cwd / "script.ipy").write_text("words = 'from a script'\nprint(words)\n")
    before = len(kernel.wire())
    cell = kernel.run(code)
    assert cell.status == "ok"
    assert shown in cell.text
    assert len(kernel.wire()) == before


def test_text_below_a_command_is_a_prompt_with_the_command_applied_first(kernel: Kernel) -> None:
    cell = kernel.run("%agy mode yolo\nRun ls")
    assert cell.text.index("**YOLO**") < cell.text.index("ran without asking")
    assert cell.record["mode"] == "YOLO"
    assert prompts(kernel)[-1] == "Run ls"
    kernel.run("%agy mode default")


def test_text_below_a_line_that_is_no_command_is_one_prompt_with_it(kernel: Kernel) -> None:
    count = len(prompts(kernel))
    assert kernel.run("%agy explain the plot\nin short").status == "ok"
    assert prompts(kernel)[count:] == ["explain the plot\nin short"]


def test_bad_command_keeps_the_prompt_below_it_from_being_sent(kernel: Kernel) -> None:
    count = len(prompts(kernel))
    cell = kernel.run("%agy model no-such-model\nSay hello")
    check_failure(cell, "CommandError", "There is no model")
    assert len(prompts(kernel)) == count


# -- history


def test_in_and_history_hold_the_prompt_as_it_was_typed(kernel: Kernel) -> None:
    kernel.run("what was typed, and >>> not Python\n\nat all")
    cell = kernel.run("%%py\nIn[-2]")
    assert cell.text == repr("what was typed, and >>> not Python\n\nat all")
    tail = {"hist_access_type": "tail", "n": 2, "output": False, "raw": True}
    reply = kernel.request("history_request", tail)
    assert [code for _, _, code in reply["history"]] == [
        "what was typed, and >>> not Python\n\nat all",
        "%%py\nIn[-2]",
    ]


def test_profile_and_history_file_are_the_kernels_own(kernel: Kernel) -> None:
    kernel.run("a prompt for the history")
    ours = kernel.folder / "ipython" / "profile_antigravity" / "history.sqlite"
    cell = kernel.run("%%py\nprint(get_ipython().history_manager.hist_file)")
    assert cell.text.strip() == str(ours)
    assert "a prompt for the history" in written(ours)
    assert not (kernel.folder / "ipython" / "profile_default" / "history.sqlite").exists()


def written(history: Path) -> list[str]:
    """The lines in a history file; IPython writes them from a thread of its own."""
    end = time.monotonic() + 20
    lines: list[str] = []
    while "a prompt for the history" not in lines and time.monotonic() < end:
        with sqlite3.connect(f"file:{history}?mode=ro", uri=True) as db:
            lines = [line for (line,) in db.execute("SELECT source_raw FROM history")]
        db.close()
    return lines
