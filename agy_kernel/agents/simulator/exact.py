"""Answers that can be checked: each says exactly what a prompt in fixed words asks for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from urllib.parse import unquote, urlsplit

from ...acp.fields import mapping, text
from .colours import colour, halves
from .phrases import REMEMBER, SECRET_WORD
from .tools import call_mcp_tool, inside, read, read_file, write_file
from .turn import Turn

MOST_NUMBERS = 10_000
UNSEEN = "I cannot see the image."

# -- words, which a model would say too


def numbers(first: int, last: int) -> str:
    """Numbers, one a line."""
    return "\n".join(map(str, range(first, min(last, first + MOST_NUMBERS - 1) + 1)))


def remembered(prompts: Iterable[str]) -> str:
    """The word that one of the prompts wanted to be remembered, the last if there are several."""
    found = [word for prompt in prompts for word in re.findall(REMEMBER, prompt, re.IGNORECASE)]
    return found[-1][0] if found else "You asked me to remember none."


def secret(attached: Iterable[str]) -> str:
    """The secret word in one of the texts."""
    found = (re.search(SECRET_WORD, each, re.IGNORECASE) for each in attached)
    return next((each["word"] for each in found if each), "I have no resource with such a word.")


def filling(images: Iterable[str]) -> str:
    """The colour that fills each image, in base64."""
    names = [colour(each) for each in images]
    return ", ".join(name or "unseen" for name in names) if any(names) else UNSEEN


def two_tone(images: Iterable[str]) -> str:
    """The two colours of the first image."""
    found = next(map(halves, images), None)
    return f"Top: {found[0]}, Bottom: {found[1]}" if found else UNSEEN


def which(images: Iterable[str], wanted: str) -> str:
    """The letter of the image that has this colour."""
    names = (colour(each) for each in images)
    letters = [a for a, name in zip("AB", names, strict=False) if name == wanted.capitalize()]
    return letters[0] if letters else "I see no such image."


# -- what the simulator does


async def repeat(turn: Turn, found: re.Match[str]) -> None:
    """Say what the prompt wants to be said."""
    await turn.say(found["words"].strip())


async def count(turn: Turn, found: re.Match[str]) -> None:
    """Say numbers, one a line."""
    await turn.say(numbers(int(found["first"]), int(found["last"])))


async def multiply(turn: Turn, found: re.Match[str]) -> None:
    """Think aloud, then say a product alone."""
    product = int(found["one"]) * int(found["other"])
    await turn.think(f"{found['one']} times {found['other']} makes {product}.")
    await turn.say(str(product))


async def recall(turn: Turn, _: re.Match[str]) -> None:
    """Say the word that an earlier prompt of the session wanted to be remembered."""
    await turn.say(remembered(each.user for each in turn.session.record.exchanges))


async def fill(turn: Turn, _: re.Match[str]) -> None:
    """Name the colour of each image."""
    await turn.say(filling(_images(turn)))


async def top_and_bottom(turn: Turn, _: re.Match[str]) -> None:
    """Name the two colours of an image."""
    await turn.say(two_tone(_images(turn)))


async def pick(turn: Turn, found: re.Match[str]) -> None:
    """Say which image has a colour."""
    await turn.say(which(_images(turn), found["colour"]))


async def tell_secret(turn: Turn, _: re.Match[str]) -> None:
    """Say the secret word in the attached resources."""
    resources = (b for b in turn.prompt if b.get("type") == "resource")
    await turn.say(secret(text(mapping(b, "resource"), "text") for b in resources))


def _images(turn: Turn) -> Iterator[str]:
    return (text(b, "data") for b in turn.prompt if b.get("type") == "image")


# -- with tools


async def create(turn: Turn, found: re.Match[str]) -> None:
    """Write a file of one line."""
    name, line = found["file"], found["line"].strip()
    path = inside(turn.session.cwd, name)
    if path is None:
        await turn.say(f"`{name}` is outside the notebook's folder, and I write only inside it.")
        return
    try:
        old = read(path)
    except (OSError, UnicodeError) as error:
        await turn.say(f"I cannot write `{name}`: {error}.")
        return
    outcome = await write_file(turn, path, old, f"{line}\n")
    told = {"done": "holds that line", "denied": "was not written", "failed": "cannot be written"}
    await turn.say(f"`{name}` {told[outcome]}.")


async def show(turn: Turn, found: re.Match[str]) -> None:
    """Read a file, and say what it holds."""
    path = inside(turn.session.cwd, found["file"])
    held = read_file(turn, path) if path is not None else None
    await turn.say(f"I cannot read `{found['file']}`." if held is None else held.strip())


async def follow(turn: Turn, _: re.Match[str]) -> None:
    """Read the files that are linked, and say the secret word in one of them."""
    links = (urlsplit(text(b, "uri")) for b in turn.prompt if b.get("type") == "resource_link")
    named = (inside(turn.session.cwd, unquote(link.path)) for link in links if link.path)
    held = [read_file(turn, path) for path in named if path is not None]
    await turn.say(secret(filter(None, held)))


async def call(turn: Turn, found: re.Match[str]) -> None:
    """Show how a call of an MCP server's tool looks."""
    server = found["server"]
    if server not in turn.session.mcp_servers:
        await turn.say(f"This session has no MCP server {server}.")
    elif await call_mcp_tool(turn, server, found["tool"], found["text"]) == "done":
        await turn.say("The call is simulated: no MCP server was called, and there is no result.")
    else:
        await turn.say("Then I leave the tool alone.")
