"""Content blocks as HTML, and as plain text: pictures, sounds, resources, links, and new types."""

from __future__ import annotations

from collections.abc import Hashable

from ..errors import shortened
from ..events import Content
from ..text import clean
from .html import code, escape, faint, fold, link, pre
from .media import NotShown, decoded, embedded, medium, path_of, sniff
from .place import Place
from .printed import excerpt

SHOWN_CHARS = 20_000
LONGEST, LONGEST_NAME = 8_000, 1_000  # characters of an address that can be followed, of a name
UNITS = ((1_000_000, "MB"), (1_000, "kB"))


def block(content: Content, place: Place, owner: Hashable) -> str:
    """A content block that is no text, as HTML.

    Args:
        owner: the entry that it stands in.
    """
    match content.type:
        case "image" | "audio":
            return medium(content, place, owner)
        case "resource":
            return _resource(content, place, owner)
        case "resource_link":
            return _link(content, place, owner)
        case _:
            return faint(escape(line(content, place)))


def line(content: Content, place: Place) -> str:
    """A content block in one line of plain text."""
    kind = {"resource_link": "link", "": "content"}.get(content.type, content.type)
    address = _shown_address(content.uri, place)
    label = content.name or address or content.mime_type or "without a name"
    more = [address] if address and address != label else []
    more += [content.mime_type] if content.mime_type and content.mime_type != label else []
    more += [size] if (size := _size(content)) else []
    more += [content.description] if content.description else []
    parts = [f"{kind.replace('_', ' ')}: {label}", *more]
    return clean(" · ".join(shortened(part) for part in parts)).replace("\n", " ")


def _resource(content: Content, place: Place, owner: Hashable) -> str:
    if content.text:
        text = clean(content.text)
        head, left_out, tail = excerpt(text, SHOWN_CHARS)
        note = f"\n… {left_out:,} characters are not shown …\n" if left_out else ""
        return fold(faint(escape(line(content, place))), pre(f"{head}{note}{tail}".strip("\n")))
    label = f"<div>{faint(escape(line(content, place)))}</div>"
    try:
        data = decoded(content.data, place)
        kind = sniff(data)
        return embedded(data, kind, content.name, place, owner) + label if kind else label
    except NotShown as problem:
        return label[: -len("</div>")] + faint(escape(f", not shown: {problem}")) + "</div>"


def _link(content: Content, place: Place, owner: Hashable) -> str:
    address = _shown_address(content.uri, place)
    name = shortened(content.name or address or "without a name", LONGEST_NAME)
    is_page = content.uri.startswith(("http://", "https://")) and len(content.uri) <= LONGEST
    address = shortened(address)
    if is_page:
        shown = link(content.uri, name) + (f" {faint(code(address))}" if name != address else "")
    else:
        shown = code(address or name) + (f" {escape(name)}" if address and name != address else "")
    more = [content.mime_type, _size(content), content.description]
    words = " · ".join(escape(shortened(part)) for part in more if part)
    row = f"<div>{faint('link')} {shown}{' ' + faint(f'· {words}') if words else ''}</div>"
    return row + _picture_behind(content, place, owner)


def _picture_behind(content: Content, place: Place, owner: Hashable) -> str:
    """What a link to a picture or a sound in the folder leads to (public report 63)."""
    kind = content.mime_type.partition("/")[0]
    path = path_of(content.uri)
    if kind not in ("image", "audio") or not path or place.inside(path) is None:
        return ""
    return medium(Content(kind, uri=content.uri, mime_type=content.mime_type), place, owner)


def _shown_address(uri: str, place: Place) -> str:
    path = path_of(uri)
    return place.relative(path) if path else uri


def _size(content: Content) -> str:
    size = content.size
    if size is None and content.data:
        size = len(content.data.rstrip("=")) * 3 // 4
    if size is None:
        return ""
    for unit, name in UNITS:
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{size} bytes"
