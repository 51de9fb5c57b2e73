"""Pictures are made fit to be sent, or refused with a reason."""

import subprocess
import sys
import warnings
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, PngImagePlugin

from agy_kernel.prompt.images import FORMATS, Limits, NotAPicture, Picture, choose, prepare
from tests.prompt.pictures import encoded, opened, png, png_that_claims

LIMITS = Limits()
NOISE = np.random.default_rng(1).integers(0, 255, (600, 800, 3), dtype=np.uint8)


def prepared(data: bytes, limits: Limits = LIMITS) -> Picture:
    return prepare(data, "it", limits)


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_is_taken_and_sent_as_png_or_jpeg(form: str) -> None:
    picture = prepared(encoded(Image.new("RGB", (30, 20), "red"), form))
    sent = opened(picture.data)
    assert sent.size == (30, 20)
    assert Image.MIME[sent.format or ""] == picture.mime_type in ("image/png", "image/jpeg")
    red, green, blue = sent.convert("RGB").getpixel((9, 9))  # type: ignore[misc]
    assert red > 250
    assert max(green, blue) < 5
    assert picture.notes == ()


@pytest.mark.parametrize("form", ["BMP", "TIFF", "PPM", "ICO"])
def test_no_other_format_is(form: str) -> None:
    with pytest.raises(NotAPicture, match="not a PNG, JPEG, WebP or GIF"):
        prepared(encoded(Image.new("RGB", (30, 20)), form))


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "I;16"])
@pytest.mark.parametrize("size", [(1, 1), (40, 9)])
def test_every_mode_of_png(mode: str, size: tuple[int, int]) -> None:
    data = encoded(Image.new(mode, size))
    assert opened(prepared(data).data).size == size
    assert max(opened(prepared(data, Limits(side=20)).data).size) <= 20


def test_sixteen_bits_keep_their_shades() -> None:
    shades = Image.fromarray(np.array([[0, 256, 30_000, 65_535]], dtype=np.uint16))
    assert opened(prepared(encoded(shades)).data).tobytes() == bytes([0, 1, 117, 255])


def test_cmyk_keeps_its_colour() -> None:
    data = encoded(Image.new("CMYK", (8, 8), (0, 255, 255, 0)), "JPEG")
    red, green, blue = opened(prepared(data).data).getpixel((4, 4))  # type: ignore[misc]
    assert red > 200
    assert max(green, blue) < 60


@pytest.mark.parametrize("mode", ["RGB", "L", "P"])
def test_transparency_by_colour_stays(mode: str) -> None:
    colour = (0, 0, 0) if mode == "RGB" else 0
    sent = opened(prepared(encoded(Image.new(mode, (3, 3)), transparency=colour)).data)
    assert sent.mode == "RGBA"
    assert sent.getpixel((1, 1)) == (0, 0, 0, 0)


def test_of_an_animation_the_first_frame_is_sent() -> None:
    frames = [Image.new("RGB", (5, 5), colour) for colour in ("red", "blue", "lime")]
    for form in ("GIF", "WEBP"):
        data = encoded(frames[0], form, save_all=True, append_images=frames[1:], duration=50)
        red, _, blue = opened(prepared(data).data).convert("RGB").getpixel((2, 2))  # type: ignore[misc]
        assert red > 250
        assert blue < 5


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP"])
def test_it_is_turned_the_right_way_up_and_forgets_where_it_was_taken(form: str) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # orientation: turn right
    exif[0x010E] = "EXIF, a secret garden"
    image = Image.new("RGB", (40, 20), "red")
    image.paste("blue", (0, 0, 20, 20))
    sent = opened(prepared(encoded(image, form, exif=exif)).data).convert("RGB")
    assert sent.size == (20, 40)
    assert sent.getpixel((10, 5))[2] > 200  # type: ignore[index]  # blue, which was left, is on top
    assert sent.getpixel((10, 35))[0] > 200  # type: ignore[index]


def test_nothing_but_pixels_is_sent() -> None:
    text = PngImagePlugin.PngInfo()
    text.add_text("Comment", "a secret comment")
    text.add_itxt("XML:com.adobe.xmp", "a secret packet")
    exif = Image.Exif()
    exif[0x010E] = "a secret garden"
    data = encoded(
        Image.new("RGBA", (9, 9)), pnginfo=text, exif=exif, icc_profile=b"a secret", dpi=(72, 72)
    )
    assert data.count(b"secret") == 3  # and the profile, which is packed
    sent = prepared(data).data
    assert b"secret" not in sent
    assert not opened(sent).info
    jpeg = encoded(Image.new("RGB", (9, 9)), "JPEG", comment=b"secret", exif=exif, dpi=(72, 72))
    assert b"secret" not in prepared(jpeg).data
    # Also where a picture is made anew on the way.
    assert b"secret" not in prepared(data, Limits(side=4)).data
    assert b"secret" not in prepared(data, Limits(each=700)).data


def test_a_large_picture_is_scaled_and_this_is_said() -> None:
    picture = prepared(encoded(Image.new("RGB", (3_000, 1_500))))
    assert opened(picture.data).size == (1_568, 784)
    assert picture.notes == ("scaled from 3000 × 1500 to 1568 × 784",)


def test_a_heavy_picture_becomes_a_jpeg_and_this_is_said() -> None:
    picture = prepared(encoded(Image.fromarray(NOISE)), Limits(each=300_000))
    assert (picture.mime_type, picture.notes) == ("image/jpeg", ("sent as JPEG",))
    smaller = prepared(encoded(Image.fromarray(NOISE)), Limits(each=10_000))
    assert smaller.notes == ("scaled from 800 × 600 to 200 × 150", "sent as JPEG")


def test_what_was_transparent_is_white_in_a_jpeg() -> None:
    noise = Image.fromarray(NOISE).convert("RGBA")
    noise.paste((0, 0, 0, 0), (0, 0, 400, 600))
    sent = opened(prepared(encoded(noise), Limits(each=300_000)).data)
    assert min(sent.getpixel((100, 300))) > 245  # type: ignore[arg-type]


def test_a_limit_that_nothing_fits() -> None:
    with pytest.raises(NotAPicture, match="does not fit in 10 bytes"):
        prepared(png(), Limits(each=10))


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["RGB", "RGBA", "L", "P", "1"]),
    st.tuples(st.integers(1, 300), st.integers(1, 300)),
    st.builds(Limits, st.integers(1_000, 30_000), side=st.integers(1, 200)),
    st.sampled_from(FORMATS),
)
def test_whatever_comes_fits_its_limits(
    mode: str, size: tuple[int, int], limits: Limits, form: str
) -> None:
    image = Image.frombytes("L", size, np.random.default_rng(size).bytes(size[0] * size[1]))
    colours = image.convert(mode).convert("RGB") if form == "JPEG" else image.convert(mode)
    picture = prepared(encoded(colours, form), limits)
    assert len(picture.data) <= limits.each
    assert max(opened(picture.data).size) <= limits.side
    assert (opened(picture.data).size == size) == (
        not any(note.startswith("scaled") for note in picture.notes)
    )


@pytest.mark.parametrize(
    ("width", "height"), [(10_000, 6_000), (60_000, 60_000), (2**31 - 1, 2**31 - 1), (100_000, 501)]
)
def test_a_small_file_of_a_huge_picture_is_not_unpacked(width: int, height: int) -> None:
    with pytest.raises(NotAPicture, match="pixels"):
        prepared(png_that_claims(width, height))


def test_nor_is_a_text_chunk_that_unpacks_to_much() -> None:
    text = PngImagePlugin.PngInfo()
    text.add_text("Comment", "x" * 100_000_000, zip=True)
    with pytest.raises(NotAPicture, match="damaged"):
        prepared(encoded(Image.new("RGB", (3, 3)), pnginfo=text))


@pytest.mark.parametrize(
    "data",
    [b"", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"\xff\xd8\xff", b"RIFF\0\0\0\0WEBPVP8 ", b"%PDF-1.7"],
)
def test_what_only_begins_like_a_picture(data: bytes) -> None:
    with pytest.raises(NotAPicture):
        prepared(data)


@pytest.mark.parametrize("form", FORMATS)
def test_a_file_that_is_cut_off(form: str) -> None:
    data = encoded(Image.fromarray(NOISE), form)
    with pytest.raises(NotAPicture, match=r"damaged|not a PNG"):
        prepared(data[: len(data) // 2])


WHOLE = {form: encoded(Image.fromarray(NOISE[:40, :40]), form) for form in FORMATS}


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(FORMATS), st.data())
def test_whatever_is_broken_in_a_file_it_is_a_picture_or_not(
    form: str, drawn: st.DataObject
) -> None:
    data = bytearray(WHOLE[form])
    places = st.tuples(st.integers(0, len(data) - 1), st.integers(0, 255))
    for place, byte in drawn.draw(st.lists(places, min_size=1, max_size=8)):
        data[place] = byte
    with warnings.catch_warnings(), suppress(NotAPicture):
        warnings.simplefilter("ignore")  # Pillow's, on what is corrupt
        assert max(opened(prepared(bytes(data), Limits(side=100)).data).size) <= 100


# -- which of them go along


def test_the_first_ones_go_and_the_rest_is_said() -> None:
    candidates = [(colour, png(colour)) for colour in ("red", "blue", "lime", "black")]
    chosen, refused = choose(candidates, Limits(count=2))
    assert [picture.label for picture in chosen] == ["red", "blue"]
    assert refused == [("2 more pictures", "at most 2 go with a prompt")]
    assert choose(candidates[:3], Limits(count=2))[1] == [("lime", "at most 2 go with a prompt")]


def test_what_is_over_the_count_is_not_even_read() -> None:
    candidates = [("good", png()), *[("never read", b"no picture")] * 500]
    assert choose(candidates, Limits(count=1))[1] == [
        ("500 more pictures", "at most 1 go with a prompt")
    ]


def test_a_bad_one_does_not_count() -> None:
    chosen, refused = choose([("bad", b"no"), ("good", png())], Limits(count=1))
    assert [picture.label for picture in chosen] == ["good"]
    assert refused == [("bad", "it is not a PNG, JPEG, WebP or GIF file")]


def test_together_they_stay_within_the_limit() -> None:
    heavy = encoded(Image.fromarray(NOISE[:200, :200]))
    candidates = [("one", heavy), ("two", heavy), ("small", png())]
    chosen, refused = choose(candidates, Limits(all=len(heavy) + 2_000))
    assert [picture.label for picture in chosen] == ["one", "small"]
    assert [label for label, _ in refused] == ["two"]


def test_pillow_is_not_loaded_before_it_is_needed() -> None:
    code = (
        "import sys, agy_kernel.prompt.assemble, agy_kernel.prompt.recorder;"
        "print({'PIL', 'numpy', 'pandas', 'matplotlib'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
