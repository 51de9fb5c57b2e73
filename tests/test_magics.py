"""``%agy`` in a Python kernel: what goes along, options and commands. The agent is simulated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.kernels import Kernel, prompt_of, sim

SAY = sim({"text": "said"})


@pytest.fixture(scope="module")
def module_kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    with Kernel(tmp_path_factory.mktemp("magics"), name="python3") as kernel:
        kernel.run("%load_ext agy_kernel")
        kernel.run("%agy " + SAY)  # the instructions go with the first prompt
        yield kernel


@pytest.fixture
def kernel(module_kernel: Kernel) -> Kernel:
    module_kernel.run("%agy " + SAY)  # whatever an earlier test ran has been sent
    return module_kernel


def blocks(kernel: Kernel) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = kernel.sent("session/prompt")[-1]["params"]["prompt"]
    return found


def resources(kernel: Kernel) -> dict[str, str]:
    """Fragment of the address to text, of what the last prompt sent."""
    found = (b["resource"] for b in blocks(kernel) if b["type"] == "resource")
    return {r["uri"].rpartition("#")[2] or r["uri"]: r["text"] for r in found}


def test_instructions_go_once(kernel: Kernel) -> None:
    prompts = [f["params"]["prompt"] for f in kernel.sent("session/prompt")]
    assert "<notebook-instructions>" in prompts[0][-2]["text"]
    assert not [p for p in prompts[1:] if "<notebook-instructions>" in str(p)]


def test_what_ran_goes_along_once_and_again_when_it_changed(kernel: Kernel) -> None:
    kernel.run("fresh = 6 * 7\nfresh", cell_id="changing")
    assert "sent 1 cell" in kernel.run("%agy " + SAY).text
    assert "fresh = 6 * 7" in resources(kernel)["changing"]
    assert "42" in resources(kernel)["changing"]
    assert resources(kernel)["variables"] == "fresh: int = 42"
    kernel.run("%agy " + SAY)
    assert "changing" not in resources(kernel)
    kernel.run("fresh = 6 * 8\nfresh", cell_id="changing")
    kernel.run("%agy " + SAY)
    assert "replaces what was sent of it before" in resources(kernel)["changing"]
    assert "48" in resources(kernel)["changing"]


@pytest.mark.report(65)
def test_error_comes_first_and_fix_sends_it(kernel: Kernel) -> None:
    kernel.run("1/0", cell_id="broken")
    kernel.run("'later'", cell_id="later")
    kernel.run("%agy " + SAY)
    assert list(resources(kernel))[:2] == ["broken", "later"]
    assert "ZeroDivisionError" in resources(kernel)["broken"]
    assert kernel.run("%agy fix").status == "ok"
    assert "ZeroDivisionError" in resources(kernel)["broken"]


def test_no_context_and_context_off(kernel: Kernel) -> None:
    kernel.run("'not to be told'")
    kernel.run(f"%%agy --no-context\n{SAY}")
    assert resources(kernel) == {}
    kernel.run("%agy context off")
    kernel.run("%agy " + SAY)
    assert resources(kernel) == {}
    kernel.run("%agy context on")
    kernel.run("%agy " + SAY)
    assert "not to be told" in str(resources(kernel))


def test_context_show_prints_what_the_next_prompt_sends(kernel: Kernel) -> None:
    kernel.run("'to be shown'", cell_id="shown")
    before = len(kernel.sent("session/prompt"))
    text = kernel.run("%agy context show").text
    assert len(kernel.sent("session/prompt")) == before
    kernel.run("%agy " + SAY)
    assert "to be shown" in text
    assert "notebook:///notebook.ipynb#shown" in text
    assert "to be shown" in resources(kernel)["shown"]


def test_limit_cuts_in_the_middle_and_says_so(kernel: Kernel) -> None:
    kernel.run("%agy context limit 1000")
    kernel.run("print('x' * 50_000)", cell_id="large")
    kernel.run("%agy " + SAY)
    assert sum(len(text.encode()) for text in resources(kernel).values()) <= 1000
    assert "left out" in resources(kernel)["large"]
    kernel.run("%agy context limit 24000")


def test_numbered_cells_go_whether_sent_or_not(kernel: Kernel) -> None:
    number = kernel.run("'numbered'", cell_id="numbered").reply["execution_count"]
    kernel.run("%agy " + SAY)
    kernel.run(f"%%agy --cells {number}\n{SAY}")
    assert next(iter(resources(kernel))) == "numbered"


def test_mentions_of_variables_files_folders_and_cells(kernel: Kernel) -> None:
    (kernel.cwd / "notes.txt").write_text("read me")
    kernel.run("named = {'of': 'old'}", cell_id="naming")
    kernel.run("%agy " + SAY)
    cell = kernel.run("%agy " + SAY + " @named, @notes.txt @. @cell:last me@example.org @nothing")
    sent = str(resources(kernel))
    assert "{'of': 'old'}" in sent
    assert "read me" in sent
    assert "naming" in resources(kernel)
    assert cell.text.count("names nothing here") == 1
    assert "@nothing" in prompt_of(kernel.sent("session/prompt")[-1])


def test_agents_own_command_goes_alone(kernel: Kernel) -> None:
    kernel.run("'unsent'", cell_id="unsent")
    kernel.run("%agy /plan a walk")
    assert [b["type"] for b in blocks(kernel)] == ["text"]
    kernel.run("%agy " + SAY)
    assert "unsent" in resources(kernel)


def test_reply_is_an_object(kernel: Kernel) -> None:
    kernel.run(f"%%agy -o reply --quiet\n{SAY}")
    assert (
        "'said' 'end_turn' True"
        in kernel.run("print(repr(reply.text), repr(reply.stop_reason), reply.seconds > 0)").text
    )


def test_code_of_the_reply_goes_into_the_next_cell(kernel: Kernel) -> None:
    code = "```python\nfirst = 1\n```\n\n```sh\nls\n```\n"
    cell = kernel.run(f"%%agy --code\n{sim({'text': code})}")
    assert cell.reply["payload"][0]["text"] == "first = 1"
    assert "%agy code 2" in cell.text
    second = kernel.run("%agy code 2")
    assert second.reply["payload"][0]["text"] == "%%bash\nls"
    assert "has 2 code blocks" in kernel.run("%agy code 3").text


def test_timeout_stops_the_turn_and_says_so(kernel: Kernel) -> None:
    cell = kernel.run(f"%%agy --timeout 3\n{sim({'text': 'begun'}, {'wait': 600})}")
    assert (cell.status, cell.reply["ename"]) == ("error", "TurnTimeout")
    assert "begun" in cell.text
    assert kernel.run("%agy " + SAY).status == "ok"


@pytest.mark.parametrize("code", ["%agy --help", "%agy help"])
def test_help_lists_the_commands(kernel: Kernel, code: str) -> None:
    cell = kernel.run(code)
    assert cell.status == "ok"
    assert "%agy context" in cell.text


def test_unknown_option_sends_nothing(kernel: Kernel) -> None:
    before = len(kernel.sent("session/prompt"))
    cell = kernel.run("%%agy --modle x\nhello")
    assert (cell.status, cell.reply["ename"]) == ("error", "CommandError")
    assert "--model" in cell.reply["evalue"]
    assert len(kernel.sent("session/prompt")) == before


def test_unknown_model_names_the_nearest_and_sends_nothing(kernel: Kernel) -> None:
    before = len(kernel.sent("session/prompt"))
    cell = kernel.run("%%agy --model gemini-3.8-flash-hihg\nhello")
    assert "gemini-3.8-flash-high" in cell.reply["evalue"]
    assert len(kernel.sent("session/prompt")) == before


def test_what_cannot_be_sent_is_said_and_the_turn_goes_on(kernel: Kernel) -> None:
    kernel.run("class Bad:\n    def __repr__(self): raise RuntimeError('no repr')\nbad = Bad()")
    cell = kernel.run(f"%%agy --with bad,missing,3+4 --image nowhere.png\n{SAY}")
    assert cell.status == "ok"
    for said in ("no repr", "NameError", "nowhere.png is not sent"):
        assert said in cell.text
    assert "3 + 4: int = 7" in str(resources(kernel))


def test_new_session_is_told_everything_again(kernel: Kernel) -> None:
    kernel.run("'told before'", cell_id="before")
    kernel.run("%agy " + SAY)
    kernel.run(f"%%agy --new\n{SAY}")
    assert "before" in resources(kernel)
    assert "<notebook-instructions>" in str(blocks(kernel))


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("%agy sta", "status"),
        ("if True:\n    %agy mod", "model"),
        ("%%agy --qui", "--quiet"),
        ("%%agy --model gemini-pro", "gemini-pro-agent"),
        ("%%agy\nlook at @completed_", "completed_name"),
        ("%agy what of @completed_", "completed_name"),
        ("%%agy\nread @notes.t", "notes.txt"),
    ],
)
def test_completion(kernel: Kernel, code: str, expected: str) -> None:
    (kernel.cwd / "notes.txt").touch()
    kernel.run("completed_name = 1")
    reply = kernel.request("complete_request", {"code": code, "cursor_pos": len(code)})
    assert expected in reply["matches"]
    typed = code[reply["cursor_start"] : reply["cursor_end"]]
    assert expected.startswith(typed)
    assert typed


def test_python_is_completed_as_ever(kernel: Kernel) -> None:
    kernel.run("completed_name = 1")
    code = "completed_na"
    reply = kernel.request("complete_request", {"code": code, "cursor_pos": len(code)})
    assert "completed_name" in reply["matches"]


def test_unload_restores_everything(tmp_path_factory: pytest.TempPathFactory) -> None:
    state = (
        "ip = get_ipython(); print(len(ip.input_transformer_manager.token_transformers), "
        "len(ip.display_pub._hooks), len(ip.Completer.custom_matchers), "
        "sum(map(len, ip.events.callbacks.values())), "
        "'agy' in ip.magics_manager.magics['line'])"
    )
    with Kernel(tmp_path_factory.mktemp("unload"), name="python3") as kernel:
        before = kernel.run(state).text
        kernel.run("%load_ext agy_kernel")
        kernel.run("%agy " + SAY)
        assert kernel.run(state).text != before
        kernel.run("%unload_ext agy_kernel")
        assert kernel.run(state).text == before


def test_answer_of_a_command_steers_no_terminal(kernel: Kernel) -> None:
    kernel.run("%agy " + sim({"text": "\x1b[31mred\x1b[0m \x1b]0;title\x07bell\x07"}))
    (answer,) = kernel.run("%agy last").outputs
    assert "red bell" in answer["data"]["text/plain"]
    assert not set("\x1b\x07") & set("".join(answer["data"].values()))
