"""Files and folders are read without waiting, and never too much of them."""

import os
import socket
from pathlib import Path

import pytest
from PIL import Image

from agy_kernel.prompt import files
from agy_kernel.prompt.files import Unreadable, as_text, find, is_picture, list_folder, read_bytes
from tests.prompt.pictures import encoded, png


def test_a_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\0data")
    assert read_bytes(tmp_path / "a") == b"\0data"
    (tmp_path / "link").symlink_to("a")
    assert read_bytes(tmp_path / "link", limit=5) == b"\0data"
    with pytest.raises(Unreadable, match="it has 5 bytes, more than 4"):
        read_bytes(tmp_path / "a", limit=4)


def test_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="there is no such file"):
        read_bytes(tmp_path / "missing")
    with pytest.raises(Unreadable, match="it is not a file"):
        read_bytes(tmp_path)
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(Unreadable):
        read_bytes(tmp_path / "loop")


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/random", "/dev/tty", "/dev/stdin"])
def test_devices_are_not_read(device: str) -> None:
    with pytest.raises(Unreadable):
        read_bytes(Path(device))


def test_pipes_and_sockets_are_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with socket.socket(socket.AF_UNIX) as unix:
        unix.bind(str(tmp_path / "socket"))
        for name in ("fifo", "socket"):
            with pytest.raises(Unreadable, match="it is not a file"):
                read_bytes(tmp_path / name)


def test_a_pipe_that_takes_a_files_place_is_not_waited_for_either(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with open(tmp_path / "fifo", "rb", opener=files._without_waiting) as fifo:
        assert not fifo.read(10)


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(10**12)
    with pytest.raises(Unreadable, match="1,000,000,000,000 bytes"):
        read_bytes(tmp_path / "sparse")


def test_a_file_that_says_it_is_empty_is_read_up_to_the_limit() -> None:
    with pytest.raises(Unreadable, match="more than 100 bytes"):
        read_bytes(Path("/proc/self/maps"), limit=100)


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").touch()

    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    # Tests may run as root, whom nothing is forbidden.
    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(Unreadable, match="Permission denied"):
        read_bytes(tmp_path / "a")


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("é\n".encode(), "é\n"),
        ("\ufeffbom".encode(), "bom"),
        ("é".encode("latin-1"), "\ufffd"),
        (b"", ""),
    ],
)
def test_text_of_any_encoding(data: bytes, text: str) -> None:
    assert as_text(data) == text


def test_what_is_no_text() -> None:
    with pytest.raises(Unreadable, match="neither text nor a picture"):
        as_text(b"\x7fELF\0")
    with pytest.raises(Unreadable, match="2,000,001 bytes"):
        as_text(b"x" * 2_000_001)


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP"])
def test_a_picture_is_told_by_its_bytes(form: str) -> None:
    assert is_picture(encoded(Image.new("RGB", (2, 2)), form))


@pytest.mark.parametrize("data", [b"", b"RIFF\0\0\0\0WAVE", b"<svg/>", b"BM", png()[1:]])
def test_and_so_is_what_is_none(data: bytes) -> None:
    assert not is_picture(data)


def test_names_are_found_from_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a b.txt").touch()
    monkeypatch.setenv("HOME", str(tmp_path))
    assert find(tmp_path, "a b.txt") == tmp_path / "a b.txt"
    assert find(Path("/"), "~/a b.txt") == tmp_path / "a b.txt"
    assert find(Path("/"), str(tmp_path / "a b.txt")) == tmp_path / "a b.txt"


@pytest.mark.parametrize("name", ["missing", "x" * 5_000, "a\0b", "~nobody-of-this-name/x", "loop"])
def test_what_is_nowhere(name: str, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    assert find(tmp_path, name) is None


def test_a_folder_is_listed(tmp_path: Path) -> None:
    (tmp_path / "b" / "c").mkdir(parents=True)
    for name in ("z.txt", "a.txt", "b/in.txt", "b/c/deep.txt"):
        (tmp_path / name).touch()
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").touch()
    (tmp_path / "b" / "up").symlink_to(tmp_path)
    assert list_folder(tmp_path).splitlines() == [
        "b/", "a.txt", "z.txt", "b/c/", "b/up/", "b/in.txt", "b/c/deep.txt",
    ]  # fmt: skip


def test_of_a_large_folder_the_rest_is_counted(tmp_path: Path) -> None:
    for n in range(250):
        (tmp_path / f"{n:03}").touch()
    lines = list_folder(tmp_path).splitlines()
    assert (lines[0], lines[199], lines[200:]) == ("000", "199", ["… 50 more"])


def test_a_folder_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_NAMES", 20)
    for n in range(21):
        (tmp_path / str(n)).touch()
    with pytest.raises(Unreadable, match="more than 20 files"):
        list_folder(tmp_path)


def test_what_cannot_be_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Unreadable, match="No such file or directory"):
        list_folder(tmp_path / "missing")
    (tmp_path / "closed").mkdir()
    (tmp_path / "open").touch()
    scandir = os.scandir

    def refuse(path: str) -> object:
        if path.endswith("closed"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert list_folder(tmp_path).splitlines() == ["closed/", "open"]
    with pytest.raises(Unreadable, match="Permission denied"):
        list_folder(tmp_path / "closed")


def test_an_empty_folder(tmp_path: Path) -> None:
    assert list_folder(tmp_path) == ""
