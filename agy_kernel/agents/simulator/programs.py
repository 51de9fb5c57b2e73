"""The files that the simulator writes, and what their programs would print."""

from __future__ import annotations

from pathlib import PurePath

HELLO = '''\
def greet() -> str:
    """Say hello."""
    return "Hello, world!"


if __name__ == "__main__":
    print(greet())
'''
BY_NAME = '''\
def greet(name: str) -> str:
    """Say hello to somebody."""
    return f"Hello, {name}!"


if __name__ == "__main__":
    print(greet("Ada"))
'''
TO_MANY = '''\
def greet(name: str) -> str:
    """Say hello to somebody."""
    return f"Hello, {name}!"


if __name__ == "__main__":
    for name in ("Ada", "Grace", "Katherine"):
        print(greet(name))
'''
OUTPUTS = {
    HELLO: "Hello, world!",
    BY_NAME: "Hello, Ada!",
    TO_MANY: "Hello, Ada!\nHello, Grace!\nHello, Katherine!",
}
VERSIONS = tuple(OUTPUTS)

NOTE = "# A note\n\nWritten by the Antigravity simulator, with your permission.\n"
SIGNATURE = "Edited by the Antigravity simulator, with your permission."
SIGNATURES = {
    **dict.fromkeys((".py", ".sh", ".toml", ".yaml", ".yml", ".r", ".jl"), f"# {SIGNATURE}"),
    **dict.fromkeys((".js", ".ts", ".c", ".h", ".cpp", ".go", ".rs", ".java"), f"// {SIGNATURE}"),
    **dict.fromkeys((".md", ".txt", ".rst"), SIGNATURE),
}


def output_of(source: str) -> str | None:
    """What a program prints, if it is one of ours."""
    return OUTPUTS.get(source)


def revise(name: str, old: str | None, request: str) -> str | None:
    """The new text of a file; None for a kind of file that a line cannot be added to safely.

    Args:
        name: the file's name; its suffix tells what it holds.
        old: its text, None where there is no file yet.
        request: the prompt.
    """
    signature = SIGNATURES.get(PurePath(name).suffix.lower())
    if signature is None:
        return None
    if old in VERSIONS or (old is None and name.endswith(".py")):
        return _program(old, request)
    if old is None:
        return NOTE if name.endswith(".md") else f"{signature}\n"
    return old + ("" if old.endswith("\n") or not old else "\n") + f"\n{signature}\n"


def _program(old: str | None, request: str) -> str:
    if "name" in request.lower() and old != BY_NAME:
        return BY_NAME
    return VERSIONS[(VERSIONS.index(old) + 1) % len(VERSIONS)] if old else HELLO
