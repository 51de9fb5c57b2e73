"""The code blocks of a reply."""

from __future__ import annotations

from dataclasses import dataclass

PYTHON = ("", "py", "python", "python3", "ipython", "ipython3")
SHELL = ("sh", "bash", "shell", "console", "zsh")


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """A code block.

    Args:
        language: the first word behind the fence, in small letters; may be empty.
        text: the code, without its last newline.
    """

    language: str
    text: str

    def as_cell(self, is_prompt_notebook: bool) -> str:
        """The source of a cell that would run it."""
        if self.language in PYTHON:
            return f"%%py\n{self.text}" if is_prompt_notebook else self.text
        return f"%%bash\n{self.text}" if self.language in SHELL else self.text


def code_blocks(markdown: str) -> list[CodeBlock]:
    """The fenced blocks of a Markdown text, in order."""
    from markdown_it import MarkdownIt

    fences = (token for token in MarkdownIt("commonmark").parse(markdown) if token.type == "fence")
    return [CodeBlock(_language(f.info), f.content.rstrip("\n")) for f in fences]


def _language(info: str) -> str:
    return next(iter(info.split()), "").lower().strip("{}.")
