"""A hook of mkdocs: what a page links to outside docs/, a test for instance, is not on the site.

On the project's own pages such a link leads to the file; on the site its text stays.
"""

from __future__ import annotations

import re
from typing import Any

OUTSIDE = re.compile(r"(?<!!)\[(?P<text>[^\]]*)\]\(\.\./[^()\s]*\)")


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The page without those links."""
    return OUTSIDE.sub(r"\g<text>", markdown)
