"""The outputs of one cell as a front end shows them, and a turn that is drawn on them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from agy_kernel.abilities import AgentInfo
from agy_kernel.display.ask import FrontEnd
from agy_kernel.display.footer import Circumstances, footer, record
from agy_kernel.display.place import Place
from agy_kernel.display.shown import Shown
from agy_kernel.display.view import NotebookView
from agy_kernel.events import (
    Event,
    TurnEnded,
)

Bundle = dict[str, Any]

WIDGET = "application/vnd.jupyter.widget-view+json"
VISIBLE = 50  # outputs of a cell that JupyterLab shows
AGENT = AgentInfo("agent", "An Agent", "1.0")


class Screen:
    """Keeps each output under its display id, in the order in which they came first.

    Args:
        human: whether somebody is there who can answer.
    """

    updates = True

    def __init__(self, human: bool = True) -> None:
        self.human = human
        self.outputs: dict[str, Bundle] = {}
        self.published: list[Bundle] = []
        self.written = ""
        self.prompts: list[str] = []
        self.lines: list[str] = []

    def publish(self, bundle: Mapping[str, Any], display_id: str, update: bool) -> None:
        # An update of what was never shown is lost; a second display would be a second output.
        assert update == (display_id in self.outputs)
        self.outputs[display_id] = dict(bundle)
        self.published.append(dict(bundle))

    def write(self, text: str) -> None:
        self.written += text

    def ask(self, prompt: str, secret: bool = False) -> None:
        self.prompts.append(prompt)

    def typed(self) -> str | None:
        return self.lines.pop(0) if self.lines else None

    @property
    def bytes(self) -> int:
        """How much was sent in all."""
        return sum(len(json.dumps(bundle)) for bundle in self.published)

    @property
    def visible(self) -> list[Bundle]:
        """What JupyterLab shows."""
        return list(self.outputs.values())[:VISIBLE]

    @property
    def markdown(self) -> list[str]:
        """The Markdown outputs that say something."""
        return [text for o in self.outputs.values() if (text := o.get("text/markdown"))]

    @property
    def plain(self) -> list[str]:
        """The plain texts."""
        return [o["text/plain"] for o in self.outputs.values() if "text/plain" in o]

    @property
    def widgets(self) -> list[str]:
        """The model ids of the widgets that can be seen."""
        return [o[WIDGET]["model_id"] for o in self.visible if WIDGET in o]


class Played:
    """A turn, drawn on a screen event by event.

    Args:
        human: whether somebody is there who can answer.
        use_widgets: whether clicks can arrive.
    """

    def __init__(self, human: bool = True, use_widgets: bool = True) -> None:
        self.screen = Screen(human)
        self.front_end = FrontEnd(shows_widgets=True if use_widgets else None)
        self.now = 0.0
        self.view = NotebookView(
            self.screen, Place("/w"), self.front_end, use_widgets, clock=lambda: self.now
        )
        self.shown = Shown(self.view)

    def play(self, events: Iterable[Event]) -> None:
        """Take events, one an hour, drawing after each."""
        for event in events:
            self.now += 3600
            self.shown.take(event)
            self.shown.draw()

    def finish(self, ending: TurnEnded | None = None) -> Screen:
        """End the turn."""
        ending = ending or TurnEnded("end_turn")
        self.play([ending])
        self.shown.finish()
        how = Circumstances(AGENT)
        transcript = self.shown.transcript
        self.view.end(footer(transcript, ending, how), record(transcript, ending, how))
        return self.screen

    def click(self, name: str) -> None:
        """Click the first enabled button of a name, among those that can be seen."""
        for asking, _ in self.view._asking.values():
            assert asking.widget.model_id in str(self.screen.visible) or self._is_stacked(asking)
            for button in asking.widget.children[1].children:
                if button.description == name and not button.disabled:
                    button.click()
                    return
        raise AssertionError(f"nobody can click {name!r}")

    def _is_stacked(self, asking: Any) -> bool:
        return any(
            stack.model_id in self.screen.widgets and asking.widget in stack.children
            for stack in self.view._stacks.values()
        )
