"""A saved notebook, as nbconvert exports it: all is there to read, and nothing of it runs."""

from __future__ import annotations

from html.parser import HTMLParser

import nbformat
import pytest
from nbconvert.exporters import HTMLExporter, MarkdownExporter
from nbformat import NotebookNode, v4

from agy_kernel.display.footer import RECORD_TYPE
from agy_kernel.events import (
    Answered,
    Asked,
    Content,
    ContentChunk,
    Diff,
    TextChunk,
    ToolCallUpdate,
)
from agy_kernel.questions import Answer, Option, Permission
from tests.support.screen import WIDGET, Played

PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/q842iQAAAABJRU5Er"
    "kJggg=="
)
ALLOW = Option("allow", "Allow", "allow_once")
REPLY = """# A heading

Some *words* and $x_1 < y$, see `Map<K, V>`.

```cpp
std::vector<int> numbers;
```

<script>alert(7)</script> ![x](https://evil.example/?q=1) [y](javascript:alert(7))

| a | b |
|---|---|
| 1 | 2 |
"""


@pytest.fixture(scope="module")
def notebook() -> NotebookNode:
    """A notebook with the outputs of one turn, read back from its file's text."""
    turn = Played()
    diff = Diff("/w/a.py", "x = 1\n", "x = '<b>$2$</b>'\n")
    asked = Permission(ToolCallUpdate("e", title="Edit", kind="edit", content=(diff,)), (ALLOW,))
    turn.play([TextChunk("thought", "hm <img src=x onerror=alert(7)>"), TextChunk("agent", REPLY)])
    turn.play([Asked(asked)])
    asked.answer(answer := Answer(ALLOW, "you"))
    turn.play([Answered(asked, answer), ToolCallUpdate("e", status="completed")])
    turn.play([ContentChunk("agent", Content("image", data=PNG))])
    outputs = [v4.new_output("display_data", bundle) for bundle in turn.finish().outputs.values()]
    cell = v4.new_code_cell("make it so", outputs=outputs)
    language = {"name": "antigravity", "pygments_lexer": "markdown"}
    made = v4.new_notebook(cells=[cell], metadata={"language_info": language})
    nbformat.validate(made)
    saved: NotebookNode = nbformat.reads(nbformat.writes(made), as_version=4)
    return saved


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.odd: list[str] = []
        self.sources: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name.startswith("on") or (name == "href" and "javascript:" in (value or "")):
                self.odd.append(f"{tag} {name}")
            if name == "src" and value:
                self.sources.append(value)


def test_the_file_holds_text_a_record_and_no_widget(notebook: NotebookNode) -> None:
    outputs = notebook.cells[0].outputs
    assert all({"text/markdown", "text/plain"} <= set(output.data) for output in outputs)
    assert not any(WIDGET in output.data for output in outputs)
    assert [RECORD_TYPE in output.data for output in outputs].count(True) == 1
    assert "widgets" not in notebook.metadata


def test_the_html_export_reads_well_and_is_harmless(notebook: NotebookNode) -> None:
    exported, _ = HTMLExporter().from_notebook_node(notebook)
    body = exported[exported.index("<body") :]
    tags = _Tags()
    tags.feed(body)
    assert tags.odd == []
    assert [source for source in tags.sources if "evil" in source] == []
    assert f"data:image/png;base64,{PNG}" in tags.sources
    assert "<script>alert(7)" not in body
    for part in ("A heading", "Map&lt;K, V&gt;", "numbers", "<td>1</td>", "“Allow” by you"):
        assert part in body


def test_the_markdown_export_is_markdown(notebook: NotebookNode) -> None:
    exported, _ = MarkdownExporter().from_notebook_node(notebook)
    assert "# A heading" in exported
    assert "```cpp\nstd::vector<int> numbers;\n```" in exported
    assert "| 1 | 2 |" in exported
    assert "$x_1 < y$" not in exported  # its paragraph holds what could be HTML, and is HTML now
    assert "x_1 &lt; y" in exported
