"""Parameters of papermill in an Antigravity notebook: a ``%%py`` cell, and not a prompt.

papermill writes parameters in the language of the notebook, and knows none for prompts. What it
injects here is Python, so that prompts can name the parameters (``@city``) and ``%%py`` cells can
use them. papermill has no entry point for translators. It does load every engine that a package
offers, so this module is offered as the engine ``antigravity``, which is papermill's own engine.
Nothing else imports it.
"""

from __future__ import annotations

from typing import Any

from papermill.engines import NBClientEngine as Engine
from papermill.translators import PythonTranslator, papermill_translators

__all__ = ["Engine"]


class PromptNotebookTranslator(PythonTranslator):  # type: ignore[misc]  # papermill ships no types
    """Parameters as Python variables of the Antigravity kernel."""

    @classmethod
    def codify(cls, parameters: dict[str, Any], comment: str = "Parameters") -> str:
        """Write the injected cell.

        Args:
            parameters: names and JSON or YAML values.
            comment: the comment in its first line.
        """
        return f"%%py\n{super().codify(parameters, comment)}"


papermill_translators.register("antigravity", PromptNotebookTranslator)
