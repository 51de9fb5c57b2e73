"""A person at JupyterLab: prompts, clicks, Stop, a page reload, save and reopen."""

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.support.kernels import sim
from tests.support.lab import PATIENCE, Lab, Notebook, chromium, page_without_errors
from tests.support.saved import check_plain

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    scratch = tmp_path_factory.mktemp("lab")
    (scratch / "notebooks").mkdir()
    with Lab(scratch / "notebooks", scratch, {"AGY_AGENT": "simulator"}) as lab:
        yield lab


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with page_without_errors(browser) as page:
        yield page


def see(where: Locator, text: str) -> None:
    expect(where).to_contain_text(text, timeout=PATIENCE)


def test_prompt_click_allow_rendered_reply_and_diff(lab: Lab, page: Page) -> None:
    lab.write("allow.ipynb", ["Create allowed.py that greets", "Show a long answer"])
    notebook = Notebook(page, lab, "allow.ipynb").open()
    output = notebook.run(0)
    notebook.button(0, "Allow").wait_for(timeout=PATIENCE)
    see(output, "allowed.py")
    see(output, "+ def greet")
    expect(notebook.cell(0).locator(".jp-InputPrompt")).to_have_text("[*]:")
    assert not (lab.root / "allowed.py").exists()
    notebook.button(0, "Allow").click()
    notebook.expect_done(0, 1)
    assert "def greet" in (lab.root / "allowed.py").read_text()
    see(output, "“Allow” by you")
    expect(output.locator("button.jupyter-button")).to_have_count(0)
    notebook.run(1)
    notebook.expect_done(1, 2)
    long = notebook.output(1)
    for rendered in ("h3, h2", "table", "pre code, .cm-editor, pre", "li"):
        expect(long.locator(rendered).first).to_be_visible()


def test_deny_leaves_the_file_alone(lab: Lab, page: Page) -> None:
    lab.write("deny.ipynb", ["Create denied.py that greets"])
    notebook = Notebook(page, lab, "deny.ipynb").open()
    notebook.run(0)
    notebook.button(0, "Deny").click(timeout=PATIENCE)
    notebook.expect_done(0, 1)
    see(notebook.output(0), "“Deny” by you")
    assert not (lab.root / "denied.py").exists()


def test_buttons_can_be_reached_by_keyboard(lab: Lab, page: Page) -> None:
    lab.write("keys.ipynb", ["Create keys.py that greets"])
    notebook = Notebook(page, lab, "keys.ipynb").open()
    notebook.run(0)
    allow = notebook.button(0, "Allow")
    allow.wait_for(timeout=PATIENCE)
    expect(allow).not_to_be_focused()
    allow.focus()
    page.keyboard.press("Tab")
    expect(notebook.button(0, "Deny")).to_be_focused()
    page.keyboard.press("Enter")
    notebook.expect_done(0, 1)
    assert not (lab.root / "keys.py").exists()


def test_stop_ends_the_cell_and_the_next_one_works(lab: Lab, page: Page) -> None:
    silent = sim({"text": "Before the silence. "}, {"wait": 600})
    lab.write("stop.ipynb", [silent, "Say hello"])
    notebook = Notebook(page, lab, "stop.ipynb").open()
    output = notebook.run(0)
    see(output, "Before the silence.")
    notebook.stop()
    notebook.expect_done(0, 1)
    see(output, "Interrupted")
    see(output, "Before the silence.")
    see(notebook.run(1), "Hello!")
    notebook.expect_done(1, 2)


def test_stop_while_a_question_is_open(lab: Lab, page: Page) -> None:
    lab.write("ask.ipynb", ["Create stopped.py that greets", "Say hello"])
    notebook = Notebook(page, lab, "ask.ipynb").open()
    output = notebook.run(0)
    notebook.button(0, "Allow").wait_for(timeout=PATIENCE)
    notebook.stop()
    notebook.expect_done(0, 1)
    see(output, "the turn was stopped")
    expect(output.locator("button.jupyter-button")).to_have_count(0)
    assert not (lab.root / "stopped.py").exists()
    see(notebook.run(1), "Hello!")


def test_reload_in_the_middle_of_a_question(lab: Lab, page: Page) -> None:
    lab.write("reload.ipynb", ["Create reloaded.py that greets", "%agy last"])
    notebook = Notebook(page, lab, "reload.ipynb").open()
    notebook.run(0)
    notebook.button(0, "Allow").wait_for(timeout=PATIENCE)
    notebook.save()
    page.reload(wait_until="domcontentloaded")
    notebook.wait_ready("busy")
    notebook.button(0, "Allow").click(timeout=PATIENCE)
    see(notebook.run(1), "reloaded.py")  # behind the first cell; handling a click ends "idle" too
    assert (lab.root / "reloaded.py").exists()
    notebook.wait_ready("idle")


def test_a_saved_notebook_is_plain_and_reads_the_same(lab: Lab, page: Page) -> None:
    lab.write("save.ipynb", ["Create saved.py that greets"])
    notebook = Notebook(page, lab, "save.ipynb").open()
    notebook.run(0)
    notebook.button(0, "Allow").click(timeout=PATIENCE)
    notebook.expect_done(0, 1)
    saved = notebook.save()
    check_plain(saved)
    assert "application/vnd.agy-kernel.turn+json" in json.dumps(saved)
    for output in saved["cells"][0]["outputs"]:
        assert {"text/markdown", "text/plain"} <= output["data"].keys()
    page.goto("about:blank")
    reopened = Notebook(page, lab, "save.ipynb").open()
    see(reopened.output(0), "+ def greet")
    see(reopened.output(0), "“Allow” by you")


def test_a_question_after_two_hundred_tool_calls_is_visible(lab: Lab, page: Page) -> None:
    calls = [
        step
        for n in range(200)
        for step in (
            {"text": f"Step {n}. "},
            {"tool": {"toolCallId": f"t{n}", "title": f"look {n}", "kind": "read"}},
        )
    ]
    options = [
        {"optionId": "yes", "name": "Go on", "kind": "allow_once"},
        {"optionId": "no", "name": "Leave it", "kind": "reject_once"},
    ]
    question = {"toolCall": {"toolCallId": "q", "title": "The last one", "kind": "edit"}}
    lab.write("many.ipynb", [sim(*calls, {"ask": {**question, "options": options}})])
    notebook = Notebook(page, lab, "many.ipynb").open()
    output = notebook.run(0)
    button = notebook.button(0, "Go on")
    button.click(timeout=PATIENCE)
    notebook.expect_done(0, 1)
    see(output, "answer: yes")
    see(output, "look 199")
    assert output.locator(".jp-OutputArea-child").count() <= 40


def test_nothing_of_the_agent_runs_or_loads_in_the_page(lab: Lab, page: Page) -> None:
    evil = (
        "<img src=x onerror='document.title=1'> <script>document.title = 2</script>\n\n"
        "![pixel](http://127.0.0.1:9/pixel.png) [run](javascript:document.title=3)\n\n"
        "```html\n<b>shown as code</b>\n```\n"
    )
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    lab.write("evil.ipynb", [sim({"text": evil})])
    notebook = Notebook(page, lab, "evil.ipynb").open()
    output = notebook.run(0)
    notebook.expect_done(0, 1)
    see(output, "<b>shown as code</b>")
    see(output, "<script>")
    expect(output.locator("img, script")).to_have_count(0)
    assert page.title() not in ("1", "2", "3")
    assert not [url for url in requests if ":9/" in url]


def test_completion_of_commands_and_paths(lab: Lab, page: Page) -> None:
    (lab.root / "data_for_completion.csv").write_text("a\n1\n")
    lab.write("complete.ipynb", ["look at @data_for", "%agy sta"])
    notebook = Notebook(page, lab, "complete.ipynb").open()
    for index, word in ((0, "data_for_completion.csv"), (1, "status")):
        notebook.cell(index).locator(".cm-content").click()
        page.keyboard.press("Control+End")
        notebook.cell(index).locator(".jp-mod-completer-enabled").wait_for(timeout=PATIENCE)
        page.keyboard.press("Tab")
        offered = page.locator(".jp-Completer-item", has_text=word)
        offered.click(timeout=PATIENCE)
        expect(notebook.cell(index).locator(".cm-content")).to_contain_text(word)


def test_the_kernel_is_in_the_launcher(lab: Lab, page: Page) -> None:
    page.goto(f"{lab.url}/lab?reset", wait_until="domcontentloaded")
    card = page.locator(
        ".jp-LauncherCard[title*='Antigravity'], .jp-LauncherCard:has-text('Antigravity')"
    )
    expect(card.first).to_be_visible(timeout=PATIENCE)
    icon = card.first.locator("img")
    expect(icon).to_have_js_property("complete", True, timeout=PATIENCE)
    assert icon.evaluate("image => image.naturalWidth") > 0


def test_a_plot_goes_along_from_a_python_notebook(lab: Lab, page: Page) -> None:
    plot = "import matplotlib.pyplot as plt\nplt.plot([1, 3, 2])\nplt.show()"
    cells = ["%load_ext agy_kernel", plot, "%%agy\ndescribe the plot", "1 + 1"]
    lab.write("plot.ipynb", cells, kernel="python3")
    notebook = Notebook(page, lab, "plot.ipynb").open()
    for index in range(2):
        notebook.run(index)
        notebook.expect_done(index, index + 1)
    output = notebook.run(2)
    see(output, "1 image")
    see(output, "sent 1 cell, 1 image")
    notebook.run(3)
    see(notebook.output(3), "2")


def test_click_in_a_python_notebook(lab: Lab, page: Page) -> None:
    cells = ["%load_ext agy_kernel", "%agy Create python.py that greets\nprint('python', 6 * 7)"]
    lab.write("python.ipynb", cells, kernel="python3")
    notebook = Notebook(page, lab, "python.ipynb").open()
    notebook.run(0)
    notebook.expect_done(0, 1)
    output = notebook.run(1)
    notebook.button(1, "Allow").click(timeout=PATIENCE)
    notebook.expect_done(1, 2)
    see(output, "python 42")
    assert (lab.root / "python.py").exists()
