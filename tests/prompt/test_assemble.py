"""All that was gathered, chosen for one agent and session."""

from base64 import b64decode
from dataclasses import replace
from typing import Any

import pytest

from agy_kernel.abilities import Capabilities
from agy_kernel.prompt.assemble import Assembled, Ration, assemble
from agy_kernel.prompt.cells import Cell, CellOutput
from agy_kernel.prompt.digest import Budget, MentionedCell, Resource
from agy_kernel.prompt.gather import Gathered
from agy_kernel.prompt.images import Limits
from agy_kernel.secrets import MASK, Masker
from tests.prompt.pictures import opened, png

NOTEBOOK = "notebook:///a.ipynb"
ALL = Capabilities(image=True, embedded_context=True)
MASKER = Masker({"MY_TOKEN": "hunter2hunter2"})


def plotting(name: str, *colours: str) -> Cell:
    outputs = [CellOutput("display", "<Figure>", png(colour)) for colour in colours]
    return Cell(name, ord(name) - 96, f"plot {name}", tuple(outputs))


def assembled(
    gathered: Gathered,
    sent: dict[str, str] | None = None,
    instructions: str = "",
    capabilities: Capabilities = ALL,
    ration: Ration = Ration(),  # noqa: B008
) -> Assembled:
    return assemble(gathered, sent or {}, instructions, capabilities, ration, MASKER)


def gathered(*cells: Cell, **more: Any) -> Gathered:
    return Gathered("the prompt", NOTEBOOK, cells, **more)


def colours(result: Assembled) -> list[str]:
    """The colours of the pictures that were sent, in order."""
    names = {(255, 0, 0): "red", (0, 0, 255): "blue", (0, 255, 0): "lime", (0, 0, 0): "black"}
    sent = [opened(b64decode(block["data"])) for block in result.blocks if block["type"] == "image"]
    return [names[image.getpixel((0, 0))] for image in sent]  # type: ignore[index]


def test_named_pictures_first_then_the_newest() -> None:
    found = gathered(
        plotting("a", "red"), plotting("b", "blue", "lime"), pictures=[("fig", png("black"))]
    )
    assert colours(assembled(found)) == ["black", "lime", "blue", "red"]


def test_a_picture_goes_once_under_its_first_name() -> None:
    found = gathered(plotting("a", "red"), pictures=[("fig", png("red")), ("again", png("red"))])
    result = assembled(found, capabilities=Capabilities(embedded_context=True))
    assert result.notices == ["fig is not sent: this agent takes no images"]


def test_pictures_of_cells_that_were_told_before_stay() -> None:
    cells = plotting("a", "red"), plotting("b", "blue")
    first = assembled(gathered(*cells))
    assert colours(first) == ["blue", "red"]
    again = replace(cells[0], source="changed")
    assert colours(assembled(gathered(again, cells[1]), dict(first.sent))) == ["red"]


def test_pictures_go_with_their_cell_or_wait_for_it() -> None:
    cells = [
        replace(plotting(name, colour), source="x" * 600)
        for name, colour in (("a", "red"), ("b", "blue"))
    ]
    ration = Ration(Budget(1_000))
    first = assembled(gathered(*cells), ration=ration)
    assert (colours(first), set(first.sent)) == (["blue"], {"b"})
    assert colours(assembled(gathered(*cells), dict(first.sent), ration=ration)) == ["red"]


def test_each_change_and_each_drop_is_said() -> None:
    pictures = [
        ("wide", png(size=(2_000, 10))),
        ("broken", b"\x89PNG"),
        ("one", png("blue")),
        ("two", png("lime")),
    ]
    result = assembled(gathered(pictures=pictures), ration=Ration(pictures=Limits(count=2)))
    assert result.notices == [
        "broken is not sent: it is not a PNG, JPEG, WebP or GIF file",
        "two is not sent: at most 2 go with a prompt",
        "wide: scaled from 2000 × 10 to 1568 × 8",
    ]
    texts = [block["text"] for block in result.blocks if block["type"] == "text"]
    assert texts == [
        "[A picture that you cannot see: broken]",
        "[A picture that you cannot see: two]",
        "the prompt",
    ]


def test_notices_of_the_gathering_come_first() -> None:
    found = gathered(notices=["@x names nothing"], pictures=[("fig", b"")])
    assert assembled(found).notices[0] == "@x names nothing"


def test_secrets_are_masked_in_all_but_the_prompt() -> None:
    secret = "hunter2hunter2"
    found = gathered(
        Cell("a", 1, secret, (CellOutput("stdout", secret),), secret),
        mentioned=[
            Resource("file:///a", secret),
            MentionedCell("notebook:///b", Cell("b", 1, secret)),
        ],
        prose=secret,
        variables={secret: secret},
    )
    for capabilities in (ALL, Capabilities()):
        result = assembled(
            replace(found, text="say"), instructions=secret, capabilities=capabilities
        )
        assert secret not in str(result.blocks)
        assert str(result.blocks).count(MASK) == 8
    kept = assembled(replace(found, text=secret))
    assert kept.blocks[-1]["text"] == secret


def test_long_instructions_are_cut_behind_the_mask() -> None:
    for place in range(0, 30, 3):
        text = "x" * (15_980 + place) + "hunter2hunter2" + "x" * 40_000
        (block, _) = assembled(gathered(), instructions=text).blocks
        assert len(block["text"]) <= 32_000
        assert "hunter" not in block["text"]


@pytest.mark.parametrize(
    ("budget", "said"),
    [
        (Budget(), "sent 2 cells, 2 images, 0.3 kB"),
        (Budget(100), "sent 1 cell, 1 image, 0.1 kB, 2 more did not fit"),
    ],
)
def test_the_description_says_what_did_not_fit(budget: Budget, said: str) -> None:
    result = assembled(gathered(plotting("a", "red"), plotting("b", "blue")), ration=Ration(budget))
    assert result.description == said


def test_nothing_to_tell_is_just_the_prompt() -> None:
    assert assembled(gathered()) == Assembled([{"type": "text", "text": "the prompt"}], [], "", {})
