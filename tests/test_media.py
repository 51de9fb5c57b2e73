"""Pictures and sounds are known by their bytes; what is not shown says why (public report 63)."""

from __future__ import annotations

import base64
import io
import os
from pathlib import Path

import pytest
from PIL import Image

from agy_kernel.display.album import Album
from agy_kernel.display.contents import block
from agy_kernel.display.media import medium, path_of, sniff
from agy_kernel.display.place import Place
from agy_kernel.events import Content
from tests.support.renderers import text_of


def drawn(form: str, size: tuple[int, int] = (2, 2)) -> bytes:
    out = io.BytesIO()
    Image.new("1", size).save(out, form)
    return out.getvalue()


PNG = drawn("PNG")
PICTURES = {
    "image/png": PNG,
    "image/jpeg": drawn("JPEG"),
    "image/gif": drawn("GIF"),
    "image/webp": drawn("WEBP"),
}
SOUNDS = {
    "audio/wav": b"RIFF\x00\x00\x00\x00WAVEfmt ",
    "audio/mpeg": b"ID3\x04",
    "audio/ogg": b"OggS\x00",
    "audio/flac": b"fLaC\x00",
}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    folder = tmp_path / "work"
    folder.mkdir()
    return Place(str(folder))


def image(data: bytes, mime_type: str = "image/png", name: str = "") -> Content:
    return Content("image", data=encoded(data), mime_type=mime_type, name=name)


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


# -- by their bytes


@pytest.mark.parametrize(("kind", "data"), PICTURES.items(), ids=PICTURES.keys())
def test_a_picture_is_shown_as_what_it_is(kind: str, data: bytes, place: Place) -> None:
    assert sniff(data) == kind
    shown = medium(image(data, mime_type="text/html", name='"><script>'), place, "a")
    assert f'<img alt="&quot;&gt;&lt;script&gt;" style="max-width:100%" src="data:{kind}' in shown


@pytest.mark.parametrize(("kind", "data"), SOUNDS.items(), ids=SOUNDS.keys())
def test_a_sound_is_shown_as_what_it_is(kind: str, data: bytes, place: Place) -> None:
    content = Content("audio", data=encoded(data), mime_type="text/html", name="<script>")
    shown = medium(content, place, "a")
    assert f'<audio controls src="data:{kind};base64,' in shown
    assert "<script" not in shown
    assert text_of(shown) == "<script>"  # for a front end that plays none


@pytest.mark.parametrize(
    "data", [encoded(PNG)[:8] + "\n " + encoded(PNG)[8:], f"data:image/png;base64,{encoded(PNG)}"]
)
def test_base64_in_lines_and_in_an_address_is_read(data: str, place: Place) -> None:
    assert encoded(PNG) in medium(Content("image", data=data), place, "a")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (image(b"<svg onload='alert(1)'/>", "image/svg+xml"), "not a PNG, JPEG, GIF or WebP"),
        (Content("image", data="not base64!", mime_type="image/png"), "not base64"),
        (Content("image", data="é"), "not base64"),
        (Content("image"), "it is empty"),
        (image(PNG + b"x" * 5_000_000), "it has 5,000,0"),
        (image(PNG + b"x" * 50_000_000), "it has about 50,000,0"),
        (image(drawn("PNG", (8_000, 8_000))), "it has 8000 × 8000 pixels"),
        (image(PNG[:20]), "it is damaged"),
        (image(SOUNDS["audio/wav"]), "not a PNG"),
        (Content("audio", data=encoded(PNG)), "not a WAV, MP3, Ogg or FLAC"),
        (Content("image", uri="https://evil.example/x.png"), "somewhere else, and is not fetched"),
        (Content("image", uri="//evil.example/x.png"), "not fetched"),
        (Content("image", uri="javascript:alert(1)"), "not fetched"),
    ],
    ids=range(13),
)
def test_what_is_not_shown_says_why(content: Content, why: str, place: Place) -> None:
    shown = medium(content, place, "a")
    assert "<img" not in shown
    assert "<audio" not in shown
    assert why in text_of(shown)


# -- files


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("/w/a b.png", "/w/a b.png"),
        ("a.png", "a.png"),
        ("file:///w/a%20b.png", "/w/a b.png"),
        ("file://localhost/w/a", "/w/a"),
        ("file://elsewhere/w/a", ""),
        ("https://x/a.png", ""),
        ("data:image/png;base64,x", ""),
        ("http://[x", ""),
        ("", ""),
    ],
)
def test_the_path_of_an_address(uri: str, path: str) -> None:
    assert path_of(uri) == path


def test_a_picture_in_the_folder_is_shown(place: Place) -> None:
    file = Path(place.folder, "sub", "a b.png")
    file.parent.mkdir()
    file.write_bytes(PNG)
    for uri in ("sub/a b.png", str(file), file.as_uri()):
        assert encoded(PNG) in medium(Content("image", uri=uri), place, uri)


def test_nothing_outside_the_folder_is_read_whatever_leads_there(place: Place) -> None:
    secret = Path(place.folder).parent / "secret.png"
    secret.write_bytes(PNG)
    Path(place.folder, "file.png").symlink_to(secret)
    Path(place.folder, "sub").symlink_to(secret.parent)
    Path(place.folder, "loop").symlink_to(Path(place.folder, "loop"))
    for uri in (str(secret), "../secret.png", "file.png", "sub/secret.png", secret.as_uri()):
        shown = medium(Content("image", uri=uri), place, "a")
        assert "outside the session's folder" in text_of(shown), uri
    for uri in ("loop", "nul\0byte", "no such.png", ".", "x" * 5_000):
        assert "is not shown" in text_of(medium(Content("image", uri=uri), place, "a")), uri


def test_a_link_inside_the_folder_is_followed(place: Place) -> None:
    Path(place.folder, "a.png").write_bytes(PNG)
    Path(place.folder, "b.png").symlink_to("a.png")
    assert "<img" in medium(Content("image", uri="b.png"), place, "a")


def test_a_pipe_is_not_waited_for(place: Place) -> None:
    os.mkfifo(Path(place.folder, "pipe.png"))
    assert "no file" in text_of(medium(Content("image", uri="pipe.png"), place, "a"))


def test_a_large_file_is_not_read_whole(place: Place) -> None:
    with Path(place.folder, "huge.png").open("wb") as file:
        file.write(PNG)
        file.truncate(20_000_000_000)
    assert "20,000,000,000 bytes" in text_of(medium(Content("image", uri="huge.png"), place, "a"))


def test_a_link_to_a_picture_in_the_folder_shows_it(place: Place) -> None:
    Path(place.folder, "plot.png").write_bytes(PNG)
    linked = Content("resource_link", uri="plot.png", name="Plot", mime_type="image/png")
    assert "<img" in block(linked, place, "a")
    assert "<img" not in block(Content("resource_link", uri="plot.png"), place, "a")


# -- how much


def test_what_one_turn_shows_is_bounded_and_what_is_left_out_is_said() -> None:
    place = Place("/w", album=Album(turn=3 * len(PNG)))
    shown = [medium(image(PNG), place, owner) for owner in range(5)]
    assert ["<img" in markup for markup in shown] == [True, True, True, False, False]
    assert f"with its {len(PNG)} bytes this turn would show more" in text_of(shown[3])


def test_what_is_drawn_again_counts_once() -> None:
    place = Place("/w", album=Album(turn=2 * len(PNG)))
    for _ in range(5):
        assert "<img" in medium(image(PNG), place, "a")
    assert "<img" in medium(image(PNG), place, "b")
    assert "<img" not in medium(image(PNG), place, "c")
