"""What is heard of a session while it is being loaded."""

from __future__ import annotations

import tracemalloc

from agy_kernel.conversation.chosen import Chosen
from agy_kernel.conversation.listener import Listener
from agy_kernel.events import Content, ContentChunk, TextChunk, ToolCallUpdate

SIZE = 1_000_000


def test_history_takes_no_room_for_what_is_not_shown_of_it() -> None:
    listener = Listener(Chosen())
    listener.session_id, listener.is_replaying = "s1", True
    tracemalloc.start()
    try:
        for n in range(50):
            output = f"{n}" + "x" * SIZE
            listener.hear("s1", ToolCallUpdate(f"t{n}", title="Read", raw_output=output))
            listener.hear("s1", ContentChunk("agent", Content("image", data=output)))
        listener.hear("s1", TextChunk("agent", "Done."))
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 3 * SIZE
    *calls, words = listener.take_replayed()
    assert words == TextChunk("agent", "Done.")
    assert [getattr(call, "title", "") for call in calls] == ["Read"] * 50
